"""Paddle's cast rule: ``paddle.cast`` as it is meant, and the bugs of the wheels 3.3 and 2.6.

Recorded: conformance/golden/casts, paddlepaddle 3.3.1 and 2.6.2.
"""

from __future__ import annotations

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import DEFAULT, Beyond, ToInteger, Way
from promoarray.promotion.cast_quirks import NARROW_FLOATS, RECORDED, SAID_BY_X86, rounds_twice
from promoarray.promotion.cast_rules import CastRule, Quirk, case, dtypes
from promoarray.promotion.cast_transforms import (
    Between,
    Codes,
    NanIs,
    cast_codes,
    has_loop,
    rounded,
    sign_bits,
    single,
)
from promoarray.promotion.source import Note, Source


@has_loop(Way.UPPER_HALF)
def truncated_bfloat16(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """The upper half of the float32, without rounding."""
    bits = single(codes, source).view(np.uint32)
    return (bits >> np.uint32(16)).astype(np.uint16)


@has_loop(Way.TOWARDS_ZERO)
def truncated_float16(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Truncate, and let all above 65504 be Inf (2.6)."""
    x = single(codes, source)
    size = np.abs(rounded(codes, source))
    down = cast_codes(size.view(np.uint64), dt.float64, dt.float16)
    above = cast_codes(down, dt.float16, dt.float64).view(np.float64) > size
    down = np.where(above & np.isfinite(size), down - np.uint16(1), down)
    down = np.where(size > 65504.0, np.uint16(0x7C00), down)
    return np.where(np.isnan(x), out, down | sign_bits(codes, source, target))


_PRECISION, _MANTISSA = 40, 53


@has_loop(Way.SHIFTED_TOO_FAR)
def float16_of_tiny_numbers(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Shift the significands of tiny numbers by too much, which x86-64 takes modulo 64 (3.3)."""
    bits = single(codes, source).view(np.uint32).astype(np.uint64)
    exponent = bits >> np.uint64(23) & np.uint64(0xFF)
    significand = bits & np.uint64(0x7FFFFF) | np.uint64(0x800000)
    shift = (np.uint64(113) - exponent) & np.uint64(63)
    wide = significand << np.uint64(_PRECISION) >> shift
    odd = wide >> np.uint64(_MANTISSA) & np.uint64(1)
    half = np.uint64((1 << _MANTISSA - 1) - 1)
    code = (wide + half + odd >> np.uint64(_MANTISSA)).astype(np.uint16)
    tiny = exponent < np.uint64(113 - 63)
    return np.where(tiny, code | sign_bits(codes, source, target), out)


_PADDLE_3 = "paddlepaddle 3.3.1, CPU"
_PADDLE_2 = "paddlepaddle 2.6.2, CPU"
_FLOATS = "float8 bf16 f16 f32 f64 c64 c128"

PADDLE = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(case("f8_e4m3fn f8_e5m2", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),),
    sources=(Source("paddle.cast", RECORDED, _PADDLE_3),),
    notes=(
        SAID_BY_X86,
        Note("float8_e4m3fn and float8_e5m2 saturate, Inf too.", dtypes("f8_e4m3fn f8_e5m2")),
        Note(
            "Paddle has no other float8, float6, float4 and no integers of 2 and 4 bits; here"
            " they are ml_dtypes'.",
            dtypes("float8 scale float6 float4 int2 int4") - dtypes("f8_e4m3fn f8_e5m2"),
            borrowed=True,
        ),
    ),
)

PADDLE_3_3 = CastRule(
    mode=PADDLE.mode,
    cases=PADDLE.cases,
    quirks=(
        rounds_twice(_PADDLE_3, f"{NARROW_FLOATS} f16"),
        Quirk(
            "nan-to-e4m3fn-is-448",
            "NaN becomes 448 in float8_e4m3fn, with its sign",
            _PADDLE_3,
            (case("f8_e4m3fn", _FLOATS, transform=NanIs(0x7E)),),
        ),
        Quirk(
            "e4m3fn-464-to-480-is-nan",
            "what lies between 464 and 480 becomes NaN in float8_e4m3fn, though 480 becomes 448",
            _PADDLE_3,
            (case("f8_e4m3fn", transform=Between(464.00003, 0x7F, high=480.0)),),
        ),
        Quirk(
            "e5m2-61440-to-65536-is-inf",
            "what lies from 61440 to 65536 becomes Inf in float8_e5m2, though 65536 becomes 57344",
            _PADDLE_3,
            (case("f8_e5m2", transform=Between(61440.0, 0x7C, high=65536.0)),),
        ),
        Quirk(
            "float16-of-tiny-numbers",
            "numbers below 2**-88 are taken for 2**64 times as much in float16",
            _PADDLE_3,
            (case("f16", "float8 bf16 f32 f64 c64 c128", transform=float16_of_tiny_numbers),),
        ),
    ),
    sources=PADDLE.sources,
    notes=PADDLE.notes,
)

PADDLE_2_6 = CastRule(
    mode=PADDLE.mode,
    cases=PADDLE.cases,
    quirks=(
        rounds_twice(_PADDLE_2, f"{NARROW_FLOATS} f16"),
        Quirk(
            "truncates-to-bfloat16",
            "bfloat16 is the upper half of the float32, not the nearest one (fixed in 3.0)",
            _PADDLE_2,
            (case("bf16", transform=truncated_bfloat16),),
        ),
        Quirk(
            "truncates-to-float16",
            "float16 is truncated, and all above 65504 becomes Inf, where the build has no F16C",
            _PADDLE_2,
            (case("f16", transform=truncated_float16),),
        ),
    ),
    sources=(Source("paddle.cast", RECORDED, _PADDLE_2), *PADDLE.sources),
    notes=(
        Note(
            "Paddle 2.6 casts from and to no float8; here they are those of 3.3.", dtypes("float8")
        ),
        *PADDLE.notes,
    ),
)
