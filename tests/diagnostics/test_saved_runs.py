"""``compare --save run.zip`` and ``compare run.zip``: a run asked again without running."""

from __future__ import annotations

import io
import json
import re
import zipfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from command import Command
from diagnostics.recording_schema import SCHEMA
from diagnostics.recording_schema import text as schema_text

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
    command("compare program.py --save run.zip --policies numpy@1 --json", status=1)
    asked = command("compare run.zip --policies torch,paddle@3.3 --json", status=1).data
    for name in ("findings", "verdicts", "operations", "run", "policies"):
        assert asked[name] == ran[name], name


def test_what_a_program_makes_of_a_dtype_that_it_reads_is_not_examined(
    program: Path, command: Command
) -> None:
    program.write_text(PROGRAM + "xp.zeros(2, dtype=y.dtype)\n")
    command("compare program.py --save run.zip --json")
    (verdict,) = command("compare run.zip --policies torch --json").data["verdicts"]
    assert "a dtype that is read" in {each["what"] for each in verdict["not_examined"]}


def test_values_that_were_not_compared_are_not_examined(program: Path, command: Command) -> None:
    program.write_text(PROGRAM.replace("float8_e4m3fn", "float8_e5m2"))
    command("compare program.py --save run.zip --json")
    named = [
        {x["what"] for x in each["not_examined"]}
        for each in command("compare run.zip --policies onnx@24,mindspore --json").data["verdicts"]
    ]
    what = "values of float32 cast to float8_e5m2"
    assert [what in each for each in named] == [True, False]  # of the second no number differs


def test_a_program_that_has_changed_is_to_be_recorded_again(
    program: Path, command: Command
) -> None:
    command("compare program.py --save run.zip")
    program.write_text(PROGRAM.replace("500.0", "400.0"))
    assert (
        "program.py has changed since it was recorded" in command("compare run.zip", status=2).err
    )


