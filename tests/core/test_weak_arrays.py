"""Weakly typed arrays take the fast path as others do, known by what they are stored in."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from outcomes import outcome

import promoarray as pa
from promoarray.policies import as_policy

POLICIES = ["jax@x64", "jax@x32", "numpy@1", "torch", "tensorflow"]

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "x + y": operator.add,
    "y - x": lambda x, y: y - x,
    "x * 2": lambda x, _: x * 2,
    "1.5 / x": lambda x, _: 1.5 / x,
    "x ** 2": lambda x, _: x**2,
    "x < y": operator.lt,
    "-x": lambda x, _: -x,
    "x += y": lambda x, y: operator.iadd(x.copy(), y),
    "exp": lambda x, _: pa.exp(x),
    "atan2": lambda x, y: pa.atan2(x, y),
    "sum": lambda x, _: pa.sum(x),
    "max": lambda x, _: pa.max(x),
    "where": lambda x, y: pa.where(pa.asarray(True), x, y),
    "clip": lambda x, _: pa.clip(x, 0, 1),
    "stack": lambda x, y: pa.stack([x, y]),
    "sort": lambda x, _: pa.sort(pa.reshape(x, (1,))),
    "astype": lambda x, _: x.astype(pa.float32),
    "reshape": lambda x, _: x.reshape(1, 1),
    "x[...]": lambda x, _: x[...],
    "expand_dims": lambda x, _: pa.expand_dims(x, axis=0),
    "meshgrid": lambda x, y: pa.meshgrid(x, y),
    "zeros_like": lambda x, _: pa.zeros_like(x),
    "full_like": lambda x, _: pa.full_like(x, 1),
    "ones_like of int8": lambda x, _: pa.ones_like(x, dtype=pa.int8),
}


def stored_both_ways(value: complex) -> Iterator[Any]:
    for name in ("jax@x64", "jax@x32"):
        with pa.policy(name):
            yield pa.asarray(value)


def pairs() -> Iterator[tuple[Any, Any]]:
    weak = [x for value in (2.7, -3) for x in stored_both_ways(value)]
    strong = [pa.asarray(np.array(1.5, np.float32)), pa.asarray(np.array([1, 2], np.int8))]
    yield from product(weak, [*weak, *strong])
    yield from product(strong, weak)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_kept_answers_as_what_was_decided(policy: str, form: str) -> None:
    run, kept = FORMS[form], as_policy(policy).derive("met before")
    with pa.policy(kept):
        for x, y in pairs():
            outcome(run, x, y)
    for x, y in pairs():
        with pa.policy(as_policy(policy).derive("met before")):
            decided = outcome(run, x, y)
        with pa.policy(kept):
            assert outcome(run, x, y) == decided


LONG_WAYS = {"apply", "astype", "_like", "fast_move.<locals>.slow", "reshape", "getitem"}
REBINDS = ["x += y"]  # its slow way finds what is kept, as names are bound to new arrays


@pytest.mark.parametrize("form", [form for form in FORMS if form not in REBINDS])
@pytest.mark.parametrize("pair", [(2.7, 2.5), (3, 2)], ids=["floats", "ints"])
def test_the_third_call_runs_nothing_of_the_dispatcher(form: str, pair: tuple[Any, Any]) -> None:
    run, frames = FORMS[form], set()

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            frames.add(frame.f_code.co_qualname)

    with pa.policy(as_policy("jax").derive("mine")):
        x, y = (pa.asarray(value) for value in pair)
        assert x.weak_type
        run(x, y), run(x, y)
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            run(x, y)
        finally:
            sys.setprofile(before)
    assert not frames & LONG_WAYS


def test_one_weak_type_is_stored_in_several_dtypes() -> None:
    wide, narrow = stored_both_ways(0.1)
    assert (wide.dtype, narrow.dtype) == (pa.float64, pa.float32)
    with pa.policy(as_policy("jax").derive("mine")):
        for _ in range(3):
            for x in (wide, narrow):
                assert pa.zeros_like(x).weak_type
                assert pa.reshape(x, (1,)).dtype is pa.flip(pa.reshape(x, (1,))).dtype is x.dtype
                assert (x + x).weak_type


def test_values_written_into_a_weak_array() -> None:
    with pa.policy(as_policy("jax").derive("mine")):
        for _ in range(3):
            for x in (each.copy() for each in stored_both_ways(0.1)):
                x[...] = 2
                assert x.tolist() == 2.0
                x[...] = pa.asarray(np.array(3, x.dtype.storage))
                assert (x.tolist(), x.weak_type) == (3.0, True)
