"""The exit codes of `promoarray compare`, which are those of linters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from diagnostics.findings.programs import BITS, HALF, REFUSED, START, Command, write

AGREE = START + "y = x + x\n"
ESCAPE = START + "import numpy as np\ny = np.asarray(x)\n"
SCALAR = START + "y = float(x[0])\n"


@pytest.mark.parametrize(
    ("program", "policies", "fails"),
    [
        (AGREE, "torch", set()),
        (HALF, "torch", {"root", "dtype", "any", None}),
        (REFUSED, "onnx", {"root", "refuse", "dtype", "any", None}),
        (BITS, "torch", {"bits", "any", None}),
        (ESCAPE, "torch", {"escape", "any"}),
        (SCALAR, "torch", set()),
    ],
    ids=["agree", "dtype", "refuse", "bits", "escape", "scalar"],
)
def test_what_fails_is_what_is_asked_for(
    compare: Command, tmp_path: Path, program: str, policies: str, fails: set[str | None]
) -> None:
    script = write(tmp_path, program)
    first = compare(script, policies=policies)
    assert first.status == int(None in fails), first.out
    for name in ("root", "dtype", "refuse", "bits", "escape", "signature", "any", "none"):
        status = compare(script, "--fail-on", name, policies=policies).status
        assert status == int(name in fails), name
    named = ",".join(fails - {None, "any"}) or "signature"
    assert compare(script, "--fail-on", f"signature,{named}", policies=policies).status == bool(
        fails
    )


def test_a_refusal_that_an_earlier_line_leads_to_is_no_root_but_a_refusal(
    compare: Command, tmp_path: Path
) -> None:
    # int64 under numpy and torch, int32 under tensorflow, whose tensors of two dtypes do not mix.
    program = START + "n = xp.arange(2)\ny = n + xp.asarray([1, 2], dtype=xp.int64)\n"
    script = write(tmp_path, program)
    found = compare(script, "--json", policies="tensorflow").data["findings"]
    assert [(f["kind"], f["root"], f["line"]) for f in found] == [
        ("dtype", True, 3),
        ("refuse", False, 4),
    ]
    assert compare(script, "--fail-on", "refuse", policies="tensorflow").status == 1
    ignored = write(tmp_path, program.replace("(2)\n", "(2)  # promoarray: ignore\n"))
    assert compare(ignored, "--fail-on", "root", policies="tensorflow").status == 0
    assert compare(ignored, "--fail-on", "refuse", policies="tensorflow").status == 1


def test_a_program_that_exits_is_3_with_its_own_status(
    compare_program: Command, tmp_path: Path
) -> None:
    script = write(tmp_path, f"{AGREE}import sys\nsys.exit(7)\n")
    ran = compare_program(script, "--json")
    assert ran.status == 3
    assert ran.err.endswith("the program stopped under numpy@2: exit status 7\n")
    assert (ran.data["exit_code"], ran.data["program"]["exit_status"]) == (3, 7)


def test_a_program_that_raises_is_3_whatever_was_found(
    compare_program: Command, tmp_path: Path
) -> None:
    script = write(tmp_path, f"{HALF}int('x')\n")
    ran = compare_program(script, "--fail-on", "none")
    assert ran.status == 3
    assert "program.py:4: int('x'): ValueError" in ran.err
    assert ran.err.endswith(" (exit status 1)\n")


def test_a_program_that_a_signal_ends(compare_program: Command, tmp_path: Path) -> None:
    script = write(tmp_path, f"{HALF}import os\nos.kill(os.getpid(), 15)\n")
    ran = compare_program(script, "--json")
    assert ran.status == 128 + 15
    assert (ran.data["exit_code"], ran.data["program"]["exit_status"]) == (143, -15)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fail-on", "rot"], "Did you mean: root?"),
        (["--fail-on", "none,root"], "none goes with nothing else"),
        (["--format", "xml"], "invalid choice: 'xml'"),
        (["--json", "--format", "sarif"], "--json and --format sarif do not go together"),
        (["--baseline", "no.json"], "no such baseline: no.json; --update-baseline writes it"),
        (["--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--update-baseline", "--baseline", "no/b.json"], "no such folder for no/b.json"),
        (["--baseline", "program.py"], "program.py is no baseline"),
        (["--baseline", "later.json"], "a baseline of version 2"),
        (["--output", "no/report.json"], "no such folder for no/report.json"),
        (["--output", "."], ". is a folder"),
    ],
)
def test_usage_errors_come_before_the_program_runs(
    compare: Command, tmp_path: Path, arguments: list[str], says: str
) -> None:
    script = write(tmp_path, "open('ran', 'w')\n")
    (tmp_path / "later.json").write_text(json.dumps({"promoarray_baseline": 2, "findings": []}))
    ran = compare(script, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err
    assert not (tmp_path / "ran").exists()
