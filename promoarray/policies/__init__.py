"""Policies: every framework's rules, one module each, and what they are written in."""

from promoarray.policies.plans import Operand, Plan, Rank, Refusal
from promoarray.policies.policy import Policy, Source
from promoarray.policies.registry import (
    as_policy,
    get_policy,
    list_policies,
    register,
    set_policy,
)
from promoarray.policies.rules import Lattice, Rule, Table

__all__ = [
    "Lattice",
    "Operand",
    "Plan",
    "Policy",
    "Rank",
    "Refusal",
    "Rule",
    "Source",
    "Table",
    "as_policy",
    "get_policy",
    "list_policies",
    "register",
    "set_policy",
]
