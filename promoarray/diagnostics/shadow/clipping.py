"""The edit of a cast whose values differ by policy only where they are beyond the dtype.

A value within the range of a dtype becomes the same everywhere; what is beyond is NaN, an infinity,
the largest or other bits. With ``clip`` before the cast it is the largest in every framework.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from promoarray.dtypes import BY_NAME, INTEGERS, DType
from promoarray.functions.data_types import value_of
from promoarray.promotion.scalars import bounds

Number = int | float


def limits(source: DType, target: DType) -> tuple[Number, Number] | None:
    """Return the range of a dtype; None if the source of a cast does not hold its ends."""
    if target.kind in INTEGERS:
        ends: tuple[Number, Number] = bounds(target)
    elif target.format is not None and target.format.signed:
        largest = value_of(target.format, target.format.largest)
        ends = -largest, largest
    else:
        return None
    return ends if all(_holds(source, end) for end in ends if end) else None


def _holds(dtype: DType, number: Number) -> bool:
    if dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        return low <= number <= high
    if dtype.format is None:
        return False
    significant, _ = abs(number).as_integer_ratio()
    digits = significant.bit_length() - ((significant & -significant).bit_length() - 1)
    largest = value_of(dtype.format, dtype.format.largest)
    return digits <= dtype.format.mantissa + 1 and abs(number) <= largest


def all_beyond(values: Any, source: DType, target: DType) -> bool:
    """Whether all of some values of a cast lie beyond the dtype, and can be clipped to it."""
    ends = limits(source, target)
    if ends is None:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.all((values < ends[0]) | (values > ends[1])))  # a NaN does not


def clipped(expression: str, source: str, target: str) -> str:
    """Write a cast with its array clipped; "" if it is written in no way that is known."""
    ends = limits(BY_NAME[source], BY_NAME[target])
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    match tree:
        case ast.Call(func=ast.Attribute(value=namespace, attr="astype"), args=[array, _, *_]):
            pass
        case ast.Call(
            func=ast.Attribute(value=array, attr="astype"),
            args=[ast.Attribute(value=namespace)],
        ):
            pass
        case _:
            return ""
    if ends is None:
        return ""
    low, high = map(_written, ends)
    text = f"{ast.unparse(namespace)}.clip({ast.unparse(array)}, {low}, {high})"
    call = ast.parse(text, mode="eval").body
    if array is tree.args[0]:
        tree.args[0] = call
    else:
        tree.func = ast.Attribute(call, "astype", ast.Load())
    return ast.unparse(tree)


def _written(number: Number) -> str:
    whole = number == int(number) and abs(number) < _LONG
    return str(int(number)) if whole or isinstance(number, int) else repr(number)


_LONG = 10**9
