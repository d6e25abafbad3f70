"""Tables: what a policy, or two, answer for every pair of dtypes, Python scalars included."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, html_table, text
from promoarray.dtypes import WEAK_TYPES, DType
from promoarray.operations import operation
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.rules import fold
from promoarray.promotion.table_text import cell_dtype

if TYPE_CHECKING:
    from rich.console import RenderableType


class _Wide(Printable):
    """What prints as wide as it needs."""

    __slots__ = ()

    def __str__(self) -> str:
        return text(self, wide=True)

    def __repr__(self) -> str:
        return text(self, wide=True)


@dataclass(frozen=True, slots=True, repr=False)
class PolicyTable(_Wide):
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
        return _lines(self.dtypes, self.codes())

    def to_csv(self) -> str:
        """The table as CSV, which ``Policy.from_table`` reads back."""
        return _csv(self._lines())

    def to_markdown(self) -> str:
        """The table as Markdown, columns in line."""
        return _markdown(self._lines())

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


def _lines(dtypes: tuple[DType, ...], codes: list[list[str]]) -> list[list[str]]:
    """The cells with their rows' and columns' names."""
    head = ["", *(d.code for d in dtypes)]
    return [head, *([d.code, *row] for d, row in zip(dtypes, codes, strict=True))]


def _csv(lines: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _markdown(lines: list[list[str]]) -> str:
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    ruled = [lines[0], ["-" * width for width in widths], *lines[1:]]
    padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in ruled)
    return "".join(f"| {' | '.join(row)} |\n" for row in padded)


@dataclass(frozen=True, slots=True, repr=False)
class TablePair(_Wide):
    """Two policies' tables on the same dtypes, side by side in every cell.

    Attributes
    ----------
    first, second : PolicyTable
    """

    first: PolicyTable
    second: PolicyTable

    def pairs(self) -> list[list[tuple[DType | None, DType | None]]]:
        """Both answers of each cell."""
        rows = zip(self.first.cells, self.second.cells, strict=True)
        return [list(zip(*row, strict=True)) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many cells are the same, of another dtype, and refused by one of them or both."""
        said = [_difference(*pair) for row in self.pairs() for pair in row]
        return {kind: said.count(kind) for kind in DIFFERENCES}

    def codes(self) -> list[list[str]]:
        """The cells by code: one where both answer the same, ``f32|f64`` where they do not."""
        return [["|".join(dict.fromkeys(map(_code, pair))) for pair in row] for row in self.pairs()]

    def to_dict(self) -> dict[str, Any]:
        """Return both tables as data, and the cells in which they differ."""
        first, second = self.first.to_dict(), self.second.to_dict()
        names = first["policy"], second["policy"]
        return {
            "policies": list(names),
            "operation": first["operation"],
            "dtypes": first["dtypes"],
            "tables": dict(zip(names, (first["table"], second["table"]), strict=True)),
            "counts": self.counts(),
            "differences": [
                {"operands": [a.code, b.code], **dict(zip(names, map(_named, pair), strict=True))}
                for a, row in zip(self.first.dtypes, self.pairs(), strict=True)
                for b, pair in zip(self.first.dtypes, row, strict=True)
                if pair[0] is not pair[1]
            ],
        }

    def _lines(self) -> list[list[str]]:
        return _lines(self.first.dtypes, self.codes())

    def to_csv(self) -> str:
        """The cells as CSV."""
        return _csv(self._lines())

    def to_markdown(self) -> str:
        """The cells as Markdown, columns in line."""
        return _markdown([[cell.replace("|", "\\|") for cell in row] for row in self._lines()])

    @property
    def headline(self) -> str:
        """The policies and the operation."""
        what = self.first.operation or "promotion"
        return f"{self.first.policy} | {self.second.policy}: {what}; the row is the left operand"

    def summary(self) -> str:
        """The counts in a sentence."""
        counts = self.counts()
        said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        return f"{sum(counts.values())} pairs: {said}."

    def html(self) -> str:
        """Return the table as a part of a page, cells that differ marked."""
        head = "".join(f"<th>{escape(d.code)}</th>" for d in self.first.dtypes)
        rows = "".join(
            f"<tr><th>{escape(a.code)}</th>{''.join(map(_as_cell, row))}</tr>"
            for a, row in zip(self.first.dtypes, self.pairs(), strict=True)
        )
        table = f'<div class="scroll"><table><tr><th></th>{head}</tr>{rows}</table></div>'
        return f"<p>{escape(self.summary())}</p>{table}"

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        shown = Table(show_edge=False, padding=(0, 1, 0, 0), box=None)
        shown.add_column("", no_wrap=True, style="bold")
        for column in self.first.dtypes:
            shown.add_column(column.code, no_wrap=True)
        for a, pairs, codes in zip(self.first.dtypes, self.pairs(), self.codes(), strict=True):
            cells = (
                Text(code, _STYLES[_difference(*pair)])
                for pair, code in zip(pairs, codes, strict=True)
            )
            shown.add_row(a.code, *cells)
        return Group(Text(self.headline), shown, Text(self.summary()))


