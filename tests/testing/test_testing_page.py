"""The runs of pytest in docs/testing.md; its other examples are run with those of all pages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import promoarray.testing.plugin.matrix
import promoarray.testing.plugin.running  # noqa: F401

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
RUNS = re.findall(r"^```console\n\$ pytest (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("options", "printed"), RUNS, ids=range(len(RUNS)))
def test_a_run_prints_what_the_page_says(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: str, printed: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    arguments = shlex.split(options)
    named = [a for a in arguments if a.endswith(".py")] or ["test_lib.py"]
    for file in {"lib.py", *named}:
        pytester.path.joinpath(file).write_text(f"# {file}\n{FILES[file]}", encoding="utf-8")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
    wanted = [line for line in printed.splitlines() if line != "..."]
    assert wanted
    result.stdout.fnmatch_lines([_pattern(line) for line in wanted])


def test_the_page_has_runs_of_every_file() -> None:
    assert set(FILES) == {"lib.py", "test_lib.py", "test_marks.py"}
    assert len(RUNS) == 3


def _pattern(line: str) -> str:
    """A line of the page for fnmatch: ``...`` at its end is any."""
    kept, dots, _ = line.partition("...") if line.endswith("...") else (line, "", "")
    return re.sub(r"[\[\]]", "?", kept) + "*" * bool(dots)
