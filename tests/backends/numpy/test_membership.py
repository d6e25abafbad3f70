"""``isin`` of numbers of few codes, by a table of them: what NumPy finds among float64."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt

RNG = np.random.default_rng(8)
FEW_CODES = [d for d in dt.CONCRETE if d is not dt.string and d.storage.itemsize <= 2]
LAYOUTS = {
    "a row": lambda x: x,
    "reversed": lambda x: x[::-1],
    "columns": lambda x: x.reshape(4, -1).T,
    "strided": lambda x: x[::2],
    "none": lambda x: x[:0],
    "one": lambda x: x[1].reshape(()),
}


def every_code(dtype: dt.DType) -> np.ndarray[Any, Any]:
    """All codes of a dtype once."""
    codes = np.arange(2 if dtype is dt.bool else 1 << dtype.bits)
    if dtype.kind is dt.Kind.INT:
        codes -= (codes >> dtype.bits - 1) << dtype.bits
        return codes.astype(dtype.storage)
    return codes.astype(f"u{dtype.storage.itemsize}").view(dtype.storage)


def compared(x: np.ndarray[Any, Any], dtype: dt.DType) -> np.ndarray[Any, Any]:
    """The values as NumPy compares them rightly."""
    with np.errstate(invalid="ignore"):
        return x.astype(np.float64) if dtype.kind is dt.Kind.FLOAT else x


@pytest.mark.parametrize("dtype", FEW_CODES, ids=str)
@pytest.mark.parametrize("size", [1 << 13, 1 << 17], ids=["few", "many"])
def test_every_code_is_found_among_the_values_that_equal_it(dtype: dt.DType, size: int) -> None:
    codes = every_code(dtype)
    x = np.resize(RNG.permutation(codes), size)
    some = [RNG.choice(codes, n) for n in (1, 9, 200)]
    sought = [codes, codes[:0], codes[-1].reshape(()), *some]
    # The dtypes take turns: how an array lies is nothing to what is looked for.
    every = product(sought, LAYOUTS, (False, True))
    for among, layout, invert in turns(every, 3, FEW_CODES.index(dtype)):
        given = LAYOUTS[layout](x)
        values = compared(given, dtype), compared(among, dtype)
        expected = np.isin(*values, invert=invert)
        operands = pa.asarray(given, dtype=dtype), pa.asarray(among, dtype=dtype)
        found = pa.isin(*operands, invert=invert)
        assert found.dtype is pa.bool
        assert np.array_equal(np.asarray(found), expected), (layout, invert, among.size)
