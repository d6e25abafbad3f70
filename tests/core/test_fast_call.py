"""Operations whose arguments a function has checked, and texts among options: the fast path answers
as the long way, with whatever arguments come next."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import dispatch

POLICIES = ["numpy", "numpy@1", "torch", "jax", "paddle", "tensorflow"]
DTYPES = [dt.bool, dt.int8, dt.int64, dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.complex64]
NORMS = [{"norm": norm} for norm in ("backward", "ortho", "forward", "none")]
CALLS: dict[str, list[dict[str, Any]]] = {
    **{
        f"linalg.{name}": [{}]
        for name in ("inv", "det", "slogdet", "svdvals", "eig", "eigvals", "eigh", "eigvalsh")
    },
    "linalg.pinv": [{}, {"rtol": 0.9}, {"rtol": "0.9"}],
    "linalg.matrix_rank": [{}, {"rtol": 0.9}],
    "linalg.cholesky": [{}, {"upper": True}],
    "linalg.qr": [{}, {"mode": "complete"}, {"mode": "raw"}, {"mode": 1}],
    "linalg.svd": [{}, {"full_matrices": False}],
    "linalg.matrix_norm": [
        *({"ord": ord} for ord in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf, None)),
        *({"ord": "max"}, {"ord": 3}, {"keepdims": True}),
    ],
    "linalg.vector_norm": [
        *({"ord": ord} for ord in (0, 1, 2, 2.5, math.inf, -math.inf, "fro")),
        *({"axis": axis} for axis in (None, 0, -1, (0, 1), 5)),
        {"axis": 1, "keepdims": True},
    ],
    "linalg.diagonal": [{}, {"offset": 1}, {"offset": -1}, {"offset": 9}],
    "linalg.trace": [{}, {"offset": 1}, {"dtype": dt.float64}],
    **{
        f"fft.{name}": [{}, {"n": 1}, {"n": 3}, {"n": 0}, {"axis": 0}, {"axis": 4}, *NORMS]
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{name}": [{}, {"s": (2, 3)}, {"axes": (0,)}, {"axes": [0, 0]}, {"s": (1,)}, *NORMS]
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
    },
    "diff": [{}, {"n": 2}, {"n": 3, "axis": 0}, {"n": -1}, {"axis": 2}, {"n": 2, "prepend": 1.0}],
    "argsort": [{}, {"descending": True}, {"axis": 0}, {"axis": "0"}, {"axis": 3}],
}


def matrices() -> list[Any]:
    """Square, singular, not square, a stack, of no elements, and a vector."""
    square = np.asarray([[2, 1], [1, 3]])
    return [
        *(square, np.ones((2, 2)), np.ones((2, 3)), np.stack([square, square + 1])),
        *(np.ones((0, 0)), np.ones(3)),
    ]


def function(name: str) -> Callable[..., Any]:
    chapter, _, own = name.rpartition(".")
    found: Callable[..., Any] = getattr(getattr(pa, chapter) if chapter else pa, own)
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", CALLS)
def test_the_short_way_answers_as_the_long_one(policy: str, name: str) -> None:
    """What observers hear of goes the long way each time."""
    with pa.policy(policy), np.errstate(all="ignore"):
        # Six policies take turns, so that a function meets each dtype under one or two.
        for dtype in turns(DTYPES, 4, POLICIES.index(policy) + [*CALLS].index(name)):
            calls: list[Callable[[], Any]] = [
                partial(function(name), x, **options)
                for x in [pa.asarray(x).astype(dtype) for x in matrices()]
                for options in CALLS[name]
            ]
            with pa.trace():
                wanted = [outcome(call) for call in calls]
            for _ in range(2):
                assert [outcome(call) for call in calls] == wanted, dtype


@pytest.mark.parametrize("name", CALLS)
def test_warnings_name_the_line_of_the_program(name: str) -> None:
    told = []
    for value in (3e38, math.inf):
        x = pa.asarray(np.full((2, 2), value, np.float32))
        for way in (pa.trace(), nullcontext(), nullcontext()):
            with way, warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                for options in CALLS[name]:
                    with suppress(ValueError, TypeError):
                        function(name)(x, **options)
                told.append([(str(w.message), w.filename, w.lineno) for w in found])
        assert told[0] == told[1] == told[2]
        assert {filename for _, filename, _ in told[0]} <= {__file__}
        told.clear()


def test_two_operands() -> None:
    square = np.asarray([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
    sides = [np.ones(3), np.ones((3, 1)), np.ones((2, 3, 2)), np.ones(2), np.ones(()), np.ones(1)]
    for policy in POLICIES:
        with pa.policy(policy):
            for one, other in ((dt.float32, dt.float32), (dt.int8, dt.float64)):
                x = pa.asarray(square).astype(one)
                calls: list[Callable[[], Any]] = []
                for side in sides:
                    y = pa.asarray(side).astype(other)
                    calls.append(partial(pa.linalg.solve, x, y))
                    calls += [partial(pa.linalg.cross, x, y, axis=axis) for axis in (-1, 0, 1, 5)]
                    where = "left", "right", "RIGHT", "l", 1, None
                    calls += [partial(pa.searchsorted, x[0], y, side=side) for side in where]
                with pa.trace():
                    wanted = [outcome(call) for call in calls]
                for _ in range(2):
                    assert [outcome(call) for call in calls] == wanted, policy


def test_the_second_call_is_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, apply = [], dispatch.apply

    def counted(name: str, *operands: Any, **options: Any) -> Any:
        taken.append(name)
        return apply(name, *operands, **options)

    x = pa.asarray([[2.0, 1.0], [1.0, 3.0]])
    calls = [name for name in CALLS if name not in ("fft.rfft", "linalg.trace")]
    for name in calls:
        function(name)(x)
    pa.linalg.solve(x, x)
    pa.searchsorted(x[0], x, side="right")
    monkeypatch.setattr(dispatch, "apply", counted)
    for name in calls:
        function(name)(x)
    pa.linalg.solve(x, x)
    pa.linalg.qr(x, mode="complete")
    pa.linalg.matrix_norm(x, ord="nuc")
    pa.fft.fft(x, norm="ortho")
    pa.searchsorted(x[0], x, side="left")
    assert taken == []
    pa.searchsorted(x[0], x, sorter=pa.asarray([0, 1]))
    assert taken == ["searchsorted"]
