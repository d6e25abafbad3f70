"""Transforms of casts over NumPy's buffers: what a policy does to the codes that a kernel has made.

``promoarray.promotion.cast_transforms`` says what they are for, and defines them; on a GPU they are
part of a kernel. Here they are prepared as an adjustment that a loop of the kernels makes:

* From 16 bits and fewer there are so few codes that the definition is asked for all of them. Where
  it gives what the cast gives but in a few stretches, the kernel replaces those.
* Between the numbers that a transform compares with, all codes fare alike: the definition is asked
  for one, and the kernel replaces the others, too.
* A few have a loop of their own, by their attribute ``way``.

Any other, as a policy of the user's may have, is computed block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import DEFAULT, Adjustment, CastMode, dtype_args
from promoarray.kernels import cast as cast_kernel
from promoarray.promotion.cast_transforms import (
    Through,
    double,
    real_part_counts,
    rounded,
    thresholds,
)

Buffer = np.ndarray[Any, Any]

MOST_REPLACED = 8
"""Stretches of codes that a kernel replaces."""

BLOCK = 1 << 12
"""Elements at a time, of which a transform makes a dozen arrays of 8 bytes each."""


def transforming(
    source: DType, target: DType, mode: CastMode, transforms: tuple[Any, ...]
) -> Callable[[Buffer], Buffer]:
    """Make a cast with transforms ready."""
    counts_real = target is dt.bool and transforms[0] is real_part_counts
    to_real = source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX
    if to_real and (target is not dt.bool or counts_real):
        # Only the real parts count: a cast of them.
        left = transforms[counts_real:]
        run = (
            transforming(source.part, target, mode, left)
            if left
            else _kernel(source.part, target, mode, None)
        )
        return lambda buffer: run(_real_parts(buffer, source))
    adjustment = adjustment_of(source, target, mode, transforms)
    if adjustment is not None:
        return _kernel(source, target, mode, adjustment)
    if len(transforms) == 1 and isinstance(transforms[0], Through):  # a cast after the other
        middle = transforms[0].middle
        first = _kernel(source, middle, transforms[0].mode, None)
        then = _kernel(middle, target, DEFAULT, None)
        return lambda buffer: then(first(buffer))
    plain = _kernel(source, target, mode, None)
    return lambda buffer: _by_blocks(transforms, buffer, source, target, plain)


def _kernel(
    source: DType, target: DType, mode: CastMode, adjustment: Adjustment | None
) -> Callable[[Buffer], Buffer]:
    """Cast in the kernel, adjusted."""
    rows = dtype_args(source), dtype_args(target), mode
    adjusted = adjustment or None  # there may be nothing to replace

    def run(buffer: Buffer) -> Buffer:
        if source is target and adjusted is None and source.bits < 16:
            return buffer.copy()
        out = np.empty_like(buffer, target.storage, subok=False)
        axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        cast_kernel(buffer.transpose(axes), out.transpose(axes), *rows, True, adjusted)
        return out

    return run


def _real_parts(buffer: Buffer, source: DType) -> Buffer:
    """The real parts of complex numbers, where they lie."""
    whole = buffer if buffer.dtype.isnative else buffer.astype(source.storage)
    parts: Buffer = whole[..., np.newaxis].view(source.part.storage)
    return parts[..., 0]


# --- What the kernel is told ----------------------------------------------------------------------


@lru_cache(maxsize=4096)
def adjustment_of(
    source: DType, target: DType, mode: CastMode, transforms: tuple[Any, ...]
) -> Adjustment | None:
    """What a kernel does as the transforms do; None if it cannot."""
    if source.kind is Kind.COMPLEX and target is dt.bool:  # which is that of either part
        return None
    found = _of_parts(source.part, target.part, mode, transforms)
    widens = source.kind is not Kind.COMPLEX and target.kind is Kind.COMPLEX
    return None if widens and not _keeps_zero(found) else found


def _of_parts(
    source: DType, target: DType, mode: CastMode, transforms: tuple[Any, ...]
) -> Adjustment | None:
    """The same of real dtypes."""
    way = getattr(transforms[0], "way", None) if len(transforms) == 1 else None
    if way is not None and source.bits >= 16 and source is not target:
        return int(way)
    if source.bits <= 16:
        return _looked_up(source, target, mode, transforms)
    found = [_replacements(transform, source, target) for transform in transforms]
    if None in found:
        return None
    replaced = tuple(r for some in found for r in some or ())
    return replaced if len(replaced) <= MOST_REPLACED else None


def _keeps_zero(adjustment: Adjustment | None) -> bool:
    """Whether zero becomes zero, as the imaginary part of a real number."""
    if isinstance(adjustment, tuple):
        return not any(first == 0 for first, _, _ in adjustment)
    return not isinstance(adjustment, bytes) or not any(adjustment[:8])


def _looked_up(
    source: DType, target: DType, mode: CastMode, transforms: tuple[Any, ...]
) -> Adjustment:
    """Replace what is otherwise than the cast gives; where that is much, a table does it all."""
    table = _table(source, target, mode, transforms)
    if source.bits < 16:
        return table  # a loop looks many up at a time
    word = f"u{target.storage.itemsize}"
    wanted = np.frombuffer(table, word)
    changed = np.flatnonzero(wanted != np.frombuffer(_table(source, target, mode, ()), word))
    steps = (np.diff(changed) != 1) | (np.diff(wanted[changed]) != 0)
    stretches = np.split(changed, np.flatnonzero(steps) + 1) if changed.size else []
    if len(stretches) > MOST_REPLACED:
        return table
    return tuple((int(s[0]), int(s[-1]), int(wanted[s[0]])) for s in stretches)


def _table(source: DType, target: DType, mode: CastMode, transforms: tuple[Any, ...]) -> bytes:
    """The results for all codes."""
    codes = np.arange(1 << max(source.bits, 8)).astype(f"u{source.storage.itemsize}")
    codes &= codes.dtype.type((1 << source.bits) - 1)  # those above are not looked at
    out = _kernel(source, target, mode, None)(codes).view(f"u{target.storage.itemsize}")
    for transform in transforms:
        out = transform(codes, source, target, out)
    return out.tobytes()


def _replacements(
    transform: Any, source: DType, target: DType
) -> list[tuple[int, int, int]] | None:
    """The stretches of codes that a transform replaces, first and last, and by what.

    None if it is not known what it compares with, or if it does not treat a stretch alike.
    """
    limits = thresholds(transform)
    if limits is None:
        return None
    found = []
    for first, last in _stretches(source, limits):
        ends = np.array([first, last], f"u{source.storage.itemsize}")
        kept = [np.full(2, fill, f"u{target.storage.itemsize}") for fill in (0, 0xFF)]
        made = [transform(ends, source, target, out) for out in kept]
        if all(np.array_equal(a, b) for a, b in zip(made, kept, strict=True)):
            continue
        if len({int(code) for codes in made for code in codes}) > 1:
            return None
        found.append((first, last, int(made[0][0])))
    return found


def _stretches(source: DType, limits: tuple[float, ...]) -> Iterator[tuple[int, int]]:
    """The codes of a dtype in stretches, of one sign each, that no limit parts."""
    layout, word = source.format, 1 << source.bits
    if layout is None:
        end = word // 2 if source.kind is Kind.INT else word
        last = end
    else:
        assert layout.inf is not None
        last, end = layout.inf + 1, word // 2
    starts = {0, 1, last - (layout is not None), last, end}
    for limit in limits:
        for numbers in (double, rounded):
            starts.add(_first(source, last, limit, numbers))
    for first, after in pairwise(sorted(starts)):
        yield first, after - 1
        if layout is not None:
            yield first + end, after - 1 + end
        elif source.kind is Kind.INT and first:
            yield word - after + 1, word - first
    if source.kind is Kind.INT:
        yield end, end  # the lowest, which has no positive one


def _first(
    source: DType, last: int, limit: float, numbers: Callable[[Buffer, DType], Buffer]
) -> int:
    """The first code, of those before the last, whose number is a limit or more; else the last."""
    low, high = 0, last
    while low < high:
        code = (low + high) // 2
        at = np.array([code], f"u{source.storage.itemsize}")
        low, high = (low, code) if numbers(at, source)[0] >= limit else (code + 1, high)
    return low


# --- The definition -------------------------------------------------------------------------------


def _by_blocks(
    transforms: tuple[Any, ...],
    buffer: Buffer,
    source: DType,
    target: DType,
    plain: Callable[[Buffer], Buffer],
) -> Buffer:
    """Take the transforms over a few elements at a time."""
    if buffer.size <= BLOCK:
        return transformed(transforms, buffer, source, target, plain(buffer))
    out = np.empty(buffer.shape, target.storage)
    flat, given = out.reshape(-1), buffer.flat
    for at in range(0, buffer.size, BLOCK):
        some = given[at : at + BLOCK]
        flat[at : at + BLOCK] = transformed(transforms, some, source, target, plain(some))
    return out


def transformed(
    transforms: tuple[Any, ...], buffer: Buffer, source: DType, target: DType, out: Buffer
) -> Buffer:
    """Take the transforms of a cast from ``buffer`` to ``out``, which its mode has made.

    Of complex numbers they see the codes of the parts; cast to a real one, those of the real part.
    """
    shape, made = out.shape, target
    if target.kind is Kind.COMPLEX:
        buffer, source = _side_by_side(buffer, source)
        out, target = _side_by_side(out, target)
    elif source.kind is Kind.COMPLEX:
        parts, source = _side_by_side(buffer, source)
        buffer = parts[::2].reshape(buffer.shape)
    given, codes = _codes(buffer, source), _codes(out, target)
    for transform in transforms:
        codes = transform(given, source, target, codes)
    taken: Buffer = codes.view(made.storage).reshape(shape)
    return taken


def _side_by_side(buffer: Buffer, dtype: DType) -> tuple[Buffer, DType]:
    """Real and imaginary parts in turn; the latter are zero in real numbers."""
    flat = np.ascontiguousarray(buffer).reshape(-1)
    if dtype.kind is Kind.COMPLEX:
        return flat.view(dtype.part.storage), dtype.part
    parts = np.empty(2 * flat.size, dtype.storage)
    parts[::2], parts[1::2] = flat, 0
    return parts, dtype


def _codes(buffer: Buffer, dtype: DType) -> Buffer:
    """The bits as unsigned integers; never 0-d, where NumPy's operators give scalars."""
    return buffer.view(f"u{dtype.storage.itemsize}").reshape(buffer.shape or (1,))
