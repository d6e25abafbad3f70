"""Run SciPy, scikit-learn and array-api-extra on PArrays, and record what each policy makes of it.

::

    pip install -e ".[test-downstream]"
    python conformance/downstream.py            # print the cells that differ from the record
    python conformance/downstream.py --write    # record again, and write docs/downstream.md

The record is ``conformance/downstream.txt``, a table of cases by policies. A cell is the code of
the result's dtype, with ``~`` where the numbers differ from NumPy's, and ``^`` where arrays
left the policy on the way; or what was refused, and in which function of the library.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it when it is imported

import numpy as np
import sklearn
import tables
from downstream_cases import CASES, Case, questions
from downstream_page import LIBRARIES, PAGE, RECORD, of_functions
from runner import fill, versions

import promoarray as pa
from promoarray.core import call_site
from promoarray.diagnostics.progress import Progress

POLICIES = (
    "numpy",
    "numpy@1",
    "jax",
    "jax@x32",
    "torch",
    "tensorflow",
    "paddle",
    "aclnn",
    "onnx",
    "mindspore@2.10",
    "array_api",
)
DIFFERS, OUTSIDE = "~", "^"

Cells = dict[tuple[str, str, str], str]
"""From kind, case and policy to a cell."""


@dataclass
class Record:
    """What was found.

    Attributes
    ----------
    about : dict
        Versions of the libraries, by name: the first two numbers, which what they do hangs on.
    cells : dict
        From kind, case and policy to the cell. A refusal is the operation and where it was called.
    reasons : dict
        From a refusal and a policy to the policy's words.
    takers : dict
        From a case to the functions that took arrays out of the policy.
    """

    about: dict[str, str] = field(default_factory=dict)
    cells: Cells = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    takers: dict[str, list[str]] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write it as text: a square table for each kind, refusals as numbers explained above."""
        refusals = sorted({c for c in self.cells.values() if " " in c})
        numbers = {refusal: f"-{n}" for n, refusal in enumerate(refusals, 1)}
        meta = dict(self.about)
        for refusal, number in numbers.items():
            words: dict[str, list[str]] = {}
            for policy in POLICIES:
                if (refusal, policy) in self.reasons:
                    words.setdefault(self.reasons[refusal, policy], []).append(policy)
            why = "; ".join(f"{', '.join(names)} ({text})" for text, names in words.items())
            meta[number] = f"{refusal} | {why}"
        for case, takers in self.takers.items():
            meta[f"{case} leaves by"] = ", ".join(takers)
        sections: dict[str, tables.Cells] = {}
        for (kind, case, policy), cell in self.cells.items():
            sections.setdefault(kind, {})[case, policy] = numbers.get(cell, cell)
        tables.write(path, meta, sections)

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read it back, but for the reasons, which are for people."""
        meta, sections = tables.read(path)
        refusals = {key: text.split(" | ")[0] for key, text in meta.items() if key[0] == "-"}
        cells = {
            (kind, case, policy): refusals.get(cell, cell)
            for kind, section in sections.items()
            for (case, policy), cell in section.items()
        }
        leaving = {k: v.split(", ") for k, v in meta.items() if k.endswith(" leaves by")}
        takers = {case.removesuffix(" leaves by"): names for case, names in leaving.items()}
        return cls({key: meta[key] for key in LIBRARIES}, cells, {}, takers)

    def of(self, library: str) -> Record:
        """The part about one library's functions."""
        cells = {key: cell for key, cell in self.cells.items() if _library(key[1]) == library}
        takers = {case: names for case, names in self.takers.items() if _library(case) == library}
        return Record(self.about, cells, self.reasons, takers)

    def differences(self, other: Record) -> Iterator[str]:
        """Yield a line for each cell that is not the same in another record."""
        for key in sorted({*self.cells, *other.cells}):
            ours, theirs = self.cells.get(key, "absent"), other.cells.get(key, "absent")
            if ours != theirs:
                yield f"{', '.join(key)}: {ours}, recorded {theirs}"
        for case in sorted({*self.takers, *other.takers}):
            if self.takers.get(case) != other.takers.get(case):
                yield f"{case} leaves by {self.takers.get(case)}, recorded {other.takers.get(case)}"


def installed() -> dict[str, str]:
    """The versions that a record is good for."""
    found = versions(LIBRARIES)
    return {name: ".".join(found[name].split(".")[:2]) for name in LIBRARIES}


@contextmanager
def dispatching() -> Iterator[None]:
    """Let scikit-learn dispatch, and keep what the libraries warn of to themselves."""
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _library(case: str) -> str:
    return case.partition(".")[0]


