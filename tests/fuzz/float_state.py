"""Random operations in random floating-point states: the answers of the default state."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from float_states import KNOWN, STATES, control, state
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import STORED, answer, laid_out, numbers, one_of
from promoarray.policies import as_policy


def _assigned(x: Any, y: Any) -> Any:
    target = pa.asarray(x, copy=True)
    target[...] = y
    return target


def _added(x: Any, y: Any) -> Any:
    target = pa.asarray(x, copy=True)
    target += y
    return target


OPERATIONS = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    lambda x, y: x < y,
    lambda x, y: x == y,
    lambda x, y: x * 0.1,
    lambda x, y: 3 - x,
    lambda x, y: x + 1e-310,
    lambda x, y: pa.sqrt(x),
    lambda x, y: pa.exp(x),
    lambda x, y: pa.sum(x),
    lambda x, y: pa.mean(x),
    lambda x, y: pa.max(x),
    lambda x, y: pa.sort(pa.reshape(x, (-1,))),
    lambda x, y: pa.where(x < y, x, y),
    lambda x, y: pa.concat([pa.reshape(x, (-1,)), pa.reshape(y, (-1,))]),
    lambda x, y: pa.astype(x, y.dtype),
    lambda x, y: pa.asarray([1e-310, 2**62 + 1, 0.1], dtype=x.dtype),
    _assigned,
    _added,
]


def small(random: Generator, values: Any) -> Any:
    """Most often as it is; else numbers near zero, many of them subnormal."""
    if random.random() < 0.5 or not pa.isdtype(pa.asarray(values).dtype, "real floating"):
        return values
    least = 4 + int(random.integers(20))
    bits = values.view(f"u{values.dtype.itemsize}")
    lost = bits.dtype.type(min(least, 8 * bits.itemsize - 2))
    return np.asarray(bits >> lost).view(values.dtype)


def once(random: Generator) -> None:
    """One operation in the default state and then twice in another, the policy being new to it."""
    if not KNOWN:
        return
    shape = tuple(int(n) for n in random.integers(0, 5, int(random.integers(0, 4))))
    if random.random() < 0.1:
        shape = (int(random.integers(0, 40_000)),)
    first, second = one_of(random, STORED), one_of(random, STORED)
    plain = [small(random, numbers(random, shape, dtype)) for dtype in (first, second)]
    x, y = (pa.asarray(laid_out(random, array)) for array in plain)
    function, name = one_of(random, OPERATIONS), one_of(random, list(STATES))
    policy = as_policy(one_of(random, pa.list_policies()))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with pa.policy(policy):
            wanted = answer(function, x, y)
        with pa.policy(policy.derive("fresh")), state(name) as set_to:
            found = [answer(function, x, y) for _ in range(2)]
            left = control()
    assert left == set_to, (name, policy.name, first, second)
    assert found == [wanted, wanted], (name, policy.name, first, second, shape)
