"""Arrays of lists of numbers, made again: what the fast path makes is what the long way made."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray.core import asarray as long_way
from promoarray.policies import as_policy

NUMBERS = [
    *(True, 2, -1, 0.1, -0.0, 1.5, 1j, 1e300, float("inf"), float("nan"), 5e-324),
    *(2.0**128 - 2.0**103, 2.0**128 - 2.0**104, 2.0**103 - 2.0**128),  # Inf in float32, and not
    *(300, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400),
]
LISTS: list[Any] = [
    *NUMBERS,
    *([x] for x in NUMBERS),
    *([x, x] for x in NUMBERS),
    *([[x], (1,)] for x in NUMBERS),
    *([1, 2.5], [2.5, 1], [True, 2], [True, 0.5], [1, 1j], [2**53 + 1, 0.5], [2**64, 0.5]),
    *([], [[]], [[], []], [[1], [1, 2]], [1, [2]], [[[1.0]], [[2.0]]], ((1, 2), [3, 4])),
    *(["a"], [None], [1, "a"], [pa.asarray(1.0), 2], [[1.0], pa.asarray([2.0])]),
]
DTYPES = [
    *(None, pa.bool, pa.int8, pa.uint64, pa.int4, pa.float16, pa.bfloat16, pa.float32),
    *(pa.float8_e4m3fn, pa.complex64, pa.string),
]
POLICIES = [name for name in pa.list_policies() if not name.startswith("onnx@")]


@pytest.mark.parametrize(
    "lists",
    [
        pytest.param(LISTS[::-1], id="long first"),
        pytest.param(LISTS, id="short first", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("policy", POLICIES)
def test_lists_are_made_again_as_at_first(policy: str, lists: list[Any]) -> None:
    with pa.policy(as_policy(policy).derive("that has kept nothing")):
        for at, dtype in enumerate(DTYPES):
            # The policies take turns: of lists of one type what is kept goes by the dtype alone.
            some = turns(lists, 3, at + POLICIES.index(policy))
            for data in [*some, *reversed(some)]:
                made = outcome(lambda: pa.asarray(data, dtype=dtype))  # noqa: B023
                wanted = outcome(lambda: long_way.asarray(data, dtype=dtype))  # noqa: B023
                assert made == wanted, (data, dtype)


def test_a_bound_namespace_makes_its_own() -> None:
    xp = pa.namespace("torch")
    for _ in range(2):
        assert type(xp.asarray([1.0])) is type(xp.ones(1))
        assert xp.asarray([1.0]).dtype is pa.float32
        assert pa.asarray([1.0]).dtype is pa.float64


def test_nothing_of_ours_is_called_for_floats() -> None:
    called: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "promoarray" in frame.f_code.co_filename:
            called.append(frame.f_code.co_name)

    pa.asarray([[0.5]])
    data = [[1.5, 2.5], (3.5, 4.5)]
    sys.setprofile(note)
    try:
        made = pa.asarray(data)
    finally:
        sys.setprofile(None)
    assert [name for name in called if not name.startswith("test_")] == []
    assert made._buffer.tolist() == [[1.5, 2.5], [3.5, 4.5]]


def test_what_is_made_is_its_own_memory() -> None:
    data = [1.0, 2.0]
    first, second = pa.asarray(data), pa.asarray(data)
    first[0] = 3.0
    assert second._buffer.tolist() == [1.0, 2.0]


def test_observers_hear_of_defaults() -> None:
    pa.asarray([1.0])
    with pa.shadow("numpy", "torch") as report:
        pa.asarray([1.0])
    assert report.divergences or report.to_dict()
