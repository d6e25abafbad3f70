"""Keras 3: ``keras.ops`` on PyTorch, on TensorFlow and on JAX.

The operator is the back end's: Keras leaves its tensors as they are. A function of ``keras.ops``
promotes by JAX's lattice with defaults of 32 bits, and many make 32 bits of 64 at the end
(``BIT64_TO_BIT32_DTYPE``). On JAX without x64 both are JAX's own rule.

Recorded: conformance/golden/keras_torch.txt, Keras 3.15.1 on torch 2.13.0, keras_tensorflow.txt and
keras_jax.txt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, DType
from promoarray.operations import Family, Form, operation
from promoarray.policies._keras_tensorflow import FUNCTIONS as TENSORFLOW_FUNCTIONS
from promoarray.policies._keras_tensorflow import computed_in, rounded
from promoarray.policies._narrow_jax import DEFAULTS, LATTICE_C128, narrowed, strongly, summed
from promoarray.policies.jax.jnp import POLICIES as JAX
from promoarray.policies.tensorflow.legacy import LEGACY
from promoarray.policies.torch.operators import POLICIES as TORCH
from promoarray.promotion.cast_rules import case as cast_case
from promoarray.promotion.cast_transforms import real_part_counts
from promoarray.promotion.foreign import CALLED, Entry, Foreign, case
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.policy_like import ByValue, OperationRule, PolicyLike
from promoarray.promotion.scalars import in_range, of_int64, passing, wrap
from promoarray.promotion.source import Source
from promoarray.promotion.type_rules import TypeMap, TypeRule, same, to_bool
from promoarray.promotion.type_steps import NO_ORDER, always, component, with_bools, with_wide_ints

PROMOTE = strongly(LATTICE_C128)
_TORCH = TORCH["2.13"]


def _types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count operands as their own types, and numbers that are alone as arrays of 32 bits."""
    types = with_bools(policy, operands)
    alone = all(operand.rank is Rank.SCALAR for operand in operands)
    if isinstance(types, Refusal) or not alone:
        return types
    return tuple([DEFAULTS.get(dtype, dtype) for dtype in types])


def _rule(compute: TypeMap = same, **fields: Any) -> TypeRule:
    """A function of ``keras.ops``: it promotes by Keras' lattice."""
    return TypeRule(operand_types=_types, promote=PROMOTE, compute=compute, **fields)


