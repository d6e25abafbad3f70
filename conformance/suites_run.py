"""One module of a suite, run with several back ends at once; what is noted of each test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import Any

from suites_backends import NUMPY, OURS, STRICT
from suites_suite import Suite, SuiteError

from promoarray.policies import as_policy

HERE = Path(__file__).resolve().parent
PACKAGE = str(HERE.parent / "promoarray")

OUTCOMES = ("passed", "failed", "refused", "differs", "xfailed", "skipped")
"""How a test may go; ``Case.kind`` says what they mean."""


@dataclass(frozen=True)
class Case:
    """One test that is over, with one back end.

    Attributes
    ----------
    id : str
    backend : str
    key : str
        The id with a star for the back end, the same for all of them.
    outcome : {"passed", "failed", "xfailed", "skipped"}
    why : str
        Of what did not pass.
    refusal : str
        The policy's reason, if a failure is a refusal that it made again when it was asked again.
    """

    id: str
    backend: str
    key: str
    outcome: str
    why: str = ""
    refusal: str = ""
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """The outcome as it is counted, with what a policy explains apart.

        *refused*: proven. *differs*: the test compares dtypes and finds another one than NumPy's,
        which is what a policy is there for; under NumPy's own that is a failure.
        """
        if self.outcome != "failed" or self.backend in (NUMPY, STRICT, OURS):
            return self.outcome
        if self.refusal:
            return "refused"
        return "differs" if of_dtypes(self.why) else "failed"


_OF_DTYPES = re.compile(
    r"AssertionError: (dtypes do not match|assert promoarray\.\w+ == promoarray\.\w+( |$))"
)


def of_dtypes(why: str) -> bool:
    """Whether a failure is about a dtype alone: as SciPy says it, or pytest of two of ours."""
    return _OF_DTYPES.match(why) is not None


@dataclass
class Run:
    """A module of a suite, once.

    Attributes
    ----------
    suite, module : str
    backends : list of str
    about : dict
        Versions and the date.
    cases : list of Case
    """

    suite: str
    module: str
    backends: list[str]
    about: dict[str, str] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0

    def counts(self, backend: str) -> Counter[str]:
        """How many tests went how with a back end."""
        return Counter(case.kind for case in self.cases if case.backend == backend)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Run:
        """Read ``as_json`` back."""
        return cls(**(dict(data) | {"cases": [Case(**case) for case in data["cases"]]}))


def run(
    suite: Suite,
    module: str,
    backends: Sequence[str],
    *,
    alone: bool = False,
    workers: int = 1,
    select: str = "",
    limit: float = 3600.0,
) -> Run:
    """Run a module of a suite.

    Parameters
    ----------
    suite : Suite
    module : str
    backends : sequence of str
        Of ours; NumPy's and array-api-strict's run beside them.
    alone : bool
        Without those two.
    workers : int
        Processes.
    select : str
        A pytest expression (``-k``).
    limit : float
        Seconds, after which the run is ended.

    Raises
    ------
    SuiteError
        If pytest could not run, or not to the end.
    """
    paths = suite.modules()[module]
    started = monotonic()
    with tempfile.TemporaryDirectory(prefix="promoarray-suites-") as scratch:
        events = Path(scratch, "events")
        events.touch()
        Path(scratch, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "suites_plugin", "-p", "no:cacheprovider"]
        command += ["-q", "--tb=no", "-c", str(Path(scratch, "pytest.ini"))]
        command += ["--rootdir", str(suite.home().parent), *suite.options, *_OWN_PLUGIN]
        command += ["--promoarray-suite", suite.name, "--promoarray-events", str(events)]
        command += [word for name in backends for word in ("--promoarray-backend", name)]
        command += ["--promoarray-alone"] if alone else []
        command += ["-k", select] if select else []
        command += ["-n", str(workers)] if workers > 1 else []
        try:
            done = subprocess.run(
                [*command, *map(str, paths)],
                cwd=scratch,
                env=_environment(suite),
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SuiteError(f"{suite.name} {module} took more than {limit:.0f} seconds") from None
        cases = [*_cases(events.read_text(encoding="utf-8").splitlines())]
        ran = done.returncode == 0 or (done.returncode == 1 and cases)  # 1: some failed
        if not ran and done.returncode != 5:  # nothing was selected
            tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
            raise SuiteError(f"{suite.name} {module} did not run:\n{tail}")
    return Run(
        suite.name,
        module,
        [*backends] if alone else [NUMPY, STRICT, *backends],
        about(suite),
        sorted(cases, key=lambda case: case.id),
        round(monotonic() - started, 1),
    )


_OWN_PLUGIN = ("-W", "ignore:Module already imported so cannot be rewritten")
"""pytest warns of our plugin where promoarray is installed so that it can be edited."""


def about(suite: Suite) -> dict[str, str]:
    """Versions, the commit of this library and the date."""
    names = (suite.name, "numpy", "array-api-compat", "array-api-strict")
    return {
        **{name: _version(name) for name in names},
        "python": sys.version.split()[0],
        "commit": _commit(),
        "date": date.today().isoformat(),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit that is tested, with a plus if the package differs from it; "" without git."""
    commit, changed = _git("rev-parse", "--short=9", "HEAD"), _git("status", "--short", PACKAGE)
    return commit + "+" * bool(changed)


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(HERE), *words], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _environment(suite: Suite) -> dict[str, str]:
    return {
        **os.environ,
        **suite.environment,
        "PROMOARRAY_POLICY": as_policy("numpy").name,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
    }


def _cases(lines: Sequence[str]) -> Iterator[Case]:
    for event in map(json.loads, lines):
        if "key" not in event:
            raise SuiteError(f"{event['id']}: {event['why']}")
        yield Case(**event)
