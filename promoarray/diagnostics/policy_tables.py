"""Tables: the policies, and what one or two of them answer for every pair of dtypes.

Python scalars are among the dtypes.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import Matrix, Printable, console, show, text, visible
from promoarray.dtypes import WEAK_TYPES, DType
from promoarray.operations import operation
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, families
from promoarray.promotion.rules import fold
from promoarray.promotion.table_text import cell_dtype

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

Cell = DType | None
"""The dtype of a result; None where the policy refuses."""

SAME, OTHER, ONE, BOTH = "the same", "another dtype", "refused by one", "refused by both"
REFUSED, THIRD = "refused", "neither operand's dtype"
_STYLES = {OTHER: "bold yellow", ONE: "bold red", BOTH: "dim", REFUSED: "dim", THIRD: "yellow"}
_CLASSES = {OTHER: "differs", ONE: "refused"}


class _Table(Printable):
    """Rows and columns by dtype; the row is the left operand."""

    __slots__ = ()

    dtypes: tuple[DType, ...]

    def _marked(self) -> list[list[tuple[str, str]]]:
        """The cells by code, ``-`` where there is no result, each with what to know about it."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the counts of a comparison in a sentence, else nothing."""
        return ""

    def codes(self) -> list[list[str]]:
        """Return the cells by code, ``-`` where there is no result."""
        return [[code for code, _ in row] for row in self._marked()]

    def _lines(self) -> list[list[str]]:
        """The cells with their rows' and columns' names."""
        rows = zip(self.dtypes, self.codes(), strict=True)
        return [["", *(d.code for d in self.dtypes)], *([d.code, *row] for d, row in rows)]

    def to_csv(self) -> str:
        """Return the table as CSV; ``Policy.from_table`` reads that of one policy back."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(self._lines())
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return the table as Markdown, columns in line."""
        lines = [[cell.replace("|", "\\|") for cell in row] for row in self._lines()]
        widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
        ruled = [lines[0], ["-" * width for width in widths], *lines[1:]]
        padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in ruled)
        return "".join(f"| {' | '.join(row)} |\n" for row in padded)

    def html(self) -> str:
        """Return the table as a part of a page, cells that differ marked."""
        head = "".join(f"<th>{name}</th>" for name in ("", *(d.code for d in self.dtypes)))
        rows = "".join(
            f"<tr><th>{dtype.code}</th>{''.join(_html_cell(*cell) for cell in row)}</tr>"
            for dtype, row in zip(self.dtypes, self._marked(), strict=True)
        )
        said = f"<p>{escape(self.summary())}</p>" if self.summary() else ""
        return f'{said}<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        rows: list[list[str | Text]] = [["", *(d.code for d in self.dtypes)]]
        for dtype, row in zip(self.dtypes, self._marked(), strict=True):
            rows.append([dtype.code, *(Text(code, _STYLES.get(kind, "")) for code, kind in row)])
        summary = (Text(self.summary()),) if self.summary() else ()
        return Group(Text(self.headline), Matrix(rows), *summary)

    def __str__(self) -> str:
        return text(self, wide=True)

    __repr__ = __str__


def _html_cell(code: str, kind: str) -> str:
    marked = _CLASSES.get(kind, "")
    return f'<td class="{marked}">{f"<b>{code}</b>" if marked else code}</td>'


