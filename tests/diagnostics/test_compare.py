"""`promoarray compare` on the example, and on programs that go wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command

import promoarray as pa

DIGITS = str(Path(__file__).resolve().parents[2] / "examples" / "digits.py")


SOME = ("--policies", "numpy@2,torch@2.13,onnx@25")


@pytest.mark.slow
@pytest.mark.parametrize(("policies", "places"), [(SOME, 37), ((), 45)])
def test_digits_is_compared_and_ends_everywhere_with_the_casts_applied(
    tmp_path: Path, command: Command, policies: tuple[str, ...], places: int
) -> None:
    out = tmp_path / "page.html"
    arguments = ["--run-all", "--show", "accuracy,weights", "--html", str(out), "--json"]
    data = command("compare", DIGITS, *arguments, *policies, status=1).data
    page = out.read_text(encoding="utf-8")

    divergences = data["divergences"]
    assert len(divergences) == places
    roots = {p["source"] for p in divergences if p["root"]}
    assert "brightness = xp.mean(images)" in roots
    assert any(p["answers"]["torch@2.13"]["origin"] == "inherits" for p in divergences)
    assert {p["file"] for p in divergences} == {DIGITS}

    outcomes = {o["policy"]: o for o in data["outcomes"]}
    assert {o["error"] for o in outcomes.values()} == {None}
    assert outcomes["numpy@2"]["values"] == {
        "accuracy": "0.95 (float64)",
        "weights": "float64 [122x10]",
    }
    assert outcomes["torch@2.13"]["values"]["weights"] == "float32 [122x10]"
    assert outcomes["numpy@2"]["refusals"] == []
    refused = {(r["line"], r["refused"]) for r in outcomes["torch@2.13"]["refusals"]}
    assert (67, "float32 - bool") in refused

    assert "Actual runs under each policy" in page
    assert "xp.mean(images)" in page


@pytest.mark.slow
def test_stop_ends_at_the_first_refusal(command: Command) -> None:
    arguments = ["--run-all", "--stop", "--policies", "torch", "--json"]
    _, torch = command("compare", DIGITS, *arguments, status=1).data["outcomes"]
    assert torch["stopped_at"] == "digits.py:26: brightness = xp.mean(images)"
    assert "integers have no mean" in torch["error"]


def test_a_program_that_fails_is_reported_up_to_there(command: Command) -> None:
    command.write(
        "import promoarray as xp\n"
        "x = xp.asarray([1], dtype=xp.int8) / 2\n"
        "raise RuntimeError('oh')\n",
    )
    _, out, err = command("compare program.py --policies torch", status=3)
    assert "program.py:2" in out
    assert "RuntimeError: oh" in err


def test_a_program_gets_its_arguments_and_may_exit(command: Command) -> None:
    command.write("import sys\nprint(sys.argv[1:])\nsys.exit()\n")
    assert "['-n', '3']" in command("compare program.py --policies torch -- -n 3", status=3).out


def test_a_missing_file_and_an_unknown_policy_are_one_line_each(command: Command) -> None:
    for line, said in (
        ("nothing.py", "nothing.py"),
        (f"{DIGITS} --policies pytorch", "torch@2.13"),
    ):
        (error,) = command(f"compare {line}", status=2).err.strip().splitlines()
        assert said in error


def test_a_scalar_that_is_refused_has_its_array_cast_as_the_error_says(command: Command) -> None:
    command.write(
        "import promoarray as xp\nx = xp.asarray([1, 2], dtype=xp.int8)\ny = x + 2.5\nz = y * 2\n",
    )
    data = command("compare program.py --policies tensorflow --run-all --json", status=1).data
    _, tensorflow = data["outcomes"]
    assert tensorflow["error"] is None
    assert tensorflow["values"] == {"x": "int8 [2]", "y": "float32 [2]", "z": "float32 [2]"}
    (refused,) = tensorflow["refusals"]
    assert (refused["refused"], refused["cast"]) == ("int8 + Python float", "x1 to float32")
    # The watched run goes on with what the edit gives, which is the run's own dtype.
    (place,) = data["divergences"]
    assert (place["line"], place["answers"]["tensorflow"]["dtype"]) == (3, None)


@pytest.mark.slow
def test_a_scalar_that_fits_no_cast_array_stops_the_program_there(command: Command) -> None:
    command.write(
        "import promoarray as xp\nx = xp.asarray([1, 2], dtype=xp.int32)\n"
        "y = xp.asarray([1, 2], dtype=xp.int16)\nz = xp.clip(x, y, 2**40)\n",
    )
    arguments = ["--run", "numpy", "--policies", "onnx", "--run-all", "--json"]
    _, onnx = command("compare program.py", *arguments, status=1).data["outcomes"]
    assert f"{2**40} does not fit int32" in onnx["error"]


def test_a_program_without_operations_is_told_so(command: Command) -> None:
    _, out, err = command("compare", command.write("x = 1 + 1\n"), status=3)
    assert "No operation ran under numpy@2" in out
    assert "import promoarray as xp" in err


@pytest.mark.slow
def test_imported_modules_are_made_anew_under_each_policy(tmp_path: Path, command: Command) -> None:
    (tmp_path / "weights.py").write_text("import promoarray as xp\nW = xp.ones(3)\n")
    command.write(
        "import sys\nimport weights\ny = weights.W * 1.0\nif __name__ == '__main__': sys.exit(0)\n",
    )
    outcomes = command("compare program.py --policies torch --run-all --json", status=1).data[
        "outcomes"
    ]
    assert [o["values"]["y"] for o in outcomes] == ["float64 [3]", "float32 [3]"]


def test_a_page_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, command: Command
) -> None:
    assert (
        "no such folder"
        in command("compare", DIGITS, "--html", str(tmp_path / "no" / "page.html"), status=2).err
    )


@pytest.mark.slow
def test_threads_are_watched_and_run_under_the_same_policy(command: Command) -> None:
    command.write(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import promoarray as xp\n"
        "x = xp.asarray([1, 2], dtype=xp.int8)\n"
        "def half(_):\n"
        "    return x / 2\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    y, *rest = pool.map(half, range(100))\n",
    )
    arguments = ["--run", "torch", "--policies", "numpy", "--run-all", "--json"]
    data = command("compare program.py", *arguments, status=1).data
    (divergence,) = data["divergences"]
    assert (divergence["line"], divergence["count"]) == (5, 100)
    assert {n: a["dtype"] for n, a in divergence["answers"].items()} == {
        "torch@2.13": "float32",
        "numpy@2": "float64",
    }
    assert [o["values"]["y"] for o in data["outcomes"]] == ["float32 [2]", "float64 [2]"]
    assert pa.get_policy().name == "numpy@2"


def test_data_that_left_is_reported_with_the_line_inside_scipy(
    tmp_path: Path, command: Command
) -> None:
    pytest.importorskip("scipy")
    script = command.write(
        "from scipy import signal\n"
        "import promoarray as xp\n"
        "x = xp.asarray([1, 2, 4], dtype=xp.float32)\n"
        "flat = signal.detrend(x)\n",
    )
    page = tmp_path / "page.html"
    started = [sys.executable, "-m", "promoarray", "compare", script, "--policies", "torch"]
    ran = subprocess.run(
        [*started, "--json", "--html", str(page)],
        capture_output=True,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        check=False,
    )
    (escape,) = json.loads(ran.stdout)["escapes"]
    assert (escape["file"], escape["line"]) == (script, 4)
    assert escape["expression"] == "signal.detrend(x)"
    assert (escape["channel"], escape["dtype"], escape["shapes"]) == ("__array__", "float32", [[3]])
    assert escape["consumer"]["function"].endswith(".detrend")
    assert Path(escape["consumer"]["file"]).match("*/scipy/signal/*.py")
    assert "asarray" in escape["consumer"]["source"]
    shown = page.read_text(encoding="utf-8")
    assert "Data leaves the policy: what is computed there follows the rules of" in shown
    assert f"to {escape['consumer']['function']}" in shown


FIVE_PLACES = """
import promoarray as xp
x, y = xp.asarray([1], dtype=xp.int32), xp.asarray([1], dtype=xp.float32)
for _ in range(9):
    x + y
    x * y
    x - y
    y + x
    y * x
