"""What a trace does about a cast: warnings at the user's line, errors before anything is written,
and the debugger in the frame of the program."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa

SMALL = pa.asarray([1, 2], dtype=pa.int8)
SINGLE = pa.asarray([0.5, 1.5], dtype=pa.float32)
LONG = pa.asarray([1, 2], dtype=pa.int64)


def line() -> int:
    """The number of the line after the one that asks."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno + 1


def test_a_warning_is_at_the_users_line_and_of_its_own_class() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pa.trace(action="warn"):
            at = line()
            SMALL + SINGLE
            pa.where(SMALL > 1, SINGLE, LONG)
    first, *others = caught
    assert (first.category, first.filename, first.lineno) == (pa.ImplicitCastWarning, __file__, at)
    assert str(first.message) == (
        "implicit cast in add: int8 -> float32: every value comes through; write "
        "pa.astype(x, pa.float32) if it is meant"
    )
    assert [each.lineno for each in others] == [at + 1] * 2
    assert [each.category for each in others] == [pa.ImplicitCastWarning, pa.LossyCastWarning]
    assert "int64 -> float64: keeps integers up to" in str(others[1].message)


def test_a_cast_inside_of_a_library_is_told_at_the_line_that_called_it() -> None:
    library: dict[str, Any] = {"__name__": "library"}
    file = f"{np.__path__[0]}/not_there.py"
    exec(compile("def function(x, y):\n    return x + y", file, "exec"), library)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pa.trace(action="warn"):
            at = line()
            library["function"](SMALL, SINGLE)
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, at)]


def test_warnings_are_filtered_as_others_are() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=pa.LossyCastWarning)
        with pa.trace(action="warn", operation="add") as trace:
            for _ in range(5):
                SMALL + SINGLE
                SINGLE + LONG
    assert {each.category for each in caught} == {pa.ImplicitCastWarning}
    assert len(caught) == 2
    assert trace.casts.total() == 15


def in_place() -> pa.PArray:
    x = pa.asarray([1.0, 2.0], dtype=pa.float32)
    yield_to(lambda: x.__iadd__(pa.asarray([1.0, 2.0], dtype=pa.float64)))
    return x


def assigned() -> pa.PArray:
    x = pa.asarray([1.0, 2.0], dtype=pa.float32)
    yield_to(lambda: x.__setitem__(0, pa.asarray(7.0, dtype=pa.float64)))
    return x


def yield_to(write: Callable[[], object]) -> None:
    with pytest.raises((pa.ImplicitCastError, pa.ImplicitCastWarning)):
        write()


@pytest.mark.parametrize("action", ["raise", "warn"])
@pytest.mark.parametrize("writes", [in_place, assigned])
def test_nothing_is_written_where_a_cast_raises(
    writes: Callable[[], pa.PArray], action: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):  # the third time without a decision
            with pa.trace(action=action) as trace:
                x = writes()
            assert x._decoded().tolist() == [1.0, 2.0]
            assert trace.casts


def test_what_is_raised_says_what_and_pickles() -> None:
    for _ in range(3):
        with pa.trace(to="float64", lossy=True, action="raise"):
            SMALL + SINGLE
            SINGLE + SINGLE
            with pytest.raises(pa.ImplicitCastError, match="cast in add: int64 ") as raised:
                SINGLE + LONG
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.operation, error.source, error.target) == ("add", pa.int64, pa.float64)
    assert error.loss.startswith("keeps integers up to")
    assert str(error) == str(raised.value)
    assert not isinstance(error, TypeError)


def test_a_number_that_becomes_another_is_refused_in_words_of_its_own() -> None:
    with (
        pa.policy("torch"),
        pa.trace(action="raise"),
        pytest.raises(pa.ImplicitCastError, match="300 becomes 44; give a number that fits"),
    ):
        pa.asarray([1], dtype=pa.uint8) * 300


@pytest.mark.parametrize("action", ["print", "", None, 3])
def test_an_action_is_one_that_there_is(action: Any) -> None:
    with (
        pytest.raises(ValueError, match="'record', 'warn', 'raise', 'pdb'"),
        pa.trace(action=action),
    ):
        pass


PROGRAM = """
import promoarray as pa
a, b = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([1.0, 2.0])
def compute():
    n = 5
    c = a + b
    n = 6
    return c
with pa.trace(action="pdb", to="float64"):
    compute()
    compute()
print("done")
"""


@pytest.fixture
def debugged(tmp_path: Path) -> Callable[..., str]:
    """Run the program with what is typed at its prompts; return what it prints."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")

    def run(*typed: str) -> str:
        command, given = [sys.executable, str(script)], "\n".join(typed) + "\n"
        ended = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60)
        return ended.stdout + ended.stderr

    return run


def test_the_debugger_opens_in_the_programs_frame_at_its_line(
    debugged: Callable[..., str],
) -> None:
    out = debugged("p n * 100", "p a + b", "next", "p n", "next", "p n + 1", "continue", "continue")
    assert out.count("implicit cast in add: int8 -> float64") == 2
    assert out.count("program.py(6)compute()\n-> c = a + b") == 2
    assert "(Pdb) 500" in out
    assert "(Pdb) PArray([2., 4.], dtype=float64)" in out  # and no prompt in a prompt
    assert "program.py(7)compute()\n-> n = 6\n(Pdb) 5" in out
    assert "program.py(8)compute()\n-> return c\n(Pdb) 7" in out
    assert out.endswith("done\n")


def test_step_goes_to_the_next_line_and_quit_ends_the_program(
    debugged: Callable[..., str],
) -> None:
    out = debugged("step", "quit")
    assert "program.py(7)compute()\n-> n = 6" in out
    assert "BdbQuit" in out
    assert "done" not in out


def test_breakpoints_that_are_set_there_hold(debugged: Callable[..., str]) -> None:
    out = debugged("break 8", "continue", "p n", "continue", "continue", "continue")
    assert out.count("program.py(8)compute()\n-> return c") == 2
    assert "(Pdb) 6" in out
    assert "done\n" in out
