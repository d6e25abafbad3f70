"""Task and Findings, by which a command and the program it starts talk: files in one folder."""

from __future__ import annotations

import ast
import atexit
import os
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from promoarray.core.call_site import Site
from promoarray.core.events import Observer
from promoarray.diagnostics.findings.results import MAX_SITES
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.steps import ALL, Training

VARIABLE = "PROMOARRAY_COMPARE"
"""Names the folder, in the environment of the program and of the processes that it starts."""

COMPILED = "JAX_COMPILATION_CACHE_DIR"
"""Names the folder in which JAX keeps what it compiles, in the environment."""

STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
"""The folder with ``sitecustomize``, which reads the files ``hooks`` and ``texts``, too."""

_FOUND = ".found"


class Probe(Observer):
    """An observer that a task brings along: it begins with the process, and is asked at its end.

    It is pickled on its way there, and what it answers on its way back.

    Attributes
    ----------
    observes : bool
        Whether it hears of what the program does; else it is asked at the end alone.
    """

    observes = True

    def begin(self) -> None:
        """Begin with nothing found, in the program's process, or in one forked from it."""

    def ended(self, names: dict[str, Any]) -> Any:
        """Answer, from the program's globals, when the process ends."""
        return None


@dataclass(frozen=True, slots=True)
class Task:
    """A command's request to a run."""

    # the policies to compare with; none if the run only shows how the program ends
    policies: tuple[str, ...] = ()
    # what it runs under, whatever policy it sets; None leaves that to the program
    policy: str | None = None
    casts: bool = False  # whether refusals are answered with the casts that they propose
    all_frames: bool = False  # whether tracebacks show promoarray's own frames
    max_sites: int = MAX_SITES  # at most so many places are kept
    command: int = field(default_factory=os.getpid)  # the process of the command
    probes: tuple[Probe, ...] = ()  # what else observes the run, and is asked at its end
    # the framework that is recorded; "" of a program written against promoarray
    framework: str = ""
    # what is recorded once the program imports it, NumPy from the start; the framework by default
    libraries: tuple[str, ...] = ()
    # policies that are asked about NumPy's operations alone where a framework is recorded, too
    halves: tuple[str, ...] = ()
    # of a program that is rewritten: the installed libraries that are, too
    packages: tuple[str, ...] = ()
    past: bool = False  # whether what the framework stops at is done as the other policy does it
    # whether a program of promoarray is recorded, to be asked about afterwards
    recorded: bool = False
    # whether it is noted what made each array, and at which call the program stops
    origins: bool = False
    # what its values are checked for, as ``checks.Asked`` has it; None if they are not
    checks: Any = None
    # where its calls are kept with their values, as ``tape.TapeAsked`` has it
    tape: Any = None
    steps: Training = ALL  # those of training that are looked at

    @property
    def recorded_libraries(self) -> tuple[str, ...]:
        """What is recorded once it is imported."""
        return self.libraries or tuple(filter(None, (self.framework,)))

    def write(self, folder: str) -> dict[str, str]:
        """Put it where the program finds it; return what its environment has to have besides."""
        Path(folder, "task").write_bytes(pickle.dumps(self))
        Path(folder, "hooks").write_text(" ".join(self.recorded_libraries))
        paths = filter(None, (STARTUP, os.environ.get("PYTHONPATH")))
        environment = {VARIABLE: folder, "PYTHONPATH": os.pathsep.join(paths)}
        if self.all_frames:
            environment["PROMOARRAY_TRACEBACK"] = "full"
        if "jax" in self.recorded_libraries and COMPILED not in os.environ:
            environment[COMPILED] = _compiled()
            environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        # What Numba compiles is asked of its policy as Python runs it, line by line.
        in_python = any(name.partition("@")[0] == "numba" for name in self.policies)
        return environment | {"NUMBA_DISABLE_JIT": "1"} if in_python else environment

    @staticmethod
    def read(folder: str) -> Task | None:
        """Return the task of a folder; None if the command that wrote it has ended."""
        try:
            task: Task = pickle.loads(Path(folder, "task").read_bytes())
        except OSError:
            return None
        return task


@dataclass(slots=True)
class Findings:
    """Findings of one process of a run."""

    run: str  # the policy it ran under
    report: Report | None = None  # of a run that compares
    # from each place and operation refused to the cast applied there, in words
    refusals: dict[tuple[Site, str], str] = field(default_factory=dict)
    # what stopped it, if that was an error: as a traceback ends, and in words for a table
    error: str = ""
    message: str = ""
    stopped: Site | None = None  # the line of the program where it did
    bug: str = ""  # the traceback of what went wrong in promoarray itself while it observed
    files: tuple[str, ...] = ()  # those of the program that it imported
    # what each of the task's probes has found, once the process has ended
    probed: tuple[Any, ...] = ()
    # of a program that called ``sys.exit`` as it handled an error: the same if it went on after it
    went_on: Findings | None = None


@cache
def _compiled() -> str:
    """The folder with what JAX compiles, which the next run of the command reads."""
    folder = tempfile.TemporaryDirectory(prefix="promoarray-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return folder.name


def texts_in(folder: str) -> str:
    """Return the path of what ``startup/edited.py`` reads; it is there if some text is edited."""
    return os.path.join(folder, "texts")


def new_file(folder: str) -> str:
    """Return a path for what this process finds; it may import promoarray more than once."""
    file, path = tempfile.mkstemp(_FOUND, f"{os.getpid()}-", folder)
    os.close(file)
    return path


def write(path: str, findings: Findings) -> None:
    """Put findings into a file in place of what was there, at once or not at all.

    Raises
    ------
    OSError
        If the disk is full, or the folder is gone.
    """
    with open(f"{path}.part", "wb") as file:
        pickle.dump(findings, file, protocol=5)
    os.replace(f"{path}.part", path)


def found(folder: str, pid: int) -> Iterator[Findings]:
    """Yield what the processes of a run found, the newest of the process ``pid`` first."""
    every: list[tuple[bool, float, Path]] = [
        (path.name.startswith(f"{pid}-"), path.stat().st_mtime, path)
        for path in Path(folder).glob(f"*{_FOUND}")
    ]
    for _, _, path in sorted(every, reverse=True):
        written = path.read_bytes()
        if written:  # else it was killed before it wrote anything
            yield pickle.loads(written)


def imported(folder: str) -> tuple[str, ...]:
    """Return the array libraries that the program itself has imported, in that order."""
    path = Path(folder, "imported")
    return tuple(dict.fromkeys(path.read_text().split())) if path.exists() else ()


def tell_unseen(folder: str, findings: Sequence[Findings]) -> None:
    """Note in the first report what may have been computed unheard."""
    path = Path(folder, "unseen")
    report = next((each.report for each in findings if each.report is not None), None)
    for line in dict.fromkeys(path.read_text("utf-8").splitlines() if path.exists() else ()):
        file, number, reason = ast.literal_eval(line)
        (what, why), at = _UNSEEN[reason], Site(file, number, -1, "", "")
        if report is not None:
            report.unexamined[NotExamined(what, why, at, at)] += 1


_UNSEEN = {
    "unnamed": (
        "what NumPy computes",
        "no source tells that the program has it: write --framework torch,numpy",
    ),
    "loaded": (
        "what NumPy computes",
        "this code was loaded otherwise than Python loads files, -c and standard input",
    ),
    "started": (
        "what a Python process computes",
        "it is started without this environment: with env= or -I, -E, -S, or as another Python;"
        " start it with a copy of os.environ",
    ),
}