@dataclass(frozen=True, slots=True, repr=False)
class PolicyTable(_Table):
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
    cells: tuple[tuple[Cell, ...], ...]

    def _marked(self) -> list[list[tuple[str, str]]]:
        def kind(a: DType, b: DType, cell: Cell) -> str:
            return REFUSED if cell is None else "" if cell in (a, b) else THIRD

        return [
            [(_code(cell), kind(a, b, cell)) for b, cell in zip(self.dtypes, row, strict=True)]
            for a, row in zip(self.dtypes, self.cells, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as data."""
        return {
            "policy": self.policy,
            "operation": self.operation or None,
            "dtypes": [d.code for d in self.dtypes],
            "table": [[cell and cell.code for cell in row] for row in self.cells],
        }

    @property
    def headline(self) -> str:
        """The policy and the operation."""
        return _headline(self.policy, self.operation)


@dataclass(frozen=True, slots=True, repr=False)
class TablePair(_Table):
    """Two policies' tables on the same dtypes, side by side in every cell.

    Attributes
    ----------
    first, second : PolicyTable
    """

    first: PolicyTable
    second: PolicyTable

    @property
    def dtypes(self) -> tuple[DType, ...]:  # type: ignore[override]
        """Rows and columns of both."""
        return self.first.dtypes

    def _marked(self) -> list[list[tuple[str, str]]]:
        rows = zip(self.first.cells, self.second.cells, strict=True)
        return [
            [("|".join(dict.fromkeys(map(_code, pair))), _difference(*pair)) for pair in cells]
            for cells in (zip(*row, strict=True) for row in rows)
        ]

    def counts(self) -> dict[str, int]:
        """Return how many cells are the same, of another dtype, and refused by one or both."""
        found = Counter(kind for row in self._marked() for _, kind in row)
        return {kind: found[kind] for kind in (SAME, OTHER, ONE, BOTH)}

    def to_dict(self) -> dict[str, Any]:
        """Return both tables as data, and the cells in which they differ."""
        first, second = self.first.to_dict(), self.second.to_dict()
        tables = {each["policy"]: each["table"] for each in (first, second)}
        codes = first["dtypes"]
        return {
            "policies": [first["policy"], second["policy"]],
            "operation": first["operation"],
            "dtypes": codes,
            "tables": tables,
            "counts": self.counts(),
            "differences": [
                {"operands": [a, b], **{name: rows[i][j] for name, rows in tables.items()}}
                for i, a in enumerate(codes)
                for j, b in enumerate(codes)
                if first["table"][i][j] != second["table"][i][j]
            ],
        }

    @property
    def headline(self) -> str:
        """The policies and the operation."""
        return _headline(f"{self.first.policy} | {self.second.policy}", self.first.operation)

    def summary(self) -> str:
        """Return the counts in a sentence."""
        counts = self.counts()
        said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        return f"{sum(counts.values())} pairs: {said}."


def _headline(policies: str, operation: str) -> str:
    said = "the row is the left operand, - is refused"
    return f"{visible(policies)}: {operation or 'promotion'}; {said}"


def _difference(first: Cell, second: Cell) -> str:
    if first is second:
        return SAME if first else BOTH
    return OTHER if first and second else ONE


def _code(cell: Cell) -> str:
    return cell.code if cell else "-"


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
    torch@2.13 | paddle@3.3: divide; the row is the left operand, - is refused
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
    """Return a policy's table; see ``table`` for the parameters and errors."""
    name = operation(op).name if op else ""
    if name and operation(name).arity not in (0, 2):
        raise ValueError(
            f"{name} takes one operand, so it has no table; see `explain {name} DTYPE`"
        )
    rows = tuple(dtypes) or (*policy.dtypes, *WEAK_TYPES)
    cells = tuple(tuple(_cell(policy, name, a, b) for b in rows) for a in rows)
    return PolicyTable(policy.name, name, rows, cells)


def _cell(policy: Policy, name: str, a: DType, b: DType) -> Cell:
    operands = tuple(Operand(d, Rank.SCALAR if d.weak else Rank.ARRAY) for d in (a, b))
    if name:
        plan = policy.plan(name, operands)
        return plan.result if isinstance(plan, Plan) else None
    entered = policy.operand_types(policy, operands)
    common = None if isinstance(entered, Refusal) else fold(policy.promote, entered)
    return common if common is None or policy.weak_arrays else policy.strong(common)


# -- the list of policies -------------------------------------------------------------------------


def policy_facts() -> list[dict[str, Any]]:
    """Return the facts of every policy as plain data, defaults first."""
    return [
        {
            "policy": policy.name,
            "title": policy.title,
            "default": policy is found[0],
            "dtypes": [d.name for d in policy.dtypes],
            "sources": [
                {"title": s.title, "section": s.section, "version": s.version}
                for s in policy.sources
            ],
            "notes": list(policy.notes),
            "casts": list(policy.cast.notes),
            "quirks": [
                {"name": q.name, "changes": q.sentence, "source": q.source}
                for q in policy.cast.quirks
            ],
        }
        for found in _policies().values()
        for policy in found
    ]


def show_policies() -> None:
    """Print the families with their editions, and the bugs of frameworks they can be asked for."""
    from rich.table import Table
    from rich.text import Text

    shown = Table("policy", "editions", "what it reproduces", show_edge=False)
    found = _policies()
    for family, policies in found.items():
        names = [p.name for p in policies]
        few = names if len(names) <= 6 else names[:4]
        editions = ", ".join(n.partition("@")[2] or n for n in few)
        editions = "" if editions == family else editions  # a name without an edition
        editions += f" … ({len(names)} in all)" if few != names else ""
        row = family, editions, policies[0].title
        shown.add_row(*(Text(visible(words)) for words in row))
    show(shown)
    quirks = Table("quirk", "what it changes, in which policies", show_edge=False)
    for (name, sentence), where in _quirks(found).items():
        said = Text(visible(sentence)).append(f"\n{visible(where)}", "dim")
        quirks.add_row(Text(visible(name)), said)
    if quirks.row_count:
        print()
        show(quirks)
        off = "\nOff by default; on with policy.with_quirks(...), or as policy POLICY+QUIRK."
        console().print(off)
        console().print("POLICY+kernels refuses what the framework has no kernel for.")


def _quirks(found: dict[str, list[Policy]]) -> dict[tuple[str, str], str]:
    """From a quirk's name and sentence to the policies that have it; --json has the sources."""
    rows: dict[tuple[str, str], list[str]] = {}
    for family, policies in found.items():
        having: dict[tuple[str, str], list[str]] = {}
        for policy in policies:
            for quirk in policy.cast.quirks:
                having.setdefault((quirk.name, quirk.sentence), []).append(policy.name)
        for key, names in having.items():
            few = names if len(names) < 4 else [f"{names[0]} and {len(names) - 1} more"]
            rows.setdefault(key, []).extend([family] if len(names) == len(policies) else few)
    return {key: ", ".join(where) for key, where in rows.items()}


def _policies() -> dict[str, list[Policy]]:
    return {family: [as_policy(name) for name in names] for family, names in families().items()}
