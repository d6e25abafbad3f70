"""Operations on one element: what each is, and how many times NumPy's ``x + x`` it may take.

``overhead.py`` times them. Each has its executable by then, as the first rounds are not counted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import promoarray as pa


class Line(NamedTuple):
    """One operation, and its budget in times NumPy's float32 ``x + x``; None has no budget."""

    run: Callable[[], object]
    budget: float | None = None


def _under(policy: str, run: Callable[[], object]) -> Callable[[], object]:
    """Run one operation as often as is timed inside ``with policy(...)``: entering is not it."""
    run.policy = policy  # type: ignore[attr-defined]
    return run


def _binary(a: Any, b: Any, h: Any, s: Any) -> Iterator[tuple[str, Line]]:
    i = pa.asarray(np.asarray([1], np.int8))
    d, point = pa.asarray(np.asarray([2.0])), pa.asarray(np.asarray(2.0, np.float32))
    yield "float32 + float32", Line(lambda: a + b, 3)
    yield "float32 + 1.5", Line(lambda: a + 1.5, 3)
    yield "1.5 + float32", Line(lambda: 1.5 + a, 3)
    yield "int8 + float32", Line(lambda: i + b, 3)
    yield "float32 + float64", Line(lambda: a + d, 3)
    yield "float32 + float32 of no axes", Line(lambda: a + point, 3)
    yield "float32 < float32", Line(lambda: a < b, 3)
    yield "pa.add(float32, float32)", Line(lambda: pa.add(a, b), 3)
    yield "pa.atan2(float32, float32)", Line(lambda: pa.atan2(a, b), 3)
    yield "numpy@1: float32 + float32", Line(_under("numpy@1", lambda: a + b), 3)
    yield "numpy@1: float32 + float64", Line(_under("numpy@1", lambda: a + d), 3)
    yield "numpy@1: float32 + 1.5", Line(_under("numpy@1", lambda: a + 1.5), 3)
    yield "numpy@1: int8 + 1", Line(_under("numpy@1", lambda: i + 1), 3)
    yield "numpy@1: float32 of no axes", Line(_under("numpy@1", lambda: a + point), 3)
    yield "torch: int8 + float32", Line(_under("torch", lambda: i + b), 3)
    yield "torch: float32 + float64", Line(_under("torch", lambda: a + d), 3)
    yield "torch: float32 of no axes", Line(_under("torch", lambda: d + point), 3)
    yield "jax: int8 + float32", Line(_under("jax", lambda: i + b), 3)
    yield "bfloat16 + bfloat16", Line(lambda: h + h, 4)
    yield "float16 + float16", Line(lambda: s + s, 4)
    yield "bfloat16 + float32", Line(lambda: h + b, 4)
    yield "bfloat16 + 1.5", Line(lambda: h + 1.5, 4)
    yield "bfloat16 < bfloat16", Line(lambda: h < h, 4)
    yield "torch: bfloat16 + float16", Line(_under("torch", lambda: h + s), 4)
    yield "torch: bfloat16 + float32", Line(_under("torch", lambda: h + b), 4)
    yield "pa.maximum(bfloat16, bfloat16)", Line(lambda: pa.maximum(h, h), 4)


def _unary(a: Any, h: Any) -> Iterator[tuple[str, Line]]:
    yield "-float32", Line(lambda: -a, 4)
    yield "abs(float32)", Line(lambda: abs(a), 4)
    yield "pa.exp(float32)", Line(lambda: pa.exp(a), 4)
    yield "pa.floor(float32)", Line(lambda: pa.floor(a), 4)
    yield "pa.isnan(float32)", Line(lambda: pa.isnan(a), 4)
    yield "-bfloat16", Line(lambda: -h, 4)
    yield "abs(bfloat16)", Line(lambda: abs(h), 4)
    yield "pa.exp(bfloat16)", Line(lambda: pa.exp(h), 4)
    yield "pa.isnan(bfloat16)", Line(lambda: pa.isnan(h), 4)


def _into(a: Any, b: Any, h: Any) -> Iterator[tuple[str, Line]]:
    target, half = pa.asarray(a, copy=True), pa.zeros(1, dtype="bfloat16")
    yield "float32 += float32", Line(lambda: operator.iadd(target, b), 3)
    yield "float32 += 1.5", Line(lambda: operator.iadd(target, 1.5), 3)
    yield "bfloat16 += bfloat16", Line(lambda: operator.iadd(half, h), 4)
    yield "jax: float32 += float32", Line(_under("jax", lambda: operator.iadd(target, b)), 3)


