"""Traces: every implicit cast with its place, and what a Python scalar was made into."""

from __future__ import annotations

import pytest

import promoarray as pa


def casts(trace: object) -> list[tuple[str, str, str, int]]:
    return [
        (row["operation"], row["from"], row["to"], row["count"])
        for row in trace.to_dict()["casts"]  # type: ignore[attr-defined]
    ]


def test_operands_that_are_cast_are_listed_with_their_places() -> None:
    a = pa.asarray([1, 2], dtype=pa.int8)
    b = pa.asarray([1.0, 2.0], dtype=pa.float32)
    with pa.trace() as trace:
        for _ in range(3):
            a + b
        b + b
    assert casts(trace) == [("add", "int8", "float32", 3)]
    (row,) = trace.to_dict()["casts"]
    assert (row["file"], row["source"]) == (__file__, "a + b")
    assert "int8 -> float32" in str(trace)
    assert trace.to_dict()["escapes"] == []


def test_a_result_written_in_place_is_a_cast_of_its_own() -> None:
    a = pa.asarray([1.0, 2.0], dtype=pa.float32)
    with pa.trace() as trace:
        a += pa.asarray([1.0, 2.0], dtype=pa.float64)
    assert casts(trace) == [
        ("add", "float32", "float64", 1),
        ("add in place", "float64", "float32", 1),
    ]


def test_assignment_casts_to_the_target() -> None:
    a = pa.asarray([1, 2], dtype=pa.int8)
    with pa.trace() as trace:
        a[0] = pa.asarray(7, dtype=pa.int64)
        a[0] = pa.asarray(7, dtype=pa.int8)
        a[:] = 3
    assert casts(trace) == [("setitem", "int64", "int8", 1)]


@pytest.mark.parametrize(
    ("policy", "dtype", "value", "words"),
    [
        ("torch", "uint8", 300, "300 becomes 44"),
        ("numpy", "float16", 1e5, "100000.0 becomes inf"),
        ("numpy", "float16", 1e-9, "1e-09 becomes 0.0"),
        ("numpy", "float16", 0.1, ""),  # only rounded
        ("numpy", "float32", 2**24 + 1, ""),
        ("numpy", "float32", float("inf"), ""),
        ("numpy", "float64", 0.0, ""),
        ("numpy", "int8", True, ""),
        ("numpy", "complex64", 1e300j, "1e+300j becomes infj"),
    ],
)
def test_a_scalar_is_listed_where_it_becomes_another_number(
    policy: str, dtype: str, value: complex, words: str
) -> None:
    x = pa.asarray([1], dtype=dtype)
    with pa.policy(policy), pa.trace() as trace:
        x + value
    assert [cast.became for cast in trace.casts] == ([words] if words else [])


def test_an_int_compared_as_the_number_it_is_is_no_cast() -> None:
    x = pa.asarray([1], dtype=pa.int8)
    with pa.trace() as trace:
        assert pa.all(x < 1000)
    assert trace.to_dict() == {"casts": [], "escapes": []}


def test_a_fraction_that_is_dropped_in_an_assignment_is_listed() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.trace() as trace:
        x[0] = 1.75
        x[1] = 2.0
    (cast,) = trace.casts
    assert str(cast).endswith("setitem  Python float -> int8, 1.75 becomes 1")
