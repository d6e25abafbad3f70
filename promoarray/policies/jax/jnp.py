"""JAX: a lattice in which Python scalars are weak types, so that they seldom change a dtype.

``i* f* c*`` are weak: a Python scalar is one, and so is an array made of nothing else, until it
meets an array. The result is the least upper bound in a lattice; nothing leads out of the 2- and
4-bit integers and the floats of 8 bits and fewer, so mixing those is an error, not a guess.

Sources: "Design of Type Promotion Semantics for JAX" (JEP 9407), the lattice and its appendix;
``_type_promotion_lattice`` in jax/_src/dtypes.py. Recorded: conformance/golden/jax_*.txt, 0.10.2.
``jax@lax``, which promotes nothing, is in ``jax_lax.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.operations import Family
from promoarray.policies.numpy.numpy_2 import can_cast
from promoarray.promotion import cast_quirks
from promoarray.promotion.linalg_rules import complexified, linear, uniques
from promoarray.promotion.plan import (
    BITS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    ORDERED,
    Operand,
    OperationRule,
    Plan,
    Rank,
    Refusal,
    TypeMap,
    TypeRule,
    to_bool,
)
from promoarray.promotion.policy import Policy, Source
from promoarray.promotion.rules import Lattice, PromotionRule
from promoarray.promotion.scalars import WIDE, Scalars, bounds, not_negative, shown, wrap
from promoarray.promotion.source import Note
from promoarray.promotion.type_steps import component, rows, supported_types

# `_type_promotion_lattice(strict=False)`, in upstream's order. Without x64 the one edge that makes
# 64 bits of 32, u32 -> i64, is u32 -> i32.
_LATTICE = """
b1 -> i*
i* -> u8 u2 u4 i8 i2 i4
u2 ->
u4 ->
u8 -> i16 u16
u16 -> i32 u32
u32 -> {signed} u64
u64 -> f*
i2 ->
i4 ->
i8 -> i16
i16 -> i32
i32 -> i64
i64 -> f*
f* -> f4_e2m1fn f6_e2m3fn f6_e3m2fn f8_e3m4 f8_e4m3 f8_e8m0fnu bf16 f16 c*
f* -> f8_e4m3b11fnuz f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz
bf16 -> f32
f16 -> f32
f32 -> f64 c64
f64 -> c128
c* -> c64
c64 -> c128
"""
LATTICE = Lattice(_LATTICE.format(signed="i64"))
LATTICE_X32 = Lattice(_LATTICE.format(signed="i32"))

# `_type_promotion_lattice(strict=True)`: a scalar joins any dtype of its kind or a higher one.
STRICT = Lattice("""
b1 ->
i* -> f* u8 u2 u4 u16 u32 u64 i2 i4 i8 i16 i32 i64
f* -> f4_e2m1fn f6_e2m3fn f6_e3m2fn f8_e3m4 f8_e4m3 f8_e8m0fnu bf16 f16 f32 f64 c*
f* -> f8_e4m3b11fnuz f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz
c* -> c64 c128
""")

DTYPES = tuple(d for d in LATTICE.dtypes if not d.weak)
NARROWED = {
    dt.int64: dt.int32,
    dt.uint64: dt.uint32,
    dt.float64: dt.float32,
    dt.complex128: dt.complex64,
}
"""What arrays are without x64."""

X32 = {weak: NARROWED.get(strong, strong) for weak, strong in WIDE.items()}

TINY = frozenset(rows("i2 i4 u2 u4"))


def entering(policy: Policy, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter operands as their own types; a Python bool is as good as a bool array."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    return tuple(dt.bool if d is dt.weak_bool else d for d in entered)


def inexact(dtype: DType) -> DType:
    """``to_inexact_dtype``: 64-bit integers become float64, others float32, weak ones weak.

    It forgets the 2-bit integers, so these divide as integers and have no ``sin``.
    """
    if dtype.kind in INEXACT or dtype in (dt.int2, dt.uint2):
        return dtype
    if dtype is dt.weak_int:
        return dt.weak_float
    return dt.float64 if dtype.bits == 64 else dt.float32


def floating(dtype: DType) -> DType | None:
    """The same, for functions that want a float."""
    found = inexact(dtype)
    return found if found.kind in INEXACT else None


def spectral(dtype: DType) -> DType:
    """The complex dtype in which ``lax.fft`` computes."""
    return complexified(floating(dtype) or dt.float32)


def higher_precision(a: DType, b: DType) -> DType | None:
    """XLA's ``HigherPrecisionType``: complex, then range, precision, width and sign; no ties."""

    def properties(dtype: DType) -> tuple[int, ...]:
        part = component(dtype)
        f = part.format
        top, mantissa = ((f.largest >> f.mantissa) - f.bias, f.mantissa) if f else (-1, -1)
        bits = 1 if part is dt.bool else part.bits
        return dtype.kind is Kind.COMPLEX, top, mantissa, bits, part.kind is not Kind.UINT

    if a is not b and properties(a) == properties(b):
        return None
    return max(a, b, key=properties)


