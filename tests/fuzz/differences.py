"""`promoarray diff` says that something changes exactly where the other policy computes otherwise.

One operation on random numbers of dtypes, ranks and layouts drawn at random, an operator, in place
or a function, between two policies: what is reported is held against the other policy's own result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import STORED, numbers, one_of
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import DEFAULT, ShadowObserver
from promoarray.diagnostics.diff.command import Difference, difference
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.report import Report
from promoarray.policies import Policy, as_policy

SCALARS = (True, 0, 1, -1, 3, 300, 2**40, 0.1, -2.5, 1e40, float("nan"), float("inf"), 1j)


def _inplace(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation in place, on a copy of its target."""

    def operated(x: Any, y: Any) -> Any:
        return operate(pa.asarray(x, copy=True), y)

    return operated


def _iadd(x: Any, y: Any) -> Any:
    x += y
    return x


def _itruediv(x: Any, y: Any) -> Any:
    x /= y
    return x


def _ipow(x: Any, y: Any) -> Any:
    x **= y
    return x


INPLACE = tuple(map(_inplace, (_iadd, _itruediv, _ipow)))
OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    lambda x, y: x**y,
    lambda x, y: x < y,
    lambda x, y: x == y,
    lambda x, y: y - x,
    lambda x, y: x @ pa.permute_dims(x, (1, 0)),
    lambda x, y: pa.where(x == x, x, y),
    lambda x, y: pa.maximum(x, y),
    lambda x, y: pa.atan2(x, y),
    lambda x, y: pa.clip(x, y),
    lambda x, y: pa.sum(x),
    lambda x, y: pa.mean(x, axis=0),
    lambda x, y: pa.prod(x),
    lambda x, y: pa.std(x),
    lambda x, y: pa.sqrt(x),
    lambda x, y: pa.exp(x),
    lambda x, y: pa.sign(x),
    lambda x, y: pa.round(x),
    lambda x, y: pa.argmax(x),
    lambda x, y: pa.cumulative_sum(x, axis=0),
    lambda x, y: pa.sort(x),
    *INPLACE,
]

REFUSALS = (TypeError, ValueError, OverflowError, ZeroDivisionError)


def once(random: Generator) -> None:
    """Compute something under two policies, and hold the report against it."""
    before, after = (as_policy(one_of(random, DEFAULT)) for _ in range(2))
    x = pa.asarray(_drawn(random))
    y = one_of(random, SCALARS) if random.integers(2) else pa.asarray(_drawn(random))
    compute = OPERATIONS[which := int(random.integers(len(OPERATIONS)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pa.policy(after):
            theirs = _result(compute, x, y)
        found, mine = _compared(before, after, compute, x, y)
    if mine is None:
        return
    changes = [c for c in found.changes if c.kind != "signature"]
    same = theirs is not None and theirs.dtype is mine.dtype and _equal(mine, theirs)
    asked = f"operation {which} of {x!r} and {y!r} from {before.name} to {after.name}"
    told = [(c.kind, c.before, c.after) for c in changes]
    # A scalar that becomes another number may leave a comparison as it is.
    shown = [c for c in changes if not (same and c.values and c.values.given)]
    # A kernel that the framework lacks is told, and the operation is computed all the same.
    shown = [c for c in shown if not (same and "has no kernel" in c.why("after") + c.why("before"))]
    assert bool(shown) != same, f"{asked}: {mine!r}, {theirs!r}, told {told}"


def _drawn(random: Generator) -> Any:
    """Numbers of a dtype; of one that NumPy has or ml_dtypes."""
    while True:
        dtype = one_of(random, STORED)
        shape = one_of(random, ((3, 3), (3, 3), (3,), ()))
        if dtype.kind.name not in ("STRING",) and dtype.bits >= 8:
            return pa.PArray._wrap(numbers(random, shape, dtype), dtype)


def _result(compute: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    try:
        return compute(x, y)
    except REFUSALS:
        return None


def _compared(
    before: Policy, after: Policy, compute: Callable[[Any, Any], Any], x: Any, y: Any
) -> tuple[Difference, Any]:
    report, probe = Report(before, (before, after)), Changes(after.name)
    probe.begin()
    with pa.policy(before), observing(ShadowObserver(report)), observing(probe):
        mine = _result(compute, x, y)
    return difference(report, [probe.ended({})], after), mine


def _equal(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bits; one NaN is as good as another."""
    one, other = a._decoded(), b._decoded()
    if one.shape != other.shape:
        return False
    if one.dtype.kind == "c":
        return all(_floats_equal(getattr(one, p), getattr(other, p)) for p in ("real", "imag"))
    return _floats_equal(one, other) if one.dtype.kind == "f" else bool(np.all(one == other))


def _floats_equal(a: Any, b: Any) -> bool:
    nans = np.isnan(a) & np.isnan(b)
    with np.errstate(invalid="ignore"):
        return bool(np.all(nans | ((a == b) & (np.signbit(a) == np.signbit(b)))))
