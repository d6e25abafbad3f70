"""One run of array-api-tests under a policy: how it is started, what it reports, how it went."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

from array_api_suite import Suite, SuiteError

from promoarray.policies import Policy, as_policy

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Case:
    """One test that is over.

    Attributes
    ----------
    id : str
    outcome : {"passed", "failed", "xfailed", "xpassed", "skipped", "error"}
    why : str
        Of a failure, skip or xfail.
    refusals : tuple of str
        ``operation: the policy's words``, proved; of an xfail, or of the examples left out.
    narrowed : tuple of (int, int)
        How many examples the policy refused, and how many passed.
    """

    id: str
    outcome: str
    why: str = ""
    seconds: float = 0.0
    refusals: tuple[str, ...] = ()
    narrowed: tuple[int, ...] = ()

    @property
    def chapter(self) -> str:
        """The chapter of the standard, by the file the test is in."""
        file = self.id.partition("::")[0].rpartition("/")[2]
        stem = file.removeprefix("test_").removesuffix(".py").replace("_functions", "")
        return CHAPTERS.get(stem, stem.replace("_", " "))

    @property
    def kind(self) -> str:
        """The outcome as it is counted: a proven refusal apart from an expected failure."""
        if self.outcome == "xfailed" and self.refusals:
            return "refused"
        return {"error": "failed", "xpassed": "passed"}.get(self.outcome, self.outcome)


CHAPTERS = {
    "operators_and_elementwise": "elementwise",
    "has_names": "names",
    "special_cases": "special cases",
    "array_object": "array object",
    "data_type": "data types",
    "linalg": "linear algebra",
}

KINDS = ("passed", "failed", "refused", "xfailed", "skipped")


@dataclass
class Run:
    """The suite, once.

    Attributes
    ----------
    policy : str
        Its full name; "" for a namespace that is not promoarray's.
    mode : {"plain", "table"}
    namespace : str
        The namespace that was tested.
    about : mapping
        Versions, examples, pairs of the promotion table.
    tests : list of Case
    """

    policy: str
    mode: str
    namespace: str
    about: dict[str, Any] = field(default_factory=dict)
    tests: list[Case] = field(default_factory=list)
    seconds: float = 0.0
    log: str = ""

    @property
    def title(self) -> str:
        """The policy, and how its namespace was had where that is not ``namespace(policy)``."""
        bound = self.namespace == f"promoarray.{self.policy}"
        return self.policy if bound else f"{self.policy} ({self.namespace})".lstrip()

    def counts(self) -> Counter[str]:
        """How many tests went how."""
        return Counter(test.kind for test in self.tests)

    def chapters(self) -> dict[str, Counter[str]]:
        """The same, by chapter."""
        found: dict[str, Counter[str]] = {}
        for test in self.tests:
            found.setdefault(test.chapter, Counter())[test.kind] += 1
        return dict(sorted(found.items()))

    def as_json(self) -> dict[str, Any]:
        """Return everything but the log, as JSON takes it."""
        return {key: value for key, value in asdict(self).items() if key != "log"}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Run:
        """Read ``as_json`` back."""
        tests = [
            Case(**(t | {"refusals": tuple(t["refusals"]), "narrowed": tuple(t["narrowed"])}))
            for t in data["tests"]
        ]
        return cls(**(dict(data) | {"tests": tests}))


def module_of(policy: Policy | None, namespace: str | None) -> str:
    """Return what ARRAY_API_TESTS_MODULE takes: a module's name, or code that binds ``xp``."""
    if namespace or policy is None:
        return namespace or "promoarray"
    return f"exec('import promoarray; xp = promoarray.namespace(\"{policy.name}\")')"


def without(policy: Policy | None, mode: str) -> list[str]:
    """Return the standard's dtypes that are left out.

    In both modes those that the policy's arrays never have (JAX without x64 makes others of them);
    with the policy's table also those that the framework lacks.
    """
    if policy is None:
        return []
    from array_api_plugin import STANDARD

    lacking = {d.name for d in policy.canonical}
    if mode == "table":
        lacking |= {*STANDARD} - {d.name for d in policy.dtypes}
    return [name for name in STANDARD if name in lacking]


