"""Operations that an observer has heard of are run and told by one look-up, and say the same."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import Any

import pytest

import promoarray as pa
from promoarray.core import events
from promoarray.core.events import OperationEvent, Repeat, Repeats
from promoarray.core.observers import observing


class Counting(events.Observer):
    """Counts what it hears in words, and what is repeated."""

    def __init__(self, types: tuple[Any, ...] | None = None) -> None:
        self.repeats = Repeats(lambda x: (type(x), x))
        self.heard: list[str] = []
        self.repeated: list[str] = []
        self._types = types

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        self.heard.append(event.name)
        made = tuple(x._type for x in (event.result, *event.extra_results))
        return Repeat(self._types or made, lambda: bool(self.repeated.append(event.name)))


X = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
Y = pa.asarray([1, 2, 3], dtype=pa.int8)
H = pa.asarray([1.5, 2.5, 3.5], dtype=pa.bfloat16)
ZERO_D = pa.asarray(2.0, dtype=pa.float32)
DOUBLE = pa.asarray([0.5, 0.5, 0.5], dtype=pa.float64)


def test_what_a_dtype_hangs_on_is_told_apart() -> None:
    with pa.policy("jax"), pa.shadow("torch", "numpy@1") as report:
        weak, double = pa.asarray(2.0), pa.astype(Y, pa.float64)
        for _ in range(4):
            assert (weak + Y).weak_type
            assert not (pa.asarray(2.0, dtype=weak.dtype) + Y).weak_type
            assert (Y + 1).dtype is pa.int8
            assert (Y + 1.0).weak_type
            with pa.policy("torch"):
                assert (X + double).dtype is pa.float64
                assert (X + double[0]).dtype is pa.float32
    assert report.operations > 6 * 4


def test_types_that_an_observer_gives_are_those_of_the_results() -> None:
    with observing(listening := Counting((pa.float64,))):
        made = [pa.add(X, X)._type for _ in range(5)]
    assert made.count(pa.float32) == len(listening.heard) <= 2
    assert made.count(pa.float64) == len(listening.repeated) >= 3


def test_two_observers_hear_of_every_operation() -> None:
    with observing(first := Counting()):
        X + Y, X + Y, X + Y
        with observing(second := Counting()):
            X + Y, X + Y
        X + Y
    assert len(first.heard) + len(first.repeated) == 6
    assert len(first.heard) >= 3
    assert (second.heard, second.repeated) == (["add"] * 2, [])


def test_an_observer_of_another_context_hears_nothing() -> None:
    with observing(listening := Counting()):
        X + Y, X + Y, X + Y
        thread = threading.Thread(target=lambda: [X + Y for _ in range(3)])
        thread.start()
        thread.join()
    assert len(listening.heard) + len(listening.repeated) == 3


class Stopped(BaseException):
    """As a signal's."""


class Stopping(events.Observer):
    def __init__(self) -> None:
        self.repeats = Repeats(type)

    def on_operation(self, event: OperationEvent) -> Repeat:
        return Repeat((event.result._type,), self.stop)

    def stop(self) -> bool:
        raise Stopped


@pytest.mark.parametrize("call", [lambda: X + Y, lambda: pa.exp(X), lambda: pa.sum(X)])
def test_what_is_told_may_stop_the_program(call: Callable[[], Any]) -> None:
    call()
    with observing(Stopping()), pytest.raises(Stopped):
        call(), call(), call()
    with observing(Stopping()):
        for _ in range(2):
            with contextlib.suppress(Stopped):
                call()
        before = sys.getrefcount(X), sys.getrefcount(X._buffer), sys.getrefcount(pa.float32)
        for _ in range(100):
            with pytest.raises(Stopped):
                call()
        after = sys.getrefcount(X), sys.getrefcount(X._buffer), sys.getrefcount(pa.float32)
    assert all(b - a < 10 for a, b in zip(before, after, strict=True))


