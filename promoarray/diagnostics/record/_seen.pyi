"""What is seen of recorded programs, told without a frame of Python's where it was told before."""

from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any, Self, final

from typing_extensions import disjoint_base

from promoarray.core.array_base import TypeRecord
from promoarray.dtypes import DType

OPERATORS: tuple[str, ...]
"""The operations that operators are, in the order of the numbers that ``operate`` is given."""

@final
class Carried:
    """From arrays of another framework to what a type slot would bear.

    Another framework's arrays have no room for it. Only those on which some policy has another
    dtype are held, weakly, so that a program on which all agree costs nothing; of objects that
    cannot be referred to weakly, such as NumPy's scalars, some hundred are kept alive that the
    program has no more.
    """

    def __new__(cls, dtype_class: type[DType], /) -> Self: ...
    def get(self, x: Any, dtype: DType, /) -> DType | TypeRecord: ...
    def slot(self, x: Any, /) -> TypeRecord | None: ...
    def put(self, x: Any, slot: DType | TypeRecord | None, /) -> None: ...
    def __contains__(self, x: Any, /) -> bool: ...
    def __len__(self) -> int: ...

@final
class KnownCalls:
    """What is known of calls (``watcher.Known``), by all that it hangs on."""

    by_value: bool
    """Whether some policy looks at the values of 0-d arrays."""

    def __new__(
        cls,
        scalar_class: Callable[[Any], Hashable],
        floats: list[tuple[float, float]],
        ints: list[tuple[int, int]],
        /,
    ) -> Self: ...
    def taken(self) -> list[tuple[Any, int]]: ...
    def forget(self) -> None: ...

@final
class CallKey:
    """What calls that are alike have in common."""

@disjoint_base
class CallWatcher:
    """Carries out calls, and counts those that are like others; it hands on what is like none."""

    def prepare(self, parts: tuple[Any, ...], looks: bool, is_taped: bool, /) -> None: ...
    def watch(
        self,
        func: Any,
        name: str,
        handler: Any,
        frame: FrameType,
        carry_out: Callable[..., Any],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any: ...
    def _watch(
        self,
        func: Any,
        name: str,
        handler: Any,
        frame: FrameType,
        carry_out: Callable[..., Any],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any: ...
    def __torch_function__(
        self, func: Any, types: Any, args: Any = ..., kwargs: Any = ..., /
    ) -> Any: ...
    def keep(self, key: CallKey, known: Any, side: bool | None = ..., /) -> None: ...
    def again(self, known: Any, result: Any, /) -> bool: ...

@disjoint_base
class FastHook:
    """Carries out the operations of rewritten programs, and tells the session of them.

    What it was told of an operation it counts for those that are alike: at the same place, with
    operands between which no policy makes a difference.

    Parameters
    ----------
    parts : tuple
        The classes that it knows and the functions that it asks (``hook.h``).
    floats, ints : list of tuple
        Between two of these numbers no policy tells values apart.
    """

    def __new__(
        cls,
        parts: tuple[Any, ...],
        floats: list[tuple[float, float]],
        ints: list[tuple[int, int]],
        /,
    ) -> Self: ...
    @property
    def session(self) -> Any: ...
    def tell(
        self, session: Any, does: Any, recorder: Any, carried: Carried | None, by_value: bool, /
    ) -> None: ...
    def flush(self) -> None: ...
    def forget_calls(self) -> None: ...
    def number_class(self, x: Any, /) -> Any: ...
    def call(self, number: int, f: Any, /, *args: Any, **kwargs: Any) -> Any: ...
    def call_later(self, number: int, f: Any, /, *args: Any, **kwargs: Any) -> Any: ...
