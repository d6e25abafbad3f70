"""One line of a program that changes from one policy to another, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import wrapped
from promoarray.core.call_site import Site
from promoarray.diagnostics.diff.reasons import NO_REASONS, Reasons

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class Values(NamedTuple):
    """Values that differ though their dtype does not.

    Attributes
    ----------
    size, elements : int
        How many there are, and how many of them differ.
    at : tuple of int
        Where the first of them is.
    given : str
        What it was made of, where that is one value; else "".
    """

    size: int
    elements: int
    at: tuple[int, ...]
    given: str


@dataclass(frozen=True)
class Change:
    """What changes at one place.

    Attributes
    ----------
    kind : str
        ``"dtype"``, ``"refusal"``, ``"value"`` or ``"signature"``, of a call that only the
        framework's own function does not take.
    site, program : Site
        Where it is, and the line of the program that led there.
    operation : str
        The operation with its operands' dtypes, such as ``"float32 + float64[]"``.
    before, after : str
        A dtype, a value, or ``"refuses"``.
    reasons : Reasons
        The steps by which the two policies come to that, where they are known.
    refusal : str
        Why one of them refuses; "" where neither does.
    edit : str
        What to write so that the second policy gives what the first one gave; "" where nothing is
        known.
    values : Values or None
        Of a change of values.
    inherited : bool
        Whether only the operands differ, because of an earlier line.
    count : int
        How often it was passed.
    """

    kind: str
    site: Site
    program: Site
    operation: str
    before: str
    after: str
    reasons: Reasons = NO_REASONS
    refusal: str = ""
    edit: str = ""
    values: Values | None = None
    inherited: bool = False
    count: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return the change as data."""
        site, program = self.site, self.program
        called_from = {
            "file": program.file,
            "line": program.line,
            "expression": program.expression,
        }
        return {
            "kind": self.kind,
            "file": site.file,
            "line": site.line,
            "column": site.column,
            "source": site.text,
            "expression": site.expression,
            "called_from": called_from if program != site else None,
            "operation": self.operation,
            "before": self.before,
            "after": self.after,
            "why": {"before": list(self.reasons.before), "after": list(self.reasons.after)},
            "refusal": self.refusal or None,
            "edit": self.edit or None,
            "values": self.values._asdict() if self.values else None,
            "inherited": self.inherited,
            "count": self.count,
        }

    def shown(self, before: str, after: str, console: Console, width: int) -> Iterator[Text]:
        """Yield the change as it is printed: its source, both answers, what to write.

        Parameters
        ----------
        before, after : str
            The names of the policies.
        console, width
            Where, and in how many columns.
        """
        from rich.text import Text

        yield self.head()
        if self.program != self.site:
            called = self.program.expression or self.program.text
            yield Text(f"    called from {self.program}: {called}", style="dim")
        names = max(len(name) for name in (before, after, "write"))
        answers = max(len(self.before), len(self.after))
        for name, said, style in ((before, "before", ""), (after, "after", "bold red")):
            line = Text(f"    {name:<{names}}  ")
            line.append(f"{getattr(self, said):<{answers}}  ", style)
            yield from wrapped(line, Text(self.why(said), "dim"), console, width)
        if self.edit:
            line = Text("    ").append(f"{'write':<{names}}  ", "green")
            edit = Text(self.edit).append(f"  to keep {self.before} under {after}", "dim")
            yield from wrapped(line, edit, console, width)

    def head(self) -> Text:
        """The place, what stands there, and what is computed of what."""
        from rich.text import Text

        head = Text(self.site.path, style="bold cyan")
        head.append(f"  {self.site.expression or self.site.text}", style="bold")
        times = f"  ×{self.count}" if self.count > 1 else ""
        return head.append(f"  [{self.operation}]{times}", style="dim")

    def why(self, which: str) -> str:
        """Why one of the policies answers as it does, in a line."""
        steps = getattr(self.reasons, which)
        refused = self.refusal if getattr(self, which) == REFUSES else ""
        said = [*steps, refused] if refused else list(steps)
        if which == "after" and self.values is not None:
            at = f"; the first at [{', '.join(map(str, self.values.at))}]"
            at = at if self.values.at else ""
            of = f", of {self.values.given}" if self.values.given else ""
            said.append(f"{self.values.elements} of {self.values.size} differ{at}{of}")
        if which == "after" and self.inherited:
            said.append("because of an earlier line")
        return "; ".join(said)


REFUSES = "refuses"
