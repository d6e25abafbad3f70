"""The fast path of operations, and the slots that it reads arrays by."""

from collections.abc import Callable
from typing import Any, Self

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

@disjoint_base
class FastOperator:
    """An operation: an executable if there is one, else ``slow``."""

    def __new__(
        cls,
        slow: Callable[..., Any],
        name: str,
        *,
        kind: str,
        observers: list[Any],
        lone_observer: Callable[[], Any],
        policy_here: Callable[[], Any],
        default_policy: list[Any],
        ndarray: type[np.ndarray[Any, Any]],
        asarray: Callable[..., Any],
        array_slots: type,
        dtype_class: type,
        bool: object,
        option_names: tuple[str, ...],
        defaults: tuple[Any, ...],
        bound: type | None,
        adopts: type | None,
    ) -> Self: ...
    def __call__(self, *operands: Any, **options: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Callable[..., Any]: ...
