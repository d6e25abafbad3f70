"""Arrays that leave as others of their type did before: the same numbers, the same refusals."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sampled import sampled

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import conversions, host
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.errors import EscapeError
from promoarray.policies import as_policy

WAYS: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "__array__": np.asarray,
}


def same(a: Any, b: Any) -> bool:
    """The same number of the same class, to its sign; NaNs are alike."""
    return type(a) is type(b) and (repr(a) == repr(b) or (a != a and b != b))


def outcome(way: Callable[[Any], Any], x: Any) -> Any:
    try:
        return way(x)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)


def codes_of(dtype: DType) -> pa.PArray:
    """All codes of a narrow dtype; of others the least, the largest and what is special."""
    if dtype.bits <= 16 and dtype.kind not in INTEGERS | {Kind.COMPLEX, Kind.BOOL}:
        codes = np.arange(1 << dtype.bits, dtype=f"u{dtype.storage.itemsize}")
        return pa.asarray(codes).view(dtype)
    if dtype.kind is Kind.BOOL:
        return pa.asarray([False, True])
    if dtype.kind in INTEGERS:
        info = pa.iinfo(dtype)
        return pa.asarray([info.min, 0, 1, info.max], dtype=dtype)
    ends = [0.0, -0.0, 1.5, -2.25, 6e4, math.inf, -math.inf, math.nan]
    if dtype.kind is Kind.FLOAT:
        return pa.asarray(ends, dtype=dtype)
    return pa.asarray([complex(x, y) for x in ends for y in ends], dtype=dtype)


@pytest.mark.parametrize("dtype", dt.CONCRETE, ids=str)
def test_a_number_is_what_its_code_says_the_second_time_too(dtype: DType) -> None:
    x = codes_of(dtype)
    values = host.decoded(x._buffer, dtype)
    with pa.policy(as_policy("torch").derive("mine")):
        for _ in range(2):
            assert all(map(same, x.tolist(), values.tolist()))
            # One by one, codes of all bit patterns: what is kept goes by the type alone.
            for i in sampled(range(len(x)), 17 if len(x) > 256 else 1, 0):
                for one in (x[i], x[i : i + 1]):
                    assert same(one.item(), values[i].item())
                    for number in (bool, int, float, complex):
                        expected = outcome(number, values[i].item())
                        given = outcome(number, one)
                        assert same(expected, given) or expected == given


def test_what_is_known_takes_no_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = [
        make(3, dtype=dtype)
        for dtype in (pa.bool, pa.int8, pa.int4, pa.uint64, pa.float32, pa.bfloat16, pa.complex64)
        for make in (pa.asarray, lambda n, dtype: pa.full((1,), n, dtype=dtype))
    ] + [pa.PArray(3.0, dtype=pa.float32, weak_type=True)]
    with pa.policy(as_policy("torch").derive("mine")):
        known = [(way, x, outcome(way, x)) for way in WAYS.values() for x in arrays]
        monkeypatch.setattr(conversions, "_leave", None)
        monkeypatch.setattr(conversions.Conversions, "_single", None)
        for way, x, first in known:
            if type(first) is not tuple:
                assert same(way(x), first)


@pytest.mark.parametrize("policy", ["numpy", "numpy@1", "jax", "torch", "array_api", "onnx"])
def test_shapes_are_refused_as_they_were_the_first_time(policy: str) -> None:
    shapes = ((), (1,), (1, 1), (0,), (2,), (2, 0))
    kinds = (pa.bool, pa.int64, pa.float32, pa.bfloat16, pa.complex64)
    arrays = [pa.ones(shape, dtype=dtype) for dtype in kinds for shape in shapes]
    mine = as_policy(policy).derive("mine")
    with pa.policy(mine):
        known = [
            [outcome(way, x) for x in arrays]
            for name, way in WAYS.items()
            if name not in ("tolist", "__array__")
        ]
    for turn in range(2):
        for way, first in zip(WAYS.values(), known, strict=False):
            for x, expected in zip(arrays, first, strict=True):
                with pa.policy(mine if turn else mine.derive("mine")):
                    assert outcome(way, x) == expected


def test_policies_do_not_learn_from_each_other() -> None:
    one = pa.asarray([1.0])
    with pa.policy("torch"):
        assert [float(one), float(one)] == [1.0, 1.0]
    with pa.policy("numpy"), pytest.raises(TypeError, match="0-d array"):
        float(one)
    bound = pa.namespace("torch").asarray([1.0])
    with pa.policy("numpy"):
        assert [float(bound), float(bound)] == [1.0, 1.0]


@pytest.mark.parametrize("name", WAYS)
def test_a_guard_and_an_observer_hear_of_what_is_known(name: str) -> None:
    x, way = pa.asarray(1, dtype=pa.int16), WAYS[name]
    assert way(x) == way(x) == 1
    with pa.no_escape():
        if name in ("bool", "index"):
            assert way(x) == 1
        else:
            with pytest.raises(EscapeError):
                way(x)
    with pa.trace() as report:
        way(x)
    assert [escape.channel for escape in report.escapes] == [name] * (name not in ("bool", "index"))


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")  # of NumPy 2.5
def test_numpy_gets_the_memory_and_nothing_else() -> None:
    x = pa.asarray([1.0, 2.0], dtype=pa.float32)
    for _ in range(2):
        taken = np.asarray(x)
        assert np.shares_memory(taken, x._buffer)
        taken.shape, taken.dtype = (2, 1), np.int32  # type: ignore[misc]
        assert (x.shape, x.dtype, x._buffer.dtype) == ((2,), pa.float32, np.float32)
        assert np.asarray(x, dtype=np.float64).tolist() == [1.0, 2.0]
        assert not np.shares_memory(np.array(x), x._buffer)


def test_items_at_an_index_the_second_time() -> None:
    for x in (pa.asarray([[1, 2], [3, 4]], dtype=pa.int4), pa.asarray([[1, 2], [3, 4]])):
        for _ in range(2):
            assert (x.item(2), x.item(0, 1), x.item((-1, -1)), x.item(pa.asarray(1))) == (
                3,
                2,
                4,
                2,
            )
            with pytest.raises(IndexError):
                x.item(4)
            with pytest.raises(ValueError, match="needs one element, and x has 4"):
                x.item()


def test_what_numpy_asks_for_is_no_attribute() -> None:
    x = pa.asarray([1.0])
    for name in ("__array_interface__", "__array_struct__", "no_such_name"):
        with pytest.raises(AttributeError, match=f"'PArray' object has no attribute '{name}'") as e:
            getattr(x, name)
        assert (e.value.name, e.value.obj) == (name, x)
        assert not hasattr(x, name)
