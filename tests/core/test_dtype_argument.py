"""Functions of a dtype that is asked for, on the fast path: casts and all."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import events, observers
from promoarray.dtypes import CONCRETE, DType, Kind

POLICIES = ["numpy", "numpy@1", "torch", "jax@x32", "paddle"]
ASKED = [dt.bool, dt.int4, dt.uint8, dt.int32, dt.int64, dt.float8_e4m3fn, dt.bfloat16, dt.float16]
ASKED += [dt.float32, dt.float64, dt.complex64]
FUNCTIONS = [pa.sum, pa.prod, pa.cumulative_sum, pa.cumulative_prod]
FUNCTIONS += [pa.PArray.mean, pa.PArray.std, pa.PArray.var]


def samples(dtype: DType) -> list[Any]:
    """Arrays of several shapes, among them one that overflows and one of no axes."""
    floats = dtype.kind in (Kind.FLOAT, Kind.COMPLEX) and dtype.bits >= 16
    values = [1.5, -0.0, math.nan, 3.0] if floats else [1, 0, 2, 3]
    array = pa.asarray(np.asarray(values)).astype(dtype)
    largest = pa.asarray(np.asarray([3, 3, 3, 3]) * (1e4 if floats else 1)).astype(dtype)
    return [array, largest, array.reshape((2, 2)), array[:0], array[0], array[2]]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_short_way_answers_as_the_long_one(policy: str, function: Callable[..., Any]) -> None:
    """What observers hear of goes the long way each time."""
    with np.errstate(all="ignore"), pa.policy(policy):
        for at, dtype in enumerate(CONCRETE):
            if dtype is dt.string:
                continue
            given = samples(dtype)
            # The policies take turns with the pairs of dtypes.
            for asked in turns(ASKED, 6, at + POLICIES.index(policy)):
                calls = [lambda x=x, t=asked: function(x, dtype=t) for x in given]
                calls += [lambda x=given[2], t=asked: function(x, axis=0, dtype=t)]
                with pa.trace():
                    wanted = [outcome(call) for call in calls]
                for _ in range(2):
                    assert [outcome(call) for call in calls] == wanted, (dtype, asked)


def test_weakly_typed_arrays_and_those_of_a_namespace() -> None:
    with pa.policy("jax"):
        weak = pa.PArray([1.5, 2.5], weak_type=True)
        for _ in range(3):
            z = pa.sum(weak, dtype=pa.float16)
            assert (z.dtype, z.weak_type, z.item()) == (dt.float16, False, 4.0)
    xp = pa.namespace("torch")
    x = xp.asarray([100, 100], dtype=pa.int8)
    for _ in range(3):
        z = xp.sum(x, dtype=pa.int8)
        assert (type(z), z.dtype, z.item()) == (xp.PArray, dt.int8, -56)
        assert type(pa.sum(x, dtype=pa.int8)) is xp.PArray

    class Mine(pa.PArray):
        pass

    mine = Mine._wrap(np.ones(2, np.float32), dt.float32)
    for _ in range(3):
        assert type(pa.sum(mine, dtype=pa.float64)) is Mine


def test_strings_are_read_each_time() -> None:
    with pa.policy("onnx"):
        for text in ("1.5", "2.5", "-3"):
            x = pa.asarray(np.asarray([text], np.dtypes.StringDType()))
            assert pa.sum(x, dtype=pa.float32).item() == float(text)
        x = pa.asarray(np.asarray(["nothing"], np.dtypes.StringDType()))
        with pytest.raises(ValueError, match="'nothing' at"):
            pa.sum(x, dtype=pa.float32)


def test_the_policy_may_change_between_two_calls() -> None:
    x = pa.asarray([300.0, 1.5], dtype=pa.float32)
    for _ in range(3):
        found = []
        for policy in ("numpy", "jax", "torch"):
            with pa.policy(policy):
                found.append(pa.sum(x, dtype=pa.uint8).item())
        assert found == [45, 0, 45]


def test_the_second_call_takes_no_frame_of_the_function() -> None:
    entered: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name in ("_reduced", "method"):
            entered.append(frame.f_code.co_name)

    x = pa.asarray([[1.0, 2.0]], dtype=pa.float32)
    for policy in ("numpy", "numpy@1", "torch", "jax"):
        with pa.policy(policy):
            for dtype in (dt.float32, dt.float64, dt.complex64):
                for function in FUNCTIONS:
                    function(x, axis=1, dtype=dtype)
                sys.setprofile(look)
                for function in FUNCTIONS:
                    function(x, axis=1, dtype=dtype)
                sys.setprofile(None)
    assert entered == []


@pytest.mark.parametrize("size", [2, 100_000])
def test_warnings_name_the_line_of_the_program(size: int) -> None:
    x = pa.asarray(np.full(size, 3e38, np.float32))
    lines = []
    for _ in range(3):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            pa.sum(x, dtype=pa.float32)
            pa.sum(x, dtype=pa.float16)
        assert {(w.category, w.filename) for w in told} == {(RuntimeWarning, __file__)}
        lines.append([(str(w.message), w.lineno) for w in told])
    assert lines[0] == lines[1] == lines[2]


def test_observers_hear_of_each_part() -> None:
    heard: list[str] = []

    class Ear(events.Observer):
        def on_operation(self, event: Any) -> None:
            heard.append(event.name)

        def on_cast(self, event: Any) -> None:
            heard.append(event.target.name)

    x = pa.asarray([1.5, 2.5], dtype=pa.float32)
    pa.sum(x, dtype=pa.float16)
    with observers.observing(Ear()):
        for _ in range(2):
            pa.sum(x, dtype=pa.float16)
    assert heard == ["float16", "sum"] * 2


@pytest.mark.parametrize("name", ["std", "var"])
def test_what_is_free_is_passed_on(name: str) -> None:
    values = np.asarray([[1, 2, 4], [3, 5, 9]], np.int8)
    x, theirs = pa.asarray(values), getattr(values.astype(np.float32), name)
    for free in (0, 1, 1.5, 1, 0):
        for axis in (None, 1):
            found = getattr(x, name)(axis=axis, dtype=pa.float32, ddof=free, keepdims=True)
            assert found.dtype is dt.float32
            np.testing.assert_array_equal(found, theirs(axis=axis, ddof=free, keepdims=True))
