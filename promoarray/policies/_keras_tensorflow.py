"""``keras.ops`` on TensorFlow: Keras' own promotion, then the kernel that TensorFlow has for it.

Numbers are weak where a function promotes ``type(x)``, as ``add`` does, and tensors of int32 and
float32 where it calls ``convert_to_tensor`` first, as ``mod`` does. uint64 and complex128 lose
half their bits, int64 and float64 do not.

Source: keras/src/backend/tensorflow/numpy.py, 3.15.1. Recorded:
conformance/golden/keras_tensorflow.txt, with TensorFlow 2.21.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, DType, Kind
from promoarray.operations import Family, Form
from promoarray.policies._narrow_jax import DEFAULTS, LATTICE_C128, strongly, summed
from promoarray.policies.tensorflow.legacy import LEGACY
from promoarray.policies.tensorflow.scalars import FROM_BOOL
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy_like import OperationRule, PolicyLike
from promoarray.promotion.type_rules import TypeMap, TypeRule, same, to_bool
from promoarray.promotion.type_steps import NO_ORDER, always, component, with_bools

_PROMOTE = strongly(LATTICE_C128)
_HALVED = {dt.uint64: dt.uint32, dt.complex128: dt.complex64}
NO_KERNEL = "TensorFlow's kernel takes no such dtype"
_STRONG = DEFAULTS | {dt.weak_complex: dt.complex128}


def halved(dtype: DType) -> DType:
    """What ``result_type`` makes of a common dtype: uint32 of uint64, complex64 of complex128."""
    return _HALVED.get(dtype, dtype)


def _tensors(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count numbers as the tensors that ``convert_to_tensor`` makes of them."""
    types = with_bools(policy, operands)
    return types if isinstance(types, Refusal) else tuple([_STRONG.get(t, t) for t in types])


