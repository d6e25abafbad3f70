"""Chapter "statistical functions". What they return for integers is the policy's business."""

from __future__ import annotations

from typing import Any

from promoarray import _apply
from promoarray.array import PArray
from promoarray.data_types import astype

__all__ = [
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


def _reduced(name: str, x: Any, dtype: object, **options: Any) -> PArray:
    """Reduce; a dtype that is given is cast to before, and is that of the result."""
    if dtype is None:
        return _apply.call(name, x, **options)
    return astype(_apply.call(name, astype(x, dtype, copy=False), **options), dtype, copy=False)  # type: ignore[no-any-return]


def sum(x: Any, /, *, axis: Any = None, dtype: object = None, keepdims: bool = False) -> PArray:
    """Sum elements.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.
    dtype : dtype_like, optional
        By default what the policy accumulates ``x`` in: int8 becomes int64 in NumPy and PyTorch,
        stays int8 in Paddle. float16 and narrower accumulate in float32 and are rounded once.
    keepdims : bool
        Keep the reduced axes with length 1.
    """
    return _reduced("sum", x, dtype, axis=axis, keepdims=keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: object = None, keepdims: bool = False) -> PArray:
    """Multiply elements; dtypes as in ``sum``."""
    return _reduced("prod", x, dtype, axis=axis, keepdims=keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Return the arithmetic mean; of integers float64 in NumPy, float32 in JAX, none in PyTorch."""
    return _apply.call("mean", x, axis=axis, keepdims=keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> PArray:
    """Return the standard deviation, with ``N - correction`` in the divisor."""
    return _apply.call("std", x, axis=axis, ddof=correction, keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> PArray:
    """Return the variance, with ``N - correction`` in the divisor."""
    return _apply.call("var", x, axis=axis, ddof=correction, keepdims=keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Return the largest element; NaN if there is one."""
    return _apply.call("max", x, axis=axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Return the smallest element; NaN if there is one."""
    return _apply.call("min", x, axis=axis, keepdims=keepdims)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: object = None, include_initial: bool = False
) -> PArray:
    """Return the running sum along an axis; dtypes as in ``sum``."""
    options = {"axis": _axis(x, axis), "include_initial": include_initial}
    return _reduced("cumulative_sum", x, dtype, **options)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: object = None, include_initial: bool = False
) -> PArray:
    """Return the running product along an axis; dtypes as in ``sum``."""
    options = {"axis": _axis(x, axis), "include_initial": include_initial}
    return _reduced("cumulative_prod", x, dtype, **options)


def _axis(x: Any, axis: int | None) -> int:
    if axis is None and _apply.as_array(x, "a cumulative function").ndim != 1:
        raise ValueError("axis= may be left out for one-dimensional arrays only")
    return axis or 0
