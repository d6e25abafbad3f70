"""Reductions and running sums in one pass: the bits, dtypes and warnings of NumPy's loops
on what is cast whole; of any length, axis, dtype, policy and level of the machine.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import STORED, laid_out, numbers, one_of
from promoarray import kernels
from promoarray.backends.numpy import folds, positions

NAMES = [*sorted(folds.NAMES), *positions.FINDERS, "count_nonzero"]
USUAL = [pa.float32, pa.float64, pa.bfloat16, pa.float16, pa.float8_e4m3fn, pa.int8, pa.bool]
LENGTHS = [1, 2, 3, 7, 8, 9, 127, 129, 200, 257, 511, 513, 1000, 2047, 2049, 5000]
POLICIES = ["numpy", "torch", "jax", "jax@x32", "paddle@3.3", "tensorflow", "mindspore"]


def operand(random: Generator) -> Any:
    """Numbers of any bits, near 1, zeros of both signs, below zero, or with a NaN."""
    shape = tuple(one_of(random, LENGTHS) for _ in range(int(random.integers(1, 6))))
    while np.prod(shape) > 40_000:
        shape = shape[1:]
    dtype = one_of(random, USUAL if random.random() < 0.7 else STORED)
    kind = int(random.integers(6))
    if dtype.kind.name == "COMPLEX" or dtype is pa.bool or kind == 0:
        return numbers(random, shape, dtype)
    plain = random.standard_normal(shape)
    if kind == 1:
        plain = 1 + plain / 64
    if kind == 2:
        plain = np.where(plain > 0, 0.0, -0.0)
    if kind == 3:
        plain = np.minimum(plain, -0.0)
    if kind == 4:
        plain.flat[int(random.integers(plain.size))] = np.nan
    with pa.policy("torch"), np.errstate(all="ignore"):
        return pa.astype(pa.asarray(plain * (20 if "int" in dtype.name else 1)), dtype)._buffer


def told(run: Any) -> tuple[Any, ...]:
    """Return dtype, shape, layout, bits and warnings of an answer, or the error."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            made = run()
        except Exception as error:
            return type(error), str(error)
    held = np.array(made._buffer, order="C")
    lies = [s for s, n in zip(made._buffer.strides, made.shape, strict=True) if n > 1]
    return made.dtype, made.shape, lies, held.tobytes(), [str(w.message) for w in seen]


def once(random: Generator) -> None:
    """One reduction, in one pass and as NumPy does it."""
    name, values = one_of(random, NAMES), operand(random)
    if random.random() < 0.3:
        values = values.transpose(random.permutation(values.ndim))
    x = pa.asarray(laid_out(random, values) if random.random() < 0.4 else values)
    axes: list[Any] = list(range(-x.ndim, x.ndim))
    options: dict[str, Any] = {"axis": one_of(random, axes)}
    if name.startswith("cumulative"):
        options["include_initial"] = random.random() < 0.3
    else:
        options["axis"] = one_of(random, [*axes, None, tuple(range(1, x.ndim)), (0, x.ndim - 1)])
        if random.random() < 0.3:
            chosen = random.permutation(x.ndim)[: int(random.integers(1, x.ndim + 1))]
            options["axis"] = tuple(int(a) for a in chosen)
        if name in positions.FINDERS:
            options["axis"] = one_of(random, [*axes, None])
        options["keepdims"] = random.random() < 0.3
    if name in ("var", "std"):
        options["correction"] = one_of(random, [0, 1, 0.5, 3])
    level = kernels.use_level(one_of(random, kernels.levels()))
    before = folds.LONG
    try:
        how = one_of(random, ["ignore", "warn", "raise"])
        with pa.policy(one_of(random, POLICIES)), np.errstate(all=how):
            answers = []
            for folds.LONG in (1, 1 << 60):
                positions.LONG = folds.LONG
                answers.append(told(lambda: getattr(pa, name)(x, **options)))
    finally:
        folds.LONG = positions.LONG = before
        kernels.use_level(level)
    assert answers[0] == answers[1], (name, x.dtype, x.shape, options, how)
