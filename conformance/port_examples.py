"""The examples ported, and run again in the real frameworks.

    python conformance/port_examples.py --torch PYTHON --jax PYTHON --numpy PYTHON --write

Each program of ``examples/`` is ported from NumPy 2, or from what it is written for, to each
policy, which compares the runs of the edited program under promoarray; then the original and the
edited program run in the real NumPy, PyTorch and JAX, where that framework's environment is given,
and their arrays at the end are compared with those of the program under promoarray's policy.
``--write`` puts the table into docs/ported.md; of programs that were not named it keeps the rows.
Exit status 1 if a dtype differs after porting.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
from runner import ROOT, fill, markdown

from promoarray.diagnostics.edits.planner import Port
from promoarray.diagnostics.model.final import Final
from promoarray.diagnostics.port.ported import Ported, Runner
from promoarray.diagnostics.port.porting import Work
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.run.program import StandardInput, of_script
from promoarray.promotion.registry import as_policy

PAGE = ROOT / "docs" / "ported.md"
TARGETS = ("torch@2.13", "jax@x64", "paddle@3.3", "aclnn@8.5", "numpy@2")
WRITTEN_FOR = {"telemetry.py": "numpy@1"}
"""The policies of programs that do not run under NumPy 2."""
MADE = {"telemetry_ported.py"}
"""Programs that ``promoarray port`` has made."""
REAL = {"torch@2.13": "torch", "jax@x64": "jax", "numpy@2": "numpy"}
TOLERANCE = {"jax@x64": 2e-3}
"""XLA divides by a scalar as a product with its reciprocal, one last place apart; after that a
float16 may be rounded to its neighbour."""


HEAD = ("program", "to", "casts", "under the policy", "original in the framework", "ported")


class InFramework(NamedTuple):
    """How a program ended in a real framework, compared with the run under promoarray.

    Attributes
    ----------
    error : str
    dtypes : list of str
        The names of what has another dtype.
    largest : float
        The largest difference of values, as a part of the largest of its array.
    compared : int
    """

    error: str
    dtypes: list[str]
    largest: float
    compared: int


def written_for(example: Path) -> str:
    """The policy that an example is ported from."""
    return WRITTEN_FOR.get(example.name, "numpy@2")


def ported(example: Path, target: str) -> Ported:
    """Port an example from the policy that it is written for."""
    run = written_for(example)
    with tempfile.TemporaryFile() as kept:
        runner = Runner(of_script(str(example), []), StandardInput(kept))
        port = Port(as_policy(run), (as_policy(target),))
        first = runner(run, (target,))
        if first.stopped:
            raise SystemExit(f"{example}: {first.stopped}")
        others = () if target == run else port.policies
        folders = (example.parent,)
        tolerance = TOLERANCE.get(target, 0.0)
        work = Work(runner, port._replace(policies=others), run, first, folders, tolerance)
        return work.ported()


def in_framework(
    framework: str, python: str, program: Path, text: bytes, wanted: dict[str, Final]
) -> InFramework:
    """Run a text in place of a program under a real framework."""
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder)
        (beside / program.name).write_bytes(text)
        (beside / "data").symlink_to(program.parent / "data")
        (beside / "path").mkdir()
        compat = Path(array_api_compat.__file__).parent
        (beside / "path" / "array_api_compat").symlink_to(compat)
        worker = ROOT / "conformance" / "port_examples_worker.py"
        done = subprocess.run(
            [python, str(worker), framework, str(beside / program.name)],
            env=os.environ | {"PYTHONPATH": str(beside / "path")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    if done.returncode:
        return InFramework(done.stderr.strip().splitlines()[-1], [], 0.0, 0)
    told = json.loads(done.stdout.splitlines()[-1])
    return _compared(told["error"], told["final"], wanted)


def _compared(error: str, found: dict[str, Any], wanted: dict[str, Final]) -> InFramework:
    dtypes, largest, compared = [], 0.0, 0
    for name, mine in wanted.items():
        if name not in found or mine.values is None or mine.library == "NumPy":
            continue
        compared += 1
        dtype, _, values = found[name]
        if dtype != mine.type:
            dtypes.append(f"{name} {dtype}")
        its, ours = np.asarray(values), mine.values.astype(np.float64).ravel()
        if its.shape == ours.shape and ours.size:
            with np.errstate(all="ignore"):
                apart = np.where((its == ours) | (np.isnan(its) & np.isnan(ours)), 0, its - ours)
            size = np.abs(ours[np.isfinite(ours)]).max(initial=0) or 1.0
            largest = max(largest, float(np.abs(np.nan_to_num(apart, nan=np.inf)).max() / size))
    return InFramework(error, dtypes, largest, compared)


def main() -> int:
    """Run all; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for framework in REAL.values():
        parser.add_argument(f"--{framework}", metavar="PYTHON", help="its environment's Python")
    parser.add_argument("names", metavar="NAME", nargs="*", help="these examples; default: all")
    parser.add_argument("--write", action="store_true", help="write docs/ported.md")
    options = parser.parse_args()
    rows, failed = [], False
    examples = [
        path
        for path in sorted((ROOT / "examples").glob("*.py"))
        if path.name not in MADE and (not options.names or path.stem in options.names)
    ]
    asked = list(product(examples, TARGETS))
    with Progress() as progress:
        for number, (example, target) in enumerate(asked):
            progress.step(f"{example.name} to {target}", number / len(asked))
            done = ported(example, target)
            text = done.changed[0][1].data if done.changed else example.read_bytes()
            cells = [_cell(done, target)]
            framework = REAL.get(target, "")
            python = getattr(options, framework) if framework else None
            if python:
                for each in (example.read_bytes(), text):
                    real = in_framework(framework, python, example, each, done.final)
                    cells.append(_real_cell(real))
                failed = failed or bool(real.dtypes)
            failed = failed or not done.agrees
            casts = sum(len(edit.wraps) for edit in done.edits)
            rows.append((example.name, target, str(casts), *cells, *[""] * (3 - len(cells))))
            with progress.away():
                print(*rows[-1], sep=" | ", flush=True)
    if options.write:
        fill(PAGE, {"examples": _table(rows)})
    return int(failed)


