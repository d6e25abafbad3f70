"""Functions that NumPy users call by NumPy's names; each is made of the standard's."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.index_keys import picking
from promoarray.core.move import moved, mover
from promoarray.core.operands import as_array
from promoarray.dtypes import INEXACT, INTEGERS, DType, as_dtype
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.functions.ranges import whole_end
from promoarray.linalg.products import diagonal
from promoarray.parray import AnyArray, AnyDType, Data, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Plan


def array(
    obj: Any,
    dtype: AnyDType | None = None,
    *,
    copy: bool | None = True,
    ndmin: int = 0,
    device: str | None = None,
) -> PArray:
    """Make an array, copying what is one already: ``asarray`` with a copy.

    Parameters
    ----------
    obj : array_like, any shape
        As for ``asarray``.
    dtype : dtype_like, optional
        By default that of ``obj``; of Python numbers what the policy makes of them.
    copy : bool, optional
        False raises where a copy is needed; None copies only there.
    ndmin : int
        How many axes there are at least: axes of length 1 come first.
    device : str, optional
        By default where ``obj`` lies.

    Returns
    -------
    PArray
        Of the shape of ``obj``, after axes of length 1 where there are fewer than ``ndmin``.

    Raises
    ------
    TypeError
        If promoarray has no dtype for the data.
    ValueError
        If sequences are ragged, or ``copy=False`` and a copy is needed.
    OverflowError
        If an int does not fit ``dtype``.

    Examples
    --------
    >>> array([1, 2.5], ndmin=2)
    PArray([[1. , 2.5]], dtype=float64)
    """
    if device is None and copy is not False and type(obj) in (list, tuple):
        made = xp.asarray(obj, dtype=dtype)  # which copies them anyway
    else:
        made = xp.asarray(obj, dtype=dtype, device=device, copy=copy)
    return xp.reshape(made, (1,) * (ndmin - made.ndim) + made.shape) if ndmin > made.ndim else made


def concatenate(
    arrays: Sequence[Data] | PArray, axis: int | None = 0, *, dtype: AnyDType | None = None
) -> PArray:
    """Join arrays along an axis they have: ``concat``.

    Parameters
    ----------
    arrays : sequence of array_like
        Of shapes that differ along ``axis`` only. Their dtypes promote as the policy says for
        ``concat``.
    axis : int or None
        None joins them flat.
    dtype : dtype_like, optional
        What the result is cast to.

    Returns
    -------
    PArray
        Of the shape of the arrays but for the axis, which has the sum of the lengths. Of ``dtype``,
        or the promoted one.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for them.
    ValueError
        If there are none, or their other axes differ.

    Examples
    --------
    >>> concatenate(([0], asarray([1.5])))
    PArray([0. , 1.5], dtype=float64)
    """
    made = [xp.asarray(x) if isinstance(x, (list, tuple)) else x for x in tuple(arrays)]
    out = xp.concat(made, axis=axis)
    return out if dtype is None else xp.astype(out, dtype, copy=False)


def transpose(x: Data, axes: Sequence[int] | None = None) -> PArray:
    """Return an array with its axes in another order: ``permute_dims``.

    Parameters
    ----------
    x : array_like, any shape
    axes : sequence of int, optional
        A permutation of ``range(x.ndim)``. Default: the axes reversed.

    Returns
    -------
    PArray
        A view with the axes in that order, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If it is no permutation.

    Examples
    --------
    >>> transpose(zeros((2, 3, 4))).shape
    (4, 3, 2)
    """
    made = xp.asarray(x)
    return xp.permute_dims(made, tuple(range(made.ndim))[::-1] if axes is None else tuple(axes))


def diag(x: Data, k: int = 0) -> PArray:
    """Return the diagonal of a matrix, or the matrix that has a vector on its diagonal.

    Parameters
    ----------
    x : array, shape (M, N) or (N,)
        Of any dtype, under every policy.
    k : int
        Which diagonal: 0 is the main one, 1 the next above.

    Returns
    -------
    PArray, shape (K,) or (N + abs(k), N + abs(k))
        Of the dtype of ``x``, with zeros beside a vector.

    Raises
    ------
    ValueError
        If ``x`` has neither one axis nor two.

    Examples
    --------
    >>> diag(asarray([1, 2]))
    PArray([[1, 0],
            [0, 2]], dtype=int64)
    """
    given: PArray = as_array(x, "diag")
    k = index(k)
    if given.ndim == 2:
        return diagonal(given, offset=k)
    if given.ndim != 1:
        raise ValueError(f"diag takes a matrix or a vector, not {given.ndim} axes")
    made = moved("diag", given, k=k)
    if given.dtype is not dt.float8_e8m0fnu:
        return made
    return xp.triu(xp.tril(made, k=k), k=k)  # which have its zero, where code 0 is 2**-127


def logspace(
    start: AnyArray,
    stop: AnyArray,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: AnyDType | None = None,
    *,
    device: str | None = None,
) -> PArray:
    """Return numbers spaced evenly by their logarithms: ``base ** linspace(start, stop, num)``.

    Parameters
    ----------
    start, stop : int, float or complex
        The exponents of the first number and of the last.
    num : int
        How many.
    endpoint : bool
        Whether the last one is among them.
    base : float
    dtype : dtype_like, optional
        Default: the policy's default float, or its default complex dtype if an exponent is complex.
        Narrower dtypes and integers are computed in that and cast.
    device : str, optional
        Default: the CPU.

    Returns
    -------
    PArray, shape (num,)
        Of ``dtype``.

    Raises
    ------
    PromotionError
        If the policy has no such power.
    ValueError
        If ``num`` is negative.

    Examples
    --------
    >>> logspace(0, 2, 3)
    PArray([  1.,  10., 100.], dtype=float64)
    """
    target = None if dtype is None else as_dtype(dtype)
    usual = get_policy().strong(dt.weak_float)
    part = target.part if target and target.kind in INEXACT else usual
    wide = part if part.bits > usual.bits else None
    if target and target.kind in INTEGERS and _truncates_ends(target):
        start, stop = (whole_end(end, target) for end in (start, stop))
    exponents = xp.linspace(start, stop, num, dtype=wide, endpoint=endpoint, device=device)
    out = xp.pow(base, exponents)
    return out if target is None else xp.astype(out, dtype, copy=False)


def _truncates_ends(dtype: DType) -> bool:
    """Whether a line of integers is counted between ends without fractions."""
    kernel = get_policy().kernel("linspace", Plan((dtype,), dtype, dtype))
    return kernel == "linspace_of_integers"


_REPEATING = ("edge", "reflect", "symmetric", "wrap")
"""Modes that repeat elements of the array."""


def pad(x: Data, pad_width: Data, mode: str = "constant", *, constant_values: Data = 0) -> PArray:
    """Return an array with a border.

    Parameters
    ----------
    x : array, any shape
    pad_width : int, (int, int), or one such pair for each axis
        How many elements come before and after those of each axis.
    mode : {"constant", "edge", "reflect", "symmetric", "wrap"}
        What they are: a constant; the element at the edge; the elements mirrored at the edge,
        without it or with it; those of the other end.
    constant_values : Python scalar, or as ``pad_width``
        Stored as ``x[key] = value`` stores it.

    Returns
    -------
    PArray
        Of the shape of ``x`` with each axis longer by its ``pad_width``, and the dtype of ``x``.

    Raises
    ------
    TypeError
        If the widths are no integers.
    ValueError
        If a width is negative, the widths are not as many as axes, there is no such mode, or an
        axis without elements has none to repeat.
    OverflowError
        If a constant does not fit the dtype.

    Examples
    --------
    >>> pad(asarray([1, 2]), (1, 2), constant_values=7)
    PArray([7, 1, 2, 7, 7], dtype=int64)
    >>> pad(asarray([1, 2, 3]), 2, mode="reflect")
    PArray([3, 2, 1, 2, 3, 2, 1], dtype=int64)
    """
    array, widths = as_array(x, "pad"), np.asarray(pad_width)
    if widths.dtype.kind not in "iu":
        raise TypeError(f"pad takes integers as pad_width, not {quoted(pad_width)}")
    pairs = _pairs(widths, "pad_width", array.ndim)
    if widths.size and widths.min() < 0:
        raise ValueError(f"pad: pad_width must be 0 or more, not {quoted(pad_width)}")
    if mode == "constant":
        return _with_constants(array, pairs, constant_values)
    if mode not in _REPEATING:
        choices = ", ".join(map(repr, ("constant", *_REPEATING)))
        raise ValueError(f"pad has no mode {quoted(mode)}; write one of: {choices}")
    out: PArray = array
    for axis, (before, after) in enumerate(pairs):
        places: Any = {"mode": mode}  # of the elements, which NumPy pads as it would the elements
        index = np.pad(np.arange(array.shape[axis]), (before, after), **places)
        out = picking(mover(out, "take", axis=axis), out, xp.asarray(index))()
    return out


def _pairs(values: Any, name: str, ndim: int) -> list[tuple[Any, Any]]:
    """What comes before and after, for each axis."""
    try:
        return [(a, b) for a, b in np.broadcast_to(values, (ndim, 2)).tolist()]
    except ValueError:
        raise ValueError(
            f"pad: {name} is one number, a pair, or a pair for each of the {ndim} axes, not "
            f"{quoted(values)}"
        ) from None


def _with_constants(x: PArray, pairs: list[tuple[int, int]], values: Any) -> PArray:
    lone = np.ndim(values) == 0  # keep a 0-d array as it is
    constants = [(values, values)] * x.ndim if lone else _pairs(values, "constant_values", x.ndim)
    shape = tuple(n + before + after for n, (before, after) in zip(x.shape, pairs, strict=True))
    backend = backend_of(x._buffer)
    out = x._wrap(backend.empty(shape, x.dtype, x.device), x._type)
    inner = tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, pairs, strict=True))
    backend.write(out._buffer, inner, x._buffer)
    for axis, (before, after) in enumerate(pairs):
        there = (slice(None),) * axis
        for end, value in zip(
            (slice(before), slice(shape[axis] - after, None)), constants[axis], strict=True
        ):
            out[(*there, end)] = value
    return out
