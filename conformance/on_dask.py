"""Prove lazy arrays on a cluster of worker processes: bits, refusals, memory, lost workers.

    python conformance/on_dask.py                    all proofs, on two workers of 512 MiB
    python conformance/on_dask.py --only bits sums   some of them
    python conformance/on_dask.py --publish          and write their results to docs/distributed.md

Exit status 1 if one fails.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from dask_proof import bits, sums, workers
from dask_proof.cluster import running
from runner import ROOT, commit, fill, markdown, versions

from promoarray.diagnostics.progress import Progress

PAGE = ROOT / "docs" / "distributed.md"
VALUES = np.random.default_rng(5).normal(size=(120, 90)).astype(np.float32)
PEAK = 400
"""MiB that the workers may take together."""


class Result(NamedTuple):
    """One line of the page."""

    name: str
    good: bool
    said: str
    wrong: tuple[str, ...] = ()


def main(arguments: list[str]) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PROOFS, default=list(PROOFS))
    parser.add_argument("--cases", type=int, default=300, help="elementwise, for each policy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args(arguments)
    if options.publish and len(options.only) < len(PROOFS):
        parser.error("--publish needs all proofs")
    results = []
    with Progress() as progress:
        for number, name in enumerate(options.only):
            progress.step(name, number / len(options.only))
            found = PROOFS[name](options)
            results += found
            with progress.away():
                _print(found)
    if options.publish:
        _publish(results, options)
    return 0 if all(result.good for result in results) else 1


def _print(results: list[Result]) -> None:
    for result in results:
        print("ok  " if result.good else "FAIL", f"{result.name}: {result.said}", flush=True)
        for line in workers.labelled(list(result.wrong), 20):
            print("      ", line)


def _bits(options: argparse.Namespace) -> list[Result]:
    operations, casts = bits.NONE, bits.NONE
    with running():
        for i, policy in enumerate(bits.policies()):
            rng = np.random.default_rng((options.seed, i))
            operations += bits.tallied(bits.elementwise(rng, options.cases), policy)
            casts += bits.tallied(bits.casts(rng), policy)
    told = ("operations of two arrays, or an array and a scalar", operations), ("casts", casts)
    return [_told(f"{name}, {len(bits.policies())} policies", tally) for name, tally in told]


def _told(name: str, tally: bits.Tally) -> Result:
    said = (
        f"{tally.equal:,} equal in dtype and bits, {tally.refused:,} refused in the same words, "
        f"{len(tally.differing)} differ"
    )
    return Result(name, not tally.differing, said, tally.differing)


def _sums(options: argparse.Namespace) -> list[Result]:
    exact = bits.NONE
    with running():
        for i, policy in enumerate(sums.POLICIES):
            exact += sums.exactly(np.random.default_rng((options.seed, i)), policy)
        rounded = sums.rounded(np.random.default_rng(options.seed))
    name = "reductions of integers and bools, extremes, positions, running sums, integer matmul"
    within = f"{rounded.equal} within the bound, {len(rounded.differing)} beyond: {sums.BOUND}"
    about = "sums, means, variances of floats"
    return [_told(name, exact), Result(about, not rounded.differing, within, rounded.differing)]


def _workers(options: argparse.Namespace) -> list[Result]:
    found: dict[str, list[bytes]] = {}
    for count in (1, 2, 4):
        with running(count):
            found[f"{count} workers"] = workers.same_sums(VALUES)
    with running(2) as client:
        found["a worker killed"], held = workers.killed(client, VALUES)
    first = found["1 workers"]
    wrong = tuple(name for name, each in found.items() if each != first)
    said = f"the same bits on 1, 2 and 4 workers, and with one killed that held some of {held}"
    return [Result("float sums of the same chunks", not wrong, said, wrong)]


def _travel(options: argparse.Namespace) -> list[Result]:
    with running() as client, tempfile.TemporaryDirectory() as folder:
        sent, stored = workers.wire(client), workers.zarr(client, folder)
    with running(target=0.01) as client:
        spilled, on_disk = workers.spilled(client)
    many = f"{len(workers.EXTENDED)} dtypes that NumPy lacks, bit for bit"
    spilled += [] if on_disk else ["nothing was on disk"]
    return [
        Result("from worker to worker", not sent, many, tuple(sent)),
        Result("to Zarr and back", not stored, many, tuple(stored)),
        Result("spilled", not spilled, f"{many}, {on_disk} blocks on disk", tuple(spilled)),
    ]


def _memory(options: argparse.Namespace) -> list[Result]:
    with running() as client:
        peak, wrong = workers.memory(client)
    said = f"2 GiB through two workers of 512 MiB: {peak:.0f} MiB at most in both, goal {PEAK}"
    return [Result("memory", peak <= PEAK and not wrong, said, (wrong,) if wrong else ())]


def _policies(options: argparse.Namespace) -> list[Result]:
    with running() as client:
        mine, other = workers.policy_of_client(client), workers.other_version(client)
    return [
        Result("a policy that only the client knows", not mine, "holds on workers", tuple(mine)),
        Result("another promoarray on a worker", not other, "is told", tuple(other)),
    ]


PROOFS: dict[str, Callable[..., list[Result]]] = {
    "bits": _bits,
    "sums": _sums,
    "workers": _workers,
    "travel": _travel,
    "memory": _memory,
    "policies": _policies,
}


def _publish(results: list[Result], options: argparse.Namespace) -> None:
    used = versions(("dask", "distributed", "numpy", "zarr"))
    named = ", ".join(f"{name} {number}" for name, number in used.items())
    about = f"{date.today()}, commit {commit()}, seed {options.seed}, {named}; "
    rows = ((r.name, "holds" if r.good else "**fails**", r.said) for r in results)
    table = markdown(["proof", "", "result"], rows)
    fill(PAGE, {"results": f"{about}{platform.machine()}.\n\n{table}"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
