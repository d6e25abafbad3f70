"""Functions piece by piece: ``interp`` by the lines through points, ``piecewise`` by conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from promoarray.core.move import tell_steps
from promoarray.core.operands import as_array, policy_of
from promoarray.dtypes import INEXACT, Kind, bool, complex128, int64
from promoarray.extras._statistics import averaged
from promoarray.functions import xp as api
from promoarray.parray import AnyArray, Data, PArray


def interp(
    x: Data, xp: Data, fp: Data, left: AnyArray | None = None, right: AnyArray | None = None
) -> PArray:
    """Return the heights at some places of the lines through given points.

    Parameters
    ----------
    x : array_like, any shape
        The places.
    xp, fp : array_like, shape (N,)
        The places of the points, in ascending order, and their heights.
    left, right : Python scalar, optional
        The heights before the first point and after the last. Default: those of these points.

    Returns
    -------
    PArray
        Of the shape of ``x``. Under NumPy's policies float64 or complex128, as there. Elsewhere
        integers become the float that ``mean`` makes of them, if it does, and what is subtracted,
        divided, multiplied and added promotes.

    Raises
    ------
    PromotionError
        If the policy does not promote these dtypes.
    ValueError
        If there are no points, or not as many heights.

    Examples
    --------
    >>> interp([0.5, 3.0], asarray([0.0, 1.0]), asarray([10.0, 20.0]))
    PArray([15., 20.], dtype=float64)
    """
    at, places, heights = (api.asarray(each) for each in (x, xp, fp))
    if places.ndim != 1 or places.shape != heights.shape or not places.shape[0]:
        raise ValueError(
            f"interp: xp and fp must be vectors of one length, and of 1 or more, not of shapes "
            f"{places.shape} and {heights.shape}"
        )
    if Kind.COMPLEX in (at.dtype.kind, places.dtype.kind):
        raise TypeError("interp: complex places have no order; fp alone may be complex")
    at, places, heights = _as_floats(at, places, heights)
    flat = api.reshape(at, (-1,))
    last = places.shape[0] - 1
    found = _on_lines(flat, places, heights) if last else _all_of(heights[0], flat)
    for end, given, beyond in ((0, left, flat < places[0]), (last, right, flat > places[last])):
        found = api.where(beyond, _all_of(heights[end] if given is None else given, found), found)
    return api.reshape(found, at.shape)


def _as_floats(x: PArray, xp: PArray, fp: PArray) -> tuple[PArray, PArray, PArray]:
    """Points that can be divided: in NumPy's double, or as the policy has floats of them."""
    tell_steps("interp", x, xp, fp)
    fixed = policy_of(x, xp, fp).fixed.get("interp")
    if fixed:
        high = complex128 if fp.dtype.kind is Kind.COMPLEX else fixed
        x, xp = api.astype(x, fixed, copy=False), api.astype(xp, fixed, copy=False)
        return x, xp, api.astype(fp, high, copy=False)
    if not {x.dtype.kind, xp.dtype.kind} & INEXACT:
        x, xp = (api.astype(each, averaged(each, "interp")) for each in (x, xp))
    fp = fp if fp.dtype.kind in INEXACT else api.astype(fp, averaged(fp, "interp"))
    return x, xp, fp


def _all_of(value: Any, like: PArray) -> PArray:
    """A number or a 0-d array at every place of an array, in its dtype if it has the kind."""
    if isinstance(value, PArray):
        return api.broadcast_to(value, like.shape)
    return api.full_like(like, value)


def _on_lines(x: PArray, xp: PArray, fp: PArray) -> PArray:
    """The heights on the lines, from the point before; from the next where that is infinite."""
    index = api.clip(api.searchsorted(xp, x, side="right") - 1, 0, xp.shape[0] - 2)
    index = api.astype(index, int64, copy=False)
    x0, x1, y0, y1 = (api.take(v, index + n, axis=0) for v in (xp, fp) for n in (0, 1))
    with np.errstate(all="ignore"):  # infinite heights, and places that are there twice
        slope = (y1 - y0) / (x1 - x0)
        found = slope * (x - x0) + y0
        found = api.where(api.isnan(found), slope * (x - x1) + y1, found)
    known = api.logical_or(x == x0, api.logical_or(y0 == y1, x == x1))
    at = api.where(x == x1, y1, y0)
    return api.where(
        known & api.logical_not(api.isnan(x)), api.astype(at, found.dtype, copy=False), found
    )


def piecewise(
    x: Data,
    condlist: Data,
    funclist: Sequence[AnyArray | Callable[..., Any]],
    *args: Any,
    **kwargs: Any,
) -> PArray:
    """Return an array that is one function or another, as conditions say.

    Parameters
    ----------
    x : array, any shape
    condlist : sequence of arrays of bool, or one of them
        Where each function is, of the shape of ``x``.
    funclist : sequence
        Of callables, which take the elements, or Python scalars. One more than conditions is for
        where none of them is true; without it, zero.
    *args, **kwargs
        What the callables take besides.

    Returns
    -------
    PArray
        Of the shape and dtype of ``x``, into which values are assigned as ``y[mask] = value``.

    Raises
    ------
    PromotionError
        If the policy does not assign such values.
    ValueError
        If there are not as many functions as conditions, or one more.

    Examples
    --------
    >>> piecewise(asarray([-2.0, 3.0]), [asarray([True, False])], [lambda v: -v, 10])
    PArray([ 2., 10.], dtype=float64)
    """
    array = as_array(x, "piecewise")
    conditions = [_condition(each, array) for each in _listed(condlist, array)]
    if len(funclist) == len(conditions) + 1:
        taken = reduce(api.logical_or, conditions, api.zeros_like(array, dtype=bool))
        conditions.append(api.logical_not(taken))
    if len(funclist) != len(conditions):
        count = len(conditions)
        raise ValueError(
            f"piecewise: {count} conditions take {count} or {count + 1} functions, not "
            f"{len(funclist)}"
        )
    out = api.zeros_like(array)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            out[condition] = function
        elif (values := array[condition]).size:
            out[condition] = function(values, *args, **kwargs)
    return out


def _listed(condlist: Any, x: PArray) -> list[Any]:
    """The conditions; one alone is a list of one."""
    alone = isinstance(condlist, PArray) and condlist.ndim == x.ndim
    if alone or not hasattr(condlist, "__len__"):
        return [condlist]
    flat = _is_truth(condlist[0]) and x.ndim
    return [condlist] if flat else list(condlist)


def _is_truth(part: Any) -> Any:
    """Whether a part of a list of conditions is the truth about one element."""
    return not hasattr(part, "__len__") and not getattr(part, "ndim", 0)


def _condition(given: Any, x: PArray) -> PArray:
    """A condition as a mask of the array's shape."""
    mask: PArray = api.astype(api.asarray(given), bool, copy=False)
    if mask.shape != x.shape:
        raise ValueError(f"piecewise: a condition of shape {mask.shape} for x of {x.shape}")
    return mask
