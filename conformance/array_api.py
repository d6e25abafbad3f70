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
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import array_api_checkout as checkout
import array_api_gate as gate
import array_api_report as report
import runner
from array_api_gate import Run
from proof import STANDARD
from runner import SuiteError

from promoarray.console import console as console_for
from promoarray.console import show
from promoarray.diagnostics.progress import Progress
from promoarray.errors import UnknownPolicyError
from promoarray.policies import Policy, as_policy, list_policies

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
    add("--markdown", "--write", metavar="FILE", help="write the tables, into a page's marks")
    add("--accept", action="store_true", help="add proven refusals to the lists in array_api/")
    return made


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)


# --- Which runs ----------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """A run to do: its policy, mode, and the module in place of the policy's own namespace."""

    policy: str | None
    mode: str = "plain"
    module: str | None = None


def wanted(options: argparse.Namespace) -> list[Wanted]:
    """Return the runs to do.

    Raises
    ------
    UnknownPolicyError
        If there is no such policy.
    """
    module = options.namespace
    default = as_policy("numpy").name
    if options.device:
        module, os.environ["PROMOARRAY_TESTED_DEVICE"] = "array_api_device", options.device
        os.environ["PROMOARRAY_TESTED_CHUNK"] = str(options.chunk or 0)
        if not options.policy:
            return [Wanted(default, module=module)]
    if module and not module.startswith("promoarray") and not options.policy:
        return [Wanted(None, module=module)]
    if not options.policy and options.read:
        return []
    names = options.policy or list(gate.GATED)
    names = [n for name in names for n in (editions() if name == "all" else [as_policy(name).name])]
    runs: list[Wanted] = []
    for name in dict.fromkeys(names):
        modes = gate.GATED.get(name, MODES) if not options.policy else MODES
        runs += [Wanted(name, m, module) for m in modes if options.mode in (None, m)]
    if module is None and options.mode != "table" and options.policy in ([], ["all"]):
        # The module itself is a namespace too, under the policy of the process.
        runs.append(Wanted(default, module="promoarray"))
    return runs


def editions() -> list[str]:
    """Return every policy, of ONNX's opsets only the default."""
    names = (name for name in list_policies() if not name.startswith("onnx@"))
    return [*names, as_policy("onnx").name]


# --- One run -------------------------------------------------------------------------------------


def run(
    suite: checkout.Suite,
    policy: str | None,
    mode: str = "plain",
    *,
    namespace: str | None = None,
    examples: int = 300,
    seed: int | None = None,
    workers: int = 0,
    xfails: Iterable[str] = (),
    select: str = "",
    heard: Callable[[dict[str, Any]], None] = lambda event: None,
) -> Run:
    """Run the suite.

    Parameters
    ----------
    suite : Suite
    policy : str or None
    mode : {"plain", "table"}
    namespace : str, optional
        A module in place of ``promoarray.namespace(policy)``: promoarray itself, under that policy
        by its environment variable, or any other array library's.
    examples : int
        For each test that Hypothesis draws examples for.
    seed : int, optional
        What Hypothesis draws them by; without it by each test's own source text, the same ones in
        every run.
    workers : int
        Processes; 0 means this machine's.
    xfails : iterable of str
        Ids of tests that are known to fail.
    select, heard
        As of ``runner.run_pytest``.

    Raises
    ------
    SuiteError
        If pytest could not run.
    """
    chosen = as_policy(policy) if policy else None
    name = chosen.name if chosen else ""
    left_out = without(chosen, mode)
    words = ["array_api_tests", "-p", "array_api_plugin", "--tb=native", "--disable-deadline"]
    words += ["--max-examples", str(examples), "--promoarray-mode", mode]
    # Derandomized, Hypothesis pays no attention to a seed.
    words += ["--derandomize"] if seed is None else [f"--hypothesis-seed={seed}"]
    words += ["--promoarray-policy", name] if name else []
    environment = {
        "ARRAY_API_TESTS_MODULE": module_of(chosen, namespace),
        "ARRAY_API_TESTS_SKIP_DTYPES": ",".join(left_out),
        **({"PROMOARRAY_POLICY": name} if name else {}),
    }
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder, "known")
        known.write_text("".join(f"{id}\n" for id in xfails), encoding="utf-8")
        ended = runner.run_pytest(
            [*words, "--xfails-file", str(known)],
            suite.path,
            environment,
            workers=workers or os.cpu_count() or 1,
            select=select,
            heard=heard,
        )
    done = Run(name, mode, namespace or f"promoarray.{name}")
    done.cases, done.seconds = ended.cases, ended.seconds
    if not done.cases or ended.status not in (0, 1):
        raise SuiteError(f"array-api-tests did not run under {done.title}, {mode}:\n{ended.tail()}")
    done.about = ended.about | runner.versions(["numpy"])
    done.about |= {"array-api-tests": suite.commit, "array-api": suite.spec, "left out": left_out}
    done.about |= {"examples": examples, "seed": seed, "date": date.today().isoformat()}
    return done


