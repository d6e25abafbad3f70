"""Tracebacks end at the user's line: pytest's, and those of a program under `compare`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.errors import meant_for_callers

CALLS = """
import pickle
import numpy as np
import promoarray as pa
import promoarray.fft
i, f = pa.asarray([1, 2], dtype=pa.int64), pa.asarray([1.0, 2.0], dtype=pa.float32)

def test_operator():
    with pa.policy("paddle"):
        i + f  # the user's
def test_in_place():
    with pa.policy("paddle"):
        x = i
        x += f  # the user's
def test_function():
    pa.sum(i, axis=7)  # the user's
def test_shapes():
    i + pa.asarray([1, 2, 3])  # the user's
def test_scalar():
    pa.asarray([1], dtype=pa.int8) + 300  # the user's
def test_method():
    i.astype("nonsense")  # the user's
def test_setitem():
    i[5] = 1  # the user's
def test_method_of_numpys():
    i.sum(axis=7)  # the user's
def test_what_is_loaded_with_it():
    i.searchsorted(7, side="no")  # the user's
def test_item():
    i.item()  # the user's
def test_creation():
    pa.zeros(3, dtype="float31")  # the user's
def test_chapter():
    pa.linalg.inv(i)  # the user's
def test_other_chapter():
    pa.fft.fft(i, n=-1)  # the user's
def test_tool():
    pa.pack(f)  # the user's
def test_policy():
    pa.set_policy("torhc")  # the user's
def test_escape():
    with pa.no_escape():
        np.asarray(i)  # the user's
"""


def test_pytest_shows_the_line_that_called(tmp_path: Path) -> None:
    path = tmp_path / "test_calls.py"
    path.write_text(CALLS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", "-n", "0"]
    options = ["-c", "/dev/null", "--rootdir", str(tmp_path), str(path)]
    ran = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    wanted = CALLS.count("def test")
    assert f"{wanted} failed" in ran.stdout, ran.stdout
    places = re.findall(r"^(\S+\.py):\d+: in \w+\n(?:    (.*)\n)?", ran.stdout, re.MULTILINE)
    assert len(places) == wanted, ran.stdout
    assert {Path(file).name for file, _ in places} == {"test_calls.py"}
    assert [line for _, line in places if not line.endswith("# the user's")] == []


def test_a_bug_shows_where_it_is() -> None:
    hides = vars(sys.modules["promoarray.core.dispatch"])["__tracebackhide__"]
    assert hides is meant_for_callers
    for error, hidden in ((pa.PromotionError("a"), True), (AttributeError("a"), False)):
        info = type("Info", (), {"value": error})
        assert meant_for_callers(info) is hidden
    assert not meant_for_callers(None)


PROGRAM = """
import sys, threading
import numpy as np
import promoarray as pa
i, f = pa.asarray([1, 2], dtype=pa.int64), pa.asarray([1.0, 2.0], dtype=pa.float32)
def failing():
    with pa.policy("paddle"):
        i + f
thread = threading.Thread(target=failing, name="first")
thread.start(); thread.join()
try:
    failing()
except TypeError as error:
    raise ExceptionGroup("both", [error, ValueError()]) from error
