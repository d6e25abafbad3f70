"""Arrays whose operators are what a compiler makes of them, for frameworks that have no arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from programs.frameworks import Framework
from programs.program import words

SIGNS = dict(
    zip(
        words(
            "add sub mul truediv floordiv mod pow and or xor lshift rshift eq ne lt le gt ge matmul"
        ),
        words("+ - * / // % ** & | ^ << >> == != < <= > >= @"),
        strict=True,
    )
)
UNARY = {"neg": "-", "pos": "+", "invert": "~"}


def boxed(
    compute: Callable[..., Any],
    signs: str,
    assign: Callable[..., Any] | None = None,
    *,
    of_scalars: bool = False,
) -> type:
    """Make the class of arrays whose operators are ``compute(sign, *values)``.

    A number stays a Python number and an array of no axes is a scalar of NumPy's. ``assign(sign,
    x, y)`` writes into an array, and into a scalar ``of_scalars``; else names are bound anew.
    """

    class Array:
        __hash__ = None

        def __init__(self, value: Any) -> None:
            self.value = value if getattr(value, "ndim", 0) else np.asarray(value)[()]

        def __getitem__(self, key: Any) -> Any:
            return Array(self.value[key])

    def binary(sign: str) -> Callable[[Any, Any], Any]:
        return lambda x, y: Array(compute(f"x {sign} y", x.value, getattr(y, "value", y)))

    def reflected(sign: str) -> Callable[[Any, Any], Any]:
        return lambda x, y: Array(compute(f"x {sign} y", getattr(y, "value", y), x.value))

    def in_place(sign: str) -> Callable[[Any, Any], Any]:
        def changed(x: Any, y: Any) -> Any:
            if assign is None or not (of_scalars or np.ndim(x.value)):
                return Array(compute(f"x {sign} y", x.value, getattr(y, "value", y)))
            return Array(assign(f"x {sign}= y", x.value, getattr(y, "value", y)))

        return changed

    known = signs.split()
    for name, sign in SIGNS.items():
        if sign in known:
            setattr(Array, f"__{name}__", binary(sign))
            setattr(Array, f"__r{name}__", reflected(sign))
            setattr(Array, f"__i{name}__", in_place(sign))
    for name, sign in UNARY.items():
        if sign in known:
            setattr(Array, f"__{name}__", lambda x, sign=sign: Array(compute(f"{sign}x", x.value)))
    return Array


def of_boxes(array: type, **about: Any) -> Framework:
    """Return what is known of a framework whose arrays are boxes.

    What it refuses as not implemented is not asked.
    """

    def leave(x: Any) -> tuple[str, bool, Any]:
        if not isinstance(x, array):
            raise TypeError(f"{type(x).__name__} is no array")
        value = np.asarray(x.value)
        return value.dtype.name, False, value

    return Framework(
        enter=lambda value, dtype: array(value),
        leave=leave,
        missing=lambda error: isinstance(error, NotImplementedError),
        traits=frozenset(),
        **about,
    )
