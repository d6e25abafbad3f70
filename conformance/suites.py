"""Run the test suites of SciPy, scikit-learn and array-api-extra with promoarray as a back end.

    python conformance/suites.py                                    all, under the default policy
    python conformance/suites.py --suite scipy --module fft         one module of one suite
    python conformance/suites.py --policy numpy --policy torch      arrays bound to torch besides
    python conformance/suites.py --policy jax --alone               without the others beside it
    python conformance/suites.py --json runs.json                   keep what was found
    python conformance/suites.py --read runs.json --write           publish it in docs/downstream.md

NumPy's own namespace and array-api-strict run beside it. Exit status 0 if nothing fails without a
reason (`suites_gate.py`), 1 if something does, 2 if a suite cannot run. All of it takes about an
hour; with `--json`, what is done is written after each module.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import downstream_page
import suites_gate as gate
import suites_record as record
import suites_report as report
import suites_run
from rich.console import Console
from suites_backends import backend_of
from suites_suite import SUITES, SuiteError

from promoarray.console import console as console_for
from promoarray.console import show
from promoarray.diagnostics.progress import Progress
from promoarray.errors import UnknownPolicyError

POLICIES = ("numpy", "torch", "jax", "paddle")
"""What the page is published with."""


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = made.add_argument
    add("--suite", action="append", choices=SUITES, help="one suite only; may be repeated")
    add("--module", action="append", metavar="NAME", help="one module only; may be repeated")
    add("--modules", action="store_true", help="list the suites' modules, and run nothing")
    add("--policy", action="append", metavar="NAME", help="default numpy: promoarray itself")
    add("--alone", action="store_true", help="no NumPy and array-api-strict beside them")
    add("--workers", "-n", type=int, default=1, help="processes")
    add("--select", "-k", metavar="EXPRESSION", default="", help="pytest's -k")
    add("--limit", type=float, default=3600, metavar="SECONDS", help="for one module")
    add("--read", metavar="FILE", action="append", default=[], help="add the runs --json wrote")
    add("--json", metavar="FILE", help="write the runs as JSON")
    add("--write", action="store_true", help="record the runs, and publish the page")
    return made


def wanted(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the suites and modules to run.

    Raises
    ------
    SuiteError
        If a suite is missing, or has no such module.
    """
    if options.read and not (options.suite or options.module):
        return []
    modules = {name: [*SUITES[name].modules()] for name in options.suite or SUITES}
    every = {module for names in modules.values() for module in names}
    if missing := set(options.module or ()) - every:
        raise SuiteError(f"no module {', '.join(sorted(missing))}; there are {sorted(every)}")
    return [
        (suite, module)
        for suite, names in modules.items()
        for module in names
        if not options.module or module in options.module
    ]


def perform(options: argparse.Namespace, console: Console) -> Iterator[suites_run.Run]:
    """Do the runs, a module at a time."""
    backends = list(dict.fromkeys(map(backend_of, options.policy or ["numpy"])))
    todo = wanted(options)
    for number, (suite, module) in enumerate(todo, 1):
        title = f"[{number}/{len(todo)}] {suite} {module}"
        with Progress(title) as progress:
            progress.step(done=(number - 1) / len(todo))
            run = suites_run.run(
                SUITES[suite],
                module,
                backends,
                alone=options.alone,
                workers=options.workers,
                select=options.select,
                limit=options.limit,
            )
        console.print(f"{title} {run.seconds:.0f} s", markup=False)
        if run.cases:
            yield run


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parser().parse_args(words)
    console, errors = console_for(), console_for(sys.stderr)
    runs: list[suites_run.Run] = []
    try:
        if options.modules:
            for name, suite in SUITES.items():
                console.print(f"{name}: {', '.join(suite.modules())}", markup=False)
            return 0
        for name in options.read:
            found = json.loads(Path(name).read_text(encoding="utf-8"))
            runs = record.joined([*runs, *map(suites_run.Run.from_json, found)])
        for run in perform(options, console):
            runs = record.joined([*runs, run])
            if options.json:
                text = json.dumps([run.as_json() for run in runs], indent=1)
                Path(options.json).write_text(text + "\n", encoding="utf-8")
    except (SuiteError, UnknownPolicyError, OSError, ValueError) as error:
        errors.print(f"suites.py: {error}", markup=False, soft_wrap=True)
        return 2
    verdicts = [line for run in runs for line in gate.verdict(run)]
    for table in report.tables(runs):
        show(table)
    for line in (*verdicts, *(f"note: {note}" for run in runs for note in gate.notes(run))):
        console.print(line, markup=False, soft_wrap=True)
    if options.write:
        record.write(runs)
        downstream_page.PAGE.write_text(downstream_page.page(), encoding="utf-8")
    return int(bool(verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
