"""The sorts of values that NumPy 1 tells apart, by which executables are found for its policy."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np
import pytest
from operator_table import FORWARD
from outcomes import outcome
from sampled import sampled

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import executable, operators
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import Operand, Rank, Refusal, as_policy
from promoarray.policies.numpy.numpy_1 import SEARCHED
from promoarray.policies.numpy.numpy_2 import AS_ARRAYS
from promoarray.promotion.scalars import bounds

NUMPY_1 = as_policy("numpy@1")
INTS = sorted(
    {
        sign * 2**bits + more
        for bits in (0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 100)
        for sign in (1, -1)
        for more in (-2, -1, 0, 1, 2)
    }
)
AROUND = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 127.0, 65000.0, 65504.0, 3.4e38, 3.5e38, 1e300)
FLOATS = [
    sign * end
    for value in (*AROUND, 1.7976931348623157e308, math.inf)
    for end in (math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf))
    for sign in (1, -1)
] + [math.nan]
COMPLEX = [complex(x, y) for x, y in product((0.0, 1.0, 2.0, -3.4e38, 3.5e38, math.nan), repeat=2)]


def values_of(dtype: DType) -> list[Any]:
    """Values of a dtype, on either side of whatever a policy may ask of them."""
    if dtype.kind is Kind.BOOL:
        return [False, True]
    if dtype.kind is Kind.COMPLEX:
        return COMPLEX
    if dtype.kind is Kind.FLOAT:
        with np.errstate(over="ignore"):
            return FLOATS if dtype.weak else np.asarray(FLOATS, dtype.storage).tolist()
    low, high = (-(2**200), 2**200) if dtype.weak else bounds(dtype)
    return [value for value in INTS if low <= value <= high]


def alike(name: str) -> Any:
    return name == "pow", name in AS_ARRAYS, SEARCHED.get(OPERATIONS[name].family)


NAMES = [*{alike(name): name for name, row in OPERATIONS.items() if row.arity == 2}.values()]
"""An operation of each of those that it asks the same of."""


def answer(name: str, form: Form, *operands: Operand) -> Any:
    plan = NUMPY_1.plan(name, operands, form)
    return plan.reason if isinstance(plan, Refusal) else plan


@pytest.mark.parametrize("dtype", [*WEAK.values(), *NUMPY_1.dtypes], ids=str)
def test_values_of_a_sort_have_one_plan(dtype: DType) -> None:
    sort = executable.value_class(NUMPY_1)
    assert sort is not None
    sorts, wrong = defaultdict(list), []
    for value in values_of(dtype):
        sorts[sort(value)].append(value)
    rank = Rank.SCALAR if dtype.weak else Rank.ZERO_D
    others = [Operand(d, r, 1 if r is Rank.ZERO_D else None) for d in NUMPY_1.dtypes for r in Rank]
    others = [other for other in others if other.rank is not Rank.SCALAR]
    every = product(NAMES, (Form.OPERATOR, Form.FUNCTION), others)
    # The dtypes take turns: a rule goes by kinds, of which several dtypes are.
    for name, form, other in sampled(every, 4, [*WEAK.values(), *NUMPY_1.dtypes].index(dtype)):
        for values in sorts.values():
            those = [Operand(dtype, rank, value) for value in values]
            for pairs in ([(x, other) for x in those], [(other, x) for x in those]):
                first, *rest = [answer(name, form, *pair) for pair in pairs]
                wrong += [(name, form, other, values) for each in rest if each != first]
    assert wrong == []


BETWEEN = (-math.inf, -1.0, 0.0, 1.0, 2.0**53, 2.0**53 + 2, 2.0**63, 2.0**64, 1e300, math.inf)


@pytest.mark.parametrize("borders", [BETWEEN, NUMPY_1.by_value.borders, ()], ids=len)  # type: ignore[union-attr]
def test_a_value_lies_where_python_would_find_it(borders: tuple[float, ...]) -> None:
    """Exactly: ints beyond 2**53 are no doubles, beyond 10**308 nothing near one."""
    sort = executable.between(borders)
    ends = [sign * (10**400 + more) for sign in (1, -1) for more in (0, 1)]
    near = [int(border) + more for border in borders if math.isfinite(border) for more in (-1, 1)]
    for value in (*INTS, *ends, *near, *FLOATS, *borders, True, False):
        assert sort(value) == bisect_right(borders, value)
    places: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for value in COMPLEX:
        parts = bisect_right(borders, value.real), bisect_right(borders, value.imag)
        places[sort(value)].add(parts)
    assert all(len(parts) == 1 for parts in places.values())
    assert len(places) == len(set().union(*places.values()))


@pytest.mark.parametrize("dtype", [pa.bool, pa.uint8, pa.int64, pa.float32, pa.complex64], ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_value_is_computed_with_as_under_a_policy_that_knows_nothing(dtype: DType) -> None:
    """Fresh values, and then all of them once more: each as the long way has it."""
    known, wrong = NUMPY_1.derive(NUMPY_1.name), []
    x = pa.asarray([1, 0], dtype=dtype)
    scalars = [*INTS, *FLOATS, *COMPLEX, True, False]
    zero_ds = [pa.asarray(value) for value in scalars if -(2**63) <= abs(value) < 2**63]
    for turn, name in enumerate(("add", "pow", "less", "bitwise_and")):
        expected, again = [], []
        values = sampled((*scalars, *zero_ds), 2, turn)
        for value in values:
            with pa.policy(NUMPY_1.derive(NUMPY_1.name)):
                expected.append(outcome(lambda: FORWARD[name](x, value)))  # noqa: B023
        for _ in range(2):
            with pa.policy(known):
                again += [outcome(lambda: FORWARD[name](x, y)) for y in values]  # noqa: B023
        wrong += [(name, a, b) for a, b in zip(expected * 2, again, strict=True) if a != b]
    assert wrong == []


@pytest.mark.parametrize("dtype", NUMPY_1.dtypes, ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_value_without_axes_is_told_apart_as_python_tells_it(
    dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code reads it in each dtype's own width, and finds what the long way has kept."""
    values, known = values_of(dtype), NUMPY_1.derive(NUMPY_1.name)
    flat = [pa.asarray(value, dtype=dtype) for value in values]
    x = pa.asarray([1], dtype=pa.int8)
    expected = []
    for y in flat:
        with pa.policy(NUMPY_1.derive(NUMPY_1.name)):
            expected.append(outcome(lambda: x + y))  # noqa: B023
        with pa.policy(known):
            outcome(lambda: x + y)  # noqa: B023
    monkeypatch.setattr(operators, "apply", None)
    with pa.policy(known):
        again = [outcome(lambda: x + y) for y in flat]  # noqa: B023
    different = [v for v, a, b in zip(values, expected, again, strict=True) if a != b]
    assert different == []


def test_policies_that_do_not_say_tell_all_values_apart() -> None:
    def by_value(_: Any, name: str, operands: tuple[Operand, ...], form: Form) -> Any:
        values = {o.value for o in operands}
        return tuple(Operand(dt.int32 if 7 in values else dt.int64) for _ in operands)

    x = pa.asarray([1], dtype=pa.int64)
    with pa.policy(as_policy("numpy@2").derive("mine", by_value=by_value)):
        for _ in range(2):
            assert [(x + n).dtype for n in (6, 7, 8)] == [pa.int64, pa.int32, pa.int64]
            assert [(x + pa.asarray(n)).dtype for n in (7, 8)] == [pa.int32, pa.int64]


def test_powers_of_bools_are_known_whatever_a_flat_base_holds() -> None:
    with pa.policy(as_policy("numpy@2").derive("mine")):
        for _ in range(2):
            for base, exponent in product((True, False), (0, 1, 2, 3)):
                made = pa.asarray(base) ** exponent
                assert made.dtype is (pa.int8 if exponent == 2 else pa.int64)
                assert int(made) == base**exponent
