"""Indexing by keys, and assigning values, of types that were met before: the second time is as the
first, and asks nothing of ours in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import events, observers
from promoarray.dtypes import CONCRETE, DType

POLICIES = ["numpy", "numpy@1", "torch", "jax", "jax@x32", "paddle", "array_api", "onnx@25"]

VALUES = np.arange(12).reshape(3, 4) % 2

ROWS = np.array([2, 0])
KEYS: dict[str, Any] = {
    "int": 1,
    "slice": slice(None, None, -2),
    "ellipsis": ...,
    "none": None,
    "true": True,
    "ints": (1, -1),
    "no ints": (),
    "int and slice": (0, slice(1, None)),
    "ellipsis and int": (..., 0),
    "none and int": (None, 0, ...),
    "indices": pa.asarray(ROWS),
    "int32 indices": pa.asarray(ROWS.astype(np.int32)),
    "uint8 indices": pa.asarray(ROWS.astype(np.uint8)),
    "NumPy's indices": ROWS,
    "listed indices": [2, 0],
    "listed mask": [True, False, True],
    "0-d indices": (pa.asarray(1), pa.asarray(2)),
    "0-d index and int": (pa.asarray(1), 2),
    "NumPy's ints": (np.int64(1), 2),
    "slice and indices": (slice(0, 2), pa.asarray([3, 0])),
    "indices and list": (pa.asarray(ROWS), [1, 1]),
    "mask": pa.asarray(VALUES == 1),
    "NumPy's mask": VALUES == 1,
    "mask of rows": pa.asarray([True, False, True]),
    "0-d mask": pa.asarray(False),
    "beyond": 7,
    "indices beyond": pa.asarray([0, 7]),
    "listed indices beyond": [7],
    "mask too long": pa.asarray([True] * 4),
    "too many": (0, 0, 0),
    "long int": 1 << 70,
    "floats": pa.asarray([0.0, 1.0]),
    "listed floats": [0.5],
    "ragged": [[1], [1, 2]],
    "text": "x",
}


GIVEN: dict[str, Any] = {
    "True": True,
    "1": 1,
    "300": 300,
    "-1": -1,
    "long int": 1 << 70,
    "2.5": 2.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "1e300": 1e300,
    "1j": 1.5j,
    "NumPy's scalar": np.float32(2.5),
    "NumPy's array": np.asarray([1.5, 300.0, -1.0, np.nan]),
    "list": [1, 2],
}
for _dtype in (dt.bool, dt.int8, dt.uint8, dt.int64, dt.bfloat16, dt.float32, dt.float64):
    GIVEN[_dtype.name] = pa.asarray([0.0, 1.0, 2.0, 100.0]).astype(_dtype)
    GIVEN[f"0-d {_dtype.name}"] = pa.asarray(3.0).astype(_dtype)
GIVEN["complex64"] = pa.asarray([1j, 1.0, 2.0, 3.0]).astype(dt.complex64)
ASSIGNED = [dt.bool, dt.int8, dt.uint8, dt.int64, dt.bfloat16, dt.float32]
GIVEN["too long"] = pa.asarray([1.0] * 5)

long_getitem: Any = pa.PArray.__getitem__.__wrapped__  # type: ignore[attr-defined]
long_setitem: Any = pa.PArray.__setitem__.__wrapped__  # type: ignore[attr-defined]


def outcome(run: Callable[[], Any], target: Any) -> tuple[Any, ...]:
    """All that one can tell of what was read, or of the target after an assignment."""
    try:
        z = run()
    except Exception as error:
        return type(error), str(error), target._buffer.tobytes()
    z = target if z is None else z
    shares = np.shares_memory(z._buffer, target._buffer)
    buffer = z._buffer
    return type(z), z._type, z.shape, buffer.dtype, buffer.strides, buffer.tobytes(), shares


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def made(dtype: DType, xp: Any = pa) -> Any:
    return xp.asarray(VALUES.astype(dtype.storage))


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_read_again_is_as_at_first(policy: str) -> None:
    wrong = []
    for bound, (name, key), dtype in product((False, True), KEYS.items(), CONCRETE):
        with pa.policy("numpy" if bound else policy):
            x = made(dtype, pa.namespace(policy) if bound else pa)
            expected = outcome(lambda x=x, key=key: long_getitem(x, key), x)
            for _ in range(3):
                if outcome(lambda x=x, key=key: x[key], x) != expected:
                    wrong.append((name, dtype.name, bound))
    assert wrong == []


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("dtype", ASSIGNED)
def test_what_is_assigned_again_is_as_at_first(policy: str, dtype: DType) -> None:
    wrong = []
    every = product((False, True), KEYS.items(), GIVEN.items())
    # The dtypes and the policies take turns: a key does not hang on the value, nor on either.
    some = turns(every, 5, POLICIES.index(policy) + ASSIGNED.index(dtype))
    for bound, (name, key), (what, value) in some:
        with pa.policy("numpy" if bound else policy):
            xp = pa.namespace(policy) if bound else pa
            x = made(dtype, xp)
            expected = outcome(lambda x=x: long_setitem(x, key, value), x)  # noqa: B023
            for _ in range(3):
                x = made(dtype, xp)
                if outcome(lambda x=x: x.__setitem__(key, value), x) != expected:  # noqa: B023
                    wrong.append((name, what, bound))
    assert wrong == []


def test_long_arrays_and_views_go_through_what_they_meet_under_jax() -> None:
    """Of these the kernel leaves the casts to others: 2**24 + 1 is no float32."""
    whole = np.arange(2**24 + 1, 2**24 + 4001, dtype=np.int32)
    with pa.policy("jax@x32"):
        for key, elements in product((0, slice(5), slice(3, 3), ROWS), (slice(None), slice(99))):
            for _ in range(3):
                x, wanted = pa.asarray(whole)[elements][::2], whole[elements][::2].copy()
                x[key] = 1.5
                if np.size(wanted[key]):
                    wanted = wanted.astype(np.float32).astype(np.int32)
                    wanted[key] = 1
                assert x.tolist() == wanted.tolist()


@pytest.mark.parametrize("elements", [4, 100_000])
def test_many_values_are_written_as_few_are(elements: int) -> None:
    """Of these the kernel leaves the cast to a loop, and ml_dtypes' own assignment is not taken."""
    values = pa.asarray(np.arange(elements) % 200)
    for dtype in (dt.int8, dt.bfloat16, dt.float8_e4m3fn, dt.float64):
        expected = values.astype(dtype)
        for key in (slice(None), slice(None, None, -1), pa.asarray(np.arange(elements)[::-1])):
            for _ in range(2):
                x = pa.zeros(elements, dtype=dtype)
                x[key] = values
                assert x[key]._buffer.tobytes() == expected._buffer.tobytes()


