"""A program that type checkers read as its author's: what it says of our types is what they are.

``tests/test_typing.py`` has mypy check it; nobody runs it.
"""

from __future__ import annotations

from typing import assert_type

import promoarray as pa
from promoarray import PArray

x, m = pa.zeros(3), pa.eye(2)

# operators: forward, reflected, in place
assert_type(x + 1, PArray)
assert_type(1.5 - x, PArray)
assert_type(x * x / 2 // 3 % 4, PArray)
assert_type(2**x, PArray)
assert_type(m @ m, PArray)
assert_type(x == 1, PArray)
assert_type(x != x, PArray)
assert_type((x < 1) & (x >= 0) | ~(x > 2), PArray)
assert_type(-abs(x), PArray)
assert_type(round(x), PArray)
x += 1
x @= m
assert_type(x, PArray)

# methods and attributes
assert_type(x[0], PArray)
assert_type(x.sum(axis=0), PArray)
assert_type(x.nonzero(), tuple[PArray, ...])
assert_type(x.sort(), None)
assert_type(x.T, PArray)
assert_type(x.real, PArray)
assert_type(x.astype(pa.int8).reshape(-1), PArray)
assert_type(x.dtype, pa.DType)
assert_type(x.shape, tuple[int, ...])
assert_type(float(x[0]), float)

# functions
assert_type(pa.astype(x, pa.bfloat16), PArray)
assert_type(pa.asarray([1, 2]), PArray)
assert_type(pa.add(x, 1), PArray)
assert_type(pa.where(x > 0, x, 0), PArray)
assert_type(pa.result_type(x, pa.int8), pa.DType)
assert_type(pa.can_cast(x, pa.int8), bool)
assert_type(pa.unique_all(x).counts, PArray)
assert_type(pa.linalg.svd(m).S, PArray)
assert_type(pa.fft.fft(x), PArray)
assert_type(pa.einsum("i->", x), PArray)
assert_type(pa.load("x.npz"), dict[str, PArray])


def doubled(y: PArray) -> PArray:
    return 2 * y.astype(pa.float32) + y.sum()


# namespaces: every function has its types
xp = pa.namespace("torch")
assert_type(xp.add(x, 1), PArray)
assert_type(xp.mean(x, axis=0), PArray)
assert_type(xp.linalg.svd(m).S, PArray)
assert_type(xp.fft.fft(x), PArray)
assert_type(xp.float32, pa.DType)
