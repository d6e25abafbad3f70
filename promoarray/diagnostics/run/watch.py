"""The program's side of ``promoarray compare``.

The command starts ``python SCRIPT`` as its user would, with a task named in the environment. That
promoarray, when the program imports it, finds the task is all that differs: from there on its
operations are observed, in the processes that it starts as well, and what was found is written
down while the program runs, so that it is there however the program ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType, ModuleType, TracebackType
from typing import Any

from promoarray.core.array_base import Array
from promoarray.core.call_site import keep_source
from promoarray.core.escape import Escape
from promoarray.core.events import (
    CastEvent,
    Decision,
    MadeEvent,
    Observer,
    OperationEvent,
    Question,
    Recovery,
    RefusalEvent,
    Repeat,
    SetitemEvent,
)
from promoarray.core.observers import notify_lock, observing
from promoarray.diagnostics.run.casting import AutoCast, Indifferent
from promoarray.diagnostics.run.ending import in_short, last_line
from promoarray.diagnostics.compare.final_values import finals
from promoarray.diagnostics.run.own_files import own_files
from promoarray.diagnostics.run.short_traceback import shorten, stopped_at
from promoarray.diagnostics.run.task import VARIABLE, Findings, Task, new_file, write
from promoarray.diagnostics.shadow.final_dtypes import final_dtypes
from promoarray.diagnostics.shadow.observer import ShadowObserver
from promoarray.diagnostics.shadow.report import Report
from promoarray.diagnostics.shadow.stopped import stopped_of
from promoarray.dtypes import DType
from promoarray.promotion import in_force
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

ROOM = 1000
"""Levels of recursion that observing may take beyond those the program has left."""

SHARE = 50
"""Writing the findings down may take one part in so many of the program's time."""

AT_ONCE = 8
"""So many places are written down as soon as they are found, whatever time that takes."""

PAUSE = 1.0
"""Seconds after which counts are written down, where no new place was found."""

PATIENCE = 5.0
"""Seconds to wait for a thread that is being observed, when the process ends."""

_kept: list[Any] = []
"""The watch of this process, and what must live as long."""


def begin(module: ModuleType) -> None:
    """Watch this process, if the command that asked for it still waits.

    Parameters
    ----------
    module : module
        promoarray itself, which a program may import twice.
    """
    task = Task.read(os.environ[VARIABLE])
    if task is None or task.framework:  # whose import begins the recording
        return
    if task.policy is not None:
        policy = as_policy(task.policy)
        in_force.set_policy(policy)
        module.set_policy = in_force.set_policy = _set_nothing  # type: ignore[attr-defined]
    if _kept:
        return
    watch = Watch(task, os.environ[VARIABLE])
    entered = observing(watch, everywhere=True)
    entered.__enter__()
    keep_watching(task, watch, entered)


def keep_watching(task: Task, watch: Watch, entered: Any) -> None:
    """Have a watch last as long as the process, and write down what it found at its end."""
    keep_source(getattr(sys.modules["__main__"], "__file__", None) or "")
    _kept[:] = watch, entered
    # The first to be registered runs last: what the program does at its own exit is found, too.
    atexit.register(watch.close)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=watch.begin_again)
    if os.getppid() != task.command:  # one that the program started
        watch.close_when_terminated()
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _closing_first(watch, getattr(os, name)))
    if not task.all_frames:
        sys.excepthook = _Shortened(sys.excepthook)
        threading.excepthook = _shortened_in_thread(threading.excepthook)


def watching() -> bool:
    """Whether this process is watched."""
    return bool(_kept)


def _set_nothing(policy: str | Policy) -> None:
    """Take the place of ``set_policy`` in a run under a policy that the command names."""
    as_policy(policy)


def _closing_first(watch: Watch, leave: Callable[..., Any]) -> Callable[..., Any]:
    """What ends a process at once, after writing down what it found."""

    def left(*args: Any, **options: Any) -> Any:
        watch.close()
        return leave(*args, **options)

    return left


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore a second Ctrl-C for as long."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # a thread, which hears of none
        yield
        return
    try:
        yield
    finally:
        if before is not None:  # else a library of C set it, and Python cannot set it again
            signal.signal(signal.SIGINT, before)


