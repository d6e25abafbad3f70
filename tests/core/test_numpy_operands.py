"""NumPy's scalars and arrays as operands: the answers of the long way, only sooner."""

from __future__ import annotations

import operator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from operator_table import FORWARD, INPLACE
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import dispatch
from promoarray.dtypes import CONCRETE, STANDARD, DType
from promoarray.operations import Form

POLICIES = ["numpy", "numpy@1", "torch", "jax", "jax@x32", "jax@strict", "tensorflow", "paddle"]
OPERATORS = {name: FORWARD[name] for name in ("add", "divide", "less", "pow", "bitwise_and")}
AUGMENTED = {name: INPLACE[name] for name in ("add", "multiply")}
OTHERS = [x for x in CONCRETE if x not in STANDARD and x is not dt.string]


@cache
def given(dtype: DType) -> tuple[Any, ...]:
    """A scalar of NumPy's, and its arrays of no axes and of one, which holds a view of another."""
    row = np.asarray([2, 9, 1]).astype(dtype.storage)[::2]
    return row[0], row[:1].reshape(()), row


@pytest.mark.parametrize("policy", POLICIES)
def test_numpys_operands_have_the_long_ways_answers(policy: str) -> None:
    arrays = [pa.asarray([1, 2], dtype=x) for x in (pa.float32, pa.int8, pa.bool, pa.bfloat16)]
    dtypes = [*STANDARD, dt.bfloat16, dt.int4, dt.float8_e5m2]
    wrong = {}
    with pa.policy(policy), np.errstate(all="ignore"):
        every = product(OPERATORS.items(), arrays, dtypes)
        for (name, run), x, dtype in turns(every, 3, POLICIES.index(policy)):
            for y in given(dtype):
                want = outcome(dispatch.apply, name, x, y)
                again = [outcome(run, x, y) for _ in range(3)]
                if again != [want] * 3:
                    wrong[name, x.dtype, y] = want, again
    assert not wrong


@pytest.mark.parametrize("policy", POLICIES)
def test_ufuncs_have_the_long_ways_answers(policy: str) -> None:
    ufuncs = {"add": np.add, "less": np.less, "pow": np.power, "atan2": np.arctan2, "exp": np.exp}
    ufuncs |= {"round": np.rint, "floor": np.floor, "maximum": np.maximum}
    wrong = {}
    with pa.policy(policy), np.errstate(all="ignore"):
        for (name, ufunc), dtype in product(ufuncs.items(), (pa.float32, pa.int8, pa.bfloat16)):
            x = pa.asarray([1, 2], dtype=dtype)
            others = [(2,), (1.5,), (x,), *((y,) for y in given(dt.float64))]
            for rest in others if ufunc.nin == 2 else [()]:
                function = getattr(pa, name) if name in ("pow", "atan2", "maximum") else None
                if name == "pow" and type(rest[0]) not in dt.WEAK:
                    function = None
                if ufunc.nin == 1 and ufunc is not np.rint:
                    function = getattr(pa, name)
                if ufunc is np.rint:
                    want = outcome(ufunc, x, casting="same_kind")  # the long way
                else:
                    form = Form.FUNCTION if function else Form.OPERATOR
                    want = outcome(dispatch.apply, name, x, *rest, form=form)
                again = [outcome(ufunc, x, *rest) for _ in range(3)]
                if again != [want] * 3:
                    wrong[name, dtype, rest] = want, again
    assert not wrong


def fresh() -> Any:
    return pa.asarray([1, 2], dtype=pa.float32)


@pytest.mark.parametrize("policy", POLICIES)
def test_numpys_operands_in_place(policy: str) -> None:
    wrong = {}
    with pa.policy(policy), np.errstate(all="ignore"):
        for (name, run), dtype in product(AUGMENTED.items(), STANDARD):
            for y in given(dtype):
                want = outcome(dispatch.apply, name, fresh(), y, form=Form.INPLACE)
                again = [outcome(run, fresh(), y) for _ in range(3)]
                if again != [want] * 3:
                    wrong[name, y] = want, again
    assert not wrong


def test_in_place_the_target_stays_the_object_that_it_is() -> None:
    x = y = pa.asarray([1.0, 2.0], dtype=pa.float32)
    for _ in range(3):
        x += np.float32(1)
        x += np.ones(2, np.float32)
    assert x is y
    assert y.tolist() == [7.0, 8.0]
    fixed = pa.broadcast_to(pa.asarray(1.0, dtype=pa.float32), (2,))
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            fixed += np.float32(1)


