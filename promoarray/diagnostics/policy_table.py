"""A policy's table: what it answers for every pair of its dtypes, Python scalars included."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, html_table
from promoarray.dtypes import WEAK_TYPES, DType
from promoarray.operations import operation
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.rules import fold

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True, repr=False)
class PolicyTable(Printable):
    """A policy's table.

    Attributes
    ----------
    policy : str
    operation : str
        "" for promotion whatever the operation.
    dtypes : tuple of DType
        Rows and columns; the row is the left operand. Weak ones are Python scalars.
    cells : tuple of tuples of DType or None
        None where the policy refuses.
    """

    policy: str
    operation: str
    dtypes: tuple[DType, ...]
    cells: tuple[tuple[DType | None, ...], ...]

    def codes(self) -> list[list[str]]:
        """The cells by code, ``-`` where there is no result."""
        return [[cell.code if cell else "-" for cell in row] for row in self.cells]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as data."""
        return {
            "policy": self.policy,
            "operation": self.operation or None,
            "dtypes": [d.code for d in self.dtypes],
            "table": [[cell.code if cell else None for cell in row] for row in self.cells],
        }

    def _lines(self) -> list[list[str]]:
        head = ["", *(d.code for d in self.dtypes)]
        return [head, *([d.code, *row] for d, row in zip(self.dtypes, self.codes(), strict=True))]

    def to_csv(self) -> str:
        """The table as CSV, which ``Policy.from_table`` reads back."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(self._lines())
        return out.getvalue()

    def to_markdown(self) -> str:
        """The table as Markdown, columns in line."""
        lines = self._lines()
        widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in lines)
        return "".join(f"| {' | '.join(row)} |\n" for row in padded)

    @property
    def headline(self) -> str:
        """The policy and the operation."""
        return f"{self.policy}: {self.operation or 'promotion'}; the row is the left operand"

    def html(self) -> str:
        """Return the table as a part of a page."""
        head, *rows = self._lines()
        return html_table(head, rows)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(show_edge=False, padding=(0, 1, 0, 0), box=None)
        table.add_column("", no_wrap=True, style="bold")
        for column in self.dtypes:
            table.add_column(column.code, no_wrap=True)
        for a, row in zip(self.dtypes, self.cells, strict=True):
            own = (
                "dim" if cell is None else "" if cell in (a, b) else "yellow"
                for b, cell in zip(self.dtypes, row, strict=True)
            )
            texts = (
                Text(cell.code if cell else "-", style)
                for cell, style in zip(row, own, strict=True)
            )
            table.add_row(a.code, *texts)
        return Group(Text(self.headline), table)


def table_of(policy: Policy, op: str = "", dtypes: Iterable[DType] = ()) -> PolicyTable:
    """Return a policy's table.

    Parameters
    ----------
    policy : Policy
    op : str
        A binary operation or its operator; "" asks for the common dtype whatever the operation.
    dtypes : iterable of DType
        Else the policy's own, and the Python scalars.

    Raises
    ------
    ValueError
        If there is no such operation, or it is not binary.
    """
    name = operation(op).name if op else ""
    if name and operation(name).arity not in (0, 2):
        raise ValueError(
            f"{name} takes one operand, so it has no table; see `explain {name} DTYPE`"
        )
    rows = tuple(dtypes) or (*policy.dtypes, *WEAK_TYPES)
    cells = tuple(tuple(_cell(policy, name, a, b) for b in rows) for a in rows)
    return PolicyTable(policy.name, name, rows, cells)


def _cell(policy: Policy, name: str, a: DType, b: DType) -> DType | None:
    operands = tuple(Operand(d, Rank.SCALAR if d.weak else Rank.ARRAY) for d in (a, b))
    if name:
        plan = policy.plan(name, operands)
        return plan.result if isinstance(plan, Plan) else None
    entered = policy.operand_types(policy, operands)
    common = None if isinstance(entered, Refusal) else fold(policy.promote, entered)
    return common if common is None or policy.weak_arrays else policy.strong(common)
