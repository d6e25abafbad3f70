"""Throughput: operations on 4 Mi elements, on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from measure import Bound, Line, Options
from one_element import texts
from peers import NUMPY, Array, call, calls, load

import promoarray as pa
from promoarray.dtypes import Kind, as_dtype

POLICY = "torch"
"""In force of floats, so that bfloat16 + float16 is float32 as in PyTorch and JAX."""

OWN = Bound(1.1, ("numpy",))
NARROW = Bound(1.3, ("torch", "jax"))
IN_FLOAT32 = "numpy, float32"
REDUCED = Bound(2.0, (IN_FLOAT32,))

ELEMENTWISE = """
x + y; x * 1.5; x / y; x < y; xp.maximum(x, y); iadd(t, y); xp.clip(x, -1, 1); xp.where(m, x, y)
-x; abs(x); xp.round(x); xp.floor(x); xp.isnan(x); xp.sqrt(p); xp.exp(x); xp.log(p); xp.tanh(x)
xp.sin(x)
"""
MIXED = (("bfloat16", "float16"), ("bfloat16", "float32"), ("int8", "float32"))
"""Dtypes of ``x + z``."""
REDUCTIONS = """
xp.sum(x); xp.sum(a, axis=0); xp.sum(a, axis=1); xp.mean(x); xp.max(x); xp.any(x)
xp.cumulative_sum(x)
"""
LAYOUTS = "a + b.T; a + b[0]; w[::2] + y"
NATIVE = ("float32", "float64", "int32")
FLOATS = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")


@cache
def numbers(dtype: str, n: int, seed: int) -> Array:
    """Numbers around 0, of both signs; integers from -100 to 100."""
    rng = np.random.default_rng(seed)
    wanted = as_dtype(dtype)
    if wanted.kind is Kind.FLOAT:
        made: Array = (rng.standard_normal(n, np.float32) * 4).astype(wanted.storage)
    else:
        made = rng.integers(-100, 100, n, np.int8).astype(wanted.storage)
    made.flags.writeable = False
    return made


def operands(dtype: str, n: int, other: str = "float32") -> dict[str, Array]:
    """Return large arrays by the names that expressions have for them."""
    side = int(n**0.5)
    x, y = numbers(dtype, n, 0), numbers(dtype, n, 1)
    return {
        "x": x,
        "y": y,
        "t": y,
        "p": abs(x),
        "m": numbers("int8", n, 3) > 0,
        "z": numbers(other, n, 1),
        "w": np.repeat(x, 2),
        "a": x[: side * side].reshape(side, side),
        "b": y[: side * side].reshape(side, side),
    }


def lines(options: Options) -> Iterator[Line]:
    """Yield NumPy's own dtypes beside NumPy, floats of 16 and 8 bits beside PyTorch and JAX."""
    n, peers = options.elements, load(options.peers)
    for dtype in NATIVE:
        given = operands(dtype, n)
        for text in texts(ELEMENTWISE + REDUCTIONS + LAYOUTS):
            if found := calls(text, [NUMPY], given):
                yield Line(f"{text}, {dtype}", found, (OWN,))
    pa.set_policy(POLICY)
    for dtype in FLOATS:
        given = operands(dtype, n)
        for text in texts(ELEMENTWISE + LAYOUTS):
            if found := calls(text, peers, given):
                yield Line(f"{text}, {dtype}", found, (NARROW,))
    for left, right in MIXED:
        found = calls("x + z", peers, operands(left, n, right))
        yield Line(f"x + z, {left} and {right}", found, (NARROW,))
    wide = operands("float32", n)
    for text in texts(REDUCTIONS):
        reference = {IN_FLOAT32: call(text, NUMPY, wide)}
        for dtype in FLOATS[:3]:
            if found := calls(text, [], operands(dtype, n)):
                yield Line(f"{text}, {dtype}", found | reference, (REDUCED,))
