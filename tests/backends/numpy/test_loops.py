"""What NumPy's loops make of operands that lie anyhow, and where policies compute otherwise."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels.portable.xla import first_selects, second_selects
from promoarray.policies import as_policy

PARTS = (0.0, -0.0, 1.0, -0.5, 2.5, -7.7, np.inf, -np.inf, np.nan)
SPECIAL = np.array([complex(*pair) for pair in product(PARTS, PARTS)])[::9]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shapes", [((9,), (9,)), ((2, 1), (9,)), ((), (9,)), ((9, 1), ())])
def test_bools_select_complex_numbers_as_xla_has_it(shapes: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    mask = rng.random(shapes[0]) < 0.5
    z = np.resize(SPECIAL.astype(dtype), shapes[1])
    with pa.policy(as_policy("jax@x64").derive("selecting")), np.errstate(all="ignore"):
        x, y = pa.asarray(mask), pa.asarray(z)
        want = first_selects(np, mask.astype(dtype), z)
        for _ in range(2):  # the second time by the kernel
            assert np.asarray(x * y).tobytes() == want.tobytes()
            assert (
                np.asarray(y * x).tobytes() == second_selects(np, z, mask.astype(dtype)).tobytes()
            )


@pytest.mark.parametrize("length", [1, 5000, 1 << 20])
@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_integers_of_64_bits_compare_by_their_values(compare: Any, length: int) -> None:
    signed = [-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]
    unsigned = [0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    a = pa.asarray(np.resize(np.repeat(signed, 7), length + 48))
    b = pa.asarray(np.resize(np.array(unsigned, np.uint64), length + 48))
    x, y = (np.array([int(n) for n in each._buffer[-49:]], object) for each in (a, b))
    with pa.policy("numpy@2"):
        for _ in range(2):  # the second time by what was kept
            np.testing.assert_array_equal(compare(a, b)._buffer[-49:], compare(x, y).astype(bool))
            np.testing.assert_array_equal(compare(b, a)._buffer[-49:], compare(y, x).astype(bool))
        for narrow in (pa.int8, pa.int16, pa.int32):
            few = pa.asarray([-1, 0, 1, 100], dtype=narrow)
            for other in (0, 1, 100, 2**64 - 1):
                c, wanted = pa.asarray([other], dtype=pa.uint64), [-1, 0, 1, 100]
                for _ in range(2):
                    assert compare(few, c)._buffer.tolist() == [compare(n, other) for n in wanted]
                    assert compare(c, few)._buffer.tolist() == [compare(other, n) for n in wanted]


@pytest.mark.parametrize("dtype", [d for d in dt.BY_STORAGE.values() if d.kind in dt.INTEGERS])
@pytest.mark.parametrize("length", [1, 9, 70_000])
def test_the_sign_bit_of_an_integer_is_that_it_is_less_than_zero(dtype: DType, length: int) -> None:
    near_zero = np.arange(length) % 4 - (2 if dtype.kind is Kind.INT else 0)
    with pa.policy("numpy@2"):
        x = pa.asarray(near_zero.astype(np.int8).astype(dtype.storage))
        for given, held in ((x, near_zero), (x[::2], near_zero[::2])):
            for _ in range(2):
                found = pa.signbit(given)
                assert found.dtype is pa.bool
                assert np.array_equal(np.asarray(found), held < 0)


def test_short_results_lie_as_operands_do() -> None:
    x = pa.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    for narrow in (x, x.astype(pa.bfloat16), x.astype(pa.int4)):
        for view in (narrow.mT, narrow[:, ::2], narrow[::-1], pa.permute_dims(narrow, (2, 0, 1))):
            like = np.empty_like(view._buffer)
            for made in (view.astype(pa.float64), pa.abs(view), pa.exp(view)):
                order = np.argsort(like.strides).tolist()
                assert np.argsort(made._buffer.strides).tolist() == order
                assert made.shape == view.shape
            assert view.astype(pa.float64).tolist() == narrow_values(view)


def narrow_values(x: pa.PArray) -> Any:
    """The values one by one."""
    flat = [float(x[index]) for index in np.ndindex(x.shape)]
    return np.array(flat).reshape(x.shape).tolist()
