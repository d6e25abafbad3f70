"""MLX, Apple's array framework: JAX's lattice with 32-bit defaults, on the CPU or on Metal.

``mlx@0.32`` is what mlx 0.32.4 answered on its CPU device, on Linux x86-64
(conformance/golden/mlx.txt); casts there are those of C. ``mlx@0.32-metal`` casts as documents and
reports say that GPUs do; nothing was asked of one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.operations import Family
from promoarray.policies._narrow_jax import DEFAULTS, DTYPES, PRINCIPLE, promote, summed
from promoarray.promotion.cast_quirks import RECORDED, SAID_BY_X86
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule, dtypes
from promoarray.promotion.default_rules import operations
from promoarray.promotion.foreign import INTS, WRITTEN, Entry, Foreign, Given, case
from promoarray.promotion.linalg_rules import linear
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import CONVERSIONS, Policy
from promoarray.promotion.policy_like import OperationRule, PolicyLike
from promoarray.promotion.scalars import Scalars, in_range, of_int64, passing, wrap
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import Stored, any_array, real_part
from promoarray.promotion.type_rules import (
    PROMOTING,
    Arrays,
    TypeRule,
    in_own_dtype,
    to_bool,
    with_arrays,
)
from promoarray.promotion.type_steps import NO_ORDER, always, component, exact_to, with_bools


@passing()
def fit(value: Any, dtype: DType) -> Any:
    """Refuse an int that no int64 holds, or an integer dtype of fewer bits does not; else wrap."""
    of_int64(value)
    return in_range(value, dtype) if dtype.bits < 64 else wrap(value, dtype)


@passing()
def converted(value: Any, dtype: DType) -> Any:
    """Cast a number as C does: the low bits of an int64, the real part of a complex number."""
    return wrap(of_int64(real_part(value, dtype)), dtype)


def _ints(values: tuple[Any, ...]) -> DType | None:
    """int64 of ints that no int32 holds."""
    wide = any(type(v) is int and not -(1 << 31) <= v < 1 << 31 for v in values)
    return dt.int64 if wide and all(type(v) in (int, bool) for v in values) else None


def _to_complex64(dtype: DType) -> DType:
    """What is transformed: complex64, or float32 of anything real."""
    return dt.complex64 if dtype.kind is Kind.COMPLEX else dt.float32


def _in_place_quotient(types: tuple[DType, ...]) -> str | None:
    """Refuse ``x /= y`` of integers, where ``x *= 1.5`` makes floats of them."""
    said = "division in place makes no floats of integers: write x = x / y"
    return None if types[0].kind in INEXACT else said


_floats = TypeRule(compute=exact_to(dt.float32), note="bools and integers compute in float32")
_ordered = TypeRule(admit=ORDERED, why=NO_ORDER)
_real_lapack = frozenset({dt.float32, dt.float64})
_factored = TypeRule(admit=_real_lapack, why="linear algebra takes float32 and float64")
_spectral = replace(_factored, admit=_real_lapack | {dt.complex64})


def _by_array(rule: OperationRule) -> OperationRule:
    """Make an int a number of the integer array beside it before both are floats."""

    def entered(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        array = next((operand.type for operand in operands if not operand.type.weak), dt.bool)
        if isinstance(plan, Refusal) or array.kind not in INTEGERS:
            return plan
        pairs = zip(operands, plan.inputs, strict=True)
        return plan._replace(inputs=tuple(array if o.type is dt.weak_int else i for o, i in pairs))

    return entered


def _clip(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Make arrays of the bounds beside the one that is clipped, then promote all three."""
    first = operands[0].type
    if first.kind in BITS:
        kept = dt.weak_int if first.kind in INTEGERS else None
        strong = {weak: dtype for weak, dtype in DEFAULTS.items() if weak is not kept}
        operands = tuple(o._replace(type=strong.get(o.type, o.type)) for o in operands)
    return _by_array(PROMOTING)(policy, name, operands)


