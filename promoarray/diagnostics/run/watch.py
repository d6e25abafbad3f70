"""The program's side of a run.

The command starts ``python SCRIPT`` as its user would, with a task named in the environment. That
promoarray, when the program imports it, finds the task is all that differs: from there on its
operations are observed, in the processes that it starts as well, and what was found is written
down while the program runs, so that it is there however the program ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial, partialmethod
from importlib import import_module
from types import FrameType, ModuleType, TracebackType
from typing import Any, NoReturn

from promoarray.core.call_site import keep_source
from promoarray.core.events import Observer, OperationEvent, Repeat
from promoarray.core.observers import notify_lock, observing
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.ask.refusals import stopped_of
from promoarray.diagnostics.model.final import final_dtypes
from promoarray.diagnostics.record.flow import FlowRecorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.ending import (
    AutoCast,
    hide_hooks,
    in_short,
    last_line,
    own_files,
    shorten,
    stopped_at,
)
from promoarray.diagnostics.run.task import STARTUP, VARIABLE, Findings, Task, new_file, write
from promoarray.promotion import in_force
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

ROOM = 1000
"""Levels of recursion that observing may take beyond those the program has left."""

SHARE = 50
"""Writing the findings down may take one part in so many of the program's time."""

AT_ONCE = 8
"""So many places are written down as soon as they are found, whatever time that takes."""

PAUSE = 0.2
"""Seconds after which all else is written down, at the earliest."""

PATIENCE = 5.0
"""Seconds to wait for a thread that is being observed, when the process ends."""

_watches: list[Watch] = []
"""The watch of this process, if there is one."""


def begin(module: ModuleType) -> None:
    """Watch this process, if the command that asked for it still waits.

    Parameters
    ----------
    module : module
        promoarray itself, which a program may import twice.
    """
    task = Task.read(os.environ[VARIABLE])
    if task is None or task.framework or _for_recording():  # which begins as it is recorded
        return
    if task.policy is not None:
        in_force.set_policy(as_policy(task.policy))
        module.set_policy = in_force.set_policy = _set_nothing  # type: ignore[attr-defined]
    if not _watches:
        keep_watching(Watch(task, os.environ[VARIABLE]))


def keep_watching(watch: Watch) -> None:
    """Have a watch last as long as the process, and write down what it found at its end."""
    if _watches:
        _watches[0].stop()
        _watches[:] = [watch]
        watch.start()
        return
    keep_source(getattr(sys.modules["__main__"], "__file__", None) or "")
    _watches.append(watch)
    watch.start()
    # The first to be registered runs last: what the program does at its own exit is found, too.
    atexit.register(_close, finally_=True)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _watches[0].begin_again())
    if os.getppid() != watch.task.command:  # one that the program started
        _close_when_terminated()
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _closing_first(getattr(os, name)))
    sys.exit = _with_what_is_handled(sys.exit)
    if not watch.task.all_frames:
        _shorten_tracebacks()


def watched() -> Watch | None:
    """Return the watch of this process."""
    return _watches[0] if _watches else None


