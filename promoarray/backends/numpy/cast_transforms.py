"""Transforms of casts over NumPy's buffers: what a policy does to the codes that a kernel has made.

``promoarray.promotion.cast_transforms`` says what they are for, and defines them; on a GPU they are
part of a kernel. Here the definition is run block by block, as few casts of few policies have any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import DEFAULT, CastMode, dtype_args
from promoarray.kernels import cast as cast_kernel
from promoarray.promotion.cast_transforms import Through, real_part_counts

Buffer = np.ndarray[Any, Any]

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
        part = source.part
        run = transforming(part, target, mode, left) if left else _kernel(part, target, mode)
        return lambda buffer: run(_real_parts(buffer, source))
    if len(transforms) == 1 and isinstance(transforms[0], Through):  # a cast after the other
        middle = transforms[0].middle
        first = _kernel(source, middle, transforms[0].mode)
        then = _kernel(middle, target, DEFAULT)
        return lambda buffer: then(first(buffer))
    plain = _kernel(source, target, mode)
    return lambda buffer: _by_blocks(transforms, buffer, source, target, plain)


def _kernel(source: DType, target: DType, mode: CastMode) -> Callable[[Buffer], Buffer]:
    """Cast in the kernel."""
    rows = dtype_args(source), dtype_args(target), mode

    def run(buffer: Buffer) -> Buffer:
        if source is target and source.bits < 16:
            return buffer.copy()
        out = np.empty_like(buffer, target.storage, subok=False)
        axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        cast_kernel(buffer.transpose(axes), out.transpose(axes), *rows)
        return out

    return run


def _real_parts(buffer: Buffer, source: DType) -> Buffer:
    """The real parts of complex numbers, where they lie."""
    whole = buffer if buffer.dtype.isnative else buffer.astype(source.storage)
    parts: Buffer = whole[..., np.newaxis].view(source.part.storage)
    return parts[..., 0]


@np.errstate(all="ignore")
def _by_blocks(
    transforms: tuple[Any, ...],
    buffer: Buffer,
    source: DType,
    target: DType,
    plain: Callable[[Buffer], Buffer],
) -> Buffer:
    """Take the transforms over a few elements at a time."""
    buffer = buffer if buffer.dtype.isnative else buffer.astype(source.storage)
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
