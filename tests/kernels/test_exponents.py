"""Loops of powers by one exponent, held to what the portable kernels make of the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from promoarray import dtypes
from promoarray.backends.numpy import exponents
from promoarray.backends.numpy.kernels import KERNELS
from promoarray.dtypes import DType
from promoarray.kernels import DEFAULT, cast, combine, dtype_args

CASES = [(name, n) for name, loops in exponents.LOOPS.items() for n in loops]
HELD = dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0, 5e-324, 1e-45, -1e-45, 3e38]


def codes(held: DType) -> Any:
    """All codes of 16 bits, or bits at random and the ends of the line."""
    if held.bits == 16:
        return np.arange(1 << 16, dtype=np.uint16).view(held.storage)
    rng = np.random.default_rng(held.bits)
    bits = rng.integers(0, 1 << 63, 100_003, dtype=np.uint64) << np.uint64(1)
    found = (bits >> np.uint64(64 - held.bits)).astype(f"u{held.bits // 8}").view(held.storage)
    near = rng.normal(size=len(found)).astype(held.storage)
    return np.concatenate([found, near, np.array(ENDS, held.storage)])


def converted(x: Any, source: DType, target: DType) -> Any:
    out = np.empty(x.shape, target.storage)
    cast(x, out, dtype_args(source), dtype_args(target), DEFAULT)
    return out


@pytest.mark.parametrize("held", HELD, ids=str)
@pytest.mark.parametrize(("name", "exponent"), CASES)
def test_a_loop_of_the_base_has_the_bits_of_the_power(
    level: int, name: str, exponent: float, held: DType
) -> None:
    computed = held if held.bits > 16 else dtypes.float32
    x = codes(held)
    with np.errstate(all="ignore"):
        y = np.array(exponent, computed.storage)
        power = KERNELS[name](converted(x, held, computed), y)
    found = np.empty_like(x)
    loop, row = exponents.LOOPS[name][exponent], dtype_args(held)
    combine(loop, (x,), found, (row, dtype_args(computed), row), (DEFAULT,) * 2)
    word = f"u{held.bits // 8}"
    np.testing.assert_array_equal(
        found.view(word), converted(power, computed, held).view(word), strict=True
    )
