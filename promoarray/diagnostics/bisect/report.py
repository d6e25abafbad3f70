"""What a search has found: the lines, the rules, and the values with and without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray.console import Printable, counted, html_table, wrapped
from promoarray.diagnostics.bisect.rules import worded
from promoarray.diagnostics.bisect.search import Found
from promoarray.diagnostics.bisect.trial import EXPRESSION, Line
from promoarray.diagnostics.bisect.value import shown, where_they_differ
from promoarray.diagnostics.diff.change import Change
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(frozen=True, repr=False)
class Bisection(Printable):
    """The smallest lines and rules that change a final value.

    Attributes
    ----------
    before, after : Policy
    expression : str
    found : Found
    changes : tuple of Change
        What ``promoarray diff`` shows of these lines.
    """

    before: Policy
    after: Policy
    expression: str
    found: Found
    changes: tuple[Change, ...]

    @property
    def headline(self) -> str:
        """What was asked."""
        return f"What changes {self.expression} from {self.before.name} to {self.after.name}"

    @property
    def rules(self) -> dict[str, str]:
        """The rules found, each in words."""
        return {r: worded(r) for r in self.found.rules or ()}

    def shown(self, value: Any) -> str:
        """A value in words; of an array the first element that changes."""
        first, other = self.found.first.value, self.found.other.value
        return shown(value, where_they_differ(first, other))

    def values(self) -> Iterator[tuple[str, str]]:
        """Yield what was run, and the value then."""
        found = self.found
        yield f"under {self.before.name}", self.shown(found.first.value)
        yield f"under {self.after.name}", self.shown(found.other.value)
        only = "these lines" if len(found.lines) > 1 else "this line"
        rules = f"{counted(len(found.rules), 'rule')} of " if found.rules else ""
        yield f"with {rules}{self.after.name} on {only} only", self.shown(found.last.value)

    def summary(self) -> str:
        """Say what was found in a sentence."""
        lines, rules = self.found.lines, self.found.rules
        there = f" and {counted(len(rules), 'rule')} there" if rules else ""
        made = counted(len(lines), "line") + there
        one = len(lines) == 1 and len(rules or [0]) == 1
        less = "" if one else "; without any of them it is another value"
        values = (self.shown(run.value) for run in (self.found.other, self.found.first))
        runs = counted(self.found.runs, "run")
        return (
            f"{self.expression} is {' instead of '.join(values)} because of {made}{less} ({runs})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        found = self.found
        return {
            "from": self.before.name,
            "to": self.after.name,
            "expression": self.expression,
            "value": {
                "from": _data(found.first.value),
                "to": _data(found.other.value),
                "minimal": _data(found.last.value),
            },
            "lines": [
                {"file": line.file, "line": line.number, "source": line.text}
                for line in found.lines
            ],
            "rules": (
                None
                if found.rules is None
                else [{"rule": rule, "words": words} for rule, words in self.rules.items()]
            ),
            "changes": [each.to_dict() for each in self.changes],
            "refusals": [
                {"file": site.file, "line": site.line, "refused": said, "cast": cast}
                for (site, said), cast in found.other.casts.items()
            ],
            "runs": found.runs,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        values = list(self.values())
        names = max(len(what) for what, _ in values)
        for what, value in values:
            run = Text(f"{what:<{names}}  ")
            yield from wrapped(run, Text(value, "bold"), console, options.max_width)
        told = {(c.program.file, c.program.line) for c in self.changes}
        for each in self.changes:
            yield from each.shown(self.before.name, self.after.name, console, options.max_width)
        for line in self.found.lines:
            if line[:2] not in told:
                yield Text(_place(line), "bold cyan").append(f"  {line.text}", "bold not cyan")
        for rule, words in self.rules.items():
            yield Text("rule  ", "green").append(f"{rule}: {words}", "not green")
        if self.found.rules is None:
            yield Text("The rules could not be told apart: only together do they give this value.")
        for (site, said), cast in self.found.other.casts.items():
            yield Text(f"{self.after.name} refuses {said} at {site}; cast {cast} to go on", "dim")
        yield from wrapped(Text(), Text(self.summary(), "bold"), console, options.max_width)

    def html(self) -> str:
        """Return it as a part of a page."""
        lines = [(_place(line), line.text) for line in self.found.lines]
        return (
            f"<p>{escape(self.summary())}</p>"
            + html_table(("run", self.expression), list(self.values()))
            + html_table(("line", "source"), lines)
            + html_table(("rule", "what it is"), list(self.rules.items()))
        )


def _place(line: Line) -> str:
    return "the expression itself" if line.file == EXPRESSION else f"{line.file}:{line.number}"


def _data(value: Any) -> Any:
    """A plain value as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind != "c" else [str(x) for x in value.flat]
    if isinstance(value, (list, tuple)):
        return [_data(each) for each in value]
    if isinstance(value, dict):
        return {key: _data(each) for key, each in value.items()}
    return str(value) if isinstance(value, complex) else value
