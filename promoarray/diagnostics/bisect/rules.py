"""A policy with some rules of another: what a policy is made of, taken apart.

A policy is a record of rules, so that one with some fields of another is a policy, too. The fields
that only make sense together are one rule here; the promotion rule is two, of arrays among
themselves and with Python scalars; and each operation is one of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, operation
from promoarray.promotion.policy import Policy
from promoarray.promotion.rules import PromotionRule

ARRAYS, SCALARS = "arrays with arrays", "arrays with Python scalars"

FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "operand types": (
        "what 0-d arrays and values count for in promotion",
        ("operand_types", "by_value", "squares", "ranks", "ranked"),
    ),
    "scalars": (
        "Python scalars that do not fit, and how they are rounded",
        ("scalars",),
    ),
    "defaults": (
        "the dtypes that Python numbers become where no array decides",
        ("defaults", "counts"),
    ),
    "weak arrays": ("whether arrays stay weakly typed", ("weak_arrays",)),
    "canonical": ("the dtypes that are never held", ("canonical",)),
    "in place": ("what `x += y` may write into x", ("inplace", "keeps")),
    "stored": ("the Python numbers that are stored in arrays", ("stored",)),
    "assignment": ("what `x[key] = y` casts", ("assigns", "meets")),
    "cast": ("what casts do with values the target cannot hold", ("cast",)),
    "refused": ("the dtypes that functions refuse", ("refuses", "can_cast")),
    "answers": ("functions that follow no promotion, and kernels that are missing", ("answers",)),
    "compositions": (
        "functions that are made of others, and those whose results have a dtype of their own",
        ("composed", "fixed"),
    ),
    "spectra": ("whether eigenvalues are real where all happen to be", ("real_spectra",)),
    "conversions": (
        "copies, and which arrays become Python numbers",
        ("copies", "one_element"),
    ),
}
"""From a rule's name to what it is in words, and the fields of a policy that it is made of."""

PROMOTION = {
    ARRAYS: "the common dtype of arrays",
    SCALARS: "the common dtype of an array and a Python scalar",
}


BY_OPERATION = ("operations", "functions", "signatures", "kernels")
"""The tables of a policy that have a row for each operation: a rule of its own."""


@dataclass(frozen=True)
class Promotion:
    """A promotion rule of two: one for arrays, one for pairs with a weak dtype."""

    arrays: PromotionRule
    scalars: PromotionRule

    def __call__(self, a: DType, b: DType) -> DType | None:
        """Promote two dtypes."""
        return (self.scalars if a.weak or b.weak else self.arrays)(a, b)


def differing_rules(a: Policy, b: Policy, operations: Collection[str]) -> list[str]:
    """Return the rules in which two policies differ, of those operations that are used.

    Rules that are functions differ if they are not one and the same function.
    """
    found = [*PROMOTION] if a.promote is not b.promote else []
    for name, (_, fields) in FIELDS.items():
        if any(getattr(a, field) != getattr(b, field) for field in fields):
            found.append(name)
    used = (name for name in OPERATIONS if name in operations)
    return found + [name for name in used if _rows(a, name) != _rows(b, name)]


def mixed(a: Policy, b: Policy, rules: Collection[str]) -> Policy:
    """Return the first policy with these rules of the second; operations are rules of their name.

    With all rules in which they differ it answers as the second.
    """
    named = (fields for name, (_, fields) in FIELDS.items() if name in rules)
    changes: dict[str, Any] = {field: getattr(b, field) for fields in named for field in fields}
    arrays, scalars = (b if name in rules else a for name in PROMOTION)
    changes["promote"] = Promotion(arrays.promote, scalars.promote)
    if arrays is scalars:
        changes["promote"] = arrays.promote
    if arrays is b or scalars is b:
        changes["refusal"] = b.refusal
    rows = {name: _rows(b if name in rules else a, name) for name in OPERATIONS}
    for n, table in enumerate(BY_OPERATION):
        changes[table] = {name: row[n] for name, row in rows.items() if row[n] is not None}
    return a.derive(f"{a.name} with rules of {b.name}", **changes)


def worded(rule: str) -> str:
    """Say what a rule is about."""
    if rule in OPERATIONS:
        return f"how {rule} computes"
    return PROMOTION.get(rule) or FIELDS[rule][0]


def _rows(policy: Policy, name: str) -> list[Any]:
    """What each table of a policy says of one operation; None of those that say nothing."""
    tables: list[Mapping[Any, Any]] = [getattr(policy, table) for table in BY_OPERATION]
    family = operation(name).family
    return [rows[name] if name in rows else rows.get(family) for rows in tables]
