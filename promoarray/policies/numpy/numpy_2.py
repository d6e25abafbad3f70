"""NumPy: the smallest dtype that both operands can be cast to safely.

Promotion is NumPy's own procedure over one lattice of safe casts: if one dtype casts safely to the
other, that is the answer; else the smallest dtype of the higher kind to which both do. NumPy 2
lets Python scalars choose a kind only (NEP 50). NumPy 1, which looked at their values, is in
``numpy_1.py``.

Sources: NumPy reference, ``numpy.promote_types``, ``numpy.result_type`` and "Data type promotion in
NumPy"; NEP 50; ``legacy_userdtype_common_dtype_function`` in numpy/_core/src/multiarray/usertypes.c
for dtypes from outside. Recorded: conformance/golden/numpy2.txt (2.4.6).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, BY_CODE, INEXACT, INTEGERS, NUMBERS, ORDERED, DType, Kind
from promoarray.kernels.cast_mode import ToInteger
from promoarray.operations import Family
from promoarray.policies.numpy import stored
from promoarray.policies.numpy.powers import by_loop, by_shortcut
from promoarray.policies.numpy.routines import ROUTINES
from promoarray.promotion.answers import Answers
from promoarray.promotion.cast_quirks import (
    IN_VECTORS,
    ML_DTYPES,
    RECORDED,
    SAID_BY_ARM,
    SAID_BY_X86,
    in_no_vector,
    lowest_scale_up,
    rounds_twice,
)
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule, case, dtypes
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import BRANCHES, Policy
from promoarray.promotion.rules import Lattice, fold
from promoarray.promotion.scalars import WIDE, Scalars, exactly, in_range, not_clipping
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import any_array
from promoarray.promotion.type_rules import TypeRule, to_bool
from promoarray.promotion.type_steps import (
    always,
    as_truth,
    component,
    exact_to,
    rows,
    supported_types,
)

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

# Safe casts, `numpy.can_cast`: those of NumPy first, then those ml_dtypes registers. It calls
# nearly all casts among its float8, float6 and float4 types safe, in circles; the edges here keep
# the direction in which `numpy.promote_types` settles them.
SAFE = Lattice("""
b1 -> u8 i8
u8 -> u16 i16 f16
u16 -> u32 i32 f32
u32 -> u64 i64
u64 -> f64
i8 -> i16 f16
i16 -> i32 f32
i32 -> i64
i64 -> f64
f16 -> f32
f32 -> f64 c64
f64 -> c128
c64 -> c128
b1 -> u2 i2
u2 -> u4 f4_e2m1fn
i2 -> i4 f4_e2m1fn
u4 -> u8 i8
i4 -> i8
u8 -> bf16 c32 f4_e2m1fn f8_e5m2 f8_e8m0fnu
i8 -> bf16 c32 f4_e2m1fn f8_e5m2 f8_e8m0fnu
f4_e2m1fn -> f6_e3m2fn
f6_e3m2fn -> f6_e2m3fn
f6_e2m3fn -> f8_e5m2fnuz
f8_e5m2fnuz -> f8_e4m3fnuz
f8_e4m3fnuz -> f8_e4m3fn
f8_e4m3fn -> f8_e4m3b11fnuz
f8_e4m3b11fnuz -> f8_e4m3
f8_e4m3 -> f8_e3m4
f8_e3m4 -> f32
f8_e5m2 -> f32
f8_e8m0fnu -> f32
bf16 -> f32
c32 -> c64
""")

UNREGISTERED = {
    narrow: frozenset({dt.bfloat16, dt.complex32, dt.float8_e5m2, dt.float8_e8m0fnu}) | more
    for narrow, more in (
        (dt.int2, frozenset()),
        (dt.uint2, frozenset()),
        (dt.int4, frozenset({dt.float6_e2m3fn})),
        (dt.uint4, frozenset({dt.float6_e2m3fn})),
    )
}
"""Casts of 2- and 4-bit integers that ml_dtypes leaves out, though those of int8 are there."""

LADDER = rows("i8 i16 i32 i64 f16 f32 f64 c64 c128")
"""Where NumPy looks for a common dtype if neither operand will do, from the smallest up."""

OWN = rows("b1 i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 c64 c128")
"""NumPy's own dtypes, in the order of its type numbers."""

SEARCHED = frozenset({*OWN, dt.float8_e5m2})
"""Dtypes NumPy searches the ladder for: its own, and the one ml_dtypes gives NumPy's float kind."""

AS_ARRAYS = ("outer", "tensordot", "stack", "searchsorted")
"""Functions that call ``asarray`` on their operands before they meet."""

