"""Baselines: findings that are known do not fail, wherever their lines move."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from diagnostics.findings.programs import HALF, START, Command, write

from promoarray.diagnostics.findings import classify as baseline

KNOWN = ("--baseline", "known.json")
UPDATE = (*KNOWN, "--update-baseline")


def test_what_is_known_does_not_fail(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF)
    assert compare(script).status == 1
    ran = compare(script, *UPDATE)
    assert ran.status == 0
    assert "1 finding not shown: 1 known in known.json." in ran.out
    assert "x / 2" not in ran.out
    assert compare(script, *KNOWN).status == 0
    write(tmp_path, HALF + "z = x * 1.5\n")
    ran = compare(script, *KNOWN)
    assert ran.status == 1
    assert "x * 1.5" in ran.out
    assert "x / 2" not in ran.out
    data = compare(script, *KNOWN, "--json").data
    assert [(f["expression"], f["state"], f["fails"]) for f in data["findings"]] == [
        ("x / 2", "known", False),
        ("x * 1.5", "new", True),
    ]
    assert data["baseline"] == {"file": "known.json", "known": 1, "gone": []}


def test_lines_folders_and_spaces_may_change(compare_program: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    write(tmp_path / "a", START + "import sub.part\n")
    write(tmp_path / "a", HALF, "sub/part.py")
    (tmp_path / "a" / "sub" / "__init__.py").touch()
    shutil.copytree(tmp_path / "a", tmp_path / "b", dirs_exist_ok=True)
    moved = HALF.replace("y = x / 2", "\n\ndef f():\n    return (x  /\n        2)\n\ny = f()")
    write(tmp_path / "b", moved, "sub/part.py")
    ran = compare_program("a/program.py", "--baseline", "a/known.json", "--update-baseline")
    assert ran.status == 0
    (entry,) = json.loads((tmp_path / "a" / "known.json").read_text())["findings"]
    assert entry == {
        "file": "sub/part.py",
        "expression": "x / 2",
        "kind": "dtype",
        "policy": "torch@2.13",
        "operation": "divide",
        "operands": ["int8", "Python int"],
        "run": "float64",
        "answer": "float32",
        "count": 1,
    }
    shutil.move(tmp_path / "a" / "known.json", tmp_path / "b" / "known.json")
    os.chdir(tmp_path / "b")
    assert compare_program("program.py", *KNOWN).status == 0


def test_one_more_of_the_same_is_new_and_one_less_is_gone(compare: Command, tmp_path: Path) -> None:
    twice, thrice = HALF + "z = x / 2\n", HALF + "z = x / 2\nu = x / 2\n"
    script = write(tmp_path, twice)
    compare(script, *UPDATE)
    (entry,) = json.loads((tmp_path / "known.json").read_text())["findings"]
    assert entry["count"] == 2
    write(tmp_path, thrice)
    states = [f["state"] for f in compare(script, *KNOWN, "--json").data["findings"]]
    assert states == ["known", "known", "new"]
    write(tmp_path, HALF)
    ran = compare(script, *KNOWN)
    assert ran.status == 0
    assert "Not found any more, of known.json (--update-baseline removes what is gone):" in ran.out
    assert "program.py: x / 2  torch@2.13 float32\n" in ran.out
    (gone,) = compare(script, *KNOWN, "--json").data["baseline"]["gone"]
    assert gone["count"] == 1
    before = (tmp_path / "known.json").read_text()
    assert "Not found" not in compare(script, *UPDATE).out
    assert (tmp_path / "known.json").read_text() != before


def test_a_loop_counts_its_place_once(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, START + "for i in range(3):\n    y = x / 2\n")
    compare(script, *UPDATE)
    (entry,) = json.loads((tmp_path / "known.json").read_text())["findings"]
    assert entry["count"] == 1


def test_policies_that_are_not_asked_stay_as_they_are(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF)
    compare(script, *UPDATE, policies="torch,onnx")
    both = (tmp_path / "known.json").read_text()
    ran = compare(script, *UPDATE, policies="onnx")
    assert "Not found" not in ran.out
    assert (tmp_path / "known.json").read_text() == both
    assert compare(script, *KNOWN, policies="torch,onnx,jax").status == 1


def test_the_file_is_sorted_and_the_same_each_time(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF + "z = x * 1.5\nu = 'é' and x / 3\n")
    compare(script, *UPDATE, policies="torch,onnx,jax")
    first = (tmp_path / "known.json").read_bytes()
    (tmp_path / "known.json").unlink()
    compare(script, *UPDATE, policies="jax,onnx,torch")
    assert (tmp_path / "known.json").read_bytes() == first
    rows = json.loads(first)["findings"]
    keys = [[*row.values()] for row in rows]
    assert keys == sorted(keys)
    assert len(first.splitlines()) == len(rows) + 3


def test_a_program_that_fails_leaves_the_baseline(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF)
    compare(script, *UPDATE)
    before = (tmp_path / "known.json").read_text()
    write(tmp_path, "1 / 0\n")
    ran = compare(script, *UPDATE)
    assert ran.status == 3
    assert "known.json is not written" in ran.err
    assert "Not found" not in ran.out
    assert (tmp_path / "known.json").read_text() == before


def test_a_name_that_is_no_text_is_known_again(compare: Command, tmp_path: Path) -> None:
    script = str(tmp_path / "\udcff.py")
    Path(script).write_text(HALF)
    assert compare(script, *UPDATE).status == 0
    assert compare(script, *KNOWN).status == 0


ROW = {
    **dict.fromkeys(("file", "expression", "kind", "policy", "operation", "run", "answer"), "x"),
    "operands": ["int8"],
    "count": 1,
}
WRONG = (
    *(b"", b"{", b"[]", b"1", b"\xff", b'{"promoarray_baseline": 1}', b"[" * 100_000),
    *(ROW | {"count": 0}, ROW | {"count": True}, ROW | {"operands": "int8"}),
    *(ROW | {"operands": [1]}, ROW | {"file": None}, [], "text", {}),
)


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_what_is_no_baseline_is_refused_in_a_line(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "known.json"
    if not isinstance(wrong, bytes):
        wrong = json.dumps({"promoarray_baseline": 1, "findings": [ROW, wrong]}).encode()
    path.write_bytes(wrong)
    with pytest.raises(ValueError, match="is no baseline") as refused:
        baseline.read(path)
    assert len(str(refused.value)) < 400
    path.write_text(json.dumps({"promoarray_baseline": 1, "findings": [ROW]}))
    assert baseline.read(path).counts.total() == 1
