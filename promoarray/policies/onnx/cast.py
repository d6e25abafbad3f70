"""ONNX's Cast, by opset: its float8 tables, its attributes, its types, and what it leaves open.

Sources: ONNX Operators, Cast (the changelog has every version); the technical notes on float4,
float6 and int4 of onnx.ai. Two implementations answer where the text does not; where they part,
``NOTES`` says what was chosen, and their bugs are quirks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import (
    DEFAULT,
    Beyond,
    NanWithout,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
    Way,
)
from promoarray.promotion.cast_quirks import SAID_BY_X86, rounds_twice
from promoarray.promotion.cast_rules import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    ROUND_MODE,
    SATURATE,
    CastRule,
    Quirk,
    case,
    dtypes,
)
from promoarray.promotion.cast_transforms import (
    LOWEST_NORMAL,
    X86,
    Between,
    CodeIs,
    Codes,
    cast_codes,
    double,
    has_loop,
)
from promoarray.promotion.source import Note, Source

_ORT = "onnxruntime 1.31.1, CPU"
_REFERENCE = "onnx.reference 1.23.2"
_OFP8 = "f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz"
_FNUZ = "f8_e4m3fnuz f8_e5m2fnuz"


@has_loop(Way.TO_NEAREST_INTEGER)
def half_away(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Round half away from zero instead of truncating, then keep the low bits."""
    x = double(codes, source)
    few = np.abs(x) < 2.0**52
    inside = np.where(few, x, 0.0)
    exact = np.where(few, np.trunc(inside + np.copysign(0.5, inside)), x)
    return cast_codes(exact.view(np.uint64), dt.float64, target, X86)


QUIRKS = (
    rounds_twice(f"{_ORT}; {_REFERENCE}"),
    Quirk(
        "rounds-float16-twice",
        "float64 goes to float16 through float32",
        _ORT,
        (case("f16", "f64", via_float32=True),),
    ),
    Quirk(
        "infinity-to-fnuz-saturates",
        "with saturate, Inf becomes the largest value of the fnuz types before opset 24, too",
        f"{_ORT}; {_REFERENCE}",
        (case(_FNUZ, saturate=True, infinity=Beyond.LARGEST),),
    ),
    Quirk(
        "e4m3fn-480-to-496-is-448",
        "without saturate, what lies from 480 to 496 becomes 448 in float8_e4m3fn, not NaN",
        _ORT,
        (case("f8_e4m3fn", saturate=False, transform=Between(480.0, 0x7E, high=496.0)),),
    ),
    Quirk(
        "e5m2-61440-to-65536-is-nan",
        "without saturate, what lies from 61440 to 65536 becomes NaN in float8_e5m2, not Inf",
        _ORT,
        (case("f8_e5m2", saturate=False, transform=Between(61440.0, 0x7F, high=65536.0)),),
    ),
    Quirk(
        "rounds-to-4-bits",
        "floats to integers of 2 and 4 bits are rounded half away from zero, not truncated",
        _ORT,
        (case("int2 int4", "float8 scale bf16 f16 f32 f64", transform=half_away),),
    ),
    Quirk(
        "minus-zero-is-true",
        "-0 of float8_e4m3fn and float8_e5m2 is true, and 2**-127 of float8_e8m0fnu false",
        _ORT,
        (
            case("b1", "f8_e4m3fn f8_e5m2", transform=CodeIs(0x80, 1)),
            case("b1", "scale", transform=CodeIs(0, 0)),
        ),
    ),
    Quirk(
        "float4-nan-is-minus-zero",
        "NaN becomes -0 in float4e2m1, and -NaN becomes 0",
        _REFERENCE,
        (case("float4", nan_without=NanWithout.OPPOSITE_ZERO, keep_nan_sign=True),),
    ),
    Quirk(
        "small-floats-to-integers",
        "from floats of 8 bits and fewer NaN is 0, and Inf the largest or least integer",
        _REFERENCE,
        (case("int2 int4 ints", "float4 float6 float8 scale", to_integer=ToInteger.NUMPY),),
    ),
    Quirk(
        "scale-of-absolute-values",
        "float8e8m0 takes the absolute value, 0 is its smallest scale and Inf NaN, whatever"
        " saturate says",
        _REFERENCE,
        (
            case(
                "scale",
                scale_negative=ScaleNegative.ABSOLUTE,
                scale_zero=ScaleZero.SMALLEST,
                infinity=Beyond.NAN,
                scale_strict=False,
            ),
            case("scale", round_mode="nearest", scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP),
            case("scale", round_mode="up", transform=Between(2.0**-149, 1, high=LOWEST_NORMAL)),
        ),
    ),
    Quirk(
        "quantizes-float16-in-float32",
        "QuantizeLinear divides float16 in float32",
        "onnxruntime 1.32.0, CPU",
        (),
    ),
    Quirk(
        "quantizes-through-int32",
        "QuantizeLinear makes of Inf, NaN and what lies beyond int32 what x86 makes of it there",
        _REFERENCE,
        (),
    ),
)


