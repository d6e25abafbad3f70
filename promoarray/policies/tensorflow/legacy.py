"""TensorFlow's legacy rule: nothing promotes but Python scalars.

The rule is asymmetric. A Python scalar becomes the dtype of the tensor it meets, if it may; two
tensors must agree already. Functions such as `tf.add` settle a scalar on the left first, on int32,
float32 or complex128, so ``tf.add(1, x)`` takes an int32 ``x`` alone; ``1 + x`` does not.

Sources: the type lists of the operators in tensorflow/core/ops. Recorded:
conformance/golden/tf_legacy.txt, 2.21.0 on CPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.operations import Family
from promoarray.policies.tensorflow.casts import CASTS
from promoarray.policies.tensorflow.foreign import FOREIGN
from promoarray.policies.tensorflow.quantization import QUANTIZATION
from promoarray.policies.tensorflow.scalars import (
    DEFAULTS,
    HELD,
    STORED,
    converts,
    fits,
    fits_alone,
)
from promoarray.promotion.answers import Answers
from promoarray.promotion.linalg_rules import AS_COMPLEX, LAPACK, linear, spectrum
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import BRANCHES, Policy
from promoarray.promotion.scalars import Scalars
from promoarray.promotion.source import Source
from promoarray.promotion.type_rules import TypeRule, same, to_bool
from promoarray.promotion.type_steps import (
    always,
    component,
    indices_of,
    of_one_dtype,
    supported_types,
)

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

FLOATS = frozenset({dt.bfloat16, dt.float16, dt.float32, dt.float64})
COMPLEX = frozenset({dt.complex64, dt.complex128})
SIGNED = frozenset({dt.int8, dt.int16, dt.int32, dt.int64})
UNSIGNED = frozenset({dt.uint8, dt.uint16, dt.uint32, dt.uint64})

DTYPES = (
    *(dt.bool, dt.uint8, dt.uint16, dt.uint32, dt.uint64),
    *(dt.int8, dt.int16, dt.int32, dt.int64),
    *(dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.complex64, dt.complex128),
    *(dt.int2, dt.int4, dt.uint2, dt.uint4, dt.float4_e2m1fn),
    *(dt.float8_e4m3b11fnuz, dt.float8_e4m3fn, dt.float8_e4m3fnuz),
    *(dt.float8_e5m2, dt.float8_e5m2fnuz),
)


def legacy(a: DType, b: DType) -> DType | None:
    """Common dtype by the legacy rule; of two scalars the left one decides."""
    if a.weak and b.weak:
        a = DEFAULTS[a]
    if a.weak:
        a, b = b, a
    return a if a is b or (b.weak and converts(b, a)) else None


def stepped(a: DType, b: DType) -> DType | None:
    """Common dtype of `nextafter`, whose list of types has a default: float32 of two numbers."""
    if not (a.weak and b.weak):
        return legacy(a, b)
    return dt.float32 if converts(a, dt.float32) and converts(b, dt.float32) else None


def alone_settles(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter a Python scalar that meets no tensor as the dtype it has on its own."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal) or len(entered) > 1:
        return entered
    return (DEFAULTS.get(entered[0], entered[0]),)


def left_settles(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter a Python scalar on the left as the dtype it has on its own."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    left, *rest = entered
    return (DEFAULTS.get(left, left), *rest)


def mask(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply; beside a bool tensor in int32, whose product becomes a bool: 0.37 is false there.

    So `_mul_dispatch_factory` of python/ops/tensor_math_operator_overrides.py has it.
    """
    if any(operand.type is dt.bool for operand in operands):
        return policy.make_plan(name, dt.int32, dt.bool, 2)
    return arithmetic(policy, name, operands)


