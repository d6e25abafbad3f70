"""NumPy programs of before NumPy 2 ported to it, and run in both.

    python conformance/port_numpy.py --numpy1 PYTHON --numpy2 PYTHON --write [PROGRAM...]

Each program, as it is, runs in NumPy 1.26; ``promoarray port --from numpy@1 --to numpy@2`` edits
it, which looks at NumPy 2 alone; the edited program runs in NumPy 2, and in NumPy 1.26 again. What
each ends with is compared: dtypes, and values within a few last places, as NumPy's own functions
differ in these. ``--write`` puts the table into docs/ported.md. Exit status 1 if a dtype or a value
differs though ``port`` said that the program agrees, unless that is ``KNOWN``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from runner import ROOT, fill, markdown

from promoarray.diagnostics.progress import Progress

PAGE = ROOT / "docs" / "ported.md"
PROGRAMS = ROOT / "conformance" / "numpy1_programs"
HEAD = (
    *("program", "values", "casts", "what `port` says"),
    *("original in NumPy 2", "ported, in NumPy 2", "ported, in NumPy 1.26"),
)
KNOWN = {
    "geometry.py": "NumPy 1.26 has a rule of its own for squares: of a scalar, "
    "`np.float32(3) ** 2`, they are float64, of a 0-d array float32. Both are 0-d operands to the "
    "policy `numpy@1`, which has the array's rule.",
    "text_codes.py": "A line that is passed with scalars whose values need casts of their own is "
    "left as it is, and `port` says so. Here a cast at the end has the same bytes either way.",
}
"""Where ``port`` is not right, or says that it is not, and why."""
PLACES = 4
"""So many last places values may differ by."""

WORKER = ROOT / "conformance" / "port_examples_worker.py"


class Ended(NamedTuple):
    """How a program ended.

    Attributes
    ----------
    error : str
    found : dict
        From the name of each global to its dtype, its shape and its values.
    """

    error: str
    found: dict[str, Any]


def ended(python: str, program: Path) -> Ended:
    """Run a program as it is."""
    command = [python, str(WORKER), "plain", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    found = {name: x for name, x in told["final"].items() if name[0] != "_"}
    return Ended(told["error"], {} if told["error"] else found)


def ported(program: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Port a program; return the edited one, and what the command told."""
    edited = folder / program.name
    edited.write_bytes(program.read_bytes())
    command = ["port", str(edited), "--from", "numpy@1", "--to", "numpy@2", "--write", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "promoarray", *command], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        raise SystemExit(f"{program}: {done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout)
    return edited, told


def differing(wanted: Ended, given: Ended) -> list[str]:
    """Say where a program does not end as it shall."""
    said = [f"stopped: {given.error}"] if given.error != wanted.error else []
    for name, (dtype, shape, values) in wanted.found.items():
        if name not in given.found:
            continue  # it stopped before
        its, its_shape, others = given.found[name]
        if its != dtype or its_shape != shape:
            said.append(f"{name} {its}")
        elif not _close(dtype, np.asarray(values), np.asarray(others)):
            said.append(f"{name}: other values")
    return said


def _close(dtype: str, a: Any, b: Any) -> bool:
    """Whether values are equal; of floats, but for a few last places of the largest."""
    if dtype not in ("float16", "float32", "float64", "float"):
        return bool((a == b).all())
    step = np.finfo("float64" if dtype == "float" else dtype).eps * np.abs(a).max(initial=0)
    return bool((np.abs(a - b) <= PLACES * step).all())


def row(program: Path, one: str, two: str) -> tuple[tuple[str, ...], bool]:
    """One program: its cells, and whether what ``port`` says of it is so."""
    with tempfile.TemporaryDirectory() as folder:
        edited, told = ported(program, Path(folder))
        wanted = ended(one, program)
        before = differing(wanted, ended(two, program))
        after = differing(wanted, ended(two, edited))
        again = differing(wanted, ended(one, edited))
    casts = sum(len(edit["casts"]) for edit in told["edits"])
    names = [f"{len(wanted.found)}", str(casts)]
    cells = ["; ".join(each) or "as in NumPy 1" for each in (before, after, again)]
    verdict = "agrees" if told["agrees"] else "does not agree"
    wrong = bool(after or again) and told["agrees"] and program.name not in KNOWN
    return (program.name, *names, verdict, *cells), not wrong


def main() -> int:
    """Run all; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--numpy1", metavar="PYTHON", required=True, help="a Python with 1.26")
    parser.add_argument("--numpy2", metavar="PYTHON", default=sys.executable)
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/ported.md")
    options = parser.parse_args()
    rows, failed = [], False
    programs = options.programs or sorted(PROGRAMS.glob("*.py"))
    with Progress() as progress:
        for number, program in enumerate(programs):
            progress.step(program.name, number / len(programs))
            cells, right = row(program, options.numpy1, options.numpy2)
            with progress.away():
                print(*cells, sep=" | ", flush=True)
            rows.append(cells)
            failed |= not right
    if options.write:
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
        remarks = "\n".join(f"`{name}`: {why}" for name, why in KNOWN.items())
        fill(PAGE, {"NumPy 1 programs": f"{markdown(HEAD, escaped)}\n{remarks}\n"})
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
