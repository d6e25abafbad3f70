"""PyTorch: what its operators and functions take and compute in, and the policies.

From the lists of dtypes in aten/src/ATen/native and from what torch 2.13.0 answers on the CPU
(conformance/golden/torch.txt).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import (
    BITS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    ORDERED,
    REALS,
    WEAK_TYPES,
    DType,
    Kind,
)
from promoarray.operations import Family
from promoarray.policies.torch.casts import (
    TORCH_2_11,
    TORCH_2_11_CUDA,
    TORCH_2_13,
    TORCH_2_13_ARM64,
    TORCH_2_13_CUDA,
)
from promoarray.policies.torch.foreign import FOREIGN
from promoarray.policies.torch.promotion import DTYPES, FLOATS, REFUSAL, by_ranks, can_cast, promote
from promoarray.policies.torch.quantization import QUANTIZATION
from promoarray.policies.torch.scalars import (
    assigned,
    chosen,
    converted,
    counted,
    counting,
    exponent,
    fits,
    made,
    spaced,
)
from promoarray.promotion.answers import Answers
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.linalg_rules import LAPACK, linear
from promoarray.promotion.plan import Decomposition, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import CONVERSIONS, Policy
from promoarray.promotion.scalars import NARROW, Scalars, not_negative
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import Stored, any_array
from promoarray.promotion.type_rules import PROMOTING, Arrays, TypeRule, to_bool
from promoarray.promotion.type_steps import (
    NO_ORDER,
    agreed,
    always,
    component,
    exact_to,
    first_of,
    indices_of,
    of_one_dtype,
    supported_types,
    without_bounds,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promoarray.promotion.policy_like import OperationRule, PolicyLike


def no_bools(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Refuse bools, even beside another dtype and as a Python scalar."""
    if any(operand.type.kind is Kind.BOOL for operand in operands):
        return Refusal(
            "subtraction with a bool is not supported; of two bools write logical_xor(x1, x2)"
        )
    return policy.operand_types(policy, operands)


def _power_rule(operands: tuple[Operand, ...]) -> TypeRule:
    return PROMOTING if operands[-1].type is dt.weak_bool else _power


def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Refuse bool ** bool, but not a Python bool as exponent, which needs no kernel.

    One exponent of Python counts factors, but of float16 (``pow_tensor_scalar_kernel``).
    """
    plan = _power_rule(operands)(policy, name, operands)
    if isinstance(plan, Refusal) or operands[-1].rank is not Rank.SCALAR:
        return plan
    multiplied = plan.inputs[0].kind in INEXACT and plan.inputs[0] is not dt.float16
    return plan._replace(kernel="multiplied_pow") if multiplied else plan


_OPMATH = frozenset({dt.float16, dt.bfloat16})  # a tuple would compare each in Python


def divisor_in_opmath(index: int, operand: Operand, common: DType) -> DType:
    """Leave a second operand without dimensions in float32 (``iter.is_cpu_scalar(2)``)."""
    alone = index == 1 and operand.rank is not Rank.ARRAY
    return dt.float32 if alone and common in _OPMATH else common


def either_in_opmath(index: int, operand: Operand, common: DType) -> DType:
    """Leave a scalar factor in float32, also in ``s / x``: a Python scalar comes second there."""
    return divisor_in_opmath(1 if operand.rank is Rank.SCALAR else index, operand, common)


def by_reciprocal(operands: tuple[Operand, ...]) -> Decomposition | None:
    """Take ``s / x`` as ``x.reciprocal() * s`` (``Tensor.__rdiv__`` in torch/_tensor.py)."""
    is_number = operands[0].rank is Rank.SCALAR
    return Decomposition("reciprocal", 1, "multiply") if is_number else None


def by_blas(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Leave 16-bit floats to loops that begin with 0.0; all else is the BLAS's."""
    return name if computed in _OPMATH else ""