def module_of(policy: Policy | None, namespace: str | None) -> str:
    """Return what ARRAY_API_TESTS_MODULE takes: a module's name, or code that binds ``xp``."""
    if namespace or policy is None:
        return namespace or "promoarray"
    return f"exec('import promoarray; xp = promoarray.namespace(\"{policy.name}\")')"


def without(policy: Policy | None, mode: str) -> list[str]:
    """Return the standard's dtypes that are left out.

    In both modes those that the policy's arrays never have (JAX without x64 makes others of them);
    with the policy's table also those that the framework lacks.
    """
    if policy is None:
        return []
    lacking = {d.name for d in policy.canonical}
    if mode == "table":
        lacking |= {*STANDARD} - {d.name for d in policy.dtypes}
    return [name for name in STANDARD if name in lacking]


# --- The command ---------------------------------------------------------------------------------


def perform(
    suite: checkout.Suite, runs: Sequence[Wanted], options: argparse.Namespace
) -> Iterator[Run]:
    """Do the runs, and show each one's table when it is over."""
    for number, (policy, mode, module) in enumerate(runs, 1):
        title = f"[{number}/{len(runs)}] {policy or module}, {mode}"
        with Progress(title) as progress:
            done = run(
                suite,
                policy,
                mode,
                namespace=module,
                examples=options.examples,
                seed=options.seed,
                workers=options.workers,
                xfails=sorted(gate.known(policy, options.device or "", options.chunk)),
                select=options.select,
                heard=partial(_tell, progress, title, {}),
            )
        if options.device:
            done.about |= {"device": options.device, "chunk": options.chunk}
            done.about |= {"commit": runner.commit()}
        show(report.table(done))
        yield done


def _tell(progress: Progress, title: str, so_far: dict[str, int], event: dict[str, Any]) -> None:
    """Show how far a run is."""
    so_far["tests"] = event.get("tests", so_far.get("tests", 0))
    if "id" in event:
        done = so_far["done"] = so_far.get("done", 0) + 1
        failed = so_far.get("failed", 0) + (event["outcome"] in ("failed", "error"))
        so_far["failed"] = failed
        said = f"{title}: {done} of {so_far['tests']} tests" + f", {failed} failed" * bool(failed)
        progress.step(said, done / max(so_far["tests"], done))


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parser().parse_args(words)
    console, errors = console_for(), console_for(sys.stderr)
    runs: list[Run] = []
    try:
        runs = [run for name in options.read for run in Run.load(name)]
        if todo := wanted(options):
            checkout.require()
            suite = checkout.clone() if options.clone else checkout.find(options.suite)
            if suite.departure():
                errors.print(f"[yellow]note:[/] {suite.departure()}")
            runs += perform(suite, todo, options)
    except (SuiteError, UnknownPolicyError, OSError, ValueError) as error:
        errors.print(f"array_api.py: {error}", markup=False, soft_wrap=True)
        if runs:
            save(runs, options)
        return 2
    if options.accept:
        for path in gate.accept(runs):
            console.print(f"wrote {path}")
    verdicts = [[] if options.select else gate.verdict(run) for run in runs]
    show(report.summary(runs, verdicts))
    for done, wrong in zip(runs, verdicts, strict=True):
        for line in (*wrong, *(f"note: {note}" for note in gate.notes(done))):
            console.print(f"{done.title}, {done.mode}: {line}", markup=False, soft_wrap=True)
    save(runs, options)
    if options.publish:
        if options.select or any(run.about.get("device") != "dask" for run in runs):
            errors.print("array_api.py: --publish takes whole runs, on --device dask")
            return 2
        runner.fill(report.LAZY_PAGE, {"array-api-tests": report.lazy_section(runs)})
    return int(any(verdicts))


def save(runs: Sequence[Run], options: argparse.Namespace) -> None:
    """Write what was asked for."""
    if options.json:
        runner.dump(runs, options.json)
    if options.markdown:
        page = Path(options.markdown)
        before = page.read_text(encoding="utf-8") if page.exists() else report.EMPTY
        text = runner.filled(before, {"results": report.results(runs)})
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
