"""Arrays that are wrapped or cast by ``asarray``, and dtypes that are named: the second time is as
the first, and asks nothing of ours in Python."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import asarray as conversion
from promoarray.core import cast, events, observers, python_data
from promoarray.dtypes import CONCRETE, DType
from promoarray.policies import as_policy

POLICIES = ["numpy", "numpy@1", "torch", "jax", "jax@x32", "paddle", "array_api", "onnx@25"]

NUMBERS = np.asarray([[1.0, 0.0, 2.5], [-1.0, 300.0, np.nan]])

ASKED: list[Any] = [None, *(dt.bool, dt.int8, dt.int64, dt.bfloat16, dt.float32, dt.float64)]
ASKED += [dt.float8_e4m3fn, dt.complex64]


def outcome(run: Callable[[], Any], given: Any) -> tuple[Any, ...]:
    """All that one can tell of an array, or of the error."""
    try:
        z = run()
    except Exception as error:
        return type(error), str(error)
    held = given._buffer if isinstance(given, pa.PArray) else np.asarray(given)
    buffer = z._buffer
    shares = buffer is held, np.shares_memory(buffer, held), buffer.flags.writeable
    where = buffer.dtype, buffer.shape, buffer.strides, buffer.tobytes()
    return type(z), z._type, z is given, *shares, *where


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


SOURCES: dict[str, Callable[[Any, Any], Any]] = {
    "ours": lambda xp, stored: xp.asarray(stored),
    "ours backwards": lambda xp, stored: xp.asarray(stored[:, ::-1]),
    "ours 0-d": lambda xp, stored: xp.asarray(stored[0, 0]),
    "bound to none": lambda xp, stored: pa.asarray(stored),
    "NumPy's": lambda xp, stored: stored,
    "NumPy's transposed": lambda xp, stored: stored.T,
    "NumPy's read-only": lambda xp, stored: np.broadcast_to(stored, (2, *stored.shape)),
    "NumPy's in the other byte order": lambda xp, stored: stored.astype(
        stored.dtype.newbyteorder()
    ),
    "NumPy's scalar": lambda xp, stored: stored[0, 0],
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("bound", [False, True])
def test_arrays_are_made_again_as_at_first(policy: str, source: str, bound: bool) -> None:
    wrong = []
    fresh = as_policy(policy).derive("fresh")  # which has met nothing
    xp = pa.namespace(fresh) if bound else pa
    turn = POLICIES.index(policy) + [*SOURCES].index(source)
    for at, dtype in enumerate(CONCRETE):
        given = SOURCES[source](xp, pa.asarray(NUMBERS).astype(dtype)._buffer)
        with pa.policy("numpy" if bound else fresh):
            for asked, copy in turns(product(ASKED, (None, True)), 3, at + turn):
                run = partial(xp.asarray, given, dtype=asked, copy=copy)
                first, *again = (outcome(run, given) for _ in range(3))
                wrong += [(dtype.name, asked, first, each) for each in again if each != first]
                wrong += [(dtype.name, asked, first)] * (copy is True and True in first[2:5])
    assert wrong == []


SPELLED: list[tuple[Any, DType]] = [
    ("float32", dt.float32),
    ("bf16", dt.bfloat16),
    (">f4", dt.float32),
    (np.float32, dt.float32),
    (np.dtype("int8"), dt.int8),
    (np.dtype(">i2"), dt.int16),
    (dt.float8_e4m3fn.storage, dt.float8_e4m3fn),
    (dt.bfloat16.storage.type, dt.bfloat16),
    (float, dt.float64),
    (bool, dt.bool),
]

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "astype method": lambda xp, x, spelled: x.astype(spelled),
    "astype": lambda xp, x, spelled: xp.astype(x, spelled),
    "asarray": lambda xp, x, spelled: xp.asarray(x, dtype=spelled),
    "asarray of NumPy's": lambda xp, x, spelled: xp.asarray(np.ones(2), dtype=spelled),
    "asarray of a copy": lambda xp, x, spelled: xp.asarray(x, dtype=spelled, copy=True),
    "asarray of a number": lambda xp, x, spelled: xp.asarray(1, dtype=spelled),
    "asarray of a list": lambda xp, x, spelled: xp.asarray([1, 0], dtype=spelled),
    "zeros": lambda xp, x, spelled: xp.zeros(2, dtype=spelled),
    "ones": lambda xp, x, spelled: xp.ones((1, 2), dtype=spelled),
    "full": lambda xp, x, spelled: xp.full(2, 1, dtype=spelled),
    "zeros_like": lambda xp, x, spelled: xp.zeros_like(x, dtype=spelled),
    "full_like": lambda xp, x, spelled: xp.full_like(x, 1, dtype=spelled),
    "arange": lambda xp, x, spelled: xp.arange(2, dtype=spelled),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("bound", [False, True])
def test_a_dtype_may_be_spelled_in_any_way(call: str, bound: bool) -> None:
    fresh = as_policy("torch").derive("fresh")
    xp = pa.namespace(fresh) if bound else pa
    with pa.policy(fresh):
        x = xp.asarray(np.asarray([1.0, 0.0]))
        for spelled, dtype in SPELLED:
            try:
                expected = CALLS[call](xp, x, dtype)
            except TypeError:  # what arange has not
                continue
            for _ in range(3):
                made = CALLS[call](xp, x, spelled)
                assert (made.dtype, type(made)) == (dtype, type(expected))
                assert made._buffer.tobytes() == expected._buffer.tobytes()


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What took the long way."""
    taken: list[str] = []
    for module, name in ((cast, "astype"), (conversion, "asarray")):
        plain = getattr(module, name)

        def counted(*args: Any, plain: Any = plain, **options: Any) -> Any:
            taken.append(plain.__name__)
            return plain(*args, **options)

        monkeypatch.setattr(module, name, counted)
    return taken


