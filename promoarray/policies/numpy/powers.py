"""The kernels of NumPy's powers: the operator has shortcuts for one exponent, the loops others.

The loops of NumPy 2 take roots and squares of float32 and float64 for an exponent that they read
over and over, as they do here; float16 has ``npy_powf``, which has none, as all loops of NumPy 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INEXACT, Kind
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

_SHORTCUTS = {dt.weak_int: "whole_shortcut_pow", dt.weak_float: "root_shortcut_pow"}
"""What `fast_scalar_power` of NumPy 2 has for -1 and 2, and for 0.5."""


def by_loop(rule: OperationRule) -> OperationRule:
    """Make the rule of the function ``np.power``."""

    def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        if isinstance(plan, Refusal) or plan.inputs[0] is not dt.float16:
            return plan
        return plan._replace(kernel="plain_pow")

    return power


def by_shortcut(rule: OperationRule) -> OperationRule:
    """Make the rule of the operator ``**``."""
    loop = by_loop(rule)

    def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan, exponent = loop(policy, name, operands), operands[1]
        if isinstance(plan, Refusal) or exponent.rank is not Rank.SCALAR:
            return plan
        kernel = _SHORTCUTS.get(exponent.type)
        taken = plan.inputs[0].kind is Kind.COMPLEX or plan.inputs[0] is dt.float16
        return plan._replace(kernel=kernel) if kernel and taken else plan

    return power


def by_value(rule: OperationRule) -> OperationRule:
    """Make the rule of NumPy 1, which gives exponents that have shortcuts, and no others, as
    scalars of the base's dtype."""

    def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        if isinstance(plan, Refusal) or operands[1].rank is not Rank.SCALAR:
            return plan
        return plan._replace(kernel="shortcut_pow") if plan.inputs[0].kind in INEXACT else plan

    return power
