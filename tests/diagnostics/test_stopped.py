"""A program that stops because its policy refuses: the report begins with who refuses, and why."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command

import promoarray as pa
from promoarray.diagnostics.ask.refusals import stopped_of
from promoarray.diagnostics.exit_codes import FAILED
from promoarray.diagnostics.findings.results import findings
from promoarray.diagnostics.findings.verdict import PolicySummary
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.noted import Stopped
from promoarray.diagnostics.render.json import stopped_data
from promoarray.diagnostics.render.words import message
from promoarray.diagnostics.run.ending import last_line, stopped_at


def stopped(folder: Path, lines: str, run: str, policies: str) -> Stopped:
    """What is told of a program that stops."""
    script = folder / "program.py"
    script.write_text(f"import promoarray as xp\n{lines}", encoding="utf-8")
    code = compile(script.read_text(), str(script), "exec")
    with pa.policy(run), pa.shadow(*policies.split(",")) as report:
        try:
            exec(code, {})
        except Exception as error:
            given = error, last_line(error), stopped_at(error), report.refused
            return stopped_of(pa.get_policy(), report.policies, *given)
    raise AssertionError("it went on")


OPERATION = """\
x = xp.asarray([1, 2, 3], dtype=xp.uint8)
m = xp.mean(x)
"""

SEEN = """\
half = xp.asarray([1, 2], dtype=xp.int8) / 2
whole = xp.asarray([1, 2], dtype=xp.int8)
both = whole * half
"""

IN_PLACE = """\
x = xp.asarray([1, 2, 3], dtype=xp.uint8)
x += 1.5
"""

ELEMENTS = """\
x = xp.asarray([1, 2, 3], dtype=xp.int32)
x[0] = 2**40
"""

SCALAR = """\
x = xp.asarray([1, 2, 3], dtype=xp.uint8)
y = x + 300
"""

WRAPPED = """\
try:
    xp.mean(xp.asarray([1, 2]))
except TypeError as error:
    raise RuntimeError("no mean") from error
