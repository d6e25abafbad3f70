"""Policies: every framework's rules, one module each, and what they are written in."""

from promoarray.promotion.in_force import get_policy, set_policy
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, list_policies, register
from promoarray.promotion.rules import Lattice, PromotionRule, Table
from promoarray.promotion.source import Source

__all__ = [
    "Lattice",
    "Operand",
    "Plan",
    "Policy",
    "PromotionRule",
    "Rank",
    "Refusal",
    "Source",
    "Table",
    "as_policy",
    "get_policy",
    "list_policies",
    "register",
    "set_policy",
]
