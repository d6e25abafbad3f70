"""A whole plan over NumPy buffers in blocks: the casts of the operands, the ufunc, the cast of its
result.

What lies between the operands and the result stays in a cache and takes less than 1 MiB, however
long they are. All that a ufunc of one result does to contiguous buffers goes this way, once it is
long; the rest is cast whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import parts
from promoarray.backends.numpy.kernels import KERNELS, kernel_of
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, CastMode
from promoarray.kernels.portable import complexes

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Casts = Callable[[DType, DType], tuple[CastMode, tuple[Any, ...]]]

LONG = 1 << 15
"""Elements from which on it pays; what is cast whole below takes less than 1 MiB."""

SCRATCH = 896 << 10
"""Bytes of all that lies in between."""


class Cast(NamedTuple):
    """One cast on the way, with what the kernel takes for it."""

    source: kernels.DTypeArgs
    target: kernels.DTypeArgs
    storage: np.dtype[Any]
    mode: CastMode

    def run(self, values: Buffer, out: Buffer) -> Buffer:
        """Cast a block into memory that is there."""
        kernels.cast(values, out, self.source, self.target, self.mode)
        return out


class BlockPlan(NamedTuple):
    """The casts of each operand, the ufunc with the dtype of its result, and the casts of that.

    ``loop`` are the rows and modes of ``kernels.combine``, where that does it all, under
    ``kernel_name``; ``storage`` is what the result is stored in.
    """

    input_casts: tuple[tuple[Cast, ...], ...]
    kernel: np.ufunc
    computed: np.dtype[Any]
    output_casts: tuple[Cast, ...]
    loop: tuple[Any, Any] | None
    kernel_name: str
    storage: np.dtype[Any]

    @property
    def scratch_bytes(self) -> int:
        """Bytes that one element takes in between."""
        casts = [cast for casts in self.input_casts for cast in casts]
        of_inputs = sum(cast.storage.itemsize for cast in casts)
        return of_inputs + (self.computed.itemsize if self.output_casts else 0)


def run(plan: BlockPlan, operands: tuple[Buffer, ...]) -> Buffer | None:
    """Run all of a plan in blocks, or in one loop; None where the operands do not lie so that it
    can, or are too short for blocks to pay."""
    if plan.loop is None and max(x.size for x in operands) < LONG:
        return None
    shape = operands[0].shape
    if plan.loop is not None:  # most often the operands lie as the loop takes them
        left, right = operands
        shape = left.shape or right.shape
        if _goes_at_once(left, shape) and _goes_at_once(right, shape):
            out = np.empty(shape, plan.storage)
            raised = kernels.combine(plan.kernel_name, left, right, out, *plan.loop)
            if not raised or not raised & _watched():
                return out
    if any(x.shape != shape for x in operands):
        try:
            shape = np.broadcast_shapes(*(x.shape for x in operands))
        except ValueError:  # the ordinary way says so in our own words
            return None
    in_rows = all(_lies(x, shape) for x in operands)
    if not in_rows and not all(_lies(x.T, shape[::-1]) for x in operands):
        return None
    out = np.empty(shape, plan.storage, order="C" if in_rows else "F")
    flat = [(x if in_rows else x.T).reshape(-1) for x in operands]
    place = (out if in_rows else out.T).reshape(-1)
    if plan.loop is not None and all(x.flags.aligned for x in flat):
        left, right = flat
        raised = kernels.combine(plan.kernel_name, left, right, place, *plan.loop)
        if not raised or not raised & _watched():
            return out
    elif place.size < LONG:
        return None
    threads = parts.threads_for(place.size)
    if threads > 1 and parts.in_parts(partial(_part, plan, flat, place, threads), place.size):
        return out
    _run(plan, flat, place, SCRATCH)  # NumPy warns of what it meets
    return out


def _part(plan: BlockPlan, operands: list[Buffer], result: Buffer, threads: int, at: slice) -> None:
    """Run a plan on some of the elements, beside other threads that do."""
    _run(plan, [x if x.size == 1 else x[at] for x in operands], result[at], SCRATCH // threads)


def _goes_at_once(x: Buffer, shape: tuple[int, ...]) -> bool:
    """Whether the loop takes a buffer as it is: in rows, or one element for them all."""
    return x.flags.carray if x.shape == shape else not x.shape and x.flags.aligned


def _watched() -> int:
    """The floating-point exceptions that NumPy does not ignore, by its numbers."""
    state = np.geterr()
    kinds = (state["divide"], state["over"], state["under"], state["invalid"])
    return sum(1 << i for i, kind in enumerate(kinds) if kind != "ignore")


def _lies(x: Buffer, shape: tuple[int, ...]) -> bool:
    """Whether a buffer has all elements of the result in their order, or one for them all."""
    return x.size == 1 or (x.shape == shape and x.flags["C_CONTIGUOUS"])


def _run(block_plan: BlockPlan, operands: list[Buffer], result: Buffer, scratch_bytes: int) -> None:
    input_casts, output_casts = block_plan.input_casts, block_plan.output_casts
    step = max(1, min(result.size, scratch_bytes // block_plan.scratch_bytes))
    scratch = [[np.empty(step, c.storage) for c in casts] for casts in input_casts]
    computed = np.empty(step if output_casts else 0, block_plan.computed)
    ones = [x.size == 1 for x in operands]
    for i, one in enumerate(ones):
        if one:
            operands[i] = _cast(operands[i], input_casts[i], scratch[i]).copy()
    for at in range(0, result.size, step):
        block = result[at : at + step]
        values = [
            x if one else _cast(x[at : at + step], casts, out)
            for x, one, casts, out in zip(operands, ones, input_casts, scratch, strict=True)
        ]
        made = computed[: block.size] if output_casts else block
        block_plan.kernel(*values, out=made)
        for cast in output_casts:
            cast.run(made, block)


def _cast(values: Buffer, casts: tuple[Cast, ...], scratch: list[Buffer]) -> Buffer:
    for cast, out in zip(casts, scratch, strict=True):
        values = cast.run(values, out[: values.size])
    return values


def block_plan(name: str, held: tuple[DType, ...], plan: Plan, casts: Casts) -> BlockPlan | None:
    """How a plan goes in blocks; None where it cannot, or casts nothing."""
    computed = [plan.compute or dtype for dtype in plan.inputs]
    kinds = {dtype.kind for dtype in computed}
    kernel = kernel_of(name, computed[0]) if name in KERNELS else None
    if not isinstance(kernel, np.ufunc) or kernel.nout != 1 or Kind.BOOL in kinds:
        return None
    if kernel.signature is not None:  # matmul and vecdot look at more than one element
        return None
    if not dt.NATIVE.issuperset(computed) or (Kind.COMPLEX in kinds and name in complexes.KERNELS):
        return None
    try:
        *_, answer = kernel.resolve_dtypes((*(dtype.storage for dtype in computed), None))
    except TypeError:
        return None
    steps = zip(held, plan.inputs, computed, strict=True)
    input_casts = [_chain(step, casts) for step in steps]
    made = BY_STORAGE[answer]
    output_casts = _chain((made, plan.result), casts)
    known = tuple(chain for chain in input_casts if chain is not None)
    if output_casts is None or len(known) < len(input_casts):
        return None
    loop = _loop(name, (*held, made, plan.result), {*computed, made}, (*known, output_casts))
    storage = output_casts[-1].storage if output_casts else answer
    found = BlockPlan(known, kernel, answer, output_casts, loop, name, storage)
    return found if found.scratch_bytes else None


def _loop(
    name: str,
    dtypes: tuple[DType, ...],
    computed: set[DType],
    chains: tuple[tuple[Cast, ...], ...],
) -> tuple[Any, Any] | None:
    """What ``kernels.combine`` takes, if it has the loop: one dtype, and no cast of two steps."""
    if len(computed) > 1 or not computed <= LOOPS.get(name, set()) or max(map(len, chains)) > 1:
        return None
    if any(dtype.kind is Kind.COMPLEX for dtype in dtypes):
        return None
    modes = (chain[0].mode if chain else DEFAULT for chain in chains)
    return tuple(kernels.dtype_args(dtype) for dtype in dtypes), tuple(modes)


_FLOATS = {dt.float32, dt.float64}
_NUMBERS = {d for d in dt.NATIVE if d.kind in (Kind.INT, Kind.UINT)} | _FLOATS
LOOPS = {"add": _NUMBERS, "subtract": _NUMBERS, "multiply": _NUMBERS, "divide": _FLOATS}
"""What ``kernels.combine`` computes, and in which dtypes."""


def _chain(dtypes: tuple[DType, ...], casts: Casts) -> tuple[Cast, ...] | None:
    """The casts from each dtype to the next; None where one of them has transforms besides."""
    found = []
    for source, target in pairwise(dtypes):
        if source is not target:
            mode, transforms = casts(source, target)
            if transforms:
                return None
            found.append(
                Cast(kernels.dtype_args(source), kernels.dtype_args(target), target.storage, mode)
            )
    return tuple(found)
