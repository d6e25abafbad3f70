"""What came of porting a program: the edits, and how it ends with them under every policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from promoarray.diagnostics.edits.planner import Edit, NoEdit, Port
from promoarray.diagnostics.findings.verdict import NotExamined
from promoarray.diagnostics.model.final import Final
from promoarray.diagnostics.model.final_difference import Unequal
from promoarray.diagnostics.port.runs import Ran, Recordings
from promoarray.diagnostics.port.sources import Source

NOTHING_RECORDED = "no operation of it was recorded"
"""Why a program is not proved of which nothing is known."""


class Checked(NamedTuple):
    """How the edited program ended under one policy.

    Attributes
    ----------
    policy : str
    stopped : str
        What stopped it, or "".
    unequal : tuple of Unequal
        Its globals that are not as in the run.
    """

    policy: str
    stopped: str
    unequal: tuple[Unequal, ...]

    @property
    def agrees(self) -> bool:
        """Whether it ends as the run did."""
        return not self.stopped and not self.unequal


@dataclass(frozen=True)
class Ported:
    """What came of it.

    Attributes
    ----------
    port : Port
    edits : tuple of Edit
    left : tuple of NoEdit
    changed : tuple of (Source, Source)
        The files before and after.
    checked : tuple of Checked
        Under the policy of the run itself first.
    final : dict
        What the run ended with, but for what varies from run to run.
    varying : tuple of str
        That.
    prints : bool
        Whether the program prints the same each time, so that this was compared, too.
    runs : int
        How often the program was run.
    recorded : Recordings or None
        Of a program of another framework, whose dtypes under the policies are known from its
        operations; nothing is computed under them.
    real : str
        The NumPy 1 that its values were compared with; "" if none was given.
    open : tuple of NotExamined
        What a program that was recorded did besides, of which nothing is known.
    """

    port: Port
    edits: tuple[Edit, ...]
    left: tuple[NoEdit, ...]
    changed: tuple[tuple[Source, Source], ...]
    checked: tuple[Checked, ...]
    final: dict[str, Final]
    varying: tuple[str, ...]
    prints: bool
    runs: int
    recorded: Recordings | None = None
    real: str = ""
    open: tuple[NotExamined, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the edited program ends alike under all policies."""
        return all(each.agrees for each in self.checked)


class Stopped(Exception):
    """The program did not run to its end under its own policy."""

    def __init__(self, ran: Ran) -> None:
        super().__init__(ran.stopped)
        self.ran = ran
