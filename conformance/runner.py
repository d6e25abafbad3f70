"""Run tests of others in pytest: what is noted of each, how a run is started, kept and shown.

`array_api.py` (array-api-tests) and `suites.py` (SciPy, scikit-learn, array-api-extra) each have a
table of what is run and a gate; both start pytest with a plugin of theirs (`*_plugin.py`), which
adds what `runner_plugin.py` has.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

KINDS = ("passed", "failed", "refused", "differs", "xfailed", "skipped")
"""How a test may go; ``Case.kind`` says what they mean."""


class SuiteError(Exception):
    """A suite cannot run; the message says what to do."""


# --- What is noted -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One test that is over.

    Attributes
    ----------
    id : str
    outcome : {"passed", "failed", "xfailed", "xpassed", "skipped", "error"}
    why : str
        Of what did not pass.
    refusals : tuple of str
        ``operation: the policy's words``, proved, of a failure or of the examples left out.
    narrowed : tuple of (int, int)
        How many examples the policy refused, and how many passed.
    backend, key : str
        Where the same test runs over several back ends: which one, and the id with a star for it.
    """

    id: str
    outcome: str
    why: str = ""
    refusals: tuple[str, ...] = ()
    narrowed: tuple[int, ...] = ()
    backend: str = ""
    key: str = ""
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """The outcome as it is counted, with what a policy explains apart.

        *refused*: proven. *differs*: the test compares dtypes and finds another one than NumPy's,
        which is what a policy is there for; with a back end that is bound to none, both are
        failures.
        """
        bound = "." in self.backend
        if self.refusals and (self.outcome == "xfailed" or (self.outcome == "failed" and bound)):
            return "refused"
        if self.outcome == "failed" and bound and _OF_DTYPES.match(self.why):
            return "differs"
        return {"error": "failed", "xpassed": "passed"}.get(self.outcome, self.outcome)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """Read an event."""
        lists = {key: tuple(data.get(key, ())) for key in ("refusals", "narrowed")}
        return cls(**dict(data) | lists)


_OF_DTYPES = re.compile(
    r"AssertionError: (dtypes do not match|assert promoarray\.\w+ == promoarray\.\w+( |$))"
)
"""A failure about a dtype alone: as SciPy says it, or pytest of two of ours."""


@dataclass(kw_only=True)
class Run:
    """A suite or a part of it, once.

    Attributes
    ----------
    about : dict
        Versions, the date, and what else tells one run from another.
    cases : list of Case
    """

    about: dict[str, Any] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0

    def counts(self, backend: str = "") -> Counter[str]:
        """How many tests went how, with one back end or with the only one."""
        return Counter(case.kind for case in self.cases if case.backend == backend)


# --- How a run is started ------------------------------------------------------------------------


class Ended(NamedTuple):
    """What a run of pytest left: its tests, what the plugin told of the whole, and its output."""

    cases: list[Case]
    about: dict[str, Any]
    status: int
    output: str
    seconds: float

    def tail(self) -> str:
        """The last lines of the output."""
        return "\n".join(self.output.strip().splitlines()[-30:])


def run_pytest(
    words: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    *,
    workers: int = 1,
    heard: Callable[[dict[str, Any]], None] = lambda event: None,
    limit: float = float("inf"),
) -> Ended:
    """Run pytest with a plugin that writes events.

    Parameters
    ----------
    words : sequence of str
        Of its command line, the plugin among them.
    cwd : Path
    environment : mapping
        Variables besides those that every run has.
    workers : int
        Processes.
    heard : callable
        Is told of every event at once.
    limit : float
        Seconds after which the run is ended.

    Raises
    ------
    SuiteError
        If it took longer.
    """
    started = monotonic()
    with tempfile.TemporaryDirectory(prefix="promoarray-conformance-") as scratch:
        events, log = Path(scratch, "events"), Path(scratch, "log")
        events.touch()
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *words]
        command += ["--promoarray-events", str(events)]
        command += ["-n", str(workers)] if workers > 1 else []
        cases: dict[str, Case] = {}
        about: dict[str, Any] = {}
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                command, cwd=cwd, env=_environment(environment), stdout=output, stderr=output
            )
            try:
                for event in _follow(events, process, started + limit):
                    heard(event)
                    if "id" in event:
                        cases.setdefault(event["id"], Case.from_json(event))
                    else:
                        about |= event
            finally:
                process.terminate()
                process.wait()
        said = log.read_text(encoding="utf-8", errors="replace")
    ordered = [cases[id] for id in sorted(cases)]
    return Ended(ordered, about, process.returncode, said, round(monotonic() - started, 1))


