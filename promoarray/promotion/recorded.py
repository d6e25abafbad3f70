"""The rule of functions that follow no promotion: what the framework answered for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INEXACT
from promoarray.operations import OPERATIONS, STANDS_FOR
from promoarray.promotion.answers import NO_KERNEL, ON_A_GPU
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike


def recorded(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Look up what the framework answered when it was asked; else go by the like operation."""
    answers, operand = policy.answers, operands[0]
    if operand.rank is not Rank.SCALAR:
        operand = operand._replace(type=policy.strong(operand.type))
    cell = None if answers is None else answers.cell(name, operand)
    if answers is None or cell is None:
        return _stand_in(policy, name, operands)
    narrow = operand.type in ON_A_GPU and cell.text == NO_KERNEL
    if narrow:  # a device has the kernel, and the dtype stays
        cell = answers.cell(name, Operand(dt.float32)) or cell
    if cell.refused:
        why = answers.without_kernel(policy.title, name, operand.type)
        return why or Refusal(f"{policy.title} takes no {operand.type.name} in {name}")
    first, *more = (operand.type if narrow and d is dt.float32 else d for d in cell.results)
    raised = first.kind in INEXACT and operand.type.kind not in INEXACT
    return policy.make_plan(name, first if raised else operand.type, first, 1, *more)


def _stand_in(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Go by the operation that a function stands for, which may be one of two arrays."""
    stand_in = STANDS_FOR[name]
    plan = policy.plan(stand_in, operands * (OPERATIONS[stand_in].arity or 1))
    if isinstance(plan, Refusal):
        return plan
    made = policy.strong(plan.result)
    result = made.complexified if name in _OF_PARTS else plan.result
    if result is None or result not in policy.dtypes:
        return Refusal(f"{policy.title} has no complex dtype of two {made.name}")
    return plan._replace(inputs=plan.inputs[: len(operands)], result=result)


_OF_PARTS = frozenset({"complex", "polar", "view_as_complex"})
"""Functions that make complex numbers of two real ones each."""
