"""Ranges and lines of floats as single frameworks compute them: the values at some places.

Each takes the places, as an array of NumPy's, and the dtype in which they are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.kernels.portable.steps import fused, quietly

Buffer = Any
Values = Callable[..., Buffer]


@quietly
def arange_by_vectors(at: Buffer, start: float, step: float, count: int, held: Any) -> Buffer:
    """Count from the first of each vector of 32 bytes, of which two are made at a time; what is
    left over behind them from the start (ATen/native/cpu/RangeFactoriesKernel.cpp)."""
    wide = np.dtype("f4" if held.itemsize == 2 else "f8")
    width = 32 // held.itemsize
    first = np.where(at < count - count % (2 * width), at - at % width, at)
    begin = _fused_steps(first, start, step, wide)
    rounded = np.where(first == at, begin, begin.astype(held).astype(wide))
    return _fused_steps(at - first, rounded, step, wide).astype(held)


@quietly
def arange_by_steps(at: Buffer, start: float, step: float, count: int, held: Any) -> Buffer:
    """Add the step as often as there are places before it."""
    steps = np.full(int(at[-1]) + 1 if at.size else 0, step, held)
    steps[:1] = start
    return np.add.accumulate(steps)[at]


@quietly
def arange_by_first_two(at: Buffer, start: float, step: float, count: int, held: Any) -> Buffer:
    """Go on by the difference of the first two, in float32 (ml_dtypes' own fill)."""
    first, second = (np.float32(held.type(x)) for x in (start, start + step))
    made = (first + at.astype("f4") * (second - first)).astype(held)
    return np.where(at == 1, held.type(second), made)


@quietly
def arange_by_products(at: Buffer, start: float, step: float, count: int, held: Any) -> Buffer:
    """``start + place * step``."""
    wide = np.dtype("f4") if held.itemsize == 2 else held
    return (wide.type(start) + at.astype(wide) * wide.type(step)).astype(held)


@quietly
def arange_by_rounded_products(
    at: Buffer, start: float, step: float, count: int, held: Any
) -> Buffer:
    """The same, of 16 bits too each product and sum rounded (TensorFlow's kernel of Range)."""
    return held.type(start) + at.astype(held) * held.type(step)


def line_of_one(at: Buffer, start: Any, stop: Any, count: int, held: Any) -> Buffer:
    """The start alone."""
    return np.full(at.shape, start, held)


@quietly
def line_by_products(at: Buffer, start: float, stop: float, count: int, held: Any) -> Buffer:
    """``start + place * step``, and both ends as they are (tf.linspace)."""
    first, last, step = _ends(start, stop, count, held)
    made = np.where(at == 0, first, first + step * at.astype(held))
    return np.where((at == count - 1) & (count > 1), last, made)


@quietly
def line_from_both_ends(at: Buffer, start: float, stop: float, count: int, held: Any) -> Buffer:
    """Count each half from its own end."""
    first, last, step = _ends(start, stop, count, held)
    front, behind = at.astype(held), (count - 1 - at).astype(held)
    return np.where(at < max(count // 2, 1), first + step * front, last - step * behind)


@quietly
def fused_line_from_both_ends(
    at: Buffer, start: float, stop: float, count: int, held: Any
) -> Buffer:
    """The same without rounding the products, but of 16 bits (ATen, as above)."""
    if held.itemsize == 2:
        return line_from_both_ends(at, start, stop, count, held)
    first, last, step = _ends(start, stop, count, held)
    front = _fused_steps(at, first, step, held)
    return np.where(at < max(count // 2, 1), front, _fused_steps(count - 1 - at, last, -step, held))


@quietly
def line_between(at: Buffer, start: Any, stop: Any, count: int, held: Any) -> Buffer:
    """Weigh both ends (jax.numpy.linspace, as XLA computes it: by the reciprocal of the count)."""
    first, last = held.type(start), held.type(stop)
    parts = max(count - 1, 1)
    if held.kind == "c":
        real = [type(end) is not complex for end in (start, stop)]
        between = _between_complex(at, first, last, parts, real)
    elif held.char in "fde":
        between = _between(at, first, last, parts, held)
    else:
        between = _between_narrow(at, first, last, parts, held)
    return np.where((at == count - 1) & (count > 1), last, between)


def _between(at: Buffer, first: Any, last: Any, parts: int, held: Any) -> Buffer:
    places, one = at.astype(held), held.type(1)
    each = one / held.type(parts)
    rest = one - places * each
    if held.itemsize == 2:
        return first * rest + last * each * places
    front, behind = np.full_like(places, first), np.full_like(places, last * each)
    made = fused(np, behind, places, front * rest)
    if parts > 33:  # else the loop is unrolled, and a factor of 1 left out
        return made
    return np.where(at == 1, fused(np, front, rest, behind), made)


def _between_complex(at: Buffer, first: Any, last: Any, parts: int, real: list[bool]) -> Buffer:
    """Weigh complex ends; the real part of one that was real is a single product, not rounded."""
    held, none = first.real.dtype, first.real.dtype.type(0)
    share = at.astype(held) * (held.type(1) / held.type(parts))
    rest = held.type(1) - share
    made, front = np.empty(at.shape, first.dtype), first.real * rest - first.imag * none
    behind = last.real * share - last.imag * none
    if real[1]:
        made.real = fused(np, np.full_like(share, last.real), share, front)
    elif real[0]:
        made.real = fused(np, np.full_like(share, first.real), rest, behind)
    else:
        made.real = front + behind
    made.imag = (first.real * none + first.imag * rest) + (last.real * none + last.imag * share)
    return made


def _between_narrow(at: Buffer, first: Any, last: Any, parts: int, held: Any) -> Buffer:
    """Round every step, of which the quotients are made in the next wider dtype."""
    wide = np.dtype("f2" if held.itemsize == 1 else "f4")
    each = wide.type(1) / held.type(parts).astype(wide)
    share = (at.astype(held).astype(wide) * each).astype(held)
    return first * (held.type(1) - share) + last * share


def _ends(start: float, stop: float, count: int, held: Any) -> tuple[Any, Any, Any]:
    first, last = held.type(start), held.type(stop)
    return first, last, held.type((last - first) / held.type(max(count - 1, 1)))


def _fused_steps(count: Buffer, start: Any, step: Any, held: Any) -> Buffer:
    """``start + count * step``, rounded once."""
    counted = count.astype(held)
    starts = np.broadcast_to(np.asarray(start, held), counted.shape)
    return fused(np, np.full_like(counted, step), counted, starts)


RANGES: dict[str, Values] = {
    "arange_by_vectors": arange_by_vectors,
    "arange_by_steps": arange_by_steps,
    "arange_by_products": arange_by_products,
    "arange_by_rounded_products": arange_by_rounded_products,
}
LINES: dict[str, Values] = {
    "line_by_products": line_by_products,
    "line_from_both_ends": line_from_both_ends,
    "fused_line_from_both_ends": fused_line_from_both_ends,
    "line_between": line_between,
}
"""By the names of kernels (``promotion.variants``)."""
