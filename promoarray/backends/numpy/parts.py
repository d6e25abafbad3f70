"""Elementwise work of NumPy's on long buffers: by panels where rows of one operand lie in columns,
with short buffers where rows are repeated, and in parts that several threads take.

NumPy fetches a line of memory for each element of a row that lies in columns. A loop of ours reads
some rows together (``Panel`` in kernels/cpu/cursor.h); it is taken for what has one right answer,
so that the bits are NumPy's. Of an operand that broadcasting repeats, NumPy since 2.3 copies as
many rows as its buffer holds, which takes as long as the operation: unless that holds one row.

Of operands that lie as the result does the threads run NumPy's inner loop, without the lock of the
interpreter; of others they call the ufunc, one part after another as far as Python is concerned.

A part begins at a multiple of a power of two, as vectors do, so that no element is computed by
another loop than in one go. Where there is a floating-point exception that is not ignored, all is
done once more in one go: then NumPy tells of it as it always does, once, in the thread of the
caller.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy import layout
from promoarray.backends.numpy.exceptions_met import tell_by_elements
from promoarray.backends.numpy.kernels import OF_UFUNC
from promoarray.backends.numpy.loops import LoopPlan, raised_by, watched
from promoarray.dtypes import BY_STORAGE
from promoarray.kernels import DEFAULT, dtype_args, loop_of, run_ufunc_loop, share

Buffer = np.ndarray[Any, Any]

LONG = 1_000_000
"""Elements from which on several threads are worth waking: as many as in ``kernels/cpu/pool.h``."""

PART = 1 << 15
"""Elements of a part, as in ``kernels/cpu/pool.h``; where Python begins it, every part but the last
has a multiple."""


def threads_for(size: int) -> int:
    """How many threads may work on so many elements."""
    return _threads() if size >= LONG else 1


def _threads() -> int:
    from promoarray.threads import get_num_threads  # which short operands never need

    return get_num_threads()


def _size(x: Buffer, waits: bool) -> int:
    """Elements; of what waits for memory those as wide as a float32, if that is fewer."""
    return min(x.size, x.nbytes // 4) if waits else x.size


def run(kernel: Any, *operands: Buffer) -> Buffer | None:
    """What an elementwise ufunc answers; None where one thread is to call it in the ordinary way:
    for short operands, those that lie otherwise than in rows, and exceptions that no part of them
    tells. And a copy that ``layout`` makes."""
    if kernel is np.ndarray.copy:
        return layout.in_rows(*operands)
    if not isinstance(kernel, np.ufunc) or kernel.nout != 1 or kernel.signature is not None:
        return None
    found = _by_panels(kernel, *operands)
    if found is not None:
        return found
    row = _repeated_row(kernel, *operands)
    waits = OF_UFUNC.get(kernel) in WAITS_FOR_MEMORY
    threads = threads_for(max(_size(x, waits) for x in operands))
    if threads < 2 or (row and waits and threads < ENOUGH):
        return _with_short_buffers(kernel, operands, row) if row else None
    order = _common_order(operands)
    loop = _inner_loop(kernel, tuple(x.dtype for x in operands)) if order else None
    if order and loop:
        return _without_lock(kernel, loop, operands, order)
    if waits and threads < ENOUGH:
        return None
    try:
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        *_, made = kernel.resolve_dtypes((*(x.dtype for x in operands), None))
    except (TypeError, ValueError):  # the ordinary way says so
        return None
    if not all(x.dtype.isbuiltin == 1 for x in operands) or _chooses_nan(kernel, shape, *operands):
        return None
    in_rows = all(_lies(x, shape) for x in operands)
    if not in_rows and not all(x.shape == shape and _lies(x.T, shape[::-1]) for x in operands):
        return None
    out = np.empty(shape, made, order="C" if in_rows else "F")
    axis = int(np.argmax(np.abs(out.strides)))
    each = (x if x.size == 1 else np.broadcast_to(x, shape) for x in operands)
    place, *given = (x if x.size == 1 else np.moveaxis(x, axis, 0) for x in (out, *each))

    def part(at: slice) -> None:
        kernel(*(x if x.size == 1 else x[at] for x in given), out=place[at])

    step = max(1, _part_of(out.size) * len(place) // out.size)
    return out if in_parts(part, len(place), step, row) else None


def _common_order(operands: tuple[Buffer, ...]) -> Literal["C", "F"] | None:
    """The order of a result that lies as all operands do but single elements; None of others."""
    most = max(operands, key=_elements)
    if not all(
        x.flags.aligned and (x.shape == most.shape or (x.size == 1 and x.ndim <= most.ndim))
        for x in operands
    ):
        return None
    if all(x.flags.c_contiguous for x in operands):
        return "C"
    return "F" if all(x.flags.f_contiguous for x in operands) else None


_elements = attrgetter("size")


class InnerLoop(NamedTuple):
    """NumPy's capsule of it, and what the result is stored in."""

    loop: Any
    storage: np.dtype[Any]


