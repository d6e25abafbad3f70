"""``compare --save run.json`` and ``compare run.json``: a run asked again without running."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Command

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.flow import Flow, Given, Place, RecordedOperation
from promoarray.diagnostics.record.saved import as_data, from_data
from promoarray.operations import Form

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


@pytest.fixture
def program(command: Command) -> Path:
    return Path(command.write(PROGRAM))


def test_a_saved_run_answers_as_the_program_does(program: Path, command: Command) -> None:
    ran = command("compare program.py --policies torch,paddle@3.3 --json", status=1).data
    command("compare program.py --save run.json --policies numpy@1 --json", status=1)
    asked = command("compare run.json --policies torch,paddle@3.3 --json", status=1).data
    for name in ("findings", "verdicts", "operations", "run", "policies"):
        assert asked[name] == ran[name], name


def test_what_a_program_makes_of_a_dtype_that_it_reads_is_not_examined(
    program: Path, command: Command
) -> None:
    program.write_text(PROGRAM + "xp.zeros(2, dtype=y.dtype)\n")
    command("compare program.py --save run.json --json")
    (verdict,) = command("compare run.json --policies torch --json").data["verdicts"]
    assert "a dtype that is read" in {each["what"] for each in verdict["not_examined"]}


def test_values_that_were_not_compared_are_not_examined(program: Path, command: Command) -> None:
    program.write_text(PROGRAM.replace("float8_e4m3fn", "float8_e5m2"))
    command("compare program.py --save run.json --json")
    named = [
        {x["what"] for x in each["not_examined"]}
        for each in command("compare run.json --policies onnx@24,mindspore --json").data["verdicts"]
    ]
    what = "values of float32 cast to float8_e5m2"
    assert [what in each for each in named] == [True, False]  # of the second no number differs


def test_a_program_that_has_changed_is_to_be_recorded_again(
    program: Path, command: Command
) -> None:
    command("compare program.py --save run.json")
    program.write_text(PROGRAM.replace("500.0", "400.0"))
    assert (
        "program.py has changed since it was recorded" in command("compare run.json", status=2).err
    )


def test_a_file_that_is_damaged_is_refused(program: Path, command: Command) -> None:
    command("compare program.py --save run.json")
    whole = json.loads(Path("run.json").read_text())
    for key in whole.keys() - {"format"}:
        for damaged in ({k: v for k, v in whole.items() if k != key}, whole | {key: 7}):
            Path("damaged.json").write_text(json.dumps(damaged))
            assert "damaged.json" in command("compare damaged.json", status=2).err
    Path("damaged.json").write_text(Path("run.json").read_text()[:-9])
    command("compare damaged.json", status=2)


def test_what_feeds_an_operation_is_checked_as_a_run_is_read(
    program: Path, command: Command
) -> None:
    command("compare program.py --save run.json")
    data = json.loads(Path("run.json").read_text())
    sources = RecordedOperation.__dataclass_fields__.keys()
    operations = data["flows"][0][0]
    operations[-1][[*sources].index("sources")][0] = [[99, 0]]
    Path("damaged.json").write_text(json.dumps(data))
    assert "nothing makes 99" in command("compare damaged.json", status=2).err


@pytest.mark.parametrize("value", [True, 3, 1 << 70, 0.1, -0.0, float("inf"), 1 - 0.0j, None])
def test_numbers_are_saved_exactly(value: Any) -> None:
    place = Place(Site("a.py", 1, 0, "x", "x"), Site("b.py", 2, 0, "y", "y"))
    given = Given("", True, value)
    what = "operation", "add", Form.OPERATOR, "torch@2.13", (given,), ("f4",), True
    flow = Flow([RecordedOperation(*what, {"low": True}, place, 2, [{(0, 1)}])])
    again = from_data(Flow, json.loads(json.dumps(as_data(flow))))
    assert repr(again) == repr(flow)


def test_data_that_left_the_policy_is_not_examined_in_a_saved_run(
    program: Path, command: Command
) -> None:
    program.write_text("import promoarray as xp\nimport numpy\nnumpy.asarray(xp.ones(2) * 2.0)\n")
    ran = command("compare program.py --save run.json --policies numpy@1 --json").data
    asked = command("compare run.json --policies numpy@1 --json").data
    assert ran["verdicts"][0]["verdict"] == "incomplete"
    for name in ("escapes", "findings", "verdicts"):
        assert asked[name] == ran[name], name


def test_two_formats_do_not_go_together_of_a_saved_run_either(
    program: Path, command: Command
) -> None:
    command("compare program.py --save run.json")
    captured = command("compare run.json --json --format sarif", status=2)
    assert captured.out == ""
    assert "--json and --format sarif do not go together" in captured.err


@pytest.mark.parametrize("option", ["--run-all", "--stop", "--run=torch", "--save=other.json"])
def test_what_runs_a_program_does_not_go_with_a_saved_run(
    option: str, program: Path, command: Command
) -> None:
    command("compare program.py --save run.json")
    assert "is a recorded run" in command("compare run.json", option, status=2).err


def test_a_pytorch_program_is_asked_again(command: Command) -> None:
    pytest.importorskip("torch")
    Path("train.py").write_text(
        "import torch\nx = torch.tensor([1, 2])\n"
        "y = x * torch.ones(2)\nz = torch.cumsum(x > 1, 0)\n"
    )
    ran = command("compare train.py --policies paddle@3.3 --json").data
    command("compare train.py --save run.json --policies jax@x32 --json")
    asked = command("compare run.json --policies paddle@3.3 --json", status=1).data
    assert (asked["findings"], asked["calls"]) == (ran["findings"], ran["calls"])
