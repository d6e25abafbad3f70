"""Elementwise work of NumPy's on long buffers, in parts that several threads take.

A part begins at a multiple of a power of two, as vectors do, so that no element is computed by
another loop than in one go. Where a part meets a floating-point exception that is not ignored, all
is done once more in one go: then NumPy tells of it as it always does, once, in the thread of the
caller.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from promoarray.kernels import share
from promoarray.threads import get_num_threads

Buffer = np.ndarray[Any, Any]

LONG = 1_000_000
"""Elements from which on several threads are worth waking: as many as in ``kernels/cpu/pool.h``."""

PART = 1 << 18
"""Elements of a part."""


def threads_for(size: int) -> int:
    """How many threads may work on so many elements."""
    return get_num_threads() if size >= LONG else 1


def run(kernel: Any, *operands: Buffer) -> Buffer | None:
    """What an elementwise ufunc answers; None where one thread is to call it in the ordinary way:
    for short operands, those that lie otherwise than in rows, and exceptions to tell of."""
    if threads_for(max(x.size for x in operands)) < 2:
        return None
    if not isinstance(kernel, np.ufunc) or kernel.nout != 1 or kernel.signature is not None:
        return None
    try:
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        *_, made = kernel.resolve_dtypes((*(x.dtype for x in operands), None))
    except (TypeError, ValueError):  # the ordinary way says so
        return None
    if not all(x.dtype.isbuiltin == 1 for x in operands):
        return None
    in_rows = all(_lies(x, shape) for x in operands)
    if not in_rows and not all(x.shape == shape and _lies(x.T, shape[::-1]) for x in operands):
        return None
    out = np.empty(shape, made, order="C" if in_rows else "F")
    if all(x.size == 1 or (x.shape == shape and x.flags.c_contiguous) for x in (out, *operands)):
        rows = [x.reshape(-1) for x in (out, *operands)]
    else:
        axis = int(np.argmax(np.abs(out.strides)))
        each = (x if x.size == 1 else np.broadcast_to(x, shape) for x in operands)
        rows = [x if x.size == 1 else np.moveaxis(x, axis, 0) for x in (out, *each)]
    place, *given = rows

    def part(at: slice) -> None:
        kernel(*(x if x.size == 1 else x[at] for x in given), out=place[at])

    return out if in_parts(part, len(place), max(1, PART * len(place) // out.size)) else None


def in_parts(work: Callable[[slice], object], size: int, length: int = PART) -> bool:
    """Have all of ``size`` elements worked on; false if NumPy met something to tell of."""
    met: list[Any] = []
    watched: Any = {
        kind: "ignore" if how == "ignore" else "call" for kind, how in np.geterr().items()
    }

    def part(index: int) -> None:
        # A thread of the pool does not know the caller's state.
        with np.errstate(**watched, call=lambda *exception: met.append(exception)):
            work(slice(index * length, (index + 1) * length))

    share(part, -(-size // length))
    return not met


def copied(buffer: Buffer, storage: np.dtype[Any]) -> Buffer:
    """``buffer.astype(storage)``, where that can go wrong for no element."""
    if threads_for(buffer.size) < 2 or not buffer.flags.c_contiguous:
        return buffer.astype(storage)
    out = np.empty(buffer.shape, storage)
    given, place = buffer.reshape(-1), out.reshape(-1)
    in_parts(lambda at: np.copyto(place[at], given[at]), out.size)
    return out


def _lies(x: Buffer, shape: tuple[int, ...]) -> bool:
    """Whether a buffer that broadcasts to a shape goes through memory row by row, as NumPy's result
    then does."""
    strides = np.broadcast_to(x, shape).strides
    steps = [step for step, length in zip(strides, shape, strict=True) if length > 1 and step]
    return all(a >= b > 0 for a, b in pairwise((*steps, 1)))