VERSIONS = (1, 6, 9, 13, 19, 21, 23, 24, 25, 28)
"""The opsets in which Cast changed."""


NOTES = (
    Note(f"{SAID_BY_X86} (Cast: undefined.)", INTEGER_DTYPES, of=FLOAT_DTYPES),
    Note(
        "saturate is about float8, round_mode about float8e8m0; to other types they change"
        " nothing, as in ONNX.",
        dtypes("scale"),
    ),
    Note(
        "With saturate, opsets 19 to 23 send Inf to NaN in the fnuz types; 24 and later to"
        " the largest value.",
        dtypes("fnuz"),
    ),
    Note(
        "Without saturate, what is below -FLT_MAX becomes -NaN in E4M3FN, as -Inf does: the"
        " table's row for it prints NaN.",
        dtypes("f8_e4m3fn"),
    ),
    Note(
        "-NaN stays -NaN in E4M3FN and E5M2 with saturate, too, where the table has no row for it.",
        dtypes("f8_e4m3fn f8_e5m2"),
    ),
    Note(
        "A type's own values are not touched: Inf of E5M2 cast to E5M2 stays Inf, whatever"
        " saturate says.",
        dtypes("f8_e5m2"),
    ),
    Note(
        "float8e8m0: -0 is as 0. Negative numbers, which are undefined, are the smallest"
        " scale with saturate and NaN without; so is -Inf. What the two columns of the table"
        " say of a value out of range holds for every round_mode.",
        dtypes("scale"),
    ),
    Note(
        "float4e2m1 saturates, and NaN is 6 (onnx.ai/onnx/technical/float4, Cast). float6"
        " saturates, and NaN is -0 (onnx.ai/onnx/technical/float6).",
        dtypes("float4"),
    ),
    Note(
        "Floats to int4, uint4, int2 and uint2 are truncated and keep the low bits, as to"
        " every other integer; the note onnx.ai/onnx/technical/int4 speaks of rounding to"
        " the nearest even integer, which onnx.reference has given up and onnxruntime never"
        " did.",
        dtypes("int4 int2"),
        of=FLOAT_DTYPES,
    ),
    Note(
        "An integer becomes bool by zero or not; Cast's remark on truncating 36 to 1 is not"
        " followed.",
        dtypes("b1"),
    ),
)

_CASES = (
    case(_OFP8, saturate=True, overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
    case("scale", round_mode="up", scale_rounding=ScaleRounding.UP),
    case("scale", round_mode="down", scale_rounding=ScaleRounding.DOWN),
    case(
        "scale",
        saturate=True,
        overflow=Beyond.LARGEST,
        infinity=Beyond.LARGEST,
        scale_negative=ScaleNegative.SMALLEST,
        scale_zero=ScaleZero.SMALLEST,
    ),
    case("scale", saturate=False, scale_strict=True),
    case("float4 float6", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
    case("float4", nan_without=NanWithout.LARGEST, keep_nan_sign=False),
    case("int2 int4 ints", "scale", to_integer=ToInteger.NUMPY),
)
_FNUZ_BEFORE_24 = case(_FNUZ, saturate=True, infinity=Beyond.NAN)

KNOBS = {"saturate": (19, SATURATE), "round_mode": (24, ROUND_MODE)}
"""Cast's attributes besides the type, and the opset that brought each."""


def refuses(
    opset: int, first_admitted: Callable[[DType], int | None], source: DType, target: DType
) -> str | None:
    """Why Cast of an opset does not take a pair of types; None if it does."""
    since = {dtype: first_admitted(dtype) for dtype in (source, target)}
    never = [dtype.name for dtype, first in since.items() if first is None]
    if never:
        return f"Cast takes no {never[0]}, in any opset"
    missing = {dtype.name: first for dtype, first in since.items() if first and first > opset}
    if not missing:
        return None
    from_then = f"the pair is admitted from opset {max(missing.values())} on"
    return f"Cast of opset {opset} has no {' and no '.join(missing)}; {from_then}"


def cast_of(opset: int, first_admitted: Callable[[DType], int | None]) -> CastRule:
    """Cast of an opset: its attributes, tables and types.

    ``first_admitted`` answers the opset whose Cast first takes a dtype, or None.
    """
    version = max(v for v in VERSIONS if v <= opset)
    return CastRule(
        mode=DEFAULT._replace(to_integer=ToInteger.X86),
        cases=_CASES if opset >= 24 else (*_CASES, _FNUZ_BEFORE_24),
        knobs={name: knob for name, (since, knob) in KNOBS.items() if opset >= since},
        refuses=partial(refuses, opset, first_admitted),
        quirks=QUIRKS if opset >= 19 else QUIRKS[:2],
        sources=(
            Source("ONNX Operators", f"Cast-{version}", "1.23.2"),
            Source("onnx.ai/onnx/technical", "float4, float6 and int4"),
        ),
        notes=NOTES,
    )