"""

CASES = {
    "an operation": (
        (OPERATION, "torch", "numpy,jax,aclnn"),
        (3, ["torch@2.13", "aclnn@8.0"], ["numpy@2", "jax@x64"]),
        "xp.mean(xp.astype(x, xp.float32))",
    ),
    "as each policy sees its operands": (
        (SEEN, "paddle@3.3", "torch,onnx"),
        (4, ["paddle@3.3"], ["torch@2.13", "onnx@25"]),  # ONNX has integers all the way
        "xp.astype(whole, xp.float32) * half",
    ),
    "in place": (
        (IN_PLACE, "numpy", "torch,jax"),
        (3, ["numpy@2", "torch@2.13"], ["jax@x64"]),
        "x[...] = xp.astype(x + 1.5, xp.uint8)",
    ),
    "in place, of some elements": (
        (IN_PLACE.replace("x +=", "x[:1] +="), "numpy", "torch,jax"),
        (3, ["numpy@2", "torch@2.13"], ["jax@x64"]),
        "x[:1] = xp.astype(x[:1] + 1.5, xp.uint8)",
    ),
    "an assignment": (
        (ELEMENTS, "torch", "numpy,paddle"),
        (3, ["torch@2.13", "numpy@2"], ["paddle"]),
        None,
    ),
    "a scalar": (
        (SCALAR, "numpy", "onnx,torch"),
        (3, ["numpy@2", "onnx@25"], ["torch@2.13"]),
        "xp.astype(x, xp.uint16) + 300",
    ),
    "an error of another error": (
        (WRAPPED, "torch", "numpy"),
        (5, ["torch@2.13"], ["numpy@2"]),
        "xp.mean(xp.astype(xp.asarray([1, 2]), xp.float32))",
    ),
}


@pytest.mark.parametrize(("program", "told", "edit"), CASES.values(), ids=CASES)
def test_who_refuses_is_told_with_the_edit_and_the_policies_that_go_on(
    tmp_path: Path,
    program: tuple[str, str, str],
    told: tuple[int, list[str], list[str]],
    edit: str | None,
) -> None:
    found = stopped_data(stopped(tmp_path, *program))
    assert (found["line"], found["refuses"], found["goes_on"]) == told
    assert found["edit"] == edit
    assert found["remedy"].startswith(f"--run {told[2][0]}, which goes on here")


def test_the_edit_lets_the_program_go_on() -> None:
    for (lines, run, _), (line, *_), edit in CASES.values():
        if edit is None or lines is WRAPPED:
            continue
        *before, last = lines.splitlines()
        assert len(before) == line - 2
        name, assigned, _ = last.partition(" = ")
        edited = edit if "= " in edit.partition("(")[0] else f"{name}{assigned}{edit}"
        with pa.policy(run):
            with pytest.raises((TypeError, OverflowError)):
                exec(lines, {"xp": pa})
            exec("\n".join([*before, edited]), {"xp": pa})


def test_the_report_begins_with_it(tmp_path: Path, command: Command) -> None:
    page = tmp_path / "page.html"
    script = command.write(f"import promoarray as xp\n{IN_PLACE}")
    asked = f"compare {script} --run numpy --policies torch,jax --html {page}"
    first, where, *lines = command(asked, status=FAILED).out.splitlines()
    assert first == "The program stopped at program.py:3 under numpy@2, which refuses"
    assert where.startswith("program.py:3")
    text = "\n".join(lines)
    assert "    refuses     numpy@2 (the run)  the result is float64" in text
    assert "    write       x[...] = xp.astype(x + 1.5, xp.uint8)" in text
    assert "    or run      --run jax@x64, which goes on here" in text
    assert "there is nothing to compare" not in text
    assert first in page.read_text(encoding="utf-8")
    assert "write <code>x[...] = xp.astype(x + 1.5, xp.uint8)</code>" in page.read_text(
        encoding="utf-8"
    )


def test_another_error_is_data_with_its_line(command: Command) -> None:
    script = command.write(
        "import promoarray as xp\n"
        "try:\n    xp.mean(xp.asarray([1]))\nexcept TypeError:\n    pass\n[][1]\n"
    )
    asked = f"compare {script} --run torch --policies numpy --json"
    found = command(asked, status=FAILED).data["stopped"]
    assert (found["file"], found["line"], found["source"]) == (script, 6, "[][1]")
    assert found["error"] == "IndexError: list index out of range"
    assert found["refused"] is found["edit"] is found["remedy"] is None


def test_it_is_a_finding(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(f"import promoarray as xp\n{IN_PLACE}")
    with pa.policy("numpy"), pa.shadow("torch") as report:
        with pytest.raises(TypeError) as raised:
            exec(compile(script.read_text(), str(script), "exec"), {})
        given = raised.value, "TypeError", stopped_at(raised.value), report.refused
        report.stopped = stopped_of(report.run, report.policies, *given)
    (found,) = findings(report)
    assert (found.kind, found.root, found.policy, found.place.line) == (
        "refuse",
        True,
        "numpy@2",
        3,
    )
    assert message((found,)) == (
        "uint8 += Python float: refused under numpy@2: the result is float64, which may not be "
        "written into uint8; the run stopped here. Write x[...] = xp.astype(x + 1.5, xp.uint8) for "
        "numpy@2."
    )


def test_a_cast_that_is_refused(tmp_path: Path) -> None:
    lines = "x = xp.asarray([1j])\ny = xp.astype(x, xp.float32)\n"
    found = stopped(tmp_path, lines, "array_api", "numpy,torch")
    assert found.site is not None
    assert (found.site.line, found.refuses) == (3, ["array_api"])
    assert found.goes_on == ["numpy@2", "torch@2.13"]


def test_names_that_rebind_are_compared_with_policies_that_write_in_place() -> None:
    with pa.policy("jax"), pa.shadow("numpy", "torch") as report:
        exec(IN_PLACE, {"xp": pa})
    (place,) = report.divergences
    assert place.answers["jax@x64"].dtype is pa.float64
    assert place.answers["numpy@2"].dtype is None
    assert "may not be written into uint8" in place.answers["torch@2.13"].reason


def test_names_that_rebind_leave_the_array_as_it_was_while_observed_and_after() -> None:
    def passes() -> list[list[int]]:
        x = alias = pa.asarray([1, 2], dtype=pa.int16)
        told = []
        for _ in range(3):
            x += 1
            told.append(alias.tolist())
        assert x.tolist() == [4, 5]
        return told

    jax = pa.policies.as_policy("jax").derive("rebinds")
    with pa.policy(jax):
        for observing in (pa.shadow("numpy"), contextlib.nullcontext(), pa.shadow("torch")):
            with observing:
                assert passes() == [[1, 2]] * 3


def test_the_words_of_a_summary() -> None:
    finals = tuple(FinalDType(name, "float64", {"torch": "float32"}) for name in "abcde")
    summary = PolicySummary("torch", 3, 1, 3, (4, 9), ("m.py:4", "m.py:9"), 1, 2, finals)
    assert summary.words() == (
        "3 root causes, 1 of them refused, 2 inside libraries; 2 casts and 1 dtype= to insert "
        "(lines 4, 9); final `a`, `b` and `c` float32 instead of float64 and 2 more"
    )
    elsewhere = summary._replace(places=("m.py:4", "n.py:9"), finals=(), casts=1, made=0, inside=0)
    assert elsewhere.words() == (
        "3 root causes, 1 of them refused; 1 cast to insert (m.py:4, n.py:9)"
    )
    long = elsewhere._replace(lines=(*range(100, 150),), places=("m.py:100",))
    assert long.words().endswith(" 127, 128, 129 and 20 more)")


def test_an_error_of_a_recorded_call_has_the_traceback_that_it_has_anyway(command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    command.write("""
        import torch
        f = torch.nn.functional.layer_norm
        for n in (3, 3, 4):  # the last of which is like those before it
            f(torch.ones(2, n), (3,))
    """)
    bare = [sys.executable, "program.py"]
    ran = subprocess.run(bare, capture_output=True, text=True, check=False)
    said = command("compare", "program.py", "--policies", "paddle@3.3")
    way = ran.stderr.partition("line 5, in <module>")[2]
    assert "in layer_norm" in way
    assert way in said.err
