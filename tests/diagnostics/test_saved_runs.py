"""``compare --save run.json`` and ``compare run.json``: a run asked again without running."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promoarray import __main__ as cli

PROGRAM = """\
import promoarray as xp
x = xp.asarray([1, 2], dtype=xp.int64)
w = xp.asarray([0.5, 500.0], dtype=xp.float32)
for step in range(3):
    y = x * w
    y = y + step
z = xp.astype(w, xp.float8_e4m3fn)
print("ran")
"""


def _compare(*options: str) -> int:
    return cli.main(["compare", *options])


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def _data(capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(capfd.readouterr().out)
    return data


def test_a_saved_run_answers_as_the_program_does(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _compare("program.py", "--policies", "torch,paddle@3.3", "--json") == 1
    ran = _data(capfd)
    assert _compare("program.py", "--save", "run.json", "--policies", "numpy@1", "--json") == 1
    capfd.readouterr()
    assert _compare("run.json", "--policies", "torch,paddle@3.3", "--json") == 1
    asked = _data(capfd)
    for name in ("findings", "verdicts", "operations", "run", "policies"):
        assert asked[name] == ran[name], name


def test_what_a_program_makes_of_a_dtype_that_it_reads_is_not_examined(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program.write_text(PROGRAM + "xp.zeros(2, dtype=y.dtype)\n")
    _compare("program.py", "--save", "run.json", "--json")
    capfd.readouterr()
    _compare("run.json", "--policies", "torch", "--json")
    (verdict,) = _data(capfd)["verdicts"]
    assert "a dtype that is read" in {each["what"] for each in verdict["not_examined"]}


def test_values_that_were_not_compared_are_not_examined(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program.write_text(PROGRAM.replace("float8_e4m3fn", "float8_e5m2"))
    _compare("program.py", "--save", "run.json", "--json")
    capfd.readouterr()
    _compare("run.json", "--policies", "onnx@24,mindspore", "--json")
    named = [{x["what"] for x in each["not_examined"]} for each in _data(capfd)["verdicts"]]
    what = "values of float32 cast to float8_e5m2"
    assert [what in each for each in named] == [True, False]  # of the second no number differs


def test_a_program_that_has_changed_is_to_be_recorded_again(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _compare("program.py", "--save", "run.json")
    program.write_text(PROGRAM.replace("500.0", "400.0"))
    capfd.readouterr()
    assert _compare("run.json") == 2
    assert "program.py has changed since it was recorded" in capfd.readouterr().err


def test_a_file_that_is_damaged_is_refused(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _compare("program.py", "--save", "run.json")
    whole = json.loads(Path("run.json").read_text())
    for key in whole.keys() - {"format"}:
        for damaged in ({k: v for k, v in whole.items() if k != key}, whole | {key: 7}):
            Path("damaged.json").write_text(json.dumps(damaged))
            capfd.readouterr()
            assert _compare("damaged.json") == 2, key
            assert "damaged.json" in capfd.readouterr().err
    Path("damaged.json").write_text(Path("run.json").read_text()[:-9])
    assert _compare("damaged.json") == 2


def test_data_that_left_the_policy_is_not_examined_in_a_saved_run(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program.write_text("import promoarray as xp\nimport numpy\nnumpy.asarray(xp.ones(2) * 2.0)\n")
    _compare("program.py", "--save", "run.json", "--policies", "numpy@1", "--json")
    ran = _data(capfd)
    _compare("run.json", "--policies", "numpy@1", "--json")
    asked = _data(capfd)
    assert ran["verdicts"][0]["verdict"] == "incomplete"
    for name in ("escapes", "findings", "verdicts"):
        assert asked[name] == ran[name], name


def test_two_formats_do_not_go_together_of_a_saved_run_either(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _compare("program.py", "--save", "run.json")
    capfd.readouterr()
    assert _compare("run.json", "--json", "--format", "sarif") == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "--json and --format sarif do not go together" in captured.err


@pytest.mark.parametrize("option", ["--run-all", "--stop", "--run=torch", "--save=other.json"])
def test_what_runs_a_program_does_not_go_with_a_saved_run(
    option: str, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _compare("program.py", "--save", "run.json")
    capfd.readouterr()
    assert _compare("run.json", option) == 2
    assert "is a recorded run" in capfd.readouterr().err


def test_a_pytorch_program_is_asked_again(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        "import torch\nx = torch.tensor([1, 2])\n"
        "y = x * torch.ones(2)\nz = torch.cumsum(x > 1, 0)\n"
    )
    _compare("train.py", "--policies", "paddle@3.3", "--json")
    ran = _data(capfd)
    _compare("train.py", "--save", "run.json", "--policies", "jax@x32", "--json")
    capfd.readouterr()
    assert _compare("run.json", "--policies", "paddle@3.3", "--json") == 1
    asked = _data(capfd)
    assert (asked["findings"], asked["calls"]) == (ran["findings"], ran["calls"])
