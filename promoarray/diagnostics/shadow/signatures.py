"""Calls that a framework's own function does not take, though promoarray's does.

They change no dtype here; the code has to be written otherwise where it is ported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.core.call_site import Site

if TYPE_CHECKING:
    from rich.text import Text

TITLE = "Calls that a framework's own function does not take"


class Call(NamedTuple):
    """A call, the policy whose framework does not take it, and why."""

    site: Site
    policy: str
    reason: str


@dataclass(eq=False)
class Signatures:
    """Calls that some framework does not take, counted.

    Attributes
    ----------
    counts : Counter
        From each Call to how often it was made.
    """

    counts: Counter[Call] = field(default_factory=Counter)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the calls as data, in the order of the source."""
        return [
            {
                "file": call.site.file,
                "line": call.site.line,
                "expression": call.site.expression,
                "policy": call.policy,
                "reason": call.reason,
                "count": self.counts[call],
            }
            for call in sorted(self.counts)
        ]

    def lines(self) -> Iterator[Text]:
        """Yield the calls as lines for the terminal, under a title."""
        from rich.text import Text

        if self.counts:
            yield Text(TITLE, style="bold")
        for site in self._sites():
            head = Text(site.path, style="bold cyan")
            yield head.append(f"  {site.expression or site.text}", style="bold")
            yield from (Text(f"    {said}") for said in self._said(site))

    def html(self) -> str:
        """Return the calls as a section of a page; "" if there are none."""
        rows = "".join(
            f"<tr><td>{escape(str(site))}</td><td><code>{escape(site.expression or site.text)}"
            f"</code></td><td>{'<br>'.join(map(escape, self._said(site)))}</td></tr>"
            for site in self._sites()
        )
        head = "<tr><th>place</th><th>source</th><th>what it does not take</th></tr>"
        return f"<h2>{TITLE}</h2><table>{head}{rows}</table>" if rows else ""

    def _sites(self) -> list[Site]:
        return sorted({call.site for call in tuple(self.counts)})  # other threads may add to it

    def _said(self, site: Site) -> Iterator[str]:
        for call in sorted(call for call in tuple(self.counts) if call.site == site):
            times = f"  ×{self.counts[call]}" if self.counts[call] > 1 else ""
            yield f"{call.policy}: {call.reason}{times}"
