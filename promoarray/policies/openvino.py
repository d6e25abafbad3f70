"""OpenVINO 2026.4 on the CPU, x86-64: ONNX's operators in float32 and int32, 8 bits saturated.

Asked of openvino 2026.4.1, device CPU, ``INFERENCE_PRECISION_HINT`` f32, by models of one node of
opset 25 (conformance/oracles/onnx_runtimes.py); conformance/golden/runtimes holds the answers. The
plugin computes what is float64 in float32, and what is int64, uint64 or uint32 in int32, of which
a maintainer says that i64 is not supported there (openvinotoolkit/openvino#24072). Its bugs are
quirks of Cast, on here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import Beyond, ScaleRounding
from promoarray.policies._onnx_runtimes import lacking, runtime
from promoarray.policies.onnx.operators import of_opset
from promoarray.promotion.cast_rules import Quirk, case, dtypes
from promoarray.promotion.cast_transforms import (
    LOWEST_NORMAL,
    Between,
    Codes,
    Flushed,
    NanIs,
    Through,
    double,
)
from promoarray.promotion.plan import Plan
from promoarray.promotion.policy import Policy
from promoarray.promotion.quantization import Rounding, Rounds
from promoarray.promotion.source import Source

EDITIONS = ("2026.4",)

OPSET = 25
ASKED = "openvino 2026.4.1, CPU"

LACKS = """
Identity Cast DequantizeLinear | f8_e4m3fnuz f8_e5m2fnuz u2 i2 f6_e2m3fn f6_e3m2fn
QuantizeLinear | f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz f4_e2m1fn u2 i2 f6_e2m3fn f6_e3m2fn
Det | f16 bf16 f32 f64
"""

LARGEST_FLOAT32 = 0x47EFFFFFE0000000
"""Its code in float64."""

COMPUTED_IN = {dt.int64: dt.int32, dt.uint64: dt.int32, dt.uint32: dt.int32, dt.float64: dt.float32}
"""What the plugin makes of wide types on their way in."""

IN_FLOAT32 = frozenset(
    {"divide", "remainder", "fmod", "pow", "matmul", "sum", "mean", "max", "min"}
)
"""Functions of which integers are computed in float32."""

OF_INT8 = {"divide": "int8_divide", "remainder": "int8_remainder"}


def narrow(name: str, plan: Plan) -> Plan:
    """Compute in int32 and float32 what is wider, and integers where they are in float32."""
    inputs = tuple(COMPUTED_IN.get(dtype, dtype) for dtype in plan.inputs)
    if name == "positive" and dt.int64 not in plan.inputs:  # Identity passes on what it is given
        return plan
    compute = plan.compute and COMPUTED_IN.get(plan.compute, plan.compute)
    if name == "pow" and plan.inputs[1].kind is Kind.FLOAT:  # an int64 is not an int32 first
        inputs = (dt.float32, inputs[1])
    if name in IN_FLOAT32 and plan.inputs[0].kind in INTEGERS:
        compute = dt.float32
    kernel = OF_INT8.get(name, "") if dt.int8 in plan.inputs else plan.kernel
    return plan._replace(inputs=inputs, compute=compute, kernel=kernel)


# --- Casts ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outside(Between):
    """What lies at ``low`` or above it becomes ``code``, at ``-low`` or below it ``below``.

    None leaves what the kernel gave. Negative codes are of the target's width.
    """

    below: int | None = None
    nan: int | None = None

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        x = double(codes, source)
        for where, code in (
            (x >= self.low, self.code),
            (x <= -self.low, self.below),
            (np.isnan(x), self.nan),
        ):
            if code is not None:
                width = (1 << 8 * out.dtype.itemsize) - 1
                out = np.where(where, out.dtype.type(code & width), out)
        return out


KEPT: Any = None
LOWEST, HIGHEST = -(2**31), 2**31 - 1


def largest_for_infinity(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Take an infinity for the largest number of float16, then go through int32."""
    x = double(codes, source)
    finite = np.where(x > 65504.0, 65504.0, np.where(x < -65504.0, -65504.0, x))
    return Through(dt.int32)(finite.view(np.uint64), dt.float64, target, out)


