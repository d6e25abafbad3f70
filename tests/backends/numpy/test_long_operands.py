"""What long operands have that short ones do not: loops of our own, and little memory."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy import ordering

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


@pytest.mark.parametrize("storage", ["u2", "i2"])
def test_every_integer_of_16_bits_is_sorted_by_counting(storage: str) -> None:
    random = np.random.default_rng(5)
    every = np.arange(1 << 16, dtype="u2").view(storage)
    given = random.permutation(np.concatenate([every, every[::3], every[:40].repeat(50)]))
    for x in (given, given[:7], given[:0], np.full(100, 0xFFFF, "u2").view(storage)):
        made = np.empty_like(x)
        kernels.sort_words(x, made, storage == "i2")
        assert np.array_equal(made, np.sort(x))


def test_what_cannot_be_counted_is_not_written() -> None:
    x = np.arange(9, dtype="u2")
    wrong = [np.full(8, 7, "u2"), np.full(9, 7, "u4"), np.full(9, 7, ">u2"), x]
    for target in wrong:
        before = target.tobytes()
        with pytest.raises(ValueError, match=r"source|result"):
            kernels.sort_words(x, target, False)
        assert target.tobytes() == before


@pytest.mark.parametrize("dtype", [pa.int16, pa.uint16, pa.bfloat16, pa.float16], ids=str)
def test_long_rows_are_sorted_as_short_ones_are(
    dtype: pa.DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = np.random.default_rng(3).integers(0, 1 << 16, (2, 2 * ordering.COUNTED), np.uint16)
    codes[:, ::50] = codes[0, 0]
    x = pa.asarray(codes.view(dtype.storage))
    for options in ({}, {"descending": True}, {"axis": 0}):
        found = pa.sort(x, **options)._buffer.tobytes()
        with monkeypatch.context() as patch:
            patch.setattr(ordering, "COUNTED", 1 << 60)
            assert pa.sort(x, **options)._buffer.tobytes() == found


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
