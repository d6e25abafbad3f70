"""What long operands have that short ones do not: loops of our own, and little memory."""

from __future__ import annotations

import tracemalloc
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


def test_huber_loss_takes_no_memory_beside_its_result() -> None:
    x, y = (pa.asarray(np.full(1 << 19, number, np.float32)) for number in (1, 3))
    with pa.policy("paddle"):
        tracemalloc.start()
        try:
            made = pa.extras.huber_loss(x, y, reduction="none", delta=0.5)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < made._buffer.nbytes + (1 << 20)
    assert set(made._buffer) == {0.5 * (2 - 0.25)}
