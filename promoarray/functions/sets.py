"""Chapter "set functions". Elements are equal by value: 0.0 and -0.0 are one, every NaN its own."""

from __future__ import annotations

from typing import NamedTuple

from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_call, fast_function
from promoarray.core.operands import as_array
from promoarray.dtypes import WEAK
from promoarray.errors import quoted
from promoarray.functions._docs import template
from promoarray.parray import AnyArray, PArray

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAllResult(NamedTuple):
    """What ``unique_all`` answers."""

    values: PArray
    indices: PArray
    inverse_indices: PArray
    counts: PArray


class UniqueCountsResult(NamedTuple):
    """What ``unique_counts`` answers."""

    values: PArray
    counts: PArray


class UniqueInverseResult(NamedTuple):
    """What ``unique_inverse`` answers."""

    values: PArray
    inverse_indices: PArray


_unique_all, _unique_counts, _unique_inverse = map(
    fast_call, ("unique_all", "unique_counts", "unique_inverse")
)

_unique = template(
    """
    Parameters
    ----------
    x : array, any shape
        It is flattened.

    Returns
    -------
    {returns}

    Raises
    ------
    PromotionError
        If the policy finds no unique elements of the dtype.

    {notes}
    """,
    notes="""
    Notes
    -----
    Indices and counts are int64 under most policies, int32 in JAX without x64, in TensorFlow and,
    of all but int64, in MindSpore.
    """,
)


@fast_function("isin", invert=False)
def isin(x1: AnyArray, x2: AnyArray, /, *, invert: bool = False) -> PArray:
    """Return whether each element of one array is in another.

    Parameters
    ----------
    x1, x2 : array or Python scalar
        One of them an array, both of any shape. Their dtypes promote as the policy says for
        ``isin``: mostly as for ``==``. NaN is in nothing.
    invert : bool
        Return whether it is not.

    Returns
    -------
    PArray
        Of bools, of the shape of ``x1``.

    Raises
    ------
    PromotionError
        If the dtypes do not promote, or the policy does not search the dtype: bools in PyTorch.
    TypeError
        If neither is an array.

    Examples
    --------
    >>> isin(asarray([1, 2, 3]), asarray([3, 1, 1]))
    PArray([ True, False,  True], dtype=bool)
    """
    if type(x1) in WEAK and type(x2) in WEAK:
        raise TypeError(f"isin takes an array, not {quoted(x1)} and {quoted(x2)}")
    return call("isin", x1, x2, invert=invert)


@_unique(
    returns="""
    UniqueAllResult
        ``values``, shape (K,), of the dtype of ``x``, in ascending order, NaN last and each NaN its
        own; ``indices``, shape (K,), where each is first in the flattened ``x``;
        ``inverse_indices``, of the shape of ``x``, so that ``values`` at them is ``x``; ``counts``,
        shape (K,).
    """
)
def unique_all(x: AnyArray, /) -> UniqueAllResult:
    """Return the unique elements, their first indices, how they make up ``x``, and their counts.

    Examples
    --------
    >>> values, indices, inverse, counts = unique_all(asarray([30, 10, 30], dtype=uint8))
    >>> values
    PArray([10, 30], dtype=uint8)
    >>> indices, counts
    (PArray([1, 0], dtype=int64), PArray([1, 2], dtype=int64))
    >>> inverse
    PArray([1, 0, 1], dtype=int64)
    """
    return UniqueAllResult._make(_unique_all(as_array(x, "unique_all")))


@_unique(
    returns="""
    UniqueCountsResult
        ``values`` and ``counts``, as in ``unique_all``.
    """
)
def unique_counts(x: AnyArray, /) -> UniqueCountsResult:
    """Return the unique elements and how many there are of each.

    Examples
    --------
    >>> unique_counts(asarray([3, 1, 3])).counts
    PArray([1, 2], dtype=int64)
    """
    return UniqueCountsResult._make(_unique_counts(as_array(x, "unique_counts")))


@_unique(
    returns="""
    UniqueInverseResult
        ``values`` and ``inverse_indices``, as in ``unique_all``.
    """
)
def unique_inverse(x: AnyArray, /) -> UniqueInverseResult:
    """Return the unique elements and how they make up ``x``.

    Examples
    --------
    >>> values, inverse = unique_inverse(asarray([[30, 10], [10, 30]]))
    >>> values
    PArray([10, 30], dtype=int64)
    >>> inverse
    PArray([[1, 0],
            [0, 1]], dtype=int64)
    """
    return UniqueInverseResult._make(_unique_inverse(as_array(x, "unique_inverse")))


@_unique(
    returns="""
    PArray, shape (K,)
        In ascending order, NaN last and each NaN its own. Of the dtype of ``x``.
    """,
    notes="",
)
@fast_function("unique_values")
def unique_values(x: AnyArray, /) -> PArray:
    """Return the unique elements of the flattened array.

    Examples
    --------
    >>> unique_values(asarray([[3, 1], [1, 3]]))
    PArray([1, 3], dtype=int64)
    """
    return call("unique_values", as_array(x, "unique_values"))
