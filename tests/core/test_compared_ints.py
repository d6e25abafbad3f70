"""Integers compared with Python ints that no value of their dtype reaches: exactly, and by the fast
path, as loops over data compare with 300 and -1 again and again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from operator_table import FORWARD
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray.core import dispatch, operators
from promoarray.dtypes import CONCRETE, INTEGERS, DType
from promoarray.policies import as_policy
from promoarray.promotion.scalars import bounds

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
INTEGER_DTYPES = [dtype for dtype in CONCRETE if dtype.kind in INTEGERS]


def ints(dtype: DType) -> list[int]:
    """Both ends of a dtype, what lies just within and just beyond, and what lies far out."""
    low, high = bounds(dtype)
    return [low - 1, low, low + 1, high - 1, high, high + 1, 2**63, 2**64, -(2**70), 10**400]


def ways(name: str, x: Any, value: int) -> list[Callable[[], Any]]:
    """As operators and functions, the number on either side."""
    return [
        lambda: FORWARD[name](x, value),
        lambda: FORWARD[name](value, x),
        lambda: getattr(pa, name)(x, value),
        lambda: getattr(pa, name)(value, x),
    ]


@pytest.mark.parametrize("count", [2, 5000])
@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_comparisons_are_exact_each_time(dtype: DType, count: int) -> None:
    low, high = bounds(dtype)
    x = pa.asarray(np.resize(np.asarray([low, high], dtype.storage), count))
    wrong = []
    for name, value in product(COMPARISONS, ints(dtype)):
        for left, run in enumerate(ways(name, x, value)):
            two = [FORWARD[name](*((value, v) if left % 2 else (v, value))) for v in (low, high)]
            expected = [*two * (count // 2)]
            wrong += [(name, value, left) for _ in range(3) if run().tolist() != expected]
    assert wrong == []


@pytest.mark.parametrize("family", ["numpy@2", "numpy@1", "mindspore", "torch", "jax"])
def test_each_time_is_as_the_first_under_a_policy_that_knows_nothing(family: str) -> None:
    policy, wrong = as_policy(family), []
    # Each dtype takes turns with the comparisons, of which all have one rule.
    for dtype, name in turns(product(INTEGER_DTYPES, COMPARISONS), 2, len(family)):
        if dtype not in policy.dtypes:
            continue
        x = pa.asarray([0, 1], dtype=dtype)
        for value, at in product(ints(dtype), range(4)):
            with pa.policy(policy.derive(policy.name)):
                expected = outcome(ways(name, x, value)[at])
            with pa.policy(policy):
                again = [outcome(ways(name, x, value)[at]) for _ in range(2)]
            wrong += [(dtype, name, value, at)] if again != [expected, expected] else []
    assert wrong == []


@pytest.mark.parametrize("policy", ["numpy@2", "numpy@1", "mindspore"])
def test_the_second_int_beyond_takes_no_long_way(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = as_policy(policy)
    far = 10**30 if policy == "numpy@1" else 2**40
    for dtype in {pa.int2, pa.uint8, pa.int32, pa.int64} & {*rule.dtypes}:
        x = pa.asarray([0, 1], dtype=dtype)
        with pa.policy(rule.derive("mine")), monkeypatch.context() as patched:
            assert [(x < far).tolist(), (x < 1).tolist()] == [[True, True], [True, False]]
            patched.setattr(operators, "apply", None)
            assert [(x < far).tolist(), (x < 1).tolist()] == [[True, True], [True, False]]
            if policy == "numpy@2":
                assert (x < -far).tolist() == (-far > x).tolist() == [False, False]


@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2"])
def test_a_number_beside_one_that_is_beyond_keeps_its_value(policy: str) -> None:
    far = 2**70
    with pa.policy(as_policy(policy).derive("mine")):
        for _ in range(2):
            assert [bool(f(far, 3)) for f in (pa.equal, pa.less, pa.greater)] == [
                False,
                False,
                True,
            ]
            assert [bool(f(3, far)) for f in (pa.equal, pa.less, pa.greater)] == [
                False,
                True,
                False,
            ]
            assert bool(pa.less(-far, 3))
            assert not pa.less(3, -far)


def test_what_is_found_by_the_dispatcher_goes_on_with_the_infinity() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    with pa.policy(as_policy("numpy@2").derive("mine")):
        for value, expected in [(300, True), (2, True), (-1, False), (300, True)]:
            z = dispatch.apply("less", x[:1], value)
            assert z.tolist() == [expected]


def test_observers_hear_the_number_and_the_plan_each_time() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    heard = []
    with pa.policy("numpy"):
        for _ in range(2):
            with pa.trace() as told:
                assert (x < 300).tolist() == [True, True]
            heard.append(str(told))
        assert (x < 300).tolist() == [True, True]
    assert heard[0] == heard[1]
