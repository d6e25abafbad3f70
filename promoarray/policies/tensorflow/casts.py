"""TensorFlow's cast rule: ``tf.cast`` on the CPU, as Eigen's vectors do it.

Recorded: conformance/golden/casts, tensorflow 2.21.0.
"""

from __future__ import annotations

from promoarray import dtypes as dt
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
from promoarray.promotion.cast_transforms import LOWEST_NORMAL, Flushed, Through, real_part_counts
from promoarray.promotion.source import Note, Source

_SHORT = "float8 bf16 f16 f32 f64"
_TENSORFLOW = "tensorflow 2.21.0, CPU"

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(
        case("i8 u8 i16 u16", "f16 bf16 f32 f64 c128", to_integer=ToInteger.TENSORFLOW),
        case("u32", f"{_SHORT} c64", to_integer=ToInteger.TENSORFLOW),
        case("u64", f"{_SHORT} c64 c128", to_integer=ToInteger.TENSORFLOW),
        case("u32", "c128", transform=Through(dt.int64)),
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
            "Floats become integers of 8 and 16 bits in two steps (Eigen's vectors): int32, where"
            " all that is out of range becomes the lowest number, then a saturating cast. float16"
            " and float64 become uint8 through uint16, whose upper half is 0. (The last elements of"
            " a thread, which fill no vector, keep their low bits instead.)",
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