SAME, OTHER, ONE, BOTH = "the same", "another dtype", "refused by one", "refused by both"
DIFFERENCES = (SAME, OTHER, ONE, BOTH)
_STYLES = {SAME: "", OTHER: "bold yellow", ONE: "bold red", BOTH: "dim"}
_CLASSES = {SAME: "", OTHER: "differs", ONE: "refused", BOTH: ""}


def _difference(first: DType | None, second: DType | None) -> str:
    if first is second:
        return SAME if first else BOTH
    return OTHER if first and second else ONE


def _code(cell: DType | None) -> str:
    return cell.code if cell else "-"


def _named(cell: DType | None) -> str | None:
    return cell.code if cell else None


def _as_cell(pair: tuple[DType | None, DType | None]) -> str:
    said = _difference(*pair)
    code = "|".join(dict.fromkeys(map(_code, pair)))
    marked = f"<b>{escape(code)}</b>" if _CLASSES[said] else escape(code)
    return f'<td class="{_CLASSES[said]}">{marked}</td>'


def table(
    policy: str | Policy | None = None,
    other: str | Policy | None = None,
    *,
    op: str = "",
    dtypes: Iterable[object] = (),
) -> PolicyTable | TablePair:
    """Return a policy's promotion table, or that of two side by side.

    Parameters
    ----------
    policy : str or Policy, optional
        Else the one in force.
    other : str or Policy, optional
        A policy to compare it with.
    op : str, optional
        A binary operation or its operator, such as ``"divide"`` or ``"/"``; else the common dtype
        whatever the operation.
    dtypes : iterable of dtype_like, optional
        Rows and columns; codes such as ``"i8"`` count bits, ``"i*"`` is a Python int. Else the
        policy's own dtypes and the Python scalars; of two policies the dtypes that both have.

    Returns
    -------
    PolicyTable or TablePair
        Which prints and shows in a notebook; ``to_dict()``, ``to_csv()`` and ``to_markdown()`` give
        it as data and text.

    Raises
    ------
    ValueError
        If there is no such operation or dtype, or the operation is not binary.
    UnknownPolicyError
        If there is no such policy.

    Examples
    --------
    >>> import promoarray as pa
    >>> print(pa.table("torch", "paddle@3.3", op="divide", dtypes=["int8", "float16", "f*"]))
    torch@2.13 | paddle@3.3: divide; the row is the left operand
         i8    f16   f*
    i8   f32   f16|- f32
    f16  f16|- f16   f16
    f*   f32   f16   f32
    9 pairs: 7 the same, 2 refused by one.
    """
    first = get_policy() if policy is None else as_policy(policy)
    rows = tuple(map(cell_dtype, dtypes))
    if other is None:
        return table_of(first, op, rows)
    second = as_policy(other)
    common = tuple(d for d in first.dtypes if d in second.dtypes)
    rows = rows or (*common, *WEAK_TYPES)
    return TablePair(table_of(first, op, rows), table_of(second, op, rows))


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
