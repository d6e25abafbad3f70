"""Places where a program reads a dtype and may branch on it, so that policies part unseen.

The run goes the way that its own dtype decides; a policy that has another dtype there may go
another way, which no report of this run can follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import listed
from promoarray.core.call_site import Site

if TYPE_CHECKING:
    from rich.text import Text

TITLE = "Decided by the run's dtype: other policies may take another branch"


class Decided(NamedTuple):
    """A place, the dtypes that decided there, and those of a policy that decide otherwise."""

    site: Site
    program: Site
    run: tuple[str, ...]
    policy: str
    other: tuple[str, ...]


@dataclass(eq=False)
class Decisions:
    """Places that the run's dtype decides.

    Attributes
    ----------
    counts : Counter
        From each Decided to how often it was.
    """

    counts: Counter[Decided] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.counts)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the places as data, in the order of the source."""
        return [
            {
                "file": site.file,
                "line": site.line,
                "expression": site.expression or site.text,
                "called_from": (
                    {"file": program.file, "line": program.line, "expression": program.expression}
                    if program != site
                    else None
                ),
                "dtypes": list(run),
                "policies": {
                    each.policy: list(each.other) for each in self._at((site, program, run))
                },
            }
            for site, program, run in self._places()
        ]

    def lines(self) -> Iterator[Text]:
        """Yield the places as lines for the terminal, under a title."""
        from rich.text import Text

        if self.counts:
            yield Text(TITLE, style="bold")
        for place in self._places():
            site, program, _ = place
            head = Text(site.path, style="bold cyan")
            yield head.append(f"  {site.expression or site.text}", style="bold")
            if program != site:
                yield Text(f"    called from {program}: {program.expression}", style="dim")
            yield Text(f"    {self._said(place)}")

    def html(self) -> str:
        """Return the places as a section of a page; "" if there are none."""
        rows = "".join(
            f"<tr><td>{escape(str(place[0]))}</td>"
            f"<td><code>{escape(place[0].expression or place[0].text)}</code></td>"
            f"<td>{escape(self._said(place))}</td></tr>"
            for place in self._places()
        )
        head = "<tr><th>place</th><th>source</th><th>dtypes</th></tr>"
        return f"<h2>{TITLE}</h2><table>{head}{rows}</table>" if rows else ""

    def _places(self) -> list[tuple[Site, Site, tuple[str, ...]]]:
        found = dict.fromkeys((each.site, each.program, each.run) for each in tuple(self.counts))
        lines = {
            place: (place[1].file, place[1].line, place[0].file, place[0].line) for place in found
        }
        return sorted(found, key=lambda place: lines[place])  # in a line as they were passed

    def _at(self, place: tuple[Site, Site, tuple[str, ...]]) -> list[Decided]:
        found = tuple(self.counts)  # other threads may add to it
        return [each for each in found if (each.site, each.program, each.run) == place]

    def _said(self, place: tuple[Site, Site, tuple[str, ...]]) -> str:
        others: dict[str, list[str]] = {}
        for each in self._at(place):
            others.setdefault(" and ".join(each.other), []).append(each.policy)
        run = " and ".join(place[2])
        said = (f"{dtype} under {listed(names)}" for dtype, names in others.items())
        return f"decided by {run}; {'; '.join(said)}"
