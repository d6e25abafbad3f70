"""C: casts that gcc was asked for by running them, and values."""

from __future__ import annotations

import pytest

import promoarray as pa
from promoarray.errors import PromotionError

FLOATS = [300.0, -300.0, float("nan"), float("inf"), -float("inf"), 3e9, 1e20, 40000.0]

# gcc 12.2.0, -O0 and -O3, of a float that is volatile; ARM64 under qemu 7.2.
CAST = """
x86-64 int8 44 -44 0 0 0 0 0 64
x86-64 uint8 44 212 0 0 0 0 0 64
x86-64 int16 300 -300 0 0 0 0 0 -25536
x86-64 uint16 300 65236 0 0 0 0 0 40000
x86-64 int32 300 -300 -2147483648 -2147483648 -2147483648 -2147483648 -2147483648 40000
x86-64 uint32 300 4294966996 0 0 0 3000000000 0 40000
x86-64 uint64 300 18446744073709551316 9223372036854775808 0 9223372036854775808 3000000000 0 40000
arm64 int8 44 -44 0 -1 0 -1 -1 64
arm64 uint8 44 0 0 255 0 0 255 64
arm64 int16 300 -300 0 -1 0 -1 -1 -25536
arm64 uint16 300 0 0 65535 0 24064 65535 40000
arm64 int32 300 -300 0 2147483647 -2147483648 2147483647 2147483647 40000
arm64 uint32 300 0 0 4294967295 0 3000000000 4294967295 40000
arm64 int64 300 -300 0 9223372036854775807 -9223372036854775808 3000000000 9223372036854775807 40000
arm64 uint64 300 0 0 18446744073709551615 0 3000000000 18446744073709551615 40000
"""


@pytest.mark.parametrize("row", CAST.split("\n")[1:-1], ids=lambda row: "-".join(row.split()[:2]))
def test_a_float_becomes_what_gcc_makes_of_it(row: str) -> None:
    edition, target, *recorded = row.split()
    with pa.policy(f"c@{edition}"):
        cast = pa.asarray(FLOATS, dtype=pa.float32).astype(target)
    assert cast.tolist() == [int(text) for text in recorded]


def test_integers_divide_towards_zero_and_not_by_zero() -> None:
    with pa.policy("c"):
        x = pa.asarray([7, -7], dtype=pa.int8)
        assert (x / 2).tolist() == (x // 2).tolist() == [3, -3]
        assert (x % 2).tolist() == [1, -1]
        with pytest.raises(ZeroDivisionError):
            x / 0
        with pytest.raises(PromotionError, match="divide integers"):
            x.astype(pa.float32) // 2


def test_a_signed_integer_compares_as_the_unsigned_one_of_its_rank() -> None:
    with pa.policy("c"):
        x = pa.asarray([-1], dtype=pa.int32)
        assert not (x < pa.asarray([1], dtype=pa.uint32)).item()
        assert (x < pa.asarray([1], dtype=pa.uint16)).item()  # which becomes int


def test_a_comparison_masks_and_counts() -> None:
    with pa.policy("c"):
        x = pa.asarray([1, 5, 9], dtype=pa.int16)
        assert x[x > 2].tolist() == [5, 9]
        assert ((x > 2) + (x > 2)).tolist() == [0, 2, 2]


def test_an_assignment_in_place_keeps_the_type() -> None:
    with pa.policy("c"):
        x = pa.asarray([100], dtype=pa.int8)
        x += 1.75
        assert x.dtype == "int8"
        assert x.item() == 101


def test_an_integer_beside_float16_is_a_float() -> None:
    # gcc 12.2.0, x86-64 without AVX512-FP16: _Float16 is evaluated in float.
    with pa.policy("c"):
        half = pa.asarray([-60000.0], dtype=pa.float16)
        count = pa.asarray([70000], dtype=pa.uint32)
        for made, expected in ((half + count, 10000.0), (half / count, -0.85693359375)):
            assert (made.dtype, made.tolist()) == (pa.float16, [expected])
        infinity = pa.asarray([float("inf")], dtype=pa.float16)
        assert (infinity == count).tolist() == [False]
