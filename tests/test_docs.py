"""Every example in docs/ runs and prints what it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from pages import differences
from test_floors import FLOORS

import promoarray as pa
from promoarray import cli
from promoarray.diagnostics import exit_codes
from promoarray.policies import as_policy

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "frameworks").glob("*.md"))
DOCS = [page for page in DOCS if page.name != "contributing.md"]  # see test_contributing.py
ELSEWHERE = {
    "gallery.md": "diagnostics/test_gallery.py, which makes it",
    "testing.md": "testing/test_testing_page.py",
}
"""Pages with commands that other tests run."""


NEEDED = {
    **dict.fromkeys(("record.md", "record-ascend.md", "why.md", "check.md"), ("torch",)),
    "record-paddle.md": ("paddle",),
    "record-jax.md": ("jax",),
    "record-tensorflow.md": ("tensorflow",),
}
"""What the examples of a page need besides the extra test; they take a while to start."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=page.relative_to(ROOT / "docs").as_posix(),
            marks=[pytest.mark.slow] * (page.name in NEEDED),
        )
        for page in DOCS
    ],
)
def test_examples_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for module in NEEDED.get(page.name, ()):
        pytest.importorskip(module, reason=f"docs/{page.name} needs {module}")
    assert "".join(differences(page, tmp_path, commands=page.name not in ELSEWHERE)) == ""


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_picture_of_the_floors_is_the_one_that_is_tested() -> None:
    picture = ARCHITECTURE.partition("```text\n")[2].partition("```")[0]
    drawn = [re.split(r"\s{3,}", line)[0].replace("|", "").split() for line in picture.splitlines()]
    assert drawn == FLOORS


@pytest.mark.skipif(not (ROOT / "promoarray").is_dir(), reason="the sources are not beside them")
def test_files_and_names_that_the_pages_point_to_are_there() -> None:
    wrong = []
    for page in ("architecture.md", "contributing.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        text = re.sub(r"^```(python|diff)\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for path, name in re.findall(r"([\w/]+\.(?:py|cpp|h))\b(?::([\w.]*\w))?", text):
            found = [p for p in (ROOT / "promoarray" / path, ROOT / path) if p.is_file()]
            if not found and path not in NOT_YET and "/" in path:
                wrong.append(f"{page}: no file {path}")
            for part in filter(None, name.split(".")):
                if found and not re.search(defines(part), found[0].read_text(encoding="utf-8")):
                    wrong.append(f"{page}: no {name} in {path}")
    assert wrong == []


NOT_YET = {"conformance/oracles/edge.py", "tests/policies/test_edge.py"}
"""What the examples of contributing.md would add."""


def defines(name: str) -> str:
    """A pattern of what makes a name: def, class, struct, an assignment, a C++ function."""
    made = rf"(def|class|struct) {name}\b|^ *([\w, ]+, )?{name}\b[^=\n]*=|^bool {name}\("
    return rf"(?m){made}"


WAYS: dict[str, Callable[[pa.PArray, pa.PArray], object]] = {
    "a + b, the first time": lambda a, b: a + b,
    "x.astype(t)": lambda a, b: a.astype(pa.float8_e4m3fn),
    "pa.sum(x)": lambda a, b: pa.sum(a),
    "pa.flip(x)": lambda a, b: pa.flip(a),
}
IN_C = {"core/operators.py:binary", "parray.py:PArray.__add__"}
"""Made before the call, and the FastOperator, which no profiler hears of."""


@pytest.mark.parametrize("section", WAYS)
def test_a_value_goes_the_way_that_is_drawn(section: str) -> None:
    drawing = ARCHITECTURE.partition(f"## {section}\n")[2].split("```")[1]
    drawn = re.findall(r"\b(?:core/\w+|functions/\w+|parray)\.py:[\w.]+", drawing)
    drawn = [name for name in drawn if name not in IN_C]
    called = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            file = frame.f_code.co_filename.rpartition("/promoarray/")[2]
            called.append(f"{file}:{frame.f_code.co_qualname}")

    a, b = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([0.5, 0.5], dtype=pa.bfloat16)
    with pa.policy(as_policy("torch").derive("nothing decided")):
        sys.setprofile(note)
        try:
            WAYS[section](a, b)
        finally:
            sys.setprofile(None)
    assert [name for name in dict.fromkeys(called) if name in drawn] == drawn


README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"(?ms)^```console\n\$ promoarray ([^\n]*)\n(.*?)^```$", README)


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_readme_shows_what_is_printed(
    command: str, shown: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert cli.main(command.split()) in (exit_codes.NOTHING, exit_codes.FINDINGS)
    printed = capfd.readouterr().out
    for part in filter(None, re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)):
        assert part in printed


def test_the_readme_shows_a_port() -> None:
    assert any("--run torch --policies paddle@3.3" in command for command, _ in SHOWN)


def test_the_readmes_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """And has the dtypes that its comments tell."""
    (program,) = re.findall(r"(?ms)^```python\n(.*?)^```$", README)
    told = re.findall(r"(?m)^ *(\S.*\S)  # (float\d+)", program)
    names: dict[str, object] = {}
    exec(program, names)
    assert "1 root cause" in capsys.readouterr().out
    with pa.policy("numpy"):
        first = eval(told[0][0], names)
    with pa.policy("torch"):
        second = eval(told[1][0], names)
    assert [str(first.dtype), str(second.dtype)] == [dtype for _, dtype in told]
