"""``promoarray port`` itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Command

PROGRAM = """\
import sys
import promoarray as xp
from helper import half

print("output", sys.argv[1:], __name__)
x = xp.asarray([1, 2], dtype=xp.int8)
y = half(x) * 2
"""
HELPER = "def half(a):\n    return a / 2\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text(HELPER)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.slow
def test_two_files_are_edited_in_place_and_agree(program: Path, command: Command) -> None:
    program.chmod(0o755)
    arguments = ["port", "program.py", "--to", "torch@2.13", "--write", "--json", "--", "-n", "3"]
    _, out, err = command(*arguments, status=0)
    data = json.loads(out)
    assert data["agrees"]
    assert [edit["operation"] for edit in data["edits"]] == ["divide"]
    helper = program.with_name("helper.py").read_text()
    assert helper.endswith("    return pa.astype(a, pa.float64) / 2\n")
    assert "import promoarray as pa\n" in helper
    assert program.read_text() == PROGRAM
    assert "agree: numpy@2 and torch@2.13" in err


@pytest.mark.slow
def test_a_module_is_run_as_python_does_it(program: Path, command: Command) -> None:
    package = program.with_name("package")
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text(HELPER)
    checks = 'assert (__package__, sys.argv[1:]) == ("package", ["-n"]), __package__\n'
    checks += 'assert sys.argv[0] == __file__ and sys.modules["__main__"].x is x\n'
    (package / "run.py").write_text(PROGRAM.replace("from helper", "from .helper") + checks)
    arguments = ["port", "-m", "package.run", "--to", "torch@2.13", "--write", "--", "-n"]
    err = command(*arguments, status=0).err
    assert "package.run, from numpy@2 to torch@2.13: 1 cast in 1 line" in err
    assert "agree: numpy@2 and torch@2.13" in err
    assert "pa.astype(a, pa.float64) / 2" in (package / "helper.py").read_text()


@pytest.mark.slow
def test_a_patch_is_printed_and_the_verdict_told_apart(program: Path, command: Command) -> None:
    program.write_text(PROGRAM.replace("* 2", "+ xp.astype(xp.asarray([500.]), xp.float8_e4m3fn)"))
    _, out, err = command("port program.py --to torch@2.13", status=1)
    assert out.startswith("--- a/helper.py\n+++ b/helper.py\n@@ ")
    assert "\noutput" not in out
    assert "differs: torch@2.13: y: " in err
    assert "not edited: program.py:7 astype (torch@2.13): no cast gives the same values" in err
    assert program.with_name("helper.py").read_text() == HELPER


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.py", "--to", "torch"], "no such file: gone.py"),
        (["folder", "--to", "torch"], "folder is a folder; name its __main__.py"),
        (["cells.ipynb", "--to", "torch"], "is a notebook, which is not edited"),
        (["program.py", "--to", ","], "--to names no policy"),
        (["program.py", "--to", "pytorch"], "Did you mean"),
        (["program.py", "--to", "torch", "--patch", "none/a.patch"], "write the name of a file"),
        (["program.py"], "--to"),
    ],
)
def test_usage_errors_are_told_before_anything_runs(
    program: Path, command: Command, arguments: list[str], words: str
) -> None:
    folder = program.with_name("folder")
    folder.mkdir()
    (folder / "__main__.py").touch()
    assert words in command("port", *arguments, status=2).err


def test_a_module_that_is_not_there_stops_before_anything_is_recorded(
    program: Path, command: Command
) -> None:
    assert (
        "stopped before it imported promoarray: exit status 1"
        in command("port -m gone --to torch", status=3).err
    )


def test_a_program_that_fails_is_told(program: Path, command: Command) -> None:
    program.write_text(PROGRAM + "1 / 0\n")
    _, out, err = command("port program.py --to torch", status=3)
    assert "the program stopped under numpy@2: ZeroDivisionError" in err
    assert "program.py:8" in err
    assert out == ""


def test_what_has_a_policy_of_its_own_is_not_edited(
    tmp_path: Path,
    command: Command,
) -> None:
    (tmp_path / "program.py").write_text(
        "import promoarray as pa\npa.set_policy('torch')\nx = pa.asarray([1, 2], dtype=pa.int8)\n"
        "y = x / 2\nwith pa.policy('numpy@2'):\n    z = x / 2\n"
        "xp = pa.namespace('numpy@2')\nw = xp.asarray([1, 2], dtype=xp.int8) / 2\n"
    )
    printed = command("port program.py --to numpy@1,paddle@3.3", status=0)
    added = [line for line in printed.out.splitlines() if line.startswith("+")]
    assert added[1:] == ["+y = pa.astype(x, pa.float32) / 2"]
    assert "agree: torch@2.13, numpy@1 and paddle@3.3" in printed.err
