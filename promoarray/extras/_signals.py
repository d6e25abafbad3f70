"""Signals: sums of shifted products, and derivatives by differences.

``convolve`` and ``correlate`` are products of matrices under the policy, which decides dtypes as it
does for ``matmul``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import backend_of, is_lazy
from promoarray.core.operands import as_array, operand_of, policy_of
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in
from promoarray.dtypes import INEXACT, INTEGERS, WEAK, int64
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.parray import Axes, Data, PArray
from promoarray.promotion.plan import Operand, Refusal

_AT_ONCE = 2**20
"""So many elements of windows are made at a time."""


def convolve(a: Data, v: Data, mode: str = "full") -> PArray:
    """Return the convolution of two vectors: the products at every shift, summed.

    Parameters
    ----------
    a, v : array_like, shapes (N,), (M,)
    mode : {"full", "same", "valid"}
        All shifts; the middle ones, as many as the longer has elements; those without overhang.

    Returns
    -------
    PArray, shape (K,)
        K is N + M - 1 in mode "full", max(N, M) in "same", abs(N - M) + 1 in "valid". Of the dtype
        that ``matmul`` gives; under JAX integers become floats.

    Raises
    ------
    PromotionError
        If the policy does not multiply vectors of these dtypes.
    ValueError
        If one is no vector or empty, or there is no such mode.

    Examples
    --------
    >>> convolve(asarray([1, 2, 3]), asarray([1, 10]))
    PArray([ 1, 12, 23, 30], dtype=int64)
    """
    x, y = (_vector("convolve", each) for each in (a, v))
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve: mode is 'full', 'same' or 'valid', not {quoted(mode)}")
    x, y = _as_recorded("convolve", x, y)
    if y.shape[0] > x.shape[0]:
        x, y = y, x
    longer, shorter = x.shape[0], y.shape[0]
    border = x._wrap(xp.zeros(shorter - 1, dtype=x.dtype, device=x.device)._buffer, x._type)
    padded, kernel = xp.concat([border, x, border]), xp.flip(y)
    first, count = {
        "full": (0, longer + shorter - 1),
        "same": ((shorter - 1) // 2, longer),
        "valid": (shorter - 1, longer - shorter + 1),
    }[mode]
    last = first + count
    edge = 0 if _is_finite(kernel) else shorter - 1  # where an infinity meets the border
    begin, end = max(first, edge), min(last, longer + shorter - 1 - edge)
    rows = max(1, _AT_ONCE // shorter)
    parts = [_overlapping(x, kernel, n) for n in range(first, begin)]
    parts += [_windowed(padded, kernel, n, min(n + rows, end)) for n in range(begin, end, rows)]
    parts += [_overlapping(x, kernel, n) for n in range(max(begin, end), last)]
    return parts[0] if len(parts) == 1 else xp.concat(parts)


def _is_finite(x: PArray) -> bool:
    """Whether there is no infinity and no NaN; of what is computed later nobody knows yet."""
    if x.dtype.kind not in INEXACT or is_lazy(backend_of(x._buffer)):
        return True
    return bool(np.isfinite(x._decoded()).all())


def _overlapping(x: PArray, kernel: PArray, n: int) -> PArray:
    """The sum of products of a kernel at one shift, with as much of it as there are elements."""
    before = n - kernel.shape[0] + 1
    low, high = max(0, before), min(n + 1, x.shape[0])
    done: PArray = xp.matmul(x[None, low:high], kernel[low - before : high - before])
    return done


def _windowed(padded: PArray, kernel: PArray, start: int, stop: int) -> PArray:
    """The sums of products of a kernel with the windows that begin at some elements."""
    width = kernel.shape[0]
    index = xp.arange(start, stop, dtype=int64)[:, None] + xp.arange(width, dtype=int64)[None, :]
    windows = xp.reshape(xp.take(padded, xp.reshape(index, (-1,)), axis=0), index.shape)
    done: PArray = xp.matmul(windows, kernel)
    return done


def correlate(a: Data, v: Data, mode: str = "valid") -> PArray:
    """Return the correlation of two vectors: ``convolve`` with the second reversed and conjugated.

    Parameters
    ----------
    a, v : array_like, shapes (N,), (M,)
    mode : {"valid", "same", "full"}

    Returns
    -------
    PArray, shape (K,)
        As long as of ``convolve``, and of the dtype that it gives.

    Raises
    ------
    PromotionError, ValueError
        As ``convolve`` does.

    Examples
    --------
    >>> correlate(asarray([1, 2, 3]), asarray([0, 1]))
    PArray([2, 3], dtype=int64)
    """
    x, y = (_vector("correlate", each) for each in (a, v))
    if y.shape[0] > x.shape[0]:
        return xp.flip(correlate(y, x, mode).conj())
    return convolve(x, xp.flip(y).conj(), mode)


def _as_recorded(name: str, x: PArray, y: PArray) -> tuple[PArray, PArray]:
    """Both in the dtype that the framework's own function was recorded to give for theirs."""
    policy = policy_of(x, y)
    common = policy.result_type((operand_of(x, policy), operand_of(y, policy)))
    if isinstance(common, Refusal) or policy.answers is None:
        return x, y
    cell = policy.answers.cell(name, Operand(common))
    if cell is None or cell.refused or (made := policy.strong(cell.results[0])) is common:
        return x, y
    return xp.astype(x, made), xp.astype(y, made)


def _vector(name: str, given: Any) -> PArray:
    x: PArray = xp.asarray(given)
    if x.ndim > 1 or not x.size:
        raise ValueError(f"{name} takes vectors of 1 element or more, not of shape {x.shape}")
    return xp.reshape(x, (-1,))


def gradient(f: Data, *spacing: Data, axis: Axes = None, edge_order: int = 1) -> Any:
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
