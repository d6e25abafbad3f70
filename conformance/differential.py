"""Run random programs under a real framework and under promoarray, and tell where they differ.

    python conformance/differential.py torch --cases 20000 --seed 7
    python conformance/differential.py numpy --python ~/numpy1/bin/python
    python conformance/differential.py torch --cases 20000 --publish       a row of the docs' page
    python conformance/differential.py torch --cases 20000 --record 2000  keep answers for the tests
    python conformance/differential.py --replay                compare with all that was kept

``--record N`` keeps the first N programs, and of the others those that differ, so that each reason
in `departures.toml` has a case. ``--publish`` writes docs/differential.md.

The framework runs in the environment of the interpreter named by ``--python``, by default this
one. Differences are shrunk, grouped and counted; those that `departures.toml` gives a reason for
are counted apart. Exit status 1 if any other is left.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import departures
from programs import generate, published, recorded
from programs.compare import Difference, difference
from programs.live import Live
from programs.ours import Ours
from programs.shrink import smallest

from promoarray.diagnostics.progress import Progress

Asked = Iterable[tuple[str, list[str]]]


def main(arguments: list[str]) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("framework", nargs="?", help="a module of programs/frameworks, @edition")
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--python", default=sys.executable, help="of the framework's environment")
    parser.add_argument("--record", type=int, metavar="N", help="keep the answers to N programs")
    parser.add_argument("--publish", action="store_true", help="write a row of the docs' page")
    parser.add_argument("--replay", action="store_true", help="compare with what was kept")
    parser.add_argument("--shown", type=int, default=40, help="how many classes to print")
    parser.add_argument("--only", default="", help="classes of this operation, each case of them")
    options = parser.parse_args(arguments)
    if options.replay:
        names = [options.framework] if options.framework else kept()
        return max(_replayed(name, options) for name in names)
    live = Live(options.framework, options.python)
    try:
        return _run(options.framework, live, options)
    finally:
        live.close()


def kept() -> list[str]:
    """The names of what was kept."""
    return sorted(path.name.removesuffix(".txt.xz") for path in recorded.GOLDEN.glob("*.txt.xz"))


def _generated(live: Live, count: int, seed: str) -> Iterable[str]:
    return generate.programs(seed, count, live.described)


def _run(name: str, live: Live, options: argparse.Namespace) -> int:
    ours = Ours(live.described["policy"])

    def asked(program: str) -> Difference | None:
        return difference(program, live(program), ours(program))

    programs = _generated(live, options.cases, options.seed)
    answered = []
    with Progress(f"{name}: {options.cases} programs") as progress:
        for number, program in enumerate(programs, 1):
            answered.append((program, live(program)))
            progress.step(done=number / options.cases)
        progress.step(f"{name}: computing the same here")
        found, count = _differences(answered, ours)
    said = {**live.described, "seed": options.seed}
    print(f"{name}: {said['version']}, policy {said['policy']}, seed {said['seed']}")
    status = _told(name, found, count, options, asked)
    if options.record:
        differing = {each.program for each in found}
        rest = ((p, a) for p, a in answered[options.record :] if differing & set(_heads(p)))
        path = recorded.write(name, said, [*answered[: options.record], *rest])
        print(f"{path.name}: {path.stat().st_size >> 10} KiB")
    if options.publish:
        left, _ = unexplained(name, found)
        published.write(name, said, count, len(found) - len(left), len(left))
    return status


def _heads(program: str) -> Iterable[str]:
    """A program cut off behind each of its lines, as differences quote it."""
    lines = program.splitlines()
    return ("\n".join(lines[:end]) for end in range(1, len(lines) + 1))


def _replayed(name: str, options: argparse.Namespace) -> int:
    meta, asked = recorded.read(name)
    with Progress(f"{name}: {meta['version']}, as recorded"):
        found, count = _differences(asked, Ours(meta["policy"]))
    print(f"{name}: {meta['version']}, policy {meta['policy']}, as recorded")
    return _told(name, found, count, options, None)


def _differences(asked: Asked, ours: Ours) -> tuple[list[Difference], int]:
    found, count = [], 0
    for program, answers in asked:
        unanswered = answers and answers[-1].startswith("?")
        count += not unanswered
        differs = difference(program, answers, ours(program))
        if differs:
            found.append(differs)
    return found, count


def unexplained(name: str, found: Iterable[Difference]) -> tuple[list[Difference], Counter[str]]:
    """Those without a reason, and how often each reason holds."""
    reasons: Counter[str] = Counter()
    left = []
    entries = departures.read("programs")
    for each in found:
        entry = next((entry for entry in entries if entry.covers(name, each[:4])), None)
        if entry is None:
            left.append(each)
        else:
            reasons[" ".join(entry.reason.split())] += 1
    return left, reasons


def _told(
    name: str,
    found: list[Difference],
    count: int,
    options: argparse.Namespace,
    asked: Callable[[str], Difference | None] | None,
) -> int:
    left, reasons = unexplained(name, found)
    for reason, times in reasons.most_common():
        print(f"  {times:5} {reason}")
    groups: dict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    for each in left:
        groups[each.group].append(each)
    ranked = sorted(groups.values(), key=len, reverse=True)
    for cases in ranked[: options.shown]:
        if options.only and cases[0].operation != options.only:
            continue
        case = min(cases, key=lambda each: len(each.program))
        case = smallest(case, asked) if asked else case
        pairs = " | ".join(dict.fromkeys(each.operands for each in cases))
        print(f"\n  {len(cases)} x {case.operation}, {case.kind}, {case.detail}: {pairs[:200]}")
        for one in cases if options.only else [case]:
            print("      " + one.program.replace("\n", "\n      "))
            print(f"      theirs {one.theirs[:150]}\n      ours   {one.ours[:150]}")
    if len(ranked) > options.shown:
        print(f"\n  and {len(ranked) - options.shown} more classes")
    agree = count - len(found)
    print(
        f"{name}: {count} programs, {agree / max(count, 1):.2%} agree,"
        f" {len(found) - len(left)} departures, {len(left)} differ"
    )
    return int(bool(left))


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)
