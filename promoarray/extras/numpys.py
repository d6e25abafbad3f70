"""Functions that NumPy users call by NumPy's names; each is made of the standard's."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.operands import as_array
from promoarray.dtypes import Kind, as_dtype
from promoarray.functions import xp
from promoarray.functions._creation import buffer_of
from promoarray.linalg.products import diagonal
from promoarray.parray import PArray
from promoarray.promotion.in_force import get_policy


def array(
    obj: Any,
    dtype: object = None,
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


def concatenate(arrays: Sequence[Any], axis: int | None = 0, *, dtype: object = None) -> PArray:
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


def transpose(x: Any, axes: Sequence[int] | None = None) -> PArray:
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


def diag(x: Any, k: int = 0) -> PArray:
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
    length = given.size + abs(k)
    policy = given._policy or get_policy()
    buffer = buffer_of("zeros", (length, length), given.dtype, given.device, policy)
    first = k if k > 0 else -k * length
    places = buffer.reshape(-1)[first :: length + 1][: given.size]
    backend_of(buffer).write(places, ..., given._buffer)
    return given._wrap(buffer, given._type)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: object = None,
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
    wide = target if target and target.kind is Kind.FLOAT and target.bits > usual.bits else None
    exponents = xp.linspace(start, stop, num, dtype=wide, endpoint=endpoint, device=device)
    out = xp.pow(base, exponents)
    return out if target is None else xp.astype(out, dtype, copy=False)
