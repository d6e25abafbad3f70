"""What must hold of a run: the lists of what is known to fail, and the verdict.

`array_api/kernels.txt` lists what NumPy's kernels answer otherwise, under every policy but
`array_api`; each id must be one that array-api-compat lists for NumPy too
(`array_api/compat-numpy-xfails.txt`). A device's file (`array_api/devices/`) has what fails of
arrays there under every policy, and under `[chunks]` what else fails in blocks of a few elements.
A policy's own file starts with the ids of what its framework
computes otherwise, and goes on with the tests that it refuses in each mode, under the policy's
words for it. A refusal that is not confirmed is a failure, whatever the lists say; one that is
confirmed must in table mode still be listed, so that a new one is noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import runner
from runner import HERE, Case, read_list

from promoarray.policies import as_policy

LISTS = HERE / "array_api"
KERNELS = LISTS / "kernels.txt"
COMPAT = LISTS / "compat-numpy-xfails.txt"

GATED = {
    "numpy@2": ("plain",),
    "numpy@1": ("plain", "table"),
    "array_api": ("plain",),
    "jax@x64": ("plain",),
    "jax@x32": ("plain",),
    "torch@2.13": ("plain", "table"),
    "tensorflow": ("plain", "table"),
    "tensorflow@all": ("table",),
    "aclnn@8.0": ("plain", "table"),
    "aclnn@8.5": ("plain", "table"),
    "mindspore@2.10": ("plain", "table"),
    "paddle": ("plain", "table"),
    "onnx@25": ("plain", "table"),
    "onnx@21": ("plain", "table"),
}
"""The policies that are run unless others are named, and how."""

REFUSED = {
    ("numpy@2", "plain"): 0,
    ("numpy@1", "table"): 0,
    ("array_api", "plain"): 0,
    ("jax@x64", "plain"): 3,  # jax.numpy.cumulative_prod keeps uint8, and searchsorted is int32
    ("jax@x32", "plain"): 1,  # cumulative_prod; int32 is the default index dtype here
    ("torch@2.13", "table"): 0,
    ("tensorflow", "table"): 0,
    ("tensorflow@all", "table"): 0,
    ("aclnn@8.0", "table"): 0,
    ("aclnn@8.5", "table"): 0,
    ("mindspore@2.10", "table"): 0,
    ("paddle", "table"): 1,
    ("onnx@25", "table"): 8,
    ("onnx@21", "table"): 8,
}
"""How many tests a run may put down as refused; any number that is listed where none is given.

With the policy's own table only those count that want a pair which the policy does not promote:
an operator that the framework has not, or not for a dtype, is no matter of promotion.
"""


@dataclass
class Run(runner.Run):
    """The suite, once.

    Attributes
    ----------
    policy : str
        Its full name.
    mode : {"plain", "table"}
    namespace : str
        The namespace that was tested.
    """

    policy: str
    mode: str
    namespace: str

    @property
    def title(self) -> str:
        """The policy, and how its namespace was had where that is not ``namespace(policy)``."""
        bound = self.namespace == f"promoarray.{self.policy}"
        return self.policy if bound else f"{self.policy} ({self.namespace})"

    def chapters(self) -> dict[str, Counter[str]]:
        """How many tests of each chapter went how."""
        found: dict[str, Counter[str]] = {}
        for test in self.cases:
            found.setdefault(chapter(test.id), Counter())[test.kind] += 1
        return dict(sorted(found.items()))


def chapter(id: str) -> str:
    """The chapter of the standard, by the file a test is in."""
    file = id.partition("::")[0].rpartition("/")[2]
    stem = file.removeprefix("test_").removesuffix(".py").replace("_functions", "")
    return CHAPTERS.get(stem, stem.replace("_", " "))


CHAPTERS = {
    "operators_and_elementwise": "elementwise",
    "has_names": "names",
    "special_cases": "special cases",
    "array_object": "array object",
    "data_type": "data types",
    "linalg": "linear algebra",
}


def ids(path: Path) -> set[str]:
    """The entries of a list that hold in both modes."""
    return {*read_list(path)[""]}


def known(policy: str, device: str = "", chunk: int | None = None) -> set[str]:
    """The ids that are known to fail under a policy, and why is written down."""
    kernels = set() if policy == "array_api" else ids(KERNELS)  # it has the standard's own
    there = excepted(device, chunk)
    return kernels | ids(path_of(policy)) | {*there}


def excepted(device: str, chunk: int | None = None) -> dict[str, tuple[str, ...]]:
    """What fails of arrays on a device, with the reasons."""
    if not device:
        return {}
    name = device.partition(":")[0]
    listed = read_list(LISTS / "devices" / f"{name}.txt")
    return listed[""] | (listed.get("chunks", {}) if chunk else {})


def key(test: Case) -> str:
    """What a refused test is listed as: its function, and what it is about in special cases."""
    return test.id.partition("(" if "test_special_cases.py" in test.id else "[")[0]


def words(refusals: Iterable[str]) -> tuple[str, ...]:
    """The policy's words, without the operation they were said of."""
    return tuple(sorted({refusal.partition(": ")[2] for refusal in refusals}))


