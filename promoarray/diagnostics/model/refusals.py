"""Stops of a program, and where its policy refused: who else refuses, and what to do.

The operation that raised was never carried out, so it is no place at which the policies differ; it
is a finding of its own, the first of a report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from promoarray.console import listed
from promoarray.core.call_site import Site
from promoarray.diagnostics.model.divergence import Answer, Divergence


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that the policy of the run refuses.

    Attributes
    ----------
    place : Divergence
        Where, and what every policy answers there, the run's first.
    edit : str
        The source after which the run goes on; "" if there is none.
    error : tuple
        What tells its error from others.
    """

    place: Divergence
    edit: str
    error: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    """What stopped a program.

    Attributes
    ----------
    run : str
        The policy it ran under.
    error : str
        The error as a traceback ends.
    site : Site or None
        The line of the program.
    refused : Refused or None
        The operation, if it is the policy that refused it.
    """

    run: str
    error: str
    site: Site | None = None
    refused: Refused | None = None

    @property
    def refuses(self) -> list[str]:
        """The policies that refuse the operation, the run's first."""
        return [name for name, each in self._answers.items() if each.dtype is None]

    @property
    def goes_on(self) -> list[str]:
        """The policies that do not."""
        return [name for name, each in self._answers.items() if each.dtype is not None]

    @property
    def edit(self) -> str:
        """The source after which the run goes on; "" if none is known."""
        return self.refused.edit if self.refused else ""

    @property
    def remedy(self) -> str:
        """What to do besides; "" if nothing is known."""
        if not self.goes_on or (self.refused and self.refused.place.framework):
            return ""  # a recorded program runs in its framework alone
        first, *others = self.goes_on
        also = f", as {listed(others)} {'do' if len(others) > 1 else 'does'}" if others else ""
        return f"--run {first}, which goes on here{also}"

    @property
    def _answers(self) -> Mapping[str, Answer]:
        return self.refused.place.answers if self.refused else {}

    @property
    def headline(self) -> str:
        """What happened, in a line."""
        why = "which refuses" if self.refused else "by an error"
        at = f" at {self.site}" if self.site else ""
        return f"The program stopped{at} under {self.run}, {why}"
