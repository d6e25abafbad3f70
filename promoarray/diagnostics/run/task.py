"""What the command and the program it starts tell each other: files in a folder of their own."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from errno import ENOSPC
from pathlib import Path
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.compare.final_values import Final
from promoarray.diagnostics.run.probe import Probe
from promoarray.diagnostics.shadow.report import MAX_SITES, Report

VARIABLE = "PROMOARRAY_COMPARE"
"""Names the folder, in the environment of the program and of the processes that it starts."""

_TASK, _FOUND = "task", ".found"

_FRAMEWORK = "framework"
"""The file that names it to ``sitecustomize``, which shall not import promoarray to know it."""

_STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")


@dataclass(frozen=True, slots=True)
class Task:
    """What the command asks of a run.

    Attributes
    ----------
    policies : tuple of str
        The policies to compare with; none if the run only shows how the program ends.
    policy : str or None
        What it runs under, whatever policy it sets; None leaves that to the program.
    casts : bool
        Whether refusals are answered with the casts that they propose.
    names : tuple of str or None
        The globals to show; None for its arrays and floats.
    all_frames : bool
        Whether tracebacks show promoarray's own frames.
    max_sites : int
        At most so many places are kept.
    command : int
        The process of the command.
    probe : Probe or None
        What else observes the run, and is asked at its end.
    framework : str
        The framework that is recorded; "" of a program written against promoarray.
    packages : tuple of str
        Of a program that is rewritten: the installed libraries that are, too.
    past : bool
        Whether what the framework stops at is done as the other policy does it.
    """

    policies: tuple[str, ...] = ()
    policy: str | None = None
    casts: bool = False
    names: tuple[str, ...] | None = None
    all_frames: bool = False
    max_sites: int = MAX_SITES
    command: int = field(default_factory=os.getpid)
    probe: Probe | None = None
    framework: str = ""
    packages: tuple[str, ...] = ()
    past: bool = False

    def write(self, folder: str) -> None:
        """Put it where the program finds it."""
        Path(folder, _TASK).write_bytes(pickle.dumps(self))
        if self.framework:
            Path(folder, _FRAMEWORK).write_text(self.framework, encoding="utf-8")

    def environment(self, folder: str) -> dict[str, str]:
        """Return what the environment of the program has besides."""
        if not self.framework:
            return {VARIABLE: folder}
        paths = filter(None, (_STARTUP, os.environ.get("PYTHONPATH")))
        return {VARIABLE: folder, "PYTHONPATH": os.pathsep.join(paths)}

    @staticmethod
    def read(folder: str) -> Task | None:
        """Return the task of a folder; None if the command that wrote it has ended."""
        try:
            task: Task = pickle.loads(Path(folder, _TASK).read_bytes())
        except OSError:
            return None
        return task


@dataclass(slots=True)
class Findings:
    """What one process of a run found.

    Attributes
    ----------
    run : str
        The policy it ran under.
    report : Report or None
        Of a run that compares.
    refusals : dict
        From each place and operation refused to the cast applied there, in words.
    finals : dict
        The globals asked for at the end, by their names.
    error, message : str
        What stopped it, if that was an error: as a traceback ends, and in words for a table.
    stopped : Site or None
        The line of the program where it did.
    bug : str
        The traceback of what went wrong in promoarray itself while it observed.
    files : tuple of str
        Those of the program that it imported.
    probed : object
        What the task's probe has found.
    counts : list of int
        How often the first places of the report were passed, which were written down before and
        are not in it.
    """

    run: str
    report: Report | None = None
    refusals: dict[tuple[Site, str], str] = field(default_factory=dict)
    finals: dict[str, Final] = field(default_factory=dict)
    error: str = ""
    message: str = ""
    stopped: Site | None = None
    bug: str = ""
    files: tuple[str, ...] = ()
    probed: Any = None
    counts: list[int] = field(default_factory=list)

    def added(self, known: int) -> Findings:
        """Return the findings without the first ``known`` places of the report."""
        if self.report is None or not known:
            return self
        report, counts = self.report.after(known)
        return replace(self, report=report, counts=counts)

    def follow(self, earlier: Findings) -> None:
        """Take in the places that were written down before."""
        if self.report is not None and earlier.report is not None:
            self.report.follow(earlier.report, self.counts)


def new_file(folder: str) -> str:
    """Return a path for what this process finds; it may import promoarray more than once."""
    for n in range(1000):
        path = os.path.join(folder, f"{os.getpid()}-{n}{_FOUND}")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path
    raise FileExistsError(path)


def write(path: str, findings: Findings, known: int = 0) -> None:
    """Put findings into a file behind what was there, at once or not at all.

    To make a new file each time and to rename it takes many times as long as to write a few
    thousand bytes; that is left for when the file has become long.

    Parameters
    ----------
    path : str
    findings : Findings
    known : int
        So many places of the report are in the file, and are not written again.

    Raises
    ------
    OSError
        If the disk is full, or the folder is gone.
    """
    written, before = _bytes(findings.added(known)), os.path.getsize(path)
    if before + len(written) <= _LONG:
        with open(path, "ab", buffering=0) as file:
            if file.write(written) < len(written):
                file.truncate(before)
                raise OSError(ENOSPC, os.strerror(ENOSPC), path)
        return
    with open(f"{path}.part", "wb") as file:
        file.write(_bytes(findings) if known else written)
    os.replace(f"{path}.part", path)


def _bytes(findings: Findings) -> bytes:
    made = pickle.dumps(findings, protocol=5)
    return len(made).to_bytes(_LENGTH) + made


_LENGTH, _LONG = 8, 1 << 20


def _last(path: Path) -> Findings | None:
    """What was written into a file last, with what stands before; None if nothing was."""
    written, at = memoryview(path.read_bytes()), 0
    last: Findings | None = None
    while at + _LENGTH <= len(written):
        begin = at + _LENGTH
        at = begin + int.from_bytes(written[begin - _LENGTH : begin])
        if at <= len(written):  # else the process was killed as it wrote this
            findings: Findings = pickle.loads(written[begin:at])
            if last is not None and findings.counts:
                findings.follow(last)
            last = findings
    return last


def found(folder: str, pid: int) -> Iterator[Findings]:
    """Yield what the processes of a run found, the newest of the process ``pid`` first."""
    every: list[tuple[bool, float, Path]] = [
        (path.name.startswith(f"{pid}-"), path.stat().st_mtime, path)
        for path in Path(folder).glob(f"*{_FOUND}")
    ]
    for _, _, path in sorted(every, reverse=True):
        read = _last(path)
        if read is not None:  # else it was killed before it wrote anything
            yield read