def test_shapes_that_do_not_match_are_told_as_ever() -> None:
    short = pa.asarray([1.0, 2.0], dtype=pa.float32)
    with pytest.raises(ValueError, match="shape") as plain:
        X + short
    with pa.shadow():
        X + X, X + X, X + X
        with pytest.raises(ValueError, match="shape") as observed:
            X + short
    assert str(observed.value) == str(plain.value)


def test_a_number_that_does_not_fit_is_refused_as_ever() -> None:
    with pa.policy("numpy"), pa.shadow("torch"):
        Y + 100, Y + 100, Y + 101
        with pytest.raises(OverflowError, match="300"):
            Y + 300


REPEATED = """
import gc, tracemalloc
import promoarray as pa

X = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
Y = pa.asarray([1, 2, 3], dtype=pa.int8)

def loop(repetitions):
    s = X
    for n in range(repetitions):
        s = s * 0.5 + X
        t = s + Y
        t += n % 7
        pa.sum(t) * 0.25
        pa.where(t > 1, t, Y)
    gc.collect()

with pa.shadow() as report, pa.policy("numpy"):
    tracemalloc.start()
    loop(1000)
    before, objects = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
    loop(2000)
    grown, more = tracemalloc.get_traced_memory()[0] - before, len(gc.get_objects()) - objects
print(report.operations > 20_000, more < 50, grown < 65_536 or grown)
"""


def test_memory_does_not_grow_with_repetitions() -> None:
    # In a process of its own, as the memory of others' threads would count, too.
    ran = subprocess.run([sys.executable, "-c", REPEATED], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True True True\n", "")


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_REPEATS", 100)
    with observing(listening := Counting()):
        for n in range(100):
            X + n, X + n
    assert 0 < len(listening.repeats.kept) <= 8


LIBRARY: dict[str, Any] = {"pa": pa}
exec(
    compile(
        "def shifted(x, y):\n    return pa.add(x, y)",
        sysconfig.get_paths()["purelib"] + "/shifting.py",
        "exec",
    ),
    LIBRARY,
)


def small_operations() -> list[Any]:
    """Run operations of every sort that observers hear of, over and over."""
    shifted, made = LIBRARY["shifted"], []
    s = X
    for n in range(12):
        s = s * 0.5 + X
        t = s + Y * (n + 0.5) - n % 3
        t += Y
        t -= 2.0**n
        made += [t, pa.sum(t * ZERO_D, axis=0, keepdims=n % 2 == 0)]
        made += [s * pa.asarray(float(n**n), dtype=pa.float32) + pa.asarray(n, dtype=pa.int8)]
        made += [pa.where(t > 1, H, Y), pa.where(t > 1, H, 2)]
        made += [shifted(H, Y), shifted(X, Y)]
        made += [shifted(Y, H)]
        made += [Y + 100 * n if n == 1 else Y / 3]
        made += [pa.concat([X, Y]), pa.max(H)]
        target = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
        for _ in range(3):
            target += DOUBLE  # some policies bind the name to float64
        made += [target]
        with pa.policy("numpy@1"):
            made += [X + n, X * ZERO_D, Y + 100 * n, Y * n**n, Y / 2.0**n]
            made += [Y + pa.asarray(60 * n), X + pa.asarray(10.0 ** (4 * n))]
        with pa.policy("jax"):
            made += [X + Y, Y + 1.0, ZERO_D + Y]
    return made


@pytest.mark.parametrize("watch", [pa.shadow, lambda: pa.shadow("torch"), pa.trace])
def test_results_are_the_same_observed(watch: Callable[[], Any]) -> None:
    wanted = small_operations()
    with watch():
        made = small_operations()
    for x, y in zip(made, wanted, strict=True):
        assert x.dtype is y.dtype
        assert x._buffer.tobytes() == y._buffer.tobytes()


@pytest.mark.parametrize("watch", [pa.shadow, lambda: pa.shadow("torch"), pa.trace])
def test_reports_are_the_same_with_nothing_cached(
    watch: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with watch() as report:
        small_operations()
    monkeypatch.setattr("promoarray.core.observer_cache.look_up", lambda *_: None)
    with watch() as other:
        small_operations()
    assert other.to_dict() == report.to_dict()
    assert str(other) == str(report)
