"""Transforms of casts over NumPy's buffers: what a policy does to the codes that a kernel has made.

``promoarray.promotion.cast_transforms`` says what they are for; on a GPU they are part of a kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.dtypes import DType, Kind

Buffer = np.ndarray[Any, Any]


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
