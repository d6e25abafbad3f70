"""Chapter "searching functions"."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.array_base import storage_dtype
from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_function
from promoarray.core.index_keys import positions
from promoarray.core.move import Move, fast_move
from promoarray.core.operands import as_array, require_one_namespace
from promoarray.core.shapes import axes_in
from promoarray.dtypes import DType
from promoarray.errors import quoted
from promoarray.functions._docs import template
from promoarray.parray import AnyArray, Axes, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.in_force import policy as in_force

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]

_SIDES = "left", "right"

_extreme = template(
    """
    Parameters
    ----------
    x : array, any shape
    axis : int, optional
        Default: the array is flattened first.
    keepdims : bool
        Keep the axis with length 1.

    Returns
    -------
    PArray
        The shape of ``x`` without the axis; 0-d by default. Of the policy's dtype for indices:
        int64, but int32 in JAX without x64 and in ``jax.lax``.

    Raises
    ------
    PromotionError
        If the policy does not order the dtype.
    ValueError
        If there are no elements, or there is no such axis.
    """
)


@fast_function("where", settings={"conditional": True}, condition=None)
def where(condition: AnyArray, x1: AnyArray, x2: AnyArray, /) -> PArray:
    """Choose elements of one array where a condition holds, of another elsewhere.

    Parameters
    ----------
    condition : array of bool, any shape
        Takes no part in promotion.
    x1, x2 : array or Python scalar
        Of shapes that broadcast with it. Their dtypes promote as the policy says for ``where``.

    Returns
    -------
    PArray
        Of the shape all three broadcast to and the promoted dtype.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for ``x1`` and ``x2``.
    TypeError
        If the condition is not of bools.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> where(asarray([True, False]), asarray([1, 2], dtype=int8), 0.5)
    PArray([1. , 0.5], dtype=float64)
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


