"""Elementwise work of NumPy's on long buffers, in parts that several threads take.

A part begins at a multiple of a power of two, as vectors do, so that no element is computed by
another loop than in one go. Where a part meets a floating-point exception that is not ignored, all
is done once more in one go: then NumPy tells of it as it always does, once, in the thread of the
caller.
"""

from __future__ import annotations

from collections.abc import Callable
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
    shape = operands[0].shape if operands[0].ndim else operands[-1].shape
    in_rows = all(_lies(x, shape) for x in operands)
    if not in_rows and not all(_lies(x.T, shape[::-1]) for x in operands):
        return None
    try:
        *_, made = kernel.resolve_dtypes((*(x.dtype for x in operands), None))
    except TypeError:  # the ordinary way says so
        return None
    out = np.empty(shape, made, order="C" if in_rows else "F")
    place, *flat = ((x if in_rows else x.T).reshape(-1) for x in (out, *operands))

    def part(at: slice) -> None:
        kernel(*(x if x.size == 1 else x[at] for x in flat), out=place[at])

    return out if in_parts(part, out.size) else None


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
    """Whether a buffer has all elements of the result in their order, or one for them all."""
    return not x.ndim or (x.shape == shape and x.flags.c_contiguous and x.dtype.isbuiltin == 1)
