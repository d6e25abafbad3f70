"""An operation is compiled once: what was met before is found, and nothing is decided again."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import promoarray as pa
from promoarray.backends.numpy.compile import bounded
from promoarray.policies import as_policy
from promoarray.promotion.policy import FEW

VALUES = [1.5, -2.0, 3.0]


def test_a_function_and_its_operator_have_executables_of_their_own() -> None:
    mine = as_policy("paddle@3.3").derive("mine")
    x = pa.asarray([7, 8], dtype=pa.int32)
    with pa.policy(mine):
        for _ in range(2):
            assert (x % 2.5).dtype is pa.float32
            assert pa.remainder(x, 2.5).dtype is pa.int32
    kept = {key[0]: found.result for key, found in mine.executables.items() if type(key[0]) is str}
    assert kept == {"remainder": pa.float32, "remainder()": pa.int32}


def test_lists_of_any_number_of_arrays_keep_no_more_than_some() -> None:
    mine = as_policy("numpy").derive("mine")
    x = pa.asarray([7], dtype=pa.int32)
    with pa.policy(mine):
        for n in (*range(FEW - 1, FEW + 3), *range(100, 900, 40)):
            assert pa.concat([x] * n).shape == (n,)
            assert pa.concat([x] * n).dtype is pa.int32
    assert all(len(key) <= FEW for key in mine.executables)
    assert all(len(operands) <= FEW for _, operands in mine.plans)


def test_ranks_have_executables_of_their_own_where_they_matter() -> None:
    point, line = pa.asarray(1.0, dtype=pa.float64), pa.asarray([1.0], dtype=pa.float32)
    with pa.policy("torch"):
        for _ in range(2):
            assert (point + line).dtype is pa.float32
            assert (pa.reshape(point, (1,)) + line).dtype is pa.float64


def test_a_scalar_that_does_not_fit_is_refused_every_time() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    for value in (3, 299, 3, 299):
        if value == 3:
            assert (x + value).tolist() == [4, 5]
        else:
            with pytest.raises(OverflowError, match="299 does not fit uint8"):
                x + value


def test_an_int_beyond_all_others_compares_as_an_infinity_every_time() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    for _ in range(2):
        assert (x < 100).tolist() == [True, True]
        assert (x < 10**9).tolist() == [True, True]
        assert (x > -(10**9)).tolist() == [True, True]


def test_bounds_of_clip_are_part_of_the_key() -> None:
    x = pa.asarray([1, 200], dtype=pa.uint8)
    for _ in range(2):
        assert pa.clip(x, None, 300).tolist() == [1, 200]
        assert pa.clip(x, -1, None).tolist() == [1, 200]
        assert pa.clip(x, 2, 100).tolist() == [2, 100]
        with pytest.raises(OverflowError):
            pa.clip(x, 300, None)


def test_bounds_of_a_clipped_scalar_fit_alike_every_time() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    for _ in range(2):
        assert pa.clip(5, x, 100).tolist() == [5, 5]
        with pytest.raises(OverflowError, match="300 does not fit uint8"):
            pa.clip(5, x, 300)


# NumPy 2.5 advises against it; programs do it all the same.
@pytest.mark.filterwarnings("ignore:Setting the (dtype|shape) on a NumPy array:DeprecationWarning")
def test_an_array_set_behind_our_back_is_never_read_beyond_its_end() -> None:
    buffer = np.ones(64, np.float32)
    x, y = pa.asarray(buffer), pa.asarray(np.ones(64))
    for _ in range(2):
        x + y
    buffer.dtype = np.float64  # 32 elements now, in the array that was given
    buffer.shape = (4, 8)
    out = x + y
    assert (out.dtype, out.shape) == (pa.float64, (64,))
    assert np.asarray(out).tolist() == [2.0] * 64
    handed_out = np.asarray(x)
    handed_out.dtype = np.float64
    assert np.shares_memory(handed_out, x._buffer)
    assert (x.dtype, x.shape, x._buffer.dtype) == (pa.float32, (64,), np.float32)
    y._buffer.dtype = np.float32  # nobody's business, but no reason to read beyond the end
    with suppress(TypeError, ValueError):
        y + x


def test_policies_that_check_the_bounds_of_clip_share_one_kernel() -> None:
    """One for each would stay for as long as the process runs, as kernels do."""
    counts = []
    for turn in range(3):
        with pa.policy(as_policy("paddle").derive(f"clipping {turn}")):
            clipped = pa.clip(pa.asarray([-1.0, 0.5, 2.0], dtype=pa.float32), 0, 1)
        assert clipped.tolist() == [0.0, 0.5, 1.0]
        counts.append(bounded.cache_info().currsize)
    assert counts[0] == counts[-1] > 0
