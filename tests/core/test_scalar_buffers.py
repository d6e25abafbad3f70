"""Python scalars as 0-d buffers: the bits that the policy's cast gives, each time, read-only."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from sampled import sampled

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.cast import held
from promoarray.core.executable import as_buffer
from promoarray.core.operands import in_compiled_code, scalar_buffer
from promoarray.dtypes import CONCRETE, INEXACT, INTEGERS, DType, Kind
from promoarray.kernels import DEFAULT, ScalarCaster, dtype_args
from promoarray.policies import as_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import Fit, bounds, largest

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
    made = partial(scalar_buffer, cast)
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
    made = partial(scalar_buffer, as_policy("numpy").cast)
    for _ in range(2):
        with pytest.raises(OverflowError, match="nor any float"):
            made(10**400, pa.float32)
    x = pa.asarray([1.0], dtype=pa.float32)
    for _ in range(3):
        with pytest.raises(OverflowError, match="nor any float"):
            x + 10**400
        assert (x + 1).tolist() == [2.0]


def entering(policy: Policy, dtype: DType, fit: Fit) -> tuple[Any, Any]:
    """How a scalar enters by a rule: in compiled code where that may, and by asking it."""
    asked = partial(as_buffer, policy.cast, fit, dtype)
    return in_compiled_code(policy, fit, dtype, asked), asked


def assigning(policy: Policy, dtype: DType) -> tuple[Any, Any]:
    """The same of a number that is assigned."""
    fit = policy.assigning
    asked = partial(as_buffer, policy.cast, fit, dtype)
    return in_compiled_code(policy, fit, dtype, asked), asked


def rules(policy: Policy) -> set[Fit]:
    """The rules for scalars that meet arrays, those of a ``clip`` apart."""
    scalars = policy.scalars
    lone = scalars.fit, scalars.fit_compared, scalars.fit_alone, scalars.fit_exponent
    return {rule for rule in (*lone, *scalars.fit_family.values()) if rule is not None}


def is_refused_by_type(fit: Fit, number: Any, dtype: DType) -> bool:
    """Whether a rule takes no such number, whatever its value."""
    try:
        fit(number, dtype)
    except TypeError:
        return True
    except (OverflowError, ValueError):
        return False
    return False


BESIDE = (-1e-12, 1e-12, 0.5, 0.999, 1 - 1e-12)
"""What float32 rounds away, and fractions, beside the ends of integers."""


@pytest.mark.parametrize("name", pa.list_policies())
def test_what_compiled_code_takes_is_what_the_rule_says(name: str) -> None:
    policy, wrong = as_policy(name), []
    edges = [n + more for n in (2**24, 2**31, 2**53, 2**63, 2**64) for more in (-1, 0, 1)]
    floats = [dtype for dtype in policy.dtypes if dtype in CONCRETE and dtype.kind in INEXACT]
    for end in {largest(dtype.part) for dtype in floats}:
        edges += [math.nextafter(end, to) for to in (0, end, math.inf)]
    numbers = [*FLOATS, 0.1, 1 / 3, 1e-300, *edges, *[-n for n in edges], *range(-260, 260)]
    numbers += [s * (end + off) for end in (1, 3, 127, 255) for off in BESIDE for s in (1, -1)]
    policies = pa.list_policies()
    for at, dtype in enumerate(policy.dtypes):
        if dtype not in CONCRETE:
            continue
        # Policies share rules and dtypes, and take turns with the numbers.
        some = sampled(numbers, 10, at + policies.index(name))
        ways = {fit: entering(policy, dtype, fit) for fit in rules(policy)}
        ways[policy.assigning] = assigning(policy, dtype)
        for fit, (compiled, asked) in ways.items():
            for number in [*some, True, 1j]:
                if fit is policy.assigning and is_refused_by_type(fit, number, dtype):
                    continue  # of which no executable is kept
                found, expected = compiled(number), asked(number)
                bits = [made if made is None else made.tobytes() for made in (found, expected)]
                if bits[0] != bits[1]:
                    wrong.append((dtype, fit, number, found, expected))
    assert wrong == []


def test_the_numbers_of_programs_are_taken_by_compiled_code() -> None:
    def never(number: Any) -> Any:
        raise AssertionError(number)

    for each in pa.list_policies():
        policy = as_policy(each)
        of_names = [policy.scalars.rule(name, 1, dt.float32) for name in ("add", "pow", "where")]
        for fit in (*of_names, policy.assigning):
            made = in_compiled_code(policy, fit, dt.float32, never)
            assert made(0.5) == 0.5
            assert made(3) == 3
            if policy.cast.plan(dt.float64, dt.int32).transforms:  # which are in Python
                continue
            made = in_compiled_code(policy, fit, dt.int32, never)
            assert made(7.5) == 7


def test_a_buffer_that_somebody_has_keeps_its_number() -> None:
    policy = as_policy("numpy")
    made, _ = entering(policy, dt.float64, policy.scalars.fit)
    buffers = [made(float(n)) for n in range(10)]
    views = [made(float(n))[...] for n in range(10)]
    exported = [memoryview(made(float(n))) for n in range(10)]
    assert [float(x) for x in buffers] == list(range(10))
    assert [float(x) for x in views] == list(range(10))
    assert [x.tolist() for x in exported] == list(range(10))
    assert not made(0.5).flags.writeable


def test_zeros_and_nans_are_told_apart_by_all_their_bits() -> None:
    zero, one = pa.asarray([0.0], dtype=pa.float32), pa.ones(1)
    signs = [float(pa.copysign(one, zero * sign)[0]) for sign in (0.0, -0.0, 0.0)]
    assert signs == [1.0, -1.0, 1.0]
    numbers = [float((zero + number)[0]) for number in (math.nan, 0, 0.0, math.nan)]
    assert [math.isnan(number) for number in numbers] == [True, False, False, True]


@pytest.mark.parametrize("row", [(1, 2), None, (3, 32, 8, 23, 127, 0, -1, -1, True, True)])
def test_a_caster_refuses_rows_that_are_none_of_float64(row: Any) -> None:
    target = dtype_args(dt.float32)
    given = row, target, DEFAULT, 0, 0, 64, math.inf, dt.float32.storage, np.empty, abs
    with pytest.raises((TypeError, ValueError)):
        ScalarCaster(*given)


def test_a_caster_refuses_storage_of_another_size_and_other_calls() -> None:
    rows = dtype_args(dt.float64), dtype_args(dt.float32)
    made = ScalarCaster(*rows, DEFAULT, 0, 0, 64, math.inf, dt.float64.storage, abs)
    with pytest.raises(TypeError, match="storage"):
        made(1.0)
    assert made(-5) == 5  # which is not between 0 and 0
    with pytest.raises(TypeError, match="one number"):
        made(1.0, 2.0)
