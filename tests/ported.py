"""A program ported in this process: as ``promoarray port`` does it, but without starting Python."""

from __future__ import annotations

import contextlib
import io
import linecache
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.edits.planner import Port
from promoarray.diagnostics.port.ported import Ends, Ported, Ran, Recordings, seen
from promoarray.diagnostics.port.porting import Work
from promoarray.diagnostics.port.sources import Source
from promoarray.diagnostics.record.block import FRAMEWORKS, REWRITTEN, recording
from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.numpy1_emulation import Past
from promoarray.diagnostics.record.numpy.rewriting import rewritten
from promoarray.diagnostics.record.numpy.session import Session
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended, Texts
from promoarray.diagnostics.run.task import Findings
from promoarray.promotion import in_force
from promoarray.promotion.registry import as_policy


@dataclass
class InProcess:
    """Takes the place of ``Runner``."""

    path: Path
    recorded: Recordings | None = None
    count: int = 0

    def __call__(
        self, policy: str | None, asked: tuple[str, ...] = (), texts: Texts | None = None
    ) -> Ran:
        """Run the program."""
        self.count += 1
        data = (texts or {}).get(self.path) or self.path.read_bytes()
        name, lines = str(self.path), Source(self.path, data).text.splitlines(keepends=True)
        linecache.cache[name] = len(data), None, lines, name
        names: dict[str, Any] = {"__name__": "__main__", "__file__": name}
        before, stopped, out = in_force.process_default(), "", io.StringIO()
        report: Report | None = None
        in_force.set_policy(policy or before)
        try:
            with contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                watched = self._watching(policy, asked, data)
                with np.errstate(all="ignore"), watched as (code, report):
                    exec(code, names)
        except Exception as error:
            stopped = f"{type(error).__name__}: {error}"
        finally:
            in_force.set_policy(before)
        named = report.run.name if report else policy or before.name
        wanted = self.recorded.wanted if self.recorded else ""
        found = seen(report, asked, wanted) if report else []
        ended = Ended(int(bool(stopped)), (Findings(named, error=stopped),), out.getvalue())
        return Ran(named, found, Ends().ended(names), ended, report)

    @contextlib.contextmanager
    def _watching(
        self, policy: str | None, asked: tuple[str, ...], data: bytes
    ) -> Iterator[tuple[Any, Report | None]]:
        """The program's code, and what is filled while it runs."""
        if self.recorded is None:
            code = compile(data, str(self.path), "exec", dont_inherit=True)
            if not asked:
                yield code, None
                return
            run = as_policy(policy) if policy else in_force.process_default()
            policies = tuple(dict.fromkeys((run, *map(as_policy, asked))))
            report = Report(run, policies)
            with observing(ShadowObserver(report)):
                yield code, report
            return
        framework, wanted = self.recorded
        known = (FRAMEWORKS | REWRITTEN)[framework]
        home = known.home(import_module(framework).__version__)
        names = dict.fromkeys((wanted or home.name, *asked))
        policies = tuple(map(as_policy, names if framework in REWRITTEN else asked))
        recorder = Recorder(home, policies, framework=framework)
        if framework in FRAMEWORKS:
            with recording(known, recorder):
                yield compile(data, str(self.path), "exec", dont_inherit=True), recorder.report
            return
        past = Past(recorder, as_policy(wanted)) if wanted else None
        session = Session(recorder, past)
        with hook().recording(session):
            yield rewritten(data, str(self.path)), recorder.report
        assert not session.bug, session.bug


def ported(path: Path, run: str, *to: str) -> Ported:
    """Port a program; raise what stops it under its own policy."""
    return _done(InProcess(path), run, run, to)


def recorded(path: Path, framework: str, *to: str, wanted: str = "") -> Ported:
    """Port a program of another framework."""
    return _done(InProcess(path, Recordings(framework, wanted)), None, wanted, to)


def _done(runner: Any, named: str | None, run: str, to: tuple[str, ...]) -> Ported:
    try:
        first = runner(named, to)
        if first.stopped:
            raise ValueError(first.stopped)
        port = Port(as_policy(run or first.policy), tuple(map(as_policy, to)))
        return Work(runner, port, named, first, (runner.path.parent.resolve(),)).ported()
    finally:  # or what other tests do with the program quotes the edited text
        linecache.cache.pop(str(runner.path), None)


def text(done: Ported) -> str:
    """The edited program; "" if nothing was edited."""
    return done.changed[0][1].text if done.changed else ""
