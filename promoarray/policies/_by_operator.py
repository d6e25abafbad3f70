"""Policies of runtimes that promote nothing: an operator takes the types that its row lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promoarray.operations import OPERATIONS, Family
from promoarray.policies.onnx.operators import admitted, agree, constants, operators, taking
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import NARROW, Scalars, in_range
from promoarray.promotion.source import Note
from promoarray.promotion.type_rules import refuse

if TYPE_CHECKING:
    from promoarray.dtypes import DType
    from promoarray.promotion.cast_rules import CastRule
    from promoarray.promotion.policy_like import OperationRule


def rules(text: str, library: str, title: str) -> dict[str | Family, OperationRule]:
    """Read rows ``function:OPERATOR ... | types``; what has no row is refused."""
    found: dict[str | Family, OperationRule] = {
        name: refuse(f"{library} has no operator for {name}") for name in OPERATIONS
    }
    for name, (operator, types) in operators(text).items():
        found[name] = taking(name, operator, admitted("0 " + types, 0), title, library)
    return found


def policy(
    name: str,
    title: str,
    library: str,
    dtypes: tuple[DType, ...],
    operations: dict[str | Family, OperationRule],
    cast: CastRule,
    **fields: Any,
) -> Policy:
    """Make the policy; a Python scalar is a constant of the array's type."""
    return Policy(
        name=name,
        title=title,
        principle="No promotion: an operator takes the types that it has kernels of plain numbers"
        " for.",
        promote=agree,
        dtypes=dtypes,
        operations=operations,
        operand_types=constants,
        scalars=Scalars(fit=in_range),
        defaults=NARROW,
        cast=cast,
        can_cast=lambda source, target: cast.refuses(source, target) is None,
        refusal=f"{library} promotes nothing: the inputs of an operator are of one type",
        notes=(
            Note(
                "A Python scalar is a constant of the array's type; it must fit, and be of the"
                " array's kind or a lower one.",
                ranks=[Rank.SCALAR],
            ),
            *fields.pop("notes"),
        ),
        **fields,
    )


def only(dtypes: tuple[DType, ...], operator: str, library: str) -> Any:
    """Say why a cast is refused: it is between these types alone."""

    def refused(source: DType, target: DType) -> str | None:
        missing = next((d for d in (source, target) if d not in dtypes), None)
        if missing is None or source is target:
            return None
        return f"{operator} of {library} takes no {missing.name}"

    return refused
