"""Throughput and chains: operations on large arrays, as times the best of NumPy, PyTorch and JAX.

All take one thread and compute line by line: nothing is compiled into one kernel by a peer's
compiler, as nothing is in promoarray. A result of 32 MiB and more is fresh memory each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import ml_dtypes
import numpy as np
from measure import BEST, Line, Options
from peers import Array, Peer, Spelled, calls

from promoarray import dtypes as dt

POLICY = "torch"
"""Where bfloat16 + float16 is float32 and integers divide to float32, as in PyTorch and JAX."""

BUDGET, VECTOR_MATH = 1.3, 1.5

FLOATS = ("float32", "bfloat16", "float16")
HALVES = ("bfloat16", "float16")
NUMBERS = (*FLOATS, "int8", "int32")

ROWS: list[tuple[str, tuple[str, ...]]] = [
    ("x + y", (*FLOATS, "int8", "float64")),
    ("x + z", ("bfloat16 float16", "int8 float32", "bfloat16 float32", "float32 float64")),
    ("x + z", ("int8 int32",)),
    ("x * 1.5", FLOATS),
    ("x / y", FLOATS),
    ("x % q", (*NUMBERS, "float64")),
    ("x // q", (*NUMBERS, "float64")),
    ("x < y", NUMBERS),
    ("xp.maximum(x, y)", FLOATS),
    ("iadd(t, y)", FLOATS),
    ("xp.clip(x, -1, 1)", NUMBERS),
    ("xp.where(m, x, y)", NUMBERS),
    ("-x", FLOATS),
    ("abs(x)", FLOATS),
    ("xp.round(x)", FLOATS),
    ("xp.floor(x)", FLOATS),
    ("xp.isnan(x)", NUMBERS),
    ("xp.isfinite(x)", HALVES),
    ("xp.sqrt(p)", FLOATS),
    ("xp.exp(x)", FLOATS),
    ("xp.log(p)", FLOATS),
    ("xp.hypot(x, y)", FLOATS),
    ("xp.tanh(x)", FLOATS),
    ("xp.sin(x)", FLOATS),
    ("xp.sum(x)", NUMBERS),
    ("xp.sum(a, axis=0)", FLOATS),
    ("xp.sum(a, axis=1)", FLOATS),
    ("xp.mean(x)", FLOATS),
    ("xp.var(x)", FLOATS),
    ("xp.max(x)", NUMBERS),
    ("xp.argmax(x)", FLOATS),
    ("xp.any(x)", FLOATS),
    ("xp.cumulative_sum(x)", NUMBERS),
    ("a + b.T", FLOATS),
    ("a + b[0]", FLOATS),
    ("w[::2] + y", FLOATS),
    ("xp.sort(x)", NUMBERS),
    ("xp.argsort(x)", ("float32", "bfloat16")),
    ("xp.unique_values(x)", NUMBERS),
    ("xp.searchsorted(s, x)", ("float32", "bfloat16")),
    ("xp.matmul(c, d)", (*NUMBERS, "int64")),
    # A thousandth of the operands are such that an exception or a NaN comes of it.
    ("x / o", FLOATS),
    ("x % o", FLOATS),
    ("x // o", FLOATS),
    ("l * l", FLOATS),
    ("xp.sqrt(x)", FLOATS),
    ("xp.log(o)", FLOATS),
    ("xp.exp(l)", FLOATS),
    ("xp.sum(l)", FLOATS),
    ("xp.sum(u)", FLOATS),
    ("xp.max(u)", FLOATS),
]
"""Each text, and the dtype or the two dtypes of its lines."""

SLOW = ("sort", "unique", "searchsorted")
"""What is measured on an eighth of the elements."""

SPELLED: dict[str, Spelled] = {
    "xp.var(x)": {"torch": "xp.var(x, correction=0)", "paddle": "xp.var(x, unbiased=False)"},
    "xp.cumulative_sum(x)": {"torch": "xp.cumsum(x, 0)", "paddle": "xp.cumsum(x, 0)"},
    "xp.sort(x)": {"torch": "xp.sort(x)[0]"},
    "xp.unique_values(x)": {"torch": "xp.unique(x)", "paddle": "xp.unique(x)"},
}

_CENTRED = "(lambda v: v / xp.sqrt(xp.mean(v * v, {axis}=-1, {keep}=True) + 1e-5))"
_LAYER = _CENTRED + "(a - xp.mean(a, {axis}=-1, {keep}=True)) * b[0] + b[1]"
_SOFTMAX = "(lambda e: e / xp.sum(e, {axis}=-1, {keep}=True))(xp.exp(a - xp.{max}))"
_MAX = {"": "max(a, axis=-1, keepdims=True)", "torch": "amax(a, dim=-1, keepdim=True)"}
_MAX |= {"paddle": "max(a, axis=-1, keepdim=True)"}
_WORDS = {
    "": {"axis": "axis", "keep": "keepdims"},
    "torch": {"axis": "dim", "keep": "keepdim"},
    "paddle": {"axis": "axis", "keep": "keepdim"},
}


def _spelled(text: str) -> dict[str, str]:
    """One chain in each library's words; "" is the array API's."""
    return {who: text.format(max=_MAX[who], **words) for who, words in _WORDS.items()}


CHAINS: dict[str, dict[str, str]] = {
    "softmax": _spelled(_SOFTMAX),
    "layer norm": _spelled(_LAYER),
    "gelu": {"": "0.5 * a * (1.0 + xp.tanh(0.7978845608 * (a + 0.044715 * a * a * a)))"},
}
SHAPES = ((512, 1024), (4, 1024))


@cache
def numbers(dtype: str, n: int, seed: int) -> Array:
    """Numbers around 0, of both signs; integers from -100 to 100."""
    rng = np.random.default_rng(seed)
    wanted = dt.as_dtype(dtype)
    if wanted.kind is dt.Kind.FLOAT:
        made: Array = (rng.standard_normal(n, np.float32) * 4).astype(wanted.storage)
    else:
        made = rng.integers(-100, 100, n, np.int8).astype(wanted.storage)
    made.flags.writeable = False
    return made


def operands(text: str, left: str, right: str, n: int) -> dict[str, Array]:
    """What the letters of a text are; only those in it are made into a library's arrays."""
    side = int(n**0.5)
    x, y = numbers(left, n, 0), numbers(left, n, 1)
    small = 1 << 16
    return {
        **(exceptional(x) if re.search(r"\b[olu]\b", text) else {}),
        "x": x,
        "y": y,
        "t": y,
        "z": numbers(right, n, 1),
        "w": numbers(left, 2 * n, 2) if "w" in text else x,
        "p": abs(x),
        "q": np.where(y == 0, np.ones_like(y), y),  # a divisor
        "m": numbers("int8", n, 3) > 0,
        "a": x[: side * side].reshape(side, side),
        "b": y[: side * side].reshape(side, side),
        "c": x[:small].reshape(256, 256),
        "d": y[:small].reshape(256, 256),
        "s": np.sort(x[:1024]),
    }


