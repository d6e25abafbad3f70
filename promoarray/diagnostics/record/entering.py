"""Arrays of another library that a framework narrows as it takes them in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from promoarray.dtypes import DType


class Entering(NamedTuple):
    """An array of another library that the framework narrows as it takes it in.

    Attributes
    ----------
    array : object
        With its values, as NumPy has them.
    dtype : DType
        Its own.
    operand : int or None
        Which operand of the call it is; None if it is a part of one.
    """

    array: Any
    dtype: DType
    operand: int | None


class Alike(NamedTuple):
    """Arrays that a call takes in, of one dtype.

    Attributes
    ----------
    dtype : DType
    ndim : int
        0 of 0-d arrays and scalars, 1 of all others.
    data : tuple
        The arrays.
    operands : tuple of int, or None
        Which operands of the call they are; None if it has one of them in no such way.
    """

    dtype: DType
    ndim: int
    data: tuple[Any, ...]
    operands: tuple[int, ...] | None


def alike(arrays: Iterable[Entering]) -> Iterator[Alike]:
    """Yield the arrays that a call takes in, those of a dtype together."""
    found: dict[tuple[DType, int], list[Entering]] = {}
    for each in arrays:
        found.setdefault((each.dtype, int(each.array.ndim > 0)), []).append(each)
    for (dtype, ndim), some in found.items():
        indices = tuple(each.operand for each in some if each.operand is not None)
        data = tuple(each.array for each in some)
        yield Alike(dtype, ndim, data, indices if len(indices) == len(some) else None)