def _single(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Compute float64 in float32."""
    plan = _floats(policy, name, operands)
    if isinstance(plan, Refusal) or plan.compute is not dt.float64:
        return plan
    return plan._replace(inputs=(dt.float32,), compute=dt.float32)


def _sum(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Sum narrow integers in 32 bits; an array without axes is returned as it is."""
    return (PROMOTING if operands[0].rank is Rank.ZERO_D else _summed)(policy, name, operands)


def _floor_divide(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Divide complex numbers as ``/`` does, all others down to the next integer."""
    plan = in_own_dtype(PROMOTING)(policy, name, operands)
    if isinstance(plan, Refusal) or plan.inputs[0].kind is not Kind.COMPLEX:
        return plan
    return plan._replace(kernel="divide")


_summed = TypeRule(
    compute=summed, note="bools and narrow integers are summed in 32 bits of their kind"
)


def _solve(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Take float32 and float64 matrices, and right-hand sides that promote to one of them."""
    admitted = operands[0].type in _real_lapack
    return _factored(policy, name, operands) if admitted else Refusal(_factored.why)


_products = TypeRule(admit=INEXACT, why="matrix products take floats and complex numbers")
_BITWISE = TypeRule(admit=BITS)
_SHIFT = TypeRule(
    admit=BITS,
    compute=lambda dtype: dt.uint8 if dtype is dt.bool else dtype,
    note="bools are shifted in uint8",
)
_transforms = TypeRule(compute=_to_complex64, note="all are transformed in 32 bits")

_OPERATIONS: dict[str | Family, OperationRule] = {
    **operations(DEFAULTS),
    "subtract": TypeRule(),
    Family.DIVIDE: _by_array(_floats),
    Family.FLOOR_DIVIDE: _floor_divide,
    "remainder": _ordered,
    Family.POW: TypeRule(),
    Family.ORDER: TypeRule(result=to_bool),
    Family.BITWISE: with_arrays(Arrays.FIRST, _BITWISE),
    "bitwise_invert": _BITWISE,
    Family.SHIFT: with_arrays(Arrays.FIRST, _SHIFT),
    Family.EXTREMUM: TypeRule(),
    "atan2": _by_array(TypeRule(admit=ORDERED, compute=exact_to(dt.float32), why=NO_ORDER)),
    "logaddexp": _by_array(_floats),
    Family.CLIP: _clip,
    Family.MATMUL: _products,
    "outer": TypeRule(),
    "cross": TypeRule(),
    **linear(
        _factored,
        index=dt.uint32,
        norms=_floats,
        fft=_transforms,
        rfft=_transforms,
        irfft=_transforms,
    ),
    "trace": TypeRule(compute=summed),
    "eig": replace(_spectral, result=always(dt.complex64), extra_results=(always(dt.complex64),)),
    "eigvals": replace(_spectral, result=always(dt.complex64)),
    "eigh": replace(_spectral, result=component, extra_results=(lambda dtype: dtype,)),
    "eigvalsh": replace(_spectral, result=component),
    "svd": replace(_spectral, extra_results=(component, lambda dtype: dtype)),
    "solve": _solve,
    Family.SORT: TypeRule(),
    Family.FLOAT_UNARY: _floats,
    **dict.fromkeys(("sin", "cos", "exp"), _single),
    "expm1": TypeRule(admit=ORDERED, compute=exact_to(dt.float32)),
    Family.SIGN: TypeRule(),
    "abs": TypeRule(result=component),
    "negative": TypeRule(admit=NUMBERS, why="MLX does not negate bools"),
    Family.ROUND: _ordered,
    "round": TypeRule(),
    Family.SUM: _sum,
    "cumulative_sum": TypeRule(compute=lambda dtype: dt.int32 if dtype is dt.bool else dtype),
    "cumulative_prod": TypeRule(),
    Family.MEAN: replace(_floats, result=component),
    "mean": TypeRule(compute=summed, result=exact_to(dt.float32)),
    Family.EXTREME: TypeRule(),
    Family.POSITION: TypeRule(result=always(dt.uint32), note="positions are uint32"),
}

FOREIGN = Foreign(
    "MLX",
    (
        case(Entry.INT, (Given.SCALAR, Given.ZERO_D), INTS, of=["getitem"]),
        case(Entry.REFUSED, of=["getitem"]),
        case(Entry.TARGET, of=["setitem"]),
        case(Entry.NUMPY, forms=WRITTEN, first=True),  # NumPy's own operator comes first
        case(Entry.FLOAT, Given.SCALAR, "f64"),
        case(Entry.TARGET),
    ),
)
"""NumPy's scalars and arrays are cast to the dtype of the MLX array, but for float64, which derives
from Python's."""

_CPU = "mlx 0.32.4, CPU"
CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    sources=(Source("mlx.core.array.astype", RECORDED, _CPU),),
    notes=(
        SAID_BY_X86,
        Note(
            "MLX has no float8, float6 and float4 arrays; here they are ml_dtypes'.",
            dtypes("float8 float6 float4 scale"),
            borrowed=True,
        ),
    ),
)

_METAL = Source("ml-explore/mlx#4038", "astype: the GPU saturates, the CPU wraps", "0.31")

MLX = Policy(
    name="mlx@0.32",
    title="MLX 0.32 on the CPU",
    principle=PRINCIPLE,
    promote=promote,
    dtypes=DTYPES,
    operations=_OPERATIONS,
    functions={Family.BITWISE: _BITWISE, Family.SHIFT: _SHIFT},
    operand_types=with_bools,
    scalars=Scalars(fit=fit),
    defaults=DEFAULTS,
    ranked=frozenset({"sum", "prod"}),
    kernels={
        "floor_divide": ("floor_of_quotient",),
        "mean": ("mean_of_wrapped_sum",),
        "clip": ("clip_up_to",),
        "remainder": ("remainder_keeping_zero", "remainder_or_itself"),
        "bitwise_left_shift": ("masked_left_shift",),
        "bitwise_right_shift": ("masked_right_shift",),
        "pow": ("zero_reciprocal_pow", "plain_pow"),
    },
    foreign=FOREIGN,
    one_element=CONVERSIONS,
    stored=Stored(
        fit=converted,
        fit_by=dict.fromkeys(("setitem", "full", "full_like"), fit),
        dtype_by=dict.fromkeys(("asarray", "full", "arange"), _ints),
    ),
    assigns=any_array,
    refuses={"divide=": _in_place_quotient},
    cast=CASTS,
    refusal="MLX has no such dtype",
    sources=(Source("ml-explore/mlx, mlx/dtype.cpp", "type_rules", "0.32.4"),),
    notes=(
        Note("There is no complex128: float64 with complex64 is complex64.", dtypes("f64 c64")),
    ),
)

POLICIES = {
    "0.32": MLX,
    "0.32-metal": MLX.derive(
        "mlx@0.32-metal",
        title="MLX 0.32 on Metal",
        dtypes=tuple(dtype for dtype in DTYPES if dtype is not dt.float64),
        cast=replace(
            CASTS,
            mode=DEFAULT._replace(to_integer=ToInteger.SATURATE),
            sources=(_METAL,),
            notes=(
                Note(
                    "By a report (ml-explore/mlx#4038), not asked here: floats beyond an integer"
                    " saturate on the GPU; that NaN is 0 is a choice of this policy.",
                    INTEGER_DTYPES,
                    of=FLOAT_DTYPES,
                ),
                CASTS.notes[-1],
            ),
        ),
        sources=(Source("MLX documentation", "Data Types: float64 on the CPU", "0.32"), _METAL),
        notes=(*MLX.notes, "By documents and reports; no GPU was asked."),
    ),
}
EDITIONS = tuple(POLICIES)


def edition(edition: str) -> Policy:
    """MLX ``0.32`` on the CPU, or ``-metal``."""
    return POLICIES[edition]