def exceptional(x: Array) -> dict[str, Array]:
    """Floats of which a thousandth are zero, the largest there is, or NaN."""
    seldom = np.arange(x.size) % 1000 == 500
    of_few = {"o": (0.0, abs(x)), "l": (ml_dtypes.finfo(x.dtype).max, x), "u": (np.nan, x)}
    return {
        name: np.where(seldom, np.full_like(x, special), others)
        for name, (special, others) in of_few.items()
    }


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Each row's expressions, dtype by dtype."""
    for text, dtypes in ROWS:
        n = options.elements >> 3 * any(word in text for word in SLOW)
        for pair in dtypes:
            left, _, right = pair.partition(" ")
            found = calls(text, peers, operands(text, left, right or left, n), SPELLED.get(text))
            yield Line(f"{text}, {pair}", found, bounds(text, left), POLICY)


def bounds(text: str, dtype: str) -> dict[str, float]:
    """What a line may take: exp and the like of float32 have a bound of their own."""
    vector_math = any(f"xp.{name}(" in text for name in ("exp", "log", "tanh", "sin"))
    return {"jax": VECTOR_MATH} if vector_math and dtype == "float32" else {BEST: BUDGET}


def chains(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Softmax, layer norm and gelu, on a batch and on a few rows."""
    for name, spelled in CHAINS.items():
        for dtype in ("bfloat16", "float32"):
            for shape in SHAPES:
                size = shape[0] * shape[1]
                given = {n: numbers(dtype, size, i).reshape(shape) for i, n in enumerate("ab")}
                found = calls(spelled[""], peers, given, spelled)
                title = f"{name}, {dtype}, {shape[0]} x {shape[1]}"
                yield Line(title, found, {BEST: BUDGET}, POLICY)
