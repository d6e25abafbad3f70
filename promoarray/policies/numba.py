"""Numba: what ``@njit`` makes of the dtypes of NumPy programs, on the CPU.

Arrays, and functions of NumPy's whatever their operands, take the first loop of the ufunc that
fits: NumPy's dtypes, but a Python number is an int64, float64 or complex128, integers beside
float32 stay float32, and no float is narrower. Operators on scalars (``x[0] + y[0]``, a loop's
counter) go by another table: integers are at least of 64 bits, and one that is signed makes all of
them int64. Operators on arrays compute each element as those on scalars do, and have the dtype of
the function: uint64 with int64 wraps as an int64 before it is a float64.

Sources: numba/core/typing/builtins.py (``integer_binop_cases``), numba/core/typeconv/rules.py,
numba/np/ufunc_db.py, 0.68.1. Recorded: conformance/golden/numba.txt (0.68.1 with NumPy 2.4.6).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, NUMBERS, ORDERED, DType, Kind
from promoarray.operations import Family
from promoarray.policies.numpy import numpy_2
from promoarray.promotion.cast_rules import FLOAT_DTYPES, dtypes
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.rules import fold
from promoarray.promotion.scalars import Scalars, in_range, of_int64, passing
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule, refuse, to_bool
from promoarray.promotion.type_steps import NO_ORDER, agreed, always, component, rows, strong_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

EDITIONS = ("0.68",)

DTYPES = rows("b1 u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 c64 c128")
_EXACT_IN_FLOAT32 = frozenset(dtypes("b1 i8 u8 i16"))
_SINGLE = frozenset(dtypes("f32 c64"))


def promote(a: DType, b: DType) -> DType | None:
    """Two arrays, or two operands of a ufunc: beside a float or complex number integers do not
    count."""
    if {a.kind, b.kind} & INEXACT and {a.kind, b.kind} & BITS:
        return a if a.kind in INEXACT else b
    return numpy_2.promote_types(a, b)


def promote_scalars(a: DType, b: DType) -> DType | None:
    """Two scalars of an operator."""
    if a.kind in BITS and b.kind in BITS:
        return dt.uint64 if a.kind is b.kind is Kind.UINT else dt.int64
    if a.kind in BITS or b.kind in BITS:
        integer, number = (a, b) if a.kind in BITS else (b, a)
        if number in _SINGLE and integer not in _EXACT_IN_FLOAT32:
            return dt.float64 if number is dt.float32 else dt.complex128
        return number
    return numpy_2.promote_types(a, b)


def are_scalars(operands: tuple[Operand, ...]) -> bool:
    """Whether no operand is an array."""
    return all(operand.rank is not Rank.ARRAY for operand in operands)


def of_scalars(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Promote scalars among themselves by their own table."""
    types = strong_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    joined = fold(promote_scalars, types if len(types) > 1 else types * 2)
    return Refusal(policy.refusal) if joined is None else (joined,)


def float_types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Take integers for the floats that hold them, where no operand is a float."""
    types = strong_types(policy, operands)
    if isinstance(types, Refusal) or any(t.kind in INEXACT for t in types):
        return types
    return tuple(map(floating, types))


def divided(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Divide scalars that are integers in float64."""
    types = of_scalars(policy, operands)
    if isinstance(types, Refusal):
        return types
    return tuple(dt.float64 if t.kind in BITS else t for t in types)


