"""The arithmetic of PTX on NumPy's arrays: what the operators of its instructions give.

Here is all that differs from NumPy's own: shifts, division, NaN, flushed subnormals, conversions,
sums of products rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np


class Unsupported(Exception):
    """An instruction, or a form of one, whose meaning is not written here."""


_WIDTHS = (8, 16, 32, 64)
STORAGE: dict[str, Any] = {
    "pred": np.bool,
    **{f"{k}{n}": getattr(np, f"uint{n}") for k in "ubsf" for n in _WIDTHS},
}
"""What holds a register of a type."""

VIEWS: dict[str, Any] = {
    "pred": np.bool,
    **{f"{k}{n}": getattr(np, f"uint{n}") for k in "ub" for n in _WIDTHS},
    **{f"s{n}": getattr(np, f"int{n}") for n in _WIDTHS},
    **{f"f{n}": getattr(np, f"float{n}") for n in (16, 32, 64)},
}
"""What an operand of a type is seen as."""

Value = Any


def flushed(value: Value) -> Value:
    """Subnormal float32 as zeros of their sign."""
    tiny = np.abs(value) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), value), value)


# --- Arithmetic ----------------------------------------------------------------------------------


def shift_left(x: Value, by: Value) -> Value:
    width = 8 * x.dtype.itemsize
    small = np.minimum(by, width - 1).astype(x.dtype)
    return np.where(by < width, x << small, x.dtype.type(0))


def shift_right(x: Value, by: Value) -> Value:
    width = 8 * x.dtype.itemsize
    small = np.minimum(by, width - 1).astype(x.dtype)
    if x.dtype.kind == "i":
        return x >> small  # all of the sign, from the width on
    return np.where(by < width, x >> small, x.dtype.type(0))


def divide(x: Value, y: Value) -> Value:
    """Integers, towards zero; by zero all bits are set."""
    zero = y == 0
    divisor = np.where(zero, y.dtype.type(1), y)
    quotient = x // divisor
    if x.dtype.kind == "i":
        quotient = quotient + ((x % divisor != 0) & ((x < 0) != (divisor < 0)))
    return np.where(zero, ~x.dtype.type(0), quotient).astype(x.dtype)


def remainder(x: Value, y: Value) -> Value:
    zero = y == 0
    divisor = np.where(zero, y.dtype.type(1), y)
    rest = np.fmod(x, divisor)
    return np.where(zero, x, rest).astype(x.dtype)


def _minimum(x: Value, y: Value) -> Value:
    if x.dtype.kind != "f":
        return np.minimum(x, y)
    smaller = np.where((x < y) | ((x == y) & np.signbit(x)), x, y)
    return _without_nan(x, y, smaller)


def _maximum(x: Value, y: Value) -> Value:
    if x.dtype.kind != "f":
        return np.maximum(x, y)
    larger = np.where((x > y) | ((x == y) & ~np.signbit(x)), x, y)
    return _without_nan(x, y, larger)


def _without_nan(x: Value, y: Value, result: Value) -> Value:
    """The other operand of a NaN; of two NaN the canonical one."""
    nan = np.uint32(0x7FFFFFFF).view(np.float32) if x.dtype.itemsize == 4 else np.float64("nan")
    result = np.where(np.isnan(x), y, np.where(np.isnan(y), x, result))
    return np.where(np.isnan(x) & np.isnan(y), nan, result).astype(x.dtype)


def quieted(value: Value) -> Value:
    """Results that are NaN as NVIDIA's GPUs give them: float32 always as 0x7fffffff."""
    if value.dtype == np.float32:
        return np.where(np.isnan(value), np.uint32(0x7FFFFFFF).view(np.float32), value)
    return value


UNARY: dict[str, Callable[[Value], Value]] = {
    "not": np.invert,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "popc": lambda x: np.bitwise_count(x).astype(np.uint32),
    "ex2": lambda x: np.exp2(x.astype(np.float64)).astype(x.dtype),
    "lg2": lambda x: np.log2(x.astype(np.float64)).astype(x.dtype),
    "rcp": lambda x: (1 / x.astype(np.float64)).astype(x.dtype),
    "rsqrt": lambda x: (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype),
    "tanh": lambda x: np.tanh(x.astype(np.float64)).astype(x.dtype),
}
BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "add": np.add,
    "sub": np.subtract,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": _minimum,
    "max": _maximum,
    "copysign": lambda x, y: np.copysign(y, x),
}
BITWISE = ("not", "and", "or", "xor", "copysign", "neg", "abs", "popc", "min", "max")
_COMPARE: dict[str, Callable[[Value, Value], Value]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}


def compare(how: str) -> Callable[[Value, Value], Value]:
    """A comparison by its name; with a ``u`` at its end it holds for NaN, too."""
    if how in ("num", "nan"):
        wanted = how == "nan"
        return lambda x, y: (np.isnan(x) | np.isnan(y)) == wanted
    if how in _COMPARE:
        plain = _COMPARE[how]
        if how != "ne":
            return plain
        return lambda x, y: (x != y) & ~(_is_nan(x) | _is_nan(y))
    plain = _COMPARE[how.removesuffix("u")]
    return lambda x, y: plain(x, y) | _is_nan(x) | _is_nan(y)


def _is_nan(x: Value) -> Value:
    return np.isnan(x) if x.dtype.kind == "f" else np.bool(False)


