"""JAX's cast rule: ``convert_element_type``, as XLA carries it out on the CPU.

Recorded: conformance/golden/casts, jaxlib 0.10.2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from promoarray.dtypes import DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.promotion.cast_quirks import LONG, RECORDED, flushes_subnormals, lowest_scale_up
from promoarray.promotion.cast_rules import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    CastRule,
    Quirk,
    case,
    dtypes,
)
from promoarray.promotion.cast_transforms import Codes, Flushed, real_part_counts
from promoarray.promotion.source import Note, Source


def six_is_an_end(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """The largest value of float4 is taken for an infinity: it becomes an end of the integers."""
    top = (1 << target.bits - (target.kind is Kind.INT)) - 1
    low = (1 << target.bits - 1) if target.kind is Kind.INT else 0
    ends = np.where(codes == 0xF, out.dtype.type(low), out)
    return np.where(codes == 0x7, out.dtype.type(top), ends)


_JAX = "jaxlib 0.10.2, CPU"

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.SATURATE),
    cases=(case("float4", keep_nan_sign=False),),
    quirks=(
        Quirk(
            "rounds-twice",
            "bfloat16, float16 and, from integers, the scale are made from float32: longer numbers"
            " are rounded twice (float8 and float4 are not)",
            _JAX,
            (case("bf16 f16", LONG, via_float32=True), case("scale", "ints", via_float32=True)),
        ),
        lowest_scale_up(_JAX),
        flushes_subnormals(_JAX, case("scale", "f64 c128", transform=Flushed(2.0**-127))),
        Quirk(
            "six-is-an-end",
            "6 and -6 of float4_e2m1fn become the largest and the least number of an integer dtype",
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

CASTS_OF_LAX = replace(
    CASTS,
    cases=(*CASTS.cases, case("b1", "c64 c128", transform=real_part_counts)),
    notes=(
        *CASTS.notes,
        Note(
            "lax.convert_element_type drops the imaginary part on the way to bool as well, where"
            " jax.numpy's astype asks whether the number is 0.",
            dtypes("b1"),
            of=dtypes("c64 c128"),
        ),
    ),
)