KIND_ORDER = (Kind.BOOL, Kind.UINT, Kind.INT, Kind.FLOAT, Kind.COMPLEX)


def can_cast(source: DType, target: DType) -> bool:
    """``numpy.can_cast`` with ``casting="safe"``."""
    return target in SAFE.above(source) and target not in UNREGISTERED.get(source, ())


def same_kind(source: DType, target: DType) -> bool:
    """``casting="same_kind"``: safe, or within a kind or up the kinds. What in-place allows."""
    return KIND_ORDER.index(source.kind) <= KIND_ORDER.index(target.kind)


def promote_types(a: DType, b: DType) -> DType | None:
    """``numpy.promote_types``."""
    if can_cast(a, b):
        return b
    if can_cast(b, a):
        return a
    if a not in SEARCHED or b not in SEARCHED:
        return None
    category = max(a.kind.category, b.kind.category)
    return next(
        (d for d in LADDER if d.kind.category >= category and can_cast(a, d) and can_cast(b, d)),
        None,
    )


def promote(a: DType, b: DType) -> DType | None:
    """Promote two dtypes; a weak one only decides the kind."""
    if a not in WIDE and b not in WIDE:
        return promote_types(a, b)
    if a in WIDE and b in WIDE:
        return max(a, b, key=lambda d: d.kind.category)
    if b in WIDE:
        a, b = b, a
    if a.kind.category <= b.kind.category:
        return b
    if b.kind is Kind.FLOAT:
        return promote_types(b, dt.complex64)
    return WIDE[a]


def floats(dtype: DType) -> DType:
    """The float in which NumPy computes ``sin`` of a dtype: the first it casts to safely."""
    if dtype.kind in INEXACT:
        return dtype
    dtype = WIDE.get(dtype, dtype)
    return dt.float16 if dtype.bits <= 8 else dt.float32 if dtype.bits == 16 else dt.float64


