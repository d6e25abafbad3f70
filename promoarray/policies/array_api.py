"""The array API standard: what it defines, and nothing else.

Dtypes promote within their kind, floats also with complex dtypes; everything the standard leaves
undefined (mixed kinds, uint64 with signed integers, bool arithmetic, functions outside their
domain) is refused, so code that runs under this policy is portable to every conforming library.

Source: Python array API standard 2025.12, "Type Promotion Rules" and the functions' own pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, REALS, STANDARD, WEAK, DType, Kind
from promoarray.operations import Family
from promoarray.promotion.cast_rules import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    CastRule,
    dtypes,
    no_complex_to_real,
)
from promoarray.promotion.linalg_rules import linear
from promoarray.promotion.policy import Policy
from promoarray.promotion.rules import Lattice
from promoarray.promotion.scalars import WIDE, Scalars, in_range, passing
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import Stored, held
from promoarray.promotion.type_rules import TypeRule, to_bool
from promoarray.promotion.type_steps import always, component, supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule

# "Type promotion diagram": the dashed lines, which lead out of Python scalars, are `promote` below.
LATTICE = Lattice("""
b1 ->
i8 -> i16
i16 -> i32
i32 -> i64
i64 ->
u8 -> u16 i16
u16 -> u32 i32
u32 -> u64 i64
u64 ->
f32 -> f64 c64
f64 -> c128
c64 -> c128
""")


def promote(a: DType, b: DType) -> DType | None:
    """Promote two dtypes; a Python scalar takes the array's dtype, if the kinds allow that.

    A bool goes with bool arrays, an int with integers and floats, a float with floats, a complex
    with complex arrays and, since 2024.12, with floats of the same precision.
    """
    if a.weak and b.weak:
        return a if a is b else None if dt.weak_bool in (a, b) else max(a, b, key=_category)
    if not a.weak and not b.weak:
        return LATTICE(a, b)
    scalar, array = (a, b) if a.weak else (b, a)
    if Kind.BOOL in (scalar.kind, array.kind):
        return array if scalar.kind is array.kind else None
    if scalar.kind is Kind.COMPLEX and array.kind is Kind.FLOAT:
        return LATTICE(array, dt.complex64)
    return array if _category(scalar) <= _category(array) else None


def _category(dtype: DType) -> int:
    return dtype.kind.category


def can_cast(source: DType, target: DType) -> bool:
    """Whether promotion leads from one dtype to the other."""
    return LATTICE(source, target) is target


def assigns(source: DType, target: DType) -> str | None:
    """Let values only be written into a dtype they promote to."""
    return None if promote(source, target) is target else f"it does not promote to {target.name}"


@passing()
def assigned(value: Any, dtype: DType) -> Any:
    """Let a Python scalar only be written into a dtype it promotes to."""
    why = assigns(WEAK[type(value)], dtype)
    if why:
        raise TypeError(why)
    return held(value, dtype)


def same_dtype(result: DType, target: DType) -> bool:
    """In-place operations must not change the array's dtype."""
    return result is target


def _summed(dtype: DType) -> DType:
    if dtype.kind is Kind.INT:
        return dt.int64
    return dt.uint64 if dtype.kind is Kind.UINT else dtype


_FLOATS = frozenset({Kind.FLOAT})
_BOOLS = frozenset({Kind.BOOL})
_numeric = TypeRule(admit=NUMBERS)
_real = TypeRule(admit=REALS)
_floating = TypeRule(admit=INEXACT, why="the standard defines this for floating-point dtypes only")
_real_floating = TypeRule(
    admit=_FLOATS, why="the standard defines this for real-valued floating-point dtypes only"
)
_complex = TypeRule(
    admit=frozenset({Kind.COMPLEX}),
    why="the standard defines this for complex dtypes only, and rfft for real ones",
)
_truth = TypeRule(admit=_BOOLS, why="the standard defines logical functions for bool only")

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: _numeric,
    Family.DIVIDE: _floating,
    Family.FLOOR_DIVIDE: _real,
    Family.POW: _numeric,
    Family.EQUALITY: TypeRule(result=to_bool),
    Family.ORDER: TypeRule(admit=REALS, result=to_bool),
    Family.LOGICAL: _truth,
    Family.BITWISE: TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(admit=INTEGERS),
    Family.EXTREMUM: _real,
    Family.FLOAT_BINARY: _real_floating,
    Family.WHERE: TypeRule(),
    Family.CLIP: _real,
    Family.MATMUL: _numeric,
    "matrix_power": _floating,
    **linear(_floating, index=dt.int64, fft=_complex, rfft=_real_floating),
    Family.SORT: _real,
    Family.INDEX: TypeRule(admit=REALS, result=always(dt.int64)),
    Family.CONCAT: TypeRule(),
    Family.LOSS: _real_floating,
    Family.FLOAT_UNARY: _floating,
    Family.SIGN: _numeric,
    "abs": TypeRule(admit=NUMBERS, result=component),
    Family.ROUND: _real,
    "round": _numeric,
    Family.TEST: TypeRule(admit=NUMBERS, result=to_bool),
    "signbit": TypeRule(admit=_FLOATS, result=to_bool),
    Family.COMPLEX: TypeRule(admit=NUMBERS, result=component),
    "conj": _numeric,
    "imag": TypeRule(admit=frozenset({Kind.COMPLEX}), result=component),
    Family.SUM: TypeRule(
        admit=NUMBERS,
        compute=_summed,
        note="integers are summed in the default integer dtype of their kind, int64 or uint64",
    ),
    Family.MEAN: TypeRule(
        admit=_FLOATS, why="the standard defines std and var for real floats only"
    ),
    "mean": _floating,
    Family.EXTREME: _real,
    Family.TRUTH: TypeRule(result=to_bool),
    Family.POSITION: TypeRule(admit=REALS, result=always(dt.int64)),
}

CASTS = CastRule(
    refuses=no_complex_to_real,
    sources=(Source("Python array API standard", "astype", "2025.12"),),
    notes=(
        Note(
            "The standard leaves floats beyond an integer, NaN and Inf among them, and narrower"
            " integers to the library; here they are NumPy's.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        "Complex to real is refused, as the standard asks (astype).",
    ),
)

ARRAY_API = Policy(
    name="array_api",
    title="the array API standard",
    principle="The standard's tables, within one kind; what it leaves undefined is refused.",
    promote=promote,
    dtypes=STANDARD,
    operations=OPERATIONS,
    operand_types=supported_types,
    scalars=Scalars(fit=in_range),
    defaults=WIDE,
    inplace=same_dtype,
    one_element=frozenset(),  # "a zero-dimensional array", as __bool__ and the like have it
    stored=Stored(fit_by={"setitem": assigned}),
    assigns=assigns,
    kernels={
        "floor_divide": ("standard_floor_divide",),
        "pow": ("plain_pow",),
        "expm1": ("standard_expm1",),
        "tanh": ("standard_tanh",),
    },
    cast=CASTS,
    can_cast=can_cast,
    refusal="the standard leaves promotion across kinds undefined, and of uint64 with signed"
    " integers (Type Promotion Rules)",
    sources=(Source("Python array API standard", "Type Promotion Rules", "2025.12"),),
    notes=(
        "Everything the standard leaves undefined is refused.",
        Note(
            "Defaults it leaves open are NumPy's: int64, float64, complex128.",
            dtypes("i64 f64 c128"),
        ),
    ),
)

EDITIONS = ("",)


def edition(edition: str) -> Policy:
    """The one edition."""
    return ARRAY_API
