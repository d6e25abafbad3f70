"""Runs of a program with edits, of which a few are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from promoarray.diagnostics.edits.attempt import Edit
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.run.program import Ended, Program, StandardInput, say
from promoarray.diagnostics.run.task import Task

LONG = 60.0
"""Of a program that takes so many seconds edits are tried only where somebody asks for them."""


class Attempts:
    """Tries edits, each by a run of the program.

    Parameters
    ----------
    before : Ended
        How the program ended as it is.
    most : int
        How many are tried.
    asked : bool or None
        Whether edits are tried; None for those of a program that does not take long.
    command : str
        The name of the command, which tells where none is tried.

    Attributes
    ----------
    tried : int
        How many were.
    """

    def __init__(
        self,
        program: Program,
        task: Task,
        given: StandardInput,
        before: Ended,
        *,
        most: int,
        asked: bool | None,
        command: str,
    ) -> None:
        self._program, self._task, self._given = program, task, given
        self._before, self._most, self._asked, self._command = before, most, asked, command
        self.tried = 0

    @cached_property
    def _tries(self) -> bool:
        if self._asked is None and self._before.seconds > LONG:
            say(
                self._command,
                "no edits were tried: each is a run of the program, and this one took "
                f"{self._before.seconds:.0f} s. Write --edit to try up to {self._most}",
            )
            return False
        return self._asked is not False

    def flows(self) -> list[Flow]:
        """Run it as it is, and return its flows with what made each array."""
        if not self._tries:
            return []
        task = replace(self._task, origins=True)
        with Progress("the program, to see what made its arrays"):
            ended = self._program.run(task, self._given, quiet=True)
        return [flow for each in ended.reports for flow in each.flows]

    def of(self, edits: Iterable[Edit]) -> Iterator[tuple[Edit, Ended]]:
        """Yield edits, each with how the edited program ended, until there were enough."""
        with Progress() as progress:
            for each in edits:
                if self.tried == self._most or not self._tries:
                    return
                progress.step(f"the program with {each.changes[0][1]}", self.tried / self._most)
                self.tried += 1
                ended = self._program.run(self._task, self._given, quiet=True, texts=each.texts)
                yield each, ended
                if ended.interrupted:
                    return
