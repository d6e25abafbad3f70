"""How a program ends under each policy, side by side.

A policy that refuses a line would stop the program there. So that every policy can be compared to
the end, the cast that the refusal's message proposes is applied, and the place noted; else the
first refusal stops the program as it would stop the user's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, html_table
from promoarray.core.call_site import Site
from promoarray.diagnostics.compare.program import Ended

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass
class Outcome:
    """How a program ended under one policy.

    Attributes
    ----------
    policy : str
    values : dict
        The globals asked for, as text.
    recovered : dict
        From each place and operation refused to the cast applied there, in words.
    error : str
        What stopped it, or "".
    site : str
        The line of the program where it stopped.
    output : str
        What it printed.
    """

    policy: str
    values: dict[str, str] = field(default_factory=dict)
    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)
    error: str = ""
    site: str = ""
    output: str = ""

    @property
    def remarks(self) -> list[str]:
        """What a reader should know, a line each: the refusals, and what stopped the program."""
        lines = [f"{site}: {said}, cast {cast}" for (site, said), cast in self.recovered.items()]
        stopped = [f"stopped at {self.site}"] if self.site else []
        return lines + ([*stopped, self.error] if self.error else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as data."""
        return {
            "policy": self.policy,
            "values": self.values,
            "refusals": [
                {"file": site.file, "line": site.line, "refused": said, "cast": cast}
                for (site, said), cast in self.recovered.items()
            ],
            "error": self.error or None,
            "stopped_at": self.site or None,
            "output": self.output,
        }


def outcome(policy: str, ended: Ended) -> Outcome:
    """Return how a run under a policy ended; of one that was stopped no globals."""
    own = ended.findings[0] if ended.findings else None
    recovered = {place: cast for each in ended.findings for place, cast in each.refusals.items()}
    values = own.values if own and not ended.status else {}
    return Outcome(policy, values, recovered, ended.in_short, ended.where, ended.output)


_RECOVERED = "refused; cast applied to go on"


@dataclass(frozen=True, repr=False)
class Outcomes(Printable):
    """How a program ended under each policy, side by side.

    Attributes
    ----------
    every : tuple of Outcome
    """

    every: tuple[Outcome, ...]

    @property
    def headline(self) -> str:
        """What was run."""
        return "Actual runs under each policy"

    @property
    def names(self) -> list[str]:
        """The globals that are shown."""
        return list(dict.fromkeys(name for o in self.every for name in o.values))

    def to_dict(self) -> dict[str, Any]:
        """Return the outcomes as data."""
        return {"outcomes": [outcome.to_dict() for outcome in self.every]}

    def __rich__(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        names = self.names
        table = Table(show_lines=True)
        for name in ("actual run under", *names, _RECOVERED):
            table.add_column(Text(name))
        for o in self.every:
            remarks = Text("\n".join(o.remarks), style="red" if o.error else "")
            values = (Text(o.values.get(n, "")) for n in names)
            table.add_row(Text(o.policy), *values, remarks)
        return table

    def html(self) -> str:
        """Return the outcomes as a part of a page; "" if there are none."""
        if not self.every:
            return ""
        names = self.names
        rows = (
            (o.policy, *(o.values.get(n, "") for n in names), "\n".join(o.remarks))
            for o in self.every
        )
        table = html_table(("policy", *names, _RECOVERED), rows).replace("\n", "<br>")
        return f"<h2>{escape(self.headline)}</h2>{table}"
