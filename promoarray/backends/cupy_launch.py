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
from promoarray.backends.cupy_device import cupy
from promoarray.dtypes import DType
from promoarray.kernels import cuda
from promoarray.kernels.cuda import KernelSource
from promoarray.kernels.cuda_fused import answer, fused_kernel
from promoarray.kernels.rule import DEFAULT, Rule
from promoarray.policies.plans import Plan

Buffer = Any
Order = Literal["C", "F"]
Casts = Callable[[DType, DType], Rule | None]

LARGE = 1 << 18
"""From so many elements on a cast is worth the kernel that takes 16 of them a thread."""


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
    return buffer.view(cuda.stored(dtype))


@cache
def launcher(kernel: KernelSource) -> Any:
    """The kernel as CuPy runs it: its inputs, then its outputs, which are there already."""
    return cupy.ElementwiseKernel(
        kernel.in_params,
        kernel.out_params,
        kernel.operation,
        kernel.name,
        preamble=kernel.preamble,
    )


# --- Casts ---------------------------------------------------------------------------------------


def cast(buffer: Buffer, source: DType, target: DType, rule: Rule) -> Buffer:
    """Cast a buffer, of any layout and size, to new memory on the current device."""
    out = new(buffer.shape, target, _order([buffer]))
    if not buffer.size:
        return out
    x, y = bits(buffer, source), bits(out, target)
    rule = cuda.relevant(source, target, rule)
    flags = buffer.flags
    contiguous = flags.c_contiguous or flags.f_contiguous
    if contiguous and buffer.size >= LARGE and (source, target) in cuda.wide_pairs():
        kernel, blocks, threads = _wide(source, target, rule)
        kernel((blocks(buffer.size),), (threads,), (x, y, np.uint64(buffer.size)))
    else:
        _narrow(source, target, rule)(x, y)
    return out


@cache
def _narrow(source: DType, target: DType, rule: Rule) -> Any:
    return launcher(cuda.cast_kernel(source, target, rule))


@cache
def _wide(source: DType, target: DType, rule: Rule) -> tuple[Any, Callable[[int], int], int]:
    kernel = cuda.wide_cast_kernel(source, target, rule)
    return cupy.RawKernel(kernel.code, kernel.name), kernel.blocks, kernel.threads


# --- Operations ----------------------------------------------------------------------------------


def fused(
    name: str,
    operands: tuple[Buffer, ...],
    held: tuple[DType, ...],
    plan: Plan,
    casts: Casts,
    condition: Buffer | None = None,
) -> Buffer | None:
    """Run all of a plan in one kernel; None if no kernel does.

    Operands are buffers, or NumPy arrays without axes: the Python scalars, which travel with the
    launch.
    """
    found = _fused(name, held, plan, casts)
    if found is None:
        return None
    kernel, *words = found
    given = [condition] if condition is not None else []
    given += [_as(x, word) for x, word in zip(operands, words, strict=True)]
    shape = _common_shape([x.shape for x in given])
    if shape is None:
        return None
    out = new(shape, plan.result, order=_order(given))
    if out.size:
        kernel(*given, bits(out, plan.result))
    return out


def _as(x: Any, word: str) -> Any:
    """An operand as its kernel takes it; a scalar as a scalar."""
    if isinstance(x, np.ndarray):
        return x.view(word)[()]
    return x if x.dtype == word else x.view(word)


def _common_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """What shapes broadcast to; None if they do not, which others tell better."""
    first, *others = shapes
    if all(shape == first for shape in others):
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _order(given: list[Any]) -> Order:
    """The layout of a result: that of the operands, if all have the same one."""
    flags = [x.flags for x in given if isinstance(x, cupy.ndarray) and x.ndim]
    columns = flags and all(f.f_contiguous and not f.c_contiguous for f in flags)
    return "F" if columns else "C"


@lru_cache(maxsize=4096)
def _fused(name: str, held: tuple[DType, ...], plan: Plan, casts: Casts) -> Any:
    """The kernel, and what its operands are viewed as."""
    source = fused_kernel(name, held, plan.inputs, plan.compute, plan.result, casts)
    return None if source is None else (launcher(source), *map(cuda.stored, held))


def operate(
    name: str, buffers: tuple[Buffer, ...], compute: DType, condition: Buffer | None = None
) -> tuple[Buffer, DType] | None:
    """Run one operation on buffers that all hold ``compute``; None if no kernel does."""
    own = compute if name == "where" else answer(name, compute)
    if own is None:
        return None
    inputs = (compute,) * len(buffers)
    plan = Plan(inputs, compute, own)
    out = fused(name, buffers, inputs, plan, _plainly, condition)
    return None if out is None else (out, own)


def _plainly(source: DType, target: DType) -> Rule:
    return DEFAULT
