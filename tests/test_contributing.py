"""docs/contributing.md, followed to the letter in a copy of the tree.

A block of the page that begins with ``# promoarray/...`` is a file, and a block of ``diff`` changes
one. Both are done in the copy; then the page's examples must print what they say.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import promoarray

PAGE = Path(__file__).parent.parent / "docs" / "contributing.md"
COMPILED = (
    "promoarray.core._fast_path",
    "promoarray.diagnostics.record._seen",
    "promoarray._context",
    "promoarray.kernels._cpu",
)

# An editable install finds promoarray before any path does.
IN_THE_COPY = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
sys.path[:0] = sys.argv[1:3]
import promoarray
assert promoarray.__file__.startswith(sys.argv[1]), promoarray.__file__
"""
EXAMPLES = """
import doctest
flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
failed, tried = doctest.testfile(sys.argv[3], module_relative=False, optionflags=flags)
sys.exit(bool(failed) or not tried)
"""
FLOORS = """
import test_floors
[test() for name, test in vars(test_floors).items() if name.startswith("test_")]
"""


def blocks(language: str) -> Iterator[str]:
    """The text of the page's fenced blocks of a language."""
    fenced = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    yield from fenced.findall(PAGE.read_text(encoding="utf-8"))


def write_files(root: Path) -> list[Path]:
    """Write the files that the page holds."""
    written = []
    for block in blocks("python"):
        head, _, text = block.partition("\n")
        if head.startswith("# promoarray/"):
            path = root / head.removeprefix("# ")
            assert not path.exists(), path
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def apply_diffs(root: Path) -> list[Path]:
    """Make the changes that the page holds; what a hunk takes away stands there exactly once."""
    changed = []
    for block in blocks("diff"):
        head, _, body = block.partition("\n")
        path = root / head.removeprefix("--- ")
        text = path.read_text(encoding="utf-8")
        for hunk in body.split("@@\n"):
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] in " -")
            after = "".join(line[1:] for line in lines if line[0] in " +")
            assert f"\n{text}".count(f"\n{before}") == 1, f"{head}\n{before}"
            text = f"\n{text}".replace(f"\n{before}", f"\n{after}").removeprefix("\n")
        path.write_text(text, encoding="utf-8")
        changed.append(path)
    return changed


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of promoarray, compiled parts included, changed as the page says."""
    root = tmp_path_factory.mktemp("tree")
    plain = shutil.ignore_patterns("__pycache__", "*.cpp")
    shutil.copytree(Path(promoarray.__file__).parent, root / "promoarray", ignore=plain)
    for name in COMPILED:
        built = Path(str(importlib.import_module(name).__file__))
        shutil.copy(built, root / Path(*name.split(".")).with_name(built.name))
    shutil.copy(PAGE.parent.parent / "pyproject.toml", root)
    touched = [*write_files(root), *apply_diffs(root)]
    (root / "touched.txt").write_text("\n".join(map(str, touched)), encoding="utf-8")
    return root


def run(tree: Path, *command: str) -> None:
    """Run Python in the copy; what it prints is told if it fails."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", [EXAMPLES, FLOORS], ids=["examples", "floors"])
def test_what_the_page_makes_works_and_keeps_the_floors(tree: Path, program: str) -> None:
    run(tree, "-c", IN_THE_COPY + program, str(tree), str(PAGE.parent.parent / "tests"), str(PAGE))


@pytest.mark.parametrize("check", [("check",), ("format", "--check")], ids=" ".join)
def test_the_page_is_written_in_the_style_it_asks_for(tree: Path, check: tuple[str, ...]) -> None:
    run(tree, "-m", "ruff", *check, "--no-cache", *(tree / "touched.txt").read_text().split("\n"))


@pytest.mark.parametrize("name", ["tensorrt", "coreml", "litert", "tinygrad"])
def test_a_framework_is_named_in_its_own_file_alone(name: str) -> None:
    package = Path(promoarray.__file__).parent
    shared = set((package / "policies").glob("_*.py"))
    naming = [
        path.relative_to(package)
        for path in package.rglob("*.py")
        if path not in shared and re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))
    ]
    assert naming == [Path("policies", f"{name}.py")]
