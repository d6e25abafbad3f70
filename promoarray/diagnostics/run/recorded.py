"""The program's side of a run whose program computes with another framework.

Python starts the program with ``startup/sitecustomize.py``, which calls ``begin`` once the
framework has been imported; at once if programs of it are rewritten. From there on the framework's
calls are recorded, in every thread that is started and in the processes that the program starts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from typing import Any

from promoarray.core.observers import notify_lock
from promoarray.diagnostics.record.block import RECORDED, REWRITTEN, failed_in, recording
from promoarray.diagnostics.record.checks import Checks
from promoarray.diagnostics.record.origins import Origins
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.run.task import VARIABLE, Findings, Task
from promoarray.diagnostics.run.watch import Watch, keep_watching, watched
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def begin(framework: str) -> None:
    """Record this process, if the command that asked for it still waits.

    A program of promoarray that imports a framework besides stays one of promoarray.
    """
    task = Task.read(os.environ[VARIABLE])
    before = watched()
    if task is None or (before is not None and not before.task.framework):
        return
    keep_watching(RecordingWatch(replace(task, framework=framework), os.environ[VARIABLE]))


class RecordingWatch(Watch):
    """Watches a process whose framework is recorded.

    Attributes
    ----------
    recorder : Recorder
    """

    def __init__(self, task: Task, folder: str) -> None:
        version = import_module(task.framework).__version__
        self._home = RECORDED[task.framework].home(version)
        self._framework = f"{task.framework} {version}"
        self._ending = False
        asked = tuple(as_policy(name) for name in task.policies)
        told: Any = {"guarded": self.heard, "heard_again": self.heard_again}
        told["origins"] = Origins() if task.origins else None
        told["checks"] = self._checks = None if task.checks is None else Checks(task.checks)
        self.recorder = Recorder(self._home, asked, **told)
        super().__init__(task, folder)

    def _new_report(self, policies: tuple[Policy, ...]) -> RecordedReport:
        given = self._home, policies
        limit, framework = self.task.max_sites, self._framework
        report = RecordedReport(*given, max_sites=limit, framework=framework)
        self.recorder.begin_again(report)
        return report

    def start(self) -> None:
        """Begin to record."""
        self._entered.enter_context(self._recording())

    def _recording(self) -> AbstractContextManager[Any]:
        task = self.task
        if task.framework not in REWRITTEN:
            return recording(RECORDED[task.framework], self.recorder)
        adapter: Any = import_module(REWRITTEN[task.framework].adapter)
        others = (p for p in self.recorder.report.policies if p is not self._home)
        past = next(others, None) if task.past else None
        rewriting: AbstractContextManager[Any] = adapter.rewriting(
            self.recorder, packages=task.packages, past=past
        )
        return rewriting

    @property
    def run(self) -> Policy:
        """The framework's own policy."""
        return self._home

    def heard(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call what looks at the program's calls, and write down what it found."""
        if self._ending:  # what is called then is no part of the program
            return None
        answer = self._guarded(function, *given)
        with notify_lock:
            self._guarded(self._write_if_due)
        return answer

    def heard_again(self) -> None:
        """Write down the counts from time to time while nothing else is heard."""
        if time.monotonic() >= self.quiet_until and not self._ending:
            with notify_lock:
                self._guarded(self._write_if_due)

    def _ended(self) -> Findings:
        self._ending = True
        self.recorder.forget_calls()  # those that are known are counted without being heard
        return super()._ended()

    def _tell_finals(self, names: dict[str, Any]) -> None:
        self.recorder.ended(names)

    def _tell_stopped(self, error: BaseException, findings: Findings) -> None:
        super()._tell_stopped(error, findings)
        if self.recorder.origins is not None:
            self.recorder.report.failed = self._guarded(failed_in, self.recorder, error)
        stopped = self._report.stopped
        if stopped is None or stopped.refused is None or stopped.site is None:
            return
        # NumPy's operators are heard of as their operands are, and the error has the whole; of an
        # assignment it has the target alone.
        place, at = stopped.refused.place, stopped.site
        whole = place.name != "setitem" and not place.part_of
        if (place.program.file, place.program.line) == (at.file, at.line) and whole:
            place.site = place.program = at

    def _findings(self) -> Findings:
        if (checks := self._checks) is not None:
            report = self.recorder.report
            report.lost, report.checked, report.unread = (
                *(checks.found(), checks.examined),
                checks.unread,
            )
        return super()._findings()

    def begin_again(self) -> None:
        """Go on with what arrays carry, and nothing counted, in a process that was forked."""
        before = self.recorder.flow
        super().begin_again()
        if self._checks is not None:
            self._checks.begin_again()
        self.recorder.go_on(before)