"""


@pytest.mark.slow
def test_max_sites_bounds_the_places_and_the_report_says_so(command: Command) -> None:
    script = command.write(FIVE_PLACES)
    arguments = ["compare", script, "--policies", "torch"]
    bounded = command(*arguments, "--max-sites", "3", "--json", status=1).data
    assert [d["count"] for d in bounded["divergences"]] == [9, 9, 9]
    assert (bounded["max_sites"], bounded["max_sites_reached"]) == (3, True)
    assert bounded["operations"] == 5 * 9
    assert "Places beyond the limit of 3 are left out" in " ".join(
        command(*arguments, "--max-sites", "3", status=1).out.split()
    )
    whole = command(*arguments, "--json", status=1).data
    assert len(whole["divergences"]) == 5
    assert (whole["max_sites"], whole["max_sites_reached"]) == (10_000, False)


@pytest.mark.parametrize("number", ["0", "-3", "many", "1.5"])
def test_a_limit_of_places_is_a_whole_number(number: str, command: Command) -> None:
    assert (
        "is not a whole number from 1 on"
        in command("compare script.py --max-sites", number, status=2).err
    )


def test_a_program_at_the_end_of_its_recursion_is_observed_without_a_bug(command: Command) -> None:
    command.write(
        "import promoarray as xp\n"
        "x, y = xp.asarray([1], dtype=xp.int32), xp.asarray([1], dtype=xp.float32)\n"
        "for _ in range(3): x + y\n"
        "def down():\n"
        "    x + y\n"
        "    down()\n"
        "for _ in range(3):\n"
        "    try: down()\n"
        "    except RecursionError: print('caught')\n",
    )
    _, out, err = command("compare program.py --policies torch", status=1)
    assert out.count("caught") == 3
    assert not err


def test_a_policy_that_the_program_registers_is_reported_without_edits(command: Command) -> None:
    command.write(
        "import promoarray as xp\n"
        "from promoarray.policies import Policy, register\n"
        'mine = Policy.from_table("mine", "   i8 f32\\ni8 i8 f32\\nf32 f32 f32")\n'
        "with xp.policy(register(mine)):\n"
        "    x = xp.asarray([1.0, 2.0], dtype=xp.float32)\n"
        "    x[0] = 2.5\n"
        "    y = x + xp.asarray([1, 2], dtype=xp.int8)\n",
    )
    (place,) = command("compare program.py --policies torch,paddle --json", status=1).data[
        "divergences"
    ]
    assert place["line"] == 7
    assert place["answers"]["mine"]["dtype"] == "float32"
    assert place["answers"]["paddle"]["dtype"] is None
