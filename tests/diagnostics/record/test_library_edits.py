"""Edits at the call of a library: the argument to cast, checked by asking again."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import promoarray as pa
from promoarray.core import call_site

LIBRARY = """
import {module} as xp

def score(pred, target, weight=None):
    target = target.reshape(-1)
    diff = pred * target
    return diff if weight is None else diff * weight

def chooses(pred):
    return pred * xp.{arange}(pred.shape[0])

class Lazy:
    def __init__(self, *given):
        self.given = given

    def score(self):
        return score(*self.given)

def keeps(pred, target):
    return pred * target, target + 1
"""
FRAMEWORKS = {  # the library's arange, arrays, and the cast of `target`
    "torch": ("torch", "arange", "xp.tensor({})", "target.to(xp.float32)", "paddle@3.3"),
    "jax": ("jax.numpy", "arange", "xp.array({})", "target.astype(xp.float32)", "paddle@3.3"),
}
MADE = "pred = {ones}\ntarget = {ints}\n"
CALLS = {
    "a variable": (MADE + "lib.score(pred, target)", "lib.score(pred, {cast})"),
    "a keyword": (
        MADE + "lib.score(pred, target=target, weight=pred)",
        "lib.score(pred, target={cast}, weight=pred)",
    ),
    "a parameter": (
        MADE + "def step(x, target):\n    return lib.score(x, target)\nstep(pred, target)",
        "lib.score(x, {cast})",
    ),
    "a global": (
        MADE + "def step():\n    return lib.score(pred, target)\nstep()",
        "lib.score(pred, {cast})",
    ),
    "the call that a method is of": (
        MADE + "lib.Lazy(pred, target).score()",
        "lib.Lazy(pred, {cast}).score()",
    ),
    "made where it is given": (
        "lib.score({ones}, {ints})",
        "lib.score({ones}, {ints}{method}",
    ),
    "the library chooses the dtype": (MADE + "lib.chooses(pred)", ""),
    "what the library returns would change": (
        MADE + "both = lib.keeps(pred, target)\nafter = both[1] + 1",
        "",
    ),
    "from elsewhere": (MADE + "for x in [target]:\n    lib.score(pred, x)", ""),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed libraries, one of them of a distribution."""
    folder = tmp_path / "site-packages"
    info = folder / "a_library-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-library\nVersion: 1.5\n")
    (info / "top_level.txt").write_text("lib\n")
    monkeypatch.syspath_prepend(str(folder))
    call_site._libraries.cache_clear()
    call_site.is_library.cache_clear()
    yield folder
    sys.modules.pop("lib", None)
    monkeypatch.undo()
    call_site._libraries.cache_clear()
    call_site.is_library.cache_clear()


def _report(framework: str, installed: Path, program: str) -> tuple[Any, dict[str, str]]:
    pytest.importorskip(framework)
    module, arange, array, cast, policy = FRAMEWORKS[framework]
    words = {
        "ones": array.format("[1.0, 2.0]"),
        "ints": array.format("[1, 2]"),
        "cast": cast,
        "method": cast.removeprefix("target") + ")",
    }
    (installed / "lib.py").write_text(LIBRARY.format(module=module, arange=arange))
    path = installed.parent / "program.py"
    path.write_text(f"import {module} as xp\nimport lib\n{program.format(**words)}\n")
    with pa.record(framework, policy) as report:
        runpy.run_path(str(path))
    return report, words


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_argument_to_cast_is_found_or_whom_to_tell(
    installed: Path, framework: str, name: str
) -> None:
    program, edit = CALLS[name]
    report, words = _report(framework, installed, program)
    inside = [d for d in report.divergences if d.site != d.program and d.name == "multiply"]
    found = {a.fix and a.fix.text for d in inside for a in d.answers.values() if a.origin == "root"}
    assert found == {edit.format(**words) or None}
    assert ("report it to a-library 1.5" in str(report).replace("\n    ", " ")) == (not edit)


@pytest.mark.parametrize("name", [name for name, (_, edit) in CALLS.items() if edit])
def test_the_edit_makes_the_policies_agree(installed: Path, name: str) -> None:
    program, edit = CALLS[name]
    call = next(line for line in program.splitlines() if "lib." in line).strip()
    edited = program.replace(call.removeprefix("return "), edit)
    report, _ = _report("torch", installed, edited)
    assert not [d for d in report.divergences if d.site != d.program]