def _casts(a: Any, h: Any) -> Iterator[tuple[str, Line]]:
    yield "float32.astype(float64)", Line(lambda: a.astype(pa.float64), 4)
    yield "float32.astype(bfloat16)", Line(lambda: a.astype(pa.bfloat16), 4)
    yield "float32.astype(float8_e4m3fn)", Line(lambda: a.astype(pa.float8_e4m3fn), 4)
    yield "float32.astype(int8)", Line(lambda: a.astype(pa.int8), 4)
    yield "pa.astype(bfloat16, float32)", Line(lambda: pa.astype(h, pa.float32), 4)


def _several(a: Any, b: Any, h: Any) -> Iterator[tuple[str, Line]]:
    mask = a > 0
    yield "pa.where(m, float32, float32)", Line(lambda: pa.where(mask, a, b), 8)
    yield "pa.where(m, bfloat16, 0.0)", Line(lambda: pa.where(mask, h, 0.0), 8)
    yield "pa.concat([float32, float32])", Line(lambda: pa.concat([a, b]), 8)
    yield "pa.sum(float32)", Line(lambda: pa.sum(a), 8)
    yield "pa.sum(float32, axis=0)", Line(lambda: pa.sum(a, axis=0), 8)
    yield "pa.sum(bfloat16)", Line(lambda: pa.sum(h), 8)
    yield "pa.mean(float32)", Line(lambda: pa.mean(a), 8)
    yield "pa.max(float32)", Line(lambda: pa.max(a), 8)
    yield "pa.max(bfloat16)", Line(lambda: pa.max(h), 8)
    yield "x.sum()", Line(lambda: a.sum(), 8)


def _shapes(a: Any) -> Iterator[tuple[str, Line]]:
    x, array = pa.asarray(np.arange(4, dtype=np.float32)), np.asarray([2.0], np.float32)
    rows = pa.asarray(np.ones((4, 1), np.float32))
    yield "x[0], one element", Line(lambda: x[0], 3)
    yield "torch: x[0], one element", Line(_under("torch", lambda: x[0]), 3)
    yield "x[0], a row", Line(lambda: rows[0], 3)
    yield "x[1:3]", Line(lambda: x[1:3], 3)
    yield "x[1:3] = 2.0", Line(lambda: operator.setitem(x, slice(1, 3), 2.0), 3)
    yield "x[0] = 2.0", Line(lambda: operator.setitem(x, 0, 2.0), 3)
    yield "pa.asarray(ndarray)", Line(lambda: pa.asarray(array), 3)
    yield "torch: pa.asarray(ndarray)", Line(_under("torch", lambda: pa.asarray(array)), 3)
    yield "x.reshape(2, 2)", Line(lambda: x.reshape(2, 2), 4)
    yield "pa.reshape(x, (2, 2))", Line(lambda: pa.reshape(x, (2, 2)), 4)
    yield "pa.zeros(3)", Line(lambda: pa.zeros(3), 4)
    yield "pa.zeros((3,), dtype=pa.int8)", Line(lambda: pa.zeros((3,), dtype=pa.int8), 4)


def _bound(array: Any) -> Iterator[tuple[str, Line]]:
    """What a bound namespace has: at most 1.2 times the budgets of the free functions."""
    xp = pa.namespace("torch")
    a = xp.asarray(array)
    yield "xp: x + x", Line(lambda: a + a, 3)
    yield "xp.add(x, x)", Line(lambda: xp.add(a, a), 3.6)
    yield "xp.exp(x)", Line(lambda: xp.exp(a), 4.8)
    yield "xp.sum(x)", Line(lambda: xp.sum(a), 9.6)
    yield "xp.asarray(ndarray)", Line(lambda: xp.asarray(array), 3.6)
    yield "xp.zeros(3)", Line(lambda: xp.zeros(3), 4.8)


def lines() -> dict[str, Line]:
    """Every operation, under the default policy unless another is named before the colon."""
    array = np.asarray([2.0], np.float32)
    x, y = array, array.copy()
    a, b = pa.asarray(array), pa.asarray(array.copy())
    h, s = pa.astype(a, pa.bfloat16), pa.astype(a, pa.float16)
    i = np.asarray([1], np.int8)
    numpys = {
        "numpy: float32 + float32": Line(lambda: x + y),
        "numpy: int8 + float32": Line(lambda: i + y),
        "numpy: float32 + 1.5": Line(lambda: x + 1.5),
        "numpy: np.exp": Line(lambda: np.exp(x)),
        "numpy: np.sum": Line(lambda: np.sum(x)),
        "numpy: np.mean": Line(lambda: np.mean(x)),
    }
    chapters = (
        _binary(a, b, h, s),
        _unary(a, h),
        _into(a, b, h),
        _casts(a, h),
        _several(a, b, h),
        _shapes(a),
        _bound(array),
    )
    return numpys | {name: line for chapter in chapters for name, line in chapter}
