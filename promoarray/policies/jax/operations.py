"""jax.numpy: what its operations take and compute in, as far as promotion does not say.

``defaults`` are what the weak types become, with and without x64; the rules that ask for them are
made for each.

Recorded: conformance/golden/jax_*.txt, 0.10.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, DType, Kind
from promoarray.operations import Family
from promoarray.promotion.linalg_rules import linear, spectrum, uniques
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.type_rules import PROMOTING, TypeMap, TypeRule, same, to_bool
from promoarray.promotion.type_steps import NO_ORDER, always, component, rows

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

TINY = frozenset(rows("i2 i4 u2 u4"))

Defaults = Mapping[DType, DType]


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
    """``to_inexact_dtype`` for functions that want a float: None for the 2-bit integers."""
    found = inexact(dtype)
    return found if found.kind in INEXACT else None


def spectral(dtype: DType) -> DType:
    """The complex dtype in which ``lax.fft`` computes."""
    return spectrum(floating(dtype) or dt.float32)


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


def matmul(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Promote, but let integers and complex numbers become no narrower than an operand is.

    Upstream asks ``lax.dot_general`` for the promoted dtype, and a weakly typed array is as wide
    as its default dtype there.
    """
    plan = PROMOTING(policy, name, operands)
    if isinstance(plan, Refusal):
        return plan
    widest = higher_precision(*(policy.strong(o.type) for o in operands))
    if widest and widest.kind is not Kind.FLOAT and widest.bits > plan.inputs[0].bits:
        return Refusal(f"lax.dot_general does not narrow {widest.name} to {plan.inputs[0].name}")
    return plan


def bool_to_int32(dtype: DType) -> DType:
    """Bools compute in int32 where their own arithmetic makes no sense."""
    return dt.int32 if dtype is dt.bool else dtype


