"""Strings: what a text means as a number, and what a number is as text (ONNX Cast, opset 9 on).

A text is a decimal number, plain or scientific, or one of INF, Infinity and NaN in any case, with a
sign or without, and white space around it. Nothing else is: no hexadecimal, no underscores, no
digits of other scripts, nothing behind the number. Its exact value is rounded once.

Where ONNX leaves a case open, or its implementations differ, docs/strings.md says what is chosen
here and why. Source: ONNX Operators, Cast, opset 9 to 25: "Casting from string tensor in plain
(e.g., "3.14" and "1000") and scientific numeric representations (e.g., "1e-5" and "1E8") to float
types is supported ... "+INF" (and "INF"), "-INF", and "NaN" ... case-insensitive".
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import on_device
from promoarray.core import host
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.kernels.float_state import in_default_float_state
from promoarray.promotion.scalars import bounds

Buffer = np.ndarray[Any, Any]
NumericCast = Callable[[Buffer, DType, DType], Buffer]
on_cpu: NumericCast = on_device("cpu").cast
"""The cast between numbers where no policy's rule is asked for."""

# Possessive, so that a long text that is not a number costs no more than one that is.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_SPECIAL = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE | re.ASCII)


@in_default_float_state
def cast(buffer: Buffer, source: DType, target: DType, numeric: NumericCast = on_cpu) -> Buffer:
    """Cast strings to numbers, or numbers to strings; the policy has admitted it. ``numeric`` is
    the cast from float64 to the target by the policy's rule for values out of range.

    Raises ValueError if a text is not a number, with the first one and its index; OverflowError if
    a number does not fit an integer dtype.
    """
    if source is target:
        return buffer
    return read(buffer, target, numeric) if source is dt.string else written(buffer, source)


# -- text to number -------------------------------------------------------------------------------


def read(buffer: Buffer, target: DType, numeric: NumericCast = on_cpu) -> Buffer:
    """Cast an array of strings to a dtype of real numbers or bools."""
    if target.kind in INTEGERS:
        return numeric(*_integers(buffer, target), target)
    if target.kind is Kind.BOOL:
        return _filled(buffer, np.dtype(np.bool), _is_nonzero, target)
    exact = _to_nearest if target is dt.float64 else _to_odd
    values = _filled(buffer, np.dtype(np.float64), exact, target)
    return numeric(values, dt.float64, target)


def _integers(buffer: Buffer, target: DType) -> tuple[Buffer, DType]:
    """The integers of a buffer, checked to fit, in a dtype that every backend casts from."""
    low, high = bounds(target)

    def integer(text: str) -> int:
        value = _truncated(text)
        if value is None or not low <= value <= high:
            raise OverflowError(f"out of the range of {target.name}, {low} to {high}")
        return value

    wide = dt.uint64 if target.kind is Kind.UINT else dt.int64
    return _filled(buffer, wide.storage, integer, target), wide


def _filled(
    buffer: Buffer, storage: np.dtype[Any], value_of: Callable[[str], Any], target: DType
) -> Buffer:
    """Evaluate every text, or say which is the first that has no value."""
    texts = buffer.ravel().tolist()
    out = np.empty(len(texts), storage)
    for i, text in enumerate(texts):
        try:
            out[i] = value_of(_stripped(text))
        except (ValueError, OverflowError) as error:
            at = ", ".join(map(str, np.unravel_index(i, buffer.shape)))
            where = f" at [{at}]" if at else ""
            raise type(error)(
                f"string to {target.name}: {_shown(text)}{where} is {error}"
            ) from None
    return out.reshape(buffer.shape)


def _shown(text: object) -> str:
    return repr(text) if len(repr(text)) <= 60 else f"{str(text)[:56]!r}..."


def _stripped(text: object) -> str:
    """A text without the blanks around it, if it is a number or one of the special ones.

    Raises ValueError if it is not.
    """
    if isinstance(text, str):
        bare = text.strip()
        if _NUMBER.fullmatch(bare) or _is_special(bare):
            return bare
    raise ValueError("not a number: numbers are written as '3.14', '1e-5', 'INF', '-INF' or 'NaN'")


def _to_nearest(text: str) -> float:
    return float(text)


def _to_odd(text: str) -> float:
    """The float64 beside the exact value whose last bit is 1, unless a float64 is that value.

    It lies on the same side of every midpoint of a format with fewer bits, so rounding it to one is
    rounding the text (Boldo and Melquiond 2008). What is beyond the largest float64 stays finite,
    and what is below the least stays other than zero.
    """
    near = float(text)
    if near == 0:
        return math.copysign(math.ulp(0.0), near) if _has_digit(text) else near
    if math.isinf(near):
        return near if _is_special(text) else math.copysign(_LARGEST, near)
    if math.isnan(near) or struct.pack(">d", near)[-1] & 1:
        return near
    exact, found = Decimal(text), Decimal.from_float(near)
    if exact == found:
        return near
    return math.nextafter(near, math.inf if exact > found else -math.inf)


