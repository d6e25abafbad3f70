"""What must hold of a run: nothing fails without a reason.

A reason stands in `suites/<suite>.txt`, above the keys of the tests it is for: those of promoarray
itself first, then those of bound namespaces, after a line ``[policy]``. Of these only what the
plugin could not prove is listed: what is *refused* or *differs* is the policy's business, and
counted. A test that fails with NumPy's own namespace too is a note, not a failure. A listed test
that passes breaks the gate, so that the lists stay true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from array_api_gate import read
from suites_backends import NUMPY, OURS, STRICT
from suites_run import Case, Run

LISTS = Path(__file__).resolve().parent / "suites"


def section(backend: str) -> str:
    """The section of a list that is for a back end of ours."""
    return backend.removeprefix(OURS).removeprefix(".")


def listed(suite: str, backend: str) -> dict[str, tuple[str, ...]]:
    """The keys known to fail with a back end, and the reasons they stand under."""
    return read(LISTS / f"{suite}.txt").get(section(backend), {})


def outcomes(run: Run, backend: str) -> dict[str, set[str]]:
    """From each key to how its tests went with a back end: scikit-learn has one a dtype."""
    found: dict[str, set[str]] = {}
    for case in run.cases:
        if case.backend == backend:
            found.setdefault(case.key, set()).add(case.kind)
    return found


def failing(run: Run, backend: str) -> dict[str, Case]:
    """The tests of a back end that fail, by key."""
    return {c.key: c for c in run.cases if c.backend == backend and c.kind == "failed"}


def verdict(run: Run) -> list[str]:
    """Say what does not hold of a run; nothing if the gate holds."""
    beside = {name: outcomes(run, name) for name in (NUMPY, STRICT)}
    wrong = []
    for backend in ours(run):
        known, found = listed(run.suite, backend), failing(run, backend)
        for key, case in found.items():
            if key not in known and "failed" not in beside[NUMPY].get(key, ()):
                passes = [name for name in beside if "passed" in beside[name].get(key, ())]
                wrong.append(
                    f"{backend}: {key} fails, passes with {', '.join(passes) or 'none'}: {case.why}"
                )
        for key, how in outcomes(run, backend).items():
            if key in known and "failed" not in how:
                wrong.append(f"{backend}: {key} is listed, but {', '.join(sorted(how))}")
    return wrong


def notes(run: Run) -> list[str]:
    """Say what is worth a look, and no failure of ours."""
    known = {key for backend in ours(run) for key in listed(run.suite, backend)}
    return [f"{key} fails with NumPy's namespace too" for key in failing(run, NUMPY).keys() - known]


def ours(run: Run) -> list[str]:
    """The back ends of a run that are this library's."""
    return [name for name in run.backends if name not in (NUMPY, STRICT)]


def explained(runs: Iterable[Run], suite: str, backend: str) -> Counter[str]:
    """How many tests of a suite fail with a back end for each reason that is listed."""
    known = listed(suite, backend)
    return Counter(
        " ".join(known[key])
        for run in runs
        if run.suite == suite
        for key in failing(run, backend)
        if key in known
    )


def refused(runs: Iterable[Run], backend: str) -> Counter[str]:
    """How many tests a policy refuses for each reason it gives."""
    return Counter(
        case.refusal
        for run in runs
        for case in run.cases
        if case.backend == backend and case.kind == "refused"
    )
