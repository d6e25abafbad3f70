"""The pool of threads: every part once, callers that share it, errors, casts of the same bits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import datetime_CAPI  # type: ignore[attr-defined]
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import kernels
from promoarray.kernels import DEFAULT, dtype_args, run_ufunc_loop, share

LONG = 1_000_000  # kernels/cpu/pool.h


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    before = pa.get_num_threads()
    pa.set_num_threads(2)
    yield
    pa.set_num_threads(before)


def test_two_threads_take_each_part_once() -> None:
    both, done = threading.Barrier(2, timeout=120), []

    def part(index: int) -> None:
        if index < 2:
            both.wait()  # neither goes on alone
        done.append((index, threading.get_ident()))

    share(part, 50)
    assert sorted(index for index, _ in done) == list(range(50))
    assert len({thread for _, thread in done}) == 2


def test_one_thread_is_the_caller_s() -> None:
    pa.set_num_threads(1)
    seen: list[int] = []
    share(lambda index: seen.append(threading.get_ident()), 10)
    assert seen == [threading.get_ident()] * 10


def test_a_call_inside_of_a_part_takes_no_thread_more() -> None:
    both = threading.Barrier(2, timeout=120)
    strays: list[int] = []

    def part(index: int) -> None:
        both.wait()
        mine = threading.get_ident()
        share(lambda inner: strays.append(threading.get_ident() - mine), 5)

    share(part, 2)
    assert strays == [0] * 10


@pytest.mark.parametrize("error", [ZeroDivisionError("of a part"), KeyboardInterrupt()])
def test_the_first_error_ends_it(error: BaseException) -> None:
    begun = []

    def part(index: int) -> None:
        begun.append(index)
        if index == 3:
            raise error

    with pytest.raises(type(error)) as raised:
        share(part, 1000)
    assert raised.value is error
    assert len(begun) < 1000
    done: list[int] = []
    share(done.append, 4)  # the pool is as it was
    assert sorted(done) == [0, 1, 2, 3]


def test_callers_that_come_at_once_share_the_threads() -> None:
    """While there are as many callers as threads, none has help."""
    here, both, leaves = threading.Event(), threading.Event(), threading.Event()
    callers: set[int] = set()
    late: list[int] = []

    def note(index: int, last: int) -> None:
        if index == last:
            leaves.set()
        if both.is_set() and not leaves.is_set():
            late.append(threading.get_ident())

    def first(index: int) -> None:
        here.set()
        if index < 2:  # of the caller and of its helper, until the second caller is there
            assert both.wait(20)
        else:
            note(index, 499)

    def second(index: int) -> None:
        both.set()
        note(index, 499)

    def call(work: Callable[[int], object]) -> None:
        callers.add(threading.get_ident())
        if work is second:
            assert here.wait(20)
        share(work, 500)

    threads = [threading.Thread(target=call, args=(work,)) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(late) > 400
    # A part that was begun is brought to its end.
    assert sum(thread not in callers for thread in late) <= 1


def test_four_threads_that_add_at_once_get_their_sums() -> None:
    x = pa.asarray(np.arange(LONG + 1, dtype=np.float32))
    found: list[bool] = []

    def work(k: int) -> None:
        for _ in range(3):
            y = np.asarray((x + float(k)).astype(pa.bfloat16))
            found.append(y.tobytes() == wanted[k])

    pa.set_num_threads(1)
    wanted = [np.asarray((x + float(k)).astype(pa.bfloat16)).tobytes() for k in range(4)]
    pa.set_num_threads(2)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 12


# From storage to dtypes: complex numbers count as parts, and bools take either.
PAIRS = [
    (pa.float32, pa.bfloat16),
    (pa.float32, pa.float8_e4m3fn),
    (pa.complex64, pa.complex128),
    (pa.complex64, pa.bool),
    (pa.int16, pa.complex64),
    (pa.float64, pa.int8),
]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
@pytest.mark.parametrize("layout", ["rows", "every second", "columns", "reversed", "few rows"])
def test_casts_in_parts_have_the_same_bits(source: pa.DType, target: pa.DType, layout: str) -> None:
    random = np.random.default_rng(5)
    size = LONG + 77
    bits = random.integers(0, 256, 3 * source.storage.itemsize << 19, np.uint8)
    with np.errstate(all="ignore"):
        x = np.resize(bits.view(source.storage), 2 * size)
    given = {
        "rows": x[:size],
        "every second": x[::2],
        "columns": x[: 1000 * 1003].reshape(1003, 1000).T,
        "reversed": x[::-2],
        "few rows": x.reshape(2, -1)[:, 1:],
    }[layout]
    made = []
    for threads in (1, 2, 3):
        pa.set_num_threads(threads)
        out = np.zeros(given.shape, target.storage)
        kernels.cast(given, out, dtype_args(source), dtype_args(target), DEFAULT)
        made.append(out.view(np.uint8).reshape(-1))
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])


def _inner_loop(ufunc: np.ufunc, *storages: str) -> Any:
    given = (*(np.dtype(s) for s in storages), None)
    _, loop = ufunc._resolve_dtypes_and_context(given)  # type: ignore[attr-defined]
    ufunc._get_strided_loop(loop)  # type: ignore[attr-defined]
    return loop


def test_a_loop_of_numpys_runs_in_parts_and_says_what_it_met() -> None:
    x, one = np.arange(1.0, 1001, dtype=np.float32), np.ones((), np.float32)
    divide = _inner_loop(np.divide, "f4", "f4")
    for length in (1, 7, 1000, 5000):
        out = np.empty_like(x)
        assert run_ufunc_loop(divide, (one, x), out, length) == ()
        assert out.tobytes() == (one / x).tobytes()
    x[[3, 997]] = 0
    assert run_ufunc_loop(divide, (one, x), out, 10) == ((1, 0, 10),)
    assert run_ufunc_loop(_inner_loop(np.exp, "f4"), (x + 1000,), out, 10) == ((2, 0, 10),)


def test_what_a_loop_of_numpys_cannot_be_run_on_is_refused() -> None:
    x, out = np.ones(8, np.float32), np.empty(8, np.float32)
    loop = _inner_loop(np.add, "f4", "f4")
    _, empty = np.add._resolve_dtypes_and_context((x.dtype, x.dtype, None))  # type: ignore[attr-defined]
    for given, message in (
        ((datetime_CAPI, (x, x), out, 8), "PyCapsule"),
        ((empty, (x, x), out, 8), "not looked up"),
        ((loop, (x, out), out, 8), "overlap"),
        ((loop, (x, x[:4]), out, 8), "neither 1 element nor all"),
        ((loop, (x, x), out, 0), "no length"),
    ):
        with pytest.raises(ValueError, match=message):
            run_ufunc_loop(*given)
    with pytest.raises(TypeError, match="1 to 3"):
        run_ufunc_loop(loop, (), out, 8)
