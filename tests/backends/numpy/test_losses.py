"""Huber's error in a loop of ours: the bits of its steps in NumPy, and what NumPy warns of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy import losses

VALUES = [0.0, -0.0, 0.5, 1.0, -1.0, 1.5, 3.0, 1e19, -1e25, 3e38, 1e-20, 1e-45, np.inf, -np.inf]
VALUES += [np.nan, -np.nan]
DELTAS = [1.0, 0.1, 2, 1e10, 0.0, -1.0, 1e300, np.inf, np.nan, 1e-320, True]


@pytest.fixture(params=kernels.levels(), scope="module")
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    before = kernels.use_level(request.param)
    yield request.param
    kernels.use_level(before)


def told(run: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with np.errstate(all="warn"):
            out = np.asarray(run())
    return out.dtype, out.shape, out.tobytes(), {str(each.message) for each in said}


def steps(x: Any, y: Any, delta: Any) -> Any:
    error = np.abs(x - y)
    return np.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta))


@pytest.mark.parametrize("storage", ["f4", "f8", "c8", "f2"])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_loop_gives_numpys_bits_and_warnings(level: int, storage: str, delta: Any) -> None:
    with np.errstate(all="ignore"):
        values = np.array(VALUES).astype(storage)
    random = np.random.default_rng(0)
    long = (random.normal(0, 2, 1500).astype(storage) for _ in "xy")
    # All pairs at once have the bits of each; the warnings of one by itself take turns.
    alone = turns(product(range(16), repeat=2), 5, DELTAS.index(delta) + level)
    for x, y in (
        (values[:, None], values),
        (values[::-1], values[3:4]),
        (np.asfortranarray(values.reshape(2, -1)), values.reshape(2, -1)),
        *((values[i : i + 1], values[j : j + 1]) for i, j in alone),
        tuple(long),
    ):
        want = told(lambda x=x, y=y: steps(x, y, delta))
        assert told(lambda x=x, y=y: losses.huber(x, y, delta=delta)) == want


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "float8_e5m2"])
def test_the_fast_path_answers_as_the_long_way(level: int, dtype: str) -> None:
    with np.errstate(all="ignore"):
        values = pa.asarray(np.array(VALUES)).astype(dtype)
        for policy in ("numpy", "torch", "jax"):
            with pa.policy(policy):
                for i in range(len(VALUES)):
                    x, y = values[i : i + 1], values
                    for delta in (1.0, 0.25, 3):
                        options = {"delta": delta, "reduction": "none"}
                        found = [pa.extras.huber_loss(x, y, **options) for _ in range(2)]
                        plan = next(
                            e
                            for k, e in pa.get_policy().executables.items()
                            if k[0] == "huber_loss()" and k[1:] == (x.dtype, y.dtype)
                        )
                        want = plan.run(x._buffer, y._buffer, delta=delta)
                        for out in found:
                            assert out._buffer.dtype == want.dtype
                            assert out._buffer.tobytes() == want.tobytes()