def _environment(changed: Mapping[str, str]) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ARRAY_API_TESTS_")}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
        "PYTHONDONTWRITEBYTECODE": "1",  # what is tested stays as it is
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
        **changed,
    }


def _follow(path: Path, process: subprocess.Popen[bytes], end: float) -> Iterator[dict[str, Any]]:
    """Read a file's lines while a process writes them."""
    with path.open(encoding="utf-8") as file:
        over = False
        rest = ""
        while True:
            rest += file.read()
            *lines, rest = rest.split("\n")
            yield from map(json.loads, lines)
            if over:
                return
            if monotonic() > end:
                raise SuiteError("took longer than it may")
            try:
                process.wait(0.2)
                over = True
            except subprocess.TimeoutExpired:
                pass


def versions(names: Iterable[str]) -> dict[str, str]:
    """Say which versions run, those of what is installed."""
    found = {"python": sys.version.split()[0]}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def require(names: Iterable[str], extra: str) -> None:
    """Raise SuiteError if one of some distributions is not installed."""
    for name, found in versions(names).items():
        if not found:
            raise SuiteError(f'{name} is not installed. Write: pip install -e ".[{extra}]"')


def git(path: Path, *words: str) -> str:
    """Ask git of a checkout; "" where it does not know."""
    command = ["git", "-C", str(path), "-c", f"safe.directory={path}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit() -> str:
    """The commit of promoarray that is tested, with a plus if the package differs from it."""
    changed = git(ROOT, "status", "--short", str(ROOT / "promoarray"))
    return git(ROOT, "rev-parse", "--short=9", "HEAD") + "+" * bool(changed)


# --- Lists of what is known ----------------------------------------------------------------------

Listed = dict[str, dict[str, tuple[str, ...]]]
"""By section ("" for the first): from an entry to the reasons it stands under."""


def read_list(path: Path) -> Listed:
    """Read a list: ``[section]`` lines, and entries under the ``#`` lines that give their reason.

    Raises
    ------
    ValueError
        If an entry stands under no reason, or twice.
    """
    listed: Listed = {"": {}}
    section, reasons, last = "", (), ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("["):
            section, reasons = line.strip("[]"), ()
            listed[section] = {}
        elif line.startswith("#"):
            words = line.removeprefix("#").strip()
            reasons = (*reasons, words) if last.startswith("#") else (words,)
        elif line.strip():
            if not reasons or line in listed[section]:
                raise ValueError(f"{path.name}: {line} stands under no reason, or twice")
            listed[section][line] = reasons
        last = line
    return listed


# --- What is shown -------------------------------------------------------------------------------


def grid(title: str, heads: Sequence[str], kinds: Sequence[str] = KINDS) -> Table:
    """Return a table for the terminal, with a column for each kind."""
    made = Table(title=title, title_justify="left")
    for head in heads:
        made.add_column(head)
    for kind in kinds:
        made.add_column(kind, justify="right")
    return made


def cells(counts: Mapping[str, int], kinds: Sequence[str] = KINDS) -> list[str]:
    """Return counts as the cells of such a table."""
    return [_cell(kind, counts.get(kind, 0)) for kind in kinds]


def _cell(kind: str, count: int) -> str:
    if not count:
        return "·"
    return f"[bold red]{count}[/]" if kind == "failed" else str(count)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)) + "\n"


def filled(text: str, parts: Mapping[str, str]) -> str:
    """Return a page with parts in place of what stands between their marks.

    Raises
    ------
    ValueError
        If the page has no place for one.
    """
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, opened, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not opened or not closed:
            raise ValueError(f"the page has no lines {begin} and {end}")
        text = f"{before}{begin}\n{part}{end}{after}"
    return text


def fill(page: Path, parts: Mapping[str, str]) -> None:
    """Write parts into a page, in place of those before."""
    page.write_text(filled(page.read_text(encoding="utf-8"), parts), encoding="utf-8")
