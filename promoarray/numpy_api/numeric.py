"""NumPy's functions that are several of ours: those that compute.

Each step is an operation under the policy, refused where the policy refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in
from promoarray.dtypes import INEXACT, Kind
from promoarray.named_tuple import NamedTuple
from promoarray.numpy_api.composed import array_of, ravel

# --- Sums, means and extremes --------------------------------------------------------------------


def cumsum(xp: Any, a: Any, *, axis: int | None = None, dtype: object = None) -> Any:
    along = ravel(xp, a) if axis is None else a
    return xp.cumulative_sum(along, axis=0 if axis is None else axis, dtype=dtype)


def cumprod(xp: Any, a: Any, *, axis: int | None = None, dtype: object = None) -> Any:
    along = ravel(xp, a) if axis is None else a
    return xp.cumulative_prod(along, axis=0 if axis is None else axis, dtype=dtype)


def ptp(xp: Any, a: Any, **options: Any) -> Any:
    return xp.max(a, **options) - xp.min(a, **options)


def average(xp: Any, a: Any, *, weights: Any = None, axis: Any = None, **options: Any) -> Any:
    if weights is None:
        return xp.mean(a, axis=axis, **options)
    array, share = array_of(xp, a, "average"), array_of(xp, weights, "average")
    if share.shape != array.shape:
        share = _weights_along(xp, share, array.shape, axis)
    if array.dtype.kind not in INEXACT:  # as NumPy has it, whose weights alone would be narrower
        array = xp.astype(array, xp.result_type(array.dtype, share.dtype, xp.float64))
    total = xp.sum(share, axis=axis, **options)
    if xp.any(total == 0):
        raise ZeroDivisionError("np.average: the weights add up to 0")
    return xp.sum(array * share, axis=axis, **options) / total


def _weights_along(xp: Any, share: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Weights of some axes, in the order in which these are named, for an array of a shape."""
    axes = axes_in("average", axis, len(shape)) if axis is not None else ()
    if not axes or share.shape != tuple(shape[n] for n in axes):
        raise (ValueError if axes else TypeError)(
            f"np.average: weights of shape {share.shape} for an array of shape {shape}, "
            f"axis={axis}; write weights of that shape, or of its axis= alone"
        )
    in_order = xp.permute_dims(share, tuple(sorted(range(len(axes)), key=axes.__getitem__)))
    full = xp.reshape(in_order, tuple(m if n in axes else 1 for n, m in enumerate(shape)))
    return xp.broadcast_to(full, shape)


def _missing(xp: Any, a: Any, name: str) -> tuple[Any, Any]:
    """An array and where it is NaN; None for dtypes that have no NaN."""
    array = array_of(xp, a, name)
    return array, xp.isnan(array) if array.dtype.kind in INEXACT else None


