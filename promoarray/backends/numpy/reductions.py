"""What reduces NumPy buffers, and makes running sums of them, without the time that NumPy's own
functions take to get to their ufuncs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.backends.numpy import folds

Buffer = np.ndarray[Any, Any]


def _reduced(name: str, ufunc: np.ufunc) -> Callable[..., Any]:
    """Reduce in the dtype of the buffer, where NumPy would widen integers by a rule of its own: as
    ``np.sum`` and ``np.max`` do, without the time that they take to get here."""
    reduce: Any = ufunc.reduce

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.size >= folds.LONG:
            out = folds.fold(name, x, axis, keepdims)
            if out is not None:
                return out
        if axis is None and not keepdims:  # an array sooner than a scalar becomes one
            return reduce(x, None, x.dtype, None, True).reshape(())
        return reduce(x, axis, x.dtype, None, keepdims)

    return run


def _truth(ufunc: np.ufunc) -> Callable[..., Any]:
    """As ``np.all`` and ``np.any`` do, without the time that they take to get here."""
    reduce: Any = ufunc.reduce  # positions are read soonest, and the stubs have them by name

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is None and not keepdims:
            return reduce(x, None, None, None, True).reshape(())
        return reduce(x, axis, None, None, keepdims)

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
    """As ``np.argmax`` and ``np.argmin`` do, without the time that they take to get here."""

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        return getattr(x, name)(axis=axis, keepdims=keepdims)

    return run


def position_in_rows(name: str) -> Callable[..., Any]:
    """The same of what NumPy is quick with: not of long lines that lie beside each other, for which
    ``positions`` is asked."""
    find = KERNELS[name]

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        is_quick = x.size < folds.LONG or (x.flags.c_contiguous and axis in (None, -1, x.ndim - 1))
        return find(x, axis=axis, keepdims=keepdims) if is_quick else None

    return run


KERNELS: dict[str, Callable[..., Any]] = {
    "sum": _reduced("sum", np.add),
    "prod": _reduced("prod", np.multiply),
    "max": _reduced("max", np.maximum),
    "min": _reduced("min", np.minimum),
    "all": _truth(np.logical_and),
    "any": _truth(np.logical_or),
    "cumulative_sum": _cumulative(np.add),
    "cumulative_prod": _cumulative(np.multiply),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
}
