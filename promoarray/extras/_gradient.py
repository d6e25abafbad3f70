"""Derivatives by differences: ``gradient``."""

from __future__ import annotations

from typing import Any

from promoarray.core.operands import as_array
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in
from promoarray.dtypes import INTEGERS, WEAK
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.parray import PArray


def gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the derivatives of what an array samples, by central differences.

    Parameters
    ----------
    f : array, shape (..., N, ...)
        Integers are divided by 1 first, so that differences do not wrap round.
    *spacing : float or array, shape (N,)
        One distance between samples for all axes; or for each axis its distance, or the places of
        its samples. Default: 1.
    axis : int or tuple of int, optional
        Default: all.
    edge_order : {1, 2}
        Of the one-sided differences at both ends.

    Returns
    -------
    PArray, or a tuple of them
        One per axis, of the shape of ``f``. Floats keep their dtype; integers give what the policy
        divides them to, float64 in NumPy, float32 in PyTorch.

    Raises
    ------
    PromotionError
        If the policy does not subtract or divide the dtype: bools nearly everywhere.
    TypeError
        If there are not as many distances as axes.
    ValueError
        If an axis has not ``edge_order + 1`` elements, or there is no such axis.

    Examples
    --------
    >>> gradient(asarray([1, 2, 4, 7]))
    PArray([1. , 1.5, 2.5, 3. ], dtype=float64)
    """
    array = _divided(as_array(f, "gradient"))
    axes = axes_in("gradient", axis, array.ndim)
    steps = spacing if spacing else (1.0,)
    if len(steps) == 1 and (len(axes) == 1 or _is_number(steps[0])):
        steps *= len(axes)
    if len(steps) != len(axes):
        raise TypeError(
            f"gradient takes one spacing, or {len(axes)} for the axes, not {len(steps)}"
        )
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is 1 or 2, not {quoted(edge_order)}")
    for each in axes:
        if array.shape[each] <= edge_order:
            raise ValueError(
                f"gradient needs {edge_order + 1} elements along axis {each}, and there are "
                f"{array.shape[each]}"
            )
    out = tuple(
        _along(array, each, step, edge_order) for each, step in zip(axes, steps, strict=True)
    )
    return out[0] if len(out) == 1 else out


def _is_number(step: Any) -> bool:
    return type(step) in WEAK or not xp.asarray(step).ndim


def _divided(x: PArray) -> PArray:
    """Floats as they are, integers as what they are divided to."""
    return xp.divide(x, 1) if x.dtype.kind in INTEGERS else x


def _along(x: PArray, axis: int, step: Any, edge_order: int) -> PArray:
    """The derivative along one axis; each end by one-sided differences."""

    def part(begin: int | None, end: int | None) -> PArray:
        return x[(slice(None),) * axis + (slice(begin, end),)]

    if _is_number(step):
        middle = (part(2, None) - part(None, -2)) / (2 * step)
        first, last = step, step
        second, last_but_one = step, step
    else:
        gaps = _gaps(step, x, axis)
        middle = _uneven(part(None, -2), part(1, -1), part(2, None), gaps[:-1], gaps[1:], x, axis)
        first, last = gaps[0], gaps[-1]
        second, last_but_one = (gaps[1], gaps[-2]) if edge_order == 2 else (first, last)
    if edge_order == 1:
        left = (part(1, 2) - part(0, 1)) / first
        right = (part(-1, None) - part(-2, -1)) / last
    else:
        left = _one_sided(part(0, 1), part(1, 2), part(2, 3), first, second)
        right = -_one_sided(part(-1, None), part(-2, -1), part(-3, -2), last, last_but_one)
    return xp.concat(
        [xp.astype(p, kept_dtype(x), copy=False) for p in (left, middle, right)], axis=axis
    )


def _gaps(places: Any, x: PArray, axis: int) -> PArray:
    """The distances between the places of samples."""
    coordinates = _divided(xp.asarray(places))
    if coordinates.shape != (x.shape[axis],):
        raise ValueError(
            f"gradient: axis {axis} has {x.shape[axis]} elements, and its places have shape "
            f"{coordinates.shape}"
        )
    return xp.diff(coordinates)


def _uneven(
    before: PArray, here: PArray, after: PArray, gap: PArray, next_gap: PArray, x: PArray, axis: int
) -> Any:
    """Second-order differences at places that lie unevenly."""
    shape = [1] * x.ndim
    shape[axis] = -1
    d1, d2 = xp.reshape(gap, tuple(shape)), xp.reshape(next_gap, tuple(shape))
    both = d1 + d2
    return (
        before * (-d2 / (d1 * both)) + here * ((d2 - d1) / (d1 * d2)) + after * (d1 / (d2 * both))
    )


def _one_sided(x0: PArray, x1: PArray, x2: PArray, d1: Any, d2: Any) -> Any:
    """The second-order derivative at the first of three samples."""
    both = d1 + d2
    return x0 * (-(d1 + both) / (d1 * both)) + x1 * (both / (d1 * d2)) - x2 * (d1 / (d2 * both))