def number_first(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Multiply the second operand by alpha, which is 1: in ``s + x`` that is the number."""
    if operands[0].rank is not Rank.SCALAR:
        return ""
    return "scaled_add" if computed.kind is Kind.COMPLEX else name


def reals(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Refuse bools and complex numbers, even beside another dtype."""
    if any(operand.type.kind not in REALS for operand in operands):
        return Refusal("isin takes neither bool nor complex")
    return policy.operand_types(policy, operands)


def clipped_types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Take a 0-d bound beside a number for a number, too, and let no number change a float."""
    x, *bounds = operands
    ranks = {bound.rank for bound in bounds}
    if Rank.SCALAR not in ranks or Rank.ARRAY in ranks:
        return policy.operand_types(policy, operands)
    if x.type.kind is Kind.FLOAT:  # complex tensors are refused, whatever is in them
        complexes = (b.type for b in bounds if not b.type.weak and b.type.kind is Kind.COMPLEX)
        return x.type, *complexes
    numbers = (Operand(WEAK_TYPES[b.type.kind.category], Rank.SCALAR) for b in bounds)
    return policy.operand_types(policy, (x, *numbers))


_SPREAD: frozenset[Kind | DType] = frozenset({*FLOATS, Kind.COMPLEX})
_TO_FLOAT = exact_to(dt.float32)
_INT64 = always(dt.int64)
_OPMATH_NOTE = "beside float16 and bfloat16 a scalar is float32 and is not rounded first"
_FLOAT_NOTE = "bool and integers compute in the default dtype, float32"
_SUM_NOTE = "bool and integers, uint64 too, are summed in int64"
_PROD_NOTE = (
    "bool and integers, uint64 too, are multiplied in int64; a product of 16-bit floats is rounded "
    "once, as on a GPU: on a CPU at each step, in an order that its vectors decide"
)
_NO_MEAN = "bools and integers have no mean"
_NO_SPREAD = "std and var take bfloat16, float16, float32, float64 and complex"

_NO_LOW = (
    "linear algebra needs operands of one floating point or complex dtype (low precision dtypes"
    " are not supported)"
)

_power = TypeRule(admit=NUMBERS, note="bool ** bool is refused")
_sorted = TypeRule(admit=ORDERED, why=NO_ORDER)
_float_binary = TypeRule(admit=ORDERED, compute=_TO_FLOAT, note=_FLOAT_NOTE)
_floats_only = TypeRule(
    admit=frozenset({Kind.FLOAT}), why="this operation takes floats and converts nothing to them"
)
_unary = TypeRule(compute=_TO_FLOAT, note=_FLOAT_NOTE)

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    "add": TypeRule(kernel=number_first),
    "subtract": TypeRule(operand_types=no_bools),
    "multiply": TypeRule(cast=either_in_opmath, note=_OPMATH_NOTE),
    Family.DIVIDE: TypeRule(
        compute=_TO_FLOAT,
        cast=either_in_opmath,
        decomposition=by_reciprocal,
        note=f"{_FLOAT_NOTE}; {_OPMATH_NOTE}; a scalar / x is x.reciprocal() times the scalar",
    ),
    Family.FLOOR_DIVIDE: TypeRule(admit=REALS),
    "floor_divide": TypeRule(admit=REALS, cast=divisor_in_opmath, note=_OPMATH_NOTE),
    Family.POW: power,
    Family.EQUALITY: TypeRule(result=to_bool),
    Family.ORDER: TypeRule(admit=ORDERED, result=to_bool),
    Family.LOGICAL: TypeRule(
        result=to_bool, note="the operands promote, though the result is bool"
    ),
    Family.BITWISE: TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(admit=INTEGERS),
    Family.EXTREMUM: TypeRule(admit=ORDERED),
    Family.FLOAT_BINARY: _float_binary,
    "hypot": _floats_only,
    "nextafter": _floats_only,
    "logaddexp": TypeRule(
        admit=INEXACT, why="this operation takes floats and complex and converts nothing to them"
    ),
    Family.WHERE: TypeRule(),
    Family.CLIP: TypeRule(
        operand_types=clipped_types,
        admit=ORDERED,
        note="the bounds promote with the array, but numbers do not change a float",
    ),
    Family.MATMUL: TypeRule(
        operand_types=supported_types,
        promote=agreed,
        kernel=by_blas,
        note="matrix products promote nothing",
    ),
    "vecdot": TypeRule(operand_types=supported_types, promote=agreed, admit=INEXACT),
    "outer": TypeRule(),
    "cross": TypeRule(operand_types=supported_types, promote=agreed, admit=NUMBERS),
    "matrix_power": TypeRule(),
    **linear(
        TypeRule(operand_types=supported_types, promote=agreed, admit=LAPACK, why=_NO_LOW),
        index=dt.int64,
        norms=TypeRule(admit=INEXACT, why="a norm needs a floating point or complex tensor"),
        fft=TypeRule(
            admit=LAPACK | BITS,
            compute=_TO_FLOAT,
            why="torch.fft has no half, bfloat16 or float8 on the CPU",
            note=_FLOAT_NOTE,
        ),
    ),
    Family.SORT: _sorted,
    Family.INDEX: replace(_sorted, result=_INT64),
    Family.ISIN: TypeRule(operand_types=reals, result=to_bool),
    Family.CONCAT: TypeRule(),
    Family.LOSS: _floats_only,
    "l1_loss": TypeRule(admit=INEXACT, result=component),
    "poisson_nll_loss": TypeRule(admit=NUMBERS, compute=_TO_FLOAT, note=_FLOAT_NOTE),
    Family.FLOAT_UNARY: _unary,
    Family.SIGN: TypeRule(admit=NUMBERS, why="a bool has no sign: write logical_not"),
    "abs": TypeRule(result=component),
    "sign": TypeRule(note="torch.sgn is the one for complex numbers"),
    "square": TypeRule(compute=lambda d: dt.int64 if d is dt.bool else d, note="square is x ** 2"),
    Family.ROUND: TypeRule(admit=REALS),
    Family.TEST: TypeRule(result=to_bool),
    "signbit": TypeRule(admit=ORDERED, result=to_bool),
    Family.COMPLEX: TypeRule(),
    "real": TypeRule(result=component),
    "imag": TypeRule(admit=frozenset({Kind.COMPLEX}), result=component),
    Family.SUM: TypeRule(compute=exact_to(dt.int64), note=_SUM_NOTE),
    "prod": TypeRule(compute=exact_to(dt.int64), note=_PROD_NOTE),
    "mean": TypeRule(admit=INEXACT, why=_NO_MEAN),
    Family.MEAN: TypeRule(admit=_SPREAD, result=component, why=_NO_SPREAD),
    Family.EXTREME: TypeRule(admit=ORDERED),
    Family.TRUTH: TypeRule(
        result=lambda d: d if d is dt.uint8 else dt.bool,
        note="uint8 gives uint8: PyTorch's bool was once a uint8",
    ),
    Family.POSITION: TypeRule(admit=REALS, result=_INT64),
}

# Where a number comes first, the function has it as its first operand, the operator as its second.
FUNCTIONS: dict[str | Family, OperationRule] = {
    "add": TypeRule(),
    "multiply": TypeRule(cast=divisor_in_opmath, note=_OPMATH_NOTE),
    Family.DIVIDE: TypeRule(
        compute=_TO_FLOAT, cast=divisor_in_opmath, note=f"{_FLOAT_NOTE}; {_OPMATH_NOTE}"
    ),
}

# An operator takes Python scalars on either side, these functions do not.
SIGNATURES: dict[str | Family, Arrays] = {
    **dict.fromkeys((Family.LOGICAL, Family.EXTREMUM, Family.FLOAT_BINARY), Arrays.ALL),
    **dict.fromkeys((Family.MATMUL, Family.LOSS), Arrays.ALL),
    "fmod": Arrays.FIRST,
    "searchsorted": Arrays.FIRST,
    Family.ISIN: Arrays.SOME,
    "copysign": Arrays.FIRST,
    **dict.fromkeys((Family.EQUALITY, Family.ORDER), Arrays.FIRST),
    **dict.fromkeys((Family.POW, Family.BITWISE, Family.SHIFT, "remainder"), Arrays.SOME),
}


NOTES = (
    Note(
        "A 0-d tensor counts for less than one with dimensions, a Python scalar for less"
        " than both.",
        ranks=[Rank.SCALAR, Rank.ZERO_D],
    ),
)


def _shares(types: tuple[DType, ...]) -> str | None:
    """Refuse what torch.quantile does not take; a tensor of shares comes second."""
    why = first_of(dt.float32, dt.float64)(types)
    return why or of_one_dtype(types)


ANSWERS = Answers(__file__, "functions.txt", "torch@2.13")


def with_default(policy: Policy, dtype: DType) -> Policy:
    """Return a policy after ``torch.set_default_dtype``: Python floats become the dtype, and what
    makes floats of integers makes it of them."""
    compute, complexes = exact_to(dtype), dtype.complexified or dt.complex64

    def floating(rules: Mapping[str | Family, OperationRule]) -> dict[str | Family, OperationRule]:
        return {
            name: replace(rule, compute=compute)
            if isinstance(rule, TypeRule) and rule.compute is _TO_FLOAT
            else rule
            for name, rule in rules.items()
        }

    return policy.derive(
        policy.name,
        defaults={**policy.defaults, dt.weak_float: dtype, dt.weak_complex: complexes},
        operations=floating(policy.operations),
        functions=floating(policy.functions),
    )


V2_13 = Policy(
    name="torch@2.13",
    title="PyTorch 2.13",
    principle=(
        "The tensors with dimensions decide; 0-d tensors, and after them Python scalars, change "
        "their dtype only if their category (bool, integer, float, complex) is higher."
    ),
    promote=promote,
    dtypes=DTYPES,
    operations=OPERATIONS,
    foreign=FOREIGN,
    functions=FUNCTIONS,
    signatures=SIGNATURES,
    operand_types=by_ranks,
    ranks=True,
    scalars=Scalars(
        fit=fits,
        fit_family={Family.CLIP: converted, Family.WHERE: chosen},
        fit_exponent=not_negative(exponent),
    ),
    kernels={
        "add": ("add_scaled",),
        "subtract": ("subtract_scaled",),
        "multiply": ("plain_multiply",),
        "divide": ("fused_divide",),
        "reciprocal": ("fused_reciprocal",),
        "square": ("plain_square",),
        "floor_divide": ("checked_floor_divide",),
        "remainder": ("checked_remainder", "remainder_keeping_zero"),
        "fmod": ("checked_fmod",),
        "pow": ("reciprocal_pow", "plain_pow"),
        "sign": ("sign_without_nan", "sign_of_quotient"),
        "atan2": ("rounded_atan2",),
        "matmul": ("blas_matmul",),
        "tensordot": ("blas_tensordot",),
        "cumulative_sum": ("cumulative_sum_from_zero",),
        "clip": ("clip_beyond",),
        "linspace": ("linspace_of_integers", "fused_line_from_both_ends"),
        "arange": ("arange_counting_int64", "arange_by_vectors"),
    },
    defaults=NARROW,
    inplace=can_cast,
    stored=Stored(
        fit=converted,
        fit_by={"setitem": assigned, "asarray": made, "arange": counted, "linspace": spaced},
        range=counting,
        strong_lists=True,
        reads={"full": None, "full_like": None},
    ),
    assigns=any_array,
    refuses={
        "meshgrid": of_one_dtype,
        "quantile": _shares,
        "take": indices_of(dt.int32, dt.int64),
        "take_along_axis": indices_of(dt.int64),
        "getitem": indices_of(dt.int32, dt.int64, dt.bool, dt.uint8),
        "clip": without_bounds,
        "setitem": of_one_dtype,
    },
    masks=frozenset({dt.bool, dt.uint8}),
    copies=frozenset({"flip"}),
    one_element=CONVERSIONS | {"setitem"},
    composed=frozenset({"einsum"}),
    fills_powers=True,
    fixed={"weights": dt.float64},
    answers=ANSWERS,
    default_set=with_default,
    cast=TORCH_2_13,
    quantization=QUANTIZATION,
    can_cast=can_cast,
    refusal=REFUSAL,
    sources=(
        Source("PyTorch documentation, torch.Tensor attributes", "Type Promotion", "2.13"),
        Source("pytorch/pytorch, c10/core/ScalarType.cpp", "promoteTypes", "2.13.0"),
        Source("pytorch/pytorch, aten/src/ATen/native/TypeProperties.cpp", "result_type", "2.13.0"),
    ),
    notes=NOTES,
)

V2_11 = V2_13.derive(
    "torch@2.11",
    title="PyTorch 2.11",
    cast=TORCH_2_11,
    notes=(
        *NOTES,
        Note(
            "The cast to float8_e4m3fn does not saturate: overflow and infinities become NaN.",
            dtypes("f8_e4m3fn"),
        ),
    ),
)

ANSWERS_CUDA = Answers(__file__, "functions_cuda.txt", "torch@2.13", device="CUDA")
"""PyTorch on a GPU: which kernels it has by the lists of its own tests, results as on the CPU."""

V2_11_CUDA = V2_11.derive(
    "torch@2.11-cuda",
    title="PyTorch 2.11 on a GPU",
    answers=ANSWERS_CUDA,
    cast=TORCH_2_11_CUDA,
    notes=(
        *V2_11.notes,
        Note("Of PyTorch on a GPU the casts alone were recorded; all else is as on the CPU."),
    ),
)

V2_13_CUDA = V2_13.derive(
    "torch@2.13-cuda",
    title="PyTorch 2.13 on a GPU",
    answers=ANSWERS_CUDA,
    cast=TORCH_2_13_CUDA,
    notes=(*NOTES, Note("PyTorch 2.13 was not asked on a GPU: the casts are derived, of 2.11's.")),
)

V2_13_ARM64 = V2_13.derive(
    "torch@2.13-arm64",
    title="PyTorch 2.13 on ARM64",
    cast=TORCH_2_13_ARM64,
    notes=(
        *NOTES,
        Note("Of PyTorch on ARM64 the casts alone were asked; all else is as on x86-64."),
    ),
)

POLICIES = {
    "2.13": V2_13,
    "2.13-arm64": V2_13_ARM64,
    "2.13-cuda": V2_13_CUDA,
    "2.11": V2_11,
    "2.11-cuda": V2_11_CUDA,
}
