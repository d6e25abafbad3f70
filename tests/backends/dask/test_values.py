"""Elementwise operations and casts: the bits, dtypes and refusals of NumPy's back end."""

from __future__ import annotations

import operator
import pickle
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from lazily import answer, bits, lazy

import promoarray as pa
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import cast_on_blocks
from promoarray.kernels.cast_mode import DEFAULT
from promoarray.promotion.in_force import get_policy

NUMBERS = np.array([[0, 1, -2.5, 3], [300.5, -0.0, 7, 1e-3], [np.nan, np.inf, 0.5, 2]])
OPERATORS = (operator.add, operator.truediv, operator.floordiv, operator.pow, operator.lt)
POLICIES = ("numpy@2", "numpy@1", "jax@x64", "torch@2.13", "onnx@25")


@cache
def pair(dtype: Any, shape: str = "whole") -> tuple[pa.PArray, pa.PArray]:
    with pa.policy("numpy@2"):
        values = {"whole": NUMBERS, "row": NUMBERS[0], "0-d": NUMBERS[0, 3]}[shape]
        exact = (
            values if dtype.kind.name in ("FLOAT", "COMPLEX") else np.nan_to_num(values, posinf=5)
        )
        x = pa.asarray(np.abs(exact) if dtype.kind.name == "UINT" else exact).astype(dtype)
    return x, lazy(x)


@pytest.mark.parametrize("policy", POLICIES)
def test_operators_give_the_same_bits_and_refusals(policy: str) -> None:
    rng = np.random.default_rng(15)
    with pa.policy(policy), np.errstate(all="ignore"):
        dtypes = [d for d in get_policy().dtypes if d is not pa.string]
        ways = list(product(OPERATORS, dtypes, dtypes, ("row", "0-d")))
        chosen = rng.choice(len(ways), 24, replace=False)
        for function, one, other, shape in map(ways.__getitem__, chosen):
            here, there = zip(pair(one), pair(other, shape), strict=True)
            told = answer(function, *here), answer(function, *there)
            assert bits(told[0]) == bits(told[1]), (function, one, other, shape)


@pytest.mark.parametrize("policy", POLICIES)
def test_casts_give_the_same_bits_and_refusals(policy: str) -> None:
    rng = np.random.default_rng(15)
    with pa.policy(policy), np.errstate(all="ignore"):
        dtypes = [d for d in get_policy().dtypes if d is not pa.string]
        ways = list(product(dtypes, dtypes))
        for i in rng.choice(len(ways), min(20, len(ways)), replace=False):
            source, target = ways[i]
            told = [answer(pa.astype, x, target) for x in pair(source)]
            assert bits(told[0]) == bits(told[1]), (source, target)


def test_python_scalars_and_arrays_in_memory_go_into_the_graph() -> None:
    x, there = pair(pa.float32)
    assert bits(x * 2 + 1.5) == bits(there * 2 + 1.5)
    assert bits(x + x) == bits(there + x) == bits(x + there)
    assert bits(pa.where(x > 1, x, 0)) == bits(pa.where(x > 1, there, 0))
    assert bits(pa.where(x > 1, x, 0)) == bits(pa.where(there > 1, x, 0))
    assert bits(pa.clip(x, 0, pa.asarray(2.0))) == bits(pa.clip(there, 0, pa.asarray(2.0)))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
def test_arrays_are_made_like_lazy_ones(dtype: str) -> None:
    x = lazy(pa.ones((4,), dtype=dtype))
    for _ in range(2):
        made = [pa.full_like(x, 2), pa.full_like(x, 2.5, dtype="float64"), pa.zeros_like(x)]
        assert [each.dtype.name for each in made] == [dtype, "float64", dtype]
        assert [each.compute()[0].item() for each in made] == [2, 2.5, 0]