def run(
    suite: Suite,
    policy: str | None,
    mode: str = "plain",
    *,
    namespace: str | None = None,
    examples: int = 300,
    seed: int | None = None,
    workers: int = 0,
    xfails: Iterable[str] = (),
    select: str = "",
    heard: Callable[[dict[str, Any]], None] = lambda event: None,
) -> Run:
    """Run the suite.

    Parameters
    ----------
    suite : Suite
    policy : str or None
    mode : {"plain", "table"}
    namespace : str, optional
        A module in place of ``promoarray.namespace(policy)``: promoarray itself, under that policy
        by its environment variable, or any other array library's.
    examples : int
        For each test that Hypothesis draws examples for.
    seed : int, optional
        What Hypothesis draws them by; without it by each test's own source text, the same ones in
        every run.
    workers : int
        Processes; 0 means this machine's.
    xfails : iterable of str
        Ids of tests that are known to fail.
    select : str
        A pytest expression (``-k``).
    heard : callable
        Is told of every event at once.

    Raises
    ------
    SuiteError
        If pytest could not run.
    """
    chosen = as_policy(policy) if policy else None
    name = chosen.name if chosen else ""
    done = Run(name, mode, namespace or f"promoarray.{name}")
    started = monotonic()
    with tempfile.TemporaryDirectory(prefix="promoarray-conformance-") as scratch:
        events, log, known = (Path(scratch, name) for name in ("events", "log", "known"))
        events.touch()
        known.write_text("".join(f"{id}\n" for id in xfails), encoding="utf-8")
        command = _command(chosen, mode, known, events)
        command += _drawing(examples, seed, workers, select)
        environment = _environment(chosen, mode, namespace)
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                command, cwd=suite.path, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            try:
                for event in _follow(events, process):
                    _note(done, event)
                    heard(event)
            finally:
                process.terminate()
                process.wait()
        done.log = log.read_text(encoding="utf-8", errors="replace")
    done.seconds = round(monotonic() - started, 1)
    if not done.tests or process.returncode not in (0, 1):
        tail = "\n".join(done.log.strip().splitlines()[-30:])
        raise SuiteError(f"array-api-tests did not run under {done.title}, {mode}:\n{tail}")
    done.tests.sort(key=lambda test: test.id)
    done.about |= {
        "array-api-tests": suite.commit,
        "array-api": suite.spec,
        "examples": examples,
        "seed": seed,
        "numpy": version("numpy"),
        "python": sys.version.split()[0],
        "date": date.today().isoformat(),
        "left out": without(chosen, mode),
    }
    return done


def _command(policy: Policy | None, mode: str, known: Path, events: Path) -> list[str]:
    words = [sys.executable, "-m", "pytest", "array_api_tests", "-p", "array_api_plugin"]
    words += ["-p", "no:cacheprovider", "-q", "--tb=native", "--disable-deadline"]
    words += ["--xfails-file", str(known)]
    words += ["--promoarray-mode", mode, "--promoarray-events", str(events)]
    return words + (["--promoarray-policy", policy.name] if policy else [])


def _drawing(examples: int, seed: int | None, workers: int, select: str) -> list[str]:
    """Which tests, which examples, in how many processes."""
    words = ["--max-examples", str(examples)]
    # Derandomized, Hypothesis pays no attention to a seed.
    words += ["--derandomize"] if seed is None else [f"--hypothesis-seed={seed}"]
    words += ["-k", select] if select else []
    workers = workers or os.cpu_count() or 1
    return words + (["-n", str(workers)] if workers > 1 else [])


def _environment(policy: Policy | None, mode: str, namespace: str | None) -> dict[str, str]:
    changed = {
        "ARRAY_API_TESTS_MODULE": module_of(policy, namespace),
        "ARRAY_API_TESTS_SKIP_DTYPES": ",".join(without(policy, mode)),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
        "PYTHONDONTWRITEBYTECODE": "1",  # the checkout stays as it is
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if policy is not None:
        changed["PROMOARRAY_POLICY"] = policy.name
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ARRAY_API_TESTS_")}
    return kept | changed


def _follow(path: Path, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
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
            try:
                process.wait(0.2)
                over = True
            except subprocess.TimeoutExpired:
                pass


def _note(done: Run, event: dict[str, Any]) -> None:
    match event.pop("event"):
        case "start":
            done.about |= event
        case "test":
            for key in ("refusals", "narrowed"):
                event[key] = tuple(event.get(key, ()))
            if all(test.id != event["id"] for test in done.tests if test.outcome == "error"):
                done.tests.append(Case(**event))
