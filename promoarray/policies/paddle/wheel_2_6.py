"""Paddle 2.6: the left operand's dtype, and promotion only between floats.

What the published wheel does, whatever the document of that version number says. Operators cast the
right operand to the left one's dtype, with a warning; ``+ - *`` promote two floats first, and
complex goes only with float32, float64 and complex (`base/dygraph/math_op_patch.py`,
``promoteTypes`` in ``paddle/phi/common/type_promotion.h``). Functions cast nothing but two floats
(add, subtract, multiply, where, mse_loss), and raise ``ValueError`` for the rest. A 0-d tensor is a
tensor. Python scalars become the tensor's dtype; a float makes an integer tensor float32.
"""

from __future__ import annotations

from dataclasses import dataclass

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.operations import OPERATIONS as ROWS
from promoarray.operations import Family
from promoarray.policies.paddle.document import (
    AGREE,
    CHECKED,
    DOCUMENT,
    LOOKUP,
    OPERATIONS,
    stays,
    through,
)
from promoarray.policies.paddle.wheel_3_3 import as_left, floats_from, transformed
from promoarray.promotion import cast_quirks
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.linalg_rules import LAPACK
from promoarray.promotion.plan import (
    BITS,
    INEXACT,
    INTEGERS,
    ORDERED,
    Operand,
    OperationRule,
    Plan,
    Rank,
    Refusal,
    TypeRule,
    refuse,
    same,
    to_bool,
)
from promoarray.promotion.policy import Policy, Source
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.scalars import NARROW, Scalars, not_negative
from promoarray.promotion.source import Note
from promoarray.promotion.type_steps import (
    agreed,
    always,
    component,
    exact_to,
    supported_types,
    with_arrays,
)

REFUSAL = (
    "Paddle 2.6 promotes only float tensors among each other, and complex with float32 and float64"
)


def floats(a: DType, b: DType) -> DType | None:
    """Promote two floats; of other tensors the left one's dtype."""
    return LOOKUP(a, b) if a.kind is b.kind is Kind.FLOAT else as_left(a, b)


def floats_only(a: DType, b: DType) -> DType | None:
    """Promote two floats; other tensors must agree already (`NeedTypePromotion`)."""
    return LOOKUP(a, b) if a.kind is b.kind is Kind.FLOAT else transformed(a, b)


def left(a: DType, b: DType) -> DType | None:
    """Cast to the left dtype, complex to real too."""
    return a


def lifted(common: DType, scalar: DType) -> DType:
    """Let a float scalar make integers float32; every other scalar is cast, complex ones too."""
    return dt.float32 if scalar.kind is Kind.FLOAT and common.kind not in INEXACT else common


def complexified(common: DType, scalar: DType) -> DType | None:
    """Let a complex scalar make float32 and float64 complex, and refuse it beside the rest."""
    if scalar.kind is not Kind.COMPLEX or common.kind is Kind.COMPLEX:
        return lifted(common, scalar)
    return as_left(dt.complex64, common)


def truncated(common: DType, scalar: DType) -> DType | None:
    """Cast any real scalar."""
    return None if scalar.kind is Kind.COMPLEX else common


def wide_tensor(common: DType, scalar: DType) -> DType | None:
    """Make a real scalar a tensor of what Python computes in (``where``)."""
    if Kind.COMPLEX in (common.kind, scalar.kind):
        return None
    return floats_only(common, dt.float64 if scalar is dt.weak_float else NARROW[scalar])


@dataclass(frozen=True, slots=True)
class Sides:
    """How operands enter: tensors from left to right, then the Python scalars."""

    tensors: PromotionRule
    scalar: PromotionRule = lifted

    def __call__(
        self, policy: Policy, operands: tuple[Operand, ...]
    ) -> tuple[DType, ...] | Refusal:
        entered = supported_types(policy, operands)
        if isinstance(entered, Refusal):
            return entered
        tensors = [o.type for o in operands if o.rank is not Rank.SCALAR]
        scalars = [o.type for o in operands if o.rank is Rank.SCALAR]
        common = fold(self.tensors, tensors) if tensors else NARROW[scalars.pop(0)]
        common = common and fold(self.scalar, [common, *scalars])
        return Refusal(policy.refusal) if common is None else (common,)


AGREED = Sides(agreed, stays)
PAIRS = Sides(floats_only, stays)
CAST = Sides(left)


