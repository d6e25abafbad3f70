"""A policy is a frozen record: copies share nothing that the original has decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

import promoarray as pa
from promoarray.policies import Operand, Plan, Policy, as_policy


def product_of(policy: Policy, a: pa.DType, b: pa.DType) -> pa.DType:
    plan = policy.plan("multiply", (Operand(a), Operand(b)))
    assert isinstance(plan, Plan)
    return plan.result


def test_a_replaced_policy_decides_by_its_own_rule_and_leaves_the_original_alone() -> None:
    numpy = as_policy("numpy")
    ours = product_of(numpy, pa.int64, pa.float32)
    copied = replace(numpy, promote=as_policy("torch").promote)
    assert ours is pa.float64
    assert product_of(copied, pa.int64, pa.float32) is pa.float32
    assert product_of(copied, pa.int16, pa.float16) is pa.float16
    assert product_of(numpy, pa.int16, pa.float16) is pa.float32  # which the copy was asked first


def test_a_replaced_policy_runs_no_executable_of_the_original() -> None:
    x, y = pa.asarray([1]), pa.asarray([1.5], dtype=pa.float32)
    numpy = as_policy("numpy")
    copied = replace(numpy, promote=as_policy("torch").promote)
    for _ in range(2):
        with pa.policy(numpy):
            assert (x + y).dtype is pa.float64
        with pa.policy(copied):
            assert (x + y).dtype is pa.float32


def test_a_replaced_cast_rule_shares_no_plans() -> None:
    numpy = as_policy("numpy").cast
    numpy.plan(pa.float32, pa.float8_e4m3fn)
    torch = as_policy("torch").cast
    copied = replace(numpy, mode=torch.mode, cases=torch.cases)
    assert copied.plan(pa.float32, pa.float8_e4m3fn) == torch.plan(pa.float32, pa.float8_e4m3fn)


@pytest.mark.parametrize("field", ["plans", "executables"])
def test_what_was_decided_is_no_argument(field: str) -> None:
    with pytest.raises((TypeError, ValueError), match=field):
        replace(as_policy("numpy"), **{field: {}})


def test_a_negative_float_as_exponent_of_integers_is_refused_in_words() -> None:
    x = pa.asarray([2], dtype=pa.uint32)
    with pa.policy("tensorflow"), pytest.raises((TypeError, ValueError)):
        x**-2.5
    with pa.policy("paddle@3.3"), pytest.raises(ValueError, match=r"to the power -2\.5"):
        x**-2.5