def matmul(policy: Policy, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Promote, but let integers and complex numbers become no narrower than an operand is.

    Upstream asks ``lax.dot_general`` for the promoted dtype, and a weakly typed array is as wide
    as its default dtype there.
    """
    plan = TypeRule()(policy, name, operands)
    if isinstance(plan, Refusal):
        return plan
    widest = higher_precision(*(policy.strong(o.type) for o in operands))
    if widest and widest.kind is not Kind.FLOAT and widest.bits > plan.inputs[0].bits:
        return Refusal(f"lax.dot_general makes no {plan.inputs[0].name} of {widest.name}")
    return plan


def bool_to_int32(dtype: DType) -> DType:
    """Bools compute in int32 where their own arithmetic makes no sense."""
    return dt.int32 if dtype is dt.bool else dtype


def power(policy: Policy, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """``x ** n`` with a Python int is repeated multiplication in x's dtype; else promote.

    Integers then lose their weakness, and so does a scalar base with an array of integers. A 0-d
    array is an exponent as any other, which it is under ``jit``; outside of it JAX takes its value.
    """
    _, exponent = operands
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    x, y = entered
    if exponent.rank is Rank.SCALAR and exponent.type in (dt.weak_bool, dt.weak_int):
        common: DType | None = x
    else:
        common = policy.promote(x, y)
        if common in TINY:
            return Refusal("jax.numpy.power does not take 2- and 4-bit integers")
        if common is dt.weak_int or (x.weak and y.kind in INTEGERS and not y.weak):
            common = common and policy.strong(common)
    if common is None:
        return Refusal(policy.refusal)
    common = bool_to_int32(common)
    plan = policy.make_plan(name, common, common, 2)
    return plan._replace(standard_kernel=exponent.rank is Rank.SCALAR)


_WIDE_REAL = BITS | frozenset(rows("bf16 f16 f32 f64 f*"))
_FLOAT_NOTE = "64-bit integers compute in the widest float, bools and other integers in float32"
_INT32_NOTE = "bools compute in int32"
_STRONG_NOTE = "the result is not weakly typed"


def _operations(defaults: Mapping[DType, DType]) -> dict[str | Family, OperationRule]:
    def strong(dtype: DType) -> DType:
        return defaults.get(dtype, dtype)

    def strongly(step: TypeMap) -> TypeMap:
        return lambda dtype: None if (d := step(dtype)) is None else strong(d)

    def summed(dtype: DType) -> DType | None:
        if dtype.kind in (Kind.BOOL, Kind.INT):
            wide = defaults[dt.weak_int]
        elif dtype.kind is Kind.UINT:
            wide = dt.uint64 if defaults[dt.weak_int] is dt.int64 else dt.uint32
        else:
            wide = strong(dtype)
        return None if dtype in TINY else wide

    def squared(dtype: DType) -> DType | None:
        return strong(dtype) if dtype.kind in INEXACT else summed(dtype) and strong(dt.weak_float)

    floats = TypeRule(compute=floating, note=_FLOAT_NOTE)
    position = defaults[dt.weak_int]
    return {
        Family.ARITHMETIC: TypeRule(),
        "subtract": TypeRule(admit=NUMBERS, why="JAX subtracts no bools: write x1 ^ x2"),
        Family.DIVIDE: TypeRule(compute=inexact, note=_FLOAT_NOTE),
        Family.FLOOR_DIVIDE: TypeRule(admit=ORDERED, compute=bool_to_int32, note=_INT32_NOTE),
        Family.POW: power,
        Family.EQUALITY: TypeRule(result=to_bool),
        Family.ORDER: TypeRule(result=to_bool),
        Family.LOGICAL: TypeRule(
            result=to_bool, note="the operands promote, though the result is bool"
        ),
        Family.BITWISE: TypeRule(admit=BITS),
        Family.SHIFT: TypeRule(admit=BITS, compute=bool_to_int32, note=_INT32_NOTE),
        Family.EXTREMUM: TypeRule(),
        Family.FLOAT_BINARY: floats,
        "hypot": TypeRule(admit=ORDERED, compute=strongly(floating), note=_STRONG_NOTE),
        "copysign": TypeRule(admit=_WIDE_REAL, compute=floating, note=_FLOAT_NOTE),
        "nextafter": TypeRule(admit=ORDERED, compute=floating, note=_FLOAT_NOTE),
        "logaddexp": TypeRule(
            compute=lambda d: strong(d) if d.kind is Kind.COMPLEX else floating(d),
            note="the result of weakly typed complex operands is not",
        ),
        Family.WHERE: TypeRule(),
        Family.CLIP: TypeRule(admit=ORDERED, note="the bounds promote with the array"),
        Family.MATMUL: matmul,
        "outer": TypeRule(),
        "cross": TypeRule(admit=NUMBERS, compute=strong, why="JAX subtracts no bools"),
        "matrix_power": TypeRule(),
        **linear(
            floats,
            index=position,
            norms=TypeRule(compute=strongly(floating), note=_FLOAT_NOTE),
            fft=TypeRule(compute=strongly(spectral), note="the result is not weakly typed"),
            rfft=TypeRule(
                admit=BITS | frozenset(rows("f32 f64 f*")),
                compute=strongly(floating),
                why="lax.fft transforms float32 and float64",
            ),
        ),
        **{
            name: TypeRule(compute=strongly(floating), note=_FLOAT_NOTE) for name in ("inv", "pinv")
        },
        "slogdet": TypeRule(
            compute=strongly(floating), extra_results=(component,), note=_FLOAT_NOTE
        ),
        "vector_norm": TypeRule(
            compute=squared, result=component, note="integers add up as floats"
        ),
        **uniques(
            TypeRule(result=lambda d: strong(d) if d.kind is Kind.COMPLEX else d),
            lambda _: position,
        ),
        "diagonal": TypeRule(result=strong),
        Family.CONCAT: TypeRule(),
        Family.LOSS: TypeRule(admit=ORDERED),
        Family.FLOAT_UNARY: floats,
        "log2": TypeRule(compute=strongly(floating), note=_STRONG_NOTE),
        "log10": TypeRule(compute=strongly(floating), note=_STRONG_NOTE),
        Family.SIGN: TypeRule(admit=NUMBERS, why="JAX gives a bool no sign"),
        "positive": TypeRule(),
        "abs": TypeRule(compute=lambda d: None if d in (dt.int2, dt.int4) else d, result=component),
        "square": TypeRule(compute=bool_to_int32, note=_INT32_NOTE),
        Family.ROUND: TypeRule(admit=ORDERED),
        "round": TypeRule(admit=NUMBERS, why="JAX rounds no bools"),
        Family.TEST: TypeRule(result=to_bool),
        "signbit": TypeRule(admit=_WIDE_REAL, result=to_bool),
        Family.COMPLEX: TypeRule(result=component),
        "conj": TypeRule(),
        Family.SUM: TypeRule(compute=summed, note="integers sum up in the widest of their kind"),
        "cumulative_prod": TypeRule(
            compute=lambda d: position if d is dt.bool else strong(d), note=_STRONG_NOTE
        ),
        Family.MEAN: TypeRule(compute=strongly(floating), result=component, note=_FLOAT_NOTE),
        "mean": TypeRule(compute=strongly(inexact), note=_FLOAT_NOTE),
        Family.EXTREME: TypeRule(compute=strong, note=_STRONG_NOTE),
        Family.TRUTH: TypeRule(result=to_bool),
        Family.POSITION: TypeRule(result=lambda _: position),
        "searchsorted": TypeRule(
            result=lambda _: dt.int32, note="int32 with x64 too, while no index needs more"
        ),
    }


def _fits(widest: DType) -> Callable[[Any, DType], Any]:
    low, high = bounds(widest)

    def fit(value: Any, dtype: DType) -> Any:
        if type(value) is int and not low <= value <= high:
            given = f"Python int {shown(value)}"
            raise OverflowError(f"{given} does not fit {widest}, JAX's default for ints")
        return wrap(value, dtype)

    return fit


REFUSAL = (
    "there is no implicit promotion path: nothing leads out of the 2- and 4-bit integers and the"
    " floats of 8 bits and fewer (Design of Type Promotion Semantics for JAX)"
)
_JEP = Source("Design of Type Promotion Semantics for JAX (JEP 9407)", "Appendix: jnp", "0.10.2")
_LATTICE_SOURCE = Source("jax-ml/jax, jax/_src/dtypes.py", "_type_promotion_lattice", "0.10.2")


def _scalars(widest: DType) -> Scalars:
    fit = _fits(widest)
    return Scalars(fit=fit, fit_exponent=not_negative(fit))


JNP = Policy(
    name="jax@x64",
    title="JAX with x64",
    principle=(
        "The least dtype above both operands in the lattice; Python scalars, and what is made "
        "of nothing else, are weakly typed and lie below the array dtypes of their kind."
    ),
    promote=LATTICE,
    dtypes=DTYPES,
    operations=_operations(WIDE),
    operand_types=entering,
    scalars=_scalars(dt.int64),
    kernels={
        "floor_divide": ("xla_floor_divide",),
        "pow": ("six_bit_pow",),
        "clip": ("clip_signed_zeros",),
        "arange": ("arange_of_integers",),
    },
    defaults=WIDE,
    weak_arrays=True,
    cast=cast_quirks.JAX,
    can_cast=can_cast,
    refusal=REFUSAL,
    sources=(_JEP, _LATTICE_SOURCE),
    notes=(
        Note(
            "A Python scalar is weakly typed, and so is what is made of nothing else.",
            ranks=[Rank.SCALAR],
        ),
    ),
)


def _strict(rule: PromotionRule) -> Policy:
    return JNP.derive(
        "jax@strict",
        title="JAX with strict promotion",
        principle="Equal dtypes only, or a Python scalar with an array of its or a higher kind.",
        promote=rule,
        refusal="strict promotion (jax_numpy_dtype_promotion='strict') joins equal dtypes only,"
        " and Python scalars with arrays of their kind or a higher one",
        notes=("jax_numpy_dtype_promotion='strict', with x64.",),
    )


POLICIES = {
    "x64": JNP,
    "x32": JNP.derive(
        "jax@x32",
        title="JAX without x64",
        principle="The lattice of JAX, whose 64-bit dtypes are 32-bit ones.",
        promote=LATTICE_X32,
        dtypes=tuple(d for d in DTYPES if d not in NARROWED),
        operations=_operations(X32),
        scalars=_scalars(dt.int32),
        defaults=X32,
        canonical=NARROWED,
        notes=(*JNP.notes, "JAX as installed: 64-bit dtypes become 32-bit ones."),
    ),
    "strict": _strict(STRICT),
}
