"""Settings of a project: ``[tool.promoarray]`` in ``pyproject.toml``."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command

from promoarray import cli

PROGRAM = """
import promoarray as xp

pixels = xp.asarray([[10, 200], [250, 30]], dtype=xp.uint8)
scaled = pixels / 255
total = xp.sum(pixels, axis=0)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(PROGRAM)
    return tmp_path


def settings(here: Path, text: str) -> None:
    (here / "pyproject.toml").write_text(text)


def test_policies_hold_for_each_command_that_has_them(command: Command, here: Path) -> None:
    settings(here, '[tool.promoarray]\npolicies = ["torch", "paddle@3.3"]\n')
    out = command("compare model.py", status=1).out
    assert "torch@2.13" in out
    assert "paddle@3.3" in out
    assert "jax" not in out
    assert command("cast 300 --from float32 --to int8").out.count("@") == 2


def test_the_command_line_goes_before(command: Command, here: Path) -> None:
    settings(here, '[tool.promoarray]\npolicies = "torch"\n')
    assert "torch" not in command("compare model.py --policies jax", status=1).out


def test_a_command_has_a_table_of_its_own(command: Command, here: Path) -> None:
    own = '[tool.promoarray.compare]\nfail-on = ["refuse"]\n'
    settings(here, f'[tool.promoarray]\npolicies = "torch"\n{own}')
    command("compare model.py", status=0)
    command("compare model.py --fail-on root", status=1)


def test_required_options_may_be_settings(command: Command, here: Path) -> None:
    settings(here, '[tool.promoarray.diff]\nfrom = "numpy@2"\nto = "torch"\n')
    assert "torch@2.13" in command("diff model.py", status=1).out


def test_findings_are_ignored_by_kind_and_policy(command: Command, here: Path) -> None:
    settings(here, '[tool.promoarray]\npolicies = ["torch"]\nignore = ["torch"]\n')
    out = command("compare model.py", status=0).out
    assert "2 findings not shown: 2 ignored." in out
    command("compare model.py --ignore refuse", status=1)


def test_settings_of_files(command: Command, here: Path) -> None:
    files = '[tool.promoarray.files."old/*.py"]\npolicies = "paddle"\nignore = ["dtype"]\n'
    settings(here, f'[tool.promoarray]\npolicies = "torch"\n{files}')
    (here / "old").mkdir()
    (here / "old" / "model.py").write_text(PROGRAM)
    assert "paddle" not in command("compare model.py", status=1).out
    out = command("compare old/model.py", status=0).out
    assert "ignored" in out
    assert "torch" not in out


def test_a_folder_may_be_named_like_a_pattern(command: Command, here: Path, monkeypatch) -> None:
    (here / "a[b]").mkdir()
    monkeypatch.chdir(here / "a[b]")
    (here / "a[b]" / "model.py").write_text(PROGRAM)
    settings(
        here / "a[b]", '[tool.promoarray.files."./*.py"]\npolicies = "jax"\nignore = ["jax"]\n'
    )
    command("compare model.py", status=0)


def test_a_file_that_is_no_project_has_no_settings(command: Command, here: Path) -> None:
    settings(here, "tool = 3\n")
    command("compare model.py --policies torch", status=1)


def test_a_baseline_is_beside_the_file(command: Command, here: Path, monkeypatch) -> None:
    settings(here, '[tool.promoarray]\npolicies = "torch"\nbaseline = "known.json"\n')
    command("compare model.py --update-baseline", status=0)
    assert (here / "known.json").is_file()
    (here / "deep").mkdir()
    monkeypatch.chdir(here / "deep")
    command("compare ../model.py", status=0)


def test_the_nearest_file_with_settings_holds(command: Command, here: Path, monkeypatch) -> None:
    settings(here, '[tool.promoarray]\npolicies = "torch"\n')
    (here / "deep").mkdir()
    (here / "deep" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    monkeypatch.chdir(here / "deep")
    assert "jax" not in command("compare ../model.py", status=1).out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.promoarray]\npolicy = 'torch'\n", "has no 'policy'. Did you mean policies?"),
        ("[tool.promoarray.comapre]\nall = true\n", "has no 'comapre'. Did you mean compare?"),
        ("[tool.promoarray.compare]\nfail_on = 'root'\n", "Did you mean fail-on?"),
        ("[tool.promoarray.compare]\nfail-on = 'rot'\n", "'rot' is none of"),
        ("[tool.promoarray.compare]\nall = 'yes'\n", "all = 'yes': it is true or false"),
        ("[tool.promoarray.compare]\nupdate-baseline = true\n", "has no 'update-baseline'"),
        ("[tool.promoarray.compare]\npolicies = { a = 1 }\n", "has no 'policies'"),
        ("[tool.promoarray]\ncompare = 'torch'\n", "[tool.promoarray.compare] is no table"),
        (
            "[tool.promoarray]\npolicies = 'trch'\n",
            "policies = 'trch': unknown policy 'trch'. Did you",
        ),
        ("[tool.promoarray]\npolicies = [['torch']]\n", "it is a text, a number or a list"),
        ("[tool.promoarray]\nfail-on = 'nan-born'\n", "stands in [tool.promoarray.COMMAND]"),
        ("[tool.promoarray]\nignore = 'dtpye'\n", "Did you mean: dtype?"),
        ("[tool.promoarray.files]\n'*.py' = 1\n", '[tool.promoarray.files."*.py"] is no table'),
        ("[tool.promoarray.files.'*.py']\npolcies = 1\n", "Did you mean policies?"),
        ("[tool]\npromoarray = 1\n", "[tool.promoarray] is no table"),
        ("[tool.promoarray\n", "cannot be read"),
    ],
)
def test_what_is_no_setting(command: Command, here: Path, text: str, words: str) -> None:
    settings(here, text)
    said = command("compare model.py", status=2).err
    assert words in said
    assert "pyproject.toml" in said
    assert words in " ".join(command("doctor", status=1).out.split())


def test_doctor_shows_settings_and_their_policies(command: Command, here: Path) -> None:
    settings(here, '[tool.promoarray]\npolicies = ["torch", "jax"]\n')
    assert "[tool.promoarray] policies torch, jax" in command("doctor").out
    settings(here, '[tool.promoarray]\npolicies = ["trch"]\n')
    assert "torch" in command("doctor", status=1).out


def test_one_spelling(command: Command, here: Path) -> None:
    assert "torch@2.13" in command("compare model.py --policy torch", status=1).out
    assert command("explain add int8 1.5 --policies torch,jax").out.count("rule ") == 2
    many = command("explain add int8 1.5 --policy torch,jax --json").data
    assert [each["policy"] for each in many] == ["torch@2.13", "jax@x64"]


def test_help_needs_no_settings(here: Path, capfd) -> None:
    settings(here, "[tool.promoarray]\nnothing = 1\n")
    assert cli.main(["--help"]) == 0
    assert cli.main(["--version"]) == 0