def test_arrays_like_lazy_ones_are_made_again_and_again() -> None:
    x, there = pair(pa.float32)
    made = pa.zeros_like, pa.ones_like, lambda x: pa.full_like(x, -1)
    for function in (*made, lambda x: pa.full_like(x, 2.0, dtype=pa.int8), *made):
        assert bits(function(there)) == bits(function(x))
        assert function(there).device == "dask"
    for value in (pa.ones(2), pa.ones((2, 3, 4))):
        told = [bits(answer(pa.full_like, *each)) for each in ((x, value), (there, lazy(value)))]
        assert told[0] == told[1]


def test_arrays_in_memory_keep_their_own_executables() -> None:
    x, there = pair(pa.int16)
    _ = there + x, x + there, pa.where(there > 1, x, x)
    assert (x + x).device == pa.where(x > 1, x, x).device == "cpu"
    with pa.shadow("numpy", "torch"):
        for _ in range(3):
            _ = there * there
        assert (x * x).device == "cpu"


def test_what_numpy_arrays_hold_later_is_not_seen() -> None:
    values = np.ones(3)
    there = pa.asarray(values, device="dask") + pa.asarray(values)
    values[:] = 7
    assert there.compute().tolist() == [2, 2, 2]


def test_one_plan_is_one_task_a_block() -> None:
    _, x = pair(pa.bfloat16)
    y = x * pair(pa.float32)[1] + 1.5
    layers = [name.partition("-")[0] for name in y.__dask_layers__()]
    assert layers == ["add"]
    assert y.__dask_optimize__(y.__dask_graph__(), y.__dask_keys__()) is not None


def test_an_operand_is_spread_by_the_shape_of_all_and_not_of_a_block() -> None:
    with pa.policy("jax"):
        x, there = pair(pa.float64)
        y, thither = pair(pa.float64, "row")
        assert bits(x / y) == bits(there.rechunk(1) / thither)
        assert bits(x / y[None]) == bits(there.rechunk(1) / thither[None])


def test_an_executable_knows_no_policy_and_travels() -> None:
    mine = pa.Policy.from_table("mine", "      i8  f32\ni8    i8  f32\nf32   f32 f32")
    x, there = pair(pa.int8)
    with pa.policy(mine):
        sent, here = pickle.dumps(there + there), x + x
    assert b"mine" not in sent
    assert bits(pickle.loads(sent)) == bits(here)


def test_a_worker_with_another_version_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = pickle.dumps(BlockExecutable(cast_on_blocks, pa.float32, pa.bfloat16, DEFAULT, ()))
    monkeypatch.setattr(pa, "__version__", "9.9")
    with pytest.raises(RuntimeError, match=r"this worker has promoarray 9\.9, and the task was"):
        pickle.loads(sent)(np.ones(3, np.float32))


def test_shapes_that_do_not_broadcast_are_told_alike() -> None:
    x, there = pair(pa.float32)
    y = pa.ones(5)
    assert bits(answer(operator.add, x, y)) == bits(answer(operator.add, there, lazy(y)))


@pytest.mark.parametrize("dtype", ["int8", "float64", "bfloat16", "float8_e8m0fnu"])
@pytest.mark.parametrize("k", [-2, 0, 3])
def test_a_diagonal_of_blocks(dtype: str, k: int) -> None:
    for length in (0, 1, 5):
        x = pa.ones(length, dtype=dtype)
        found = pa.diag(x.to_device("dask").rechunk(max(1, length // 2)), k)
        assert found.device == "dask"
        assert bits(found.compute()) == bits(pa.diag(x, k))
    with pytest.raises(ValueError, match=r"unknown length: write x.compute_chunk_sizes\(\)"):
        pa.diag(found[0, found[0] > 0], k)


def test_numpys_unique_of_floats_with_a_nan() -> None:
    x = pa.asarray([2.0, np.nan, 1.0, 2.0])
    values, counts = np.unique(x.to_device("dask"), return_counts=True)
    assert repr(values.compute().tolist()) == "[1.0, 2.0, nan]"
    assert counts.compute().tolist() == [1, 2, 1]
