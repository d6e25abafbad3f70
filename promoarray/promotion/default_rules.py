"""Operation rules for a policy that states only how dtypes promote.

What most frameworks agree on: arithmetic promotes, a quotient is a float, a comparison a bool. A
policy that differs names the operation; the rest stays as it is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, REALS, DType, Kind
from promoarray.operations import Family
from promoarray.promotion.linalg_rules import linear
from promoarray.promotion.type_rules import TypeMap, TypeRule, to_bool
from promoarray.promotion.type_steps import NO_ORDER, always, as_truth, component

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule

_NO_BOOL = "a bool is not a number to compute with: write x.astype(...)"


def to_float(default: DType) -> TypeMap:
    """Make the step that turns bools and integers into the default float, weak ones into weak."""

    def step(dtype: DType) -> DType:
        if dtype.kind in INEXACT:
            return dtype
        return dt.weak_float if dtype.weak else default

    return step


def operations(defaults: Mapping[DType, DType]) -> dict[str | Family, OperationRule]:
    """Return the rule of every family, given what the weak types become."""
    integer, floating = defaults[dt.weak_int], defaults[dt.weak_float]
    as_float = to_float(floating)
    float_note = f"bools and integers compute in the default float, {floating.name}"
    no_bool = TypeRule(admit=NUMBERS, why=_NO_BOOL)
    ordered = TypeRule(admit=ORDERED, why=NO_ORDER)
    floats = TypeRule(compute=as_float, note=float_note)
    return {
        Family.ARITHMETIC: TypeRule(),
        "subtract": no_bool,
        Family.DIVIDE: floats,
        Family.FLOOR_DIVIDE: TypeRule(admit=REALS, why=f"{_NO_BOOL}; {NO_ORDER}"),
        Family.POW: no_bool,
        Family.EQUALITY: TypeRule(result=to_bool, note="the operands promote, the result is bool"),
        Family.ORDER: TypeRule(admit=ORDERED, result=to_bool, why=NO_ORDER),
        Family.LOGICAL: TypeRule(
            operand_types=as_truth, note="each operand counts as true where it is non-zero"
        ),
        Family.BITWISE: TypeRule(admit=BITS),
        Family.SHIFT: TypeRule(admit=INTEGERS),
        Family.EXTREMUM: ordered,
        Family.FLOAT_BINARY: TypeRule(admit=ORDERED, compute=as_float, note=float_note),
        Family.WHERE: TypeRule(),
        Family.CLIP: TypeRule(
            admit=ORDERED, why=NO_ORDER, note="the bounds promote with the array"
        ),
        Family.MATMUL: no_bool,
        **linear(floats, index=integer),
        Family.SORT: ordered,
        Family.CONCAT: TypeRule(),
        Family.LOSS: TypeRule(admit=ORDERED, compute=as_float, note=float_note),
        Family.FLOAT_UNARY: floats,
        Family.SIGN: no_bool,
        "abs": TypeRule(admit=NUMBERS, result=component, why=_NO_BOOL),
        Family.ROUND: TypeRule(admit=REALS),
        Family.TEST: TypeRule(result=to_bool),
        "signbit": TypeRule(admit=REALS, result=to_bool),
        Family.COMPLEX: TypeRule(result=component),
        "conj": TypeRule(),
        Family.SUM: TypeRule(
            compute=lambda d: integer if d.kind is Kind.BOOL else d,
            note=f"a sum keeps the dtype; bools count in {integer.name}",
        ),
        Family.MEAN: TypeRule(compute=as_float, result=component, note=float_note),
        "mean": floats,
        Family.EXTREME: ordered,
        Family.TRUTH: TypeRule(result=to_bool),
        Family.POSITION: TypeRule(
            admit=ORDERED, result=always(integer), why=NO_ORDER, note="positions are integers"
        ),
    }
