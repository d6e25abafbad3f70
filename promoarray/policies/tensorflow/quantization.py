"""TensorFlow's quantization: ``tf.raw_ops.UniformQuantize`` and ``UniformDequantize``, and
``tf.quantization.fake_quant_with_min_max_*`` on the CPU.

``UniformQuantize`` multiplies by ``1 / scale`` in float32, rounds halves up and adds the zero point
in int32, which wraps. The fake functions take a range: ``quantization_parameters`` has its scale
and zero point. Recorded: conformance/golden/quantization, tensorflow-cpu 2.21.0.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.quantization import Faked, Quantization, Range, Rounding, Rounds
from promoarray.promotion.source import Source

_SINGLE = frozenset({dt.float32})

QUANTIZATION = Quantization(
    title="UniformQuantize of TensorFlow",
    given=_SINGLE,
    scales=_SINGLE,
    targets=dtypes("i8 u8 i32"),
    restored=_SINGLE,
    ranged=(_SINGLE, dtypes("i8 u8 i4 u4 i16 u16")),
    default=None,
    compute=dt.float32,
    multiplies=True,
    roundings=(Rounds("quantize", (False, True), dtypes("*"), Rounding(halves="up", register=32)),),
    axis=None,
    lacks={
        "block_size": "it has none",
        "saturate": "it quantizes to integers alone",
        "precision": "it computes in float32",
    },
    faked=Faked(
        "tf.quantization.fake_quant_with_min_max_vars", _SINGLE, dtypes("int2 int4 i8 u8 i16 u16")
    ),
    shifted=True,
    range=Range(zero=False),
    sources=(
        Source(
            "tf.raw_ops.UniformQuantize, tf.quantization.fake_quant_with_min_max_vars",
            "recorded in conformance/golden",
            "tensorflow 2.21.0, CPU",
        ),
    ),
)
