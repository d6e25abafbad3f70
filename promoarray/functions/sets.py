"""Chapter "set functions". Elements are equal by value: 0.0 and -0.0 are one, every NaN its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.dtypes import WEAK
from promoarray.parray import PArray

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


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> PArray:
    """Tell of each element of one array whether it is in another.

    Parameters
    ----------
    x1, x2 : array or Python scalar
        One of them an array. Their dtypes promote as the policy says for ``isin``: mostly as for
        ``==``. NaN is in nothing.
    invert : bool
        Tell whether it is not.

    Returns
    -------
    PArray
        Of bools, of the shape of ``x1``.

    Raises
    ------
    PromotionError
        If the dtypes do not promote, or the policy looks for none such: bools in PyTorch.
    TypeError
        If neither is an array.

    Examples
    --------
    >>> isin(asarray([1, 2, 3]), asarray([3, 1, 1]))
    PArray([ True, False,  True], dtype=bool)
    """
    if type(x1) in WEAK and type(x2) in WEAK:
        raise TypeError(f"isin takes an array, not {x1!r} and {x2!r}")
    return call("isin", x1, x2, invert=invert)


def unique_all(x: Any, /) -> UniqueAllResult:
    """Return the different elements, where they are first, how they make up ``x``, and how many.

    Parameters
    ----------
    x : array
        Of any dtype and shape; it is flattened.

    Returns
    -------
    UniqueAllResult
        ``values`` in ascending order, NaN last and each its own; ``indices`` of the first of each
        in the flattened ``x``; ``inverse_indices`` of ``x``'s shape, so that ``values`` at them is
        ``x``; ``counts``. The first has the dtype of ``x``, the others are indices.

    Raises
    ------
    PromotionError
        If the policy has no such dtype.

    Notes
    -----
    Indices and counts are int64 under most policies, int32 in JAX without x64 and in TensorFlow.
    """
    return UniqueAllResult(*call("unique_all", as_array(x, "unique_all")))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Return the different elements and how many there are of each; see ``unique_all``.

    Parameters
    ----------
    x : array
        Of any dtype and shape; it is flattened.

    Returns
    -------
    UniqueCountsResult
        ``values`` and ``counts``, as in ``unique_all``.
    """
    return UniqueCountsResult(*call("unique_counts", as_array(x, "unique_counts")))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Return the different elements and how they make up ``x``; see ``unique_all``.

    Parameters
    ----------
    x : array
        Of any dtype and shape; it is flattened.

    Returns
    -------
    UniqueInverseResult
        ``values`` and ``inverse_indices``, as in ``unique_all``.

    Examples
    --------
    >>> values, inverse = unique_inverse(asarray([[30, 10], [10, 30]]))
    >>> values
    PArray([10, 30], dtype=int64)
    >>> inverse
    PArray([[1, 0],
            [0, 1]], dtype=int64)
    """
    return UniqueInverseResult(*call("unique_inverse", as_array(x, "unique_inverse")))


def unique_values(x: Any, /) -> PArray:
    """Return the different elements of the flattened array, in order; see ``unique_all``.

    Parameters
    ----------
    x : array
        Of any dtype and shape; it is flattened.

    Returns
    -------
    PArray
        One-dimensional, of the dtype of ``x``.
    """
    return call("unique_values", as_array(x, "unique_values"))
