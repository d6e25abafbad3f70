"""Report of a shadow run, as text, data and a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable
from promoarray.diagnostics.findings.causes import SharedCauses, shared_causes
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.findings.verdict import PolicySummary, by_policy
from promoarray.diagnostics.render.entries import Line, lines_of
from promoarray.diagnostics.render.words import summary

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(eq=False, repr=False)
class Report(Results, Printable):
    """The places at which policies differ, as text, data and a page.

    ``divergences``, ``value_changes``, ``escapes``, ``signatures`` and ``decisions`` have them,
    ``Results`` the other attributes.
    """

    @property
    def headline(self) -> str:
        """What was compared."""
        return f"Where the policies differ from {self.run.name}"

    def summary(self) -> str:
        """Return the counts in a sentence, and another if data left the policy."""
        return summary(self)

    def shared_causes(self) -> SharedCauses:
        """Return the root causes that several places have in common."""
        return shared_causes(self)

    def by_policy(self) -> list[PolicySummary]:
        """Return what each policy that differs asks for, those with the most root causes first."""
        return by_policy(self)

    def lines(self) -> list[Line]:
        """Return the lines of the program that are printed, with what is said of each."""
        return lines_of(self, everything=self.inherited)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        from promoarray.diagnostics.render.json import report_data

        return report_data(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from promoarray.diagnostics.render.text import report_lines

        yield from report_lines(self, console, options.max_width)

    def html(self) -> str:
        """Return the report as a part of a page, with the places that only inherit."""
        from promoarray.diagnostics.render.html import report_part

        return report_part(self)

    def to_html(self, extra: str = "", command: str = "") -> str:
        """Return the report as one self-contained page, with the source of the program.

        Parameters
        ----------
        extra : str
            HTML for its end.
        command : str
            How the report was made, if by a command.
        """
        from promoarray.diagnostics.render.html import report_page

        return report_page(self, extra, command)
