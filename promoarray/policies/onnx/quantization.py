"""ONNX's QuantizeLinear and DequantizeLinear, by opset.

Source: ONNX Operators and its changelog, onnx 1.23.2; tests hold the types against the schemas in
conformance/golden/onnx.txt. What NaN becomes in an integer the text leaves open: here the lowest
one, as in onnxruntime. Where the two implementations part from the text, quirks of Cast's rule say
so.
"""

from __future__ import annotations

from collections.abc import Callable

from promoarray import dtypes as dt
from promoarray.dtypes import DType
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.quantization import Quantization, Rounding, Rounds
from promoarray.promotion.source import Source

VERSIONS = (10, 13, 19, 21, 23, 24, 25, 28)
"""The opsets in which the two operators changed."""

# Types by the opset that brought them, as in ``operators``.
GIVEN = "10 f32 i32  19 f16 bf16"
SCALES = "10 f32  19 f16 bf16 i32  24 f8_e8m0fnu"
TARGETS = "10 i8 u8  19 fp8  21 i16 u16 i4 u4  23 f4_e2m1fn  25 i2 u2  28 fp6"
RESTORED = "10 f32  19 f16 bf16"

ATTRIBUTES = {"axis": 13, "saturate": 19, "block_size": 21, "precision": 23}
"""The opset that brought each."""


def quantization_of(opset: int, admitted: Callable[[str, int], tuple[DType, ...]]) -> Quantization:
    """The two operators of an opset; ``admitted`` reads the types of a history."""
    version = max((v for v in VERSIONS if v <= opset), default=0)
    lacks = {
        name: f"onnx@{since} and later have it"
        for name, since in ATTRIBUTES.items()
        if opset < since
    }
    both = f"QuantizeLinear-{version}, DequantizeLinear-{version}"
    return Quantization(
        title=f"QuantizeLinear of opset {opset}" if version else "ONNX before opset 10",
        given=frozenset(admitted(GIVEN, opset)),
        scales=frozenset(admitted(SCALES, opset)),
        targets=frozenset(admitted(TARGETS, opset)),
        restored=frozenset(admitted(RESTORED, opset)),
        ranged=(frozenset({dt.float32}), frozenset({dt.uint8} if opset >= 11 else ())),
        one_type=19 <= opset < 23,
        own_zero_points=True,
        lacks=lacks | {"limits": "no opset has it"},
        quirks={
            "quantizes-float16-in-float32": {"divides": dt.float32},
            "quantizes-through-int32": {
                "roundings": (
                    Rounds("quantize", (False, True), dtypes("*"), Rounding(register=32)),
                )
            },
        },
        sources=(Source("ONNX Operators", both, "1.23.2"),),
    )