@pytest.mark.parametrize("call", [name for name in CALLS if name.startswith("as")])
@pytest.mark.parametrize("bound", [False, True])
def test_nothing_of_ours_is_called_again(call: str, bound: bool, long_ways: list[str]) -> None:
    xp = pa.namespace("torch") if bound else pa
    x = xp.asarray(np.asarray([1.0, 0.0], np.float32))
    for spelled, dtype in SPELLED:
        if "a number" in call or ("a list" in call and dtype.bits < 16):
            continue  # some of which are made in Python
        CALLS[call](xp, x, spelled)
        long_ways.clear()
        CALLS[call](xp, x, spelled)
        assert long_ways == [], spelled
    for given in (x, np.ones(2), np.float32(1), np.ones(2).astype(dt.bfloat16.storage)):
        for options in ({}, {"copy": True}):
            xp.asarray(given, **options)
            long_ways.clear()
            xp.asarray(given, **options)
            assert long_ways == []


JOINING = ["numpy", "numpy@1", "torch", "jax", "onnx@25"]


def joined_of(xp: Any) -> list[list[Any]]:
    """Arrays in lists: of dtypes, ranks and shapes that mix, weakly typed ones, and numbers."""
    shapes: list[tuple[int, ...]] = [(), (2,), (1,), (2, 2)]
    dtypes = [dt.bool, dt.int8, dt.int64, dt.bfloat16, dt.float32, dt.float64, dt.float8_e4m3fn]
    members: list[Any] = [
        xp.asarray(np.full(shape, 300.0).astype(np.float32)).astype(dtype)
        for dtype, shape in product(dtypes, shapes)
        if len(shape) < 2 or dtype is dt.float32
    ]
    members.append(type(members[0])._wrap(np.asarray(2.0, np.float32), dt.weak_float))
    pairs = [list(pair) for pair in product(members, [*members, 1.5, True, np.float32(2.5)])]
    return [*pairs, [members[0]], members[::4], [members[0]] * 8, [members[0]] * 9, [[members[0]]]]


@pytest.mark.parametrize("policy", JOINING)
@pytest.mark.parametrize("bound", [False, True])
def test_lists_of_arrays_are_joined_again_as_at_first(policy: str, bound: bool) -> None:
    wrong = []
    asked_for = [None, dt.float32, dt.int8]
    turn = JOINING.index(policy) + 2 * bound  # of all pairs, which the policies take in turns
    first_policy, again_policy = (as_policy(policy).derive("fresh") for _ in range(2))

    def joined(policy: Any) -> list[Any]:
        xp = pa.namespace(policy) if bound else pa
        with pa.policy("numpy" if bound else policy):
            return [
                outcome(lambda given=given, asked=asked: xp.asarray(given, dtype=asked), 0)[:2]
                + outcome(lambda given=given, asked=asked: xp.asarray(given, dtype=asked), 0)[6:]
                for given, asked in turns(product(joined_of(xp), asked_for), 4, turn)
            ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_data, "keep_joined", lambda members, dtype, out: None)
        first = joined(first_policy)
    for _ in range(2):
        for one, other in zip(first, joined(again_policy), strict=True):
            if str(one[1:]) != str(other[1:]):
                wrong.append((one, other))
    assert wrong == []


