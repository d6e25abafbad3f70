"""Many arrays joined: the fast path answers as the long way, however many there are."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import dispatch
from promoarray.dtypes import CONCRETE

POLICIES = ["numpy", "numpy@1", "torch", "jax", "array_api"]
AXES = [0, 1, -1, None, 5, "0", True]
NAMES = ["concat", "stack"]


def as_the_long_way(calls: list[Callable[[], Any]]) -> None:
    """What observers hear of goes the long way each time."""
    with pa.trace():
        wanted = [outcome(call) for call in calls]
    for _ in range(2):
        assert [outcome(call) for call in calls] == wanted


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_one_dtype(policy: str, name: str) -> None:
    join = getattr(pa, name)
    values = np.asarray([[0, 1], [2, 3]])
    with pa.policy(policy):
        # The policies take turns with the dtypes, and each with both functions.
        for dtype in turns(CONCRETE, 3, POLICIES.index(policy)):
            x = pa.asarray(values).astype(dtype) if dtype is not dt.string else None
            if x is None:
                continue
            parts = [x, x[:1], x[::-1].T, x, x[1:], x, x, x, x]
            for given in (parts[:count] for count in (3, 4, 9)):
                whole = [x] * len(given)
                calls = [partial(join, whole, axis=axis) for axis in AXES]
                as_the_long_way([*calls, partial(join, given), partial(join, (*whole,))])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_several(policy: str, name: str) -> None:
    join = getattr(pa, name)
    some = [dt.bool, dt.int8, dt.uint8, dt.int64, dt.bfloat16, dt.float32, dt.complex64]
    with pa.policy(policy):
        for one, other in turns(product(some, some), 2, POLICIES.index(policy)):
            x, y = (pa.asarray(np.asarray([1, 0])).astype(dtype) for dtype in (one, other))
            lists = [[x, x, x, y], [y, x, x, x, x], [x[0], x[0], x[0], y[0]], [x, x, x, 1, y]]
            lists += [[x, x, x, np.ones(2)], [x, x, x, y[0]], [x[0], y[0], x[0], 2]]
            as_the_long_way([partial(join, each) for each in lists])


def test_subclasses_namespaces_and_weakly_typed_arrays() -> None:
    class Mine(pa.PArray):
        pass

    x = pa.asarray([1.0, 2.0])
    mine = Mine._wrap(np.ones(2), dt.float64)
    bound = pa.namespace("torch").asarray([1.0, 2.0])
    weak = pa.PArray([1.5], weak_type=True)
    for join in (pa.concat, pa.stack, pa.namespace("torch").concat):
        lists = [[mine] * 4, [x, x, x, mine], [mine, x, x, x], [bound] * 4, [x, bound, bound, x]]
        as_the_long_way([partial(join, each) for each in lists])
    with pa.policy("jax"):
        as_the_long_way([partial(pa.concat, [weak] * 4), partial(pa.concat, [weak, weak, weak, x])])
        assert pa.concat([weak] * 4).weak_type
    y = pa.asarray([1], dtype=pa.int8)
    with pa.policy("torch"):
        z = pa.concat([y, y, y, x.astype(pa.float16)])
    assert (z.dtype, pa.concat([y, y, y, x.astype(pa.float16)]).dtype) == (dt.float16, dt.float16)


def test_the_second_call_is_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, apply = [], dispatch.apply

    def counted(name: str, *operands: Any, **options: Any) -> Any:
        taken.append(name)
        return apply(name, *operands, **options)

    x, y = pa.asarray([1.0, 2.0]), pa.asarray([1, 2], dtype=pa.int8)
    lists = [[x] * count for count in (3, 4, 5, 40)] + [[x, y, x, y, y]]
    for name, policy in product(NAMES, ("numpy", "torch", "jax", "numpy@1")):
        with pa.policy(policy):
            for each in lists:
                getattr(pa, name)(each)
    monkeypatch.setattr(dispatch, "apply", counted)
    for name, policy in product(NAMES, ("numpy", "torch", "jax", "numpy@1")):
        with pa.policy(policy):
            for each in lists:
                getattr(pa, name)(each, axis=-1)
    assert taken == []


def test_nothing_is_leaked() -> None:
    x, y = pa.asarray([1.0, 2.0]), pa.asarray([1.0])
    same, unlike = [x] * 6, [x, x, x, x[None], y]
    watched = [x, x._buffer, y, x._type, same, unlike, pa.get_policy(), pa.PArray]

    def work(times: int) -> None:
        for _ in range(times):
            pa.concat(same), pa.stack((*same,))
            for wrong in (partial(pa.concat, unlike), partial(pa.concat, same, axis=7)):
                assert issubclass(outcome(wrong)[0], ValueError)

    work(20)
    gc.collect()
    counts = [sys.getrefcount(each) for each in watched]
    work(500)
    gc.collect()
    grown = [sys.getrefcount(e) - count for e, count in zip(watched, counts, strict=True)]
    assert all(abs(each) < 50 for each in grown), grown
