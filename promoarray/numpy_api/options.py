"""NumPy's options that several functions have: ``where=``, ``initial=`` and ``out=``.

What a reduction leaves out counts as what changes nothing: 0 of a sum, ``initial`` of an extreme.
Means and variances are sums of what is left in, and divided by its count. A result is written into
an array as the policy writes ``x += y`` into ``x``.
"""

from __future__ import annotations

from typing import Any

from promoarray.core.array_base import storage_dtype
from promoarray.core.operands import policy_of
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in
from promoarray.dtypes import INEXACT
from promoarray.errors import kind_of, quoted
from promoarray.numpy_api.composed import array_of, kept_shape
from promoarray.numpy_api.table import has_no_effect
from promoarray.parray import PArray
from promoarray.promotion.plan import accumulator

_NEUTRAL = {"sum": 0, "prod": 1, "all": True, "any": False}
JOINED = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
"""Reductions that may begin with a value, and what combines it with the others."""

ALL = ("True",)
"""What ``where=`` is where nothing is left out."""


def reduced(
    xp: Any, name: str, x: Any, *, where: Any = True, initial: Any = None, **options: Any
) -> Any:
    """Reduce the elements where a mask, broadcast to the shape of ``x``, is true, beginning with a
    value: ``sum prod max min all any mean std var``. ``options`` are of the reduction itself, by
    our names.

    Raises TypeError if the reduction begins with nothing; ValueError if an extreme of some elements
    has no ``initial``, as there may be none.
    """
    array = array_of(xp, x, name)
    begun = not has_no_effect(initial)
    if begun and name not in JOINED:
        raise TypeError(f"np.{name} takes no initial=; write what combines it with {name}")
    if not has_no_effect(where, ALL):
        mask = array_of(xp, where, name)
        if mask.dtype is not xp.bool:
            raise TypeError(f"np.{name}: where= is an array of bool, not of {mask.dtype.name}")
        mask = xp.broadcast_to(mask, array.shape)
        if name in ("mean", "std", "var"):
            return _spread(xp, name, array, xp.logical_not(mask), **options)
        if name not in _NEUTRAL and not begun:
            raise ValueError(f"np.{name} of some elements needs initial=, as there may be none")
        kept = _NEUTRAL.get(name, initial)
        array = xp.where(mask, array, xp.full_like(array, kept))
    if not begun:
        return getattr(xp, name)(array, **options)
    if name not in _NEUTRAL and not array.size:
        return _nothing_but(xp, array, initial, **options)
    found = getattr(xp, name)(array, **options)
    return getattr(xp, JOINED[name])(found, _stored(xp, initial, kept_dtype(found)))


def _stored(xp: Any, initial: Any, dtype: Any) -> Any:
    """What a reduction begins with, in the dtype that it has."""
    begun = xp.empty((), dtype=dtype)
    begun[...] = initial
    return begun


def _spread(
    xp: Any, name: str, array: Any, missing: Any, *, correction: float = 0, **options: Any
) -> Any:
    """A mean, variance or deviation of what is not missing, in the dtype of one of all."""
    whole = kept_dtype(getattr(xp, name)(xp.ones(1, dtype=kept_dtype(array))))
    given = array if array.dtype.kind in INEXACT else xp.astype(array, whole)
    given = xp.astype(given, accumulator(given.dtype), copy=False)
    if name == "mean":
        return xp.astype(_mean_of(xp, given, missing, **options), whole)
    spread = _variance_of(xp, given, missing, correction, **options)
    return xp.astype(xp.sqrt(spread) if name == "std" else spread, whole)


def _nothing_but(
    xp: Any, array: Any, initial: Any, *, axis: Any = None, keepdims: bool = False
) -> Any:
    """An extreme of no elements: what it begins with."""
    axes = axes_in("max", axis, array.ndim)
    found = xp.full(kept_shape(array.shape, axes), initial, dtype=array.dtype)
    return found if keepdims else xp.squeeze(found, axes)


def _mean_of(xp: Any, array: Any, missing: Any, correction: float = 0, **options: Any) -> Any:
    """The sum of what is not missing by its count, less a correction; NaN of nothing."""
    total = xp.sum(xp.where(missing, xp.zeros_like(array), array), **options)
    there = xp.count_nonzero(xp.logical_not(missing), **options)
    count = xp.astype(there, kept_dtype(total).part)
    count = count - correction if correction else count
    return total / xp.where(count > 0, count, xp.full_like(count, float("nan")))


def _variance_of(xp: Any, array: Any, missing: Any, correction: float, **options: Any) -> Any:
    """The variance of what is not missing; NaN of too little, and where that has infinities."""
    mean = _mean_of(xp, array, missing, axis=options.get("axis"), keepdims=True)
    squares = xp.square(xp.abs(array - mean))
    return _mean_of(xp, squares, missing, correction, **options)


def require_ours(name: str, out: Any) -> None:
    """Refuse what is no array of ours, before anything is computed.

    Raises TypeError with what to write.
    """
    if not isinstance(out, PArray):
        raise TypeError(
            f"np.{name}(out=) writes into a PArray, not into {kind_of(out)}: that is outside the "
            f"policy. Write out[...] = np.asarray(np.{name}(...)) to leave it on purpose"
        )


def written(name: str, out: Any, result: Any, mask: Any = True) -> Any:
    """Write a result into an array where a mask is true, and return that; ``name`` is of NumPy's
    function, for messages.

    Raises TypeError if the policy writes no such dtype in place; ValueError if the shapes differ.
    """
    require_ours(name, out)
    if out.shape != result.shape:
        raise ValueError(f"np.{name}: out has shape {out.shape}, the result {result.shape}")
    policy = policy_of(out, result)
    source, target = storage_dtype(result), storage_dtype(out)
    if source is not target and not (policy.inplace and policy.inplace(source, target)):
        raise TypeError(
            f"np.{name}: policy {quoted(policy.name)} does not write {source.name} into an array "
            f"of {target.name} in place. Write out[...] = pa.astype(..., pa.{target.name})"
        )
    if mask is True:
        out[...] = result
    else:
        out[mask] = result[mask]
    return out
