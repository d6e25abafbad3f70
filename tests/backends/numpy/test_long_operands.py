"""What long operands have that short ones do not: loops of our own, and little memory."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import promoarray as pa
from promoarray import kernels

ODD = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, -np.nan, 1e-310, 1e-45, 5e-324, 1e-30]


@pytest.mark.parametrize("level", kernels.levels())
@pytest.mark.parametrize("storage", ["f2", "f4", "f8"])
def test_logic_of_floats_is_numpys(storage: str, level: int) -> None:
    pairs = np.array([*product(ODD, ODD)] * 3)
    with np.errstate(under="ignore"):
        x, y = pairs.T.astype(storage)
    before = kernels.use_level(level)
    try:
        with pa.policy("torch"), np.errstate(all="raise"):
            for name in ("logical_and", "logical_or", "logical_xor"):
                made = getattr(pa, name)(pa.asarray(x), pa.asarray(y))
                assert np.array_equal(made._buffer, getattr(np, name)(x, y)), name
            assert np.array_equal(pa.logical_not(pa.asarray(x))._buffer, np.logical_not(x))
    finally:
        kernels.use_level(before)


INTEGERS = [*(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8))]


@pytest.mark.parametrize("level", kernels.levels())
@pytest.mark.parametrize("storage", INTEGERS)
def test_integers_are_raised_to_one_exponent_as_one_by_one(storage: str, level: int) -> None:
    random = np.random.default_rng(3)
    limits = np.iinfo(storage)
    x = random.integers(limits.min, limits.max, 700, storage, endpoint=True)
    before = kernels.use_level(level)
    try:
        for exponent in (0, 1, 2, 3, 7, 64, 100, limits.max):
            y = np.full(x.shape, exponent, storage)
            for n in (1, 255, 256, 257, 700):
                wanted = np.power(x[:n], y[:n])
                raised = pa.asarray(x[:n]) ** pa.asarray(y[:n])
                assert np.array_equal(raised._buffer, wanted), (exponent, n)
                y_last = y[:n].copy()
                y_last[-1] = 5  # of all exponents but one
                raised = pa.asarray(x[:n]) ** pa.asarray(y_last)
                assert np.array_equal(raised._buffer, np.power(x[:n], y_last)), (exponent, n)
            raised = pa.asarray(x.copy())
            raised **= exponent
            assert np.array_equal(raised._buffer, np.power(x, exponent)), exponent
    finally:
        kernels.use_level(before)


@pytest.mark.parametrize("n", [3, 700, 70_000])
def test_a_negative_exponent_among_many_is_what_the_policy_says(n: int) -> None:
    x, y = np.full(n, 2, np.int32), np.full(n, 2, np.int32)
    y[-1] = -1
    with pytest.raises(ValueError, match="negative integer powers"):
        pa.asarray(x) ** pa.asarray(y)
    with pytest.raises(ValueError, match="negative integer powers"):
        pa.asarray(x) ** pa.asarray(np.full(n, -1, np.int32))
    with pa.policy("torch"):
        assert (pa.asarray(x) ** pa.asarray(y)).tolist() == [4] * (n - 1) + [0]
        assert (pa.asarray(x) ** pa.asarray(np.full(n, -1, np.int32))).tolist() == [0] * n


@pytest.mark.parametrize("storage", INTEGERS)
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_extremes_of_integers_with_one_number_are_numpys(storage: str, name: str) -> None:
    random = np.random.default_rng(4)
    limits = np.iinfo(storage)
    for n in (1, 70, 70_000):
        x = random.integers(limits.min, limits.max, n, storage, endpoint=True)
        for y in (np.array(3, storage), np.array(limits.min, storage), x[::-1], x[:1]):
            made = getattr(pa, name)(pa.asarray(x), pa.asarray(y))
            assert made._buffer.dtype == storage
            assert np.array_equal(made._buffer, getattr(np, name)(x, y))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float32", "bfloat16"])
def test_positions_in_long_operands_are_of_the_policys_dtype(dtype: str) -> None:
    values = np.random.default_rng(6).integers(0, 100, (300, 300)) if dtype != "bool" else None
    given = np.eye(300, k=5, dtype=bool) if values is None else values
    with pa.policy("jax@x32"):
        x = pa.asarray(given, dtype=dtype)
        for view, like in ((x, given), (x.T, given.T), (x[::-1], given[::-1])):
            for axis in (None, 0, 1, -1):
                for keepdims in (False, True):
                    for _ in range(2):
                        made = pa.argmax(view, axis=axis, keepdims=keepdims)
                    assert made.dtype is pa.int32
                    wanted = np.argmax(like, axis=axis, keepdims=keepdims)
                    assert np.array_equal(made._buffer, wanted)
