"""Sums of shifted products, ``convolve`` and ``correlate``, and of centred ones, ``cov``.

All are products of matrices under the policy, which decides dtypes as it does for ``matmul``.
"""

from __future__ import annotations

from typing import Any

from promoarray.core.operands import array_class, as_array
from promoarray.dtypes import Kind, complex128, int64
from promoarray.errors import quoted
from promoarray.extras._quantile import averaged
from promoarray.functions import xp
from promoarray.parray import PArray
from promoarray.promotion.in_force import get_policy

_AT_ONCE = 2**20
"""So many elements of windows are made at a time."""


def convolve(a: Any, v: Any, mode: str = "full") -> PArray:
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
        that ``matmul`` gives.

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
    rows = max(1, _AT_ONCE // shorter)
    ends = range(first, first + count, rows)
    parts = [_windowed(padded, kernel, start, min(start + rows, first + count)) for start in ends]
    return parts[0] if len(parts) == 1 else xp.concat(parts)


def _windowed(padded: PArray, kernel: PArray, start: int, stop: int) -> PArray:
    """The sums of products of a kernel with the windows that begin at some elements."""
    width = kernel.shape[0]
    index = xp.arange(start, stop, dtype=int64)[:, None] + xp.arange(width, dtype=int64)[None, :]
    windows = xp.reshape(xp.take(padded, xp.reshape(index, (-1,)), axis=0), index.shape)
    done: PArray = xp.matmul(windows, kernel)
    return done


def correlate(a: Any, v: Any, mode: str = "valid") -> PArray:
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
        return xp.flip(_conjugate(correlate(y, x, mode)))
    return convolve(x, _conjugate(xp.flip(y)), mode)


def _conjugate(x: PArray) -> PArray:
    return xp.conj(x) if x.dtype.kind is Kind.COMPLEX else x


def _vector(name: str, given: Any) -> PArray:
    x: PArray = xp.asarray(given)
    if x.ndim > 1 or not x.size:
        raise ValueError(f"{name} takes vectors of 1 element or more, not of shape {x.shape}")
    return xp.reshape(x, (-1,))


def cov(
    m: Any, y: Any = None, *, rowvar: bool = True, bias: bool = False, ddof: int | None = None
) -> PArray:
    """Return the covariances of variables.

    Parameters
    ----------
    m : array, shape (N, M) or (M,)
        A variable a row, an observation a column.
    y : array, shape (K, M) or (M,), optional
        More variables.
    rowvar : bool
        False: a variable a column.
    bias : bool
        Divide by the count, not by one less.
    ddof : int, optional
        Divide by the count less this.

    Returns
    -------
    PArray, shape (N, N), or () of one variable
        Under NumPy's policies float64 or complex128. Elsewhere floats keep their dtype and
        integers become what ``mean`` makes of them.

    Raises
    ------
    PromotionError
        If the policy has no mean of integers.
    ValueError
        If there are more than two axes.

    Examples
    --------
    >>> cov(asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
    PArray([[ 1., -2.],
            [-2.,  4.]], dtype=float64)
    """
    rows = _variables(m, rowvar)
    if y is not None:
        rows = xp.concat([rows, _variables(y, rowvar)], axis=0)
    divisor = rows.shape[1] - (int(not bias) if ddof is None else ddof)
    centred = rows - xp.mean(rows, axis=1, keepdims=True)
    found = xp.matmul(centred, xp.matrix_transpose(_conjugate(centred))) / max(divisor, 0)
    return xp.reshape(found, ()) if found.shape == (1, 1) else found


def _variables(given: Any, rowvar: bool) -> PArray:
    """A matrix of floats, a variable a row."""
    x = as_array(given, "cov")
    if x.ndim > 2:
        raise ValueError(f"cov takes a matrix or a vector, not {x.ndim} axes")
    fixed = (array_class((x,))._policy or get_policy()).fixed.get("cov")
    if fixed:
        x = xp.astype(x, complex128 if x.dtype.kind is Kind.COMPLEX else fixed, copy=False)
    elif x.dtype.kind is not Kind.COMPLEX:
        x = xp.astype(x, averaged(x, "cov"), copy=False)
    rows: PArray = x if x.ndim == 2 else xp.reshape(x, (1, -1))
    return rows if rowvar or x.ndim < 2 else xp.matrix_transpose(rows)
