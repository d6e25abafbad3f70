"""The verdict of each policy: it differs, agrees, or is incomplete; and which are asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from diagnostics.findings.programs import HALF, START, Command, write

import promoarray as pa
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.findings.verdict import verdicts
from promoarray.diagnostics.record.block import RECORDED
from promoarray.diagnostics.run.frameworks import TARGETS, named, policies_for

AGREE = START + "y = x + x\n"
LEFT = START + "import numpy as np\ny = np.asarray(x)\nz = x + x\n"
NOT_TAKEN = START + "y = xp.maximum(x, 1)\n"

ROOT = Path(__file__).resolve().parents[3]


def states(report: pa.Report) -> dict[str, str]:
    return {each.policy: each.state for each in verdicts(report)}


def test_each_policy_has_one_of_three_verdicts_and_that_of_the_run_has_none() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch", "numpy@1", "numpy@2") as report:
        x / 2
    assert states(report) == {"torch@2.13": "differs", "numpy@1": "agrees"}
    text = str(report)
    assert (
        "numpy@1     agrees in dtypes and cast values: 1 operation examined, all of the program"
        in text
    )
    with pa.shadow("torch", "numpy@1") as report:
        np.asarray(x + x)
    assert states(report) == {"torch@2.13": "incomplete", "numpy@1": "incomplete"}
    assert "Not examined: int8 array at " in str(report)
    assert "agree" not in str(report)


def test_nothing_agrees_of_which_nothing_ran() -> None:
    with pa.shadow("torch") as report:
        pass
    assert states(report) == {"torch@2.13": "incomplete"}
    assert "agree" not in str(report)


def test_what_is_not_compared_leaves_it_open_for_those_that_it_is_about() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch", "jax") as report:
        x + x
    assert states(report) == {"torch@2.13": "agrees", "jax@x64": "agrees"}
    report.assumed.add("jax@x64")
    assert states(report) == {"torch@2.13": "agrees", "jax@x64": "incomplete"}
    report.max_sites_reached = True
    assert states(report) == {"torch@2.13": "incomplete", "jax@x64": "incomplete"}


@pytest.mark.parametrize(
    ("program", "plain", "incomplete"),
    [(AGREE, 0, 0), (LEFT, 0, 4), (HALF, 1, 1), (NOT_TAKEN, 1, 1)],
)
def test_incomplete_exits_with_4_where_that_is_asked_for(
    compare: Command, tmp_path: Path, program: str, plain: int, incomplete: int
) -> None:
    script = write(tmp_path, program)
    assert compare(script).status == plain
    ran = compare(script, "--fail-on", "root,bits,signature,incomplete", "--json")
    assert ran.status == ran.data["exit_code"] == incomplete
    (verdict,) = ran.data["verdicts"]
    assert verdict["verdict"] == {0: "agrees", 1: "differs", 4: "incomplete"}[incomplete]


CAUGHT = """\
xp.set_policy("tensorflow")
try:
    x * 1.5
except TypeError:
    pass
y = x + x
"""


def test_a_refusal_that_the_program_catches_is_named(
    compare_program: Command, tmp_path: Path
) -> None:
    script = write(tmp_path, START + CAUGHT)
    ran = compare_program(script, "--fail-on", "incomplete", policies="numpy@2")
    assert ran.status == 4
    assert "Not examined: multiply at program.py:5 (the run refuses it, and goes on)." in ran.out
    stopped = compare_program(write(tmp_path, START + 'xp.set_policy("tensorflow")\nx * 1.5\n'))
    assert "and goes on" not in stopped.out
    assert "Not examined: what follows the stop at program.py:4" in stopped.out


def test_after_a_stop_nothing_agrees(compare_program: Command, tmp_path: Path) -> None:
    ran = compare_program(write(tmp_path, AGREE + "int('x')\n"))
    assert ran.status == 3
    assert "agree" not in ran.out
    assert "Not examined: what follows the stop at program.py:4" in ran.out


@pytest.mark.parametrize("program", ["import numpy\n", "print(1)\n"])
def test_a_program_of_which_nothing_was_seen_fails(
    compare_program: Command, tmp_path: Path, program: str
) -> None:
    ran = compare_program(write(tmp_path, program))
    assert ran.status == 3
    assert "No operation ran" in ran.out
    assert "write " in ran.err


def test_what_is_asked_makes_sense_for_the_framework(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAX_ENABLE_X64", raising=False)
    for framework, targets in TARGETS.items():
        asked = [each.name for each in policies_for(framework, None)]
        assert asked == [*targets]
        assert RECORDED[framework].home("99.0").name not in asked
    assert [each.name for each in policies_for("", None)] == list(DEFAULT)
    assert named("all") == policies_for("", None)
    assert [each.name for each in named("torch, all")][:2] == ["torch@2.13", "numpy@2"]
    script = write(tmp_path, 'jax.config.update("jax_enable_x64", True)\n')
    assert "jax@x64" in [each.name for each in policies_for("torch", script)]


def test_a_report_fits_two_screens_and_all_has_the_rest(
    compare_program: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    script = str(ROOT / "examples" / "digits.py")
    printed = compare_program(script, "--output", "short.txt", policies="all").status
    assert printed == 1
    short = Path("short.txt").read_text().splitlines()
    assert len(short) <= 70
    assert max(map(len, short)) <= 80
    assert any("more lines are not shown: " in line for line in short)
    compare_program(script, "--all", "--output", "all.txt", policies="all")
    every = Path("all.txt").read_text().splitlines()
    assert len(every) > 2 * len(short)
    assert not any("not shown" in line for line in every)


def test_what_is_not_known_of_a_framework_is_no_refusal() -> None:
    x = pa.asarray([5, 7], dtype=pa.int32)
    with pa.shadow("aclnn@8.5", "mindspore") as report:
        y = pa.fmod(x, x)
        y + y
    assert states(report) == {"aclnn@8.5": "incomplete", "mindspore@2.10": "incomplete"}