def _cell(done: Ported, target: str) -> str:
    if done.agrees:
        within = TOLERANCE.get(target)
        return f"{len(done.final)} values agree" + (f" within {within:g}" if within else "")
    return "; ".join(
        each.stopped or f"{d.name}: {d.words}"
        for each in done.checked
        for d in (each.unequal or (each,))
        if not each.agrees
    )


def _known() -> list[tuple[str, ...]]:
    """The rows of the page as it is."""
    own = PAGE.read_text(encoding="utf-8").partition("<!-- end of examples -->")[0]
    table = [line for line in own.splitlines() if line[:1] == "|"]
    cells = [re.split(r" (?<!\\)\| ", line[2:-2]) for line in table[2:]]
    return [tuple(cell.strip().replace("\\|", "|") for cell in row) for row in cells]


def _real_cell(real: InFramework) -> str:
    said = [f"{real.compared} compared"] if real.compared else []
    said += [f"other dtypes: {', '.join(real.dtypes)}"] if real.dtypes else []
    said += [f"values within {real.largest:.1g}"] if real.compared else []
    said += [f"stopped: {real.error}"] if real.error else []
    return "; ".join(said)


def _table(rows: list[tuple[str, ...]]) -> str:
    ran = {row[0] for row in rows}
    every = sorted([*rows, *(row for row in _known() if row[0] not in ran)], key=lambda row: row[0])
    return markdown(HEAD, ([cell.replace("|", "\\|") for cell in row] for row in every))


if __name__ == "__main__":
    sys.exit(main())
