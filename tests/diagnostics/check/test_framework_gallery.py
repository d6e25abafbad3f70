"""The gallery: programs after public threads, each with the report that it is to give.

The docstring of a program names the thread, what is true, which the program prints to be so, and
the findings: their lines, kinds and words, and there are no others.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import runpy
import warnings
from pathlib import Path

import pytest

import promoarray as pa
from promoarray import cli

HERE = Path(__file__).parent / "gallery" / "frameworks"
FRAMEWORKS = "torch", "jax", "paddle"
PROGRAMS = [path for path in sorted(HERE.glob("*.py")) if path.stem.partition("_")[0] in FRAMEWORKS]
FINDING = re.compile(r"line (\d+), ([\w-]+): (.*)")


def expected(path: Path) -> dict[tuple[int, str], str]:
    """From the lines and kinds of the findings that a program is to have to their words."""
    return {(int(line), kind): words for line, kind, words in FINDING.findall(path.read_text())}


def require(path: Path) -> str:
    framework = path.stem.partition("_")[0]
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"needs {framework}: pip install 'promoarray[test-{framework}]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module(framework)
    return framework


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_has_its_findings_and_no_others(path: Path, capsys) -> None:
    framework = require(path)
    with warnings.catch_warnings(), pa.check(framework=framework) as report:
        warnings.simplefilter("ignore")
        runpy.run_path(str(path), run_name="__main__")
    found = {(each.place.program.line, each.place.kind): each.words for each in report.told}
    wanted = expected(path)
    assert found.keys() == wanted.keys(), str(report)
    for key, words in wanted.items():
        assert words in found[key]
    assert not report.unread, report.unread
    assert set(capsys.readouterr()[0].split()) == {"True"}


def test_every_program_names_its_thread_the_truth_and_the_remedy() -> None:
    threads = []
    for path in PROGRAMS:
        title, *rest = path.read_text().removeprefix('"""').partition('\n"""')[0].splitlines()
        heads = [line.partition(": ")[0] for line in rest if not line.startswith(" ")]
        assert heads == ["", "Thread", "True", "Remedy", "Report"], path.stem
        assert title.endswith("."), path.stem
        threads += re.findall(r"Thread: (https://\S+)", path.read_text())
    assert len(set(threads)) == len(PROGRAMS) >= 20


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("torch_zero_d_tensor", "brighter = pixels.to(torch.int64) + offset"),
        ("jax_large_ids", 'import jax; jax.config.update("jax_enable_x64", True)'),
        ("paddle_int8_cumsum", "offsets = paddle.cumsum(lengths, dtype=paddle.int16)"),
    ],
)
def test_the_command_tells_the_same_and_what_to_write(name, edit, capfd, monkeypatch) -> None:
    path = HERE / f"{name}.py"
    require(path)
    monkeypatch.chdir(HERE)
    monkeypatch.setenv("COLUMNS", "400")
    assert cli.main(["check", path.name]) == 1
    out = capfd.readouterr()[0]
    for (line, kind), words in expected(path).items():
        assert f"{path.name}:{line}  " in out
        assert f"  {kind}  " in out
        assert words in out
    assert edit in out
