"""The program's side of a run whose program computes with other libraries.

Python starts the program with ``startup/sitecustomize.py``, which calls ``begin`` once a framework
has been imported; at once if programs of it are rewritten. From there on the library's calls are
recorded, in every thread that is started and in the processes that the program starts. Several
libraries fill one report.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from promoarray.console import counted
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.record.block import RECORDED, REWRITTEN, failed_in, recording
from promoarray.diagnostics.record.checks import Checks
from promoarray.diagnostics.record.origins import Origins
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.record.tape import Tape, seed
from promoarray.diagnostics.run.steps import COUNTED, Steps, counting
from promoarray.diagnostics.run.task import VARIABLE, Findings, Task
from promoarray.diagnostics.run.watch import Watch, keep_watching, watched
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def begin(library: str) -> None:
    """Record what this process does with a library, if the command that asked for it still waits.

    A program of promoarray that imports a framework besides stays one of promoarray.
    """
    task = Task.read(os.environ[VARIABLE])
    before = watched()
    if task is None or (before is not None and not isinstance(before, RecordingWatch)):
        return
    if before is None:
        keep_watching(RecordingWatch(task, os.environ[VARIABLE], library))
    else:
        before.attach(library)


_STARTED_BEFORE = "it was started before another thread imported {0}: import it first"


class RecordingWatch(Watch):
    """Watches a process of which one library is recorded, or several.

    Attributes
    ----------
    recorders : list of Recorder
        Those of its libraries, which share a report, in the order in which they were imported.
    """

    def __init__(self, task: Task, folder: str, library: str) -> None:
        self._ending = self._left_out = False
        self._counted: list[Steps] = []
        self._origins = Origins() if task.origins else None
        self._checks = None if task.checks is None else Checks(task.checks)
        self._tape = None if task.tape is None else Tape(task.tape)
        self._policies = tuple(as_policy(name) for name in task.policies)
        self.recorders: list[Recorder] = []
        self.recorders.append(self._recorder(library))
        super().__init__(task, folder)

    def _recorder(self, library: str) -> Recorder:
        module = import_module(library)
        version = module.__version__
        told: Any = {"guarded": self.heard, "heard_again": self.heard_again}
        told |= {"origins": self._origins, "checks": self._checks, "tape": self._tape}
        told["beside"] = next(iter(self.recorders), None)
        home = RECORDED[library].home(version)
        if self._tape is not None:
            seed(library, module)
        return Recorder(home, self._policies, framework=f"{library} {version}", **told)

    def _new_report(self, policies: tuple[Policy, ...]) -> RecordedReport:
        first, *others = self.recorders
        given: Any = {"max_sites": self.task.max_sites, "halves": frozenset(self.task.halves)}
        report = RecordedReport(first.home, policies, framework=first.version, **given)
        first.begin_again(report)
        for each in others:
            each.begin_again(report, first.flow)
        return report

    def start(self) -> None:
        """Begin to record."""
        for each in self.recorders:
            self._entered.enter_context(self._recording(each))

    def attach(self, library: str) -> None:
        """Record another library from here on, in this thread and those that it starts."""
        recorder = self._recorder(library)
        self.recorders.append(recorder)
        self._entered.enter_context(self._recording(recorder))

    def _recording(self, recorder: Recorder) -> AbstractContextManager[Any]:
        task, name = self.task, recorder.framework
        if any(task.steps) and name in COUNTED:
            counted_here = counting(name, task.steps, self._end, self._leave)
            self._counted.append(self._entered.enter_context(counted_here))
        if name not in REWRITTEN:
            self._say_unheard(name)
            return recording(RECORDED[name], recorder)
        adapter: Any = import_module(REWRITTEN[name].adapter)
        others = (p for p in self._policies if p is not recorder.home)
        past = next(others, None) if task.past else None
        rewriting: AbstractContextManager[Any] = adapter.rewriting(
            recorder, packages=task.packages, past=past
        )
        return rewriting

    def _end(self) -> None:
        """Note that the run ends before the program does."""
        what = f"what follows {counted(self.task.steps.most, 'step')} of training"
        self._not_examined(what, "--steps ended the run there")
        self._ending = True  # what the program does if it goes on was not asked for

    def _leave(self, left_out: bool) -> None:
        self._left_out = left_out

    def _not_examined(self, what: str, why: str) -> None:
        self.recorders[0].report.unexamined[NotExamined(what, why)] = 1
        if self._tape is not None:
            self._tape.left.append(f"{what} ({why})")

    def _name_left_out(self) -> None:
        taken, every = max((x.taken for x in self._counted), default=0), self.task.steps.every
        if every and (left := taken - -(-taken // every)):
            what = f"{left} of {counted(taken, 'step')} of training"
            what += ", and what follows the last" * self._left_out
            self._not_examined(what, f"--sample looks at one in {every}")

    def _say_unheard(self, library: str) -> None:
        """Note the other threads that are there when a library is imported: nobody hears of what
        they do, nor those that they start."""
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                why = _STARTED_BEFORE.format(library)
                what = f"what the thread {thread.name} computes"
                self.recorders[0].report.unexamined[NotExamined(what, why)] = 1

    @property
    def run(self) -> Policy:
        """The policy of the framework that computes; NumPy's if none does."""
        return self._leading.home

    @property
    def _leading(self) -> Recorder:
        computed = self.recorders[0].report.libraries
        of_frameworks = sorted(self.recorders, key=lambda each: each.of_numpy)
        return next((x for x in of_frameworks if x.framework in computed), of_frameworks[0])

    def heard(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call what looks at the program's calls, and write down what it found."""
        if self._ending or self._left_out:  # what is called then is no part of the program
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
        if not self._ending:
            self._name_left_out()
        self._ending = True
        for each in self.recorders:
            each.forget_calls()  # those that are known are counted without being heard
        if self._tape is not None:
            self._guarded(self._tape.write)
        return super()._ended()

    def _tell_finals(self, names: dict[str, Any]) -> None:
        self._leading.ended(names)

    def _tell_stopped(self, error: BaseException, findings: Findings) -> None:
        super()._tell_stopped(error, findings)
        if self._origins is not None:
            every = (self._guarded(failed_in, each, error) for each in self.recorders)
            self.recorders[0].report.failed = next(filter(None, every), None)
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
        report, main = self.recorders[0].report, self._leading
        report.run, report.framework = main.home, main.version
        others = (x for x in self.recorders if x is not main and x.framework in report.libraries)
        report.beside = tuple(each.version for each in others)
        if (checks := self._checks) is not None:
            report.lost, report.checked, report.unread = (
                *(checks.found(), checks.examined),
                checks.unread,
            )
        return super()._findings()

    def begin_again(self) -> None:
        """Go on with what arrays carry, and nothing counted, in a process that was forked."""
        before = self.recorders[0].flow
        super().begin_again()
        if self._checks is not None:
            self._checks.begin_again()
        for each in self.recorders:
            each.go_on(before)
