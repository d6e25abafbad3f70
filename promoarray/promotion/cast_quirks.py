"""The cast rules of the frameworks, side by side; those of ONNX are in ``onnx_cast``.

What each does out of range, with its recorded answers in ``conformance/golden/casts``;
``docs/casts.md`` is a table made of these. Integers to narrower integers keep the low bits
everywhere, and to bool all but zero is true, NaN too.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.kernels.cast_mode import (
    DEFAULT,
    Beyond,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
)
from promoarray.promotion.cast_rules import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    Case,
    CastRule,
    Quirk,
    case,
    dtypes,
    no_complex_to_real,
)
from promoarray.promotion.cast_transforms import (
    LOWEST_NORMAL,
    Between,
    Flushed,
    NanIs,
    Through,
    by_halves,
    packed,
    packed_by_halves,
    paddle_2_float16,
    paddle_3_float16,
    real_part_counts,
    six_is_an_end,
    truncated_bfloat16,
)
from promoarray.promotion.policy import Source
from promoarray.promotion.source import Note

LARGEST = Beyond.LARGEST
RECORDED = "recorded in conformance/golden"
SAID_BY_X86 = Note(
    "What a float becomes in an integer that cannot hold it is undefined in C; here it"
    " is what the framework's build for x86-64 gives, on every machine.",
    INTEGER_DTYPES,
    of=FLOAT_DTYPES,
)

# -- quirks that several frameworks share ----------------------------------------------------------

_TWICE = "float4 float6 float8 scale bf16"
_LONG = "f64 c128 i32 u32 i64 u64"


def rounds_twice(source: str, to: str = _TWICE) -> Quirk:
    """Round to float32 on the way to a narrow float."""
    return Quirk(
        "rounds-twice",
        "a narrow float is made from float32: float64 and long integers are rounded twice",
        source,
        (case(to, _LONG, via_float32=True),),
    )


def lowest_scale_up(source: str) -> Quirk:
    """Round what lies just above the smallest scale up."""
    return Quirk(
        "lowest-scale-rounds-up",
        "what lies between 2**-127 and 2**-126 becomes 2**-126 in float8_e8m0fnu",
        source,
        (case("scale", scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP),),
    )


def _flushes(source: str, *others: Case) -> Quirk:
    return Quirk(
        "flushes-subnormals",
        "subnormals of float32 and float64, given or made, are zero on the CPU",
        source,
        (
            case("b1", "f32", transform=Flushed(LOWEST_NORMAL)),
            case("b1", "f64", transform=Flushed(2.0**-1022)),
            case("f64 c128", "f32 bf16 c64", transform=Flushed(LOWEST_NORMAL)),
            case("f32 bf16 c64", "f64 c128", transform=Flushed(LOWEST_NORMAL, made=True)),
            *others,
        ),
    )


# -- NumPy and the array API ----------------------------------------------------------------------

_ML_DTYPES = "ml_dtypes 0.6.0"
NUMPY = CastRule(
    quirks=(rounds_twice(_ML_DTYPES), lowest_scale_up(_ML_DTYPES)),
    sources=(
        Source("NumPy reference, numpy.ndarray.astype", RECORDED, "2.4"),
        Source("jax-ml/ml_dtypes, ml_dtypes/include/float8.h", RECORDED, "0.6.0"),
    ),
    notes=(
        SAID_BY_X86,
        Note(
            "For uint32 that is NumPy's vector loop; its plain one, which strided arrays and"
            " the last few elements take, gives other numbers.",
            dtypes("u32"),
        ),
        Note(
            "ml_dtypes asks its floats of 8 bits and fewer first: NaN is 0, Inf an end of the"
            " integer.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note(
            "float4 and float6 have no NaN: it becomes -0, and -NaN becomes 0.",
            dtypes("float4 float6"),
        ),
    ),
)

ARRAY_API = CastRule(
    refuses=no_complex_to_real,
    sources=(Source("Python array API standard", "astype", "2025.12"),),
    notes=(
        Note(
            "The standard leaves floats beyond an integer, NaN and Inf among them, and narrower"
            " integers to the library; here they are NumPy's.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        "Complex to real is refused, as the standard asks (astype).",
    ),
)

# -- JAX ------------------------------------------------------------------------------------------

_JAX = "jaxlib 0.10.2, CPU"
JAX = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.SATURATE),
    cases=(case("float4", keep_nan_sign=False),),
    quirks=(
        Quirk(
            "rounds-twice",
            "bfloat16, float16 and, from integers, the scale are made from float32: longer numbers"
            " are rounded twice (float8 and float4 are not)",
            _JAX,
            (
                case("bf16 f16", _LONG, via_float32=True),
                case("scale", "ints", via_float32=True),
            ),
        ),
        lowest_scale_up(_JAX),
        _flushes(_JAX, case("scale", "f64 c128", transform=Flushed(2.0**-127))),
        Quirk(
            "six-is-an-end",
            "6 and -6 of float4_e2m1fn become the ends of an integer dtype",
            _JAX,
            (case("int4 ints", "float4", transform=six_is_an_end),),
        ),
    ),
    sources=(Source("XLA, ConvertElementType", RECORDED, _JAX),),
    notes=(
        Note(
            "Floats beyond an integer saturate, and NaN is 0 (XLA).",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note("float4 has no NaN: it becomes -0.", dtypes("float4")),
    ),
)

# -- PyTorch --------------------------------------------------------------------------------------

_TORCH = "torch 2.13.0, CPU"
TORCH_2_11 = CastRule(
    mode=DEFAULT._replace(
        to_integer=ToInteger.TORCH,
        scale_negative=ScaleNegative.ABSOLUTE,
        scale_zero=ScaleZero.SMALLEST,
    ),
    cases=(case("ints", "f8_e4m3fnuz f8_e5m2fnuz scale", to_integer=ToInteger.NUMPY),),
    quirks=(rounds_twice(_TORCH, f"{_TWICE} f16 c32"), lowest_scale_up(_TORCH)),
    sources=(Source("torch.Tensor.to", RECORDED, _TORCH),),
    notes=(
        SAID_BY_X86,
        Note("float8_e8m0fnu takes the absolute value; 0 is its smallest scale.", dtypes("scale")),
        Note(
            "PyTorch has no casts to float6 and float4; here they are ml_dtypes'.",
            dtypes("float4 float6"),
        ),
    ),
)
TORCH_2_13 = CastRule(
    mode=TORCH_2_11.mode,
    cases=(*TORCH_2_11.cases, case("f8_e4m3fn", overflow=LARGEST, infinity=LARGEST)),
    quirks=TORCH_2_11.quirks,
    sources=TORCH_2_11.sources,
    notes=(
        Note("float8_e4m3fn saturates, Inf too (2.11: NaN).", dtypes("f8_e4m3fn")),
        *TORCH_2_11.notes,
    ),
)

# -- TensorFlow -----------------------------------------------------------------------------------

_SHORT = "float8 bf16 f16 f32 f64"
_TENSORFLOW = "tensorflow 2.21.0, CPU"
TENSORFLOW = CastRule(
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
        lowest_scale_up(_ML_DTYPES),
        _flushes(
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
        ),
    ),
)

# -- Paddle ---------------------------------------------------------------------------------------

_PADDLE_3 = "paddlepaddle 3.3.1, CPU"
_PADDLE_2 = "paddlepaddle 2.6.2, CPU"
PADDLE = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(case("f8_e4m3fn f8_e5m2", overflow=LARGEST, infinity=LARGEST),),
    sources=(Source("paddle.cast", RECORDED, _PADDLE_3),),
    notes=(
        SAID_BY_X86,
        Note("float8_e4m3fn and float8_e5m2 saturate, Inf too.", dtypes("f8_e4m3fn f8_e5m2")),
        Note(
            "Paddle has no other float8, float6, float4 and no integers of 2 and 4 bits; here"
            " they are ml_dtypes'.",
            dtypes("float8 float6 float4"),
        ),
    ),
)
_FLOATS = "float8 bf16 f16 f32 f64 c64 c128"
PADDLE_3_3 = CastRule(
    mode=PADDLE.mode,
    cases=PADDLE.cases,
    quirks=(
        rounds_twice(_PADDLE_3, f"{_TWICE} f16"),
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
            (case("f16", "float8 bf16 f32 f64 c64 c128", transform=paddle_3_float16),),
        ),
    ),
    sources=PADDLE.sources,
    notes=PADDLE.notes,
)
PADDLE_2_6 = CastRule(
    mode=PADDLE.mode,
    cases=PADDLE.cases,
    quirks=(
        rounds_twice(_PADDLE_2, f"{_TWICE} f16"),
        Quirk(
            "truncates-to-bfloat16",
            "bfloat16 is the upper half of the float32, not the nearest one (mended in 3.0)",
            _PADDLE_2,
            (case("bf16", transform=truncated_bfloat16),),
        ),
        Quirk(
            "truncates-to-float16",
            "float16 is truncated, and all above 65504 becomes Inf, where the build has no F16C",
            _PADDLE_2,
            (case("f16", transform=paddle_2_float16),),
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

# -- aclnn and MindSpore --------------------------------------------------------------------------

ACLNN = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.ACLNN),
    sources=(Source("Ascend aclnn documentation", "casts", "CANN 8.5"),),
    notes=(
        Note(
            "NaN is 0 in integers, floats overflow to Inf, integers keep the low bits"
            " (documented).",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note(
            "Floats to integers are the Ascend 950's: int32 and int64 saturate; int8 and int16"
            " keep the low bits of a saturated int32, unsigned integers those of a saturated"
            " int64.",
            dtypes("i8 i16 i32 i64"),
            of=FLOAT_DTYPES,
        ),
        "For the 910B overflow to 8 and 16 bits is not documented; the model is the 950's.",
        Note("Casts to float8 are not documented here; they are ml_dtypes'.", dtypes("float8")),
    ),
)

_MINDSPORE = "mindspore 2.10.0, CPU"
MINDSPORE = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(
        case("u32", "bf16 f16 f32 f64 c64 c128", transform=Through(dt.int64)),
        case("b1", "c64 c128", transform=real_part_counts),
    ),
    quirks=(rounds_twice(_MINDSPORE, f"{_TWICE} f16"),),
    sources=(Source("mindspore.Tensor.astype", RECORDED, _MINDSPORE),),
    notes=(
        SAID_BY_X86,
        Note("To uint32 floats go through int64.", dtypes("u32"), of=FLOAT_DTYPES),
        Note("A complex number becomes the bool of its real part.", dtypes("b1")),
        Note("MindSpore's CPU has no float8; here they are ml_dtypes'.", dtypes("float8")),
    ),
)