def run(policies: Sequence[str] = POLICIES, *, library: str = "", bound: bool = False) -> Record:
    """Ask every question under each policy.

    Parameters
    ----------
    policies : sequence of str
    library : str
        Only questions about its functions.
    bound : bool
        Whether through namespaces bound to them, under another policy in force.
    """
    record = Record(installed())
    takers: dict[str, set[str]] = {}
    asked = [each for each in questions() if library in ("", _library(each[0]))]
    with dispatching(), Progress() as progress:
        for number, (name, kind, arrays) in enumerate(asked):
            progress.step(name, number / len(asked))
            case = CASES[name]
            expected = _with_numpy(case, arrays)
            for policy in policies:
                cell, reason, taken = _ask(case, arrays, expected, policy, bound)
                record.cells[kind, name, policy] = cell
                if reason:
                    record.reasons[cell, policy] = reason
                takers.setdefault(name, set()).update(taken)
    record.takers = {name: sorted(taken) for name, taken in takers.items() if taken}
    return record


def _with_numpy(case: Case, arrays: tuple[Any, ...]) -> Any:
    """What the case gives for NumPy's own arrays; None where even that is an error."""
    try:
        return case(*(array.copy() for array in arrays))
    except (TypeError, ValueError):
        return None


def _ask(
    case: Case, arrays: tuple[Any, ...], expected: Any, policy: str, bound: bool
) -> tuple[str, str, set[str]]:
    """Return the cell, the reason if it is a refusal, and who took arrays out of the policy."""
    xp, in_force = (pa.namespace(policy), "array_api") if bound else (pa, policy)
    given = [xp.asarray(array) for array in arrays]
    if not bound:
        with pa.policy(policy):  # where 64-bit arrays may be 32-bit ones
            given = [pa.asarray(array) for array in arrays]
    with pa.policy(in_force), pa.trace() as trace:
        try:
            result = case(*given)
        except Exception as error:
            return (*_refusal(error), set())
    taken = {_shortened(e.consumer) for e in trace.escapes if not e.scalar}
    cell = _written(result, xp) + DIFFERS * _differs(result, expected) + OUTSIDE * bool(taken)
    return cell, "", taken


def _written(result: Any, xp: Any) -> str:
    """The code of a result's dtype; what is no array of ours is called by its type."""
    if isinstance(result, pa.PArray):
        if result.__array_namespace__() is not xp:
            raise AssertionError(f"{result!r} is no array of {xp}")
        return result.dtype.code
    if isinstance(result, (np.ndarray, np.generic)):
        return f"np:{pa.asarray(result).dtype.code}"
    return type(result).__name__


def _differs(result: Any, expected: Any) -> bool:
    """Whether the numbers are others than NumPy's, beyond what rounding in float32 explains."""
    if expected is None:
        return False
    ours, theirs = (np.asarray(x).astype(np.complex128) for x in (result, expected))
    same_shape = ours.shape == theirs.shape
    return not (same_shape and np.allclose(ours, theirs, rtol=5e-3, atol=5e-3, equal_nan=True))


def _refusal(error: Exception) -> tuple[str, str]:
    """What was refused, and where; the reason."""
    place = _place(error.__traceback__)
    if not isinstance(error, pa.PromotionError):
        return f"{type(error).__name__} in {place}", str(error).splitlines()[0]
    operands = ", ".join(str(x).removeprefix("Python ") for x in error.operands)
    reason = error.reason.partition(" (here ")[0]
    return f"{error.operation}({operands}) in {place}", reason


def _place(traceback: TracebackType | None) -> str:
    """The innermost function outside promoarray, with its module."""
    place = "?"
    while traceback is not None:
        frame = traceback.tb_frame
        if not call_site.of_promoarray(frame):
            place = f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"
        traceback = traceback.tb_next
    return _shortened(place)


def _shortened(place: str) -> str:
    """Without where a library keeps its copy of another one, nor what is NumPy's or our own."""
    if place.startswith("numpy."):
        return "numpy"
    for copied in ("array_api_compat.", "array_api_extra."):
        if copied in place:
            place = copied + place.split(copied, 1)[1]
    return "the case itself" if place.startswith("downstream_cases.") else place


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="record, and write the page")
    parser.add_argument("--page", action="store_true", help="write the page of what is recorded")
    args = parser.parse_args(argv)
    if args.page:
        fill(PAGE, of_functions())
        return 0
    if not args.write and Record.read(RECORD).about != installed():
        print(f"recorded with {Record.read(RECORD).about}, installed are {installed()}")
        return 2
    found = run()
    if args.write:
        found.write(RECORD)
        fill(PAGE, of_functions())
        return 0
    different = list(found.differences(Record.read(RECORD)))
    print("\n".join(different) or "as recorded")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
