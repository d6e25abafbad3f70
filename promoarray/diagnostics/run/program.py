"""Running a program as ``python`` runs it, in a process of its own, which tells what it found."""

from __future__ import annotations

import argparse
import ast
import atexit
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Any, Self
from zipfile import is_zipfile

from promoarray.console import visible
from promoarray.core.call_site import Site
from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.file_format import READS, NotReadable, format_of
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run import launch, notebook
from promoarray.diagnostics.run.startup import launched
from promoarray.diagnostics.run.task import (
    Findings,
    Task,
    found,
    imported,
    tell_unseen,
    texts_in,
)
from promoarray.errors import UnknownPolicyError
from promoarray.promotion.in_force import process_default
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

STOPPED = "interrupted"
"""What stopped a program that its user stopped."""

Texts = Mapping[Path, bytes]
"""From the path of each edited file to its text."""

_OUTPUT, _ERRORS = 1, 2  # the file descriptors, whatever sys.stdout and sys.stderr are


@dataclass(frozen=True)
class Program:
    """A program with its arguments."""

    # what follows ``python``, or the path of a notebook and what follows that
    command: tuple[str, ...]

    def run(
        self,
        task: Task,
        given: StandardInput | None,
        *,
        quiet: bool,
        aside: bool = False,
        texts: Texts | None = None,
    ) -> Ended:
        """Run it to its end.

        Parameters
        ----------
        given : StandardInput or None
            Its input; None for the command's own.
        quiet : bool
            Whether to keep what it prints, and to drop what it says of errors.
        aside : bool
            Whether what it prints goes to standard error.
        texts : mapping, optional
            The text of each file that it shall see otherwise than it is on the disk.
        """
        rewritten = next((name for name in task.recorded_libraries if name in REWRITTEN), "")
        if rewritten or texts or notebook.is_notebook(self.command[0]):
            start = ["-c", launch.COMMAND.format(rewritten)]
        else:
            first = self.command[0]
            plain = first == "-m" or (os.path.isfile(first) and not is_zipfile(first))
            start = ["-c", launched.COMMAND] if plain and task.framework else []
        with tempfile.TemporaryDirectory(
            prefix="promoarray-",
            ignore_cleanup_errors=True,  # a process may still write there
        ) as folder:
            environment = task.write(folder)
            if rewritten:
                Path(folder, "start").write_text(f"{start[1]}\n{sys.prefix}")
            if texts:
                kept = {os.path.realpath(file): text for file, text in texts.items()}
                Path(texts_in(folder)).write_bytes(pickle.dumps(kept))
            with open(os.path.join(folder, "output"), "w+b") as printed, _passing_on() as children:
                started = time.monotonic()
                program = Popen(
                    [sys.executable, *_flags(), *start, *self.command],
                    stdin=given.for_run() if given else None,
                    stdout=printed if quiet else _ERRORS if aside else _OUTPUT,
                    stderr=DEVNULL if quiet else None,
                    env=os.environ | environment,
                )
                children.append(program)
                if given:
                    given.feed(program)
                status = program.wait()
                seconds = time.monotonic() - started
                printed.seek(0)
                output = printed.read().decode(errors="replace")
            own = (rewritten,) if rewritten else ()  # which we import first
            libraries = dict.fromkeys((*own, *imported(folder)))
            # A program that ends well was stopped by nothing that it handled.
            every = found(folder, program.pid)
            findings = tuple((not status and each.went_on) or each for each in every)
            tell_unseen(folder, findings)
            return Ended(status, findings, output, tuple(libraries), seconds)


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int  # its exit status; minus the number of the signal that ended it
    findings: tuple[Findings, ...]  # what its processes found, the program's own first
    output: str  # what it printed, if that was kept
    # the array libraries that the program itself has imported, in that order
    imported: tuple[str, ...] = ()
    seconds: float = 0.0  # that it took

    @classmethod
    def of_saved(cls, report: RecordedReport) -> Self:
        """Return how the program of a recording that was saved ended."""
        stopped = report.stopped
        error, site = (stopped.error, stopped.site) if stopped else ("", None)
        found = Findings(report.run.name, report, error=error, message=error, stopped=site)
        return cls(int(stopped is not None), (found,), "")

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return self.status == -signal.SIGINT

    @property
    def why(self) -> str:
        """What stopped it: an error as a traceback ends, or its exit status; "" if nothing did."""
        if self.interrupted:
            return STOPPED
        error = self.findings[0].error if self.findings and self.status == 1 else ""
        return error or self._status

    @property
    def in_short(self) -> str:
        """The same, in words for a table."""
        error = self.findings[0].message if self.findings and self.status == 1 else ""
        return error or self.why

    @property
    def where(self) -> str:
        """The line of the program that stopped it; "" if that is not known."""
        known = self.findings and (self.status == 1 or self.interrupted)
        site = self.findings[0].stopped if known else None
        return f"{site}: {site.text}" if site else ""

    @property
    def refusals(self) -> dict[tuple[Site, str], str]:
        """From each place and operation refused to the cast applied there, in words."""
        return {at: cast for each in self.findings for at, cast in each.refusals.items()}

    @property
    def bugs(self) -> list[str]:
        """Tracebacks of what went wrong in promoarray itself."""
        return [each.bug for each in self.findings if each.bug]

    @property
    def reports(self) -> list[Report]:
        """What the processes of a run that compares have found."""
        return [each.report for each in self.findings if each.report is not None]

    def report(
        self, run: Policy, policies: tuple[Policy, ...], *, recorded: bool = False, **more: Any
    ) -> Report:
        """Put together what all processes of a run that compares have found.

        Of a program that was recorded the run's policy is that of the recording: JAX chooses as
        it begins.
        """
        made = [each for each in self.reports if isinstance(each, RecordedReport)]
        run = next((each.run for each in made if each.calls), run)
        found = (RecordedReport if recorded or made else Report)(run, policies, **more)
        for each in self.reports:
            found.merge(each)
        return found

    def stopped_under(self, run: str) -> str:
        """Say where the program stopped, and why, with its own exit status; under no policy if it
        had not come to promoarray."""
        at = f" under {run}{f' at {self.where}' if self.where else ''}" if run else ""
        why, status = self.why, f"exit status {self.status}"
        own = f" ({status})" if self.status > 0 and why != status else ""
        return f"the program stopped{at}: {why}{own}"

    def say_bugs(self, command: str) -> None:
        """Tell on standard error what went wrong in promoarray itself."""
        for bug in self.bugs:
            print(*map(visible, bug.splitlines()), sep="\n", file=sys.stderr)
            say(command, "this is a bug in promoarray. Please report it with the lines above")

    def to_dict(self) -> dict[str, Any]:
        """Return how the program ended as data."""
        return {
            "exit_status": self.status,
            "error": self.why or None,
            "stopped_at": self.where or None,
        }

    @property
    def _status(self) -> str:
        if self.status >= 0:
            return f"exit status {self.status}" if self.status else ""
        try:
            return f"killed by {signal.Signals(-self.status).name}"
        except ValueError:
            return f"killed by signal {-self.status}"


