"""Numba on the CPU: each operator and function of a program is compiled by ``@njit``.

Arrays of no axes are scalars of Numba's. What promoarray does not promise to do as Numba does, the
last digits of what LLVM's vectors add up, is not asked: reductions are of integers and small
numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from programs.frameworks import Framework
from programs.frameworks.boxed import boxed, of_boxes
from programs.frameworks.numpy import OLD
from programs.program import words

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)
BINARY = words(
    "add subtract multiply divide floor_divide remainder pow equal not_equal less less_equal"
    " greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    " maximum minimum fmax fmin atan2 hypot copysign"
)
UNARY = words(
    "sin cos exp log sqrt square reciprocal abs"
    " negative positive sign floor ceil trunc isinf isfinite conj logical_not bitwise_invert"
)
REDUCED = {name: f"np.{name}(x)" for name in words("sum prod mean max min any all std var")}
REDUCED |= {"argmax": "np.argmax(x)", "cumulative_sum": "np.cumsum(x)"}


@cache
def _compiled(text: str, *names: str) -> Any:
    return numba.njit(eval(f"lambda {', '.join(names)}: {text}", {"np": np}))


def compute(text: str, *values: Any) -> Any:
    """Compile an expression of ``x``, ``y`` and ``z`` for these values, and run it."""
    function = _compiled(text, *"xyz"[: len(values)])
    result = function(*values)
    if isinstance(result, np.ndarray):
        return result
    made = function.overloads[tuple(map(numba.typeof, values))].signature.return_type
    return np.dtype(str(made)).type(result)


@cache
def _assigning(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(f"def assigned(x, y):\n    {text}\n    return x", names)
    return numba.njit(names["assigned"])


def assign(text: str, x: Any, y: Any) -> Any:
    """Compile an assignment in place for these values, and run it."""
    return _assigning(text)(x, y)


Array = boxed(compute, "+ - * / // % ** & | ^ << >> == != < <= > >= ~", assign)


def _function(text: str) -> Any:
    def called(x: Any, *more: Any, axis: Any = None) -> Any:
        values = [getattr(each, "value", each) for each in (x, *more)]
        reduced = text in REDUCED.values()
        if reduced and (np.ndim(values[0]) != 1 or axis not in (None, 0, -1)):
            raise NotImplementedError("asked of one axis")
        return Array(compute(text, *values))

    return called


def _astype(x: Any, dtype: Any) -> Any:
    name = f"np.{dtype.name}{'_' * (dtype.name == 'bool')}"
    scalar = not getattr(x.value, "ndim", 0)
    return Array(compute(f"{name}(x)" if scalar else f"x.astype({name})", x.value))


def _where(condition: Any, x: Any, y: Any) -> Any:
    values = [getattr(each, "value", each) for each in (condition, x, y)]
    if values[0].dtype != bool:
        raise TypeError("where needs a bool condition")
    if not all(getattr(value, "ndim", 0) for value in values):
        raise NotImplementedError("asked of arrays")
    return Array(compute("np.where(x, y, z)", *values))


def framework(edition: str) -> Framework:
    """The installed Numba."""
    binary = {name: f"np.{OLD.get(name, name)}(x, y)" for name in BINARY}
    unary = {name: f"np.{OLD.get(name, name)}(x)" for name in UNARY}
    return of_boxes(
        Array,
        version=f"numba {numba.__version__}, numpy {np.__version__}",
        policy="numba@0.68",
        functions={
            **{n: _function(text) for n, text in (binary | unary | REDUCED).items()},
            "astype": _astype,
            "where": _where,
        },
        dtypes={name: np.dtype(name) for name in DTYPES},
    )