def member(path: str = "run.zip") -> Any:
    """What a recording holds, read without promoarray."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("recording.json"))


def put(data: Any, path: str = "damaged.zip") -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("recording.json", data if type(data) is bytes else json.dumps(data))


def test_a_file_that_is_damaged_is_refused(program: Path, command: Command) -> None:
    command("compare program.py --save run.zip")
    whole = member()
    defaults = {"beside", "failed", "lost", "checked", "unread"}
    for key in whole.keys() - {"format"}:
        for damaged in ({k: v for k, v in whole.items() if k != key}, whole | {key: 1.5}):
            put(damaged)
            if key not in defaults or key in damaged:
                assert "damaged.zip" in command("compare damaged.zip", status=2).err, key
    for text in (json.dumps(whole)[:-9].encode(), b"[" * 100_000, b"7", b"\xff"):
        put(text)
        assert "damaged.zip" in command("compare damaged.zip", status=2).err
    for cut in (30, 200, -30):
        Path("damaged.zip").write_bytes(Path("run.zip").read_bytes()[:cut])
        command("compare damaged.zip", status=2)
    Path("damaged.zip").write_bytes(b"QK" + Path("run.zip").read_bytes()[2:])
    command("check damaged.zip", status=2)  # and it is not run


def test_a_newer_format_is_refused_in_words_and_a_field_more_is_not(
    program: Path, command: Command
) -> None:
    command("compare program.py --save run.zip")
    put(member() | {"version": 2})
    assert "install a newer one" in command("compare damaged.zip", status=2).err
    put(member() | {"a field of later": [1]}, "later.zip")
    assert command("compare later.zip --policies torch --json").data["operations"] == 7


def test_a_recording_of_the_first_version_is_read(command: Command) -> None:
    """``recording-1.zip`` was written by the first version of the format, and stays as it is."""
    file = Path(__file__).parent / "recording-1.zip"
    found = command(f"compare {file} --policies paddle@3.3 --json", status=1).data
    assert [(each["line"], each["kind"]) for each in found["findings"]] == [(4, "refuse")]
    found = command(f"check {file} --json", status=1).data
    assert [(each["kind"], each["line"]) for each in found["losses"]] == [
        ("implicit-widening", 4),
        ("integer-wrap", 6),
    ]


def test_the_schema_is_that_of_what_is_written(program: Path, command: Command) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), (
        "run python tests/diagnostics/recording_schema.py"
    )
    command("compare program.py --save run.zip")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for path in ("run.zip", Path(__file__).parent / "recording-1.zip"):
        jsonschema.validate(member(path), schema)


def test_the_reader_of_the_page_reads_one(program: Path, command: Command) -> None:
    page = Path(__file__).parents[2] / "docs" / "record.md"
    (code,) = re.findall(r"```python\n(import json, zipfile.*?)```", page.read_text(), re.DOTALL)
    command("compare program.py --save run.zip")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    assert "program.py:5 multiply ['i64', 'f32'] -> ['f64'] x3" in printed.getvalue()


def test_why_check_and_diff_take_a_recording(command: Command) -> None:
    command.write(
        "import numpy as np\nx = np.array([200, 100], np.uint8)\ny = x + x\n"
        "z = np.float32(3) + 3.0\n"
    )
    ran = command("check program.py --no-edit --save run.zip --json", status=1).data
    asked = command("check run.zip --json", status=1).data
    for name in ("losses", "findings", "examined", "framework"):
        assert asked[name] == ran[name], name
    assert "uint8" in command("why run.zip --value y").out
    found = command("diff run.zip --from numpy@2 --to numpy@1 --json", status=1).data
    assert [each["line"] for each in found["changes"]] == [4]
    assert "write --from numpy@2" in command("diff run.zip --from numpy@1 --to torch", status=2).err
    command("compare program.py --save plain.zip")
    assert "without looking at values" in command("check plain.zip", status=2).err
    assert "--shadow is of a program" in command("check run.zip --shadow float64", status=2).err


def test_a_stop_is_explained_of_a_recording(command: Command) -> None:
    command.write("import numpy as np\nx = np.ones(2) & np.array([1, 2])\n")
    ran = command("why program.py --no-edit --save run.zip --json", status=1).data
    asked = command("why run.zip --json", status=1).data
    assert asked["stopped"] == ran["stopped"]


def test_a_source_that_nothing_makes_is_refused(program: Path, command: Command) -> None:
    command("compare program.py --save run.zip")
    data = member()
    data["flows"][0]["operations"][-1]["sources"][0] = [[99, 0]]
    put(data)
    assert "nothing makes 99" in command("compare damaged.zip", status=2).err


def test_what_nobody_recorded_is_refused(program: Path, command: Command) -> None:
    def operation(data: Any) -> Any:
        every = data["flows"][0]["operations"]
        return next(each for each in every if len(each["operands"]) == 2)

    operations = [
        {"kind": "other"},
        {"results": ["f80"]},
        {"operands": [], "sources": []},
        {"sources": []},
        {"place": {"site": -1, "program": 0}},
        {"operands": [{"code": "", "value": [1]}] * 2},
        {"operands": [{"code": "", "value": None}] * 2},
        {"operands": [{"code": "i64", "value": 1e308}] * 2},
        {"name": "nosuch"},
        {"results": ["f64", "f64"]},
    ]
    places = [{"file": "a\0b"}, {"extent": [1, 2, 3]}]
    damages = [(operation, each) for each in operations]
    damages += [(lambda data: data["sites"][0], each) for each in places]
    command("compare program.py --save run.zip")
    for part, damage in damages:
        data = member()
        part(data).update(damage)
        put(data)
        assert "is no recording" in command("compare damaged.zip", status=2).err, damage
    put(member() | {"calls": [[["nosuch", "add"], 1]]})
    assert "calls of a kind nosuch" in command("compare damaged.zip", status=2).err


def test_a_recording_is_packed_as_it_was_saved(program: Path, command: Command) -> None:
    command("compare program.py --save run.zip")
    with zipfile.ZipFile("lzma.zip", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("recording.json", json.dumps(member()))
    assert "not deflated" in command("compare lzma.zip", status=2).err
    text = bytearray(Path("run.zip").read_bytes())
    text[6] |= 1  # which says that it is encrypted, at the member and in the directory
    text[text.rindex(b"PK\x01\x02") + 8] |= 1
    Path("run.zip").write_bytes(text)
    assert "is encrypted" in command("compare run.zip", status=2).err


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
    ran = command("compare program.py --save run.zip --policies numpy@1 --json").data
    asked = command("compare run.zip --policies numpy@1 --json").data
    assert ran["verdicts"][0]["verdict"] == "incomplete"
    for name in ("escapes", "findings", "verdicts"):
        assert asked[name] == ran[name], name


def test_what_does_not_go_with_a_saved_run(program: Path, command: Command) -> None:
    command("compare program.py --save run.zip")
    for option in ("--run-all", "--stop", "--run=torch", "--save=other.json"):
        assert "is a recording" in command("compare run.zip", option, status=2).err
    captured = command("compare run.zip --json --format sarif", status=2)
    assert captured.out == ""
    assert "--json and --format sarif do not go together" in captured.err


def test_a_pytorch_program_is_asked_again(command: Command) -> None:
    pytest.importorskip("torch")
    Path("train.py").write_text(
        "import torch\nx = torch.tensor([1, 2])\n"
        "y = x * torch.ones(2)\nz = torch.cumsum(x > 1, 0)\n"
    )
    ran = command("compare train.py --policies paddle@3.3 --json").data
    command("compare train.py --save run.zip --policies jax@x32 --json")
    asked = command("compare run.zip --policies paddle@3.3 --json", status=1).data
    assert (asked["findings"], asked["calls"]) == (ran["findings"], ran["calls"])
