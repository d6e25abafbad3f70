"""`promoarray compare` on the example, and on programs that go wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import promoarray as pa
from promoarray import cli

DIGITS = str(Path(__file__).resolve().parents[2] / "examples" / "digits.py")


SOME = ("--policies", "numpy@2,torch@2.13,onnx@25")


@pytest.mark.slow
@pytest.mark.parametrize(("policies", "places"), [(SOME, 37), ((), 45)])
def test_digits_is_compared_and_ends_everywhere_with_the_casts_applied(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], policies: tuple[str, ...], places: int
) -> None:
    out = tmp_path / "page.html"
    arguments = ["--run-all", "--show", "accuracy,weights", "--html", str(out), "--json"]
    assert cli.main(["compare", DIGITS, *arguments, *policies]) == 1
    data, page = json.loads(capfd.readouterr().out), out.read_text(encoding="utf-8")

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
def test_stop_ends_at_the_first_refusal(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["--run-all", "--stop", "--policies", "torch", "--json"]
    assert cli.main(["compare", DIGITS, *arguments]) == 1
    _, torch = json.loads(capfd.readouterr().out)["outcomes"]
    assert torch["stopped_at"] == "digits.py:26: brightness = xp.mean(images)"
    assert "integers have no mean" in torch["error"]


def _program(tmp_path: Path, text: str) -> str:
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_program_that_fails_is_reported_up_to_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(
        tmp_path,
        "import promoarray as xp\n"
        "x = xp.asarray([1], dtype=xp.int8) / 2\n"
        "raise RuntimeError('oh')\n",
    )
    assert cli.main(["compare", script, "--policies", "torch"]) == 3
    out, err = capfd.readouterr()
    assert "program.py:2" in out
    assert "RuntimeError: oh" in err


def test_a_program_gets_its_arguments_and_may_exit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(tmp_path, "import sys\nprint(sys.argv[1:])\nsys.exit()\n")
    assert cli.main(["compare", script, "--policies", "torch", "--", "-n", "3"]) == 0
    assert "['-n', '3']" in capfd.readouterr().out


def test_a_missing_file_and_an_unknown_policy_are_one_line_each(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", str(tmp_path / "nothing.py")]) == 2
    assert cli.main(["compare", DIGITS, "--policies", "pytorch"]) == 2
    errors = capfd.readouterr().err.strip().splitlines()
    assert len(errors) == 2
    assert "torch@2.13" in errors[1]


def test_a_scalar_that_is_refused_has_its_array_cast_as_the_error_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(
        tmp_path,
        "import promoarray as xp\nx = xp.asarray([1, 2], dtype=xp.int8)\ny = x + 2.5\nz = y * 2\n",
    )
    assert cli.main(["compare", script, "--policies", "tensorflow", "--run-all", "--json"]) == 1
    data = json.loads(capfd.readouterr().out)
    _, tensorflow = data["outcomes"]
    assert tensorflow["error"] is None
    assert tensorflow["values"] == {"x": "int8 [2]", "y": "float32 [2]", "z": "float32 [2]"}
    (refused,) = tensorflow["refusals"]
    assert (refused["refused"], refused["cast"]) == ("int8 + Python float", "x1 to float32")
    # The watched run goes on with what the edit gives, which is the run's own dtype.
    (place,) = data["divergences"]
    assert (place["line"], place["answers"]["tensorflow"]["dtype"]) == (3, None)


@pytest.mark.slow
def test_a_scalar_that_fits_no_cast_array_stops_the_program_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(
        tmp_path,
        "import promoarray as xp\nx = xp.asarray([1, 2], dtype=xp.int32)\n"
        "y = xp.asarray([1, 2], dtype=xp.int16)\nz = xp.clip(x, y, 2**40)\n",
    )
    arguments = ["--run", "numpy", "--policies", "onnx", "--run-all", "--json"]
    assert cli.main(["compare", script, *arguments]) == 1
    _, onnx = json.loads(capfd.readouterr().out)["outcomes"]
    assert f"{2**40} does not fit int32" in onnx["error"]


def test_a_program_without_operations_is_told_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", _program(tmp_path, "x = 1 + 1\n")]) == 0
    out, err = capfd.readouterr()
    assert "No operation ran under numpy@2" in out
    assert "import promoarray as xp" in err


@pytest.mark.slow
def test_imported_modules_are_made_anew_under_each_policy(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weights.py").write_text("import promoarray as xp\nW = xp.ones(3)\n")
    script = _program(
        tmp_path,
        "import sys\nimport weights\ny = weights.W * 1.0\nif __name__ == '__main__': sys.exit(0)\n",
    )
    assert cli.main(["compare", script, "--policies", "torch", "--run-all", "--json"]) == 1
    outcomes = json.loads(capfd.readouterr().out)["outcomes"]
    assert [o["values"]["y"] for o in outcomes] == ["float64 [3]", "float32 [3]"]


def test_a_page_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", DIGITS, "--html", str(tmp_path / "no" / "page.html")]) == 2
    assert "no such folder" in capfd.readouterr().err


@pytest.mark.slow
def test_threads_are_watched_and_run_under_the_same_policy(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(
        tmp_path,
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import promoarray as xp\n"
        "x = xp.asarray([1, 2], dtype=xp.int8)\n"
        "def half(_):\n"
        "    return x / 2\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    y, *rest = pool.map(half, range(100))\n",
    )
    arguments = ["--run", "torch", "--policies", "numpy", "--run-all", "--json"]
    assert cli.main(["compare", script, *arguments]) == 1
    data = json.loads(capfd.readouterr().out)
    (divergence,) = data["divergences"]
    assert (divergence["line"], divergence["count"]) == (5, 100)
    assert {n: a["dtype"] for n, a in divergence["answers"].items()} == {
        "torch@2.13": "float32",
        "numpy@2": "float64",
    }
    assert [o["values"]["y"] for o in data["outcomes"]] == ["float32 [2]", "float64 [2]"]
    assert pa.get_policy().name == "numpy@2"


def test_data_that_left_is_reported_with_the_line_inside_scipy(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    script = _program(
        tmp_path,
        "from scipy import signal\n"
        "import promoarray as xp\n"
        "x = xp.asarray([1, 2, 4], dtype=xp.float32)\n"
        "flat = signal.detrend(x)\n",
    )
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "promoarray", "compare", script, "--policies", "torch"]
    ran = subprocess.run(
        [*command, "--json", "--html", str(page)],
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
def test_max_sites_bounds_the_places_and_the_report_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(tmp_path, FIVE_PLACES)
    arguments = ["compare", script, "--policies", "torch"]
    assert cli.main([*arguments, "--max-sites", "3", "--json"]) == 1
    bounded = json.loads(capfd.readouterr().out)
    assert [d["count"] for d in bounded["divergences"]] == [9, 9, 9]
    assert (bounded["max_sites"], bounded["max_sites_reached"]) == (3, True)
    assert bounded["operations"] == 5 * 9
    assert cli.main([*arguments, "--max-sites", "3"]) == 1
    assert "Places beyond the limit of 3 are left out" in " ".join(capfd.readouterr().out.split())
    assert cli.main([*arguments, "--json"]) == 1
    whole = json.loads(capfd.readouterr().out)
    assert len(whole["divergences"]) == 5
    assert (whole["max_sites"], whole["max_sites_reached"]) == (10_000, False)


@pytest.mark.parametrize("number", ["0", "-3", "many", "1.5"])
def test_a_limit_of_places_is_a_whole_number(
    number: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", "script.py", "--max-sites", number]) == 2
    assert "is not a whole number from 1 on" in capfd.readouterr().err


def test_a_program_at_the_end_of_its_recursion_is_observed_without_a_bug(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _program(
        tmp_path,
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
    assert cli.main(["compare", script, "--policies", "torch"]) == 1
    out, err = capfd.readouterr()
    assert out.count("caught") == 3
    assert not err


def test_a_policy_that_the_program_registers_is_reported_without_edits(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = _program(
        tmp_path,
        "import promoarray as xp\n"
        "from promoarray.policies import Policy, register\n"
        'mine = Policy.from_table("mine", "   i8 f32\\ni8 i8 f32\\nf32 f32 f32")\n'
        "with xp.policy(register(mine)):\n"
        "    x = xp.asarray([1.0, 2.0], dtype=xp.float32)\n"
        "    x[0] = 2.5\n"
        "    y = x + xp.asarray([1, 2], dtype=xp.int8)\n",
    )
    assert cli.main(["compare", program, "--policies", "torch,paddle", "--json"]) == 1
    (place,) = json.loads(capfd.readouterr().out)["divergences"]
    assert place["line"] == 7
    assert place["answers"]["mine"]["dtype"] == "float32"
    assert place["answers"]["paddle"]["dtype"] is None