def highest_first(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let more than two enter in the order of their kinds, from complex down to bool.

    Pair by pair int16, uint16 and float16 would make int32 first, and of that float64
    (`reduce_dtypes_to_most_knowledgeable`).
    """
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal) or len(entered) < 3:
        return entered
    return tuple(sorted(entered, key=lambda d: (d.weak, -d.kind.category)))


def as_arrays(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Make an array of every Python scalar first (``np.asarray``), so that none is weak."""
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    arrays = tuple(map(policy.strong, entered))
    if arrays != entered and fold(policy.promote, arrays) is None:
        return Refusal(
            "the Python scalar becomes an array of its default dtype, which does not promote with"
            " the other (numpy.promote_types)"
        )
    return arrays


def as_floats(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let every operand enter as the float it is computed in, scalars as what they make of it."""
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    common = fold(policy.promote, sorted(entered, key=lambda d: d.weak))
    if common is None:
        return Refusal(policy.refusal)
    if common.kind not in INTEGERS or all(d.weak for d in entered):
        return (floats(policy.strong(common)),)
    return tuple(floats(common if d.weak else d) for d in entered)


def _no_bool(dtype: DType) -> DType:
    return dt.int8 if dtype.kind is Kind.BOOL else dtype


def sums(long: int) -> dict[str | Family, OperationRule]:
    """The rules of sums and products, which integers of fewer bits than a C long make in one."""

    def summed(dtype: DType) -> DType:
        if dtype.kind in INEXACT or (dtype.kind is not Kind.BOOL and dtype.bits >= long):
            return dtype
        return BY_CODE[f"{'u' if dtype.kind is Kind.UINT else 'i'}{long}"]

    rule = TypeRule(
        compute=summed,
        note=f"bool and shorter integers are summed in int{long}, unsigned ones in uint{long}",
    )
    stepwise = step_by_step(rule)
    return {Family.SUM: rule, "cumulative_sum": stepwise, "cumulative_prod": stepwise}


_INT8_NOTE = "there is no loop for bool, so it computes in int8"
FLOAT_NOTE = "bool and 8-bit integers compute in float16, 16-bit in float32, wider in float64"
_SIGN = "NumPy does not take the sign of a bool: write logical_not for ~ or ^ for -"


_WIDE_INTEGERS = {(dt.int64, dt.uint64), (dt.uint64, dt.int64)}


def exactly_compared(rule: TypeRule) -> OperationRule:
    """Compare int64 with uint64 as the integers they are, though they promote to float64."""

    def compare(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        """Compare int64 with uint64 as the integers they are."""
        plan = rule(policy, name, operands)
        signed = [o.type.kind is Kind.INT and not o.type.weak for o in operands]
        types = tuple(dt.int64 if s else o.type for s, o in zip(signed, operands, strict=True))
        if isinstance(plan, Plan) and types in _WIDE_INTEGERS:
            return Plan(types, None, dt.bool)
        return plan

    return compare


def step_by_step(rule: TypeRule) -> OperationRule:
    """Round every partial sum or product to float16, as the loop does that is called for each."""

    def accumulate(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        """Compute as the rule says, but float16 in itself."""
        plan = rule(policy, name, operands)
        if isinstance(plan, Plan) and plan.inputs[0] is dt.float16:
            return plan._replace(compute=None)
        return plan

    return accumulate


POWER = TypeRule(compute=_no_bool, note=_INT8_NOTE)
_float_binary = TypeRule(operand_types=as_floats, admit=frozenset({Kind.FLOAT}), note=FLOAT_NOTE)
_order = TypeRule(result=to_bool, note="complex numbers compare by real part, then imaginary part")
_identity_of_ints = TypeRule(admit=ORDERED, note="integers and bools stay as they are")

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    "subtract": TypeRule(admit=NUMBERS, why="NumPy does not subtract bools: write x1 ^ x2"),
    Family.DIVIDE: TypeRule(compute=exact_to(dt.float64), note="integers divide in float64"),
    Family.FLOOR_DIVIDE: TypeRule(admit=ORDERED, compute=_no_bool, note=_INT8_NOTE),
    Family.POW: by_shortcut(POWER),
    Family.EQUALITY: exactly_compared(TypeRule(result=to_bool)),
    Family.ORDER: exactly_compared(_order),
    Family.LOGICAL: TypeRule(
        operand_types=as_truth,
        note="each operand counts as true where it is non-zero; nothing promotes",
    ),
    Family.BITWISE: TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(admit=BITS, compute=_no_bool, note=_INT8_NOTE),
    Family.EXTREMUM: TypeRule(),
    Family.FLOAT_BINARY: _float_binary,
    Family.WHERE: TypeRule(),
    Family.CLIP: TypeRule(note="the bounds promote with the array"),
    Family.MATMUL: TypeRule(),
    **dict.fromkeys(AS_ARRAYS, TypeRule(operand_types=as_arrays)),
    "cross": TypeRule(admit=NUMBERS, why="NumPy does not subtract bools"),
    **ROUTINES,
    Family.CONCAT: TypeRule(),
    Family.LOSS: TypeRule(admit=NUMBERS, why="NumPy does not subtract bools"),
    "poisson_nll_loss": TypeRule(),
    Family.FLOAT_UNARY: TypeRule(compute=floats, note=FLOAT_NOTE),
    "reciprocal": TypeRule(compute=_no_bool, note="the reciprocal of an integer is an integer"),
    Family.SIGN: TypeRule(admit=NUMBERS, why=_SIGN),
    "abs": TypeRule(result=component),
    "square": TypeRule(compute=_no_bool, note=_INT8_NOTE),
    Family.ROUND: _identity_of_ints,
    "round": TypeRule(
        compute=lambda d: dt.float16 if d is dt.bool else d, note="bool rounds in float16"
    ),
    Family.TEST: TypeRule(result=to_bool),
    "signbit": TypeRule(admit=ORDERED, result=to_bool),
    Family.COMPLEX: TypeRule(result=component),
    "conj": TypeRule(compute=_no_bool, note=_INT8_NOTE),
    **sums(64),
    Family.MEAN: TypeRule(compute=exact_to(dt.float64), result=component),
    "mean": TypeRule(compute=exact_to(dt.float64)),
    Family.EXTREME: TypeRule(),
    Family.TRUTH: TypeRule(result=to_bool),
    Family.POSITION: TypeRule(result=always(dt.int64)),
    "searchsorted": TypeRule(operand_types=as_arrays, result=always(dt.int64)),
}

REFUSAL = "neither dtype casts safely to the other or to a third (numpy.promote_types)"

CASTS = CastRule(
    quirks=(rounds_twice(ML_DTYPES), lowest_scale_up(ML_DTYPES)),
    sources=(
        Source("NumPy reference, numpy.ndarray.astype", RECORDED, "2.4"),
        Source("jax-ml/ml_dtypes, ml_dtypes/include/float8.h", RECORDED, "0.6.0"),
    ),
    notes=(
        SAID_BY_X86,
        Note(
            "For uint32 that is NumPy's vector loop; its plain one, which strided arrays and"
            " the last few elements take, gives other numbers.",
            dtypes("u32"),
        ),
        Note(
            "From ml_dtypes' floats of 8 bits and fewer, NaN becomes 0 and Inf the largest or least"
            " integer.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note(
            "float4 and float6 have no NaN: it becomes -0, and -NaN becomes 0.",
            dtypes("float4 float6"),
        ),
    ),
)

_AARCH64 = "2.4.6 and ml_dtypes 0.6.0, the wheels for Linux on aarch64, under qemu 7.2"

CASTS_ARM64 = replace(
    CASTS,
    mode=CASTS.mode._replace(to_integer=ToInteger.ARM64),
    # ml_dtypes asks first whether an int32 holds the number
    cases=(case("int2 int4", "f16 f32 f64 c32 c64 c128", to_integer=ToInteger.NUMPY),),
    quirks=(
        *CASTS.quirks,
        in_no_vector(f"NumPy {_AARCH64}", ("ints", IN_VECTORS), ("int2 int4", "bf16 scale")),
    ),
    sources=(Source("NumPy, numpy.ndarray.astype", RECORDED, _AARCH64),),
    notes=(*SAID_BY_ARM, *CASTS.notes[2:]),
)

FUNCTIONS: dict[str | Family, OperationRule] = {"pow": by_loop(POWER)}


def positive_without_bounds(types: tuple[DType, ...]) -> str | None:
    """Refuse bools: to clip by no bound at all is ``numpy.positive``."""
    return "without a bound it is positive, which takes no bool" if types[0] is dt.bool else None


NUMPY_2 = Policy(
    name="numpy@2",
    weak_subclasses=False,
    title="NumPy 2",
    principle=(
        "The smallest dtype both operands cast to safely; a Python scalar only chooses a kind "
        "and takes the width of the array it meets."
    ),
    promote=promote,
    dtypes=(*dict.fromkeys((*OWN, *SAFE.dtypes)),),
    operations=OPERATIONS,
    functions=FUNCTIONS,
    operand_types=highest_first,
    composed=frozenset({"quantile"}),
    fixed={
        **dict.fromkeys(("bincount", "cov", "density", "interp"), dt.float64),
        "histogram": dt.int64,
    },
    # Beside all others the int of x ** 2 has no say anyhow (`fast_scalar_power`).
    squares=frozenset({dt.bool}),
    scalars=Scalars(
        fit=in_range,
        fit_compared=exactly,
        # where casts its scalars, it does not fit them (until 2.5)
        fit_family={Family.WHERE: stored.from_64_bits, Family.POSITION: exactly},
        fit_bound=not_clipping,
    ),
    kernels={"arange": ("arange_in_dtype", "arange_by_difference")},
    refuses={"clip": positive_without_bounds},
    defaults=WIDE,
    inplace=same_kind,
    stored=stored.NUMPY_2,
    assigns=any_array,
    real_spectra=True,
    one_element=BRANCHES | {"setitem bool"},
    answers=Answers(__file__, "functions_2.txt", "numpy@2"),
    cast=CASTS,
    can_cast=can_cast,
    refusal=REFUSAL,
    sources=(
        Source("NEP 50: Promotion rules for Python scalars", "Table of changes", "NumPy 2.0"),
        Source("NumPy reference", "Data type promotion in NumPy; numpy.result_type", "2.4"),
        Source("jax-ml/ml_dtypes", "registered casts", "0.6.0"),
    ),
    notes=(
        Note(
            "A Python scalar chooses the kind of the result, never its width; an int must fit.",
            ranks=[Rank.SCALAR],
        ),
        Note(
            "Dtypes of ml_dtypes pair as numpy.promote_types says, and Python scalars are weak"
            " beside them too, which ml_dtypes itself does not keep: there bfloat16 + 1.0 is"
            " float32.",
            ranks=[Rank.SCALAR],
        ),
    ),
)

NUMPY_2_5 = NUMPY_2.derive(
    "numpy@2.5",
    title="NumPy 2.5",
    scalars=NUMPY_2.scalars._replace(fit_family={Family.POSITION: exactly}),
    real_spectra=False,
    sources=(
        *NUMPY_2.sources,
        Source(
            "NumPy", "numpy.where of Python ints, numpy.linalg.eig and eigvals, as run", "2.5.5"
        ),
    ),
    notes=(
        *NUMPY_2.notes,
        Note(
            "where refuses a Python int that does not fit; before, it took its low bits.",
            ranks=[Rank.SCALAR],
        ),
    ),
)

NUMPY_2_ARM64 = NUMPY_2.derive(
    "numpy@2-arm64",
    title="NumPy 2 on ARM64",
    cast=CASTS_ARM64,
    notes=(
        *NUMPY_2.notes,
        Note("Of NumPy on ARM64 the casts alone were asked; all else is as on x86-64."),
    ),
)

POLICIES = {"2": NUMPY_2, "2.5": NUMPY_2_5, "2-arm64": NUMPY_2_ARM64}
