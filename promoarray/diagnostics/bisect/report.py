"""Result of a search: the lines, the rules, and the values with and without them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray.console import Printable, counted, html_table, visible, wrapped
from promoarray.diagnostics.bisect.rules import worded
from promoarray.diagnostics.bisect.trial import EXPRESSION, Line, Run, in_words
from promoarray.diagnostics.diff.change import Change
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(frozen=True, repr=False)
class Bisection(Printable):
    """The smallest lines and rules that change a final value."""

    before: Policy
    after: Policy
    expression: str
    # under the first policy, under the other, and with the other's rules on the lines found
    ran: tuple[Run, Run, Run]
    lines: dict[Line, str]  # from each line found to its text
    rules: list[str] | None  # None if the rules could not be told apart
    runs: int  # how often the program was run
    changes: tuple[Change, ...]  # what ``promoarray diff`` shows of these lines

    @property
    def headline(self) -> str:
        """What was asked."""
        return f"What changes {self.expression} from {self.before.name} to {self.after.name}"

    @property
    def values(self) -> list[Any]:
        """The final value of each run."""
        return [run.seen.value for run in self.ran]

    def told(self) -> list[tuple[str, str]]:
        """Return what was run, and the value then."""
        only = "these lines" if len(self.lines) > 1 else "this line"
        rules = f"{counted(len(self.rules), 'rule')} of " if self.rules else ""
        ran = (
            f"under {self.before.name}",
            f"under {self.after.name}",
            f"with {rules}{self.after.name} on {only} only",
        )
        return list(zip(ran, in_words(self.values), strict=True))

    @property
    def about(self) -> dict[str, str]:
        """The rules found, each with what it is about."""
        return {rule: worded(rule) for rule in self.rules or ()}

    def summary(self) -> str:
        """Say what was found in a sentence."""
        there = f" and {counted(len(self.rules), 'rule')} there" if self.rules else ""
        made = counted(len(self.lines), "line") + there
        one = len(self.lines) == 1 and len(self.rules or [0]) == 1
        less = "" if one else "; without any of them it is another value"
        first, other, _ = in_words(self.values)
        runs = counted(self.runs, "run")
        return f"{self.expression} is {other} instead of {first} because of {made}{less} ({runs})."

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        rules = [{"rule": rule, "words": words} for rule, words in self.about.items()]
        return {
            "from": self.before.name,
            "to": self.after.name,
            "expression": self.expression,
            "value": dict(zip(("from", "to", "minimal"), map(_data, self.values), strict=True)),
            "lines": [
                {"file": file, "line": number, "source": text}
                for (file, number), text in self.lines.items()
            ],
            "rules": None if self.rules is None else rules,
            "changes": [each.to_dict() for each in self.changes],
            "refusals": [
                {"file": site.file, "line": site.line, "refused": said, "cast": cast}
                for (site, said), cast in self.ran[1].ended.refusals.items()
            ],
            "runs": self.runs,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        told = self.told()
        longest = max(len(what) for what, _ in told)
        for what, value in told:
            run = Text(f"{what:<{longest}}  ")
            yield from wrapped(run, Text(value, "bold"), console, options.max_width)
        for each in self.changes:
            yield from each.shown(self.before.name, self.after.name, console, options.max_width)
        for line in [n for n in self.lines if n not in {each.line for each in self.changes}]:
            source = visible(self.lines[line])
            yield Text(_place(line), "bold cyan").append(f"  {source}", "bold not cyan")
        for rule, words in self.about.items():
            yield Text("rule  ", "green").append(f"{rule}: {words}", "not green")
        if self.rules is None:
            yield Text("The rules could not be told apart: only together do they give this value.")
        for (site, said), cast in self.ran[1].ended.refusals.items():
            refused = f"{self.after.name} refuses {said} at {site}; cast {cast} to go on"
            yield Text(visible(refused), "dim")
        yield from wrapped(Text(), Text(self.summary(), "bold"), console, options.max_width)

    def html(self) -> str:
        """Return it as a part of a page."""
        lines = [(_place(line), visible(text)) for line, text in self.lines.items()]
        return (
            f"<p>{escape(self.summary())}</p>"
            + html_table(("run", self.expression), self.told())
            + html_table(("line", "source"), lines)
            + html_table(("rule", "what it is"), list(self.about.items()))
        )


def _place(line: Line) -> str:
    file, number = line
    return "the expression itself" if file == EXPRESSION else visible(f"{file}:{number}")


def _data(value: Any) -> Any:
    """A plain value as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind != "c" else [str(x) for x in value.flat]
    if isinstance(value, (list, tuple)):
        return [_data(each) for each in value]
    if isinstance(value, dict):
        return {key: _data(each) for key, each in value.items()}
    return str(value) if isinstance(value, complex) else value
