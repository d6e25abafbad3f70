"""Reductions and running sums of NumPy buffers without the time that NumPy's own functions
take to get to their ufuncs. All give NumPy's bits, and warn in NumPy's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Buffer = np.ndarray[Any, Any]

_ADD_UP: Any = np.add.reduce


def _reduced(ufunc: np.ufunc, *, in_own_dtype: bool) -> Callable[..., Any]:
    """Reduce by a ufunc: in the dtype of the buffer, where NumPy would widen integers by a rule of
    its own, or as it does."""
    reduce: Any = ufunc.reduce  # positions are read soonest, and the stubs have them by name

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        dtype = x.dtype if in_own_dtype else None
        if axis is None and not keepdims:  # an array sooner than a scalar becomes one
            return reduce(x, None, dtype, None, True).reshape(())
        return reduce(x, axis, dtype, None, keepdims)

    return run


def _cumulative(ufunc: np.ufunc) -> Callable[..., Buffer]:
    def run(x: Buffer, *, axis: int | None = None, include_initial: bool = False) -> Buffer:
        if axis is None:
            if x.ndim != 1:
                raise ValueError("the axis may be left out for one-dimensional arrays only")
            axis = 0
        y: Buffer = ufunc.accumulate(x, axis)
        if not include_initial:
            return y
        shape = [*x.shape]
        shape[axis] = 1
        return np.concatenate([np.full(shape, ufunc.identity, y.dtype), y], axis=axis)

    return run


def _position(name: str) -> Callable[..., Any]:
    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        return getattr(x, name)(axis=axis, keepdims=keepdims)

    return run


def mean(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.mean``, of floats in its two steps."""
    if x.dtype.char not in "fd" or not x.size or not x.ndim:
        return np.mean(x, axis=axis, keepdims=keepdims)
    total = _divided(_ADD_UP(x, axis, None, None, True), x.size)
    return total if keepdims else _without(total, axis)


def var(x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False) -> Any:
    """``np.var``, of floats in its five steps."""
    if x.dtype.char in "fd" and x.size and x.ndim and type(ddof) in (int, float):
        center = _ADD_UP(x, axis, None, None, True)
        count = x.size // center.size
        if count > ddof:
            gaps = np.subtract(x, _divided(center, x.size))
            squares = _ADD_UP(np.square(gaps, out=gaps), axis, None, None, True)
            np.true_divide(squares, np.float64(count - ddof), out=squares, casting="unsafe")
            return squares if keepdims else _without(squares, axis)
    return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


def std(x: Buffer, **options: Any) -> Any:
    """``np.std``."""
    return np.sqrt(var(x, **options))


def _divided(total: Buffer, size: int) -> Buffer:
    """Sums divided in place by how many numbers they are of, as NumPy divides: in float64."""
    count = np.float64(size // total.size)
    return np.true_divide(total, count, out=total, casting="unsafe")


def _without(x: Buffer, axis: Any) -> Buffer:
    """An array whose axes were reduced to a length of 1, without them."""
    return x.reshape(()) if axis is None else x.squeeze(axis)


KERNELS: dict[str, Callable[..., Any]] = {
    "sum": _reduced(np.add, in_own_dtype=True),
    "prod": _reduced(np.multiply, in_own_dtype=True),
    "max": _reduced(np.maximum, in_own_dtype=True),
    "min": _reduced(np.minimum, in_own_dtype=True),
    "all": _reduced(np.logical_and, in_own_dtype=False),
    "any": _reduced(np.logical_or, in_own_dtype=False),
    "cumulative_sum": _cumulative(np.add),
    "cumulative_prod": _cumulative(np.multiply),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "mean": mean,
    "std": std,
    "var": var,
}
