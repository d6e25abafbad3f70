"""Zip archives whose JSON is of another form than promoarray, or torch.export, writes it in.

Runs that ``--save`` and ``align --save`` wrote, and ``.pt2``: an answer or an error, nothing else.
"""

from __future__ import annotations

import copy
import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

from promoarray.core.call_site import Site
from promoarray.diagnostics.file_format import PT2, NotReadable
from promoarray.diagnostics.modelfile import reading
from promoarray.diagnostics.modelfile.archive import recorded
from promoarray.diagnostics.modelfile.question import Question
from promoarray.diagnostics.record.tape import Tape, TapeAsked

PROGRAM = """\
import numpy as np
a = np.array([1, 200, 100], np.uint8)
b = (a + np.uint8(100)) * 2.5
c = b.astype(np.int8) + np.float32(3)
x = np.zeros(3, np.float32)
x += np.arange(3)
print(np.var(c), np.where(a > 2, c, 0.5))
"""
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 7, 1 << 40, 1 << 70, 10**400, 1e308, float("nan"), float("inf")),
    *("", "x", "f32", "float32", "\ud800", "\x1b[31m", "\0", "../../etc/passwd", "a" * 5000),
    *([], {}, [[]], [None], [1 << 40, 1 << 40], {"value": "x"}, {"number": "x"}, {"named": []}),
    *({"float": "nan"}, {"complex": ["1", "x"]}, {"as_tensor": {"name": "x"}}, {"as_tensors": 3}),
)


def ways(x: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, each in items:
        yield from ways(each, (*way, key))


def within(x: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        x = x[key]
    return x


def changed(data: Any, draw: random.Random) -> Any:
    """The data with values of another kind, without some, or with some in the place of others."""
    data = copy.deepcopy(data)
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        every = [way for way in ways(data) if way]
        way = draw.choice(every)
        way = way[: draw.randrange(1, len(way) + 1)] if draw.random() < 0.3 else way
        x, key, how = within(data, way[:-1]), way[-1], draw.random()
        if how < 0.4:
            x[key] = copy.deepcopy(draw.choice(ODD))
        elif how < 0.55:
            del x[key]
        elif how < 0.8:  # so that what feeds an operation follows it, or is itself
            alike = [each for each in every if type(within(data, each)) is type(x[key])]
            x[key] = copy.deepcopy(within(data, draw.choice(alike)))
        elif isinstance(x, list):
            x.insert(draw.randrange(len(x)), copy.deepcopy(x[key]))
        else:
            moved = x.pop(key)
            x[draw.choice(["x", *x])] = moved
    return data


def put(path: str, members: dict[str, bytes], member: str, data: Any) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, json.dumps(data) if name == member else text)


def members_of(path: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_recordings_of_another_form(command: Command) -> None:
    command.write(PROGRAM)
    command("check program.py --no-edit --save run.zip", status=1)
    whole, draw, refused = members_of("run.zip"), random.Random(0), 0
    data = json.loads(whole["recording.json"])
    for _ in range(100):
        put("damaged.zip", whole, "recording.json", changed(data, draw))
        asked = draw.choice(["compare", "compare --json", "why", "check", "check --json"])
        ran = command(f"{asked} damaged.zip --policies torch,paddle@3.3", status=None)
        assert "Traceback" not in ran.err
        assert "bug" not in ran.err
        if ran.status == 2:
            refused += 1
            assert ran.err.count("\n") <= 2
            assert len(ran.err) < 600
    assert 30 < refused < 100


def tape(path: str) -> None:
    made, place = Tape(TapeAsked(path)), Site("a.py", 3, 0, "y = f(x)", "f(x)")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    before = made.value(x, "float32")
    for name, then in (("exp", np.exp(x)), ("softmax", x + 1), ("__add__", x * 2)):
        after = made.value(then, "float32")
        row = {"name": name, "operation": "", "framework": "jax", "keywords": {"axis": -1}}
        row |= {"operands": [{"value": before}, {"number": "2.5"}], "results": [after]}
        made.put(row | {"written": [[before, after]], "for_shapes": False}, (place, place))
        before = after
    made.write()
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("recording.json", "{}")


def test_tapes_of_another_form(command: Command) -> None:
    tape("run.zip")
    whole, draw, refused = members_of("run.zip"), random.Random(0), 0
    for _ in range(120):
        put("damaged.zip", whole, "tape.json", changed(json.loads(whole["tape.json"]), draw))
        ran = command(
            draw.choice(["align run.zip damaged.zip", "align damaged.zip run.zip --json"])
        )
        assert "bug" not in ran.err
        refused += ran.status == 2
        assert ran.status != 2 or len(ran.err) < 600
    assert 30 < refused < 120


def of_archive(path: str) -> str:
    """Ask about an archive of torch.export; return why it is not read."""
    try:
        str(reading.report_of(Question(path, PT2, ("jax", "paddle@3.3"))))
    except NotReadable as error:
        return str(error)
    return ""


def node(target: str, inputs: list[Any], *made: str) -> dict[str, Any]:
    names = [{"name": f"x{n}", "arg": each, "kind": 1} for n, each in enumerate(inputs)]
    outputs = [{"as_tensor": {"name": name}} for name in made]
    return {"target": target, "inputs": names, "outputs": outputs, "metadata": {}}


def test_archives_of_another_form(tmp_path: Path, monkeypatch: Any) -> None:
    x, y = {"as_tensor": {"name": "x"}}, {"as_tensor": {"name": "y"}}
    nodes = [
        node("torch.ops.aten.mul.Tensor", [x, {"as_float": 2.5}], "y"),
        node("torch.ops.aten._to_copy.default", [y], "z"),
        node("torch.ops.aten.softmax.int", [y, {"as_int": 1}], "s"),
        node("torch.ops.aten.cat.default", [{"as_tensors": [x["as_tensor"], y["as_tensor"]]}], "c"),
    ]
    types = {name: {"dtype": 7, "sizes": [{"as_int": 2}]} for name in "xysc"}
    graph = {"nodes": nodes, "tensor_values": types | {"z": {"dtype": 6, "sizes": []}}}
    data = {"schema_version": {"major": 8, "minor": 1}, "graph_module": {"graph": graph}}
    path, draw, refused = str(tmp_path / "m.pt2"), random.Random(0), 0
    members = {"m/models/model.json": b"", "m/data/x.pkl": b"cos\nsystem\n(S'exit 1'\ntR."}
    monkeypatch.setattr(reading, "_in_process", recorded)
    for _ in range(400):
        put(path, members, "m/models/model.json", changed(data, draw))
        error = of_archive(path)
        refused += bool(error)
        assert len(error) < 600
    assert 100 < refused < 400


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("member", ["recording.json", "models/model.json", "tape.json"])
def test_texts_that_swell_or_come_twice(member: str, command: Command) -> None:
    """What a file holds is counted as it is read: 8 MiB of spaces are packed in some KiB."""
    for texts, said in (([" " * (8 << 20)], "longer than"), (["{}", "{}"], "2 ")):
        with zipfile.ZipFile("m.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for text in texts:
                archive.writestr(member, text)
            if member == "tape.json":
                archive.writestr("recording.json", "{}")
        asked = "align m.zip m.zip" if member == "tape.json" else "compare m.zip"
        assert said in command(asked, status=2).err