def test_what_is_joined_again_asks_no_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = pa.asarray(1.5), pa.asarray(2, dtype=pa.int8)
    for members in ([x, y], (y, y, x), [pa.asarray([1, 2]), pa.asarray([3, 4])]):
        made = pa.asarray(members)
        with monkeypatch.context() as patch:
            patch.setattr(python_data, "_from_arrays", None)
            again = pa.asarray(members)
        assert (again.dtype, again.tolist()) == (made.dtype, made.tolist())
        assert not np.shares_memory(again._buffer, members[0]._buffer)


def test_an_array_is_itself() -> None:
    x, weak = pa.asarray([1.0]), pa.PArray([1.0], policy=None, weak_type=True)
    for _ in range(3):
        assert pa.asarray(x) is pa.asarray(x, dtype=None) is x
        assert pa.asarray(weak) is weak
        assert pa.asarray(x, dtype=x.dtype) is not x
        assert pa.asarray(x, dtype=x.dtype)._buffer is x._buffer
        assert not pa.asarray(weak, dtype=weak.dtype).weak_type


def test_only_few_names_are_kept() -> None:
    class Mine(np.float64):
        pass

    class Text(str):
        __slots__ = ()

    for given in (Mine, Text("float64"), "no dtype", np.dtype("f4,f4"), dt.string.storage):
        with suppress(TypeError):
            dt.as_dtype(given)
        assert given not in dt.NAMED or type(given) is Text
    assert Text not in set(map(type, dt.NAMED))
    assert set(dt.NAMED.values()) <= {*CONCRETE, dt.string}


class Listener(events.Observer):
    """Writes down what it hears of casts and of arrays made."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []

    def on_cast(self, cast: Any) -> None:
        self.heard.append(("cast", cast.asked))

    def on_made(self, event: Any) -> None:
        self.heard.append(("made", event.asked))


def test_observers_hear_of_every_array_and_what_was_asked_for() -> None:
    x, listener = pa.asarray([1.0]), Listener()

    def make() -> None:
        for spelled in ("int8", np.float32, dt.float64):
            x.astype(spelled)
            pa.asarray(x, dtype=spelled)
            pa.asarray(np.ones(1), dtype=spelled)
            pa.zeros(1, dtype=spelled)

    make()
    make()
    with observers.observing(listener):
        make()
        heard, listener.heard = listener.heard, []
        make()
    assert heard == listener.heard
    assert [asked for _, asked in heard if asked is not None] == [
        *["int8"] * 4,
        *[np.float32] * 4,
        *[dt.float64] * 4,
    ]


def test_a_copy_where_one_is_needed_is_what_is_not_said() -> None:
    x, data = pa.asarray([1.5]), np.asarray([2.5])
    for _ in range(3):
        assert pa.asarray(x, copy=None) is x
        assert np.shares_memory(pa.asarray(data, copy=None)._buffer, data)
        assert pa.asarray([1.5, 2.5], copy=None).tolist() == [1.5, 2.5]
        assert pa.asarray([x, x], copy=None).tolist() == [[1.5], [1.5]]
        assert pa.asarray(x, copy=True) is not x
        with pytest.raises(ValueError, match="copy=False: Python numbers"):
            pa.asarray([1.5, 2.5], copy=False)


def test_lists_of_arrays_that_were_joined_before_may_be_of_other_shapes() -> None:
    x, y, flat = pa.asarray([1.5]), pa.asarray([1.5, 2.5]), pa.asarray(3.5)
    for _ in range(3):
        assert pa.asarray([x, x]).shape == (2, 1)
        assert pa.asarray((y, y)).shape == (2, 2)
        assert pa.asarray([flat, flat]).shape == (2,)
        for ragged in ([x, y], [x, flat], [flat, y]):
            with pytest.raises(ValueError, match="shape"):
                pa.asarray(ragged)


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="lists may change")
def test_lists_of_arrays_take_the_fast_path_where_they_were_joined_before() -> None:
    members = [pa.asarray([1, 2]), pa.asarray([3, 4])]
    made = pa.asarray(members)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_data, "from_python", None)
        assert pa.asarray(members).tolist() == made.tolist()