def test_policies_that_change_in_between_decide() -> None:
    x, y = pa.asarray([1, 2], dtype=pa.int8), np.float32(1.5)
    expected = {"numpy": pa.float32, "torch": pa.float32, "numpy@1": pa.float32, "jax": pa.float32}
    wide = {"numpy": pa.float64, "torch": pa.float32, "numpy@1": pa.float32, "jax": pa.float64}
    array = pa.asarray([1, 2], dtype=pa.float32)
    for _ in range(3):
        for name, want in expected.items():
            with pa.policy(name):
                assert (x + y).dtype is want, name
                assert (array + np.float64(2)).dtype is wide[name], name
                assert (np.float64(2) * array).dtype is wide[name], name
        with pa.policy("jax@x32"):
            assert (array + np.float64(2)).dtype is pa.float32
            assert (array + np.ones(2)).dtype is pa.float32


def test_numpy_1_looks_at_the_values_of_numpys_scalars() -> None:
    x = pa.asarray([1], dtype=pa.int8)
    with pa.policy("numpy@1"):
        for _ in range(3):
            assert (x + np.int64(1)).dtype is pa.int8
            assert (x + np.int64(1000)).dtype is pa.int16
            assert (x + np.asarray(1000)).dtype is pa.int16
            assert (x + np.asarray([1])).dtype is pa.int64


def test_arrays_of_a_namespace_stay_bound() -> None:
    xp = pa.namespace("torch")
    x = xp.asarray([1, 2], dtype=xp.int8)
    for _ in range(3):
        assert (x + np.float64(1.5)).dtype is pa.float32  # as a Python float
        assert type(x + np.float32(1)) is type(x)
        assert (x + np.ones(2)).dtype is pa.float64  # as NumPy adds
        assert type(x + np.ones(2, np.int8)) is type(x)
        assert type(np.add(x, np.int8(1))) is type(x)


class Own(np.ndarray[Any, Any]):
    """A subclass."""


def test_what_is_refused_stays_refused() -> None:
    x = pa.asarray([1.0, 2.0])
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    for _ in range(3):
        assert (x + np.ones(2)).tolist() == [2.0, 3.0]
        with pytest.raises(TypeError, match="masked array would lose its mask"):
            x + masked
        with pytest.raises(TypeError, match="not a dtype promoarray knows"):
            x + np.asarray(["2020-01-01"] * 2, "M8[D]")
        with pytest.raises(TypeError, match="not a dtype promoarray knows"):
            pa.add(x, np.timedelta64(1, "D"))
        with pytest.raises(TypeError, match="operands are arrays and Python scalars"):
            operator.add(x, [1.0, 2.0])
        assert (x + np.ones(2).view(Own)).tolist() == [2.0, 3.0]
        assert (x + np.ones(2, ">f8")).tolist() == [2.0, 3.0]
        assert (x + np.ones(2, np.longlong)).tolist() == [2.0, 3.0]
        with pytest.raises(ValueError, match="broadcast"):
            x + np.ones(3)


def test_an_array_is_no_dtype_to_cast_to() -> None:
    """Of an array of a dtype that was cast to, which is looked up by the same."""
    x = pa.asarray([1.0, 2.0], dtype=pa.float32)
    for dtype in (pa.float64, pa.bfloat16, pa.int8):
        assert x.astype(dtype).dtype is x.astype(dtype).dtype is dtype
        for y in (x.astype(dtype), np.zeros(2, dtype.storage)):
            with pytest.raises(TypeError, match="is not a dtype promoarray knows"):
                x.astype(y)
    for _ in range(2):
        with pytest.raises(TypeError):
            pa.ones_like(x, np.float32(1))


@pytest.mark.parametrize("dtype", OTHERS, ids=lambda dtype: dtype.name)
def test_scalars_of_ml_dtypes(dtype: DType) -> None:
    x = pa.asarray([1, 1]).astype(dtype)
    for y in given(dtype):
        want = outcome(operator.eq, x, pa.asarray(y))
        assert [outcome(operator.eq, x, y) for _ in range(3)] == [want] * 3


def test_an_array_that_was_given_is_not_written() -> None:
    x, y = pa.asarray([1.0, 2.0]), np.asarray([1.0, 5.0])
    for run in (operator.add, pa.maximum, np.maximum):
        for _ in range(3):
            out = run(x, y)
            out[...] = 0.0
            assert y.tolist() == [1.0, 5.0]
            assert x.tolist() == [1.0, 2.0]


def test_observers_hear_of_numpys_operands() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    for _ in range(2):
        assert (x + np.float32(1)).dtype is pa.float32  # kept
        with pa.trace() as seen:
            x + np.float32(1)
            np.add(x, np.float32(1))
        assert len(seen.casts) == 2
