"""Run ``promoarray why`` on programs in the shape of public threads that stop over a dtype.

``python -m conformance.stops [NAME ...]`` prints those of ``public_stops`` that are not explained:
with the call, and an edit with which the program was run to its end. Each says where its thread is.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS = Path(__file__).parent / "public_stops"


def said(path: Path) -> str:
    """Return what the command prints of a program."""
    command = [sys.executable, "-m", "promoarray", "why", path.name]
    found = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, check=False)
    return found.stdout + (found.stderr if found.returncode != 1 else "")


def is_explained(text: str) -> bool:
    """Return whether a report has an edit that was checked."""
    return " refuses " in text and "checked: with it, the program runs to its end" in text


def main() -> int:
    """Ask, and print the programs that are not explained."""
    paths = sorted(p for p in PROGRAMS.glob("*.py") if not sys.argv[1:] or p.stem in sys.argv[1:])
    with ThreadPoolExecutor(2) as threads:
        texts = [*threads.map(said, paths)]
    for path, text in zip(paths, texts, strict=True):
        if not is_explained(text):
            print(f"== {path.stem}\n{text}")
    print(f"{sum(map(is_explained, texts))} of {len(texts)} explained")
    return any(not is_explained(text) for text in texts)


if __name__ == "__main__":
    sys.exit(main())