def _for_recording() -> bool:
    """Whether promoarray is imported to record a framework, and not by the program."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.startswith(STARTUP):
        frame = frame.f_back
    return frame is not None


def _set_nothing(policy: str | Policy, *, kernels: bool = False) -> None:
    """Take the place of ``set_policy`` in a run under a policy that the command names."""
    as_policy(policy, kernels=kernels)


# -- the end of a process -------------------------------------------------------------------------


def _close(*, finally_: bool = False) -> None:
    _watches[0].close()
    if finally_:
        _watches[0].leave()


def _closing_first(leave: Callable[..., Any]) -> Callable[..., Any]:
    """End a process at once as ``leave`` does, after writing down what was found."""

    def left(*args: Any, **options: Any) -> Any:
        _close()
        return leave(*args, **options)

    return left


def _with_what_is_handled(leave: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
    """End a program as ``sys.exit`` does, and note the error that it handles there.

    Launchers (Hydra) print the error of a program and exit: it is what stopped it.
    """

    def left(status: Any = None, /) -> NoReturn:
        note_handled(sys.exception(), status)
        leave(status)

    return left


def note_handled(error: BaseException | None, status: Any) -> None:
    """Note the error that a program handled as it ended itself with a status."""
    stops = status not in (None, 0)
    for watch in _watches:
        watch.handled = error if stops and isinstance(error, Exception) else None


def _close_when_terminated() -> None:
    """Close when SIGTERM comes, if nothing else is done then: so a pool ends its workers."""

    def terminated(number: int, frame: FrameType | None) -> None:
        _close()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        with contextlib.suppress(ValueError):  # of a thread, which takes no handlers
            signal.signal(signal.SIGTERM, terminated)
            if any("multiprocessing" in each for each in (*sys.modules, *sys.orig_argv)):
                import_module("multiprocessing.queues").SimpleQueue.get = _get_by_slices


def _get_by_slices(queue: Any) -> Any:
    """Get what a pool's worker is to do as ``SimpleQueue.get``, which may wait for ever.

    A signal that comes just before a wait does not end it, and its handler in Python runs after.
    """
    while not queue._rlock.acquire(timeout=PAUSE):
        pass
    try:
        while not queue._reader.poll(PAUSE):
            pass
        raw = queue._reader.recv_bytes()
    finally:
        queue._rlock.release()
    return pickle.loads(raw)


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


def _shorten_tracebacks() -> None:
    """Have tracebacks end at the user's line."""
    hide_hooks()
    hook, in_thread = sys.excepthook, threading.excepthook

    def shown(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        with contextlib.suppress(Exception):
            shorten(error)
            tb = error.__traceback__
        hook(kind, error, tb)

    def shown_in_thread(args: Any) -> None:
        with contextlib.suppress(Exception):
            shorten(args.exc_value)
            told = (args.exc_type, args.exc_value, args.exc_value.__traceback__, args.thread)
            args = threading.ExceptHookArgs(told)
        in_thread(args)

    sys.excepthook, threading.excepthook = shown, shown_in_thread


# -- what happens until then ----------------------------------------------------------------------


class Watch(Observer):
    """Observes a process for the command, and never stands in its way.

    What goes wrong in observing is kept for the command to tell; the program goes on.

    Attributes
    ----------
    quiet_until : float
        The time at which what is known by then is to be written down.
    handled : Exception or None
        What the program handled as it called ``sys.exit``.
    """

    handled: Exception | None = None

    def __init__(self, task: Task, folder: str) -> None:
        self.task, self._folder = task, folder
        self._main = sys.modules["__main__"]
        self._modules = dict(sys.modules)
        self._entered = contextlib.ExitStack()
        self._begin()

    def _begin(self) -> None:
        task = self.task
        self._report = self._new_report(tuple(as_policy(name) for name in task.policies))
        self._casting = AutoCast()
        self._observers: list[Observer] = []
        if task.recorded:
            self._observers.append(FlowRecorder(self._report))
        elif task.policies and not task.framework:
            self._observers.append(ShadowObserver(self._report))
        for probe in task.probes:
            probe.begin()
            self._observers += [probe] if probe.observes else []
        self._observers += [self._casting] if task.casts else []
        # Where one has to hear of every operation, all do; else of those that are alike but once.
        alike = all(each.repeats is not None for each in self._observers)
        self.repeats = self._observers[0].repeats if self._observers and alike else None
        self._bug, self._places, self.quiet_until = "", 0, 0.0
        self._closed = False
        self._file: str | None = None
        with contextlib.suppress(OSError):  # the command has ended
            self._file = new_file(self._folder)

    def _new_report(self, policies: tuple[Policy, ...]) -> Report:
        kind = RecordedReport if self.task.recorded else Report
        return kind(as_policy(self.task.policy or "numpy"), policies, max_sites=self.task.max_sites)

    def start(self) -> None:
        """Begin to observe, if there is anything to look for before the end."""
        if self._observers:
            self._entered.enter_context(observing(self, everywhere=True))

    def stop(self) -> None:
        """Observe no more, and have nothing found: another watch takes its place."""
        self.leave()
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.remove(self._file)
            self._file = None

    def leave(self) -> None:
        """Observe no more."""
        self._entered.close()

    def begin_again(self) -> None:
        """Start with nothing found, in a process that was forked."""
        self._begin()
        _close_when_terminated()

    @property
    def run(self) -> Policy:
        """The policy that the process runs under."""
        return as_policy(self.task.policy) if self.task.policy else in_force.process_default()

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Pass it on, and say what to do with those that are alike."""
        repeats = [self._guarded(each.on_operation, event) for each in self._observers]
        self._guarded(self._write_if_due)
        repeat: Repeat | None = repeats[0] if repeats else None  # of which alone something is told
        if repeat is None or self.repeats is None or None in repeats:
            return None
        return repeat._replace(tell=partial(self._repeated, repeat.tell))

    def _repeated(self, tell: Callable[[], bool]) -> bool:
        """Count an operation that is like others, where hardly anything goes wrong."""
        new = False
        with notify_lock:
            try:
                new = tell()
            except Exception:
                new = bool(self._guarded(tell))
            if new or time.monotonic() >= self.quiet_until:
                self._guarded(self._write_if_due)
        return new

    def _tell(self, what: str, *heard: Any) -> Any:
        """Tell the observers; return what the last one answers."""
        answer = None
        for each in self._observers:
            answer = self._guarded(getattr(each, what), *heard)
        self._guarded(self._write_if_due)
        return answer

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
        now, places = time.monotonic(), self._report.size
        if now < self.quiet_until and not self._places < places <= AT_ONCE:
            return
        self._places = places
        # Threads may outlive the program's exit, and must not take back what was written of it.
        self._write(self._ended() if self._closed else self._findings())
        written = time.monotonic()
        self.quiet_until = written + max(PAUSE, SHARE * (written - now))

    def close(self) -> None:
        """Write down all there is, now that the process ends."""
        # The modules that pickles name: a program may remove them, and have others made.
        own = {n: m for n, m in self._modules.items() if n.startswith("promoarray")}
        sys.modules.update(self._modules | sys.modules | own)
        with _uninterrupted():
            free = notify_lock.acquire(timeout=PATIENCE)
            try:
                self._write(self._ended())
            except Exception:
                self._write(Findings(self.task.policy or "", bug=traceback.format_exc()))
            finally:
                self._closed = True
                if free:
                    notify_lock.release()

    def _ended(self) -> Findings:
        findings, names = self._findings(), vars(self._main)
        findings.files = own_files()
        error = getattr(sys, "last_value", None)
        if error is not None:
            self._note_stop(error, findings)
        if self.task.policies:
            self._tell_finals(names)
        findings.probed = tuple(probe.ended(names) for probe in self.task.probes)
        if error is None and self.handled is not None:
            findings.went_on = pickle.loads(pickle.dumps(findings))
            self._note_stop(self.handled, findings)
        return findings

    def _note_stop(self, error: BaseException, findings: Findings) -> None:
        findings.error, findings.message = last_line(error), in_short(error)
        findings.stopped = stopped_at(error)
        self._tell_stopped(error, findings)

    def _tell_finals(self, names: dict[str, Any]) -> None:
        """Note what the program's globals are under each policy."""
        recorder = next(iter(self._observers), None)
        if isinstance(recorder, FlowRecorder):
            recorder.ended(names)
        else:
            self._report.finals = final_dtypes(names, self._report.policies)

    def _tell_stopped(self, error: BaseException, findings: Findings) -> None:
        report = self._report
        given = error, findings.error, findings.stopped, report.refused
        report.stop(stopped_of(self.run, report.policies, *given))

    def _findings(self) -> Findings:
        report = self._report if self.task.policies else None
        return Findings(self.run.name, report, self._casting.recovered, bug=self._bug)

    def _write(self, findings: Findings) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # the command has ended, or the disk is full
                write(self._file, findings)


for _name in vars(Observer):
    if _name.startswith("on_") and _name != "on_operation":  # of which more is to be said
        setattr(Watch, _name, partialmethod(Watch._tell, _name))
