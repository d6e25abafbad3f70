"""Runs of a program with edits, of which a few are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from promoarray.diagnostics.edits.attempt import Edit
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.run.program import Ended, Program, StandardInput
from promoarray.diagnostics.run.task import Task


class Attempts:
    """Tries edits, each by a run of the program.

    Parameters
    ----------
    most : int
        How many are tried.

    Attributes
    ----------
    tried : int
        How many were.
    """

    def __init__(self, program: Program, task: Task, given: StandardInput, most: int) -> None:
        self._program, self._task, self._given, self._most = program, task, given, most
        self.tried = 0

    def flows(self) -> list[Flow]:
        """Run it as it is, and return its flows with what made each array."""
        task = replace(self._task, origins=True)
        with Progress("the program, to see what made its arrays"):
            ended = self._program.run(task, self._given, quiet=True)
        return [flow for each in ended.reports for flow in each.flows]

    def of(self, edits: Iterable[Edit]) -> Iterator[tuple[Edit, Ended]]:
        """Yield edits, each with how the edited program ended, until there were enough."""
        with Progress() as progress:
            for each in edits:
                if self.tried == self._most:
                    return
                progress.step(f"the program with {each.changes[0][1]}", self.tried / self._most)
                self.tried += 1
                ended = self._program.run(self._task, self._given, quiet=True, texts=each.texts)
                yield each, ended
                if ended.interrupted:
                    return