def test_all_of_an_array_goes_through_what_it_meets_under_jax() -> None:
    """``x.at[i].set(y)`` promotes both, and casts the result back: 2**53 + 1 is no float64."""
    values: list[Any] = [1.5, 2, pa.asarray(1.5), pa.asarray([1.5], dtype=pa.float32), np.ones(1)]
    values += [pa.asarray(1), pa.asarray([1], dtype=pa.int8), np.float32(2), np.ones(0)]
    keys: list[Any] = [0, slice(1), slice(0, 0), [1], pa.asarray([True, False, False])]
    keys += [pa.asarray([False] * 3), pa.asarray(np.array([], np.int64))]
    changed = set()
    with pa.policy("jax"):
        for key, (i, value) in product(keys, enumerate(values)):
            x = pa.asarray(np.array([7, 2**53 + 1, -(2**53) - 1]))
            expected = outcome(lambda x=x, k=key, v=value: long_setitem(x, k, v), x)
            for _ in range(3):
                x = pa.asarray(np.array([7, 2**53 + 1, -(2**53) - 1]))
                run = x.__setitem__
                assert outcome(lambda k=key, v=value, run=run: run(k, v), x) == expected
            changed |= {i} if x[2].item() != -(2**53) - 1 else set()
    assert changed == {0, 2, 3, 4, 7}


