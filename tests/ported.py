"""A program ported in this process: as ``promoarray port`` does it, but without starting Python."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from promoarray.core.observers import observing
from promoarray.diagnostics.port.edits import Port
from promoarray.diagnostics.port.porting import Ported, Work
from promoarray.diagnostics.port.recording import Recording
from promoarray.diagnostics.port.runs import Ran, Texts
from promoarray.promotion import in_force
from promoarray.promotion.registry import as_policy


class InProcess:
    """Takes the place of ``Runner``."""

    def __init__(self, path: Path) -> None:
        self.path, self.count = path, 0

    def __call__(
        self, policy: str | None, asked: tuple[str, ...] = (), texts: Texts | None = None
    ) -> Ran:
        """Run the program."""
        self.count += 1
        data = (texts or {}).get(self.path) or self.path.read_bytes()
        names: dict[str, Any] = {"__name__": "__main__", "__file__": str(self.path)}
        recording = Recording(asked)
        recording.begin()
        before, stopped, out = in_force.process_default(), "", io.StringIO()
        in_force.set_policy(policy or before)
        try:
            code = compile(data, str(self.path), "exec", dont_inherit=True)
            with observing(recording), contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with np.errstate(all="ignore"):
                    exec(code, names)
        except Exception as error:
            stopped = f"{type(error).__name__}: {error}"
        finally:
            in_force.set_policy(before)
        seen, final = recording.ended(names)
        named = policy or before.name
        return Ran(named, seen, final, out.getvalue(), stopped, int(bool(stopped)), False, [])


def ported(path: Path, run: str, *to: str) -> Ported:
    """Port a program; raise what stops it under its own policy."""
    runner = InProcess(path)
    first = runner(run, to)
    if first.stopped:
        raise ValueError(first.stopped)
    port = Port(as_policy(run), tuple(map(as_policy, to)))
    return Work(runner, port, run, first, (path.parent.resolve(),)).ported()


def text(done: Ported) -> str:
    """The edited program; "" if nothing was edited."""
    return done.changed[0][1].text if done.changed else ""
