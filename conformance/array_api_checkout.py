"""array-api-tests: where it is, and whether it can run."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from runner import ROOT, SuiteError, git

URL = "https://github.com/data-apis/array-api-tests"
COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
SPEC = "5f847a3858875c682ae901aa22b0413bf24be9da"
"""What the gates were set with: the suite, and the standard in its submodule ``array-api``."""

CHECKOUT = ROOT / "build" / "array-api-tests"
"""Where ``--clone`` puts it, and where it is looked for last."""

NEEDED = {
    "pytest": (8,),
    "pytest-json-report": (1,),
    "pytest-xdist": (3,),
    "hypothesis": (6, 151),
    "ndindex": (1, 8),
}
"""What the suite needs besides NumPy, from which version on; the extra ``conformance``."""


@dataclass(frozen=True)
class Suite:
    """A checkout.

    Attributes
    ----------
    path : Path
    commit, spec : str
        "" where git does not know.
    """

    path: Path
    commit: str
    spec: str

    def departure(self) -> str:
        """Say how the checkout differs from the commits that the gates were set with, or ""."""
        pairs = ("array-api-tests", self.commit, COMMIT), ("its submodule", self.spec, SPEC)
        return "; ".join(
            f"{what} is at {found[:7] or 'an unknown commit'}, the gates were set with {pinned[:7]}"
            for what, found, pinned in pairs
            if found != pinned
        )


def find(given: str | Path | None = None) -> Suite:
    """Find the checkout: the one given, ``ARRAY_API_TESTS_DIR``, or the one ``--clone`` made.

    Raises
    ------
    SuiteError
        If there is none, it is something else, or its submodule is missing.
    """
    named = given or os.environ.get("ARRAY_API_TESTS_DIR")
    path = Path(named).expanduser().resolve() if named else CHECKOUT
    if not (path / "array_api_tests" / "dtype_helpers.py").exists():
        there = f"{path} holds no array-api-tests" if path.exists() else f"there is no {path}"
        raise SuiteError(
            f"{there}. Write --clone to get the pinned commit, or --suite DIR (or set "
            f"ARRAY_API_TESTS_DIR) to name a checkout of {URL}"
        )
    if not (path / "array-api" / "src" / "array_api_stubs").exists():
        raise SuiteError(
            f"{path} lacks the standard, its submodule array-api. Write: "
            f"git -C {path} submodule update --init"
        )
    inner = path / "array-api"
    own = git(inner, "rev-parse", "HEAD") if (inner / ".git").exists() else ""
    recorded = git(path, "ls-tree", "--object-only", "HEAD", "array-api")
    return Suite(path, git(path, "rev-parse", "HEAD"), own or recorded)


def clone(path: Path = CHECKOUT) -> Suite:
    """Clone the pinned commit with its submodule, unless it is there.

    Raises
    ------
    SuiteError
        If git cannot.
    """
    if not path.exists():
        path.mkdir(parents=True)
        _must(path, "init", "--quiet")
        _must(path, "fetch", "--quiet", "--depth", "1", URL, COMMIT)
        _must(path, "checkout", "--quiet", "FETCH_HEAD")
    _must(path, "submodule", "update", "--quiet", "--init", "--depth", "1")
    return find(path)


def _must(path: Path, *words: str) -> None:
    done = subprocess.run(
        ["git", "-C", str(path), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SuiteError(f"git {' '.join(words)} in {path}: {done.stderr.strip()}")


def require() -> dict[str, str]:
    """Return the versions of what the suite needs.

    Raises
    ------
    SuiteError
        If something is missing or too old.
    """
    found, wrong = {}, []
    for name, least in NEEDED.items():
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            wrong.append(f"{name} is missing")
            continue
        if tuple(int(n) for n in found[name].split(".")[: len(least)]) < least:
            wrong.append(f"{name} {found[name]} is too old")
    if wrong:
        raise SuiteError(
            f"{'; '.join(wrong)}: array-api-tests needs them. "
            'Write: pip install -e ".[conformance]"'
        )
    return found
