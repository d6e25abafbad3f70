"""The fast path of operations, and the slots that it reads arrays by."""

from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any, Self, final

import numpy as np
from typing_extensions import disjoint_base

FIELDS: tuple[str, ...]
"""Those of ``Executable``, in the order they are read by."""

CHOICE_FIELDS: tuple[str, ...]
"""Those of ``Choice``."""

KNOWN_FIELDS: tuple[str, ...]
"""The first of ``repeats.Known``, in the order they are read by."""

@disjoint_base
class ArraySlots:
    """A buffer and its type, where the fast path finds them."""

    _buffer: Any
    _type: Any

    @classmethod
    def _wrap(cls, buffer: Any, dtype: Any, /) -> Self:
        """Make an array of a buffer that holds a dtype; checks nothing."""

@final
class Shared:
    """What all operators are made of, besides their own."""

    def __new__(
        cls,
        *,
        observers: list[Any],
        everywhere: list[Any],
        here: Callable[[], tuple[Any, ...]],
        lone_observer: Callable[[], Any],
        policy_here: Callable[[], Any],
        default_policy: list[Any],
        ndarray: type[np.ndarray[Any, Any]],
        asarray: Callable[..., Any],
        array_slots: type,
        dtype_class: type,
        bool: object,
        in_parts: Callable[..., Any],
        backends: dict[type, Any],
        weak_bool: object,
        weak_int: object,
        weak_float: object,
        weak_complex: object,
        stored: dict[tuple[object, object], tuple[object, object]],
        adopted: dict[Any, Any],
        ufuncs: dict[Any, Any],
        named: dict[Any, Any],
        numpy_dtype: type,
        scalar_caster: type,
        guarding: list[Any],
        ufunc: type,
        array_option: tuple[str, ...] | None,
    ) -> Self: ...

@disjoint_base
class FastOperator:
    """An operation: an executable if there is one, else ``slow``."""

    def __new__(
        cls,
        slow: Callable[..., Any],
        name: str,
        shared: Shared,
        kind: str = "operands",
        *,
        option_names: tuple[str, ...] = (),
        passed_names: tuple[str, ...] = (),
        defaults: tuple[Any, ...] = (),
        texts: tuple[str, ...] = (),
        bound: type | None = None,
        adopts: type | None = None,
    ) -> Self: ...
    def __call__(self, *operands: Any, **options: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Callable[..., Any]: ...

@final
class Within:
    """A function that runs under the policy of a namespace, and answers with its arrays."""

    def __new__(
        cls,
        function: Callable[..., Any],
        *,
        array_class: type,
        default_class: type,
        block: tuple[Any, Any],
        read: Callable[[], Any],
        set: Callable[[Any], Any],
        check: Callable[[tuple[Any, ...]], None] | None,
        bind: Callable[[Any, type], Any],
    ) -> Self: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...

@final
class ByName:
    """A function whose arguments may stand by position, called with those that it takes by name."""

    def __new__(
        cls,
        function: Callable[..., Any],
        otherwise: Callable[..., Any],
        *,
        names: tuple[str, ...],
        passed: tuple[str | None, ...],
        least: int,
        most: int,
        in_order: int,
    ) -> Self: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...

@final
class Borders:
    """From a value to its sort: between which borders it lies, both parts of a complex one."""

    def __new__(cls, borders: tuple[float, ...], /) -> Self: ...
    def __call__(self, value: Any, /) -> int: ...

@final
class Heard:
    """What an observer knows of operations, as the fast path finds it: Knowns."""

    def __new__(cls, scalar: Callable[[Any], Hashable], by_value: bool) -> Self: ...
    def keep(self, key: tuple[Any, ...], known: tuple[Any, ...], /) -> None:
        """Keep what is known under a key."""
    def clear(self) -> None:
        """Forget all."""
    def __len__(self) -> int: ...

@final
class Places:
    """Places of a program, by the instruction that runs."""

    def __new__(cls, folder: str, clock: Callable[[], float]) -> Self: ...
    def keep(self, said: object, code: CodeType, instruction: int, place: object, /) -> None:
        """Keep a place: what is said there, known by identity, and where it stands."""

@final
class Tally:
    """Counts operations that are alike."""

    until: Any
    """What has ``quiet_until``, the monotonic time at which the observer is told again; or None."""

    def __new__(cls, places: Places, said: object, report: object) -> Self: ...
    def count(self) -> bool:
        """Count an operation; False if the observer has to be told."""
