"""Polars: literals by value, and what float64 would lose."""

from __future__ import annotations

import pytest

import promoarray as pa

LITERALS = {
    ("int8", -128): "int8",
    ("int8", 128): "int16",
    ("uint8", 255): "uint8",
    ("uint8", -1): "int16",
    ("uint16", 65536): "uint32",
    ("uint64", -1): "int64",
    ("float16", 70000): "float16",
    ("bool", 1): "int32",
}


@pytest.mark.parametrize(("column", "literal"), LITERALS)
def test_an_int_counts_as_the_first_integer_of_the_columns_kind_that_holds_it(
    column: str, literal: int
) -> None:
    with pa.policy("polars"):
        assert (pa.ones(2, dtype=column) + literal).dtype == LITERALS[column, literal]


def test_wide_integers_of_both_signednesses_compare_exactly() -> None:
    with pa.policy("polars"):
        x = pa.asarray([2**62 + 1], dtype=pa.int64)
        assert (x != pa.asarray([2**62], dtype=pa.uint64)).item()


def test_an_integer_to_a_power_keeps_the_type_of_the_base() -> None:
    with pa.policy("polars"):
        x = pa.asarray([2, 3], dtype=pa.int8)
        assert (x ** pa.asarray([3], dtype=pa.int64)).dtype == "int8"
        assert (2**x).dtype == "int32"
