"""PyTorch's cast rule: ``Tensor.to`` on the CPU; 2.11 and 2.13 differ in one target.

Recorded: conformance/golden/casts, torch 2.13.0.
"""

from __future__ import annotations

from promoarray.kernels.cast_mode import DEFAULT, Beyond, ScaleNegative, ScaleZero, ToInteger
from promoarray.promotion.cast_quirks import (
    NARROW_FLOATS,
    RECORDED,
    SAID_BY_X86,
    lowest_scale_up,
    rounds_twice,
)
from promoarray.promotion.cast_rules import CastRule, case, dtypes
from promoarray.promotion.source import Note, Source

_TORCH = "torch 2.13.0, CPU"

TORCH_2_11 = CastRule(
    mode=DEFAULT._replace(
        to_integer=ToInteger.TORCH,
        scale_negative=ScaleNegative.ABSOLUTE,
        scale_zero=ScaleZero.SMALLEST,
    ),
    cases=(case("ints", "f8_e4m3fnuz f8_e5m2fnuz scale", to_integer=ToInteger.NUMPY),),
    quirks=(rounds_twice(_TORCH, f"{NARROW_FLOATS} f16 c32"), lowest_scale_up(_TORCH)),
    sources=(Source("torch.Tensor.to", RECORDED, _TORCH),),
    notes=(
        SAID_BY_X86,
        Note("float8_e8m0fnu takes the absolute value; 0 is its smallest scale.", dtypes("scale")),
        Note(
            "PyTorch has no casts to float6 and float4; here they are ml_dtypes'.",
            dtypes("float4 float6"),
            borrowed=True,
        ),
    ),
)

TORCH_2_13 = CastRule(
    mode=TORCH_2_11.mode,
    cases=(
        *TORCH_2_11.cases,
        case("f8_e4m3fn", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
    ),
    quirks=TORCH_2_11.quirks,
    sources=TORCH_2_11.sources,
    notes=(
        Note("float8_e4m3fn saturates, Inf too (2.11: NaN).", dtypes("f8_e4m3fn")),
        *TORCH_2_11.notes,
    ),
)
