"""Cells changed in a policy that exists, as ``Policy.derive`` does.

Policies have their own ways to count operands and to promote, and some operations theirs. So the
change comes before all of them: operands of a changed pair are settled to the cell's dtype, and the
policy goes on from there as it would with two operands of that dtype.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from promoarray.dtypes import DType
from promoarray.errors import quoted
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.rules import PromotionRule
from promoarray.promotion.table_text import Cells, read_cells

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperandTypes, OperationRule, PolicyLike


@dataclass(frozen=True, eq=False, slots=True)
class ChangedRule:
    """A rule with some cells changed."""

    base: PromotionRule
    cells: Cells

    def __call__(self, a: DType, b: DType) -> DType | None:
        return self.cells[a, b] if (a, b) in self.cells else self.base(a, b)

    def path(self, a: DType, b: DType) -> str:
        """Say where the answer stands."""
        if (a, b) in self.cells:
            common = self.cells[a, b]
            return f"changed cell, row {a.code}, column {b.code}: {common.code if common else '-'}"
        path = getattr(self.base, "path", None)
        common = self.base(a, b)
        return str(path(a, b)) if path else f"{a.code}, {b.code}: {common.code if common else '-'}"


@dataclass(frozen=True, eq=False, slots=True)
class ChangedOperandTypes:
    """What operands count as, once those of a changed pair are settled."""

    base: OperandTypes
    cells: Cells

    def __call__(
        self, policy: PolicyLike, operands: tuple[Operand, ...]
    ) -> tuple[DType, ...] | Refusal:
        settled = settle(self.cells, policy, operands)
        return (
            settled if isinstance(settled, Refusal) else self.base(policy.once(_unchanged), settled)
        )


@dataclass(frozen=True, eq=False, slots=True)
class ChangedOperation:
    """An operation rule before which operands of a changed pair are settled."""

    base: OperationRule
    cells: Cells

    def __call__(
        self, policy: PolicyLike, name: str, operands: tuple[Operand, ...]
    ) -> Plan | Refusal:
        settled = settle(self.cells, policy, operands)
        if isinstance(settled, Refusal):
            return settled
        return self.base(policy.once(_unchanged), name, settled)


def settle(
    cells: Cells, policy: PolicyLike, operands: tuple[Operand, ...]
) -> tuple[Operand, ...] | Refusal:
    """Give operands of a changed pair the cell's dtype.

    Where a policy tells 0-d arrays from arrays, a cell is about two of one rank.
    """
    out = list(operands)
    for i, j in combinations(range(len(out)), 2):
        a, b = out[i], out[j]
        apart = policy.ranks and {a.rank, b.rank} == {Rank.ARRAY, Rank.ZERO_D}
        if apart or (a.type, b.type) not in cells:
            continue
        common = cells[a.type, b.type]
        if common is None:
            return Refusal(f"{quoted(policy.name)} leaves {a} with {b} undefined")
        out[i], out[j] = Operand(common, a.rank), Operand(common, b.rank)
    return tuple(out)


def _unchanged(policy: Any) -> PolicyLike:
    """Return a changed policy as it is below the change, so that no cell counts twice."""
    promote, types = policy.promote, policy.operand_types
    below: PolicyLike = replace(
        policy,
        promote=promote.base if isinstance(promote, ChangedRule) else promote,
        operand_types=types.base if isinstance(types, ChangedOperandTypes) else types,
    )
    return below


def changed_fields(
    policy: PolicyLike, pairs: Mapping[tuple[object, object], object], *, symmetric: bool
) -> dict[str, Any]:
    """Return the fields that change when cells of a policy do; see ``Policy.derive``."""
    cells = read_cells(pairs, symmetric=symmetric)
    named = (d for pair, common in cells.items() for d in (*pair, common) if d and not d.weak)
    new = [d for d in named if d not in policy.dtypes]
    return {
        "promote": ChangedRule(policy.promote, cells),
        "operand_types": ChangedOperandTypes(policy.operand_types, cells),
        "dtypes": (*policy.dtypes, *dict.fromkeys(new)),
        "operations": {k: ChangedOperation(rule, cells) for k, rule in policy.operations.items()},
        "functions": {k: ChangedOperation(rule, cells) for k, rule in policy.functions.items()},
    }
