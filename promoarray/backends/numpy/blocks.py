"""A whole plan over NumPy buffers in blocks: the casts of the operands, NumPy's kernel, the casts
of its result.

What lies between the operands and the result stays in a cache and takes less than 1 MiB, however
long they are and however they lie. All that is done element by element goes this way, once it is
long, unless ``loops`` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import told
from promoarray.backends.numpy.kernels import OF_ONE_CALL, is_elementwise, kernel_of
from promoarray.backends.numpy.loops import Casts, common_shape, empty_like
from promoarray.dtypes import BY_STORAGE, DType
from promoarray.kernels.cast_mode import CastMode

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]

LONG = 1 << 15
"""Elements from which on it pays; what is cast whole below takes less than 1 MiB."""

SCRATCH = 896 << 10
"""Bytes of all that lies in between."""

OF_FUNCTION = 64
"""Bytes an element that a function, which is no ufunc, may make on its way."""


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
    """The casts of each operand, the kernel with the dtype of its result, and the casts of that.

    ``storage`` is what the result is stored in.
    """

    input_casts: tuple[tuple[Cast, ...], ...]
    kernel: Callable[..., Any]
    computed: np.dtype[Any]
    output_casts: tuple[Cast, ...]
    storage: np.dtype[Any]

    @property
    def block(self) -> int:
        """Elements at a time."""
        casts = [cast for casts in self.input_casts for cast in casts]
        of_inputs = sum(cast.storage.itemsize for cast in casts)
        of_result = self.computed.itemsize if self.output_casts else 0
        of_layouts = 8 * (len(self.input_casts) + 1)  # what np.nditer gathers
        of_kernel = 0 if isinstance(self.kernel, np.ufunc) else OF_FUNCTION
        return SCRATCH // (of_inputs + of_result + of_layouts + of_kernel)

    def run(self, operands: tuple[Buffer, ...], options: dict[str, Any]) -> Buffer | None:
        """Run all of it in blocks; None where the operands do not broadcast, or are too short for
        blocks to pay."""
        if max(x.size for x in operands) < LONG:
            return None
        return self.carry_out(operands, options)

    def carry_out(self, operands: tuple[Buffer, ...], options: dict[str, Any]) -> Buffer | None:
        """``run`` operands of any length."""
        shape = common_shape(operands)
        if shape is None or 0 in shape:
            return None
        out = empty_like(operands, shape, self.storage)
        values: list[Buffer | None] = [None] * len(operands)
        long = []
        for i, (x, casts) in enumerate(zip(operands, self.input_casts, strict=True)):
            if x.size == 1:  # cast once; no buffer of NumPy's is made of it, either
                values[i] = _cast(x.reshape(()), casts, [np.empty((), c.storage) for c in casts])
            else:
                long.append(i)
        step = min(out.size, self.block)
        scratch = [[np.empty(step, c.storage) for c in casts] for casts in self.input_casts]
        made = np.empty(step if self.output_casts else 0, self.computed)
        with told.at_the_program_once():
            for parts in parts_of([*(operands[i] for i in long), out], step):
                *given, block = parts
                for i, part in zip(long, given, strict=True):
                    values[i] = _cast(part, self.input_casts[i], scratch[i])
                place = made[: block.size] if self.output_casts else block
                if isinstance(self.kernel, np.ufunc):
                    self.kernel(*values, out=place)
                else:
                    place[...] = self.kernel(*values, **options)
                for cast in self.output_casts:
                    cast.run(place, block)
        return out


def parts_of(arrays: list[Buffer], step: int) -> Any:
    """Blocks of arrays that broadcast to the last, which is written to: what lies in memory in
    other ways is gathered, and brought back."""
    words = [x if x.dtype.isbuiltin == 1 else x.view(f"u{x.itemsize}") for x in arrays]
    flags: Any = [["readonly"]] * (len(arrays) - 1) + [["writeonly"]]
    walk: Any = np.nditer(words, ["external_loop", "buffered"], flags, order="K", buffersize=step)
    with walk:
        for parts in walk:
            yield [
                part.view(x.dtype)
                for part, x in zip(parts if len(arrays) > 1 else [parts], arrays, strict=True)
            ]


def _cast(values: Buffer, casts: tuple[Cast, ...], scratch: list[Buffer]) -> Buffer:
    for cast, out in zip(casts, scratch, strict=True):
        values = cast.run(values, out[: values.size] if out.ndim else out)
    return values


def block_plan(name: str, held: tuple[DType, ...], plan: Plan, casts: Casts) -> BlockPlan | None:
    """How a plan goes in blocks; None where it cannot, or NumPy's ufunc does all of it."""
    computed = [plan.compute or dtype for dtype in plan.inputs]
    if not is_elementwise(name) or not dt.NATIVE.issuperset(computed):
        return None
    kernel = kernel_of(name, computed[0])
    answer = answer_of(kernel, (*computed,))
    steps = zip(held, plan.inputs, computed, strict=True)
    input_casts = [_chain(step, casts) for step in steps]
    if answer is None:
        return None
    output_casts = _chain((BY_STORAGE[answer], plan.result), casts)
    known = tuple(chain for chain in input_casts if chain is not None)
    if kernel is None or output_casts is None or len(known) < len(input_casts):
        return None
    if (isinstance(kernel, np.ufunc) or name in OF_ONE_CALL) and not (any(known) or output_casts):
        return None
    storage = output_casts[-1].storage if output_casts else answer
    return BlockPlan(known, kernel, answer, output_casts, storage)


@cache
def answer_of(kernel: Callable[..., Any] | None, dtypes: tuple[DType, ...]) -> np.dtype[Any] | None:
    """What NumPy stores the result of a kernel in; None where it has none of these dtypes."""
    try:
        if isinstance(kernel, np.ufunc):
            *_, answer = kernel.resolve_dtypes((*(dtype.storage for dtype in dtypes), None))
            return answer
        if kernel is None:
            return None
        with np.errstate(all="ignore"):
            ones = [np.ones(1, dtype.storage) for dtype in dtypes]
            return np.asarray(kernel(*ones)).dtype
    except TypeError:
        return None


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