class _Shortened:
    """``sys.excepthook``, of tracebacks that end at the user's line."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self._hook = hook

    def __call__(
        self, kind: type[BaseException], error: BaseException, tb: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):
            shorten(error)
            tb = error.__traceback__
        self._hook(kind, error, tb)


def _shortened_in_thread(hook: Callable[..., Any]) -> Callable[..., Any]:
    def shortened(args: Any) -> None:
        with contextlib.suppress(Exception):
            shorten(args.exc_value)
            told = (args.exc_type, args.exc_value, args.exc_value.__traceback__, args.thread)
            args = threading.ExceptHookArgs(told)
        hook(args)

    return shortened


class Watch(Observer):
    """Observes a process for the command, and never stands in its way.

    What goes wrong in observing is kept for the command to tell; the program goes on.
    """

    def __init__(self, task: Task, folder: str) -> None:
        self._task, self._folder = task, folder
        self._main = sys.modules["__main__"]
        self._modules = dict(sys.modules)
        self._begin()

    def _begin(self) -> None:
        policies = tuple(as_policy(name) for name in self._task.policies)
        run, limit = as_policy(self._task.policy or "numpy"), self._task.max_sites
        self._report = Report(run, policies, max_sites=limit)
        self._casting = AutoCast()
        self._observers: list[Observer] = []
        if policies:
            self._observers.append(ShadowObserver(self._report))
        if self._task.probe is not None:
            self._task.probe.begin()
            self._observers.append(self._task.probe)
        if not self._observers:
            self._observers.append(Indifferent(self.run))
        # A probe hears of every operation; a shadow alone, of those that are alike but once.
        lone = self._observers[0] if len(self._observers) == 1 else None
        self.repeats = lone.repeats if lone else None
        self._bug, self._due, self._places, self._written = "", 0.0, 0, 0
        self.quiet_until = 0.0  # read by tallies
        self._closed = False
        self._file: str | None = None
        with contextlib.suppress(OSError):  # the command has ended
            self._file = new_file(self._folder)

    def begin_again(self) -> None:
        """Start with nothing found, in a process that was forked."""
        self._begin()
        self.close_when_terminated()

    def close_when_terminated(self) -> None:
        """Close when SIGTERM comes, if nothing else is done then: so a pool ends its workers."""

        def terminated(number: int, frame: FrameType | None) -> None:
            self.close()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            with contextlib.suppress(ValueError):  # of a thread, which takes no handlers
                signal.signal(signal.SIGTERM, terminated)

    @property
    def run(self) -> Policy:
        """The policy that the process runs under."""
        return as_policy(self._task.policy) if self._task.policy else in_force.process_default()

    # -- what observers are told ------------------------------------------------------------------

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Pass it on."""
        repeat: Repeat | None = self._tell("on_operation", event)
        if repeat is None:
            return None
        if repeat.tally is not None:
            repeat.tally.until = self
        return repeat._replace(tell=partial(self._repeated, repeat.tell))

    def _repeated(self, tell: Callable[[], bool]) -> bool:
        """Count an operation that is like others, where hardly anything goes wrong."""
        new = False
        with notify_lock:
            try:
                new = tell()
            except RecursionError:
                new = bool(self._guarded(tell))
            except Exception:
                self._bug = self._bug or traceback.format_exc()
            if new or time.monotonic() >= self.quiet_until:
                self._guarded(self._write_if_due)
        return new

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Pass it on."""
        self._tell("on_default", weak, result, lone)

    def on_cast(self, cast: CastEvent) -> None:
        """Pass it on."""
        self._tell("on_cast", cast)

    def on_write(self, event: OperationEvent | SetitemEvent) -> None:
        """Pass it on, where there is somebody who wants to hear of it."""
        if self._task.probe is not None:
            self._guarded(self._task.probe.on_write, event)

    def on_made(self, made: MadeEvent) -> None:
        """Pass it on."""
        self._tell("on_made", made)

    def on_decision(self, decision: Decision) -> None:
        """Pass it on."""
        self._tell("on_decision", decision)

    def on_question(self, question: Question) -> None:
        """Pass it on."""
        self._tell("on_question", question)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Pass it on."""
        self._tell("on_setitem", assignment)

    def on_escape(self, escape: Escape) -> None:
        """Pass it on."""
        self._tell("on_escape", escape)

    def on_refusal(self, event: RefusalEvent) -> Recovery | None:
        """Apply the casts that the refusal proposes, if the command wants that."""
        self._tell("on_refusal", event)
        return self._casting.on_refusal(event) if self._task.casts else None

    def _tell(self, what: str, *heard: Any) -> Any:
        """Tell the observers; return what the only one answers."""
        answers = [self._guarded(getattr(each, what), *heard) for each in self._observers]
        self._guarded(self._write_if_due)
        return answers[0] if len(answers) == 1 else None

    def _guarded(self, function: Callable[..., Any], *heard: Any) -> Any:
        """Call what may go wrong, and whom the program may leave no levels of recursion."""
        levels = sys.getrecursionlimit()
        sys.setrecursionlimit(levels + ROOM)
        try:
            return function(*heard)
        except Exception:
            self._bug = self._bug or traceback.format_exc()
        finally:
            sys.setrecursionlimit(levels)

    # -- what was found ---------------------------------------------------------------------------

    def _write_if_due(self) -> None:
        now, places = time.monotonic(), self._report.places
        new = places != self._places
        if not (new and places <= AT_ONCE) and now < self._due + (0.0 if new else PAUSE):
            return
        self._places = places
        # Threads may outlive the program's exit, and must not take back what was written of it.
        self._write(self._ended() if self._closed else self._findings())
        written = time.monotonic()
        self._due = written + SHARE * (written - now)
        self.quiet_until = self._due + PAUSE

    def close(self) -> None:
        """Write down all there is, now that the process ends."""
        self._put_back_modules()
        with _uninterrupted():
            free = notify_lock.acquire(timeout=PATIENCE)
            try:
                self._write(self._ended())
            except Exception:
                self._write(Findings(self._task.policy or "", bug=traceback.format_exc()))
            finally:
                self._closed = True
                if free:
                    notify_lock.release()

    def _put_back_modules(self) -> None:
        """Have the modules that pickles name: a program may remove them, and have others made."""
        own = {n: m for n, m in self._modules.items() if n.startswith("promoarray")}
        sys.modules.update(self._modules | sys.modules | own)

    def _ended(self) -> Findings:
        findings = self._findings()
        findings.files = own_files()
        error = getattr(sys, "last_value", None)
        if error is not None:
            findings.error, findings.message = last_line(error), in_short(error)
            findings.stopped = stopped_at(error)
            self._tell_stopped(error, findings)
        if self._task.policies:
            self._report.finals = final_dtypes(self._globals(), self._report.policies)
        else:
            findings.finals = finals(vars(self._main), self._task.names)
        if self._task.probe is not None:
            findings.probed = self._task.probe.ended(vars(self._main))
        return findings

    def _globals(self) -> dict[str, Any]:
        """What the program leaves, in which arrays are looked for."""
        return vars(self._main)

    def _tell_stopped(self, error: BaseException, findings: Findings) -> None:
        report, run = self._report, self.run
        given = error, findings.error, findings.stopped, report.refused
        report.stopped = stopped_of(run, report.policies, *given)

    def _findings(self) -> Findings:
        run = self.run.name
        report = self._report if self._task.policies else None
        return Findings(run, report, self._casting.recovered, bug=self._bug)

    def _write(self, findings: Findings) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # the command has ended, or the disk is full
                write(self._file, findings, self._written)
                self._written = self._report.differing
