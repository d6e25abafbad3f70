"""Steps that several kernels share. ``xp`` is NumPy or CuPy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from promoarray.dtypes import BY_STORAGE
from promoarray.kernels import DEFAULT, CastingKernel, dtype_args

Buffer = Any

quietly = np.errstate(all="ignore")
"""Of kernels that go through infinities and NaN on their way to an answer."""


def kernels_of(module: ModuleType) -> dict[str, Callable[..., Buffer]]:
    """Return the kernels that a module defines: its functions but those behind an underscore."""
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }


def is_zero(xp: Any, x: Buffer) -> Buffer:
    """Where ``x`` is 0 or -0; CuPy's own ``==`` takes float32 subnormals for it, too."""
    return xp.equal(x, xp.zeros_like(x))


# --- Integers ------------------------------------------------------------------------------------


def not_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The divisor, which must not be zero where anything is divided by it."""
    if x.size and bool(xp.any(y == 0)):
        raise divided_by_zero()
    return y


def divided_by_zero() -> ZeroDivisionError:
    """The error of an integer that is divided by zero."""
    return ZeroDivisionError(
        "an integer divided by zero, which this policy's framework refuses; divide floats, or "
        "write pa.where(y == 0, 1, y) for the divisor"
    )


def or_one(xp: Any, y: Buffer) -> Buffer:
    return xp.where(y == 0, xp.ones_like(y), y)


def towards_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The exact quotient of integers without its fraction."""
    floor = xp.floor_divide(x, y)
    below = xp.logical_and(xp.fmod(x, y) != 0, xp.logical_xor(x < 0, y < 0))
    return floor + below.astype(floor.dtype)


def beyond(dtype: Any) -> int:
    """What x86 makes of NaN, and of a float that no integer of the dtype is."""
    return int(np.iinfo(dtype).min) if dtype.itemsize >= 4 else 0  # narrower ones by their low bits


def ends(dtype: Any) -> tuple[Any, Any]:
    """The lowest and the highest number."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def whole(xp: Any, x: Buffer, dtype: Any) -> Buffer:
    """Floats as x86 makes them integers."""
    top = 2.0 ** (63 if dtype.itemsize == 8 else 31)
    within = (x >= -top) & (x < top)
    whole = xp.where(within, x, xp.zeros_like(x)).astype("int64").astype(dtype)
    return xp.where(within, whole, xp.full_like(whole, beyond(dtype)))


# --- Complex numbers, and products that are not rounded ------------------------------------------


def of_parts(xp: Any, real: Buffer, imag: Buffer | int) -> Buffer:
    """Complex numbers of their parts: a sum would turn an infinite part into a NaN."""
    out = xp.empty(real.shape, f"c{2 * real.itemsize}")
    out.real, out.imag = real, imag
    return out


def fused(xp: Any, x: Buffer, y: Buffer, z: Buffer) -> Buffer:
    """``x * y + z``, rounded once, as one instruction of most machines makes it."""
    if xp is not np:  # a GPU has it, and CuPy's own casts and products flush float32 subnormals
        return xp.fma(x, y, z)
    return _fused_loop(x.dtype)(*map(np.asarray, (x, y, z)))


@cache
def _fused_loop(storage: np.dtype[Any]) -> CastingKernel:
    """The same of float32 or float64 over NumPy's buffers, which has no such function."""
    row = dtype_args(BY_STORAGE[storage])
    loop = ("fma", row), "fma", False
    return CastingKernel(None, (row,) * 11, (DEFAULT,) * 7, (storage,) * 3, storage, None, loop)


def unit(xp: Any, part: Buffer) -> Buffer:
    """1 with its sign for an infinity, else 0 with its sign."""
    return xp.copysign(xp.where(xp.isinf(part), xp.ones_like(part), xp.zeros_like(part)), part)