def _of_torch(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Make tensors without axes of Python numbers, of 32 bits, and go by PyTorch's operator.

    A difference is promoted as a sum, and a remainder of bools is of int32.
    """
    made = tuple(
        Operand(DEFAULTS[o.type], Rank.ZERO_D) if o.rank is Rank.SCALAR else o for o in operands
    )
    if name == "remainder" and all(o.type is dt.bool for o in made):
        made = tuple(o._replace(type=dt.int32) for o in made)
    as_operator = "add" if name == "subtract" else name
    plan = _TORCH.rule(as_operator, made, Form.OPERATOR)(policy, name, made)
    if isinstance(plan, Refusal):
        return plan
    if plan.result is dt.complex32:
        return Refusal("Keras has no complex32")
    if name == "subtract" and plan.result is dt.bool:
        return Refusal("PyTorch does not subtract bools")
    return plan if name == "divide" else _rounded(plan, operands)


def _rounded(plan: Plan, operands: tuple[Operand, ...]) -> Plan:
    """Make tensors of floats of Python first: 0.1 is a float32, also beside float64."""
    inputs = [rounded(o, i, DEFAULTS) for o, i in zip(operands, plan.inputs, strict=True)]
    return plan._replace(inputs=tuple(inputs))


def _clip(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Clip as PyTorch does, by bounds without axes of Python numbers; float16 stays what it is."""
    first, *bounds = (
        Operand(DEFAULTS[o.type], Rank.ZERO_D) if o.rank is Rank.SCALAR else o for o in operands
    )
    if first.type is dt.float16:
        return policy.make_plan(name, dt.float32, dt.float16, len(operands))
    made = first._replace(type=_no_bool(first.type)), *bounds
    plan = _TORCH.rule(name, made, Form.FUNCTION)(policy, name, made)
    return plan if isinstance(plan, Refusal) else _rounded(plan, operands)


@passing(-(1 << 31), (1 << 31) - 1)
def _chosen(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int32, which a number is first; refuse what makes an int64."""
    return wrap(in_range(value, dt.int32) if dtype.bits < 64 else of_int64(value), dtype)


def _by_value(*which: Family | str) -> ByValue:
    """Let these functions make an int64 tensor of an int that no int32 holds."""

    def entered(
        policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
    ) -> tuple[Operand, ...]:
        if form is Form.FUNCTION and {name, operation(name).family} & {*which}:
            return with_wide_ints(operands, Rank.ZERO_D)
        return tuple([Operand(o.type, o.rank) for o in operands])

    return entered


def _foreign(back_end: Foreign | None) -> Foreign:
    """Let functions make tensors of what is NumPy's; operators and items are the back end's."""
    cases = back_end.cases if back_end else ()
    items = tuple(each for each in cases if each.operations and each.operations & _ITEMS)
    return Foreign("Keras", (*items, case(Entry.ARRAY, forms=CALLED), *cases))


_ITEMS = {"getitem", "setitem"}
_TO_TENSORS = (Family.BITWISE, Family.EQUALITY, Family.ORDER, Family.FLOAT_BINARY, "remainder")


def _float(dtype: DType) -> DType:
    return dtype if dtype.kind in INEXACT else dt.float32


def _narrow_float(dtype: DType) -> DType:
    return narrowed(_float(dtype))


def _no_bool(dtype: DType) -> DType:
    return dt.int32 if dtype is dt.bool else dtype


def _entering(rule: TypeRule) -> OperationRule:
    """Make tensors of Python floats first, which are float32 then: bfloat16 becomes that, too."""

    def entered(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        strong = {dt.weak_float: dt.float32, dt.weak_complex: dt.complex64}
        made = (o._replace(type=strong.get(o.type, o.type)) for o in operands)
        return rule(policy, name, tuple(made))

    return entered


def _matmul(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply int8 into int32, and float16 in float32."""
    if all(operand.type is dt.int8 for operand in operands):
        return policy.make_plan(name, dt.int32, dt.int32, 2)
    return _IN_FLOAT32(policy, name, operands)


def _floor_divide(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Divide as PyTorch does, and cast to what Keras promotes to."""
    plan, inside = (rule(policy, name, operands) for rule in (_QUOTIENT, _of_torch))
    if isinstance(plan, Refusal) or isinstance(inside, Refusal):
        return plan
    return inside._replace(result=plan.result)


_QUOTIENT = _rule(narrowed, admit=ORDERED - BITS | INTEGERS, why=NO_ORDER)
_IN_FLOAT32 = computed_in(
    _rule(narrowed), lambda dtype: dt.float32 if dtype is dt.float16 else dtype
)
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "pow", "remainder", "where")
_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
_ordered: dict[str, Any] = {"admit": ORDERED, "why": NO_ORDER}
_NUMBERS = _rule(admit=NUMBERS, why="PyTorch does not compute this of bools")
_sum = _rule(lambda dtype: dt.int32 if dtype is dt.uint8 else summed(dtype))
_running = _rule(lambda dtype: narrowed(_no_bool(dtype)))

FUNCTIONS: dict[str | Family, OperationRule] = {
    **dict.fromkeys((*_ARITHMETIC, *_BITWISE, Family.EQUALITY, Family.ORDER), _of_torch),
    "floor_divide": _floor_divide,
    Family.EXTREMUM: _rule(narrowed, **_ordered),
    "atan2": _entering(_rule(_narrow_float, **_ordered)),
    "hypot": _entering(_rule(_narrow_float, admit=ORDERED - BITS | INTEGERS, why=NO_ORDER)),
    "nextafter": computed_in(_entering(_rule(_narrow_float, **_ordered)), always(dt.float64)),
    "logaddexp": _entering(_rule(_narrow_float)),
    Family.CONCAT: _rule(),
    "matmul": _matmul,
    Family.CLIP: _clip,
    Family.FLOAT_UNARY: _rule(_float),
    "square": _rule(_no_bool),
    "abs": _rule(result=component),
    "negative": _NUMBERS,
    "sign": _rule(**_ordered),
    "signbit": _rule(result=to_bool, **_ordered),
    Family.ROUND: _rule(_narrow_float, **_ordered),
    "trunc": _rule(**_ordered),
    "round": _rule(admit=NUMBERS & ORDERED, why=NO_ORDER),
    "sum": _sum,
    "prod": _rule(lambda dtype: narrowed(dt.int32 if dtype is dt.uint8 else summed(dtype))),
    Family.TRUTH: _rule(result=to_bool),
    "cumulative_sum": _running,
    "cumulative_prod": _running,
    Family.MEAN: _rule(_float, result=component),
    "mean": computed_in(_rule(_float), narrowed),
    "var": _rule(_narrow_float),
    Family.EXTREME: _rule(**_ordered),
    Family.POSITION: _rule(result=always(dt.int32), **_ordered),
}

_KERAS = Source("keras-team/keras, keras/src/backend/common/dtypes.py", "result_type", "3.15.1")
_OPERATORS = "Operators are the back end's own; functions are those of keras.ops."
_NO_UNSIGNED = "Keras makes int32 of uint16 on PyTorch, int64 of uint32, and has no uint64 there."

KERAS_TORCH = _TORCH.derive(
    "keras@torch",
    title="Keras 3.15 on PyTorch",
    principle=(
        "Functions of keras.ops promote by JAX's lattice with defaults of 32 bits, and many make "
        "32 bits of 64; operators are PyTorch's."
    ),
    dtypes=tuple(d for d in _TORCH.dtypes if d not in (dt.uint16, dt.uint32, dt.uint64)),
    functions=FUNCTIONS,
    by_value=_by_value(*_TO_TENSORS, Family.ARITHMETIC, Family.POW),
    foreign=_foreign(_TORCH.foreign),
    scalars=_TORCH.scalars._replace(
        fit_family={**_TORCH.scalars.fit_family, "where": _chosen, "clip": _chosen}, fit_bound=None
    ),
    signatures={},
    answers=None,
    sources=(_KERAS, *_TORCH.sources),
    notes=(_OPERATORS, _NO_UNSIGNED, *_TORCH.notes),
)


def _settled(dtype: DType) -> DType:
    return DEFAULTS.get(dtype, dtype)


def _of_jax(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Make arrays of numbers first, which are not weak then, and go by jax.numpy."""
    made = tuple(o._replace(type=_settled(o.type)) for o in operands)
    return _JAX.rule(name, made, Form.FUNCTION)(policy, name, made)


def _cast_first(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Cast a weak integer to float32, which is not weak then, and go by jax.numpy."""
    made = tuple(o._replace(type=dt.float32) if o.type is dt.weak_int else o for o in operands)
    return _JAX.rule(name, made, Form.FUNCTION)(policy, name, made)


def _product(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply int8 into int32."""
    if all(operand.type is dt.int8 for operand in operands):
        return policy.make_plan(name, dt.int32, dt.int32, 2)
    return _JAX.rule(name, operands, Form.FUNCTION)(policy, name, operands)


def _jax_clip(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Clip bools as int32."""
    first, *bounds = operands
    made = first._replace(type=_no_bool(first.type)), *bounds
    return _JAX.rule(name, made, Form.FUNCTION)(policy, name, made)


def _no_integer(dtype: DType) -> DType:
    return dt.float32 if dtype.kind in BITS else dtype


_JAX = JAX["x32"]
_CAST_FIRST = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1"
_REAL_PART = cast_case("b1", "c64", transform=real_part_counts)  # as Keras casts complex numbers
_WHOLE = TypeRule(compute=_no_integer, admit=ORDERED, why=NO_ORDER)

KERAS_JAX = _JAX.derive(
    "keras@jax",
    title="Keras 3.15 on JAX",
    functions={
        **_JAX.functions,
        **dict.fromkeys(("atan2", "logaddexp"), _of_jax),
        "matmul": _product,
        "floor": _WHOLE,
        "ceil": _WHOLE,
        **dict.fromkeys(_CAST_FIRST.split(), _cast_first),
        "cumulative_sum": TypeRule(compute=lambda dtype: _settled(_no_bool(dtype))),
        "var": TypeRule(compute=lambda dtype: _settled(_float(dtype))),
        Family.CLIP: _jax_clip,
    },
    cast=replace(_JAX.cast, cases=(*_JAX.cast.cases, _REAL_PART)),
    sources=(_KERAS, *_JAX.sources),
    notes=("keras.ops on JAX without x64 is jax.numpy's rule but for a few.", *_JAX.notes),
)

KERAS_TENSORFLOW = LEGACY.derive(
    "keras@tensorflow",
    title="Keras 3.15 on TensorFlow",
    principle=(
        "Functions of keras.ops promote by JAX's lattice with defaults of 32 bits, then as each "
        "kernel takes it; operators are TensorFlow's, which promote nothing but Python numbers."
    ),
    functions=TENSORFLOW_FUNCTIONS,
    by_value=_by_value(*_TO_TENSORS),
    foreign=_foreign(LEGACY.foreign),
    kernels={**LEGACY.kernels, "hypot": ("hypot_of_sizes",)},
    signatures={},
    answers=None,
    sources=(_KERAS, *LEGACY.sources),
    notes=(
        _OPERATORS,
        "An int beyond int32 is an int64 tensor in functions that make tensors of numbers first, "
        "such as mod and bitwise_and.",
        *LEGACY.notes,
    ),
)

POLICIES = {"torch": KERAS_TORCH, "tensorflow": KERAS_TENSORFLOW, "jax": KERAS_JAX}
EDITIONS = tuple(POLICIES)


def edition(edition: str) -> Policy:
    """Keras on ``torch``, ``tensorflow`` or ``jax``."""
    return POLICIES[edition]