def legacy_mask(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply as `mask`; a scalar on the left must become bool first, which a number does not."""
    return (arithmetic if operands[0].type in WEAK else mask)(policy, name, operands)


def product(a: DType, b: DType) -> DType | None:
    """Common dtype of a matrix product: bfloat16 may meet float32 (BatchMatMulV3)."""
    return dt.float32 if {a, b} == {dt.bfloat16, dt.float32} else legacy(a, b)


def settled(dtype: DType) -> DType:
    """Make a weak dtype what it is in memory, for operations whose result is never weak."""
    return HELD.get(dtype, dtype)


def quotient(dtype: DType) -> DType:
    """Divide integers in float32 up to 16 bits, in float64 above."""
    if dtype is dt.weak_int:
        return dt.weak_float
    if dtype.kind not in INTEGERS:
        return dtype
    return dt.float32 if dtype.bits <= 16 else dt.float64


WEAK = frozenset({dt.weak_int, dt.weak_float, dt.weak_complex})
_REALS = SIGNED | UNSIGNED | FLOATS
_NUMBERS = _REALS | COMPLEX
_INEXACT = FLOATS | COMPLEX
LISTED = "the operator's list of types has no such dtype"

PRODUCTS = _NUMBERS - {dt.int8, dt.int16} | {dt.weak_float}

arithmetic = TypeRule(admit=_NUMBERS | WEAK, why=LISTED)
_division = TypeRule(
    admit=_NUMBERS | WEAK,
    compute=quotient,
    why=LISTED,
    note="integers up to 16 bits divide in float32, wider ones in float64",
)
_order = TypeRule(promote=legacy, admit=_REALS, result=to_bool, why=LISTED)
integers = TypeRule(promote=legacy, admit=SIGNED | UNSIGNED, why=LISTED)
bitwise = TypeRule(promote=legacy, admit=SIGNED | UNSIGNED | {dt.bool}, why=LISTED)
_extremum = TypeRule(admit=_REALS | WEAK - {dt.weak_complex}, result=settled, why=LISTED)
_floats = TypeRule(promote=legacy, admit=FLOATS, why=LISTED)
_FACTORED = frozenset({dt.float16, *LAPACK})
_REAL_FACTORED = _FACTORED - COMPLEX
_sorted = TypeRule(admit=_REALS, why=LISTED)
bools = TypeRule(promote=legacy, admit=frozenset({dt.bool}), result=to_bool, why=LISTED)
same_dtype = TypeRule(promote=legacy)


def divided(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Divide what operands become first: -3 is 253 beside a uint8, and the dividend 253.0."""
    plan, entered = (rule(policy, name, operands) for rule in (_division, arithmetic))
    if isinstance(plan, Refusal) or isinstance(entered, Refusal):
        return plan
    return plan._replace(inputs=entered.inputs)


OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: arithmetic,
    "multiply": legacy_mask,
    Family.DIVIDE: divided,
    Family.FLOOR_DIVIDE: TypeRule(admit=_REALS | WEAK - {dt.weak_complex}, why=LISTED),
    "fmod": TypeRule(
        admit=frozenset({dt.int32, dt.int64, dt.float32, dt.float64}) | WEAK - {dt.weak_complex},
        why="tf.truncatemod takes int32, int64, float32 and float64",
    ),
    Family.POW: TypeRule(admit=_NUMBERS - UNSIGNED | WEAK, why=LISTED),
    Family.EQUALITY: TypeRule(result=to_bool),
    Family.ORDER: _order,
    Family.LOGICAL: bools,
    Family.BITWISE: bitwise,
    "bitwise_invert": bitwise,
    Family.SHIFT: integers,
    Family.EXTREMUM: _extremum,
    Family.FLOAT_BINARY: _floats,
    "nextafter": TypeRule(promote=stepped, admit=frozenset({dt.float32, dt.float64}), why=LISTED),
    Family.WHERE: same_dtype,
    Family.CLIP: _extremum,
    Family.MATMUL: TypeRule(
        promote=product,
        admit=PRODUCTS,
        why=LISTED,
        note="matrix products promote nothing but bfloat16 beside float32",
    ),
    "cross": TypeRule(promote=legacy, admit=_REALS, why=LISTED),
    **linear(
        TypeRule(promote=legacy, admit=_FACTORED, why=LISTED),
        index=dt.int32,
        fft=TypeRule(admit=COMPLEX, why=LISTED),
        rfft=TypeRule(admit=frozenset({dt.float32, dt.float64}), why=LISTED),
    ),
    "eig": TypeRule(admit=LAPACK, result=spectrum, extra_results=(spectrum,), why=LISTED),
    "eigvals": TypeRule(admit=LAPACK, result=spectrum, why=LISTED),
    "eigh": TypeRule(admit=_FACTORED, extra_results=(same,), why=LISTED, note=AS_COMPLEX),
    "eigvalsh": TypeRule(admit=_FACTORED, why=LISTED, note=AS_COMPLEX),
    "slogdet": TypeRule(admit=_FACTORED, extra_results=(same,), why=LISTED, note=AS_COMPLEX),
    "pinv": TypeRule(admit=_REAL_FACTORED, why=LISTED),
    "matrix_rank": TypeRule(admit=_REAL_FACTORED, result=always(dt.int32), why=LISTED),
    Family.NORM: TypeRule(
        admit=_INEXACT, why=LISTED, note="the norm of complex tensors is complex"
    ),
    Family.SORT: _sorted,
    Family.INDEX: replace(_sorted, result=always(dt.int32)),
    Family.CONCAT: same_dtype,
    Family.LOSS: _floats,
    Family.FLOAT_UNARY: TypeRule(
        admit=_INEXACT,
        why="this operation does not convert integers to floats, nor bools or floats of 8 bits",
    ),
    Family.SIGN: TypeRule(admit=_NUMBERS - UNSIGNED, why=LISTED),
    "abs": TypeRule(admit=_NUMBERS - UNSIGNED, result=component, why=LISTED),
    "positive": TypeRule(),
    "square": TypeRule(admit=_NUMBERS, why=LISTED),
    Family.ROUND: TypeRule(admit=FLOATS, why=LISTED),
    "round": TypeRule(admit=frozenset({Kind.INT, Kind.UINT, *FLOATS}), why=LISTED),
    Family.TEST: TypeRule(admit=FLOATS, result=to_bool, why=LISTED),
    Family.COMPLEX: TypeRule(admit=frozenset(DTYPES) - {dt.bool}, why=LISTED),
    "real": TypeRule(admit=_NUMBERS, result=component, why=LISTED),
    "imag": TypeRule(result=component),
    Family.SUM: TypeRule(admit=_NUMBERS, why=LISTED),
    "mean": TypeRule(admit=_NUMBERS, why=LISTED, note="the mean of integers is an integer"),
    Family.MEAN: TypeRule(
        admit=_INEXACT,
        result=component,
        why="std and var take bfloat16, float16, float32, float64 and complex",
    ),
    Family.EXTREME: TypeRule(admit=_REALS, why=LISTED),
    Family.TRUTH: bools,
    Family.POSITION: TypeRule(admit=_REALS | {dt.bool}, result=always(dt.int64), why=LISTED),
    "searchsorted": TypeRule(promote=legacy, admit=_REALS, result=always(dt.int32), why=LISTED),
}

