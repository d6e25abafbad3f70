"""The short way of the binary operators, whose long way is ``_apply.apply``."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from typing_extensions import disjoint_base

@disjoint_base
class ArraySlots:
    """A buffer and its type, where the short way finds them."""

    _buffer: Any
    _type: Any

@final
class Operator:
    """A method ``x op y``: the short way where there is one, else ``slow``."""

    def __new__(
        cls,
        slow: Callable[[Any, Any], Any],
        name: str,
        kernel: Callable[..., Any],
        *,
        reflected: bool,
        watchers: list[Any],
        override: Callable[[], Any],
        default: list[Any],
        fitted: Callable[..., Any],
        ndarray: type[np.ndarray[Any, Any]],
        asarray: Callable[..., Any],
    ) -> Operator: ...
    def __call__(self, x: Any, y: Any, /) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Callable[..., Any]: ...