def path_of(policy: str) -> Path:
    """Where a policy's list is."""
    return LISTS / f"{policy}.txt"


def verdict(run: Run) -> list[str]:
    """Say what does not hold of a run; nothing if the gate holds."""
    counts = run.counts()
    wrong = [f"{t.id} fails: {t.why}" for t in run.cases if t.kind == "failed"]
    if run.mode == "table":
        wrong += unlisted(run)
    most, count = REFUSED.get((run.policy, run.mode)), len(counted(run))
    if most is not None and count > most:
        wrong.append(f"{count} tests are refused, at most {most} may be")
    if counts["passed"] < counts.total() / 2:
        wrong.append(f"only {counts['passed']} of {counts.total()} tests passed")
    return wrong


def counted(run: Run) -> list[Case]:
    """The refused tests that ``REFUSED`` counts."""
    refused = [t for t in run.cases if t.kind == "refused"]
    if run.mode == "plain":
        return refused
    pairs = as_policy(run.policy).refusal
    return [t for t in refused if any(word in pairs for word in words(t.refusals))]


def unlisted(run: Run) -> list[str]:
    """Say what a run refused beyond the policy's list.

    Of a plain run that is only a note: which pairs are drawn for a test is chance.
    """
    listed = read_list(path_of(run.policy)).get(run.mode, {})
    refused = {key(t): t for t in run.cases if t.kind == "refused"}
    return [
        f"{entry} is refused ({'; '.join(t.refusals)}), which {path_of(run.policy).name} "
        "does not list; --accept adds it"
        for entry, t in refused.items()
        if entry not in listed
    ]


def notes(run: Run) -> list[str]:
    """Say what is worth a look, and no failure."""
    new = unlisted(run) if run.mode == "plain" else []
    return new + [f"{t.id} is listed, but passed" for t in run.cases if t.outcome == "xpassed"]


def accept(runs: Iterable[Run]) -> list[Path]:
    """Add what the runs refused to the policies' lists; returns the files written."""
    written = []
    for run in runs:
        path = path_of(run.policy)
        found = {key(t): words(t.refusals) for t in run.cases if t.kind == "refused"}
        if not found:
            continue
        listed = read_list(path)
        of_mode = listed.setdefault(run.mode, {})
        for entry, reasons in found.items():
            of_mode[entry] = tuple(sorted({*of_mode.get(entry, ()), *reasons}))
        path.write_text(_text(listed), encoding="utf-8")
        written.append(path)
    return written


def _text(listed: Mapping[str, Mapping[str, tuple[str, ...]]]) -> str:
    text = ""
    for mode in ("", "plain", "table"):
        groups: dict[tuple[str, ...], list[str]] = {}
        for entry, reasons in listed.get(mode, {}).items():
            groups.setdefault(reasons, []).append(entry)
        if groups and mode:
            text += f"[{mode}]\n"
        for reasons, entries in sorted(groups.items(), key=lambda group: sorted(group[1])):
            text += "".join(f"# {reason}\n" for reason in reasons)
            text += "".join(f"{entry}\n" for entry in sorted(entries)) + "\n"
    return text.rstrip("\n") + "\n"
