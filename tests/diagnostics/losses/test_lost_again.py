"""Functions of integers that are carried out again: held against Python's ints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from promoarray import dtypes as dt
from promoarray.diagnostics.losses.again import Again, wrapped_again
from promoarray.diagnostics.losses.elements import Scope, Values
from promoarray.promotion.scalars import bounds

DTYPES = dt.int8, dt.uint8, dt.int16, dt.int32, dt.uint32, dt.int64, dt.uint64

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], dict[str, bool]]] = {
    "convolve": (np.convolve, ((4,), (3,)), {}),
    "correlate": (np.correlate, ((4,), (3,)), {}),
    "einsum": (lambda x, y: np.einsum("ij,jk->k", x, y), ((2, 3), (3, 2)), {}),
    "cross": (np.cross, ((2, 3), (3,)), {"subtracts": True}),
    "inner": (np.inner, ((2, 3), (3,)), {}),
    "kron": (np.kron, ((2, 2), (2,)), {}),
    "ptp": (lambda x: np.ptp(x, axis=0), ((3, 2),), {"subtracts": True}),
    "matrix_power": (lambda x: np.linalg.matrix_power(x, 3), ((2, 2),), {"goes_once": False}),
    "multi_dot": (lambda *x: np.linalg.multi_dot(x), ((2, 2), (2, 3), (3, 2)), {}),
    "add.reduceat": (lambda x: np.add.reduceat(x, [0, 2], dtype=x.dtype), ((5,),), {}),
    "multiply.accumulate": (
        lambda x: np.multiply.accumulate(x, dtype=x.dtype),
        ((4,),),
        {"goes_once": False},
    ),
    "subtract.reduce": (lambda x: np.subtract.reduce(x), ((5,),), {"subtracts": True}),
}


@st.composite
def integers(draw: st.DrawFn, dtype: dt.DType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Of one dtype, near its ends, near zero and near the root of its range."""
    low, high = bounds(dtype)
    root = 1 << dtype.bits // 2
    near = st.sampled_from([low, low + 1, 0, 1, 2, 3, root - 1, root, high // 2, high - 1, high])
    numbers = near | st.integers(low, high) | st.integers(max(low, -20), 20)
    flat = draw(st.lists(numbers, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return np.array(flat, dtype.storage).reshape(shape)


@pytest.mark.parametrize("takes_ints", [True, False], ids=["ints", "floats"])
@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_what_wraps_is_what_does_not_fit(name: str, takes_ints: bool, data: st.DataObject) -> None:
    function, shapes, how = FUNCTIONS[name]
    dtype = data.draw(st.sampled_from(DTYPES))
    arrays = [data.draw(integers(dtype, shape)) for shape in shapes]
    with np.errstate(all="ignore"):
        made = np.asarray(function(*arrays))
    exact = np.asarray(function(*(x.astype(object) for x in arrays)), object).reshape(-1).tolist()
    low, high = bounds(result := dt.as_dtype(made.dtype))
    which = [at for at, each in enumerate(exact) if not low <= each <= high]

    def carry_out(change: Callable[[Any], Any]) -> Any:
        return function(*map(change, arrays))

    given_arrays = [Values(x, dtype) for x in arrays]
    again = Again(carry_out, given_arrays, takes_ints, **how)
    found = wrapped_again(again, Values(made, result), Scope())
    if found is None:  # of 64 bits, which float64 does not tell apart
        assert not takes_ints
        assert max(map(abs, exact), default=0) >= 1 << 62 or dtype.bits == 64
        return
    assert bool(found) == bool(which)
    for loss in found:
        first = int(np.arange(made.size).reshape(made.shape)[loss.example.index])
        if "about" not in loss.example.exact:
            assert loss.example.exact == str(exact[first])
        assert loss.count == len(which) or (loss.count < len(which) and not takes_ints)
        assert first in which


def test_large_ones_are_told_without_python_ints() -> None:
    x = np.full(1 << 12, 1 << 28, np.int64)
    x[7] = (1 << 60) + 3
    y = np.arange(1 << 12, dtype=np.int64)
    made = np.convolve(x, y)
    exact = np.convolve(x.astype(object), y.astype(object))
    count = sum(abs(each) >= 1 << 63 for each in exact.tolist())
    operands = Values(x, dt.int64), Values(y, dt.int64)
    again = Again(lambda change: np.convolve(change(x), change(y)), operands)
    (loss,) = wrapped_again(again, Values(made, dt.int64), Scope()) or ()
    assert (loss.count, loss.of) == (count, made.size)
    assert loss.example.exact == str(exact[loss.example.index])


def test_what_does_something_else_is_not_told() -> None:
    x = np.array([100, 100], np.int8)
    made = Values(np.array([3], np.int8), dt.int8)
    assert (
        wrapped_again(Again(lambda change: change(x)[:1], [Values(x, dt.int8)]), made, Scope())
        is None
    )