def after_complex(policy: Policy, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Promote nothing, but let a leading complex tensor have the others cast."""
    rule = transformed if operands[0].type.kind is Kind.COMPLEX else agreed
    label = to_bool if ROWS[name].family is Family.LOGICAL else same
    return TypeRule(operand_types=Sides(rule, stays), result=label, why=AGREE)(
        policy, name, operands
    )


_LEFT = with_arrays("first", TypeRule(operand_types=CAST, admit=ORDERED))
_OPERATIONS: dict[str | Family, OperationRule] = OPERATIONS | {
    Family.ARITHMETIC: TypeRule(operand_types=Sides(floats)),
    "multiply": TypeRule(operand_types=Sides(floats, complexified)),
    Family.DIVIDE: TypeRule(
        operand_types=Sides(as_left, complexified), compute=exact_to(dt.float32)
    ),
    Family.FLOOR_DIVIDE: _LEFT,
    "floor_divide": _LEFT,
    Family.POW: TypeRule(operand_types=CAST, standard_kernel=True),
    Family.EQUALITY: TypeRule(operand_types=CAST, result=to_bool),
    Family.ORDER: TypeRule(operand_types=CAST, result=to_bool, admit=ORDERED),
    Family.LOGICAL: after_complex,
    "logical_not": TypeRule(result=to_bool),
    Family.BITWISE: with_arrays("all", TypeRule(operand_types=AGREED, admit=BITS, why=AGREE)),
    Family.SHIFT: refuse("Paddle 2.6 has no shifts"),
    Family.EXTREMUM: TypeRule(operand_types=AGREED, admit=ORDERED, why=AGREE),
    Family.FLOAT_BINARY: TypeRule(operand_types=AGREED, admit=frozenset({Kind.FLOAT}), why=AGREE),
    "atan2": TypeRule(operand_types=AGREED, admit=ORDERED, compute=exact_to(dt.float64), why=AGREE),
    "hypot": TypeRule(operand_types=Sides(floats), compute=exact_to(dt.float32)),
    "logaddexp": TypeRule(
        operand_types=AGREED, admit=ORDERED, compute=exact_to(dt.float32), why=AGREE
    ),
    Family.WHERE: TypeRule(operand_types=PAIRS),
    Family.CLIP: TypeRule(operand_types=Sides(agreed, truncated), admit=ORDERED),
    Family.MATMUL: TypeRule(
        operand_types=Sides(as_left), note="@ casts the right operand to the left dtype."
    ),
    "tensordot": TypeRule(operand_types=Sides(transformed, stays), why=AGREE),
    "outer": TypeRule(operand_types=Sides(transformed, stays), why=AGREE),
    "cross": TypeRule(operand_types=AGREED, why=AGREE),
    "vecdot": TypeRule(operand_types=AGREED, why=AGREE),
    "solve": TypeRule(operand_types=AGREED, admit=LAPACK, why=AGREE),
    "matrix_rank": TypeRule(admit=LAPACK, result=always(dt.int32)),
    Family.CONCAT: TypeRule(operand_types=AGREED, why=AGREE),
    "stack": after_complex,
    Family.LOSS: TypeRule(operand_types=AGREED),
    "l1_loss": TypeRule(operand_types=PAIRS, result=component),
    "mse_loss": TypeRule(operand_types=PAIRS),
    "poisson_nll_loss": TypeRule(operand_types=CAST, compute=floats_from(*INTEGERS)),
    "cumulative_sum": TypeRule(),
    Family.MEAN: TypeRule(admit=INEXACT),
    "mean": TypeRule(note="An integer mean stays an integer."),
    "std": TypeRule(admit=INEXACT),
}


def _functions() -> dict[str | Family, OperationRule]:
    """The functions take tensors that agree, but for two floats; few take a scalar on the right."""
    arrays = {
        name: TypeRule(
            operand_types=PAIRS if row.family is Family.ARITHMETIC else Sides(transformed, stays)
        )
        for name, row in ROWS.items()
        if row.family in (Family.ARITHMETIC, Family.DIVIDE) or name == "matmul"
    }
    agreeing = {
        name: TypeRule(
            operand_types=AGREED,
            admit=ORDERED,
            result=to_bool if row.family in (Family.EQUALITY, Family.ORDER) else same,
            why=AGREE,
        )
        for name, row in ROWS.items()
        if row.family in (Family.FLOOR_DIVIDE, Family.EQUALITY, Family.ORDER)
    }
    others = {
        name: _OPERATIONS.get(name, _OPERATIONS[row.family])
        for name, row in ROWS.items()
        if row.arity == 2 and row.family in (Family.EXTREMUM, Family.FLOAT_BINARY, Family.LOGICAL,
                                             Family.LOSS)
    }  # fmt: skip
    scalar = Sides(agreed, truncated)
    return {
        **{name: with_arrays("all", rule) for name, rule in (arrays | agreeing | others).items()},
        "pow": with_arrays(
            "first", TypeRule(operand_types=scalar, standard_kernel=True, why=AGREE)
        ),
        "equal": with_arrays("first", TypeRule(operand_types=scalar, result=to_bool, why=AGREE)),
        "where": TypeRule(operand_types=Sides(floats_only, wide_tensor)),
    }


V2_6 = DOCUMENT.derive(
    "paddle@2.6",
    title="Paddle 2.6",
    principle=(
        "Only +, - and * promote, and only floats; in most other mixtures an operator takes the "
        "dtype of its left operand."
    ),
    promote=floats,
    operations=_OPERATIONS,
    functions=_functions(),
    operand_types=Sides(floats),
    ranks=False,
    scalars=Scalars(
        fit=through(single=True),
        fit_exponent=not_negative(through(single=True)),  # as 3.3.1, it never comes back from one
    ),
    kernels={**CHECKED, "pow": ("double_pow",)},
    cast=cast_quirks.PADDLE_2_6,
    refusal=REFUSAL,
    sources=(
        Source("paddle/phi/common/type_promotion.h", "NeedTypePromotion", "paddlepaddle 2.6.2"),
        Source("paddle/fluid/pybind/eager_math_op_patch.cc", "operators", "paddlepaddle 2.6.2"),
    ),
    notes=(
        "The document names version 2.6, but describes 3.0 and later.",
        Note(
            "Measured on the CPU wheel, which lacks many float16, bfloat16, bool and int8 kernels.",
            dtypes("f16 bf16 b1 i8"),
        ),
    ),
)