"""


@pytest.mark.slow
def test_compare_shows_the_line_that_called_and_all_frames_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    compare = [sys.executable, "-m", "promoarray", "compare", str(path), "--policies", "torch"]
    run = partial(subprocess.run, capture_output=True, text=True, check=False)
    every = os.environ | {"PROMOARRAY_TRACEBACK": "full"}
    python = run([sys.executable, str(path)], env=every).stderr
    short, full = run(compare).stderr, run([*compare, "--traceback", "full"]).stderr
    files = re.findall(r'File "(.*?)", line (\d+)', short)
    assert {Path(file).name for file, _ in files} == {"program.py", "threading.py"}
    assert [line for file, line in files if file == str(path)] == ["8", "12", "8", "14", "12", "8"]
    assert "core/dispatch.py" in python
    # By which of its lines dispatch went hangs on whether somebody hears of it.
    frames = re.compile(r'File "(.*?)", line \d+, in (\S+)')
    assert frames.findall(full) == frames.findall(python)
    assert "core/dispatch.py" not in short


IN_POLICY = {
    "i + f": "paddle",
    "xp.mean(i)": "jax",
    "pa.median(z)": "jax",
    "i.mean()": "torch",
    "pa.mean(i)": "torch",
}


@pytest.mark.parametrize("call", IN_POLICY)
def test_a_promotion_error_ends_at_the_callers_line(call: str) -> None:
    names = {"pa": pa, "xp": pa.namespace("torch"), "i": pa.asarray([1])}
    names |= {"f": pa.asarray([1.5], dtype=pa.float32), "z": pa.asarray([1j])}
    with pa.policy(IN_POLICY[call]), pytest.raises(pa.PromotionError) as caught:
        eval(call, names)
    assert len(caught.traceback) == 2  # this line, and the call


MEANT = (
    *("pa.mean('hello')", "xp.mean('hello')", "pa.sum(i, axis=5)", "i + 'a'", "pa.arange(5) * 'a'"),
    *("pa.asarray([1], dtype='nope')", "pa.linalg.inv(i)", "pa.fft.fft('a')"),
    *("pa.quantile(f, 2.0)", "pa.extras.huber_loss(f, 'a')"),
    *("pa.table('add')", "pa.policy('nope')", "pa.set_policy('nope')", "pa.explain(i, i)"),
    *("i.reshape(3, 5)", "pa.reshape(i, (2, 3))", "i[7]", "i['a']", "f.astype('nope')"),
    *("pa.sum()", "pa.sum(i, nope=1)", "pa.concat([i], 0, 0)", "i.view('nope')", "pa.einsum(i)"),
    *(
        "pa.broadcast_to(pa.ones(3), (2, 2))",
        "pa.matrix_transpose(i)",
        "i.item(0, 5)",
        "pa.pack(f)",
    ),
    *("pa.fft.rfftn(pa.asarray(0))", "pa.fft.fftn(f[:0])", "pa.kron(i, pa.float8_e5m2)"),
    "pa.fill_diagonal([[1, 2], [3, 4]], 0)",  # a list, which it would not write into
    *("i.__array__('nope')", "np.asarray(i, dtype='nope')"),
)


@pytest.mark.parametrize("call", MEANT)
def test_so_does_every_error_that_is_raised_on_purpose(call: str) -> None:
    names = {"pa": pa, "xp": pa.namespace("torch"), "i": pa.asarray([1]), "f": pa.asarray([1.5])}
    names["np"] = np
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        eval(call, names)
    assert len(caught.traceback) == 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("pa.eye('a')", "eye takes int as n_rows, not 'a'"),
        ("pa.stack(None)", "stack takes a sequence of arrays as arrays, not None"),
        ("pa.sum(pa.ones(1), axis=[0])", "sum takes an int or a tuple of ints as axis, not [0]"),
        ("pa.size('a')", "size takes no str as a: 'a'"),
        ("pa.transpose([1], 3)", "transpose takes a sequence of ints or None as axes, not 3"),
        ("pa.vstack(None)", "vstack takes no NoneType as tup: None"),
        ("pa.ones(1).item('a')", "item takes no str as index: 'a'"),
        ("pa.record()", "record() missing 1 required positional argument: 'framework'"),
    ],
)
def test_what_python_says_of_an_argument_names_the_parameter(call: str, said: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(said)}$") as caught:
        eval(call, {"pa": pa})
    ours = Path(pa.__file__).parent
    assert sum(ours in Path(entry.path).parents for entry in caught.traceback) <= 1


def test_an_error_of_a_function_that_is_given_and_a_bug_show_all_frames(monkeypatch: Any) -> None:
    def users(x: Any) -> Any:
        raise TypeError("the user's")

    x = pa.asarray([1.5, 2.0])
    with pytest.raises(TypeError, match="the user's") as caught:
        pa.piecewise(x, [x > 1], [users])
    assert caught.traceback[-1].name == "users"
    with pytest.raises(TypeError, match="mean takes arrays") as caught:
        pa.piecewise(x, [x > 1], [lambda _: pa.mean("hello")])
    assert caught.traceback[-1].path == Path(__file__)
    monkeypatch.setattr("promoarray.linalg.systems.square", None)
    with pytest.raises(TypeError, match="NoneType") as bug:
        pa.linalg.inv(x)
    assert bug.traceback[-1].path.name == "systems.py"
