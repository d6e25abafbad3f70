"""JAX's lattice with 32-bit defaults and no complex128: MLX's rule, tinygrad's and Keras'.

All dtypes of 64 bits are there, but nothing leads to them that did not begin with one: a Python
number, a quotient of integers and int64 with uint64 are of 32 bits.

Recorded: conformance/golden/mlx.txt, tinygrad.txt and keras_*.txt.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, DType, Kind
from promoarray.promotion.rules import Lattice, PromotionRule

# As `_type_promotion_lattice(strict=False)` of jax/_src/dtypes.py, but for what leads to c64.
_LATTICE = """
b1 -> i*
i* -> u8 i8
u8 -> i16 u16
u16 -> i32 u32
u32 -> i64 u64
u64 -> f*
i8 -> i16
i16 -> i32
i32 -> i64
i64 -> f*
f* -> bf16 f16 c*
bf16 -> f32
f16 -> f32
f32 -> f64 c64
f64 -> {double}
c* -> c64
c64 -> {pair}
"""
LATTICE = Lattice(_LATTICE.format(double="c64", pair=""))
LATTICE_C128 = Lattice(_LATTICE.format(double="c128", pair="c128"))

DTYPES = tuple(dtype for dtype in LATTICE.dtypes if not dtype.weak)

DEFAULTS = {
    dt.weak_bool: dt.bool,
    dt.weak_int: dt.int32,
    dt.weak_float: dt.float32,
    dt.weak_complex: dt.complex64,
}


def strongly(lattice: Lattice) -> PromotionRule:
    """Make the rule whose result has 32 bits where the lattice leaves it weak, before a third."""

    def promote(a: DType, b: DType) -> DType | None:
        common = lattice(a, b)
        return common if common is None or (a.weak and b.weak) else DEFAULTS.get(common, common)

    return promote


promote = strongly(LATTICE)

_NARROWED = {
    dt.int64: dt.int32,
    dt.uint64: dt.uint32,
    dt.float64: dt.float32,
    dt.complex128: dt.complex64,
}


def narrowed(dtype: DType) -> DType:
    """32 bits of 64 a part, as ``BIT64_TO_BIT32_DTYPE`` of Keras."""
    return _NARROWED.get(dtype, dtype)


PRINCIPLE = (
    "The lattice of JAX with all dtypes of 64 bits but complex128; what a Python number or a "
    "default decides has 32 bits."
)


def summed(dtype: DType) -> DType:
    """What a sum is in: bools and integers of fewer than 32 bits in 32 bits of their kind."""
    if dtype.kind not in BITS or dtype.bits > 32:
        return dtype
    return dt.uint32 if dtype.kind is Kind.UINT else dt.int32
