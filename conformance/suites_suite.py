"""The suites of others: where their tests are in what is installed, and what they need to run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("array-api-strict", "hypothesis", "pytest", "pytest-xdist", "typing-extensions")
"""What every suite needs besides its library; with the libraries, the extra ``suites``."""


class SuiteError(Exception):
    """The suite cannot run; the message says what to do."""


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
        for name in (self.name, *NEEDED):
            try:
                version(name)
            except PackageNotFoundError:
                raise SuiteError(
                    f'{name} is not installed. Write: pip install -e ".[suites]"'
                ) from None
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
