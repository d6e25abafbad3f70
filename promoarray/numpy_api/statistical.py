"""NumPy's functions that are several of ours: sums, means and extremes, with NaN and without.

Each step is an operation under the policy, refused where the policy refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from promoarray import dtypes as dt
from promoarray.core.operands import policy_of
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in
from promoarray.dtypes import INEXACT
from promoarray.numpy_api.composed import array_of, cumprod, cumsum, kept_shape
from promoarray.numpy_api.options import reduced
from promoarray.promotion.plan import Operand


def average(xp: Any, a: Any, *, weights: Any = None, axis: Any = None, **options: Any) -> Any:
    if weights is None:
        return xp.mean(a, axis=axis, **options)
    array, share = array_of(xp, a, "average"), array_of(xp, weights, "average")
    if share.shape != array.shape:
        share = _weights_along(xp, share, array.shape, axis)
    if array.dtype.kind not in INEXACT:  # as NumPy has it, whose weights alone would be narrower
        array = xp.astype(array, xp.result_type(array.dtype, share.dtype, xp.float64))
    weighted = array * share
    total = xp.sum(share, axis=axis, dtype=kept_dtype(weighted), **options)
    if xp.any(total == 0):
        raise ZeroDivisionError("np.average: the weights add up to 0")
    return xp.sum(weighted, axis=axis, **options) / total


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
    axes, lower = axes_in("nanmedian", axis, array.ndim), _takes_the_lower(array)
    rest = tuple(n for n in range(array.ndim) if n not in axes)
    lanes = xp.permute_dims(array, (*rest, *axes))
    lanes = xp.reshape(lanes, (*lanes.shape[: len(rest)], math.prod(lanes.shape[len(rest) :])))
    if lanes.shape[-1]:
        lanes = xp.sort(lanes, axis=-1)  # NaN last
        there = xp.count_nonzero(lanes == lanes, axis=-1, keepdims=True)
        last = xp.maximum(there - 1, xp.zeros_like(there))
        below, above = last // 2, xp.minimum(there // 2, last)
        middle = below if lower else xp.concat([below, above], axis=-1)
        lanes = xp.take_along_axis(lanes, middle, axis=-1)
    found = lanes[..., 0] if lower and lanes.shape[-1] else xp.mean(lanes, axis=-1)
    return xp.reshape(found, kept_shape(array.shape, axes)) if keepdims else found


def _takes_the_lower(array: Any) -> bool:
    """Whether the median of integers is one of them: of an even count PyTorch takes the lower."""
    answers = policy_of(array).answers
    cell = None if answers is None else answers.cell("median", Operand(dt.int64))
    return cell is not None and not cell.refused and cell.results[0].kind not in INEXACT


def _filled(xp: Any, a: Any, name: str, fill: float) -> tuple[Any, Any]:
    """An array with a number for every NaN, and where it is NaN."""
    array, missing = _missing(xp, a, name)
    if missing is not None:
        array = xp.where(missing, xp.full_like(array, fill), array)
    return array, missing


def _without_nan(name: str) -> Callable[..., Any]:
    """Make a reduction of the elements that are not NaN."""

    def function(xp: Any, a: Any, **options: Any) -> Any:
        array, missing = _missing(xp, a, f"nan{name}")
        # Where nothing is missing, means have the bits of those of all; sums have them anyhow.
        if missing is None or (name not in ("sum", "prod") and not xp.any(missing)):
            axes = axes_in(name, options.get("axis"), array.ndim)
            count = math.prod(array.shape[axis] for axis in axes)
            if missing is None or not 0 < count <= options.get("correction", 0):
                return getattr(xp, name)(array, **options)
        return reduced(xp, name, array, where=xp.logical_not(missing), **options)

    return function


def _running_without_nan(running: Callable[..., Any], fill: float) -> Callable[..., Any]:
    """The same of a running sum or product."""

    def function(xp: Any, a: Any, **options: Any) -> Any:
        return running(xp, _filled(xp, a, f"nan{running.__name__}", fill)[0], **options)

    return function


def _extreme_without_nan(name: str, fill: float) -> Callable[..., Any]:
    """The same of an extreme: NaN where there is nothing else."""

    def function(xp: Any, a: Any, **options: Any) -> Any:
        array, missing = _filled(xp, a, f"nan{name}", fill)
        found = getattr(xp, name)(array, **options)
        if missing is None:
            return found
        nothing = xp.all(missing, **options)
        return xp.where(nothing, xp.full_like(found, float("nan")), found)

    return function


def _place_without_nan(name: str, fill: float) -> Callable[..., Any]:
    """The same of the place of an extreme, which is none where there is nothing else."""

    def function(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        array, missing = _filled(xp, a, f"nan{name}", fill)
        if missing is not None and xp.any(xp.all(missing, axis=axis)):
            raise ValueError("All-NaN slice encountered")
        return getattr(xp, name)(array, axis=axis, keepdims=keepdims)

    return function


nansum, nanprod, nanmean = map(_without_nan, ("sum", "prod", "mean"))
nanvar, nanstd = map(_without_nan, ("var", "std"))
nancumsum, nancumprod = _running_without_nan(cumsum, 0), _running_without_nan(cumprod, 1)
nanargmax = _place_without_nan("argmax", float("-inf"))
nanargmin = _place_without_nan("argmin", float("inf"))
nanmax = _extreme_without_nan("max", float("-inf"))
nanmin = _extreme_without_nan("min", float("inf"))
