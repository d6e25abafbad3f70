"""Run the test suites of SciPy, scikit-learn and array-api-extra with promoarray as a back end.

    python conformance/suites.py                                    all, under the default policy
    python conformance/suites.py --suite scipy --module fft         one module of one suite
    python conformance/suites.py --policy numpy --policy torch      arrays bound to torch besides
    python conformance/suites.py --policy jax --alone               without the others beside it
    python conformance/suites.py --suite scipy --module stats --device dask --alone
    python conformance/suites.py --write                            publish it in docs/downstream.md

NumPy's own namespace and array-api-strict run beside it. Exit status 0 if nothing fails without a
reason (`suites_gate.py`), 1 if something does, 2 if a suite cannot run. All of it takes about an
hour; with `--write`, what is done is recorded after each module.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import downstream_page as page
import runner
import suites_gate as gate
from rich.console import Console
from rich.table import Table
from runner import SuiteError
from suites_gate import NUMPY, STRICT, Run, backend_of

from promoarray.console import console as console_for
from promoarray.console import show
from promoarray.diagnostics.progress import Progress
from promoarray.errors import UnknownPolicyError
from promoarray.policies import as_policy

POLICIES = ("numpy", "torch", "jax", "paddle")
"""What the page is published with."""

# --- The suites ----------------------------------------------------------------------------------

NEEDED = ("array-api-strict", "hypothesis", "pytest", "pytest-xdist", "typing-extensions")
"""What every suite needs besides its library; with the libraries, the extra ``suites``."""


@dataclass(frozen=True)
class Suite:
    """A library whose own tests go over back ends.

    Attributes
    ----------
    name : str
        Of the distribution, which is what users type.
    package : str
        Where it is imported from.
    find : callable
        Takes the package's directory; returns the files of tests, by module.
    environment : mapping
        What the library reads when it is imported.
    options : tuple of str
        Of pytest: what the configuration file says that the wheel lacks.
    """

    name: str
    package: str
    find: Callable[[Path], dict[str, list[Path]]]
    environment: Mapping[str, str]
    options: tuple[str, ...] = field(default=())

    def modules(self) -> dict[str, list[Path]]:
        """The files of tests, by module.

        Raises
        ------
        SuiteError
            If the library is not installed, or without its tests.
        """
        home = self.home()
        found = {name: paths for name, paths in sorted(self.find(home).items()) if paths}
        if not found:
            raise SuiteError(f"{self.name} in {home} has no tests: install it from its wheel")
        return found

    def home(self) -> Path:
        """The package's directory, found without importing it."""
        runner.require((self.name, *NEEDED), "suites")
        spec = find_spec(self.package)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent


def _modules_of_scipy(home: Path) -> dict[str, list[Path]]:
    """Every subpackage that has a test which goes over back ends."""
    found: dict[str, list[Path]] = {}
    for path in sorted(home.glob("**/tests/test_*.py")):
        if re.search(r"^ *def \w+\([^)]*\bxp\b", path.read_text(encoding="utf-8"), re.M):
            found.setdefault(path.relative_to(home).parts[0], []).append(path)
    return found


def _modules_of_scikit_learn(home: Path) -> dict[str, list[Path]]:
    """The same, and the checks that scikit-learn makes of every estimator."""
    found = {"estimators": [home / "tests" / "test_common.py"]}
    for path in sorted(home.glob("**/tests/test_*.py")):
        if "yield_namespace" in path.read_text(encoding="utf-8"):
            found.setdefault(path.relative_to(home).parts[0].lstrip("_"), []).append(path)
    found["other"] = found.pop("tests")  # of calibration, pipelines, and the like
    return found


def _modules_of_array_api_extra(home: Path) -> dict[str, list[Path]]:
    """One module a file of tests."""
    main = home / "tests" / "main"
    return {p.stem.removeprefix("test_"): [p] for p in sorted(main.glob("test_*.py"))}


STRICT_WARNINGS = ("-W", "error", "-W", "ignore::pytest.PytestRemovedIn10Warning")

SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            "scipy",
            "scipy",
            _modules_of_scipy,
            # Nothing that happens to be installed: torch, JAX and Dask have rules of their own.
            {"SCIPY_ARRAY_API": '["numpy", "array_api_strict"]'},
            STRICT_WARNINGS,
        ),
        Suite("scikit-learn", "sklearn", _modules_of_scikit_learn, {"SCIPY_ARRAY_API": "1"}),
        Suite(
            "array-api-extra",
            "array_api_extra",
            _modules_of_array_api_extra,
            {"SCIPY_ARRAY_API": "1"},
            STRICT_WARNINGS,
        ),
    )
}

# --- One run -------------------------------------------------------------------------------------

_OWN_PLUGIN = ("-W", "ignore:Module already imported so cannot be rewritten")
"""pytest warns of our plugin where promoarray is installed so that it can be edited."""


