"""Reductions over many blocks: exact where NumPy is, and within a bound where floats are added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import dask
import numpy as np

import promoarray as pa
from dask_proof.arrays import blocks_of, difference, eager, lazy
from dask_proof.bits import NONE, Case, Tally
from promoarray import dtypes as dt
from promoarray.backends.dask.buffer import opened

EXACT = ("sum", "prod", "max", "min", "argmax", "argmin", "all", "any", "cumulative_sum")
ROUNDED = ("sum", "mean", "var", "std", "vector_norm")
INTEGERS = (dt.bool, dt.int8, dt.uint8, dt.int16, dt.int32, dt.int64, dt.uint64, dt.int4)
FLOATS = (dt.float32, dt.float64, dt.float16, dt.bfloat16, dt.float8_e4m3fn)
SHAPE, CHUNKS = (37, 53), (13, 18)

BOUND = "n * eps of the dtype summed in times the sum (or mean) of magnitudes, and one rounding"
"""How far a sum of n terms over many blocks may be from the exact one, as NumPy's own may."""


def exact(rng: np.random.Generator) -> Iterator[Case]:
    """Integers, bools, extremes, their positions and norms, with ties and NaN; running sums."""
    for dtype in (*INTEGERS, *FLOATS):
        values = _values(rng, dtype)
        integers = dtype in INTEGERS
        for name in EXACT:
            if name in ("sum", "prod") and not integers:
                continue
            for axis in (None, 0, 1):
                if axis is None and name == "cumulative_sum":
                    continue
                yield Case(f"{name}({dtype}, {axis})", _along(name, axis), ((values, dtype),))
        for order, axis in product((np.inf, -np.inf, 0), (None, 0, 1)):
            norm = _along("vector_norm", axis, ord=order)
            yield Case(f"vector_norm({dtype}, {axis}, {order})", norm, ((values, dtype),))
        if integers:
            yield Case(f"{dtype} @ {dtype}", lambda x: pa.matmul(x, x.mT), ((values, dtype),))


def _values(rng: np.random.Generator, dtype: Any) -> Any:
    plain = rng.integers(0, 2 if dtype is dt.bool else 7, SHAPE).astype(np.float32)
    values = plain.astype(dtype.storage)
    if dtype in FLOATS and rng.random() < 0.5:
        values[11, 20] = values[30, 2] = np.nan
    return values


def _along(name: str, axis: int | None, **options: Any) -> Callable[..., Any]:
    function = getattr(pa.linalg if name == "vector_norm" else pa, name)
    return lambda x: function(x, axis=axis, **options)


POLICIES = ("numpy@2", "jax@x64", "torch@2.13", "tensorflow", "paddle@2.6")
"""Those whose kernels of reductions differ."""


def exactly(rng: np.random.Generator, policy: Any) -> Tally:
    """Run them under a policy."""
    tally = NONE
    waiting = []
    with pa.policy(policy):
        for case in exact(rng):
            ((values, dtype),) = case.values
            try:
                want = case.function(eager(values, dtype))
            except TypeError as error:
                tally += Tally(0, 1, ()) if _same(case, values, dtype, error) else _wrong(case)
                continue
            waiting.append((case, want, case.function(lazy(values, dtype, CHUNKS))))
        answers = dask.compute(*(blocks_of(got) for _, _, got in waiting))
    for (case, want, got), codes in zip(waiting, answers, strict=True):
        wrong = difference(want, got, codes)
        tally += Tally(0, 0, (f"{case.said}: {wrong}",)) if wrong else Tally(1, 0, ())
    return tally


def _same(case: Case, values: Any, dtype: Any, error: Exception) -> bool:
    try:
        case.function(lazy(values, dtype, CHUNKS))
    except TypeError as other:
        return str(other) == str(error)
    return False


def _wrong(case: Case) -> Tally:
    return Tally(0, 0, (f"{case.said}: not the same refusal",))


def rounded(rng: np.random.Generator) -> Tally:
    """Sums, means and variances of floats against those of long doubles, under ``BOUND``."""
    asked = []
    with pa.policy("numpy"):
        for dtype in (dt.float32, dt.float64, dt.bfloat16):
            values = rng.normal(size=SHAPE).astype(dtype.storage)
            x = lazy(values, dtype, CHUNKS)
            for name, axis in product(ROUNDED, (None, 0, 1)):
                asked.append((name, axis, dtype, values, _along(name, axis)(x)))
    answers = dask.compute(*(blocks_of(got) for *_, got in asked))
    tally = NONE
    for (name, axis, dtype, values, got), codes in zip(asked, answers, strict=True):
        found = opened(np.asarray(codes), got.dtype).astype(np.longdouble)
        good = _within(name, axis, values.astype(np.longdouble), found, dtype, got.dtype)
        said = f"{name}({dtype}, {axis}): beyond the bound"
        tally += Tally(1, 0, ()) if good else Tally(0, 0, (said,))
    return tally


def _within(name: str, axis: Any, exact: Any, found: Any, dtype: Any, made: Any) -> bool:
    summed = dt.float64 if dtype is dt.float64 else dt.float32
    if name == "vector_norm":
        want = np.sqrt((exact**2).sum(axis=axis))
    else:
        want = getattr(np, name)(exact, axis=axis)
    count = exact.size if axis is None else SHAPE[axis]
    gaps = exact - exact.mean(axis=axis, keepdims=True)
    terms = np.abs(exact) if name in ("sum", "mean") else gaps**2
    scale = terms.sum(axis=axis) / (1 if name == "sum" else count)
    scale = want if name == "vector_norm" else scale
    room = count * float(np.finfo(summed.storage).eps) * np.maximum(scale, want)
    return bool(np.all(np.abs(found - want) <= room + float(pa.finfo(made).eps) * np.abs(want)))


def program(values: Any, chunks: Any = (10, 7), slow: Callable[..., Any] | None = None) -> Any:
    """Blocks of float sums of many kinds side by side, for runs that must not differ in a bit."""
    x = lazy(values, dt.float32, chunks)
    if slow is not None:
        x = x._wrap(type(x._buffer)(x._buffer.array.map_blocks(slow, dtype="f4")), x._type)
    outs = (
        pa.sum(x * 1.1),
        pa.mean(x, axis=0),
        pa.std(x, axis=1),
        pa.sum(pa.astype(x, "bfloat16"), axis=0),
        pa.matmul(x, x.mT),
        pa.prod(x / 3, axis=1),
        pa.linalg.vector_norm(x, axis=0),
        pa.linalg.vector_norm(x, ord=3),
    )
    return [blocks_of(out) for out in outs]
