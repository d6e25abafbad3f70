"""Sorts and sets of few elements give the bits of those of many, for every dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.policies import as_policy

ORDERED = [d for d in dt.CONCRETE if d.kind is not Kind.STRING]
SETS: tuple[Callable[..., Any], ...] = (
    *(pa.unique_values, pa.unique_counts, pa.unique_inverse, pa.unique_all),
)
SPECIAL = (0.0, -0.0, 1.0, -0.0, 0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0, -1.0)


def buffers(dtype: DType) -> Iterator[Any]:
    """Any bits, those above a narrow code too; many alike; special floats; several shapes."""
    bits = np.random.default_rng(0).integers(0, 256, 200 * dtype.storage.itemsize, np.uint8)
    x = (bits & 1 if dtype is dt.bool else bits).view(dtype.storage)
    yield from (x, x[:7], x[:1], x[:0], np.concatenate([x[:20]] * 3))
    yield from (x[:60].reshape(3, 20), x[:1].reshape(()))
    if dtype.kind is Kind.FLOAT:
        yield np.array(SPECIAL, np.float32).astype(dtype.storage)
    if dtype.kind is Kind.COMPLEX:
        parts = np.random.default_rng(1).choice(np.array(SPECIAL), (200, 2))
        with np.errstate(invalid="ignore"):
            yield parts.astype(dtype.part.storage).view(dtype.storage)[..., 0]


def bits_of(given: Any) -> list[tuple[Any, ...]]:
    made = given if isinstance(given, tuple) else (given,)
    return [(x.dtype, x.shape, x.tobytes()) for x in made]


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("name", ["numpy", "jax@x32"])
def test_few_are_ordered_as_many(name: str, dtype: DType) -> None:
    policy = as_policy(name).derive("orders")
    one = pa.PArray._wrap(np.ones(1, np.float32).astype(dtype.storage), dtype)
    held = 0
    with pa.policy(policy):
        for run in (pa.sort, pa.argsort, *SETS):
            try:
                run(one)
            except pa.PromotionError:
                continue
            executable = policy.executables.get((f"{run.__name__}()", dtype))
            if executable is None or executable.kernel is None:  # what the policy casts first
                continue
            ways: list[dict[str, Any]] = [{}]
            if run in (pa.sort, pa.argsort):
                ways = [{"axis": -1, "descending": d, "stable": True} for d in (False, True)]
            for x in buffers(dtype):
                for options in ways if x.ndim or run in SETS else ():
                    short = executable.kernel(x, **options)
                    if short is not None:
                        assert bits_of(short) == bits_of(executable.run(x, **options))
                        held += 1
    assert held > 40 or name != "numpy"


@pytest.mark.parametrize("axis", [5, -3, 1.0, None])
def test_the_second_call_refuses_what_the_first_does(axis: Any) -> None:
    x = pa.asarray([2.0, 1.0])
    for run in (pa.sort, pa.argsort, pa.diff, pa.cumulative_sum):
        if axis is None and run is pa.cumulative_sum:
            continue
        run(x)
        run(x)
        for _ in range(2):
            with pytest.raises((TypeError, IndexError)):
                run(x, axis=axis)
    for run in (pa.sort, pa.argsort, pa.diff):
        with pytest.raises(IndexError):
            run(x[0])
    with pytest.raises(ValueError, match="may be left out"):
        pa.cumulative_sum(x.reshape(1, 2))
