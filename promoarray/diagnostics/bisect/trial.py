"""The program's side of ``promoarray bisect``: some lines run under another policy than the rest.

Every operation asks for the policy in force where it is not bound to one. While a trial runs, the
default of the process is asked of the trial, which looks at the line of the program that led there.
As the trial observes the process, no operation takes the fast path, which would not ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from promoarray.core.call_site import program_site
from promoarray.core.events import OperationEvent, SetitemEvent
from promoarray.diagnostics.bisect.rules import mixed
from promoarray.diagnostics.bisect.value import plain
from promoarray.diagnostics.diff.probe import Changes, Noted
from promoarray.diagnostics.run.probe import Probe
from promoarray.promotion import in_force
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

EXPRESSION = "--expr"
"""What stands for a file where the expression itself computes."""


LineKey = tuple[str, int]
"""A file, and the number of a line of it."""


class Line(NamedTuple):
    """A line of a program, and what stands there."""

    file: str
    number: int
    text: str = ""


class Ended(NamedTuple):
    """What a trial has seen.

    Attributes
    ----------
    value : object
        Of the expression, as plain data.
    error : str
        Why it has none; else "".
    lines : dict
        Every line that asked for a policy, from (file, number) to its text.
    operations : frozenset of (tuple, str)
        The operations that were carried out, each after its line.
    noted : Noted or None
        What ``promoarray diff`` notes, if that was asked for.
    """

    value: Any
    error: str
    lines: dict[LineKey, str]
    operations: frozenset[tuple[LineKey, str]]
    noted: Noted | None


@dataclass(eq=False)
class Trial(Probe):
    """Runs some lines under a policy that has some rules of another.

    Attributes
    ----------
    before, after : str
        The two policies' names.
    expression : str
        What to evaluate at the end, among the program's globals.
    lines : frozenset of (str, int), or None
        The lines; None for all of them.
    rules : tuple of str, or None
        The rules, as ``rules.mixed`` takes them; None for all of them.
    changes : Changes or None
        Notes what changes, too.
    """

    before: str
    after: str
    expression: str
    lines: frozenset[LineKey] | None = None
    rules: tuple[str, ...] | None = None
    changes: Changes | None = None

    def begin(self) -> None:
        """Have the policy in force looked up by line."""
        self._before, after = as_policy(self.before), as_policy(self.after)
        self._other = after if self.rules is None else mixed(self._before, after, self.rules)
        self._seen: dict[LineKey, str] = {}
        self._operations: set[tuple[LineKey, str]] = set()
        if self.changes is not None:
            self.changes.begin()
        in_force.process_default = self._in_force

    def on_operation(self, event: OperationEvent) -> None:
        """Note which operations there are, and where."""
        self._operations.add((self._line(), event.name))
        if self.changes is not None:
            self.changes.on_operation(event)

    def on_write(self, event: OperationEvent | SetitemEvent) -> None:
        """Pass it on to what notes the changes."""
        if self.changes is not None:
            self.changes.on_write(event)

    def ended(self, names: dict[str, Any]) -> Ended:
        """Evaluate the expression."""
        value, error = None, ""
        try:
            value = plain(eval(compile(self.expression, EXPRESSION, "eval"), names))
        except Exception as failed:
            error = f"{type(failed).__name__}: {failed}"
        noted = self.changes.ended(names) if self.changes else None
        return Ended(value, error, self._seen, frozenset(self._operations), noted)

    def _line(self) -> LineKey:
        site = program_site()
        line = site.file, site.line
        self._seen.setdefault(line, site.text)
        return line

    def _in_force(self) -> Policy:
        line = self._line()
        return self._other if self.lines is None or line in self.lines else self._before
