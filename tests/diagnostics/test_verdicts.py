"""A verdict is remembered only for operations that every policy answers alike."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.diagnostics.ask import observer
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.operations import Form
from promoarray.policies import Operand, Rank, Refusal, as_policy, list_policies
from promoarray.promotion.scalars import bounds, largest

NEAR = (-1.5, -1, -0.5, 0, 0.25, 1, 2)


@cache
def numbers() -> list[Any]:
    """Python numbers on both sides of every border at which one ceases to fit a dtype."""
    borders: set[Any] = {0, 1, 2, 3, 7, 15, 16, 17, 40, 200, 300, 65000}
    borders |= {2**31 - 64, 2**63 - 2**38 - 512, 2**63 - 512, 10**30, 2**2000}
    for dtype in dt.CONCRETE:
        if dtype.kind in dt.INTEGERS:
            borders |= {*map(abs, bounds(dtype))}
        elif dtype.kind is dt.Kind.FLOAT and dtype.format:
            borders.add(largest(dtype))
    found: list[Any] = [True, False, 1j, 2 + 0j, complex("nan"), 300j, 0.5, 1e-30, 3.3]
    for border in borders:
        for near in NEAR:
            whole = int(border) + int(near)
            found += [whole, -whole]
            if border < 1e308:
                found += [float(border) + near, float(border) * (1 + near * 2**-12), -float(border)]
    found += [float("nan"), float("inf"), float("-inf"), -0.0]
    return [*{(type(number), repr(number)): number for number in found}.values()]


POLICIES = [
    name if name in observer.DEFAULT else pytest.param(name, marks=pytest.mark.slow)
    for name in list_policies()
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["add", "pow", "less", "where"])
def test_numbers_of_one_magnitude_have_one_answer(policy: str, name: str) -> None:
    asked = as_policy(policy)
    classes = defaultdict(set)
    for value in numbers():
        given = value if asked.by_value is not None else None
        scalar = Operand(dt.WEAK[type(value)], Rank.SCALAR, given)
        for dtype in (dt.bool, dt.int8, dt.uint8, dt.int64, dt.float16, dt.float32, dt.complex64):
            if dtype not in asked.dtypes:
                continue
            operands = Operand(dtype), scalar
            decided = asked.decide(name, operands, (None, value), Form.OPERATOR)
            refused = isinstance(decided, Refusal)
            said = type(decided.error) if refused else decided.plan.result
            classes[dtype, scalar_class(value)].add((refused, said))
    different = {key: answers for key, answers in classes.items() if len(answers) > 1}
    assert not different


STEPS = (
    lambda x, y, n: x + y,
    lambda x, y, n: x * n,
    lambda x, y, n: pa.where(y > 0, x, n),
)


def program() -> None:
    """Pass the same lines with arrays and numbers of which some are refused."""
    dtypes = pa.int8, pa.float32, pa.uint8, pa.float16
    arrays = [pa.asarray(np.arange(3), dtype=dtype) for dtype in dtypes]
    given = *arrays, *(array[0] for array in arrays)
    for n in (1, 2, 3, 1000, 70000, 1.5, 1e300, -1, -200, True, 10**30):
        for x, y, step in product(given, arrays, STEPS):
            try:
                made = step(x, y, n)
                pa.sum(made) + pa.mean(x)
                made += y
            except (TypeError, OverflowError, ValueError):
                continue


@pytest.mark.slow
def test_what_is_remembered_is_what_would_be_answered_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pa.set_policy("numpy")
    with np.errstate(all="ignore"):
        with pa.shadow() as remembered:
            program()
        monkeypatch.setattr(observer, "key_of", lambda *_: object())
        monkeypatch.setattr(observer.ShadowObserver, "_repeat", lambda *_: None)
        with pa.shadow() as asked_again:
            program()
    assert remembered.operations == asked_again.operations > 1000
    assert remembered.to_dict() == asked_again.to_dict()


def test_verdicts_and_places_do_not_grow_with_repetitions() -> None:
    x = pa.asarray([1, 2, 3], dtype=pa.int8)
    with pa.shadow() as report:
        for n in range(20_000):
            x + 0.01 * n
    (place,) = report.divergences
    assert place.count == 20_000


def unlike_places(count: int) -> None:
    """Pass as many places at which the policies differ, each of a file of its own."""
    x, y = pa.asarray([1, 2], dtype=pa.int32), pa.asarray([1.0], dtype=pa.float32)
    for n in range(count):
        exec(compile("x + y", f"place-{n}.py", "eval"), {"x": x, "y": y})


def test_places_beyond_the_limit_are_left_out_and_the_report_says_so() -> None:
    with pa.shadow("torch", max_sites=7) as report:
        unlike_places(20)
    assert (len(report.divergences), report.operations) == (7, 20)
    assert report.max_sites_reached
    assert "Places beyond the limit of 7 are left out" in " ".join(str(report).split())
    assert report.to_dict()["max_sites_reached"] is True


def test_a_report_that_has_all_places_says_nothing_of_the_limit() -> None:
    with pa.shadow("torch", max_sites=20) as report:
        unlike_places(20)
    assert len(report.divergences) == 20
    assert not report.max_sites_reached
    assert "limit" not in str(report)
    assert (report.to_dict()["max_sites"], report.to_dict()["max_sites_reached"]) == (20, False)


def test_the_limit_is_one_for_places_of_every_sort() -> None:
    x = pa.asarray([300.0, 1.0])
    with pa.shadow("torch", "jax", max_sites=3) as report:
        unlike_places(2)
        for n in range(3):
            exec(compile("pa.astype(x, pa.uint8)", f"cast-{n}.py", "eval"), {"x": x, "pa": pa})
            exec(compile("np.asarray(x)", f"escape-{n}.py", "eval"), {"x": x, "np": np})
    assert (len(report.divergences), len(report.value_changes), len(report.escapes)) == (2, 1, 0)
    assert report.places == 3
    assert report.max_sites_reached


def test_reports_of_processes_are_merged_up_to_the_limit() -> None:
    with pa.shadow("torch", max_sites=6) as report:
        unlike_places(4)
    with pa.shadow("torch") as other:
        unlike_places(8)
    report.merge(other)
    assert (len(report.divergences), report.operations) == (6, 12)
    assert [d.count for d in report.divergences] == [2] * 4 + [1] * 2
    assert report.max_sites_reached


@pytest.mark.parametrize("limit", [0, -1, 2.0, "5", True, None])
def test_a_limit_is_a_number_of_places(limit: Any) -> None:
    with (
        pytest.raises(ValueError, match="max_sites is an int from 1 on"),
        pa.shadow(max_sites=limit),
    ):
        pass


def test_a_weakly_typed_array_differs_by_its_default_only_where_it_is_made() -> None:
    with pa.policy("jax@x32"), pa.shadow("jax@x64", "numpy@2") as report:
        times = pa.asarray([1, 2], dtype=pa.int32) * 0.5
        3 * pa.sin(times) + 1
    found = {d.site.expression: d.answers for d in report.divergences}
    assert {
        name: [str(answers[policy].origin) for policy in ("jax@x64", "numpy@2")]
        for name, answers in found.items()
    } == {
        "pa.asarray([1, 2], dtype=pa.int32) * 0.5": ["root", "root"],
        "pa.sin(times)": ["inherits", "inherits"],
        "3 * pa.sin(times)": ["inherits", "inherits"],
        "3 * pa.sin(times) + 1": ["inherits", "inherits"],
    }
