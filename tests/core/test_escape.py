"""Data that leaves the policy: by which door, from which line, to whom; and the guard."""

from __future__ import annotations

import asyncio
import copy
import math
import operator
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.core import call_site, observers

VECTOR = pa.asarray([1.0, 2.0, 4.0], dtype=pa.float32)
ONE = pa.asarray(3, dtype=pa.int16)

DOORS: dict[str, tuple[Callable[[], Any], str]] = {
    "np.asarray": (lambda: np.asarray(VECTOR), "__array__"),
    "polyroots": (lambda: np.polynomial.polynomial.polyroots(VECTOR), "__array__"),
    "np.from_dlpack": (lambda: np.from_dlpack(VECTOR), "__dlpack__"),
    "tolist": (lambda: VECTOR.tolist(), "tolist"),
    "item": (lambda: ONE.item(), "item"),
    "float": (lambda: float(ONE), "float"),
    "int": (lambda: int(ONE), "int"),
    "complex": (lambda: complex(ONE), "complex"),
    "math": (lambda: math.sqrt(ONE), "float"),
}
ARRAYS = {
    name for name, (_, door) in DOORS.items() if door in ("__array__", "__dlpack__", "tolist")
}

INSIDE: dict[str, Callable[[], Any]] = {
    "an operator": lambda: VECTOR + 1.5,
    "a NumPy operand": lambda: np.ones(3, np.float32) + VECTOR,
    "a ufunc": lambda: np.add(VECTOR, VECTOR),
    "a function of NumPy's": lambda: np.mean(VECTOR),
    "a branch": lambda: 1 if ONE > 2 else 0,
    "an index": lambda: [0, 1, 2, 3][ONE],
    "an integer": lambda: operator.index(ONE),
    "printing": lambda: f"{VECTOR}{VECTOR!r}{VECTOR._repr_html_()}",
    "formatting": lambda: f"{ONE:>5d}",
    "asarray": lambda: pa.asarray(VECTOR),
    "asarray of 0-d arrays": lambda: pa.asarray([ONE, ONE]),
    "from_dlpack": lambda: pa.from_dlpack(VECTOR),
    "iteration": lambda: sum(VECTOR),
    "an assignment": lambda: operator.setitem(copy.copy(VECTOR), 0, ONE),
    "pickling": lambda: pickle.loads(pickle.dumps(VECTOR)),
    "a report": lambda: str(pa.cast_report(VECTOR, pa.float16)),
}


@pytest.fixture
def log() -> Iterator[list[Any]]:
    """What was told of escapes in the test."""
    with pa.trace() as trace:
        yield trace.escapes  # type: ignore[misc]


@pytest.mark.parametrize("name", DOORS)
def test_every_door_is_noted_with_its_place(name: str) -> None:
    go, door = DOORS[name]
    with pa.trace() as trace:
        go()
    (escape,) = trace.escapes
    assert escape.channel == door
    assert escape.site.file == __file__
    assert escape.site.line == go.__code__.co_firstlineno
    array = VECTOR if name in ARRAYS else ONE
    assert (escape.dtype, escape.shape) == (array.dtype.name, array.shape)


@pytest.mark.parametrize("name", DOORS)
def test_no_escape_shuts_every_door(name: str) -> None:
    go, door = DOORS[name]
    with pa.no_escape(), pytest.raises(pa.EscapeError, match="would leave the policy") as caught:
        go()
    assert caught.value.escape.channel == door
    go()  # open again


@pytest.mark.parametrize("name", DOORS)
def test_single_numbers_may_be_allowed(name: str) -> None:
    go, _ = DOORS[name]
    with pa.no_escape(scalars=False):
        if name in ARRAYS:
            with pytest.raises(pa.EscapeError):
                go()
        else:
            go()


@pytest.mark.parametrize("name", INSIDE)
def test_what_stays_inside_is_no_escape(name: str) -> None:
    with pa.trace() as trace, pa.no_escape():
        INSIDE[name]()
    assert not trace.escapes


def test_files_are_no_escape(tmp_path: Path) -> None:
    with pa.no_escape():
        pa.save(tmp_path / "x.npz", x=VECTOR)
        assert pa.all(pa.load(tmp_path / "x.npz")["x"] == VECTOR)


def test_there_is_no_buffer_door() -> None:
    for take in (memoryview, np.frombuffer):
        with pytest.raises(TypeError):
            take(VECTOR)  # type: ignore[call-overload]


def test_what_is_no_number_does_not_leave() -> None:
    with pa.trace() as trace, pytest.raises(TypeError, match="needs a 0-d array"):
        float(VECTOR)
    assert not trace.escapes


def test_the_message_says_what_where_and_what_to_write() -> None:
    with pa.no_escape(), pytest.raises(pa.EscapeError) as caught:
        np.polynomial.polynomial.polyroots(VECTOR)
    message = str(caught.value)
    assert message.startswith("float32 array of shape (3,) would leave the policy by __array__ to")
    assert "numpy" in message
    assert "test_escape.py" in message
    assert "np.polynomial.polynomial.polyroots(VECTOR)" in message
    assert "outside of no_escape" in message
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.escape) == (message, caught.value.escape)