def median(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    array, missing = _missing(xp, a, "median")
    found = nanmedian(xp, array, axis=axis, keepdims=keepdims)
    if missing is None:
        return found
    along = tuple(axis) if isinstance(axis, list) else axis
    unknown = xp.any(missing, axis=along, keepdims=keepdims)
    return xp.where(unknown, xp.full_like(found, float("nan")), found)


def nanmedian(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    array = array_of(xp, a, "nanmedian")
    axes = axes_in("nanmedian", axis, array.ndim)
    rest = tuple(n for n in range(array.ndim) if n not in axes)
    lanes = xp.permute_dims(array, (*rest, *axes))
    lanes = xp.reshape(lanes, (*lanes.shape[: len(rest)], math.prod(lanes.shape[len(rest) :])))
    if lanes.shape[-1]:
        lanes = xp.sort(lanes, axis=-1)  # NaN last
        there = xp.count_nonzero(lanes == lanes, axis=-1, keepdims=True)
        last = xp.maximum(there - 1, xp.zeros_like(there))
        middle = xp.concat([last // 2, xp.minimum(there // 2, last)], axis=-1)
        lanes = xp.take_along_axis(lanes, middle, axis=-1)
    found = xp.mean(lanes, axis=-1)
    if not keepdims:
        return found
    return xp.reshape(found, tuple(1 if n in axes else k for n, k in enumerate(array.shape)))


def percentile(xp: Any, a: Any, q: Any, **options: Any) -> Any:
    return xp.extras.quantile(a, _hundredths(xp, a, q), **options)


def nanpercentile(xp: Any, a: Any, q: Any, **options: Any) -> Any:
    return xp.extras.nanquantile(a, _hundredths(xp, a, q), **options)


def _hundredths(xp: Any, a: Any, q: Any) -> Any:
    """Percents as shares; numbers stay numbers."""
    return q / 100 if isinstance(q, (int, float)) else xp.asarray(q) / 100


def _without_nan(name: str, fill: float) -> Callable[..., Any]:
    """Make a reduction that takes every NaN for a number that changes nothing."""

    def function(xp: Any, a: Any, **options: Any) -> Any:
        array, missing = _missing(xp, a, f"nan{name}")
        if missing is not None:
            array = xp.where(missing, xp.full_like(array, fill), array)
        return getattr(xp, name)(array, **options)

    return function


def _extreme_without_nan(name: str, fill: float) -> Callable[..., Any]:
    """The same of an extreme: NaN where there is nothing else."""

    def function(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        array, missing = _missing(xp, a, f"nan{name}")
        if missing is None:
            return getattr(xp, name)(array, axis=axis, keepdims=keepdims)
        filled = xp.where(missing, xp.full_like(array, fill), array)
        found = getattr(xp, name)(filled, axis=axis, keepdims=keepdims)
        nothing = xp.all(missing, axis=axis, keepdims=keepdims)
        return xp.where(nothing, xp.full_like(found, float("nan")), found)

    return function


def _running_without_nan(running: Callable[..., Any], fill: float) -> Callable[..., Any]:
    """The same of a running sum or product."""

    def function(xp: Any, a: Any, **options: Any) -> Any:
        array, missing = _missing(xp, a, f"nan{running.__name__}")
        if missing is not None:
            array = xp.where(missing, xp.full_like(array, fill), array)
        return running(xp, array, **options)

    return function


def _place_without_nan(name: str, fill: float) -> Callable[..., Any]:
    """The same of the place of an extreme, which is none where there is nothing else."""

    def function(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        array, missing = _missing(xp, a, f"nan{name}")
        if missing is not None:
            if xp.any(xp.all(missing, axis=axis)):
                raise ValueError("All-NaN slice encountered")
            array = xp.where(missing, xp.full_like(array, fill), array)
        return getattr(xp, name)(array, axis=axis, keepdims=keepdims)

    return function


nansum, nanprod = _without_nan("sum", 0), _without_nan("prod", 1)
nancumsum, nancumprod = _running_without_nan(cumsum, 0), _running_without_nan(cumprod, 1)
nanargmax = _place_without_nan("argmax", float("-inf"))
nanargmin = _place_without_nan("argmin", float("inf"))
nanmax = _extreme_without_nan("max", float("-inf"))
nanmin = _extreme_without_nan("min", float("inf"))


def nanmean(xp: Any, a: Any, **options: Any) -> Any:
    array, missing = _missing(xp, a, "nanmean")
    if missing is None or not xp.any(missing):
        return xp.mean(array, **options)
    return xp.astype(_mean_of_others(xp, _wide(xp, array), missing, **options), kept_dtype(array))


def nanvar(xp: Any, a: Any, *, ddof: float = 0, **options: Any) -> Any:
    array, missing = _missing(xp, a, "nanvar")
    if missing is None or not xp.any(missing):
        return xp.var(array, correction=ddof, **options)
    spread = _variance_of_others(xp, _wide(xp, array), missing, ddof, **options)
    return xp.astype(spread, kept_dtype(array).part)


def nanstd(xp: Any, a: Any, *, ddof: float = 0, **options: Any) -> Any:
    array, missing = _missing(xp, a, "nanstd")
    if missing is None or not xp.any(missing):
        return xp.std(array, correction=ddof, **options)
    spread = _variance_of_others(xp, _wide(xp, array), missing, ddof, **options)
    return xp.astype(xp.sqrt(spread), kept_dtype(array).part)


def _mean_of_others(xp: Any, array: Any, missing: Any, **options: Any) -> Any:
    """The mean of what is not missing; NaN of nothing."""
    total = nansum(xp, array, **options)
    return total / _or_nan(xp, _count(xp, missing, total, **options))


def _variance_of_others(xp: Any, array: Any, missing: Any, ddof: float, **options: Any) -> Any:
    """The variance of what is not missing; NaN of too little."""
    mean = _mean_of_others(xp, array, missing, axis=options.get("axis"), keepdims=True)
    total = nansum(xp, xp.square(xp.abs(array - mean)), **options)
    return total / _or_nan(xp, _count(xp, missing, total, **options) - ddof)


def _count(xp: Any, missing: Any, total: Any, **options: Any) -> Any:
    """How many there are that are not missing, in the real dtype of their sum."""
    return xp.astype(xp.count_nonzero(xp.logical_not(missing), **options), kept_dtype(total).part)


def _or_nan(xp: Any, count: Any) -> Any:
    """A divisor; NaN for none."""
    return xp.where(count > 0, count, xp.full_like(count, float("nan")))


def _wide(xp: Any, array: Any) -> Any:
    """Narrow floats in float32, from which the result is rounded."""
    dtype = array.dtype
    if dtype.kind is Kind.FLOAT and dtype.bits < 32:
        return xp.astype(array, xp.float32)
    return xp.astype(array, xp.complex64) if dtype is xp.complex32 else array


# --- Comparisons ---------------------------------------------------------------------------------


def isclose(
    xp: Any, a: Any, b: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    x, y = array_of(xp, a, "isclose"), array_of(xp, b, "isclose")
    if y.dtype.kind not in INEXACT:  # so that no difference of integers wraps
        y = xp.astype(y, xp.result_type(y, 1.0))
    with np.errstate(invalid="ignore"):  # inf - inf
        near = xp.abs(x - y) <= atol + rtol * xp.abs(y)
    close = (near & xp.isfinite(y)) | (x == y)
    if equal_nan and x.dtype.kind in INEXACT:
        close = close | (xp.isnan(x) & xp.isnan(y))
    return close


def allclose(xp: Any, a: Any, b: Any, **options: Any) -> bool:
    return bool(xp.all(isclose(xp, a, b, **options)))


def array_equal(xp: Any, a1: Any, a2: Any, *, equal_nan: bool = False) -> bool:
    x, y = array_of(xp, a1, "array_equal"), array_of(xp, a2, "array_equal")
    if x.shape != y.shape:
        return False
    same = x == y
    if equal_nan and x.dtype.kind in INEXACT and y.dtype.kind in INEXACT:
        same = same | (xp.isnan(x) & xp.isnan(y))
    return bool(xp.all(same))


def iscomplex(xp: Any, x: Any) -> Any:
    array = array_of(xp, x, "iscomplex")
    if array.dtype.kind is not Kind.COMPLEX:
        return xp.zeros_like(array, dtype=xp.bool)
    return xp.imag(array) != 0


def isreal(xp: Any, x: Any) -> Any:
    return xp.logical_not(iscomplex(xp, x))


class UniqueResult(NamedTuple):
    """What ``unique`` finds of its array."""

    values: Any
    indices: Any
    inverse: Any
    counts: Any


def unique(
    xp: Any,
    ar: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    equal_nan: bool = True,
) -> Any:
    asked = [True, return_index, return_inverse, return_counts]
    found = UniqueResult(*xp.unique_all(ar))
    if equal_nan and found.values.dtype.kind in INEXACT:
        found = _one_nan(xp, found)
    answers = tuple(part for part, wanted in zip(found, asked, strict=True) if wanted)
    return answers if len(answers) > 1 else answers[0]


def _one_nan(xp: Any, found: UniqueResult) -> UniqueResult:
    """The same with one NaN: they come last, each its own."""
    values, indices, inverse, counts = found
    first = values.shape[0] - int(xp.count_nonzero(xp.isnan(values)))
    if first >= values.shape[0] - 1:
        return found
    together = xp.sum(counts[first:], dtype=kept_dtype(counts), keepdims=True)
    earliest = xp.min(indices[first:], keepdims=True)
    return UniqueResult(
        values[: first + 1],
        xp.concat([indices[:first], earliest]),
        xp.minimum(inverse, xp.full_like(inverse, first)),
        xp.concat([counts[:first], together]),
    )


def round(xp: Any, a: Any, *, decimals: int = 0) -> Any:
    array = array_of(xp, a, "round")
    return array.round(decimals) if decimals else xp.round(array)


around = round


def corrcoef(xp: Any, x: Any, *, y: Any = None, rowvar: bool = True) -> Any:
    spread = xp.extras.cov(x, y, rowvar=rowvar)
    if not spread.ndim:
        return spread / spread
    deviation = xp.sqrt(xp.real(xp.linalg.diagonal(spread)))
    found = spread / deviation[:, None] / deviation[None, :]
    return found if found.dtype.kind is Kind.COMPLEX else xp.clip(found, -1.0, 1.0)


def polyval(xp: Any, p: Any, x: Any) -> Any:
    coefficients, places = array_of(xp, p, "polyval"), array_of(xp, x, "polyval")
    out = xp.zeros_like(places)
    for n in range(coefficients.shape[0]):
        out = out * places + coefficients[n]
    return out


# --- Products and norms --------------------------------------------------------------------------


def dot(xp: Any, a: Any, b: Any) -> Any:
    x, y = array_of(xp, a, "dot"), array_of(xp, b, "dot")
    if not x.ndim or not y.ndim:
        return xp.multiply(x, y)
    return xp.matmul(x, y) if y.ndim <= 2 else xp.tensordot(x, y, axes=((-1,), (-2,)))


def inner(xp: Any, a: Any, b: Any) -> Any:
    x, y = array_of(xp, a, "inner"), array_of(xp, b, "inner")
    if not x.ndim or not y.ndim:
        return xp.multiply(x, y)
    return xp.tensordot(x, y, axes=((-1,), (-1,)))


def outer(xp: Any, a: Any, b: Any) -> Any:
    return xp.linalg.outer(*(ravel(xp, array_of(xp, x, "outer")) for x in (a, b)))


def vdot(xp: Any, a: Any, b: Any) -> Any:
    return xp.vecdot(*(ravel(xp, array_of(xp, x, "vdot")) for x in (a, b)))


def trace(
    xp: Any, a: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: object = None
) -> Any:
    square = xp.moveaxis(a, (axis1, axis2), (-2, -1))
    return xp.linalg.trace(square, offset=offset, dtype=dtype)


def linalg_norm(
    xp: Any, x: Any, *, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    array = array_of(xp, x, "linalg.norm")
    if ord is None and axis is None:
        return xp.linalg.vector_norm(array, keepdims=keepdims)
    axes = axes_in("linalg.norm", axis, array.ndim)
    if len(axes) == 1:
        order = 2 if ord is None else ord
        return xp.linalg.vector_norm(array, axis=axes[0], keepdims=keepdims, ord=order)
    if len(axes) != 2:
        raise ValueError(f"np.linalg.norm is of one axis or two, not of {len(axes)}; write axis=")
    last = xp.moveaxis(array, axes, (-2, -1))
    order = "fro" if ord is None else ord
    norm = xp.linalg.matrix_norm(last, keepdims=keepdims, ord=order)
    return xp.moveaxis(norm, (-2, -1), axes) if keepdims else norm


def linalg_qr(xp: Any, a: Any, *, mode: str = "reduced") -> Any:
    return xp.linalg.qr(a).R if mode == "r" else xp.linalg.qr(a, mode=mode)


def linalg_svd(xp: Any, a: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    if not compute_uv:
        return xp.linalg.svdvals(a)
    return xp.linalg.svd(a, full_matrices=full_matrices)


def _over_two(name: str) -> Callable[..., Any]:
    """Make a Fourier transform over two axes of that over any number."""

    def function(xp: Any, a: Any, *, axes: Any = (-2, -1), **options: Any) -> Any:
        return getattr(xp.fft, name)(a, axes=axes, **options)

    return function


fft_fft2, fft_ifft2 = _over_two("fftn"), _over_two("ifftn")
fft_rfft2, fft_irfft2 = _over_two("rfftn"), _over_two("irfftn")
