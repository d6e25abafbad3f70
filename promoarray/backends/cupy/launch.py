"""Launching the kernels of ``promoarray.kernels``: casts, and operations with their casts.

CuPy's own casts and arithmetic are never used where they differ from the CPU's: they round twice in
places, and float32 subnormals are zero to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.cupy.device import cupy, home, told
from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import DEFAULT, CastMode
from promoarray.kernels.cuda import kernel_source
from promoarray.kernels.cuda.contiguous import RawSource, contiguous_kernel
from promoarray.kernels.cuda.fused import Casts, answer, fused_kernel
from promoarray.kernels.cuda.kernel_source import KernelSource
from promoarray.kernels.cuda.symbolic import CodeTransform
from promoarray.promotion.plan import Plan

Buffer = Any
Order = Literal["C", "F"]


@cache
def storage(dtype: DType) -> Any:
    """The dtype in which CuPy holds a dtype: bfloat16 is the only one of ml_dtypes it knows."""
    if dtype in dt.NATIVE or dtype is dt.bfloat16:
        return dtype.storage
    if dtype is dt.string:
        raise TypeError("a GPU holds no strings; write x.to_device('cpu'), or keep them there")
    return np.dtype(f"u{dtype.storage.itemsize}")


def new(shape: Any, dtype: DType, order: Order = "C") -> Buffer:
    """Unset memory on the current device."""
    return cupy.empty(shape, storage(dtype), order=order)


def bits(buffer: Buffer, dtype: DType) -> Buffer:
    """The buffer as the kernels take it."""
    return buffer.view(kernel_source.stored(dtype))


@cache
def launcher(kernel: KernelSource) -> Any:
    """The kernel as CuPy runs it: it takes the inputs, and the output if that is there already."""
    return cupy.ElementwiseKernel(
        kernel.in_params, kernel.out_params, kernel.operation, kernel.name, preamble=kernel.preamble
    )


# --- Kernels that are ready ----------------------------------------------------------------------


class Launch:
    """A kernel of ours for operands of certain dtypes: it gives new memory on their device.

    Operands are buffers, or NumPy's arrays without axes: the Python scalars, which travel with the
    launch. A condition, of ``where``, stands in front. Contiguous arrays of one shape are run over
    by packs, all others by CuPy's indices.
    """

    __slots__ = ("_kept", "_source", "_storage", "_view", "_word", "_words")

    def __init__(self, source: KernelSource, held: tuple[DType, ...], result: DType) -> None:
        self._source = source
        self._storage = storage(result)
        self._words = tuple(map(_other_word, held))
        self._word = kernel_source.stored(result)
        self._view = None if _other_word(result) is None else self._storage
        self._kept: dict[tuple[int, int], Loaded] = {}

    def __call__(self, *operands: Any) -> Buffer:
        """Run it to new memory.

        Raises ValueError where shapes do not fit.
        """
        try:
            # What is looked at here is all that a call asks before its launch.
            device, first, numbers = _current_device(), None, 0
            for x in operands:
                numbers <<= 1
                if type(x) is np.ndarray:
                    numbers |= 1
                elif x.data.device_id != device or not x._c_contiguous:
                    break
                elif first is None:
                    first, shape = x, x.shape
                elif x.shape != shape:
                    break
            else:
                return self._packs(operands, first, numbers, device, "C")
            return self._of_any_layout(operands)
        except Exception as error:
            better = told(error)
            if better is None:
                raise
            raise better from error

    def _packs(
        self, operands: tuple[Any, ...], first: Buffer, numbers: int, device: int, order: Order
    ) -> Buffer:
        """Run the kernel of contiguous arrays; of ``numbers`` the last bit is the last operand."""
        out, size = cupy.ndarray(first.shape, self._storage, None, None, order), first.size
        if size:
            loaded = self._kept.get((device, numbers))
            if loaded is None:
                loaded = _loaded(contiguous_kernel(self._source, _are_numbers(operands)))
                self._kept[device, numbers] = loaded
            launch, of_block, threads = loaded
            given = self._passed(operands) if numbers else operands
            launch(-(-size // of_block) * threads, (*given, out, size), 0, threads)
        return out

    def _of_any_layout(self, operands: tuple[Any, ...]) -> Buffer:
        with home(*operands):
            order = _order(operands)
            if order is not None:
                numbers = _are_numbers(operands)
                bits = sum(number << i for i, number in enumerate(reversed(numbers)))
                first = operands[numbers.index(False)]
                return self._packs(operands, first, bits, _current_device(), order)
            return self._strided(operands)

    def _strided(self, operands: tuple[Any, ...]) -> Buffer:
        given = self._passed(operands)
        first = len(given) - len(self._words)
        for i, word in enumerate(self._words, first):
            if word is not None and isinstance(given[i], cupy.ndarray):
                given[i] = given[i].view(word)
        if _in_columns(given):  # CuPy itself would make rows
            shape = np.broadcast_shapes(*(x.shape for x in given))
            given.append(cupy.empty(shape, self._word, order="F"))
        out = launcher(self._source)(*given)
        return out if self._view is None else out.view(self._view)

    def _passed(self, operands: tuple[Any, ...]) -> list[Any]:
        """The operands, numbers among them in the words that the kernel takes."""
        given = list(operands)
        first = len(given) - len(self._words)
        for i, word in enumerate(self._words, first):
            x = given[i]
            if type(x) is np.ndarray:
                given[i] = (x if word is None else x.view(word))[()]
        return given


Loaded = tuple[Callable[..., None], int, int]
"""A kernel in a device: what launches so many threads, the elements of a block, its threads."""

_current_device = cupy.cuda.runtime.getDevice


def _loaded(made: RawSource) -> Loaded:
    """Load a kernel into the current device."""
    function = cupy.RawKernel(made.code, made.name).kernel
    return function.linear_launch, made.threads * made.per_thread, made.threads


def _are_numbers(operands: tuple[Any, ...]) -> tuple[bool, ...]:
    return tuple(type(x) is np.ndarray for x in operands)


def _order(operands: tuple[Any, ...]) -> Order | None:
    """In which order all arrays among the operands are contiguous, being of one shape; or None."""
    shape, rows, columns = None, True, True
    for x in operands:
        if type(x) is np.ndarray:
            continue
        if shape is None:
            shape = x.shape
        elif x.shape != shape:
            return None
        flags = x.flags
        rows &= flags.c_contiguous
        columns &= flags.f_contiguous
    return None if shape is None else "C" if rows else "F" if columns else None


def _other_word(dtype: DType) -> str | None:
    """What a buffer is viewed as for a kernel, where CuPy does not hold it as just that."""
    word = kernel_source.stored(dtype)
    return None if storage(dtype) == word else word


def _in_columns(given: list[Any]) -> bool:
    """Whether all arrays lie column by column, and so their result shall."""
    found = False
    for x in given:
        if x.ndim:
            flags = x.flags
            if flags.c_contiguous or not flags.f_contiguous:
                return False
            found = True
    return found


# --- Casts ---------------------------------------------------------------------------------------


def cast(
    buffer: Buffer,
    source: DType,
    target: DType,
    mode: CastMode = DEFAULT,
    transforms: tuple[CodeTransform, ...] = (),
) -> Buffer:
    """Cast a buffer of any layout and size; the same object if there is nothing to do."""
    return buffer if source is target else caster(source, target, mode, transforms)(buffer)


def caster(
    source: DType, target: DType, mode: CastMode, transforms: tuple[CodeTransform, ...]
) -> Launch:
    """The cast between two different dtypes, ready to be launched."""
    return _caster(source, target, kernel_source.relevant(source, target, mode), transforms)


@cache
def _caster(
    source: DType, target: DType, mode: CastMode, transforms: tuple[CodeTransform, ...]
) -> Launch:
    return Launch(kernel_source.cast_kernel(source, target, mode, transforms), (source,), target)


# --- Operations ----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def prepared(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: Casts,
    *,
    low: bool = False,
    high: bool = False,
) -> Launch | None:
    """All of a plan as one kernel, ready to be launched; None if no kernel does it.

    Parameters are those of ``fused_kernel``; an operation with other options has no kernel.
    """
    inputs, result = plan.inputs, plan.result
    source = fused_kernel(name, held, inputs, plan.compute, result, casts, low=low, high=high)
    return None if source is None else Launch(source, held, result)


def operate(
    name: str, buffers: tuple[Buffer, ...], compute: DType, *condition: Buffer, **bounds: bool
) -> tuple[Buffer, DType] | None:
    """Run one operation on buffers that all hold ``compute``; None if no kernel does."""
    own = answer(name, compute)
    if own is None:
        return None
    inputs = (compute,) * len(buffers)
    launch = prepared(name, inputs, Plan(inputs, compute, own), _plainly, **bounds)
    return None if launch is None else (launch(*condition, *buffers), own)


def _plainly(source: DType, target: DType) -> tuple[CastMode, tuple[CodeTransform, ...]]:
    return DEFAULT, ()