def say(command: str, what: str) -> None:
    """Tell on standard error what a command has to say besides its report."""
    sys.stdout.flush()
    print(visible(f"promoarray {command}: {what}"), file=sys.stderr)


def policy_named(name: str) -> Policy:
    """Return a policy by the name a program gave; one of its own is known by that alone."""
    try:
        return as_policy(name)
    except UnknownPolicyError:
        return process_default().derive(name)


def name_program(args: argparse.Namespace) -> None:
    """Put the script that a command names, or one that is piped in, where a script stands.

    Raises
    ------
    UsageError
        If nothing is named, or a command that this Python does not run.
    """
    if args.script == "-":
        args.script = _piped_in()
    elif args.script is None and args.module is None:
        if not args.args:
            raise UsageError("name a program: SCRIPT, -m MODULE, or -- COMMAND ARGS")
        command, *args.args = args.args
        if re.fullmatch(r"python[\d.]*", os.path.basename(command)):
            _as_python_is_told(args)
        else:
            args.script = _console_script(command)


def _as_python_is_told(args: argparse.Namespace) -> None:
    """Take what follows ``python``: a script, or ``-m MODULE``."""
    given = args.args
    if given[:1] == ["-m"] and given[1:]:
        args.module, args.args = given[1], given[2:]
    elif given and not given[0].startswith("-"):
        args.script, args.args = given[0], given[1:]
    else:
        raise UsageError("of python write the script, or -m MODULE: promoarray COMMAND SCRIPT")


def _console_script(command: str) -> str:
    """The file of a command that is written in Python, and that this Python runs."""
    found = shutil.which(command)
    if found is None:
        raise UsageError(f"no such command: {command}")
    with open(found, "rb") as file:
        first, second = file.readline(300), file.readline(300)
    said = (second if first.startswith(b"#!/bin/sh") else first).decode(errors="replace")
    if "python" not in said:
        raise UsageError(f"{command} is not written in Python: name the script that it runs")
    run_by = re.search(r"(/[^\s'\"]*python[\d.]*)", said)
    own = os.path.dirname(os.path.abspath(sys.executable))
    if run_by is not None and os.path.dirname(run_by[1]) not in (own, "/usr/bin"):
        raise UsageError(
            f"{command} is run by {run_by[1]}, and this is {sys.executable}: run promoarray there"
        )
    return found


def _piped_in() -> str:
    """A file with the script that is piped in, as long as the command lasts."""
    folder = tempfile.TemporaryDirectory(prefix="promoarray-")
    atexit.register(folder.cleanup)
    file = os.path.join(folder.name, "stdin.py")
    Path(file).write_bytes(sys.stdin.buffer.read())
    paths = filter(None, (os.getcwd(), os.environ.get("PYTHONPATH")))
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # Python looks there for its modules
    return file


def program_of(args: argparse.Namespace) -> Program:
    """Return the program that the arguments of a command name.

    Raises
    ------
    OSError
        If there is none.
    """
    return of_module(args.module, args.args) if args.module else of_script(args.script, args.args)


