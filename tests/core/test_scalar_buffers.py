"""Python scalars as 0-d buffers: the bits that the policy's cast gives, each time, read-only."""

from __future__ import annotations

import math
from typing import Any

import pytest

import promoarray as pa
from promoarray.core.cast import held
from promoarray.core.operands import scalar_buffers
from promoarray.dtypes import CONCRETE, INTEGERS, DType, Kind
from promoarray.policies import as_policy
from promoarray.promotion.scalars import bounds

FLOATS = [
    sign * value
    for value in (0.0, 5e-324, 1e-45, 1e-40, 6e-8, 0.1, 0.5, 1.0, 2.5, 448.0, 464.0, 65520.0, 1e5)
    for sign in (1, -1)
] + [2.0**31, 2.0**63, 3.4e38, 3.41e38, 1e300, math.inf, -math.inf, math.nan]
INTS = [0, 1, -1, 2, 127, 128, -128, 255, 2**24 + 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63]
OTHERS = [True, False, 1j, -1j, complex(0.0, -0.0), complex(-0.0, 0.0), complex(math.nan, 1e300)]


def of(dtype: DType) -> list[Any]:
    """Numbers that may come to a dtype, as ``fit`` lets ints beyond integers go nowhere."""
    ints = [*INTS, -(2**62), 10**300]
    if dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        ints = [value for value in ints if low <= value <= high]
    return [*FLOATS, *ints, *(OTHERS if dtype.kind is Kind.COMPLEX else OTHERS[:2])]


@pytest.mark.parametrize("policy", pa.list_policies())
def test_every_number_has_the_bits_of_the_cast(policy: str) -> None:
    cast, wrong = as_policy(policy).cast, []
    made = scalar_buffers(as_policy(policy))
    for dtype in as_policy(policy).dtypes:
        if dtype not in CONCRETE:
            continue
        for value in of(dtype):
            expected = held(cast, value, dtype)
            for _ in range(2):
                found = made(value, dtype)
                same = (found.dtype, found.shape) == (expected.dtype, expected.shape)
                if not same or found.tobytes() != expected.tobytes() or found.flags.writeable:
                    wrong.append((dtype, value, found, expected))
    assert wrong == []


def test_an_int_beyond_every_float_is_told() -> None:
    made = scalar_buffers(as_policy("numpy"))
    for _ in range(2):
        with pytest.raises(OverflowError, match="nor any float"):
            made(10**400, pa.float32)
    x = pa.asarray([1.0], dtype=pa.float32)
    for _ in range(3):
        with pytest.raises(OverflowError, match="nor any float"):
            x + 10**400
        assert (x + 1).tolist() == [2.0]
