"""Chapter "statistical functions". The policy decides what they return for integers."""

from __future__ import annotations

from typing import Any

from promoarray.core.cast import astype
from promoarray.core.dispatch import call
from promoarray.core.dtype_argument import keep
from promoarray.core.fast_path import TYPED, fast_function
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in, number
from promoarray.functions._docs import reduction, template
from promoarray.parray import AnyArray, AnyDType, Axes, PArray

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]


def _reduced(name: str, x: Any, dtype: object, **options: Any) -> PArray:
    """Reduce; a dtype that is given is cast to before, and is that of the result."""
    if dtype is None:
        return call(name, x, **options)
    function: Any = globals()[name]  # which has a fast path
    array = astype(as_array(x, name), dtype, copy=False, made=True)
    out: Any = astype(function(array, **options), dtype, copy=False, made=True)
    keep(name, x, array, dtype)
    return out


_DTYPE = """
    dtype : dtype_like, optional
        Default: the dtype that the policy accumulates ``x`` in. int8 becomes int64 in NumPy and
        PyTorch, stays int8 in Paddle. float16 and narrower floats accumulate in float32 and are
        rounded once.
    """
_CORRECTION = """
    correction : float
        The divisor is ``N - correction``: 0 for a population, 1 for a sample of one.
    """
_NO_MEAN = "If the policy has no mean of the dtype: PyTorch and the array API of integers."
_DDOF = {"correction": "ddof"}

_cumulative = template(
    """
    Parameters
    ----------
    x : array, shape (..., N)
    axis : int, optional
        May be left out for one-dimensional arrays only.
    dtype : dtype_like, optional
        Default: the dtype that the policy accumulates ``x`` in, as for ``sum``. Narrow floats
        accumulate in float32, each partial result rounded once; in NumPy float16 goes on from what
        was rounded.
    include_initial : bool
        {initial}

    Returns
    -------
    PArray, shape (..., N) or (..., N + 1)
        Of ``dtype``.

    Raises
    ------
    PromotionError
        If the policy has no such reduction of the dtype.
    ValueError
        If ``x`` is 0-d, the axis is left out for several axes, or there is no such axis.
    """
)


@reduction(
    option=_DTYPE,
    result="Of ``dtype``. 0 of no elements.",
    refuses="If the policy does not sum the dtype.",
)
@fast_function("sum", settings=TYPED, axis=None, keepdims=False)
def sum(
    x: AnyArray, /, *, axis: Axes = None, dtype: AnyDType | None = None, keepdims: bool = False
) -> PArray:
    """Sum elements.

    Examples
    --------
    >>> x = asarray([100, 100], dtype=int8)
    >>> sum(x)
    PArray(200, dtype=int64)
    >>> with policy("paddle"):
    ...     sum(x)
    PArray(-56, dtype=int8)
    """
    return _reduced("sum", x, dtype, axis=axis, keepdims=keepdims)


@reduction(
    option=_DTYPE,
    result="Of ``dtype``. 1 of no elements.",
    refuses="If the policy does not multiply the dtype.",
)
@fast_function("prod", settings=TYPED, axis=None, keepdims=False)
def prod(
    x: AnyArray, /, *, axis: Axes = None, dtype: AnyDType | None = None, keepdims: bool = False
) -> PArray:
    """Multiply elements.

    Examples
    --------
    >>> x = asarray([100, 2], dtype=int8)
    >>> prod(x)
    PArray(200, dtype=int64)
    >>> with policy("paddle"):
    ...     prod(x)
    PArray(-56, dtype=int8)
    """
    return _reduced("prod", x, dtype, axis=axis, keepdims=keepdims)


