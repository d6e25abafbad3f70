"""Programs of others, as they are and rewritten: the same output, arrays, errors and exit status.

``python conformance/rewritten_programs.py SCRIPT...`` runs each as it is, and recorded. What
differs from one run to the next is left out. At the end each program prints a digest of its arrays,
as most of a gallery only draw.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from promoarray.diagnostics.progress import Progress

ENDING = """
def _told():
    import hashlib, numpy
    for name, x in sorted(globals().items()):
        if isinstance(x, (numpy.ndarray, numpy.generic)) and not x.dtype.hasobject:
            told = hashlib.sha256(numpy.ascontiguousarray(x).tobytes()).hexdigest()[:12]
            print(name, type(x).__name__, x.dtype, x.shape, told)
_told()
"""

RECORDED = """
import sys
from promoarray.diagnostics.record.numpy.running import recorded_run
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.promotion.registry import as_policy
run = as_policy("numpy@2")
recorder = Recorder(run, (run, as_policy("numpy@1")))
try:
    recorded_run(sys.argv[1], recorder, packages=sys.argv[3:])
finally:
    with open(sys.argv[2], "w") as told:
        kinds = [kind for (kind, _), n in recorder.report.calls.items() for _ in range(n)]
        unknown = sorted(n for kind, n in recorder.report.calls if kind == "unknown")
        drift = "; ".join(recorder.report.drifted())
        told.write(f"{len(kinds)}\\t{kinds.count('unknown')}\\t{' '.join(unknown)}\\t{drift}")
"""


def ran(command: list[str], folder: str, limit: float) -> tuple[int, str, str]:
    """The exit status, the output, and the last line of what a program said of errors."""
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, cwd=folder, env=environment
        )
    except subprocess.TimeoutExpired:
        return -1, "", "too long"
    said = told.stderr.strip().splitlines()
    return told.returncode, told.stdout, said[-1] if told.returncode and said else ""


def compared(script: Path, limit: float, packages: list[str]) -> tuple[str, str]:
    """What came of a program, in a word, and what was recorded."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / script.name
        for beside in script.parent.glob("*.py"):
            shutil.copy(beside, folder)
        copied.write_bytes(script.read_bytes() + ENDING.encode())
        bare = ran([sys.executable, str(copied)], folder, limit)
        if bare[0] != 0:
            return "fails as it is", bare[2]
        told = Path(folder) / "told"
        command = [sys.executable, "-c", RECORDED, str(copied), str(told), *packages]
        recorded = ran(command, folder, 4 * limit)
        found = told.read_text() if told.exists() else ""
        if recorded == bare:
            return "same", found
        if bare != ran([sys.executable, str(copied)], folder, limit):
            return "another each time", ""
        lines = zip(recorded[1].splitlines(), bare[1].splitlines(), strict=False)
        first = next((f"{a!r} not {b!r}" for a, b in lines if a != b), "")
        return "DIFFERS", f"{recorded[0]} {recorded[2]} {first} {found}"


def main() -> int:
    """Compare every program that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scripts", nargs="+", type=Path)
    parser.add_argument("--limit", type=float, default=30, help="seconds for one run as it is")
    parser.add_argument("--packages", nargs="*", default=[], help="libraries to rewrite as well")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    with Progress() as progress:
        for number, script in enumerate(args.scripts):
            progress.step(script.name, number / len(args.scripts))
            word, found = compared(script, args.limit, args.packages)
            counts[word] += 1
            with progress.away():
                print(f"{script.name}\t{word}\t{found}", flush=True)
    print(dict(counts))
    return counts["DIFFERS"]


if __name__ == "__main__":
    sys.exit(main())