def _without_lock(
    kernel: np.ufunc, loop: InnerLoop, operands: tuple[Buffer, ...], order: Literal["C", "F"]
) -> Buffer | None:
    out = np.empty(max(operands, key=_elements).shape, loop.storage, order)
    place, *given = (out, *operands) if order == "C" else (x.T for x in (out, *operands))
    met = run_ufunc_loop(loop.loop, tuple(given), place, PART)
    if not raised_by(met) & watched() or tell_by_elements(
        lambda some: kernel(*some), met, out, operands
    ):
        return out
    return None


@cache
def _inner_loop(kernel: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> InnerLoop | None:
    """NumPy's own loop for operands of these dtypes, which needs no lock of the interpreter; None
    where there is none. Loops of integers may raise an error of Python's, as powers do."""
    if not all(d.isbuiltin == 1 for d in dtypes):
        return None
    if not all(d.kind in "fc" for d in dtypes) and OF_UFUNC.get(kernel) not in WAITS_FOR_MEMORY:
        return None
    try:
        entered, loop = kernel._resolve_dtypes_and_context((*dtypes, None))  # type: ignore[attr-defined]
        kernel._get_strided_loop(loop)  # type: ignore[attr-defined]
        run_ufunc_loop(loop, tuple(np.empty(0, d) for d in dtypes), np.empty(0, entered[-1]), 1)
    except (AttributeError, TypeError, ValueError):  # of another NumPy, or a loop with the lock
        return None
    return InnerLoop(loop, entered[-1]) if entered[:-1] == dtypes else None


def _part_of(size: int) -> int:
    """Elements of a part of so many: a few parts a thread, as each is begun in Python, by one
    thread at a time."""
    return max(1, size // (4 * _threads() * PART)) * PART


WAITS_FOR_MEMORY = frozenset(
    {
        *("add", "subtract", "multiply", "divide", "maximum", "minimum"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("abs", "negative", "positive", "square", "floor", "ceil", "trunc", "round"),
        *("isnan", "isinf", "isfinite", "signbit"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"),
    }
)
"""What one thread computes nearly as fast as memory brings it; no error of Python's comes of it."""

ENOUGH = 4
"""Threads from which on Python's way to begin a part may pay of these: it takes as long as some
hundred thousand elements."""


# --- rows that lie in columns ---------------------------------------------------------------------

SOME = 1 << 17
"""Elements from which on it pays to look how operands lie: as in ``core/native/run.cpp``."""

LONG_ROW = 512
"""Elements of a row from which on panels are read."""

ONE_ANSWER = frozenset({"add", "subtract", "multiply", "divide"}) | {
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
}
"""What has one right answer for numbers, and for one NaN, whatever the instructions."""

EITHER_NAN = frozenset({"add", "multiply"})
"""Which of two NaN comes out hangs on the instructions that a compiler chose."""

_NUMBERS = {d for d in dt.NATIVE if d.kind in dt.INTEGERS} | {dt.float32, dt.float64}


def _by_panels(kernel: Any, *operands: Buffer) -> Buffer | None:
    """What a ufunc answers of two operands of which one lies in rows, as the result then does, and
    one in columns; None of others."""
    if len(operands) != 2 or operands[0].shape != operands[1].shape or operands[0].ndim < 2:
        return None
    first, second = (x.flags.c_contiguous for x in operands)
    along, across = operands if first else operands[::-1]
    if first == second or not _lies_in_columns(across) or operands[0].dtype != operands[1].dtype:
        return None
    plan = _loop(kernel, operands[0].dtype)
    if plan is None or (plan.name in EITHER_NAN and _has_nan(along)):
        return None
    return plan.run(operands, np.empty(across.shape, plan.storage))


def _has_nan(x: Buffer) -> bool:
    if x.dtype.kind not in "fc":
        return False
    with np.errstate(all="ignore"):
        return bool(np.isnan(np.maximum.reduce(x, axis=None)))


def _chooses_nan(kernel: np.ufunc, shape: tuple[int, ...], *operands: Buffer) -> bool:
    """Whether one of two NaN comes out, and which hangs on where a part ends: NumPy takes vectors
    for rows that it goes through as they are, not for those that it copies."""
    if OF_UFUNC.get(kernel) not in EITHER_NAN or all(x.shape == shape for x in operands):
        return False
    if any(x.size == 1 for x in operands):
        return False
    less, most = sorted(operands, key=lambda x: x.size)
    # A product of complex numbers has two products of the parts of one.
    return _has_nan(less) or (most.dtype.kind == "c" and _has_nan(most))


def _lies_in_columns(x: Buffer) -> bool:
    return x.shape[-1] >= LONG_ROW and x.strides[-2] == x.itemsize < abs(x.strides[-1])


@cache
def _loop(kernel: Any, storage: np.dtype[Any]) -> LoopPlan | None:
    """The loop that computes what a ufunc does."""
    name, dtype = OF_UFUNC.get(kernel), BY_STORAGE.get(storage)
    if name not in ONE_ANSWER or dtype is None or dtype not in _NUMBERS:
        return None
    row = dtype_args(dtype)
    found = loop_of(name, row)
    if found is None or found[:2] != (2, False):
        return None
    made = dt.bool if found[2] else dtype
    return LoopPlan(name, (row, row, row, dtype_args(made)), (DEFAULT,) * 3, made.storage)


# --- rows that are repeated -----------------------------------------------------------------------

LONG_IN_BYTES = 1 << 11
"""Of a row from which on NumPy goes row by row as soon as through copies."""


def _repeated_row(kernel: np.ufunc, *operands: Buffer) -> int:
    """The elements of a row, where NumPy would copy some rows of one of two operands; else 0."""
    if len(operands) != 2 or OF_UFUNC.get(kernel) not in ONE_ANSWER:
        return 0
    less, most = sorted(operands, key=lambda x: x.size)
    if not (1 < less.size < most.size >= SOME and most.flags.c_contiguous):
        return 0
    length = most.shape[-1] // 16 * 16  # as NumPy wants it
    repeats = length * most.itemsize >= LONG_IN_BYTES and less.ndim <= most.ndim
    if not repeats or length >= np.getbufsize():
        return 0
    return 0 if OF_UFUNC[kernel] in EITHER_NAN and _has_nan(less) else length


def _with_short_buffers(kernel: Any, operands: tuple[Buffer, ...], row: int) -> Buffer | None:
    made: list[Buffer] = []
    told = in_parts(lambda _: made.append(kernel(*operands)), 1, 1, row)
    return made[0] if told else None


# --- several threads ------------------------------------------------------------------------------


def in_parts(work: Callable[[slice], object], size: int, length: int, buffer: int = 0) -> bool:
    """Have all of ``size`` elements worked on; false if NumPy met something to tell of.

    ``buffer`` is how many elements NumPy's buffers hold meanwhile; 0 leaves them as they are.
    """
    met: list[Any] = []
    watched: Any = {
        kind: "ignore" if how == "ignore" else "call" for kind, how in np.geterr().items()
    }

    def part(index: int) -> None:
        # A thread of the pool does not know the caller's state.
        with np.errstate(**watched, call=lambda *exception: met.append(exception)):
            if buffer:
                np.setbufsize(buffer)  # until the end of `with`
            work(slice(index * length, (index + 1) * length))

    share(part, -(-size // length))
    return not met


def copied(buffer: Buffer, storage: np.dtype[Any]) -> Buffer:
    """``buffer.astype(storage)``, where that can go wrong for no element."""
    if threads_for(buffer.size) < 2 or not buffer.flags.c_contiguous:
        return buffer.astype(storage)
    out = np.empty(buffer.shape, storage)
    given, place = buffer.reshape(-1), out.reshape(-1)
    in_parts(lambda at: np.copyto(place[at], given[at]), out.size, _part_of(out.size))
    return out


def _lies(x: Buffer, shape: tuple[int, ...]) -> bool:
    """Whether a buffer that broadcasts to a shape goes through memory row by row, as NumPy's result
    then does."""
    strides = np.broadcast_to(x, shape).strides
    steps = [step for step, length in zip(strides, shape, strict=True) if length > 1 and step]
    return all(a >= b > 0 for a, b in pairwise((*steps, 1)))