@_extreme()
@fast_function("argmax", axis=None, keepdims=False)
def argmax(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> PArray:
    """Return the index of the first largest element; NaN counts as largest.

    Examples
    --------
    >>> argmax(asarray([[1, 5], [7, 3]]), axis=1)
    PArray([1, 0], dtype=int64)
    """
    return call("argmax", x, axis=axis, keepdims=keepdims)


@_extreme()
@fast_function("argmin", axis=None, keepdims=False)
def argmin(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> PArray:
    """Return the index of the first smallest element; NaN counts as smallest.

    Examples
    --------
    >>> argmin(asarray([3.0, nan, 1.0], dtype=float8_e4m3fn))
    PArray(1, dtype=int64)
    """
    return call("argmin", x, axis=axis, keepdims=keepdims)


@fast_move
def count_nonzero(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Move[PArray]:
    """Count the elements that are not zero.

    Parameters
    ----------
    x : array, any shape
        Of any dtype but string: no policy refuses to count. NaN is not zero, -0.0 is.
    axis : int or tuple of int, optional
        Default: all.
    keepdims : bool
        Keep the counted axes with length 1.

    Returns
    -------
    PArray
        The shape of ``x`` without the axes. Of the policy's default integer; int64 in
        TensorFlow and in NumPy on Windows.

    Raises
    ------
    TypeError
        If the elements are strings.
    ValueError
        If there is no such axis.

    Examples
    --------
    >>> count_nonzero(asarray([0.0, nan, 2.0], dtype=bfloat16))
    PArray(2, dtype=int64)
    """
    array = as_array(x, "count_nonzero")
    backend, dtype = backend_of(array._buffer), storage_dtype(array)
    lone = not array.ndim and axis in (0, -1)  # which NumPy's reductions let pass
    axes = None if axis is None or lone else axes_in("count_nonzero", axis, array.ndim)
    is_true, (index, as_index) = _truth(array), _counting(array)
    count = getattr(backend, "count_nonzero", None)

    def counts(buffer: Any, *, axis: Any, keepdims: bool) -> Any:
        if count is not None:
            return as_index(count(buffer, dtype, axis, keepdims))
        made = backend.xp.count_nonzero(is_true(buffer), axis=axis, keepdims=keepdims)
        return as_index(*backend.adopt(made))

    return Move((array,), partial(counts, axis=axes, keepdims=keepdims), index)


@fast_move
def nonzero(x: AnyArray, /) -> Move[tuple[PArray, ...]]:
    """Return the indices of the elements that are not zero.

    Parameters
    ----------
    x : array, any shape but ()
        Of any dtype but string: no policy refuses. NaN is not zero, -0.0 is.

    Returns
    -------
    tuple of PArray, each of shape (K,)
        One per axis, of the policy's default integer; int64 in TensorFlow and in NumPy on Windows.

    Raises
    ------
    TypeError
        If the elements are strings.
    ValueError
        If ``x`` is 0-d.

    Examples
    --------
    >>> nonzero(asarray([0, 3, 0, 5]))
    (PArray([1, 3], dtype=int64),)
    """
    array = as_array(x, "nonzero")
    if not array.ndim:
        raise ValueError("nonzero: a 0-d array has no axis to index; write x != 0")
    backend, dtype = backend_of(array._buffer), storage_dtype(array)
    is_true, (index, as_index) = _truth(array), _counting(array)
    find = getattr(backend, "nonzero", None)

    def found(buffer: Any) -> tuple[Any, ...]:
        if find is not None:
            return tuple([as_index(each) for each in find(buffer, dtype)])
        return tuple(
            [as_index(*backend.adopt(each)) for each in backend.xp.nonzero(is_true(buffer))]
        )

    return Move((array,), found, index)


def _truth(array: PArray) -> Callable[[Any], Any]:
    """What tells of a buffer whether each element is not zero."""
    if array.dtype is dt.string:
        raise TypeError("strings do not compare with zero; write astype first")
    cast, dtype = backend_of(array._buffer).cast, storage_dtype(array)
    return lambda buffer: cast(buffer, dtype, dt.bool)


def _counting(array: PArray) -> tuple[DType, Callable[..., Any]]:
    """The dtype that the policy counts in, and what casts what was counted to it."""
    policy, cast = array._policy or get_policy(), backend_of(array._buffer).cast
    index, plan = policy.count_dtype, policy.cast.plan

    def as_index(buffer: Any, dtype: DType = dt.int64) -> Any:
        return buffer if dtype is index else cast(buffer, dtype, index, *plan(dtype, index))

    return index, as_index


@fast_function("searchsorted", settings={"texts": _SIDES}, side="left")
def searchsorted(
    x1: AnyArray, x2: AnyArray, /, *, side: str = "left", sorter: AnyArray | None = None
) -> PArray:
    """Return where values would be inserted into sorted ones to keep the order.

    Parameters
    ----------
    x1 : array, shape (N,)
        In ascending order, NaN last.
    x2 : array or Python scalar, any shape
        What to insert. The two dtypes promote as the policy says.
    side : {"left", "right"}
        Before values that are equal, or after them.
    sorter : array of integers, shape (N,), optional
        Indices that sort ``x1``, which then need not be in order.

    Returns
    -------
    PArray
        Of the shape of ``x2``, of the policy's dtype for indices; int32 in JAX, with x64 too.

    Raises
    ------
    PromotionError
        If the policy does not compare the two dtypes: TensorFlow takes two of one dtype.
    ValueError
        If ``x1`` is not one-dimensional, there is no such side, or the sorter has another shape.

    Examples
    --------
    >>> searchsorted(asarray([1, 3, 5]), asarray([3, 4]))
    PArray([1, 2], dtype=int64)
    """
    array = as_array(x1, "searchsorted")
    if array.ndim != 1:
        raise ValueError(f"searchsorted: x1 must be one-dimensional, not of shape {array.shape}")
    if side not in _SIDES:
        raise ValueError(f"searchsorted: side is 'left' or 'right', not {quoted(side)}")
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
