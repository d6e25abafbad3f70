"""PyTorch: three ranks of operands, and a table that never widens a category it need not.

Operands are sorted into arrays, 0-d arrays and Python scalars ("wrapped numbers"). Each rank is
promoted by the table among itself; a lower rank then changes the result only where its *category*
(bool, integer, float, complex) is higher. So ``int8[2] + int64[]`` is int8 and ``int8[2] + 1.5`` is
float32, the default dtype.

Sources: PyTorch's documentation, torch.Tensor attributes, "Type Promotion"; the table and the ranks
are `promoteTypes` in c10/core/ScalarType.cpp and `result_type` in
aten/src/ATen/native/TypeProperties.cpp. Recorded: conformance/golden/torch.txt, 2.13.0 on CPU.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.promotion.ranks import LowestFirst
from promoarray.promotion.rules import Table
from promoarray.promotion.scalars import NARROW

# c10/core/ScalarType.cpp, promoteTypes, in upstream's order (u1 i1 ... there, by bytes).
TABLE = Table("""
      u8    i8    i16   i32   i64   f16   f32   f64   c32   c64   c128  b1    bf16
u8    u8    i16   i16   i32   i64   f16   f32   f64   c32   c64   c128  u8    bf16
i8    i16   i8    i16   i32   i64   f16   f32   f64   c32   c64   c128  i8    bf16
i16   i16   i16   i16   i32   i64   f16   f32   f64   c32   c64   c128  i16   bf16
i32   i32   i32   i32   i32   i64   f16   f32   f64   c32   c64   c128  i32   bf16
i64   i64   i64   i64   i64   i64   f16   f32   f64   c32   c64   c128  i64   bf16
f16   f16   f16   f16   f16   f16   f16   f32   f64   c32   c64   c128  f16   f32
f32   f32   f32   f32   f32   f32   f32   f32   f64   c64   c64   c128  f32   f32
f64   f64   f64   f64   f64   f64   f64   f64   f64   c128  c128  c128  f64   f64
c32   c32   c32   c32   c32   c32   c32   c64   c128  c32   c64   c128  c32   c64
c64   c64   c64   c64   c64   c64   c64   c64   c128  c64   c64   c128  c64   c64
c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
b1    u8    i8    i16   i32   i64   f16   f32   f64   c32   c64   c128  b1    bf16
bf16  bf16  bf16  bf16  bf16  bf16  f32   f32   f64   c64   c64   c128  bf16  bf16
""")

SHELLS = frozenset({dt.uint2, dt.uint4, dt.uint16, dt.uint32, dt.uint64})
"""What upstream calls barebones unsigned types: below any float, and beside everything else."""

FLOATS = (dt.bfloat16, dt.float16, dt.float32, dt.float64)

DTYPES = (
    *TABLE.dtypes,
    *(dt.int2, dt.int4, dt.uint2, dt.uint4, dt.uint16, dt.uint32, dt.uint64),
    *(dt.float8_e4m3fn, dt.float8_e4m3fnuz, dt.float8_e5m2, dt.float8_e5m2fnuz),
    dt.float8_e8m0fnu,
)


_HAS = frozenset(DTYPES)  # a tuple would compare each with ``==``, written in Python


def promote(a: DType, b: DType) -> DType | None:
    """Common dtype of two; weak ones count as wrapped numbers."""
    if a.weak is not b.weak:
        return combine(b, NARROW[a]) if a.weak else combine(a, NARROW[b])
    a, b = NARROW.get(a, a), NARROW.get(b, b)
    if a in SHELLS and b in FLOATS:
        return b
    if b in SHELLS and a in FLOATS:
        return a
    return TABLE(a, b) if a in _HAS else None


def combine(higher: DType, lower: DType) -> DType | None:
    """Let a lower rank raise the category of a higher one (`combine_categories` upstream)."""
    if higher.kind is Kind.COMPLEX:
        return higher
    if higher.kind is Kind.FLOAT:
        return higher.complexified if lower.kind is Kind.COMPLEX else higher
    if higher is dt.bool or lower.kind is Kind.FLOAT:
        return promote(higher, lower)
    return lower if lower.kind is Kind.COMPLEX else higher


by_ranks = LowestFirst(lambda policy, higher, lower: combine(higher, lower), strong=True)
"""Each rank is promoted among itself, then the lower ones raise the category."""

REFUSAL = (
    "uint16, uint32, uint64, uint2 and uint4 promote only with floats, and float8 dtypes, int2 and"
    " int4 with nothing but themselves (promoteTypes in c10/core/ScalarType.cpp)"
)


def can_cast(source: DType, target: DType) -> bool:
    """Allow all but complex to real, float to integer, and anything to bool (`canCast`).

    Upstream's `isIntegralType` does not know the 2- and 4-bit integers: a float goes into them.
    """
    if target.kind is Kind.COMPLEX or source is target:
        return True
    if source.kind is Kind.COMPLEX or target is dt.bool:
        return False
    return source.kind is not Kind.FLOAT or target.kind is Kind.FLOAT or target.bits < 8
