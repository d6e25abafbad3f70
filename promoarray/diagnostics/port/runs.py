"""Runs of a program with some of its files edited, under one policy or another."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from promoarray.diagnostics.compare.program import Ended, Program
from promoarray.diagnostics.compare.standard_input import StandardInput
from promoarray.diagnostics.compare.task import Task
from promoarray.diagnostics.port import launch
from promoarray.diagnostics.port.final import Final
from promoarray.diagnostics.port.recording import Recorded, Recording, Seen

Texts = Mapping[Path, bytes]
"""The edited files."""


class Ran(NamedTuple):
    """How one run went.

    Attributes
    ----------
    policy : str
        What it ran under.
    seen : list of Seen
        Of all its processes.
    final : dict
        The globals of the program itself.
    output : str
    stopped : str
        What stopped it, and where; "" if it ran to its end.
    status : int
    interrupted : bool
    bugs : list of str
    """

    policy: str
    seen: list[Seen]
    final: dict[str, Final]
    output: str
    stopped: str
    status: int
    interrupted: bool
    bugs: list[str]


@dataclass
class Runner:
    """Runs a program.

    Attributes
    ----------
    program : Program
    given : StandardInput
        Its input, the same for each run.
    count : int
        How often it was run.
    """

    program: Program
    given: StandardInput
    count: int = field(default=0)

    def __call__(
        self, policy: str | None, asked: tuple[str, ...] = (), texts: Texts | None = None
    ) -> Ran:
        """Run it under a policy, or what it sets itself, and ask others besides."""
        self.count += 1
        task = Task((), policy, names=(), probe=Recording(asked))
        if not texts:
            return _ran(self.program.run(task, self.given, quiet=True))
        with tempfile.TemporaryDirectory(prefix="promoarray-") as folder:
            kept = os.path.join(folder, "texts")
            edited = {os.path.realpath(path): data for path, data in texts.items()}
            Path(kept).write_bytes(pickle.dumps(edited))
            edited_program = Program((launch.__file__, kept, *self.program.command))
            return _ran(edited_program.run(task, self.given, quiet=True))


def _ran(ended: Ended) -> Ran:
    recorded = [each.probed for each in ended.findings if isinstance(each.probed, Recorded)]
    own = ended.findings[0] if ended.findings else None
    stopped = f"{ended.why} at {ended.where}" if ended.where else ended.why
    return Ran(
        own.run if own else "",
        [seen for each in recorded for seen in each.seen],
        recorded[0].final if recorded else {},
        ended.output,
        stopped,
        ended.status,
        ended.interrupted,
        ended.bugs,
    )