@reduction(
    result=(
        "Floats keep their dtype; integers give float64 in NumPy, in JAX float32, or float64 of "
        "64 bits; TensorFlow, Paddle and ONNX keep them. Narrow floats are summed up in float32, "
        "and the mean is rounded once. NaN of no elements."
    ),
    refuses=_NO_MEAN,
)
@fast_function("mean", axis=None, keepdims=False)
def mean(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> PArray:
    """Return the arithmetic mean.

    Examples
    --------
    >>> mean(asarray([1, 2]))
    PArray(1.5, dtype=float64)
    """
    return call("mean", x, axis=axis, keepdims=keepdims)


@reduction(
    option=_CORRECTION,
    result="Of the dtype of ``var``; in Paddle integers give float32.",
    refuses=_NO_MEAN,
)
@fast_function("std", passed=_DDOF, axis=None, correction=0.0, keepdims=False)
def std(
    x: AnyArray, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> PArray:
    """Return the standard deviation.

    Examples
    --------
    >>> std(asarray([1.0, 3.0], dtype=float16))
    PArray(1., dtype=float16)
    """
    return call(
        "std", x, axis=axis, ddof=number("std", "correction", correction), keepdims=keepdims
    )


@reduction(
    option=_CORRECTION,
    result=(
        "Real, but in aclnn. Integers give float64 in NumPy, in JAX float32, or float64 of 64 "
        "bits; Paddle 3.3 keeps them, 2.6 gives float32."
    ),
    refuses=_NO_MEAN,
)
@fast_function("var", passed=_DDOF, axis=None, correction=0.0, keepdims=False)
def var(
    x: AnyArray, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> PArray:
    """Return the variance.

    Examples
    --------
    >>> x = asarray([1, 3], dtype=int32)
    >>> var(x)
    PArray(1., dtype=float64)
    >>> with policy("jax"):
    ...     var(x)
    PArray(1., dtype=float32)
    """
    return call(
        "var", x, axis=axis, ddof=number("var", "correction", correction), keepdims=keepdims
    )


_extreme = reduction(
    result="Of the dtype of ``x``. NaN if there is one.",
    refuses=(
        "If the policy does not order the dtype: complex numbers nearly everywhere, bools in "
        "the array API."
    ),
    invalid="If there are no elements, or there is no such axis.",
)


@_extreme
@fast_function("max", axis=None, keepdims=False)
def max(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> PArray:
    """Return the largest element.

    Examples
    --------
    >>> max(asarray([[1, 5], [7, 3]], dtype=int8), axis=1)
    PArray([5, 7], dtype=int8)
    """
    return call("max", x, axis=axis, keepdims=keepdims)


@_extreme
@fast_function("min", axis=None, keepdims=False)
def min(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> PArray:
    """Return the smallest element.

    Examples
    --------
    >>> min(asarray([1.5, nan], dtype=bfloat16))
    PArray(nan, dtype=bfloat16)
    """
    return call("min", x, axis=axis, keepdims=keepdims)


@_cumulative(initial="Whether a 0 comes first, and the axis is one longer.")
@fast_function("cumulative_sum", settings=TYPED, axis=None, include_initial=False)
def cumulative_sum(
    x: AnyArray,
    /,
    *,
    axis: int | None = None,
    dtype: AnyDType | None = None,
    include_initial: bool = False,
) -> PArray:
    """Return the running sum along an axis.

    Examples
    --------
    >>> cumulative_sum(asarray([1, 2, 3]), include_initial=True)
    PArray([0, 1, 3, 6], dtype=int64)
    """
    options = {"axis": _axis("cumulative_sum", x, axis), "include_initial": include_initial}
    return _reduced("cumulative_sum", x, dtype, **options)


@_cumulative(initial="Whether a 1 comes first, and the axis is one longer.")
@fast_function("cumulative_prod", settings=TYPED, axis=None, include_initial=False)
def cumulative_prod(
    x: AnyArray,
    /,
    *,
    axis: int | None = None,
    dtype: AnyDType | None = None,
    include_initial: bool = False,
) -> PArray:
    """Return the running product along an axis.

    Examples
    --------
    >>> x = asarray([100, 2, 2], dtype=int8)
    >>> cumulative_prod(x)
    PArray([100, 200, 400], dtype=int64)
    >>> with policy("paddle"):
    ...     cumulative_prod(x)
    PArray([ 100,  -56, -112], dtype=int8)
    """
    options = {"axis": _axis("cumulative_prod", x, axis), "include_initial": include_initial}
    return _reduced("cumulative_prod", x, dtype, **options)


def _axis(name: str, x: Any, axis: int | None) -> int:
    count = as_array(x, name).ndim
    if axis is None and count != 1:
        raise ValueError(f"{name}: axis= may be left out for one-dimensional arrays only")
    return axis_in(name, 0 if axis is None else axis, count)