def fused(x: Value, y: Value, z: Value, mode: str) -> Value:
    """x * y + z, rounded once. Float64 whose products may over- or underflow are rounded from the
    64 bits of an x87 register, which is enough where a tolerance is.
    """
    if x.dtype == np.float64:
        if mode != "rn":
            raise Unsupported(f"fma.{mode}.f64")
        return _fused_doubles(x, y, z)
    product = x.astype(np.float64) * y.astype(np.float64)
    total = product + z
    part = total - product
    lost = (product - (total - part)) + (z - part)
    bits = total.view(np.int64)
    inexact = (lost != 0) & np.isfinite(total)
    odd = np.where((lost > 0) == (total > 0), bits + 1, bits - 1)
    total = np.where(inexact & (bits & 1 == 0), odd, bits).view(np.float64)
    return rounded_to_single(total, mode)


def _fused_doubles(x: Value, y: Value, z: Value) -> Value:
    """Boldo and Melquiond's way, by sums and products that keep what they lose."""
    wide = (x.astype(np.longdouble) * y.astype(np.longdouble) + z).astype(np.float64)
    high, low = _whole_product(x, y)
    middle, lost = _whole_sum(z, low)
    first, rest = _whole_sum(high, middle)
    total, error = _whole_sum(lost, rest)
    bits = total.view(np.int64)
    toward = np.where((error > 0) == (total > 0), bits + 1, bits - 1)
    odd = np.where((error != 0) & (bits & 1 == 0), toward, bits).view(np.float64)
    large = np.maximum(np.abs(x), np.abs(y)) > 2.0**900
    size = np.abs(high)
    far = large | (size < 2.0**-900) | (size > 2.0**1000) | ~(np.abs(z) < 2.0**1000)
    return np.where(far | ((z != 0) & (np.abs(z) < 2.0**-900)), wide, first + odd)


def _whole_sum(x: Value, y: Value) -> tuple[Value, Value]:
    """A sum and what rounding took from it (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _whole_product(x: Value, y: Value) -> tuple[Value, Value]:
    """A product and what rounding took from it (Dekker, Veltkamp)."""
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(x: Value) -> tuple[Value, Value]:
    scaled = x * np.float64(2**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high


def directed(name: str, mode: str, x: Value, y: Value) -> Value:
    """A sum, difference or product, rounded otherwise than to nearest."""
    if name == "mul":
        return fused(x, y, np.copysign(x.dtype.type(0), x) * np.copysign(x.dtype.type(1), y), mode)
    return fused(x, x.dtype.type(1), y if name == "add" else -y, mode)


def rounded_to_single(total: Value, mode: str) -> Value:
    """A float64 as float32: to nearest, towards zero, down or up."""
    near = total.astype(np.float32)
    if mode == "rn":
        return near
    up = np.nextafter(near, np.float32(np.inf))
    down = np.nextafter(near, np.float32(-np.inf))
    above, below = near.astype(np.float64) > total, near.astype(np.float64) < total
    toward = {"rm": above, "rp": np.False_, "rz": above & (total > 0)}[mode]
    back = {"rm": np.False_, "rp": below, "rz": below & (total < 0)}[mode]
    return np.where(toward, down, np.where(back, up, near))


# --- Conversions ---------------------------------------------------------------------------------

_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def convert(value: Value, target: str, modes: list[str]) -> Value:
    """``cvt``."""
    to = np.dtype(VIEWS[target])
    integral = next((m for m in modes if m in _INTEGRAL), None)
    if value.dtype.kind != "f":
        if set(modes) - {"rn"}:
            raise Unsupported(f"cvt with {modes}")
        return value.astype(to)
    if to.kind == "f":
        if set(modes) - {"rn", "ftz", "sat", *_INTEGRAL}:
            raise Unsupported(f"cvt with {modes}")
        result = (_INTEGRAL[integral](value) if integral else value).astype(to)
        if "sat" in modes:
            result = np.where(result > 0, np.minimum(result, to.type(1)), to.type(0))
        return result
    if integral is None or set(modes) - {"ftz", integral}:
        raise Unsupported(f"cvt with {modes}")
    limits = np.iinfo(to)
    whole = _INTEGRAL[integral](value.astype(np.float64))
    above, below = whole >= 2.0 ** (limits.bits - (to.kind == "i")), whole < limits.min
    result = np.where(above | below | np.isnan(whole), 0, whole).astype(to)
    result = np.where(above, to.type(limits.max), np.where(below, to.type(limits.min), result))
    wide = value.dtype == np.float64 or limits.bits == 64
    nan = np.array(1 << limits.bits - 1 if wide else 0, f"u{to.itemsize}").view(to)[()]
    return np.where(np.isnan(whole), nan, result)


EIGHT_BITS = {"e4m3x2": ml_dtypes.float8_e4m3fn, "e5m2x2": ml_dtypes.float8_e5m2}


def convert_two(high: Value, low: Value, target: str, modes: list[str]) -> Value:
    """``cvt`` of two float32 to the halves of 16 bits; NaN is 0x7f."""
    if modes != ["rn", "satfinite"]:
        raise Unsupported(f"cvt with {modes}")
    largest = np.float32(ml_dtypes.finfo(EIGHT_BITS[target]).max)
    codes = []
    for value in (high, low):
        known = np.where(np.isnan(value), np.float32(0), np.clip(value, -largest, largest))
        code = known.astype(EIGHT_BITS[target]).view(np.uint8)
        codes.append(np.where(np.isnan(value), np.uint8(0x7F), code).astype(np.uint16))
    return codes[0] << np.uint16(8) | codes[1]


def high_half(a: Value, b: Value, width: int) -> Value:
    if width < 64:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        return ((a.astype(wide) * b.astype(wide)) >> wide(width)).astype(a.dtype)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> shift, b & low, b >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> shift) + (other >> shift)
