"""Run array-api-tests, the suite of the standard's own authors, on the namespace of each policy.

    python conformance/array_api.py                     the gate: the policies it is set for
    python conformance/array_api.py --policy torch      one policy, plain and with its own table
    python conformance/array_api.py --policy all --write        make docs/conformance.md
    python conformance/array_api.py --policy numpy --mode plain --device cuda:0
    python conformance/array_api.py --device dask --examples 200 --write
    python conformance/array_api.py --seed 7            other examples than the published ones

Exit status 0 if what must hold of every run holds (`array_api_gate.py`), 1 if not, 2 if the suite
cannot run. The suite is a checkout of data-apis/array-api-tests: `--suite DIR`,
`ARRAY_API_TESTS_DIR`, or what `--clone` gets.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import array_api_gate as gate
import array_api_report as report
import runner
from array_api_gate import Run
from proof import STANDARD
from runner import ROOT, SuiteError, git

from promoarray.console import console as console_for
from promoarray.console import show
from promoarray.diagnostics.progress import Progress
from promoarray.errors import UnknownPolicyError
from promoarray.policies import Policy, as_policy, list_policies

MODES = ("plain", "table")
NEEDED = ("pytest-json-report", "pytest-xdist", "hypothesis", "ndindex")


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
    add("--device", help="put new arrays there by default, such as cuda:0 or dask")
    add("--chunk", type=_positive, help="of lazy arrays: elements of a block along each axis")
    add("--examples", type=_positive, default=300, help="examples for each test that draws them")
    add("--seed", type=int, help="draw other examples; without it a run is always the same")
    add("--workers", type=int, default=0, help="processes; 0: as many as there are processors")
    add("--write", action="store_true", help="write the results into docs/, those of a device too")
    add("--accept", action="store_true", help="add proven refusals to the lists in array_api/")
    return made


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)


# --- The suite -----------------------------------------------------------------------------------

URL = "https://github.com/data-apis/array-api-tests"
COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
SPEC = "5f847a3858875c682ae901aa22b0413bf24be9da"
"""What the gates were set with: the suite, and the standard in its submodule ``array-api``."""

CHECKOUT = ROOT / "build" / "array-api-tests"
"""Where ``--clone`` puts it, and where it is looked for last."""


class Suite(NamedTuple):
    """A checkout, its commit and the standard's; "" where git does not know."""

    path: Path
    commit: str
    spec: str


def find(given: str | Path | None = None) -> Suite:
    """Find the checkout: the one given, ``ARRAY_API_TESTS_DIR``, or the one ``--clone`` made.

    Raises
    ------
    SuiteError
        If there is none, or its submodule is missing.
    """
    path = Path(given or os.environ.get("ARRAY_API_TESTS_DIR") or CHECKOUT).expanduser().resolve()
    for part in ("array_api_tests/dtype_helpers.py", "array-api/src/array_api_stubs"):
        if not (path / part).exists():
            raise SuiteError(
                f"{path} has no {part}. Write --clone to get the pinned commit of {URL} with its "
                "submodule, or --suite DIR (or set ARRAY_API_TESTS_DIR) to name a checkout"
            )
    inner = path / "array-api"
    own = git(inner, "rev-parse", "HEAD") if (inner / ".git").exists() else ""
    recorded = git(path, "ls-tree", "--object-only", "HEAD", "array-api")
    return Suite(path, git(path, "rev-parse", "HEAD"), own or recorded)


def clone() -> None:
    """Clone the pinned commit with its submodule, unless it is there."""
    CHECKOUT.mkdir(parents=True, exist_ok=True)
    for words in (
        "init --quiet",
        f"fetch --quiet --depth 1 {URL} {COMMIT}",
        "checkout --quiet FETCH_HEAD",
        "submodule update --quiet --init --depth 1",
    ):
        subprocess.run(["git", "-C", str(CHECKOUT), *words.split()], check=True)


# --- Which runs ----------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """A run to do: its policy, mode, and the module in place of the policy's own namespace."""

    policy: str
    mode: str = "plain"
    module: str | None = None


