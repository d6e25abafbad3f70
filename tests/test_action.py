"""The GitHub Action and the hooks for pre-commit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import sys
import promoarray as xp

pixels = xp.asarray([[10, 200], [250, 30]], dtype=xp.uint8)
scaled = pixels / 255  # <b> | `x`
print("given", sys.argv[1:])
"""

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="runs bash"),
    pytest.mark.skipif(not (ROOT / "action.yml").is_file(), reason="the sources are not here"),
]


class Action:
    """Runs what the action runs, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "model.py").write_text(PROGRAM)
        (folder / "bin").mkdir()
        command = folder / "bin" / "promoarray"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m promoarray "$@"\n')
        command.chmod(0o755)

    def __call__(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        given = {"COMMAND": "compare", "SCRIPT": "model.py", "OPTIONS": "", "ARGUMENTS": ""}
        files = {
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_WORKSPACE": str(self.folder),
            "RUNNER_TEMP": str(self.folder),
        }
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        env = os.environ | given | files | inputs | {"PATH": path}
        script = str(ROOT / ".github" / "promoarray")
        pipes = {"capture_output": True, "text": True, "check": False}
        return subprocess.run(["bash", script], cwd=self.folder, env=env, **pipes)

    def summary(self) -> str:
        return (self.folder / "summary.md").read_text()


@pytest.fixture
def action(tmp_path: Path) -> Action:
    return Action(tmp_path)


def test_a_run_annotates_lines_and_writes_sarif_and_a_summary(action: Action) -> None:
    ran = action(OPTIONS="--policies torch,paddle@3.3", ARGUMENTS="a b")
    assert ran.returncode == 1, ran.stderr
    assert "given ['a', 'b']" in ran.stdout
    assert "::warning file=model.py,line=6," in ran.stdout
    named = (action.folder / "output").read_text().removeprefix("sarif=").strip()
    results = json.loads(Path(named).read_text())["runs"][0]["results"]
    assert [each["ruleId"] for each in results] == ["dtype"]
    summary = action.summary()
    assert summary.startswith("### promoarray compare model.py\n")
    assert (
        "| model.py:6 | pixels / 255 | uint8 / Python int: float32 under torch@2.13 and paddle@3.3"
        in summary
    )


def test_check_is_a_command_too(action: Action) -> None:
    (action.folder / "model.py").write_text(
        "import promoarray as xp\nx = xp.asarray([200], dtype=xp.uint8)\ny = x + x\n"
    )
    ran = action(COMMAND="check", OPTIONS="--no-edit")
    assert ran.returncode == 1, ran.stderr
    assert "integer-wrap" in ran.stdout
    assert "| model.py:3 |" in action.summary()


def test_text_of_a_program_is_no_markup(action: Action) -> None:
    text = "import promoarray as xp\nx = xp.asarray([1], dtype=xp.uint8)\n"
    (action.folder / "model.py").write_text(f"{text}y = {{'<b>|`*': x / 2}}['<b>|`*']\n")
    assert action(OPTIONS="--policies torch").returncode == 1
    row = action.summary().splitlines()[-1]
    assert "<" not in row
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    assert not re.search(r"(?<!\\)[`*]", row)


@pytest.mark.parametrize(("install", "installed"), [("", "/the/action"), ("pa.whl", "pa.whl")])
def test_the_action_installs_itself_if_nothing_else_is_asked(install: str, installed: str) -> None:
    """The runner knows the action's path in its steps alone, in no default of an input."""
    text = (ROOT / "action.yml").read_text()
    assert "action_path" not in text.partition("runs:")[0]
    (line,) = re.findall(r"run: python -m pip install (.*)", text)
    env = os.environ | {"INSTALL": install, "GITHUB_ACTION_PATH": "/the/action"}
    ran = subprocess.run(["bash", "-c", f"echo {line}"], env=env, capture_output=True, text=True)
    assert ran.stdout.strip() == installed


@pytest.mark.parametrize("inputs", [{"COMMAND": "list; echo no"}, {"SCRIPT": "nothing.py"}])
def test_wrong_inputs_run_nothing(action: Action, inputs: dict[str, str]) -> None:
    ran = action(**inputs)
    assert ran.returncode == 2
    assert "\nno" not in ran.stdout
    assert not (action.folder / "output").exists()


def test_options_hold_no_commands(action: Action) -> None:
    ran = action(OPTIONS="--policies $(touch bad) ; touch bad")
    assert ran.returncode == 2
    assert not (action.folder / "bad").exists()


def test_hooks_name_commands_that_there_are() -> None:
    from promoarray.diagnostics.command_line import parser_of_all

    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    for entry in re.findall(r"entry: promoarray (.*)", hooks):
        name, *options = entry.split()
        parser = parser_of_all("")[1][name]
        assert {*options} <= {*parser._option_string_actions}
