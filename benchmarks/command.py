"""Measure how fast promoarray is, chapter by chapter, beside its peers.

    python -m benchmarks --peers torch,jax,paddle      everything, for an hour
    python -m benchmarks --chapter dispatch --quick    one chapter, roughly
    python -m benchmarks --json FILE --plots DIR       for benchmarks/check.py, and pictures

NumPy with ml_dtypes is always a peer; one that is not installed is named and left out. Nothing is
asserted: a time is a measurement, not a test.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from check import FORMAT
from machine import describe, load
from passes import CHAPTERS, Asked, run
from peers import PEERS
from report import print_run


def names(known: dict[str, object], what: str) -> object:
    """Return a type for argparse: names with commas between."""

    def split(text: str) -> tuple[str, ...]:
        found = tuple(filter(None, text.split(",")))
        if unknown := sorted({*found} - {*known}):
            message = f"no {what} {', '.join(unknown)}; there are {', '.join(known)}"
            raise argparse.ArgumentTypeError(message)
        return found

    return split


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--peers", type=names(PEERS, "peer"), default=(), metavar="NAMES", help=", ".join(PEERS)
    )
    parser.add_argument(
        "--chapter",
        type=names(CHAPTERS, "chapter"),
        default=tuple(CHAPTERS),
        metavar="NAMES",
        help=", ".join(CHAPTERS),
    )
    parser.add_argument("--only", default="", help="lines whose name has this")
    parser.add_argument("--quick", action="store_true", help="fewer elements, shorter")
    parser.add_argument("--passes", type=int, help="over each chapter (5; quick 3)")
    parser.add_argument("--lot", default="", help="any word: other lines of chapter operations")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="needs matplotlib")
    options = parser.parse_args(arguments)
    passes = options.passes or (3 if options.quick else 5)
    asked = Asked(options.chapter, options.peers, options.quick, passes, options.only, options.lot)
    machine = describe(options.peers) | {
        "passes": passes,
        "quick": options.quick,
        "lot": options.lot,
    }
    found = run(asked, lambda text: print(text, file=sys.stderr, flush=True))
    machine["load after"] = load()
    result = {"format": FORMAT, "machine": machine, **found}
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print_run(result)
    if options.plots:
        from plots import draw

        draw(result, options.plots)
    return 0