def run(
    suite: Suite,
    module: str,
    backends: Sequence[str],
    *,
    alone: bool = False,
    workers: int = 1,
) -> Run:
    """Run a module of a suite.

    Parameters
    ----------
    suite : Suite
    module : str
    backends : sequence of str
        Of ours; NumPy's and array-api-strict's run beside them.
    alone : bool
        Without those two.
    workers : int
        Processes.

    Raises
    ------
    SuiteError
        If pytest could not run, or not to the end.
    """
    paths = suite.modules()[module]
    with tempfile.TemporaryDirectory(prefix="promoarray-suites-") as scratch:
        settings = Path(scratch, "pytest.ini")
        settings.write_text("[pytest]\n", encoding="utf-8")
        words = ["-p", "suites_plugin", "--tb=no", "-c", str(settings)]
        words += ["--rootdir", str(suite.home().parent), *suite.options, *_OWN_PLUGIN]
        words += ["--promoarray-suite", suite.name]
        words += [word for name in backends for word in ("--promoarray-backend", name)]
        words += ["--promoarray-alone"] if alone else []
        environment = {**suite.environment, "PROMOARRAY_POLICY": as_policy("numpy").name}
        try:
            ended = runner.run_pytest(
                [*words, *map(str, paths)],
                Path(scratch),
                environment,
                workers=workers,
                limit=3600.0,
            )
        except SuiteError as error:
            raise SuiteError(f"{suite.name} {module} {error}") from None
    if wrong := [case for case in ended.cases if case.outcome == "error"]:
        raise SuiteError(f"{wrong[0].id} was not collected: {wrong[0].why}")
    ran = ended.status == 0 or (ended.status == 1 and ended.cases)  # 1: some failed
    if not ran and ended.status != 5:  # nothing was selected
        raise SuiteError(f"{suite.name} {module} did not run:\n{ended.tail()}")
    about = runner.versions((suite.name, "numpy", "array-api-compat", "array-api-strict"))
    about |= {"commit": runner.commit(), "date": date.today().isoformat()}
    names = [*backends] if alone else [NUMPY, STRICT, *backends]
    done = Run(suite.name, module, names, about=about, cases=ended.cases)
    done.seconds = ended.seconds
    return done


# --- The command ---------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = made.add_argument
    add("--suite", action="append", choices=SUITES, help="one suite only; may be repeated")
    add("--module", action="append", metavar="NAME", help="one module only; may be repeated")
    add("--policy", action="append", metavar="NAME", help="default numpy: promoarray itself")
    add("--device", choices=("dask",), help="instead: promoarray, new arrays on that device")
    add("--alone", action="store_true", help="no NumPy and array-api-strict beside them")
    add("--workers", "-n", type=int, default=1, help="processes")
    add("--write", action="store_true", help="record the runs, and publish the page")
    return made


def wanted(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the suites and modules to run.

    Raises
    ------
    SuiteError
        If a suite is missing, or has no such module.
    """
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


def perform(options: argparse.Namespace, console: Console) -> Iterator[Run]:
    """Do the runs, a module at a time."""
    backends = list(dict.fromkeys(map(backend_of, options.policy or ["numpy"])))
    if options.device:
        backends = [gate.DASK]
    todo = wanted(options)
    for number, (suite, module) in enumerate(todo, 1):
        title = f"[{number}/{len(todo)}] {suite} {module}"
        with Progress(title) as progress:
            progress.step(done=(number - 1) / len(todo))
            done = run(
                SUITES[suite],
                module,
                backends,
                alone=options.alone,
                workers=options.workers,
            )
        console.print(f"{title} {done.seconds:.0f} s", markup=False)
        if done.cases:
            yield done


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield a table for each suite, for the terminal."""
    for suite in dict.fromkeys(run.suite for run in runs):
        grid = runner.grid(suite, ["module", "back end"])
        for done in runs:
            if done.suite != suite:
                continue
            title = done.module
            for name in done.backends:
                grid.add_row(title, name, *runner.cells(done.counts(name)))
                title = ""
            grid.add_section()
        yield grid


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parser().parse_args(words)
    if options.device and options.write:
        parser().error("--write publishes runs without --device")
    console, errors = console_for(), console_for(sys.stderr)
    runs: list[Run] = []
    try:
        for done in perform(options, console):
            runs.append(done)
            if options.write:
                gate.write([done])
    except (SuiteError, UnknownPolicyError, OSError) as error:
        errors.print(f"suites.py: {error}", markup=False, soft_wrap=True)
        return 2
    verdicts = [line for run in runs for line in gate.verdict(run)]
    for table in tables(runs):
        show(table)
    for line in (*verdicts, *(f"note: {note}" for run in runs for note in gate.notes(run))):
        console.print(line, markup=False, soft_wrap=True)
    if options.write:
        runner.fill(page.PAGE, page.of_suites(gate.read()))
    return int(bool(verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
