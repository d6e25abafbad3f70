"""Parts of cast rules that several frameworks share: quirks, notes, names of recordings.

A framework's own cast rule is beside its promotion rule, in ``promoarray.policies``;
``docs/casts.md`` is a table made of all of them. Integers to narrower integers keep the low bits
everywhere, and to bool all but zero is true, NaN too.
"""

from __future__ import annotations

from promoarray.kernels.cast_mode import ScaleRounding, ToInteger
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, Case, Quirk, case, dtypes
from promoarray.promotion.source import Note

RECORDED = "recorded in conformance/golden"
"""The section of a source whose answers were recorded, in ``conformance/golden/casts``."""

ML_DTYPES = "ml_dtypes 0.6.0"

SAID_BY_X86 = Note(
    "What a float becomes in an integer that cannot hold it is undefined in C; here it"
    " is what the framework's build for x86-64 gives, on every machine.",
    INTEGER_DTYPES,
    of=FLOAT_DTYPES,
)

IN_VECTORS = "f32 f64 bf16 scale c64 c128"
"""Dtypes that GCC's loops for Arm make integers of by vectors."""

SAID_BY_ARM = (
    Note(
        "What a float becomes in an integer that cannot hold it is undefined in C; here it is what"
        " the wheel for Linux on aarch64 gives in loops over vectors: Arm's conversions saturate at"
        " 32 or 64 bits, and the low bits are kept. NaN is 0.",
        INTEGER_DTYPES,
        of=FLOAT_DTYPES,
    ),
    Note(
        "float64 is converted to int64 first for all but uint64, float32 and bfloat16 to int32 for"
        " 8 and 16 bits; in all other pairs the conversion has the target's sign.",
        INTEGER_DTYPES,
        of=dtypes(IN_VECTORS),
    ),
)


def in_no_vector(source: str, *pairs: tuple[str, str]) -> Quirk:
    """Convert numbers alone, as a loop on Arm does what fills no vector."""
    return Quirk(
        "in-no-vector",
        "scalars, short arrays and the last elements of long ones, which fill no vector, are"
        " converted to 32 bits first (64 for integers of 64 bits), with the target's own sign",
        source,
        tuple(case(to, of, to_integer=ToInteger.ARM64_SCALAR) for to, of in pairs),
    )


LONG = "f64 c128 i32 u32 i64 u64"
"""Dtypes with more digits than float32."""

NARROW_FLOATS = "float4 float6 float8 scale bf16"


def rounds_twice(source: str, to: str = NARROW_FLOATS) -> Quirk:
    """Round to float32 on the way to a narrow float."""
    return Quirk(
        "rounds-twice",
        "float64 and long integers go through float32 to a narrow float, and are rounded twice",
        source,
        (case(to, LONG, via_float32=True),),
    )


def lowest_scale_up(source: str) -> Quirk:
    """Round what lies just above the smallest scale up."""
    return Quirk(
        "lowest-scale-rounds-up",
        "numbers between 2**-127 and 2**-126 become 2**-126 in float8_e8m0fnu",
        source,
        (case("scale", scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP),),
    )


def flushes_subnormals(source: str, *others: Case) -> Quirk:
    """Take subnormals of float32 and float64 for zero, in ``others``, too."""
    from promoarray.promotion.cast_transforms import LOWEST_NORMAL, Flushed  # NumPy has none

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