def _numbers(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count operands as their own types, and numbers that are alone as tensors."""
    if all(operand.rank is Rank.SCALAR for operand in operands):
        return _tensors(policy, operands)
    return with_bools(policy, operands)


def rounded(operand: Operand, entered: DType, made: Mapping[DType, DType]) -> DType:
    """What an operand becomes that ``convert_to_tensor`` makes a tensor of: 0.1 a float32."""
    number = operand.type in (dt.weak_float, dt.weak_complex)
    return made[operand.type] if number and entered in (dt.float64, dt.complex128) else entered


def _made(index: int, operand: Operand, computed: DType) -> DType:
    return rounded(operand, computed, _STRONG)


def _rule(compute: TypeMap = halved, **fields: Any) -> TypeRule:
    """A function that promotes tensors, then computes."""
    fields = {"cast": _made, **fields}
    return TypeRule(
        **{"operand_types": _tensors, "promote": _PROMOTE, "compute": compute, **fields}
    )


def _weakly(compute: TypeMap = halved, **fields: Any) -> OperationRule:
    """A function beside which numbers are weak, and a bool becomes what TensorFlow makes of it."""
    rule = _rule(compute, operand_types=_numbers, cast=None, **fields)

    def entered(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        if isinstance(plan, Refusal):
            return plan
        bools = any(o.rank is Rank.SCALAR and o.type is dt.weak_bool for o in operands)
        # An integer dtype is converted to in two steps, of which neither refuses a bool.
        converts = plan.inputs[0].kind in BITS or plan.inputs[0] in FROM_BOOL
        said = f"TensorFlow makes no {plan.inputs[0].name} of a Python bool"
        return Refusal(said) if bools and not converts else plan

    return entered


def computed_in(rule: OperationRule, compute: TypeMap) -> OperationRule:
    """Compute in another dtype than that of the result."""

    def computed(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        inside = None if isinstance(plan, Refusal) else compute(plan.result)
        if isinstance(plan, Refusal) or inside is None:
            return plan
        return policy.make_plan(name, inside, plan.result, len(operands))

    return computed


def _float(dtype: DType) -> DType:
    """Integers in float32, int64 too."""
    return halved(dtype) if dtype.kind in INEXACT else dt.float32


def _no_integer(dtype: DType) -> DType:
    return dtype if dtype.kind in INEXACT else dt.float32


def _whole(dtype: DType) -> DType:
    """A power or a sign of unsigned integers is one of int32."""
    return dt.int32 if dtype.kind is Kind.UINT else dtype


def _side(dtype: DType) -> DType:
    """``hypot`` is of float64 where int64 is its common dtype."""
    return dt.float64 if dtype is dt.int64 else _float(dtype)


def _no_bool(dtype: DType) -> DType:
    return dt.int32 if dtype is dt.bool else dtype


def _product(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply int8 into int32, and other integers in float32, from which they are cast."""
    if all(operand.type is dt.int8 for operand in operands):
        return policy.make_plan(name, dt.int32, dt.int32, 2)
    return computed_in(_rule(), _float)(policy, name, operands)


def _shift(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Shift by a Python number in the dtype of the tensor, which keeps its 64 bits."""
    first, second = operands
    if second.rank is not Rank.SCALAR or second.type not in (dt.weak_int, dt.weak_bool):
        return _rule(admit=INTEGERS, why=NO_KERNEL)(policy, name, operands)
    dtype = _STRONG.get(first.type, first.type)
    if dtype.kind not in INTEGERS or (second.type is dt.weak_bool and dtype not in FROM_BOOL):
        return Refusal(NO_KERNEL)
    return policy.make_plan(name, dtype, dtype, 2)


def _clip(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Clip as TensorFlow does: the bounds become what the tensor is, a bool an int32."""
    first, *bounds = operands
    made = first._replace(type=_no_bool(first.type)), *bounds
    return LEGACY.rule(name, made, Form.FUNCTION)(policy, name, made)


def _joined(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Join what is of one dtype as it is."""
    alike = len({operand.type for operand in operands}) == 1
    return _rule(same if alike else halved)(policy, name, operands)


_ORDERED_NUMBERS = ORDERED - BITS | INTEGERS
_NUMBERS: dict[str, Any] = {"admit": NUMBERS, "why": NO_KERNEL}
_BOTH: dict[str, Any] = {"admit": ORDERED, "why": NO_ORDER}
_ORDER: dict[str, Any] = {"admit": _ORDERED_NUMBERS, "why": NO_KERNEL}
_FLOATS, _KEEPING = _rule(_float), _rule(_no_integer)
_KEPT = _rule(same, **_NUMBERS)
_SIGNED = NUMBERS - {Kind.UINT}

FUNCTIONS: dict[str | Family, OperationRule] = {
    **dict.fromkeys(("add", "subtract", "multiply"), _weakly(**_NUMBERS)),
    "divide": _weakly(_float),
    "pow": computed_in(_weakly(**_NUMBERS), _whole),
    "floor_divide": _weakly(**_ORDER),
    "remainder": _rule(lambda dtype: halved(_no_bool(dtype)), **_BOTH),
    Family.EQUALITY: _rule(result=to_bool),
    Family.ORDER: _rule(result=to_bool, **_ORDER),
    Family.LOGICAL: TypeRule(
        operand_types=_tensors, promote=_PROMOTE, compute=to_bool, result=to_bool
    ),
    Family.BITWISE: _rule(admit=INTEGERS, why=NO_KERNEL),
    "bitwise_invert": _rule(same, admit=INTEGERS, why=NO_KERNEL),
    Family.SHIFT: _shift,
    Family.EXTREMUM: _weakly(**_ORDER),
    "atan2": _rule(_float, **_BOTH),
    "logaddexp": _rule(_float, **_BOTH),
    "hypot": _rule(_side, admit=NUMBERS, result=component, why=NO_KERNEL),
    "nextafter": computed_in(_rule(_float, **_BOTH), always(dt.float64)),
    Family.WHERE: _weakly(),
    Family.CONCAT: _joined,
    "matmul": _product,
    Family.CLIP: _clip,
    Family.FLOAT_UNARY: _FLOATS,
    "exp": _KEEPING,
    "expm1": _KEEPING,
    "reciprocal": _rule(same, admit=INEXACT, why=NO_KERNEL),
    "square": _rule(_no_bool),
    "abs": _rule(same, result=component),
    "negative": _rule(same, admit=_SIGNED, why=NO_KERNEL),
    "sign": computed_in(
        _rule(same, admit=_SIGNED | {dt.uint8, dt.uint16, dt.uint32}, why=NO_KERNEL), _whole
    ),
    "signbit": _rule(same, result=to_bool),
    Family.ROUND: _rule(_float, **_BOTH),
    "trunc": _rule(same, **_BOTH),
    "round": _rule(same, **_ORDER),
    Family.TEST: _rule(same, result=to_bool, **_BOTH),
    "conj": _KEPT,
    "real": _rule(same, result=component, **_NUMBERS),
    "imag": _rule(same, result=component),
    "sum": _rule(summed),
    "prod": _rule(lambda dtype: halved(summed(dtype))),
    "cumulative_sum": _rule(_no_bool),
    "cumulative_prod": _rule(_no_bool),
    "mean": computed_in(_KEEPING, halved),
    "std": replace(_KEEPING, result=component),
    "var": _FLOATS,
    Family.EXTREME: _rule(same, **_BOTH),
    Family.TRUTH: _rule(to_bool, result=to_bool),
    Family.POSITION: _rule(same, result=always(dt.int32), **_BOTH),
}