def raised(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Raise scalars: float32 to an integer stays float32."""
    types = strong_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    base, exponent = types
    if exponent.kind in BITS and base is dt.float32:
        return (base,)
    if (base, exponent) == (dt.bool, dt.int32):  # the first signature both convert to
        return (dt.float32,)
    return of_scalars(policy, operands)


def shifted(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Shift a scalar in the widest integer of its own kind."""
    types = strong_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    if not {t.kind for t in types} <= BITS:
        return (dt.float64,)
    return (dt.uint64 if types[0].kind is Kind.UINT else dt.int64,)


def anded(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Leave bools that are scalars bools."""
    types = strong_types(policy, operands)
    bools = not isinstance(types, Refusal) and set(types) == {dt.bool}
    return types if bools else of_scalars(policy, operands)


def floating(dtype: DType) -> DType:
    """The float in which a function of an integer computes."""
    if dtype.kind in INEXACT:
        return dtype
    return dt.float32 if dtype.bits <= 16 else dt.float64


def clip(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Give the array's own dtype, whatever the bounds are."""
    plan = _clipped(policy, name, operands)
    return (
        plan if isinstance(plan, Refusal) else plan._replace(result=policy.strong(operands[0].type))
    )


def inverted(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Invert the bits of the operand's own type, which are then those of a scalar of 64."""
    own = _bits(policy, name, operands)
    wide = _of_bits(policy, name, operands)
    if isinstance(own, Refusal) or isinstance(wide, Refusal) or not are_scalars(operands):
        return own
    return own._replace(result=wide.result)


def no_complex_to_others(source: DType, target: DType) -> str | None:
    """Refuse to cast complex numbers to bools, too."""
    both = source.kind is Kind.COMPLEX, target.kind is Kind.COMPLEX
    return "Numba casts complex numbers to complex numbers alone" if both == (True, False) else None


def _no_bool(dtype: DType) -> DType:
    return dt.int8 if dtype is dt.bool else dtype


def _double(dtype: DType) -> DType:
    return dt.complex128 if dtype.kind is Kind.COMPLEX else dt.float64


@passing()
def int64_or_refused(value: object, dtype: DType) -> object:
    """Refuse an int that no int64 holds, and what the dtype does not hold."""
    return in_range(of_int64(value), dtype)


_promoting = TypeRule()
_bits = TypeRule(admit=BITS)
_of_bits = TypeRule(operand_types=anded, admit=BITS)
_order = TypeRule(admit=ORDERED, result=to_bool, why=NO_ORDER)
_clipped = TypeRule(admit=ORDERED, why=NO_ORDER)
_as_int8 = TypeRule(compute=_no_bool, note="bools compute in int8")
_no_fft = refuse("Numba has no np.fft")
_of_scalars = TypeRule(
    operand_types=of_scalars,
    compute=_no_bool,
    note="scalars, and each element, are at least int64; one that is signed makes int64 of them",
)


def compared(rule: OperationRule) -> OperationRule:
    """Compare integers as the numbers they are, though an int64 and a uint64 compute in int64."""

    def compare(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        """Compare integers as the numbers they are."""
        plan = rule(policy, name, operands)
        kinds = [operand.type.kind for operand in operands]
        if isinstance(plan, Refusal) or not BITS.issuperset(kinds) or len({*kinds}) == 1:
            return plan
        types = tuple([dt.int64 if kind is Kind.INT else dt.uint64 for kind in kinds])
        return Plan(types, None if types[0] is not types[1] else types[0], dt.bool)

    return compare


_FUNCTIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: _promoting,
    "subtract": _as_int8,
    Family.DIVIDE: TypeRule(operand_types=float_types),
    Family.FLOOR_DIVIDE: TypeRule(admit=ORDERED, compute=_no_bool),
    Family.POW: _as_int8,
    Family.BITWISE: _bits,
    Family.SHIFT: TypeRule(admit=BITS, compute=_no_bool),
    Family.EQUALITY: numpy_2.OPERATIONS[Family.EQUALITY],
    Family.ORDER: numpy_2.OPERATIONS[Family.ORDER],
    "negative": _as_int8,
    "positive": _as_int8,
}
"""Rules of functions, and of operators beside an array."""


def operator(scalars: OperationRule, arrays: OperationRule) -> OperationRule:
    """Compute each element as the operator on scalars does, with the result that arrays have."""

    def lowered(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = scalars(policy, name, operands)
        if isinstance(plan, Refusal) or are_scalars(operands):
            return plan
        whole = arrays(policy, name, operands)
        return whole if isinstance(whole, Refusal) else plan._replace(result=whole.result)

    return lowered


_ELEMENTS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: _of_scalars,
    "subtract": _of_scalars,
    "negative": _of_scalars,
    "positive": _of_scalars,
    Family.DIVIDE: TypeRule(
        operand_types=divided, note="16 bits and fewer divide in float32, wider integers in float64"
    ),
    Family.FLOOR_DIVIDE: replace(_of_scalars, admit=ORDERED),
    Family.POW: replace(_of_scalars, operand_types=raised),
    Family.BITWISE: _of_bits,
    Family.SHIFT: replace(_of_scalars, operand_types=shifted, admit=BITS),
    Family.EQUALITY: compared(replace(_of_scalars, result=to_bool)),
    Family.ORDER: compared(replace(_order, operand_types=of_scalars)),
}
"""Rules of operators on scalars, and on the elements of arrays."""

OPERATIONS: dict[str | Family, OperationRule] = {
    **numpy_2.OPERATIONS,
    **{family: operator(rule, _FUNCTIONS[family]) for family, rule in _ELEMENTS.items()},
    "bitwise_invert": inverted,
    Family.EXTREMUM: _promoting,
    Family.FLOAT_BINARY: TypeRule(operand_types=float_types, admit=frozenset({Kind.FLOAT})),
    Family.WHERE: TypeRule(promote=numpy_2.promote_types),
    Family.CONCAT: TypeRule(promote=numpy_2.promote_types),
    "stack": TypeRule(promote=numpy_2.promote_types),
    Family.CLIP: clip,
    Family.MATMUL: TypeRule(
        promote=agreed, admit=INEXACT, why="Numba's @ takes two of one float or complex dtype"
    ),
    Family.FLOAT_UNARY: TypeRule(
        compute=floating, note="16 bits and fewer compute in float32, wider integers in float64"
    ),
    "reciprocal": _as_int8,
    Family.SIGN: _as_int8,
    "abs": TypeRule(result=component),
    Family.ROUND: TypeRule(admit=ORDERED),
    "round": TypeRule(admit=NUMBERS),
    "isnan": TypeRule(result=to_bool),
    Family.COMPLEX: TypeRule(admit=NUMBERS, result=component),
    "conj": _as_int8,
    Family.MEAN: TypeRule(compute=_double, result=component, note="float64, of float32 too"),
    "mean": TypeRule(compute=lambda d: d if d.kind in INEXACT else dt.float64),
    Family.POSITION: TypeRule(admit=ORDERED, result=always(dt.int64), why=NO_ORDER),
    Family.FFT: _no_fft,
    Family.RFFT: _no_fft,
    Family.IRFFT: _no_fft,
}

NUMBA = numpy_2.NUMPY_2.derive(
    "numba@0.68",
    title="Numba 0.68",
    principle=(
        "NumPy's dtypes, but a Python number is an int64 or float64, and integers beside float32"
        " are float32; scalars that meet are int64 or uint64."
    ),
    promote=promote,
    dtypes=DTYPES,
    operations=OPERATIONS,
    functions=_FUNCTIONS,
    operand_types=strong_types,
    ranks=True,
    squares=frozenset(),
    scalars=Scalars(fit=int64_or_refused),
    refuses={},
    kernels={
        **numpy_2.NUMPY_2.kernels,
        "pow": ("reciprocal_pow",),
        "sign": ("sign_keeping_zero",),
    },
    answers=None,
    cast=replace(
        numpy_2.CASTS,
        refuses=no_complex_to_others,
        quirks=(),
        sources=(Source("astype under njit, x86-64", "casts that were run", "0.68.1"),),
        notes=(
            *numpy_2.CASTS.notes[:1],
            Note(
                "Beyond uint32 and uint64 LLVM's code for a CPU with AVX-512 gives all bits set.",
                dtypes("u32 u64"),
                of=FLOAT_DTYPES,
            ),
        ),
    ),
    refusal="Numba's ufunc has no loop for both (numba/np/ufunc_db.py)",
    sources=(
        Source("numba/core/typing/builtins.py", "integer_binop_cases", "0.68.1"),
        Source("numba/np/ufunc_db.py, numba/core/typeconv/rules.py", "", "0.68.1"),
    ),
    notes=(
        Note("A Python number is an int64, float64 or complex128.", ranks=[Rank.SCALAR]),
        Note("uint64 with a signed scalar is int64, which wraps; arrays are float64.", [dt.uint64]),
        Note(
            "uint64 with int64 is float64, but x + y of two arrays computes each element in int64"
            " first, which wraps; np.add(x, y) does not.",
            rows("u64 i64"),
        ),
        "float16 has no arithmetic on the CPU. NumPy's random and linear algebra were not asked.",
    ),
)


def edition(edition: str) -> Policy:
    """Numba ``0.68``."""
    return NUMBA