@pytest.mark.parametrize("policy", ["numpy", "torch"])
def test_what_is_put_at_arrays_is_refused_after_slices_were_written(policy: str) -> None:
    """PyTorch writes any dtype at slices, and no other than the target's at index arrays."""
    x, values = pa.zeros(3, dtype=pa.float32), pa.asarray([1.0, 2.0], dtype=pa.float64)
    with pa.policy(policy):
        for _ in range(3):
            x[:2] = values
            x[pa.asarray([True, False, False])] = values[0]
            ones, mask = pa.asarray([0]), pa.asarray([True, True, False])
            for key, put in ((pa.asarray([0, 1]), values), (mask, values), (ones, values[0])):
                if policy == "numpy":
                    x[key] = put
                    continue
                with pytest.raises(pa.PromotionError, match="setitem"):
                    x[key] = put
            if policy == "torch":
                with pytest.raises(pa.PromotionError, match="getitem"):
                    x[pa.asarray([0], dtype=pa.int8)]


def test_read_only_memory_stays_as_it_is() -> None:
    x = pa.broadcast_to(pa.asarray([1.0]), (3,))
    for _ in range(3):
        for key, value in product((0, slice(1), ROWS, [True, False, True]), (2.0, pa.asarray(2))):
            with pytest.raises(ValueError, match="read-only"):
                x[key] = value
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_values_in_the_same_memory_are_those_from_before() -> None:
    order = np.array([1, 2, 3, 0])
    for key in (order, pa.asarray(order), [1, 2, 3, 0], slice(None, None, -1)):
        for _ in range(3):
            x, wanted = pa.asarray(np.arange(4)), np.arange(4)
            wanted[np.asarray(order) if not isinstance(key, slice) else key] = np.arange(4)
            x[key] = x
            assert x.tolist() == wanted.tolist()
            x = pa.asarray(np.arange(4))
            x[key] = x[:]
            assert x.tolist() == wanted.tolist()


def test_indices_may_be_the_array_itself() -> None:
    for _ in range(3):
        x = pa.asarray([2, 0, 1])
        assert x[x].tolist() == [1, 2, 0]
        x[x] = 5
        assert x.tolist() == [5, 5, 5]


class Listener(events.Observer):
    """Writes down what it hears of assignments."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def on_setitem(self, assignment: Any) -> None:
        self.heard.append((assignment.source.name, assignment.target.dtype.name))


def test_observers_hear_of_every_assignment() -> None:
    x, listener = made(dt.float32), Listener()
    given = [(key, value) for key in (0, ROWS, (0, 1)) for value in (2.0, pa.asarray(1))]
    for key, value in given * 2:
        x[key] = value
    with observers.observing(listener):
        for key, value in given * 2:
            x[key] = value
    assert listener.heard == [("weak_float", "float32"), ("int64", "float32")] * 6


def test_arrays_of_two_namespaces_are_refused_every_time() -> None:
    xp, other = pa.namespace("torch"), pa.namespace("jax")
    x, index = xp.asarray(VALUES), other.asarray([0])
    for _ in range(3):
        assert x[xp.asarray([0])].tolist() == x[pa.asarray([0])].tolist() == [[0, 1, 0, 1]]
        for refused in (lambda: x[index], lambda: x.__setitem__(0, index)):
            with pytest.raises(TypeError, match="do not mix"):
                refused()


def test_subclasses_stay_what_they_are() -> None:
    class Mine(pa.PArray):
        __slots__ = ()

    x = Mine._wrap(VALUES.copy(), dt.int64)
    for _ in range(3):
        assert type(x[ROWS]) is type(x[pa.asarray(ROWS)]) is type(x[0, 1]) is type(x[0]) is Mine
        x[ROWS] = 5
        x[[1]] = Mine._wrap(np.asarray([1.5]), dt.float64)
        assert x[:, 0].tolist() == [5, 1, 5]
