"""Chapter "statistical functions". What they return for integers is the policy's business."""

from __future__ import annotations

from typing import Any

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.functions.data_types import astype
from promoarray.parray import PArray

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
        return call(name, x, **options)
    return astype(call(name, astype(x, dtype, copy=False), **options), dtype, copy=False)


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

    Returns
    -------
    PArray
        0 of no elements.

    Raises
    ------
    PromotionError
        If the policy does not sum this dtype.
    """
    return _reduced("sum", x, dtype, axis=axis, keepdims=keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: object = None, keepdims: bool = False) -> PArray:
    """Multiply elements.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.
    dtype : dtype_like, optional
        By default what the policy accumulates ``x`` in, as for ``sum``.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        1 of no elements.

    Raises
    ------
    PromotionError
        If the policy does not multiply this dtype.
    """
    return _reduced("prod", x, dtype, axis=axis, keepdims=keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Return the arithmetic mean.

    Parameters
    ----------
    x : array
        Narrow floats are summed up in float32, and the mean is rounded once.
    axis : int or tuple of int, optional
        By default all.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        Of integers float64 in NumPy, float32 in JAX and Paddle. NaN of no elements.

    Raises
    ------
    PromotionError
        If the policy has no mean of the dtype: PyTorch and the array API of integers.
    """
    return call("mean", x, axis=axis, keepdims=keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> PArray:
    """Return the standard deviation.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.
    correction : float
        The divisor is ``N - correction``: 0 for a whole population, 1 for a sample of it.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        Real, of the dtype that ``var`` has under the policy.

    Raises
    ------
    PromotionError
        If the policy has none of the dtype, as for ``mean``.
    """
    return call("std", x, axis=axis, ddof=correction, keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> PArray:
    """Return the variance.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.
    correction : float
        The divisor is ``N - correction``: 0 for a whole population, 1 for a sample of it.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        Real; of integers float64 in NumPy, float32 in JAX and Paddle.

    Raises
    ------
    PromotionError
        If the policy has none of the dtype, as for ``mean``.
    """
    return call("var", x, axis=axis, ddof=correction, keepdims=keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Return the largest element.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        Of the dtype of ``x``. NaN if there is one.

    Raises
    ------
    PromotionError
        If the policy finds no order in the dtype: complex numbers nearly everywhere, bools in the
        array API.
    ValueError
        If there are no elements.
    """
    return call("max", x, axis=axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Return the smallest element; errors are as in ``max``.

    Parameters
    ----------
    x : array
    axis, keepdims
        As in ``max``.

    Returns
    -------
    PArray
        Of the dtype of ``x``. NaN if there is one.
    """
    return call("min", x, axis=axis, keepdims=keepdims)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: object = None, include_initial: bool = False
) -> PArray:
    """Return the running sum along an axis.

    Parameters
    ----------
    x : array
    axis : int, optional
        May be left out for one-dimensional arrays only.
    dtype : dtype_like, optional
        By default what the policy accumulates ``x`` in, as for ``sum``. Narrow floats accumulate in
        float32, each sum rounded once.
    include_initial : bool
        Whether a 0 comes first, and the axis is one longer.

    Returns
    -------
    PArray

    Raises
    ------
    PromotionError
        If the policy does not sum this dtype.
    ValueError
        If ``x`` is 0-d, or the axis left out for several or out of range.
    """
    options = {"axis": _axis("cumulative_sum", x, axis), "include_initial": include_initial}
    return _reduced("cumulative_sum", x, dtype, **options)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: object = None, include_initial: bool = False
) -> PArray:
    """Return the running product along an axis; dtypes and errors are as in ``cumulative_sum``.

    Parameters
    ----------
    x : array
    axis, dtype
        As in ``cumulative_sum``.
    include_initial : bool
        Whether a 1 comes first, and the axis is one longer.

    Returns
    -------
    PArray
    """
    options = {"axis": _axis("cumulative_prod", x, axis), "include_initial": include_initial}
    return _reduced("cumulative_prod", x, dtype, **options)


def _axis(name: str, x: Any, axis: int | None) -> int:
    count = as_array(x, name).ndim
    if axis is None and count != 1:
        raise ValueError(f"{name}: axis= may be left out for one-dimensional arrays only")
    return axis_in(name, 0 if axis is None else axis, count)
