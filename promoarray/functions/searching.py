"""Chapter "searching functions"."""

from __future__ import annotations

from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.cast import convert
from promoarray.core.dispatch import call
from promoarray.core.index_keys import positions
from promoarray.core.operands import as_array, require_one_namespace, storage_dtype
from promoarray.core.shapes import axes_in
from promoarray.parray import PArray
from promoarray.promotion.registry import get_policy
from promoarray.promotion.registry import policy as in_force

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


def where(condition: Any, x1: Any, x2: Any, /) -> PArray:
    """Choose elements of one array where a condition holds, of another elsewhere.

    Parameters
    ----------
    condition : bool array
        It takes no part in promotion.
    x1, x2 : array or Python scalar
        Their dtypes promote as the policy says for ``where``.

    Returns
    -------
    PArray
        Of the shape all three broadcast to.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for ``x1`` and ``x2``.
    TypeError
        If the condition is not of bools.
    """
    mask = as_array(condition, "where")
    if mask.dtype is not dt.bool:
        raise TypeError(f"where needs a bool condition, not {mask.dtype}; write condition != 0")
    require_one_namespace(mask, x1, x2)
    if mask._policy is None:
        return call("where", x1, x2, condition=mask._buffer)
    with in_force(mask._policy):  # the condition's binding counts, if not its dtype
        out = call("where", x1, x2, condition=mask._buffer)
    return mask._wrap(out._buffer, out._type) if type(out) is PArray else out


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> PArray:
    """Return the index of the first largest element; NaN counts as largest.

    Parameters
    ----------
    x : array
    axis : int, optional
        By default the array is looked at as if it were flat.
    keepdims : bool
        Keep the axis with length 1.

    Returns
    -------
    PArray
        Of the policy's integers for indices: int64, but int32 in JAX without x64.

    Raises
    ------
    PromotionError
        If the policy finds no order in the dtype.
    ValueError
        If there are no elements.
    """
    return call("argmax", x, axis=axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> PArray:
    """Return the index of the first smallest element; NaN counts as smallest. See ``argmax``.

    Parameters
    ----------
    x : array
    axis, keepdims
        As in ``argmax``.

    Returns
    -------
    PArray
        Of the policy's integers for indices: int64, but int32 in JAX without x64.
    """
    return call("argmin", x, axis=axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Count the elements that are not zero.

    Parameters
    ----------
    x : array
        Of any dtype: no policy refuses to count. NaN is not zero, -0.0 is.
    axis : int or tuple of int, optional
        By default all.
    keepdims : bool
        Keep the counted axes with length 1.

    Returns
    -------
    PArray
        Of the policy's default integers.
    """
    array = as_array(x, "count_nonzero")
    backend = backend_of(array._buffer)
    lone = not array.ndim and axis in (0, -1)  # which NumPy's reductions let pass
    axes = None if axis is None or lone else axes_in("count_nonzero", axis, array.ndim)
    counts = backend.xp.count_nonzero(_truth(array, backend), axis=axes, keepdims=keepdims)
    return _index(array, counts)


def nonzero(x: Any, /) -> tuple[PArray, ...]:
    """Return the indices of the elements that are not zero.

    Parameters
    ----------
    x : array
        Of any dtype: no policy refuses. NaN is not zero, -0.0 is.

    Returns
    -------
    tuple of PArray
        One an axis, of the policy's default integers.

    Raises
    ------
    ValueError
        If ``x`` is 0-d.
    """
    array = as_array(x, "nonzero")
    if not array.ndim:
        raise ValueError("nonzero: a 0-d array has no axis to index; write x != 0")
    backend = backend_of(array._buffer)
    return tuple(_index(array, i) for i in backend.xp.nonzero(_truth(array, backend)))


def _truth(array: PArray, backend: Any) -> Any:
    """Whether each element is not zero, as a buffer."""
    if array.dtype is dt.string:
        raise TypeError("strings do not compare with zero; write astype first")
    return backend.cast(array._buffer, storage_dtype(array), dt.bool)


def _index(array: PArray, values: Any) -> PArray:
    """Label indices with the policy's default for integers."""
    policy = array._policy or get_policy()
    dtype = policy.strong(dt.weak_int)
    backend = backend_of(array._buffer)
    buffer, found = backend.adopt(values)
    return array._wrap(convert(policy, buffer, found, dtype), dtype)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> PArray:
    """Return where values would be put into sorted ones to keep the order.

    Parameters
    ----------
    x1 : array
        One-dimensional, in ascending order, NaN last.
    x2 : array or Python scalar
        What to put in. The two dtypes promote as the policy says.
    side : {"left", "right"}
        Before values that are equal, or behind them.
    sorter : array of integers, optional
        Indices that sort ``x1``, which then need not be in order.

    Returns
    -------
    PArray
        Of the shape of ``x2``, of the policy's integers for indices; int32 in JAX, with x64 too.

    Raises
    ------
    PromotionError
        If the policy does not compare the two dtypes: PyTorch wants them to agree.
    ValueError
        If ``x1`` has not one axis, there is no such side, or the sorter has another shape.
    """
    array = as_array(x1, "searchsorted")
    if array.ndim != 1:
        raise ValueError(f"searchsorted: x1 must be one-dimensional, not of shape {array.shape}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if sorter is None:
        return call("searchsorted", array, x2, side=side)
    order = as_array(sorter, "searchsorted")
    require_one_namespace(array, order)
    if order.shape != array.shape:
        raise ValueError(
            f"searchsorted: sorter has shape {order.shape}, x1 has shape {array.shape}"
        )
    index = positions(order, backend_of(array._buffer))
    return call("searchsorted", array, x2, side=side, sorter=index)
