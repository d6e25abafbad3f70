"""Measure how fast promoarray is, chapter by chapter, beside its peers.

    python -m benchmarks                                   everything; --chapter dispatch for one
    python -m benchmarks --quick --only exp                roughly, lines whose name has this
    python -m benchmarks --json run.json --write           keep it, and write docs/speed.md
    python -m benchmarks --read run.json --write           write what was kept
    python -m pyperf compare_to before.json after.json     tell what a change made slower

It takes the extra ``benchmarks``. PyTorch and JAX are peers where they are installed. Nothing is
asserted: a time is a measurement, not a test.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# The tree's own promoarray would hide the installed one, which is what is measured.
sys.path[0] = str(Path(__file__).resolve().parent)

import page  # noqa: E402
import pyperf  # noqa: E402
from measure import CHAPTERS, Options, joined, suite  # noqa: E402
from peers import PEERS  # noqa: E402


def main() -> int:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--chapter", action="append", choices=[*CHAPTERS], help="one only; may be repeated")
    add("--peers", default=",".join(PEERS), metavar="NAMES", help="default: %(default)s")
    add("--only", default="", metavar="TEXT", help="lines whose name has this")
    add("--quick", action="store_true", help="fewer elements, one process")
    add("--processes", type=int, help="that measure each chapter (5; quick 1)")
    add("--json", metavar="FILE", help="write what was measured, as pyperf has it")
    add("--read", metavar="FILE", action="append", default=[], help="what --json wrote")
    add("--write", action="store_true", help=f"put the chapters into {page.PAGE.name}")
    options = parser.parse_args()
    peers = tuple(filter(None, options.peers.split(",")))
    if unknown := {*peers} - {*PEERS}:
        parser.error(f"no peer {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    if options.read:
        found, failed = joined([pyperf.BenchmarkSuite.load(name) for name in options.read]), {}
    else:
        asked = Options(peers, options.quick, options.only)
        processes = options.processes or (1 if options.quick else 5)
        chapters = options.chapter or [*CHAPTERS]
        found, failed = suite(chapters, asked, processes, lambda text: print(text, file=sys.stderr))
    for chapter, why in failed.items():
        print(f"{chapter} was not measured: {why}", file=sys.stderr)
    if found is None:
        return 2
    if options.json:
        found.dump(options.json, replace=True)
    print(page.text(found))
    if options.write:
        page.write(found)
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
