"""Means and ``clip`` of NumPy buffers in steps of ours: NumPy's bits, and NumPy's words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray.backends.numpy import clips, means
from promoarray.backends.numpy.kernels import KERNELS
from promoarray.kernels.portable import statistics, variants

STORAGES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(1,), (3,), (), (0,), (2, 3), (3, 1), (1, 1), (2, 0), (5, 4, 3), (9000,)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 3.0, math.inf, -math.inf, math.nan, 1e-310, 1e-45, 1e38]


def told(run: Callable[[], Any]) -> Any:
    """An answer to the bit, NaN apart, and what is warned of; or the error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            out = np.asarray(run())
        except Exception as error:
            return type(error)
    parts = np.stack([out.real, out.imag]) if out.dtype.kind == "c" else out
    nan = np.isnan(parts) if parts.dtype.kind in "fc" else np.zeros(parts.shape, bool)
    bits = np.where(nan, 0, parts).tobytes()
    return out.dtype, out.shape, bits, nan.tolist(), [str(each.message) for each in said]


@given(st.data())
def test_a_mean_is_numpys(data: st.DataObject) -> None:
    storage, shape = data.draw(st.sampled_from(STORAGES)), data.draw(st.sampled_from(SHAPES))
    axis = data.draw(st.sampled_from([None, 0, -1, (), (0,), (0, 1), 2, 9]))
    keepdims, seed = data.draw(st.booleans()), data.draw(st.integers(0, 999))
    random, dtype = np.random.default_rng(seed), np.dtype(storage)
    x = np.frombuffer(random.bytes(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)
    if storage == "?":
        x = x.view("u1") % 2 == 1
    elif dtype.kind in "fc" and data.draw(st.booleans()):
        with np.errstate(all="ignore"):
            x = random.choice(SPECIAL, shape).astype(dtype)
            if dtype.kind == "c":
                x = (x + 1j * random.choice(SPECIAL[:5], shape)).astype(dtype)
    x = data.draw(st.sampled_from([x, x.T, x[::-1] if x.ndim else x]))
    options = {"axis": axis, "keepdims": keepdims}
    assert told(lambda: means.mean(x, **options)) == told(lambda: np.mean(x, **options))


def test_complex_means_divide_as_numpy_does() -> None:
    random = np.random.default_rng(0)
    for storage in ("c8", "c16"):
        for length in (1, 2, 3, 7):
            for _ in range(500):
                x = np.frombuffer(random.bytes(length * np.dtype(storage).itemsize), storage)
                assert told(lambda x=x: means.mean(x)) == told(lambda x=x: np.mean(x))


@pytest.mark.parametrize("storage", ["f4", "f8", "c8", "c16"])
def test_a_mean_of_one_tiny_number_is_the_number(storage: str) -> None:
    """To divide by 1 rounds nothing, and so there is nothing to tell of it."""
    for tiny in (5e-324, 1e-310, 1e-45, -1e-40, 1e-38, 0.0, -0.0):
        for length in (1, 2, 3):
            x = np.full(length, tiny).astype(storage)
            for ours, numpys in ((pa.mean, np.mean), (pa.var, np.var)):
                assert told(lambda f=ours, x=x: f(pa.asarray(x))._buffer) == told(
                    lambda f=numpys, x=x: np.asarray(f(x))
                )


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
LENGTHS = [1, 2, 3, 7, 100, 8192, 8193, 32768, 32769]


@pytest.mark.parametrize("name", ["exact_integer_mean", "truncated_mean"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_means_without_fractions_are_those_of_every_library(name: str, dtype: str) -> None:
    random, portable = np.random.default_rng(0), getattr(statistics, name)
    for shape in (*[(n,) for n in LENGTHS], (), (0,), (2, 3), (3, 1), (1, 0)):
        x = np.frombuffer(random.bytes(math.prod(shape) * np.dtype(dtype).itemsize), dtype)
        for axis in (None, 0, -1, (0,)):
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims}
                y = x.reshape(shape)
                want = told(lambda y=y, o=options: portable(np, y, **o))
                assert told(lambda y=y, o=options: KERNELS[name](y, **o)) == want


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_mean_that_stays_an_integer_loses_its_fraction_exactly(dtype: str) -> None:
    random, ends = np.random.default_rng(0), np.iinfo(dtype)
    with pa.policy("tensorflow"):
        for length in (*LENGTHS, 12345):
            near = np.full(length, ends.max, dtype)
            near[0] -= 1
            lows = np.full(length, ends.min, dtype)
            lows[-1] += 1
            drawn = random.integers(ends.min, ends.max, length, dtype, endpoint=True)
            for x in (near, lows, drawn):
                if abs(total := sum(x.tolist())) >= 2**63:
                    continue
                want = math.trunc(Fraction(total, length))
                y = pa.asarray(x)
                for _ in range(2):
                    assert pa.mean(y).tolist() == pa.mean(y, axis=0).tolist() == want


@pytest.mark.parametrize("policy", ["paddle", "mindspore@2.10", "onnx@25", "numpy", "jax", "aclnn"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_means_of_few_integers_are_those_of_many(policy: str, dtype: str) -> None:
    """By the kernel of the fast path, and by what goes with operands of any length."""
    random = np.random.default_rng(0)
    with pa.policy(policy) as _:
        held = pa.get_policy()
        for length in LENGTHS:
            x = np.frombuffer(random.bytes(length * np.dtype(dtype).itemsize), dtype)
            try:
                found = pa.mean(pa.asarray(x))
            except TypeError:
                return
            known = held.executables["mean()", found._policy or pa.asarray(x).dtype]
            want = known.run(x, axis=None, keepdims=False)
            again = pa.mean(pa.asarray(x)), pa.mean(pa.asarray(x), axis=0), found
            assert {np.asarray(y._buffer).tobytes() for y in again} == {want.tobytes()}


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float32", "float64"])
def test_a_checked_clip_is_that_of_every_library(dtype: str) -> None:
    values = np.array([0, 1, 2, 100, 5], dtype)
    if values.dtype.kind == "f":
        values = np.array([*SPECIAL, *values], dtype)
    bounds = [values[i : i + 1] for i in range(len(values))] + [values, values.reshape(-1, 1)[:1]]
    with np.errstate(all="ignore"):
        for low in bounds:
            for high in bounds:
                for given_, ends in (
                    ((True, True), (low, high)),
                    ((True, False), (low,)),
                    (
                        (False, True),
                        (high,),
                    ),
                ):
                    both = dict(zip(("low", "high"), given_, strict=True))
                    want = told(lambda e=ends, b=both: variants.checked_clip(np, values, *e, **b))
                    assert told(lambda e=ends, b=both: clips.checked(values, *e, **b)) == want


@pytest.mark.parametrize("policy", ["paddle", "paddle@2.6", "paddle@3.3"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "bfloat16", "float32", "float64"])
def test_bounds_that_cross_are_refused_every_time(policy: str, dtype: str) -> None:
    with pa.policy(policy):
        one, two = (pa.asarray([n], dtype=dtype) for n in (1, 2))
        for _ in range(3):
            try:
                assert pa.clip(two, one, one).tolist() == [1]
            except pa.errors.PromotionError:
                return
            with pytest.raises(ValueError, match="lower bound must not be above"):
                pa.clip(one, two, one)
            assert pa.clip(one, one, two).tolist() == [1]
            assert pa.clip(one, None, two).tolist() == pa.clip(two, None, one).tolist() == [1]
