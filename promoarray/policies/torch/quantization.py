"""PyTorch's quantization: ``quantize_per_tensor``, ``quantize_per_channel``, ``dequantize`` and
``fake_quantize_per_*_affine`` on the CPU.

Each multiplies by ``1 / scale`` in float32. The zero point is added before the sum is rounded, by
one fused step where there is one scale and the target has 8 bits; fake quantization adds it to the
rounded quotient. Recorded: conformance/golden/quantization, torch 2.13.0, x86-64 with AVX2.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.quantization import FLOATS, Faked, Quantization, Range, Rounding, Rounds
from promoarray.promotion.source import Source

_BYTES, _ALL = dtypes("i8 u8"), dtypes("*")
_ONE, _EITHER = (False,), (False, True)

QUANTIZATION = Quantization(
    title="torch.quantize_per_tensor and per_channel",
    given=frozenset({dt.float32}),
    scales=FLOATS,
    targets=dtypes("i8 u8 i32"),
    restored=frozenset({dt.float32}),
    ranged=(frozenset({dt.float32}), _BYTES),
    default=None,
    compute=dt.float32,
    multiplies=True,
    roundings=(
        Rounds("quantize", _ONE, _BYTES, Rounding(adds="fused", nan="highest")),
        Rounds("quantize", _EITHER, _BYTES, Rounding(adds="before", nan="zero")),
        Rounds("quantize", _EITHER, _ALL, Rounding(adds="before")),
        Rounds("fake_quantize", (True,), _ALL, Rounding(register=64)),
    ),
    axis=None,
    lacks={
        "block_size": "it has none",
        "saturate": "it quantizes to integers alone",
        "precision": "it computes in float32",
    },
    faked=Faked(
        "torch.fake_quantize_per_tensor_affine and per_channel",
        FLOATS,
        dtypes("int2 int4 i8 u8 i16 u16 i32"),
    ),
    range=Range(least=2.0**-23, rounds_quotient=True),
    sources=(
        Source(
            "torch.quantize_per_tensor, fake_quantize_per_tensor_affine",
            "recorded in conformance/golden",
            "torch 2.13.0, CPU",
        ),
    ),
)