_LARGEST = math.nextafter(math.inf, 0.0)


def _truncated(text: str) -> int | None:
    """The number without its fraction; None if it is beyond every integer dtype."""
    if _is_special(text):
        raise ValueError("not an integer")
    near = float(text)
    if abs(near) > 2.0**66:
        return None
    return int(Decimal(text)) if near else 0


def _is_nonzero(text: str) -> bool:
    return _is_special(text) or _has_digit(text)


def _is_special(text: str) -> bool:
    return _SPECIAL.fullmatch(text) is not None


def _has_digit(text: str) -> bool:
    """Whether the number is other than zero, however small."""
    return any(c in "123456789" for c in re.split("[eE]", text)[0])


# -- number to text -------------------------------------------------------------------------------


def written(buffer: Buffer, source: DType) -> Buffer:
    """Write numbers as the shortest text that reads back as the same value of their dtype.

    Whole numbers have no point; what is below 1e-4, or 1e16 and above, is scientific. Bools are
    "1" and "0", the others "INF", "-INF" and "NaN".
    """
    if source.kind is Kind.BOOL:
        buffer, source = buffer.astype(np.uint8), dt.uint8
    values = host.decoded(buffer, source)
    if source.kind in INTEGERS:
        return values.astype(dt.string.storage)
    texts = [_text(x, source) for x in values.ravel().tolist()]
    return np.array(texts, dt.string.storage).reshape(buffer.shape)


def _text(value: float, dtype: DType) -> str:
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return f"{sign}INF"
    value = abs(value)
    if value == int(value) and value < 1e16:
        return f"{sign}{int(value)}"
    return sign + _laid_out(*_digits(value, dtype))


def _laid_out(digits: str, exponent: int) -> str:
    """Write ``d.ddd * 10**exponent``, plain as long as that is readable, as Python does."""
    if -4 <= exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if 0 <= exponent < 16:
        return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
    point = "." if len(digits) > 1 else ""
    return f"{digits[0]}{point}{digits[1:]}e{exponent:+03d}"


def _digits(value: float, dtype: DType) -> tuple[str, int]:
    """The fewest decimal digits that only this value of the dtype rounds to, and the exponent."""
    if dtype in (dt.float16, dt.float32, dt.float64):
        written = np.format_float_scientific(dtype.storage.type(value), trim="-")
        mantissa, _, exponent = written.partition("e")
        return mantissa.replace(".", ""), int(exponent)
    if dtype is dt.float8_e8m0fnu:
        return _all_digits(value)
    return _fewest_digits(value, dtype)


def _all_digits(value: float) -> tuple[str, int]:
    """Every digit: e8m0 may round up or down, and then only the value itself reads back as it."""
    _, digits, exponent = Decimal.from_float(value).as_tuple()
    text = "".join(map(str, digits))
    return text.rstrip("0"), int(exponent) + len(text) - 1


@cache
def _fewest_digits(value: float, dtype: DType) -> tuple[str, int]:
    low, high, closed = _neighbourhood(value, dtype)
    exact, top = Fraction(value), Decimal.from_float(value).adjusted()
    for last in range(top, top - 20, -1):
        unit = Fraction(10) ** last
        below = exact // unit
        for whole in sorted((below, below + 1), key=lambda n: abs(n * unit - exact)):
            if low < whole * unit < high or (closed and whole * unit in (low, high)):
                text = str(whole)
                return text.rstrip("0"), last + len(text) - 1
    raise AssertionError(f"{value!r} has no text in {dtype.name}")  # 19 digits tell all of them


def _neighbourhood(value: float, dtype: DType) -> tuple[Fraction, Fraction, bool]:
    """What rounds to a value: the midpoints to its neighbours, and whether they do too."""
    layout = dtype.format
    assert layout is not None
    lowest = 1 - layout.bias  # exponent of the subnormals
    exponent = max(math.frexp(value)[1] - 1, lowest)
    gap = Fraction(2) ** (exponent - layout.mantissa)
    narrower = value == math.ldexp(1.0, exponent) and exponent > lowest
    even = Fraction(value) / gap % 2 == 0
    return Fraction(value) - gap / (4 if narrower else 2), Fraction(value) + gap / 2, even