QUIRKS = (
    Quirk(
        "saturate-is-ignored",
        "Cast to float8 never saturates: what lies beyond is NaN in float8_e4m3fn and Inf in"
        " float8_e5m2",
        ASKED,
        (case("f8_e4m3fn f8_e5m2", saturate=True, overflow=Beyond.INF, infinity=Beyond.INF),),
    ),
    Quirk(
        "wide-integers-through-int32",
        "floats become int64, uint64 and uint32 through int32, whose lowest number stands for all"
        " that lies beyond (openvinotoolkit/openvino#35896); Inf of float16 is 65504",
        ASKED,
        (
            case(
                "i64 u64 u32",
                "f32 bf16 float8",
                transform=Outside(2.0**31, LOWEST, below=LOWEST, nan=LOWEST),
            ),
            case("i16 u16 i32 u32 i64 u64", "f16", transform=largest_for_infinity),
        ),
    ),
    Quirk(
        "float64-saturates",
        "float64 becomes an integer through a saturated int32, and saturates in int8 and uint8",
        ASKED,
        (
            case(
                "i16 u16 i32 u32 i64 u64",
                "f64",
                transform=Outside(2.0**31, HIGHEST, below=LOWEST, nan=LOWEST),
            ),
            case("i8", "f64", transform=Outside(128.0, 127, below=-128, nan=0)),
            case("u8", "f64", transform=Outside(256.0, 255, below=0, nan=0)),
            case("u8", "f64", transform=Outside(1.0, KEPT, below=0)),
        ),
    ),
    Quirk(
        "float64-is-float32",
        "float64 has the values of float32, and Inf becomes the largest of them"
        " (openvinotoolkit/openvino#37968)",
        ASKED,
        (
            case("f64", "f32 bf16 f16 f8_e5m2", transform=Between(math.inf, LARGEST_FLOAT32)),
            case("f32", "f64", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
        ),
    ),
    Quirk(
        "nan-is-false",
        "NaN is false (openvinotoolkit/openvino#35932), and so is an int32 of -2**31 and a uint32"
        " from 2**31 on",
        ASKED,
        (
            case("b1", "f16 bf16 f32 f64", transform=NanIs(0, signed=False)),
            case("b1", "i32", transform=Outside(2.0**31, KEPT, below=0)),
            case("b1", "u32", transform=Outside(2.0**31, 0)),
        ),
    ),
    Quirk(
        "scales-round-to-nearest",
        "float8_e8m0fnu is rounded to nearest, whatever round_mode says",
        ASKED,
        (case("scale", scale_rounding=ScaleRounding.NEAREST),),
    ),
    Quirk(
        "flushes-bfloat16",
        "subnormals of float32 become zero in bfloat16",
        ASKED,
        (case("bf16", "f32", transform=Flushed(LOWEST_NORMAL)),),
    ),
)

NO_CAST = (
    ("b1 int4 scale float4", "f8_e4m3fn f8_e5m2"),
    ("scale float4", "b1 ints f64"),
    ("b1 int4 ints float8 float4", "scale"),
)
"""Targets and sources without a kernel."""


def edition(edition: str) -> Policy:
    """OpenVINO ``2026.4``."""
    theirs = ("rounds-twice", "rounds-float16-twice", "rounds-to-4-bits")
    eight_bits = ("add", "subtract", "multiply", "negative", "abs")
    return runtime(
        f"openvino@{edition}",
        f"OpenVINO {edition}",
        OPSET,
        lacking(LACKS),
        on=(*theirs, *(quirk.name for quirk in QUIRKS)),
        quirks=QUIRKS,
        narrow=narrow,
        no_cast=NO_CAST,
        kernels={
            **{name: (f"saturating_{name}",) for name in eight_bits},
            "bitwise_left_shift": ("times_power_of_two",),
            "bitwise_right_shift": ("over_power_of_two",),
            "exp": ("infinite_exp",),
            "greater": ("not_less_equal",),
            "greater_equal": ("not_less",),
        },
        quantization=replace(
            of_opset(OPSET).quantization,
            roundings=(
                Rounds("quantize", (False, True), dtypes("*"), Rounding(adds="before", nan="zero")),
            ),
        ),
        principle="ONNX's: no promotion. Computed in float32 and int32.",
        sources=(
            Source(ASKED, "one-node models, opset 25, INFERENCE_PRECISION_HINT f32"),
            Source("ONNX Operators (Operators.md, Changelog.md)", "type constraints", "1.23.2"),
        ),
        notes=(
            "int64, uint64 and uint32 are computed in int32, float64 in float32"
            " (openvinotoolkit/openvino#35823, #24072).",
            "Casts between int64, uint64 and uint32, and of these to bool, keep the low half there;"
            " here they are ONNX's.",
            "int8 and uint8 saturate in +, -, *, unary - and abs"
            " (openvinotoolkit/openvino#35647, #35639, #33518).",
            "A shift multiplies by a power of two or divides by it, in the dtype.",
            "NaN is greater than every number (openvinotoolkit/openvino#31196, #35927).",
            "QuantizeLinear adds the zero point before it rounds, so halves go elsewhere"
            " (microsoft/onnxruntime#25045).",
        ),
    )
