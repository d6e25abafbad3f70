"""TensorFlow's cast rule: ``tf.cast`` on the CPU, as Eigen's vectors do it.

Recorded: conformance/golden/casts, tensorflow 2.21.0.
"""

from __future__ import annotations

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.promotion.cast_quirks import (
    ML_DTYPES,
    RECORDED,
    SAID_BY_X86,
    flushes_subnormals,
    lowest_scale_up,
    rounds_twice,
)
from promoarray.promotion.cast_rules import FLOAT_DTYPES, CastRule, case, dtypes
from promoarray.promotion.cast_transforms import (
    LOWEST_NORMAL,
    X86,
    Between,
    Codes,
    Flushed,
    Through,
    cast_codes,
    real_part_counts,
    single,
)
from promoarray.promotion.source import Note, Source


def packed(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A float goes through int32, whose lowest number stands for all it cannot hold; then saturate.

    That is how vectors of integers are packed on x86-64.
    """
    whole = cast_codes(codes, source, dt.int32, X86).view(np.int32)
    top = (1 << target.bits - (target.kind is Kind.INT)) - 1
    low = -top - 1 if target.kind is Kind.INT else 0
    return np.clip(whole, low, top).astype(np.int64).astype(out.dtype)


def packed_by_halves(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A float is packed to uint16, whose upper half is then taken for negative numbers."""
    half = packed(codes, source, dt.uint16, np.empty(0, np.uint16)).view(np.int16)
    return np.clip(half, 0, 255).astype(out.dtype)


def by_halves(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A short float goes through float32 to uint32."""
    return cast_codes(single(codes, source).view(np.uint32), dt.float32, target, X86)


_SHORT = "float8 bf16 f16 f32 f64"
_TENSORFLOW = "tensorflow 2.21.0, CPU"

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(
        case("i8 u8 i16 u16", "f16 bf16 f32 f64 c128", transform=packed),
        case("u8", "f16 f64 c128", transform=packed_by_halves),
        case("u32", "float8 f16", transform=by_halves),
        case("u32", "c128", transform=Through(dt.int64)),
        case("u32", f"{_SHORT} c64", transform=Between(2.0**32, 1 << 31, signed=False, exact=True)),
        case(
            "u64",
            f"{_SHORT} c64 c128",
            transform=Between(2.0**64, 1 << 63, signed=False, exact=True),
        ),
        case("b1", "c64 c128", transform=real_part_counts),
    ),
    quirks=(
        rounds_twice(_TENSORFLOW, "bf16 f16"),
        lowest_scale_up(ML_DTYPES),
        flushes_subnormals(
            _TENSORFLOW,
            case("b1", "c64", transform=Flushed(LOWEST_NORMAL)),
            case("b1", "c128", transform=Flushed(2.0**-1022)),
        ),
    ),
    sources=(Source("tf.cast", RECORDED, _TENSORFLOW),),
    notes=(
        SAID_BY_X86,
        Note(
            "To 8 and 16 bits floats go through int32, whose lowest number stands for all it"
            " cannot hold, and saturate then (Eigen's vectors). float16 and float64 to uint8 go"
            " through uint16, whose upper half is 0. (What is left over behind a thread's last"
            " whole vector keeps its low bits instead.)",
            dtypes("f16 f64 u8 u16 i32"),
            of=FLOAT_DTYPES,
        ),
        Note("A complex number becomes the bool of its real part.", dtypes("b1")),
        Note(
            "tf.cast reaches no fnuz float, scale, float6 or float4 on the CPU; here they are"
            " ml_dtypes'.",
            dtypes("fnuz scale float6 float4"),
            of=FLOAT_DTYPES,
            borrowed=True,
        ),
    ),
)
