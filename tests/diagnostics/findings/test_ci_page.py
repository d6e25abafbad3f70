"""Every command of docs/ci.md does what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(command: str, folder: Path) -> int:
    """Run a command of the page as a shell does, with this Python's promoarray; its status."""
    named = command.replace("promoarray compare", f'"{sys.executable}" -m promoarray compare')
    named = re.sub(r"^python ", f'"{sys.executable}" ', named)
    kept = {name: value for name, value in os.environ.items() if name != "GITHUB_WORKSPACE"}
    done = subprocess.run(named, shell=True, cwd=folder, env=kept, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    (folder / "printed").write_text(done.stdout)
    return done.returncode


@pytest.mark.slow
def test_the_commands_exit_as_the_page_says(tmp_path: Path) -> None:
    program, ignored = blocks("python")
    (tmp_path / "model.py").write_text(program)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 11
    for line in lines:
        command, _, code = line.partition("# exits with ")
        assert run(command.strip(), tmp_path) == int(code), line
    assert "xp.sum(pixels, axis=0)" in (tmp_path / "printed").read_text()
    report, schema = (
        json.loads((tmp_path / name).read_text()) for name in ("report.json", "report.schema.json")
    )
    jsonschema.validate(report, schema, jsonschema.Draft202012Validator)

    action, hook = blocks("yaml")
    steps = re.findall(r"options: (.*)", action)
    steps += [" ".join(re.findall(r'"[^"]*"|[^\s,]+', re.findall(r"\[model.py, (.*)\]", hook)[0]))]
    steps = [f"promoarray compare model.py {options}" for options in steps]
    (by_hand,) = re.findall(r"By hand it is `(promoarray [^`]*)`", PAGE)
    assert [run(step, tmp_path) for step in steps] == [0, 0]
    assert run(by_hand, tmp_path) == 1
    assert len(json.loads((tmp_path / "promoarray.sarif").read_text())["runs"][0]["results"]) == 2
    (tmp_path / "model.py").write_text(program + "half = scaled * xp.asarray([1], dtype=xp.int8)\n")
    assert [run(step, tmp_path) for step in steps] == [1, 1]

    (tmp_path / "model.py").write_text(ignored)
    assert run("promoarray compare model.py --policies torch", tmp_path) == 0
    assert run("promoarray compare model.py --policies torch,paddle", tmp_path) == 1


def test_the_table_of_exit_codes_is_that_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    from promoarray import cli

    assert cli.main(["compare", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for code in re.findall(r"^\| (\d+|128 \+ N) \|", PAGE, re.MULTILINE):
        assert re.search(rf"{re.escape(code)} \w", told), code
