"""The gate of the suites of others, and the record of what is published.

Nothing may fail without a reason. A reason stands in `suites/<suite>.txt`, above the keys of the
tests it is for: those of promoarray itself first, then those of bound namespaces, after a line
``[policy]``. Of these only what the plugin could not prove is listed: what is *refused* or
*differs* is the policy's business, and counted. A test that fails with NumPy's own namespace too is
a note, not a failure. An entry without brackets is for every parameter of its test. A listed test
that passes breaks the gate, so that the lists stay true.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import runner
from runner import HERE, KINDS, Case, read_list

import promoarray as pa
from promoarray.policies import as_policy

LISTS = HERE / "suites"
RECORD = LISTS / "record.json"

NUMPY, STRICT, OURS = "numpy", "array_api_strict", "promoarray"
"""Back ends; one of ours that is bound to a policy has its name behind a point."""


def backend_of(policy: str) -> str:
    """The name of the namespace that has a policy: promoarray itself has NumPy's."""
    chosen = as_policy(policy)
    return OURS if chosen is as_policy("numpy") else f"{OURS}.{chosen.name}"


DASK = f"{OURS}.dask"
"""promoarray itself, with every new array on the Dask device."""


class _Placed(ModuleType):
    """A module equal to promoarray, which is the namespace of the arrays that it makes."""

    def __eq__(self, other: object) -> bool:
        return self is other or other is pa

    __hash__ = ModuleType.__hash__


def namespace(backend: str) -> Any:
    """The namespace of ours that has this name."""
    if backend == DASK:
        os.environ["PROMOARRAY_TESTED_DEVICE"] = "dask"
        placed = import_module("array_api_device")
        placed.__class__ = _Placed
        return placed
    _, _, policy = backend.partition(".")
    return pa.namespace(policy) if policy else pa


@dataclass
class Run(runner.Run):
    """A module of a suite, once.

    Attributes
    ----------
    suite, module : str
    backends : list of str
    """

    suite: str
    module: str
    backends: list[str]

    @property
    def ours(self) -> list[str]:
        """The back ends that are this library's."""
        return [name for name in self.backends if name not in (NUMPY, STRICT)]

    def failing(self, backend: str) -> dict[str, Case]:
        """The tests of a back end that fail, by key."""
        return {c.key: c for c in self.cases if c.backend == backend and c.kind == "failed"}

    def outcomes(self, backend: str) -> dict[str, set[str]]:
        """From each key to how its tests went: scikit-learn has one a dtype."""
        found: dict[str, set[str]] = {}
        for case in self.cases:
            if case.backend == backend:
                found.setdefault(case.key, set()).add(case.kind)
        return found


# --- The gate ------------------------------------------------------------------------------------


def section(backend: str) -> str:
    """The section of a list that is for a back end of ours."""
    return backend.removeprefix(OURS).removeprefix(".")


def listed(suite: str, backend: str) -> dict[str, tuple[str, ...]]:
    """The keys known to fail with a back end, and the reasons they stand under."""
    return read_list(LISTS / f"{suite}.txt").get(section(backend), {})


def entry(key: str, known: Collection[str]) -> str:
    """The entry of a list that a key falls under; "" if none does."""
    return next((name for name in (key, key.partition("[")[0]) if name in known), "")


def verdict(run: Run) -> list[str]:
    """Say what does not hold of a run; nothing if the gate holds."""
    beside = {name: run.outcomes(name) for name in (NUMPY, STRICT)}
    wrong = []
    for backend in run.ours:
        known, found = listed(run.suite, backend), run.failing(backend)
        for key, case in found.items():
            if not entry(key, known) and "failed" not in beside[NUMPY].get(key, ()):
                passes = [name for name in beside if "passed" in beside[name].get(key, ())]
                wrong.append(
                    f"{backend}: {key} fails, passes with {', '.join(passes) or 'none'}: {case.why}"
                )
        used = {entry(key, known) for key in found}
        ran = {entry(key, known) for key in run.outcomes(backend)} - {""}
        wrong += [f"{backend}: {name} is listed, but does not fail" for name in sorted(ran - used)]
    return wrong


def notes(run: Run) -> list[str]:
    """Say what is worth a look, and no failure of ours."""
    return [f"{key} fails with NumPy's namespace too" for key in run.failing(NUMPY)]


def explained(run: Run, backend: str) -> Counter[str]:
    """How many tests fail with a back end for each reason that is listed."""
    known = listed(run.suite, backend)
    entries = (entry(key, known) for key in run.failing(backend))
    return Counter(" ".join(known[name]) for name in entries if name)


def refused(run: Run, backend: str) -> Counter[str]:
    """How many tests a policy refuses for each reason it gives."""
    cases = (c for c in run.cases if c.backend == backend and c.kind == "refused")
    return Counter(reason for case in cases for reason in case.refusals)


# --- The record ----------------------------------------------------------------------------------

Module = dict[str, Any]
"""`about`, `seconds`, and by back end the `counts`, the `reasons` listed and the `refusals`."""

Record = dict[str, dict[str, Module]]
"""By suite and module: what is published, as JSON under version control."""


def module(run: Run) -> Module:
    """What is kept of a run."""
    counts = {name: run.counts(name) for name in run.backends}
    return {
        "about": run.about,
        "seconds": run.seconds,
        "counts": {
            name: {kind: found[kind] for kind in KINDS if found[kind]}
            for name, found in counts.items()
        },
        "reasons": {name: dict(explained(run, name).most_common()) for name in run.ours},
        "refusals": {name: dict(refused(run, name).most_common()) for name in run.ours},
    }


def _beside(before: Module | None, now: Module) -> Module:
    """What is kept of a run, with back ends that only one before it had."""
    if before is None or before["counts"].keys() <= now["counts"].keys():
        return now
    about = dict(now["about"])
    if any(name.startswith(OURS) for name in before["counts"].keys() - now["counts"].keys()):
        commits = (before["about"].get("commit", ""), about.get("commit", ""))
        about["commit"] = ", ".join(dict.fromkeys(filter(None, commits)))
    counted = {name: before[name] | now[name] for name in ("counts", "reasons", "refusals")}
    return {"about": about, "seconds": now["seconds"], **counted}


def read(path: Path = RECORD) -> Record:
    """Read what was published."""
    found: Record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def write(runs: Iterable[Run], path: Path = RECORD) -> None:
    """Replace what is published of the modules and back ends that were run, and keep the others."""
    record = read(path)
    for run in runs:
        modules = record.setdefault(run.suite, {})
        modules[run.module] = _beside(modules.get(run.module), module(run))
    ordered = {suite: dict(sorted(record[suite].items())) for suite in record}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
