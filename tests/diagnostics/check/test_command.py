"""``promoarray check``: what a program of promoarray's own arrays lost, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promoarray import cli

PROGRAM = """\
import promoarray as pa

pa.set_policy("torch")
counter = pa.zeros((), dtype=pa.bfloat16)
for _ in range(300):
    counter += 1
red = pa.asarray([1, 2, 3], dtype=pa.uint8)
nir = pa.asarray([2, 2, 2], dtype=pa.uint8)
ndvi = red - nir
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with no settings above it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def run(
    capfd: pytest.CaptureFixture[str], here: Path, text: str, *options: str
) -> tuple[int, str, str]:
    """The exit code, and what was printed and told besides."""
    (here / "program.py").write_text(text)
    code = cli.main(["check", "program.py", *options])
    out, err = capfd.readouterr()
    return code, " ".join(out.split()), err


def losses(capfd: pytest.CaptureFixture[str], here: Path, text: str, *options: str) -> Any:
    (here / "program.py").write_text(text)
    cli.main(["check", "program.py", "--no-edit", "--json", *options])
    return json.loads(capfd.readouterr()[0])["losses"]


def test_a_report_has_the_loss_the_operands_and_an_edit_that_a_run_checked(capfd, here) -> None:
    code, out, _ = run(capfd, here, PROGRAM)
    assert code == 1
    assert "program.py:9 ndvi = red - nir" in out
    assert "integer-wrap red - nir: 1 of 3 elements wraps: 1 - 2 is -1, and uint8 has 255" in out
    assert "red uint8, 1 to 3" in out
    assert "write program.py:9 ndvi = pa.astype(red, pa.int16) - nir" in out
    assert "checked: with it, no integer wraps there, and the program runs to its end" in out
    assert "all 44 updates change nothing: 256.0 and 1 give 256.0 (in 44 of 300 passes" in out
    assert "301 operations of promoarray examined: 2 findings at 2 lines." in out


@pytest.mark.parametrize("framework", ["torch", "jax", "paddle"])
def test_an_edit_is_in_the_words_of_the_library_that_computes(capfd, here, framework) -> None:
    pytest.importorskip(framework)
    text = (
        f"import numpy as np\nimport {framework}\nx = np.array([200, 100], np.uint8)\ny = x + x\n"
    )
    _, out, _ = run(capfd, here, text)
    assert "write program.py:4 y = x.astype(np.int16) + x" in out
    assert "checked: with it, no integer wraps there, and the program runs to its end" in out


def test_a_program_that_takes_long_is_not_run_again_unless_somebody_asks_for_edits(
    capfd, here, monkeypatch
) -> None:
    monkeypatch.setattr("promoarray.diagnostics.run.attempts.LONG", 0.0)
    _, out, err = run(capfd, here, PROGRAM)
    assert "integer-wrap red - nir" in out
    assert "checked: with it" not in out
    assert "no edits were tried: each is a run of the program" in err
    assert "Write --edit to try up to 6" in err
    _, out, err = run(capfd, here, PROGRAM, "--edit")
    assert "checked: with it, no integer wraps there" in out
    assert "no edits were tried" not in err


def test_a_clean_program_has_no_findings(capfd, here) -> None:
    clean = "import promoarray as pa\nx = pa.asarray([1.0, 2.0], dtype=pa.float32)\ny = x * x\n"
    code, out, _ = run(capfd, here, clean)
    assert code == 0
    assert "1 operation of promoarray examined: nothing was lost in them." in out


def test_what_a_program_means_is_not_told(capfd, here) -> None:
    text = """\
import promoarray as pa
x = pa.asarray([200, 3], dtype=pa.uint8)
low = (x * 31) & 0x7F
def fnv_hash(x):
    return x * 131
fnv_hash(x)
y = x * 3  # promoarray: ignore[integer-wrap]
z = x * 5  # promoarray: ignore
with_where = pa.where(x > 3, 1.0 / (x - x), 0.0)
"""
    code, out, _ = run(capfd, here, text, "--no-edit")
    assert code == 0
    assert "1 an integer of which the low bits are meant" in out
    assert "1 a hash, or a random generator" in out
    assert "1 an Inf or NaN that the same line replaces" in out
    assert "2 findings not shown: 2 ignored" in out


def test_a_comment_of_the_other_command_is_not_unused(capfd, here) -> None:
    text = PROGRAM + "a = ndvi + 1  # promoarray: ignore[dtype]\n"
    text += "b = ndvi * 2  # promoarray: ignore[integer-wrap]\n"
    assert "unused" not in run(capfd, here, text, "--no-edit")[1]
    cli.main(["compare", "program.py", "--policies", "numpy"])
    out = capfd.readouterr()[0]
    assert "unused ignore: # promoarray: ignore[dtype]" in out
    assert "ignore[integer-wrap]" not in out
    own = PROGRAM.replace("red - nir", "red - nir  # promoarray: ignore[integer-wrap]")
    assert "unused" not in run(capfd, here, own, "--no-edit", "--only", "absorbed")[1]


def test_json_has_every_number(capfd, here) -> None:
    absorbed, wrapped = losses(capfd, here, PROGRAM)
    assert wrapped["kind"] == "integer-wrap"
    assert (wrapped["lost"], wrapped["examined"], wrapped["line"]) == (1, 3, 9)
    assert wrapped["first"] == {"index": [0], "given": ["1", "2"], "exact": "-1", "got": "255"}
    assert wrapped["ranges"] == [["1", "3"], ["2", "2"]]
    assert (absorbed["passes"], absorbed["of_passes"], absorbed["first_pass"]) == (44, 300, 257)