FUNCTIONS: dict[str | Family, OperationRule] = {
    "add": TypeRule(operand_types=left_settles, promote=legacy, admit=_NUMBERS, why=LISTED),
    "multiply": arithmetic,
    Family.BITWISE: integers,
    "bitwise_invert": integers,
}

LEGACY = Policy(
    name="tensorflow",
    title="TensorFlow",
    principle=(
        "No promotion between tensors; a Python scalar becomes what the tensor it meets is, if "
        "the operator converts that side."
    ),
    promote=legacy,
    dtypes=DTYPES,
    operations=OPERATIONS,
    functions=FUNCTIONS,
    operand_types=alone_settles,
    scalars=Scalars(fit=fits, fit_alone=fits_alone),
    kernels={
        "multiply": ("plain_multiply",),
        "square": ("plain_square",),
        "pow": ("plain_pow",),
        "floor_divide": ("checked_floor_divide", "floor_of_quotient"),
        "remainder": ("checked_remainder", "remainder_keeping_zero"),
        "fmod": ("checked_fmod",),
        "arange": ("arange_by_rounded_products",),
        "linspace": ("line_by_products",),
        "mean": ("truncated_mean", "mean_or_zero"),
        "argmax": ("argmax_without_nan",),
        "argmin": ("argmin_without_nan",),
        "max": ("max_or_lowest",),
        "min": ("min_or_highest",),
        "clip": ("low_bound_last",),
        "bitwise_left_shift": ("left_shift_within",),
        "bitwise_right_shift": ("right_shift_within",),
    },
    defaults=DEFAULTS,
    counts=dt.int64,
    stored=STORED,
    foreign=FOREIGN,
    answers=Answers(__file__, "functions.txt", "tensorflow", converts=True),
    one_element=BRANCHES | {"setitem"},
    refuses={"meshgrid": of_one_dtype, "take": indices_of(dt.int16, dt.int32, dt.int64)},
    cast=CASTS,
    quantization=QUANTIZATION,
    refusal="tensors must have the same dtype; a Python scalar becomes that of its tensor, but no"
    " lower kind, and a bool only bool, int32, int64, uint64, float16, float32, float64 and"
    " complex128",
    sources=(
        Source("TensorFlow API, tf.Tensor and tf.convert_to_tensor", "", "2.21"),
        Source("tensorflow/tensorflow, tensorflow/core/ops", "type lists", "2.21.0"),
    ),
)
