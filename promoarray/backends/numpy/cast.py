"""Casts of NumPy buffers, each made ready once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from operator import methodcaller
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import DEFAULT, CastingKernel, CastMode, Manner, dtype_args
from promoarray.kernels import cast as cast_kernel
from promoarray.kernels.float_state import in_default_float_state

Buffer = np.ndarray[Any, Any]
Casts = Callable[[DType, DType], tuple[CastMode, tuple[Any, ...]]]
"""How a policy casts one dtype to another: the mode, and transforms after it."""


@cache
def widens(source: DType, target: DType) -> bool:
    """Whether NumPy calls a cast safe: its own is as good, but for a warning at signalling NaN.

    From integers of 64 bits it rounds, by the floating-point state.
    """
    standard = {source, target} <= {*dt.STANDARD}
    return standard and np.can_cast(source.storage, target.storage, "safe")


def comparable(dtype: DType) -> DType:
    """A dtype in which NumPy compares all values of another, and that holds them exactly."""
    if dtype in dt.NATIVE:
        return dtype
    wide = dt.float32 if dtype.kind is Kind.FLOAT else dt.int8
    return {Kind.COMPLEX: dt.complex64, Kind.UINT: dt.uint8}.get(dtype.kind, wide)


def cast(
    buffer: Buffer,
    source: DType,
    target: DType,
    mode: CastMode = DEFAULT,
    transforms: tuple[Any, ...] = (),
) -> Buffer:
    """Cast a buffer; the same object if there is nothing to do.

    Floats are rounded once, to nearest, ties to even, from the value they have; the mode says what
    becomes of numbers that the target cannot hold, and transforms are applied after it.
    """
    return buffer if source is target else caster(source, target, mode, transforms)(buffer)


@lru_cache(maxsize=4096)
def caster(
    source: DType, target: DType, mode: CastMode = DEFAULT, transforms: tuple[Any, ...] = ()
) -> Callable[[Buffer], Buffer]:
    """Make a cast between two different dtypes ready."""
    if transforms:
        from promoarray.backends.numpy.cast_transforms import transforming  # of few policies

        return transforming(source, target, mode, transforms)
    integers = source.kind not in (Kind.FLOAT, Kind.COMPLEX)
    storage = target.storage
    if (integers and widens(source, target)) or dt.string in (source, target):
        return in_default_float_state(methodcaller("astype", storage))
    rows = dtype_args(source), dtype_args(target), mode

    short = _short(source, target, mode)

    def run(buffer: Buffer) -> Buffer:
        made: Buffer | None = short and short(buffer)
        if made is not None:
            return made
        if buffer.flags.c_contiguous:
            out = np.empty(buffer.shape, storage)
            cast_kernel(buffer, out, *rows)
        else:
            out = np.empty_like(buffer, storage, subok=False)
            cast_kernel(*_outermost_first(buffer, out), *rows)
        return out

    return run


def manner_of(
    source: DType, target: DType, mode: CastMode = DEFAULT, transforms: tuple[Any, ...] = ()
) -> Manner | None:
    """How a kernel makes a cast with its transforms; None if it cannot."""
    if not transforms:
        return mode
    from promoarray.backends.numpy.cast_transforms import adjustment_of

    adjustment = adjustment_of(source, target, mode, transforms)
    return None if adjustment is None else (mode, adjustment)


def short_caster(
    source: DType, target: DType, mode: CastMode = DEFAULT, transforms: tuple[Any, ...] = ()
) -> Callable[[Buffer], Buffer | None] | None:
    """What casts short buffers, and answers None of others; None if nothing does."""
    integers = source.kind not in (Kind.FLOAT, Kind.COMPLEX)
    manner = manner_of(source, target, mode, transforms)
    if manner is None or (not transforms and integers and widens(source, target)):
        return None
    return _short(source, target, manner)


@lru_cache(maxsize=4096)
def _short(
    source: DType, target: DType, manner: Manner
) -> Callable[[Buffer], Buffer | None] | None:
    if not {source.kind, target.kind} <= _NUMERIC:
        return None
    given, made = map(dtype_args, (source, target))
    rows, modes = (given, made, made, made, made), (manner, manner, DEFAULT)
    return CastingKernel(None, rows, modes, (target.storage,), target.storage, None)


_NUMERIC = frozenset({Kind.BOOL, Kind.INT, Kind.UINT, Kind.FLOAT, Kind.COMPLEX})


def _outermost_first(buffer: Buffer, out: Buffer) -> tuple[Buffer, Buffer]:
    """Both with the axes of ``out`` in the order of memory, so that it is C-contiguous."""
    axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
    return buffer.transpose(axes), out.transpose(axes)