def test_sarif_and_github(capfd, here) -> None:
    code, out, _ = run(capfd, here, PROGRAM, "--format", "github", "--no-edit")
    assert code == 1
    assert (
        "::error file=program.py,line=9,endLine=9,col=8,endColumn=17,title=integers wrap::" in out
    )
    assert "::warning file=program.py,line=6" in out
    cli.main(["check", "program.py", "--format", "sarif", "--no-edit"])
    (found,) = json.loads(capfd.readouterr()[0])["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert [rules[each["ruleIndex"]]["id"] for each in found["results"]] == [
        each["ruleId"] for each in found["results"]
    ]
    assert {each["ruleId"] for each in found["results"]} == {"integer-wrap", "absorbed"}


def test_a_page_is_self_contained_and_escaped(capfd, here) -> None:
    text = PROGRAM.replace("red - nir", "red - nir  # <script>alert(1)</script>")
    _, out, _ = run(capfd, here, text, "--html", "page.html", "--no-edit")
    assert "Written: page.html" in out
    page = (here / "page.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "1 of 3 elements wraps" in page
    assert page.lower().startswith("<!doctype html>")


def test_a_baseline_has_what_is_known(capfd, here) -> None:
    update = "--baseline", "known.json", "--update-baseline", "--no-edit"
    assert run(capfd, here, PROGRAM, *update)[0] == 0
    known = "--baseline", "known.json", "--no-edit"
    code, out, _ = run(capfd, here, PROGRAM, *known)
    assert code == 0
    assert "2 findings not shown: 2 known in known.json" in out
    assert run(capfd, here, PROGRAM + "more = red * 200\n", *known)[0] == 1


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--fail-on", "overflow"), 0),
        (("--fail-on", "any", "--only", "absorbed"), 1),
        (("--only", "nan-born"), 0),
    ],
)
def test_kinds_are_chosen(capfd, here, options, code) -> None:
    assert run(capfd, here, PROGRAM, "--no-edit", *options)[0] == code


def test_settings_of_the_project(capfd, here) -> None:
    settings = '[tool.promoarray.check]\nonly = ["nan-born"]\n'
    (here / "pyproject.toml").write_text(settings)
    assert run(capfd, here, PROGRAM, "--no-edit")[0] == 0
    assert run(capfd, here, PROGRAM, "--no-edit", "--only", "absorbed")[0] == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("onyl = ['overflow']", "has no 'onyl'. Did you mean only?"),
        ("only = ['overflo']", "Did you mean overflow?"),
        ("ulps = 'many'", "is not a number from 0 on"),
        ("shadow = 'int8'", "it is float32 or float64"),
    ],
)
def test_settings_that_are_none(capfd, here, settings, words) -> None:
    (here / "pyproject.toml").write_text(f"[tool.promoarray.check]\n{settings}\n")
    code, _, err = run(capfd, here, PROGRAM, "--no-edit")
    assert code == 2
    assert words in err


def test_wrong_arguments(capfd, here) -> None:
    code, _, err = run(capfd, here, PROGRAM, "--only", "integer-warp")
    assert code == 2
    assert "Did you mean integer-wrap?" in err
    assert run(capfd, here, PROGRAM, "--baseline", "none.json")[0] == 2
    assert cli.main(["check", "nothing.py"]) == 2
    assert "no such file" in capfd.readouterr()[1]


def test_the_name_of_a_policy_still_proves_its_rule(capfd, here) -> None:
    assert cli.main(["check", "paddle@3.3"]) in (0, 1)
    assert "property" in capfd.readouterr()[0]
    assert cli.main(["check", "paddel"]) == 2


def test_a_program_that_stops_is_told_up_to_there(capfd, here) -> None:
    code, out, err = run(capfd, here, PROGRAM + "raise ValueError('enough')\n")
    assert code == 3
    assert "integer-wrap" in out
    assert "Not examined: what follows the stop at program.py:" in out
    assert "ValueError: enough" in err


def test_text_of_a_program_is_escaped(capfd, here) -> None:
    text = PROGRAM.replace("red - nir", "red - nir + (0 if '\\x1b[31m' else 0)")
    (here / "program.py").write_text(text.replace("\\x1b", "\x1b"))
    cli.main(["check", "program.py", "--no-edit"])
    assert "\x1b" not in capfd.readouterr()[0]


@pytest.mark.parametrize(
    ("made", "changed", "edit"),
    [
        ("np.zeros(2, np.uint8)", "np.array([100, 1], np.uint8)", "np.zeros(2, np.int16)"),
        ("np.zeros(2, np.float16)", "np.float16(30000)", "np.zeros(2, np.float32)"),
        ("np.float16(0)", "np.float16(30000)", "np.float32(0)"),
    ],
)
def test_what_a_line_adds_to_in_place_is_made_wider(capfd, here, made, changed, edit) -> None:
    text = f"import numpy as np\nx = {made}\nwith np.errstate(invalid='ignore'):\n"
    text += f"    for _ in range(3):\n        x += {changed}\n"
    _, out, _ = run(capfd, here, text)
    assert f"write program.py:2 x = {edit} checked: with it, no" in out