def of_script(script: str, arguments: list[str]) -> Program:
    """Return the program that ``python SCRIPT ARGUMENTS`` runs, or a notebook with its cells.

    Raises
    ------
    FileNotFoundError
        If there is none.
    OSError
        If it is not a notebook though its name says so, or is no text that Python runs.
    """
    path = Path(script)
    if not path.is_file() and not (path / "__main__.py").is_file():
        raise FileNotFoundError(missing(script))
    try:
        if found := format_of(script):
            raise OSError(f"{script} is a file of the format {found}, and no program; {READS}")
    except NotReadable as error:
        raise OSError(str(error)) from error
    if notebook.is_notebook(script):
        notebook.keep_sources(notebook.cells(script))  # for the report
    return Program((script, *arguments))


def of_module(module: str, arguments: list[str]) -> Program:
    """Return the program that ``python -m MODULE ARGUMENTS`` runs."""
    return Program(("-m", module, *arguments))


def missing(script: str) -> str:
    """Say why a path is no program: it is not there, or a folder that Python has no start for."""
    if not Path(script).is_dir():
        return f"no such file: {script}"
    return f"the folder {script} has no __main__.py for Python to run; name a script in it"


def as_module(script: str | None) -> str:
    """Advise -m for a program that imports from its own package, which Python does not know then.

    Of a folder it is its start that does, else the file.
    """
    path = Path(script or "").resolve()
    start = path / "__main__.py" if path.is_dir() else path
    try:
        body = ast.parse(start.read_bytes()).body if script else []
    except (OSError, SyntaxError, ValueError):
        return ""
    if not any(isinstance(each, ast.ImportFrom) and each.level for each in body):
        return ""
    package = start.parent.name
    name = package if start.name == "__main__.py" else f"{package}.{start.stem}"
    return f"; it has relative imports: run it as a package, -m {name}"


def _flags() -> list[str]:
    """The options that this Python was started with, such as -O and -W."""
    flags: Any = getattr(subprocess, "_args_from_interpreter_flags", list)
    unbuffered = getattr(sys.__stdout__, "write_through", False)
    return [*flags(), *(["-u"] if unbuffered and "PYTHONUNBUFFERED" not in os.environ else [])]


@contextmanager
def _passing_on() -> Iterator[list[Popen[Any]]]:
    """Pass signals on to a program, and wait for it: its report comes however it was stopped."""
    children: list[Popen[Any]] = []

    def pass_on(number: int, frame: Any) -> None:
        if not (number == signal.SIGINT and _in_foreground()):  # else the terminal told it, too
            for child in children:
                child.send_signal(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # Python takes no handlers from here
    # What is ignored stays ignored: a program inherits that, and no handler.
    heard = [n for n in numbers if signal.getsignal(n) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, pass_on) for number in heard}
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether this process and those it started are what a terminal's Ctrl-C is for."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return False


# -- standard input ----------------------------------------------------------------------------


_CHUNK = 1 << 16
_INPUT = 0  # the file descriptor, whatever sys.stdin is


class StandardInput:
    """What the command's standard input gives to each run.

    A file is read again from where it stood. What comes through a pipe is kept as the first run
    reads it. Nobody types twice: after a terminal, further runs have an input that is empty.

    Parameters
    ----------
    kept : file
        Where to keep what comes through a pipe.
    """

    def __init__(self, kept: IO[bytes]) -> None:
        self._runs = 0
        self._start = _position()
        self._terminal = self._start is None and os.isatty(_INPUT)
        self._kept = kept
        self._ended = False
        self._reading = threading.Lock()

    def for_run(self) -> int | None:
        """Return what ``Popen`` takes as ``stdin`` for the next run."""
        self._runs += 1
        if self._terminal:
            return None if self._runs == 1 else DEVNULL
        if self._start is None:
            return PIPE
        os.lseek(_INPUT, self._start, os.SEEK_SET)
        return None

    def feed(self, program: Popen[Any]) -> None:
        """Begin to write to a program that has a pipe for its input."""
        if program.stdin is not None:
            threading.Thread(target=self._copy, args=(program.stdin,), daemon=True).start()

    def _copy(self, to: IO[bytes]) -> None:
        offset = 0
        try:
            while chunk := self._chunk(offset):
                offset += os.write(to.fileno(), chunk)
        except (OSError, ValueError):  # the program has ended, or the command itself
            pass
        finally:
            to.close()

    def _chunk(self, offset: int) -> bytes:
        """Return what follows an offset; b"" at the end."""
        with self._reading:
            self._kept.seek(offset)
            chunk = self._kept.read(_CHUNK)
            if not chunk and not self._ended:
                chunk = os.read(_INPUT, _CHUNK)
                self._kept.write(chunk)
                self._ended = not chunk
            return chunk


def _position() -> int | None:
    """Where in a file the standard input stands; None if it is none."""
    try:
        return os.lseek(_INPUT, 0, os.SEEK_CUR)
    except OSError:
        return None