def test_blocks_add_up() -> None:
    with pa.no_escape():
        with pa.no_escape(scalars=False), pytest.raises(pa.EscapeError):
            float(ONE)
        with pytest.raises(pa.EscapeError):
            float(ONE)
    with pa.no_escape(scalars=False):
        with pa.no_escape(), pytest.raises(pa.EscapeError):
            float(ONE)
        float(ONE)


def test_it_decorates_functions_and_coroutines() -> None:
    @pa.no_escape()
    def mean(x: pa.PArray, depth: int = 3) -> Any:
        return np.asarray(x).mean() if not depth else mean(x, depth - 1)

    @pa.no_escape()
    async def later(x: pa.PArray) -> Any:
        await asyncio.sleep(0)
        return np.asarray(x).mean()

    with pytest.raises(pa.EscapeError):
        mean(VECTOR)
    with pytest.raises(pa.EscapeError):
        asyncio.run(later(VECTOR))
    np.asarray(VECTOR).mean()


def test_other_threads_and_tasks_are_free() -> None:
    took: list[Any] = []

    async def outside() -> None:
        await asyncio.sleep(0)
        took.append(np.asarray(VECTOR).mean())

    async def inside() -> None:
        with pa.no_escape():
            await asyncio.sleep(0)
            with pytest.raises(pa.EscapeError):
                np.asarray(VECTOR).mean()

    async def both() -> None:
        await asyncio.gather(inside(), outside())

    with pa.no_escape():
        thread = threading.Thread(target=lambda: took.append(np.asarray(VECTOR).mean()))
        thread.start()
        thread.join()
    asyncio.run(both())
    assert len(took) == 2


def test_nothing_listens_once_the_blocks_have_ended() -> None:
    with pa.trace(), pa.no_escape(), pa.shadow("torch"):
        assert len(observers.observers_anywhere) == 2
        assert observers.guarded_here() is not None
    assert observers.observers_anywhere == []
    assert observers.guarded_here() is None


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A library that computes with NumPy, installed where libraries are."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "smoothing.py").write_text(
        "import numpy as np\n\n\ndef smooth(x):\n    return _inner(x)\n\n\n"
        "def _inner(x):\n    return [np.asarray(y) for y in (x,)][0].mean()\n\n\n"
        "def half(x):\n    return x / 2\n"
    )
    monkeypatch.syspath_prepend(folder)
    call_site._libraries.cache_clear()
    import smoothing  # type: ignore[import-not-found]

    yield smoothing
    del sys.modules["smoothing"]
    call_site._libraries.cache_clear()


def test_a_library_is_named_with_its_line_beside_the_programs(library: Any) -> None:
    with pa.trace() as trace:
        for n in (3, 3, 5):
            library.smooth(pa.ones(n))
    first, second = sorted(trace.escapes)
    assert trace.escapes[first] == 2
    assert first.site.expression == "library.smooth(pa.ones(n))"
    assert first.site.file == __file__
    assert first.consumer == "smoothing._inner"
    assert first.inside.line == 9
    assert second.shape == (5,)
    (row,) = trace.to_dict()["escapes"]
    assert (row["shapes"], row["count"]) == ([[3], [5]], 3)
    assert row["taker"] == row["consumer"]  # the former name
    assert row["consumer"]["function"] == "smoothing._inner"
    text = str(trace)
    assert "Where data left the policy" in text
    assert "float64 of shapes (3,), (5,)  by __array__  ×3" in text
    assert "smoothing.py:9" in text


def test_single_numbers_are_listed_apart() -> None:
    with pa.trace() as trace:
        np.asarray(VECTOR).mean()
        float(ONE)
    arrays, numbers = str(trace).split("Scalars converted to Python")
    assert "np.asarray(VECTOR)" in arrays
    assert "float(ONE)" in numbers
    assert [row["scalar"] for row in trace.to_dict()["escapes"]] == [False, True]


def test_a_shadow_run_tells_too() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        float(np.asarray(x / 2).mean())
    (escape,) = report.escapes
    assert escape.dtype == "float64"
    assert "Data left the policy once (1 place)." in report.summary()
    assert "leaves      taken by the program itself" in str(report)
    assert "Where data left the policy" in report.to_html()
    (row,) = report.to_dict()["escapes"]
    assert row["door"] == row["channel"] == "__array__"  # door is the former name


def test_an_operation_of_a_library_is_reported_with_the_programs_line(library: Any) -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        library.half(x)
        x / 2
    inside, own = report.to_dict()["divergences"]
    assert (Path(inside["file"]).name, inside["line"]) == ("smoothing.py", 13)
    assert inside["called_from"]["expression"] == "library.half(x)"
    assert inside["called_from"]["file"] == __file__
    assert (own["file"], own["called_from"]) == (__file__, None)
    text = str(report)
    called, inside_it = text.index("library.half(x)"), text.index("smoothing.py:13")
    assert called < inside_it
    assert "called from test_escape.py" in report.to_html()


def test_a_guard_holds_for_what_left_by_the_fast_path_before_there_was_any(tmp_path: Path) -> None:
    program = """
import sys
import promoarray as pa
x = pa.asarray(1.5)
left = [x.item() for _ in range(3)]
print("promoarray.core.escape" in sys.modules)
with pa.no_escape():
    for _ in range(2):
        try:
            print(x.item())
        except pa.EscapeError:
            print("kept")
print(x.item())
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout.split() == ["False", "kept", "kept", "1.5"]