def wanted(options: argparse.Namespace) -> list[Wanted]:
    """Return the runs to do.

    Raises
    ------
    UnknownPolicyError
        If there is no such policy.
    """
    module, default = None, as_policy("numpy").name
    if options.device:
        module, os.environ["PROMOARRAY_TESTED_DEVICE"] = "array_api_device", options.device
        os.environ["PROMOARRAY_TESTED_CHUNK"] = str(options.chunk or 0)
        if not options.policy:
            return [Wanted(default, module=module)]
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
    suite: Suite,
    policy: str,
    mode: str = "plain",
    *,
    namespace: str | None = None,
    examples: int = 300,
    seed: int | None = None,
    workers: int = 0,
    xfails: Iterable[str] = (),
    heard: Callable[[dict[str, Any]], None] = lambda event: None,
) -> Run:
    """Run the suite.

    Parameters
    ----------
    suite : Suite
    policy : str
    mode : {"plain", "table"}
    namespace : str, optional
        A module in place of ``promoarray.namespace(policy)``: promoarray itself, under that policy
        by its environment variable.
    examples : int
        For each test that Hypothesis draws examples for.
    seed : int, optional
        What Hypothesis draws them by; without it by each test's own source text, the same ones in
        every run.
    workers : int
        Processes; 0 means this machine's.
    xfails : iterable of str
        Ids of tests that are known to fail.
    heard
        As of ``runner.run_pytest``.

    Raises
    ------
    SuiteError
        If pytest could not run.
    """
    chosen = as_policy(policy)
    name = chosen.name
    left_out = without(chosen, mode)
    words = ["array_api_tests", "-p", "array_api_plugin", "--tb=native", "--disable-deadline"]
    words += ["--max-examples", str(examples), "--promoarray-mode", mode]
    # Derandomized, Hypothesis pays no attention to a seed.
    words += ["--derandomize"] if seed is None else [f"--hypothesis-seed={seed}"]
    words += ["--promoarray-policy", name]
    # A module's name, or code that binds ``xp``.
    code = f"exec('import promoarray; xp = promoarray.namespace(\"{name}\")')"
    environment = {
        "ARRAY_API_TESTS_MODULE": namespace or code,
        "ARRAY_API_TESTS_SKIP_DTYPES": ",".join(left_out),
        "PROMOARRAY_POLICY": name,
    }
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder, "known")
        known.write_text("".join(f"{id}\n" for id in xfails), encoding="utf-8")
        ended = runner.run_pytest(
            [*words, "--xfails-file", str(known)],
            suite.path,
            environment,
            workers=workers or os.cpu_count() or 1,
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


def without(policy: Policy, mode: str) -> list[str]:
    """Return the standard's dtypes that are left out.

    In both modes those that the policy's arrays never have (JAX without x64 makes others of them);
    with the policy's table also those that the framework lacks.
    """
    lacking = {d.name for d in policy.canonical}
    if mode == "table":
        lacking |= {*STANDARD} - {d.name for d in policy.dtypes}
    return [name for name in STANDARD if name in lacking]


# --- The command ---------------------------------------------------------------------------------


def perform(suite: Suite, runs: Sequence[Wanted], options: argparse.Namespace) -> Iterator[Run]:
    """Do the runs, and show each one's table when it is over."""
    for number, (policy, mode, module) in enumerate(runs, 1):
        title = f"[{number}/{len(runs)}] {policy}, {mode}"
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
    try:
        todo = wanted(options)
        runner.require(NEEDED, "conformance")
        if options.clone:
            clone()
        suite = find(options.suite)
        if (suite.commit, suite.spec) != (COMMIT, SPEC):
            errors.print(f"note: {suite.path} is another commit than the gates were set with")
        runs = list(perform(suite, todo, options))
    except (SuiteError, UnknownPolicyError, OSError, subprocess.SubprocessError) as error:
        errors.print(f"array_api.py: {error}", markup=False, soft_wrap=True)
        return 2
    if options.accept:
        for path in gate.accept(runs):
            console.print(f"wrote {path}")
    verdicts = [gate.verdict(run) for run in runs]
    show(report.summary(runs, verdicts))
    for done, wrong in zip(runs, verdicts, strict=True):
        for line in (*wrong, *(f"note: {note}" for note in gate.notes(done))):
            console.print(f"{done.title}, {done.mode}: {line}", markup=False, soft_wrap=True)
    if options.write and options.device:
        runner.fill(report.LAZY_PAGE, {"array-api-tests": report.lazy_section(runs)})
    elif options.write:
        runner.fill(report.PAGE, {"results": report.results(runs)})
    return int(any(verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
