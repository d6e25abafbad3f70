"""`promoarray diff`: what changes in a program from one policy to another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from command import Command

import promoarray as pa
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.diff.command import Difference, difference
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.report import Report
from promoarray.policies import as_policy

PROGRAM = """\
import promoarray as xp
floats = xp.asarray([1, 2], dtype=xp.float32)
small = xp.asarray([1, 2], dtype=xp.uint8)
double = xp.asarray(3.0)
floats * double
small + 300
small - 1
floats[0] * 0.1
xp.asarray([1, 2]) * floats
xp.asarray(7, dtype=xp.int8) + small
small[0] + small
xp.where(small > 1, floats, 0.5)
floats + 1e300
small * -1
weights = xp.asarray([0.1, 0.2], dtype=xp.float32)
weights -= xp.asarray(0.1)
"""

FOUND_BY_NUMPY = {
    5: ("float32", "float64"),
    6: ("uint16", "refuses"),
    8: ("float64", "float32"),
    10: ("uint8", "int16"),
    13: ("float64", "float32"),
    14: ("int16", "refuses"),
    16: ("0.0", "1.4901161415892261e-09"),
}
"""Line by line what NumPy 1.26 and 2.x print of the program, where they differ; an OverflowError
is a refusal. Of the last line it is the first element."""


def test_what_changes_from_numpy_1_to_2_is_what_the_real_ones_change(command: Command) -> None:
    command.write(PROGRAM)
    data = command("diff --from numpy@1 --to numpy@2 program.py --json", status=1).data
    changes = {c["line"]: (c["before"], c["after"]) for c in data["changes"]}
    assert changes == FOUND_BY_NUMPY
    kinds = {c["line"]: c["kind"] for c in data["changes"]}
    assert kinds == {5: "dtype", 6: "refusal", 8: "dtype", 10: "dtype"} | {
        13: "dtype",
        14: "refusal",
        16: "value",
    }
    refused = next(c for c in data["changes"] if c["line"] == 6)
    assert "300 does not fit uint8" in refused["refusal"]
    assert refused["edit"] == "xp.astype(small, xp.uint16) + 300"
    why = data["changes"][0]["why"]
    assert why["before"][0] == "by value: x1 as float32, x2 as float16"
    assert why["after"] == ["promote: float32 with float64 is float64"]
    assert data["program"] == {"exit_status": 0, "error": None, "stopped_at": None}


def test_a_numpy_program_as_it_is(command: Command) -> None:
    command.write("import numpy as np\nHALF = np.float64(0.5)\n", "beside.py")
    command.write(
        "import sys\nimport numpy as np\nfrom beside import HALF\n"
        "pixels = np.array([1, 2], np.uint8)\n"
        "brighter = pixels + 300\n"
        "pixels[0] = 256\n"
        "scaled = np.ones(2, np.float32) * HALF\n"
        "print(sys.argv[1:], brighter, pixels, __name__)\n",
    )
    _, out, err = command("diff --from numpy@1 --to numpy@2 --json program.py -- one", status=1)
    # What NumPy 1.26 prints, which does not stop.
    assert err.splitlines()[-1] == "['one'] [301 302] [0 2] __main__"
    changes = {c["line"]: c for c in json.loads(out)["changes"]}
    assert {line: (c["before"], c["after"]) for line, c in changes.items()} == {
        5: ("uint16", "refuses"),
        6: ("uint8", "refuses"),
        7: ("float32", "float64"),
    }
    assert changes[5]["edit"] == "pixels.astype(np.uint16) + 300"


def test_nothing_changes(command: Command) -> None:
    command.write("import promoarray as xp\nxp.asarray([1.0]) + 1\n")
    assert (
        "2 operations: nothing changes from numpy@1 to jax@x64."
        in command("diff --from numpy@1 --to jax program.py", status=0).out
    )


def test_what_the_run_refuses_is_a_change_too(command: Command) -> None:
    text = (
        "import promoarray as xp\nx = xp.asarray([True])\nx - xp.asarray([1.0], dtype=xp.float32)\n"
    )
    command.write(text)
    _, out, err = command("diff --from torch --to numpy program.py --json", status=3)
    (change,) = (c for c in json.loads(out)["changes"] if c["line"] == 3 and c["kind"] == "refusal")
    assert (change["before"], change["after"]) == ("refuses", "float32")
    assert "bool" in change["refusal"]
    assert "the program stopped under torch@2.13 at program.py:3" in err
    assert "bug" not in err


def test_a_program_that_is_not_promoarrays_is_not_said_to_have_run_under_a_policy(
    command: Command,
) -> None:
    text = "import numpy as np\nx = np.ones(2, np.uint8) + 1\n"
    asked = f"diff --from numpy@1 --to torch {command.write(text)}"
    assert "promoarray compare" in command(asked, status=3).err
    command.write(text + "raise SystemExit(7)\n")
    err = command(asked, status=3).err
    assert "the program stopped: exit status 7" in err
    assert "under" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "numpy@3", "--to", "torch", __file__], "unknown policy 'numpy@3'"),
        (["--from", "numpy", "--to", "torch", "nowhere.py"], "no such file: nowhere.py"),
        (["--to", "torch", __file__], "--from"),
    ],
)
def test_usage_errors(arguments: list[str], said: str, command: Command) -> None:
    assert said in command("diff", *arguments, status=2).err


# -- in this process ------------------------------------------------------------------------------


@contextmanager
def _compared(before: str, after: str) -> Iterator[list[Difference]]:
    """Compare what a block computes; the difference is there once it is left."""
    run, other = as_policy(before), as_policy(after)
    report, probe, found = Report(run, (run, other)), Changes(other.name), []
    probe.begin()
    with pa.policy(run), observing(ShadowObserver(report)), observing(probe):
        yield found
    found.append(difference(report, [probe.ended({})], other))


def _same_values(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """All NaN are one value, and the two zeros are two."""
    if not np.array_equal(mine, theirs, equal_nan=True):
        return False
    return not np.any((np.signbit(mine) != np.signbit(theirs)) & ~np.isnan(mine))


F16 = np.linspace(-3, 5, 24, dtype=np.float16).reshape(4, 6)
F32, F64 = F16.astype(np.float32) * np.float32(1.1), F16.astype(np.float64) * 1.1
I32 = np.arange(-12, 12, dtype=np.int32).reshape(4, 6)

COMPUTED: dict[str, Callable[[], Any]] = {
    "float16 sum": lambda: pa.sum(pa.asarray(F16)),
    "float16 mean": lambda: pa.mean(pa.asarray(F16), axis=0),
    "float16 * scalar": lambda: pa.asarray(F16) * 0.1,
    "float32 / row": lambda: pa.asarray(F32) / pa.asarray(F32[0]),
    "float32 // float32": lambda: pa.asarray(F32) // pa.asarray(F32[::-1].copy()),
    "float32 % scalar": lambda: pa.asarray(F32) % 0.3,
    "float32 ** scalar": lambda: pa.asarray(np.abs(F32)) ** 0.5,
    "int32 // int32": lambda: pa.asarray(I32) // pa.asarray(np.abs(I32) + 1),
    "int32 // 0": lambda: pa.asarray(I32) // pa.asarray(np.zeros_like(I32)),
    "float64 matmul": lambda: pa.asarray(F64) @ pa.asarray(F64.T.copy()),
    "bfloat16 add": lambda: pa.asarray(F64, dtype=pa.bfloat16) + pa.asarray(F16[0, 0].item()),
    "float32 var": lambda: pa.var(pa.asarray(F32)),
    "float16 sqrt": lambda: pa.sqrt(pa.abs(pa.asarray(F16))),
    "sign of NaN": lambda: pa.sign(pa.asarray(np.array([np.nan, -0.0, 2.0]))),
    "round": lambda: pa.round(pa.asarray(F32 * 2)),
    "minimum with NaN": lambda: pa.minimum(pa.asarray(F32 / F32[0, 0]), float("nan")),
}
PAIRS = [("numpy@2", "torch"), ("numpy@2", "jax"), ("torch", "paddle@3.3"), ("jax", "tensorflow")]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(pair))
@pytest.mark.parametrize("name", COMPUTED)
def test_other_bits_are_found_where_the_other_policy_computes_them(
    name: str, pair: tuple[str, str]
) -> None:
    before, after = pair
    compute = COMPUTED[name]
    with pa.policy(after):
        theirs = _result(compute)
    with _compared(before, after) as found:
        mine = _result(compute)
    if mine is None:
        assert theirs is None or "refuses" in {c.before for c in found[0].changes} or "/ 0" in name
        return
    (seen,) = found
    changes = [c for c in seen.changes if c.kind != "signature"]
    same = (
        theirs is not None
        and mine.dtype is theirs.dtype
        and _same_values(mine._decoded(), theirs._decoded())
    )
    assert bool(changes) == (not same), [str(c) for c in changes]


def _result(compute: Callable[[], Any]) -> Any:
    """What is computed; None where it is refused."""
    try:
        return compute()
    except (pa.PromotionError, OverflowError, ZeroDivisionError):
        return None


def test_values_in_place_are_of_the_target_as_it_was() -> None:
    with _compared("numpy@1", "numpy@2") as found:
        x = pa.asarray([0.1, 0.2], dtype=pa.float32)
        step = pa.asarray(0.1)
        for _ in range(3):
            x -= step
        x += x
        x *= x[::-1]
    (change,) = found[0].changes
    assert (change.kind, change.before, change.after) == ("value", "0.0", "1.4901161415892261e-09")
    assert change.site.text == "x -= step"


def test_values_that_were_written_over_are_not_said_to_be_the_same() -> None:
    with _compared("numpy", "jax") as found:
        x = pa.reshape(pa.arange(1.0, 13.0), (3, 4))
        x /= x[0]
        y = pa.asarray([1.0, 2.0])
        y += y[::-1]
    (seen,) = found
    assert seen.changes == ()
    assert [each.what for each in seen.open] == ["float64 /= float64"]
    assert "nothing changes from numpy@2 to jax@x64 of what was examined" in seen.summary()
    assert "written over" in seen.summary()


def test_what_several_processes_note_at_a_place_is_one_change() -> None:
    run, other = as_policy("numpy"), as_policy("jax")
    every = []
    for _ in range(2):
        probe = Changes(other.name)
        probe.begin()
        with pa.policy(run), observing(probe):
            pa.reshape(pa.arange(1.0, 13.0), (3, 4)) / pa.asarray([[3.0], [7.0], [9.0]])
        every.append(probe.ended({}))
    (alone,) = every[0]
    (change,) = difference(Report(run, (run, other)), every, other).changes
    assert alone.values is not None
    assert change.values is not None
    assert (change.count, change.values.size) == (2, 24)
    assert change.values.elements == 2 * alone.values.elements


def test_lines_that_only_inherit_are_counted_and_not_shown() -> None:
    with _compared("numpy", "torch") as found:
        x = pa.asarray([1, 2]) / 2
        y = x * 2
        y + 1
    (seen,) = found
    assert [c.inherited for c in seen.changes] == [False, True, True]
    assert [c.operation for c in seen.shown] == ["int64 / Python int"]
    assert "operands differ on 2 more lines" in seen.summary()
    assert "y * 2" not in str(seen)


def test_values_of_casts_and_scalars_are_told_once() -> None:
    with _compared("numpy", "torch") as found:
        pa.asarray([1, 2], dtype=pa.uint8) * 2
        pa.asarray([500.0, 1.0], dtype=pa.float32).astype(pa.float8_e4m3fn)
    (change,) = found[0].changes
    assert (change.kind, change.before, change.after) == ("value", "nan", "448.0")
    assert change.values is not None
    assert change.values[:2] == (2, 1)


def test_as_text_and_data() -> None:
    with _compared("numpy", "torch") as found:
        pa.mean(pa.asarray([True, False]))
    (seen,) = found
    assert "refuses  bools and integers have no mean (here bool)" in str(seen)
    assert "1 line changes from numpy@2 to torch@2.13: refusals at 1 place." in str(seen)
    assert seen.to_dict()["changes"][0]["refusal"] == "bools and integers have no mean (here bool)"


def test_lines_fit_the_screen_and_have_no_blanks_at_their_ends(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    total = " + ".join(["x"] * 20)
    command.write(
        "import promoarray as xp\nx = xp.asarray([1], dtype=xp.int8)\nfor _ in range(3):\n"
        f"    (({total}) + 300)\n    x[:1] = 300\n",
    )
    lines = command("diff --from numpy@1 --to numpy@2 program.py", status=1).out.splitlines()
    assert any("×3" in line for line in lines)
    assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []


def test_operations_that_cannot_differ_are_heard_once() -> None:
    heard = []

    class Counting(Changes):
        def on_operation(self, event: Any) -> Any:
            heard.append(event.name)
            return super().on_operation(event)

    probe = Counting("torch")
    probe.begin()
    x, small = pa.asarray([1.5, 2.5], dtype=pa.float32), pa.asarray([1, 2], dtype=pa.uint8)
    with pa.policy("numpy"), observing(probe):
        for number in range(4):
            x + x
            x * 2.5
            x += 1.0
            small * x  # cast to float32 in another way, so that it is carried out again
            small + number
    assert heard.count("multiply") == 1 + 4
    assert heard.count("add") < 4 + 4 + 4


def test_operations_that_are_alike_are_counted(command: Command) -> None:
    command.write(
        "import promoarray as xp\n"
        "x = xp.asarray([1.5, 2.5], dtype=xp.float32)\n"
        "y = xp.asarray([1, 300], dtype=xp.int16)\n"
        "for number in range(20):\n"
        "    x = x * 1.0\n"
        "    y / 2\n"
        "    y.astype(xp.float8_e4m3fn) + y.astype(xp.float8_e4m3fn)\n",
    )
    data = command("diff program.py --from numpy --to torch --json", status=1).data
    assert data["operations"] == 5 * 20
    (division,) = [each for each in data["changes"] if each["operation"] == "int16 / Python int"]
    assert division["count"] == 20