def multiply(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply; of a bool array and floats XLA makes a selection, so that ``False * nan`` is 0."""
    plan = PROMOTING(policy, name, operands)
    if isinstance(plan, Refusal) or plan.inputs[0] not in _SELECTED:
        return plan
    bools = [o.type is dt.bool and o.rank is not Rank.SCALAR for o in operands]
    return plan._replace(kernel=f"{('first', 'second')[bools[1]]}_selects") if any(bools) else plan


def divide(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Divide as floats; by a divisor with fewer elements XLA multiplies with the reciprocal.

    That of float16 is rounded to float16; bfloat16 and float8 are divided in float32.
    """
    plan = _quotients(policy, name, operands)
    if isinstance(plan, Refusal) or plan.inputs[0] not in _DIVIDED:
        return plan
    bools = operands[0].type is dt.bool
    kernel = "selected_reciprocal" if bools else "reciprocal_divide"
    return plan._replace(compute=plan.inputs[0], kernel=kernel)


def atan2(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Promote and then make floats: beside uint8 a Python int -2 is 254 before it is 254.0."""
    plan = _floats(policy, name, operands)
    strong = [o.type for o in operands if not o.type.weak]
    if isinstance(plan, Refusal) or len(strong) != 1 or strong[0].kind not in INTEGERS:
        return plan
    wanted = (
        strong[0] if o.type is dt.weak_int else i
        for o, i in zip(operands, plan.inputs, strict=True)
    )
    return plan._replace(inputs=tuple(wanted))


_clip = TypeRule(admit=ORDERED, note="the bounds promote with the array, the lower one first")


def clip(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Take the maximum with the lower bound first, and then the minimum with the upper one."""
    plan = _clip(policy, name, operands)
    if isinstance(plan, Refusal) or len(operands) < 3:
        return plan
    first = _clip(policy, name, operands[:2])
    if isinstance(first, Refusal):
        return first
    return plan._replace(inputs=(plan.inputs[0], first.inputs[1], plan.inputs[2]))


def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """``x ** n`` with one integer n is repeated multiplication in x's dtype; else promote.

    One integer is a Python int or a 0-d array of integers, whose value JAX takes; under ``jit`` it
    has none, and promotes. Of other exponents integers lose their weakness, and so does a scalar
    base with an array of integers.
    """
    _, exponent = operands
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    x, y = entered
    one = exponent.rank is Rank.SCALAR or (exponent.rank is Rank.ZERO_D and y is not dt.bool)
    if one and y.kind in BITS and y not in TINY:
        return _integer_power(policy, bool_to_int32(x))
    common = policy.promote(x, y)
    if common in TINY:
        return Refusal("jax.numpy.power does not take 2- and 4-bit integers")
    if common is dt.weak_int or (x.weak and y.kind in INTEGERS and not y.weak):
        common = common and policy.strong(common)
    if common is None:
        return Refusal(policy.refusal)
    common = bool_to_int32(common)
    return policy.make_plan(name, common, common, 2)


def _integer_power(policy: PolicyLike, x: DType) -> Plan:
    """Integers multiply in the widest dtype, whose low bits are theirs; floats in a kernel."""
    plan = policy.make_plan("pow", x, x, 2)
    if x.kind in INTEGERS:
        wide = policy.strong(dt.weak_int)
        return plan._replace(inputs=(plan.inputs[0], wide), compute=wide, kernel="pow")
    computed = plan.compute or plan.inputs[0]
    return plan._replace(inputs=(plan.inputs[0], computed), kernel="integer_pow")


def strongly(defaults: Defaults, step: TypeMap = same) -> TypeMap:
    """Make the step whose result is never weakly typed."""
    return lambda dtype: None if (found := step(dtype)) is None else defaults.get(found, found)


def summed(defaults: Defaults, dtype: DType) -> DType | None:
    """The dtype of a sum: of integers the widest of their kind, but None for 2 and 4 bits."""
    if dtype in TINY:
        return None
    if dtype.kind in (Kind.BOOL, Kind.INT):
        return defaults[dt.weak_int]
    if dtype.kind is Kind.UINT:
        return dt.uint64 if defaults[dt.weak_int] is dt.int64 else dt.uint32
    return defaults.get(dtype, dtype)


def squared(defaults: Defaults, dtype: DType) -> DType | None:
    """What a sum of squares is in before its root: a float."""
    if dtype.kind in INEXACT:
        return defaults.get(dtype, dtype)
    return summed(defaults, dtype) and defaults[dt.weak_float]


def without_axes(rule: OperationRule, with_axes: OperationRule) -> OperationRule:
    """Go by one rule where no operand has an axis, and by another where one has."""

    def either(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        chosen = with_axes if any(o.rank is Rank.ARRAY for o in operands) else rule
        return chosen(policy, name, operands)

    return either


_DIVIDED = frozenset(rows("f16 f32 f64"))
_SELECTED = frozenset(rows("f16 f32 f64 c64 c128"))
_WIDE_REAL = BITS | frozenset(rows("bf16 f16 f32 f64 f*"))
_FLOAT_NOTE = "64-bit integers compute in the widest float, bools and other integers in float32"
_INT32_NOTE = "bools compute in int32"
_STRONG_NOTE = "the result is not weakly typed"
_BROADCAST_NOTE = "the result is weakly typed only if no operand has an axis"

_floats = TypeRule(compute=floating, note=_FLOAT_NOTE)
_quotients = TypeRule(compute=inexact, note=_FLOAT_NOTE)

_OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    "subtract": TypeRule(admit=NUMBERS, why="JAX does not subtract bools: write x1 ^ x2"),
    "multiply": multiply,
    Family.DIVIDE: divide,
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
    Family.FLOAT_BINARY: _floats,
    "atan2": atan2,
    "copysign": TypeRule(admit=_WIDE_REAL, compute=floating, note=_FLOAT_NOTE),
    "nextafter": TypeRule(admit=ORDERED, compute=floating, note=_FLOAT_NOTE),
    Family.WHERE: TypeRule(),
    Family.CLIP: clip,
    Family.MATMUL: matmul,
    "outer": TypeRule(),
    "matrix_power": TypeRule(),
    Family.CONCAT: TypeRule(),
    Family.LOSS: TypeRule(admit=dt.REALS),
    "poisson_nll_loss": TypeRule(admit=ORDERED),
    Family.FLOAT_UNARY: _floats,
    Family.SIGN: TypeRule(admit=NUMBERS, why="JAX does not take the sign of a bool"),
    "positive": TypeRule(),
    "abs": TypeRule(compute=lambda d: None if d in (dt.int2, dt.int4) else d, result=component),
    "square": TypeRule(compute=bool_to_int32, note=_INT32_NOTE),
    Family.ROUND: TypeRule(admit=ORDERED),
    "round": TypeRule(admit=NUMBERS, why="JAX does not round bools"),
    Family.TEST: TypeRule(result=to_bool),
    "signbit": TypeRule(admit=_WIDE_REAL, result=to_bool),
    Family.COMPLEX: TypeRule(result=component),
    "conj": TypeRule(),
    Family.TRUTH: TypeRule(result=to_bool),
    "searchsorted": TypeRule(
        result=always(dt.int32), note="int32 with x64 too, while no index needs more"
    ),
}


def operations(defaults: Defaults) -> dict[str | Family, OperationRule]:
    """Return the rule of every operation, given what the weak types become."""
    return _linear_algebra(defaults) | _OPERATIONS | _strong_results(defaults)


def _strong_results(defaults: Defaults) -> dict[str | Family, OperationRule]:
    """The rules of elementwise functions and reductions whose result is not weakly typed."""
    strong, strong_float = strongly(defaults), strongly(defaults, floating)
    position = defaults[dt.weak_int]
    logarithm = TypeRule(compute=strong_float, note=_STRONG_NOTE)
    return {
        "hypot": without_axes(
            TypeRule(admit=ORDERED, compute=floating, note=_BROADCAST_NOTE),
            TypeRule(admit=ORDERED, compute=strong_float, note=_BROADCAST_NOTE),
        ),
        "logaddexp": without_axes(
            TypeRule(compute=floating),
            TypeRule(
                compute=lambda d: strong(d) if d.kind is Kind.COMPLEX else floating(d),
                note="the result of weakly typed complex operands is not, where one has an axis",
            ),
        ),
        "log2": logarithm,
        "log10": logarithm,
        Family.SUM: TypeRule(
            compute=partial(summed, defaults),
            note="integers are summed in the widest of their kind",
        ),
        "cumulative_prod": TypeRule(
            compute=lambda d: position if d is dt.bool else strong(d), note=_STRONG_NOTE
        ),
        Family.MEAN: TypeRule(compute=strong_float, result=component, note=_FLOAT_NOTE),
        "mean": TypeRule(compute=strongly(defaults, inexact), note=_FLOAT_NOTE),
        Family.EXTREME: TypeRule(compute=strong, note=_STRONG_NOTE),
        Family.POSITION: TypeRule(admit=ORDERED, result=always(position), why=NO_ORDER),
    }


def _linear_algebra(defaults: Defaults) -> dict[str | Family, OperationRule]:
    """The rules of linear algebra, Fourier transforms, sets and sorting."""
    strong, strong_float = strongly(defaults), strongly(defaults, floating)
    position = defaults[dt.weak_int]
    strong_floats = TypeRule(compute=strong_float, note=_FLOAT_NOTE)
    return {
        **linear(
            _floats,
            index=position,
            norms=strong_floats,
            fft=TypeRule(compute=strongly(defaults, spectral), note=_STRONG_NOTE),
            rfft=TypeRule(
                admit=BITS | frozenset(rows("f32 f64 f*")),
                compute=strong_float,
                why="lax.fft transforms float32 and float64",
            ),
        ),
        "cross": TypeRule(admit=NUMBERS, compute=strong, why="JAX does not subtract bools"),
        "inv": strong_floats,
        "pinv": strong_floats,
        "slogdet": replace(strong_floats, extra_results=(component,)),
        "vector_norm": TypeRule(
            compute=partial(squared, defaults),
            result=component,
            note="integers are summed as floats",
        ),
        **uniques(
            TypeRule(result=lambda d: strong(d) if d.kind is Kind.COMPLEX else d), always(position)
        ),
        "diagonal": TypeRule(result=strong),
    }
