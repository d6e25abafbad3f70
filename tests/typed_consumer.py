"""A program that type checkers read as its author's: what it says of our types is what they are.

``tests/test_typing.py`` has mypy check it; nobody runs it.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np

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


# NumPy's names and methods: arrays of any library, numbers and lists; one axis or several
assert_type(pa.median(np.array([1, 2]), axis=np.int64(0)), PArray)
assert_type(pa.percentile([[1, 2.5]], [25, 50], axis=(0, 1)), PArray)
assert_type(pa.vstack([x, np.zeros(3), [1, 2, 3]]), PArray)
assert_type(pa.concatenate((x, np.zeros(3))), PArray)
assert_type(pa.split(x, [1, 2]), list[PArray])
assert_type(pa.histogram(x, bins=[0.0, 1.0]), tuple[PArray, PArray])
assert_type(pa.pad(m, ((1, 1), (0, 0)), constant_values=1), PArray)
assert_type(pa.allclose(x, [1, 2, 3], rtol=1e-5), bool)
assert_type(pa.arctan2(x, 1.0), PArray)
assert_type(pa.nansum(m, (0, 1), "float32"), PArray)
assert_type(m.sum((0, 1)), PArray)
assert_type(m.std(0, np.float32, ddof=1), PArray)
assert_type(m.transpose(1, 0).clip(min=np.float32(0)).take([0], axis=0), PArray)
assert_type(x.fill(3), None)


def doubled(y: PArray) -> PArray:
    return 2 * y.astype(pa.float32) + y.sum()


# namespaces: every function has its types
xp = pa.namespace("torch")
assert_type(xp.add(x, 1), PArray)
assert_type(xp.mean(x, axis=0), PArray)
assert_type(xp.linalg.svd(m).S, PArray)
assert_type(xp.fft.fft(x), PArray)
assert_type(xp.median([x, x], axis=0), PArray)
assert_type(xp.shape(x), tuple[int, ...])
assert_type(xp.float32, pa.DType)
