"""Run array-api-tests, the suite of the standard's own authors, on the namespace of each policy.

    python conformance/array_api.py                     the gate: the policies it is set for
    python conformance/array_api.py --policy torch      one policy, plain and with its own table
    python conformance/array_api.py --policy all --write docs/conformance.md
    python conformance/array_api.py --policy numpy --mode plain --device cuda:0
    python conformance/array_api.py --device dask --examples 200 --publish
    python conformance/array_api.py --device dask --chunk 2
    python conformance/array_api.py --seed 7            other examples than the published ones

Exit status 0 if what must hold of every run holds (`array_api_gate.py`), 1 if not, 2 if the suite
cannot run. The suite is a checkout of data-apis/array-api-tests: `--suite DIR`,
`ARRAY_API_TESTS_DIR`, or `--clone`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import array_api_gate as gate
import array_api_lazily as lazily
import array_api_report as report
import array_api_run as suite_run
import array_api_suite as suites

from promoarray.console import console as console_for
from promoarray.console import show
from promoarray.diagnostics.progress import Progress
from promoarray.errors import UnknownPolicyError
from promoarray.policies import as_policy, list_policies

MODES = ("plain", "table")


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = made.add_argument
    add("--suite", metavar="DIR", help="the checkout of array-api-tests")
    add("--clone", action="store_true", help="clone the pinned commit with its submodule first")
    add("--policy", action="append", default=[], help="a policy, or `all`; may be repeated")
    add("--mode", choices=MODES, help="one of the two modes only")
    add("--namespace", metavar="MODULE", help="run a module in place of the policy's namespace")
    add("--device", help="put new arrays there by default, such as cuda:0 or dask")
    add("--chunk", type=_positive, help="of lazy arrays: elements of a block along each axis")
    add("--publish", action="store_true", help="write the runs on dask to docs/distributed.md")
    add("--examples", type=_positive, default=300, help="examples for each test that draws them")
    add("--seed", type=int, help="draw other examples; without it a run is always the same")
    add("--workers", type=int, default=0, help="processes; 0: as many as there are processors")
    add("--select", metavar="EXPRESSION", default="", help="pytest's -k; no gate then")
    add("--read", metavar="FILE", action="append", default=[], help="add the runs --json wrote")
    add("--json", metavar="FILE", help="write the runs as JSON")
    add("--html", metavar="FILE", help="write the page as HTML")
    add("--markdown", "--write", metavar="FILE", help="write the page as Markdown")
    add("--accept", action="store_true", help="add proven refusals to the lists in array_api/")
    return made


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)


def editions() -> list[str]:
    """Return every policy, of ONNX's opsets only the default."""
    names = (name for name in list_policies() if not name.startswith("onnx@"))
    return [*names, as_policy("onnx").name]


Wanted = tuple[str | None, str, str | None]
"""A policy, a mode, and the module in place of the policy's own namespace."""


def wanted(options: argparse.Namespace) -> list[Wanted]:
    """Return the runs to do.

    Raises
    ------
    UnknownPolicyError
        If there is no such policy.
    """
    module = options.namespace
    if options.device:
        module, os.environ["PROMOARRAY_TESTED_DEVICE"] = "array_api_device", options.device
        os.environ["PROMOARRAY_TESTED_CHUNK"] = str(options.chunk or 0)
        if not options.policy:
            return [(as_policy("numpy").name, "plain", module)]
    if module and not module.startswith("promoarray") and not options.policy:
        return [(None, "plain", module)]
    if not options.policy and options.read:
        return []
    names = options.policy or list(gate.GATED)
    names = [n for name in names for n in (editions() if name == "all" else [as_policy(name).name])]
    runs: list[Wanted] = []
    for name in dict.fromkeys(names):
        modes = gate.GATED.get(name, MODES) if not options.policy else MODES
        runs += [(name, mode, module) for mode in modes if options.mode in (None, mode)]
    default = as_policy("numpy").name
    if module is None and options.mode != "table" and options.policy in ([], ["all"]):
        # The module itself is a namespace too, under the policy of the process.
        runs.append((default, "plain", "promoarray"))
    return runs


def perform(
    suite: suites.Suite, runs: Sequence[Wanted], options: argparse.Namespace
) -> Iterator[suite_run.Run]:
    """Do the runs, and show each one's table when it is over."""
    commit = suites.commit()
    for number, (policy, mode, module) in enumerate(runs, 1):
        title = f"[{number}/{len(runs)}] {policy or module}, {mode}"
        with Progress(title) as progress:
            tests = done = failed = 0

            def heard(
                event: dict[str, Any], title: str = title, progress: Progress = progress
            ) -> None:
                nonlocal tests, done, failed
                tests = event.get("tests", tests)
                if "id" in event:
                    done += 1
                    failed += event["outcome"] in ("failed", "error")
                    said = f"{title}: {done} of {tests} tests" + f", {failed} failed" * bool(failed)
                    progress.step(said, done / max(tests, done))

            run = suite_run.run(
                suite,
                policy,
                mode,
                namespace=module,
                examples=options.examples,
                seed=options.seed,
                workers=options.workers,
                xfails=gate.known(policy, options.device or "", options.chunk),
                select=options.select,
                heard=heard,
            )
            if options.device:
                told = {"device": options.device, "chunk": options.chunk, "commit": commit}
                run.about |= told
        show(report.table(run))
        yield run


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parser().parse_args(words)
    console, errors = console_for(), console_for(sys.stderr)
    runs: list[suite_run.Run] = []
    try:
        runs = [
            suite_run.Run.from_json(run)
            for name in options.read
            for run in json.loads(Path(name).read_text(encoding="utf-8"))
        ]
        todo = wanted(options)
        if todo:
            suites.require()
            suite = suites.clone() if options.clone else suites.find(options.suite)
            if suite.departure():
                errors.print(f"[yellow]note:[/] {suite.departure()}")
            runs += perform(suite, todo, options)
    except (suites.SuiteError, UnknownPolicyError, OSError, ValueError) as error:
        errors.print(f"array_api.py: {error}", markup=False, soft_wrap=True)
        if runs:
            save(runs, options)
        return 2
    if options.accept:
        for path in gate.accept(runs):
            console.print(f"wrote {path}")
    verdicts = [[] if options.select else gate.verdict(run) for run in runs]
    show(report.summary(runs, verdicts))
    for run, wrong in zip(runs, verdicts, strict=True):
        for line in (*wrong, *(f"note: {note}" for note in gate.notes(run))):
            console.print(f"{run.title}, {run.mode}: {line}", markup=False, soft_wrap=True)
    save(runs, options)
    if options.publish:
        if options.select or any(run.about.get("device") != "dask" for run in runs):
            errors.print("array_api.py: --publish takes whole runs, on --device dask")
            return 2
        lazily.publish(runs)
    return int(any(verdicts))


def save(runs: Sequence[suite_run.Run], options: argparse.Namespace) -> None:
    """Write what was asked for."""
    if options.json:
        text = json.dumps([run.as_json() for run in runs], indent=1)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    if options.html:
        Path(options.html).write_text(report.html(runs), encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(report.page(runs), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
