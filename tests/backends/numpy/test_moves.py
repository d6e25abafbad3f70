"""What moves values is as NumPy's own functions are, and stays an array of its dtype."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from promoarray.backends.numpy.moves import move

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)
TIMES = st.lists(st.integers(0, 3), max_size=4).map(tuple)
DTYPES = st.sampled_from([np.int32, np.complex64, ml_dtypes.bfloat16, ml_dtypes.int4])
ORDERS = st.sampled_from(["C", "F", "strided", "backwards"])


def array(shape: tuple[int, ...], dtype: Any = np.int32, order: str = "C") -> Any:
    """Different values, laid out in several ways."""
    values = (np.arange(np.prod(shape, dtype=int)) % 7).astype(dtype).reshape(shape)
    if order == "strided":
        wide = np.zeros((*shape, 2), dtype)
        wide[..., 0] = values
        return wide[..., 0]
    if order == "backwards":
        every = (..., *[slice(None, None, -1)] * len(shape))
        return values[every].copy()[every]
    return np.asarray(values, order=order)


def same(ours: Any, theirs: Any) -> None:
    assert type(ours) is np.ndarray
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert ours.tobytes() == theirs.tobytes()


@given(SHAPES, DTYPES, ORDERS, st.data())
def test_roll(shape: tuple[int, ...], dtype: Any, order: str, data: st.DataObject) -> None:
    x, count = array(shape, dtype, order), len(shape)
    shift = data.draw(st.integers(-9, 9) | st.lists(st.integers(-9, 9), min_size=1, max_size=3))
    shift = tuple(shift) if isinstance(shift, list) else shift
    one = count and st.integers(0, count - 1).map(lambda axis: (axis,))
    axis = data.draw(st.none() | one if count else st.none())
    same(move("roll", x, shift, axis=axis), np.roll(x, shift, axis))
    if count and isinstance(shift, tuple):
        axes = tuple(data.draw(st.integers(0, count - 1)) for _ in shift)
        same(move("roll", x, shift, axis=axes), np.roll(x, shift, axes))


@given(SHAPES, DTYPES, ORDERS, TIMES | st.integers(0, 5))
def test_tile(shape: tuple[int, ...], dtype: Any, order: str, times: Any) -> None:
    x = array(shape, dtype, order)
    made = move("tile", x, times)
    same(made, np.tile(x, times))
    assert not np.shares_memory(made, x)


@given(SHAPES, TIMES, ORDERS, st.data())
def test_broadcast_to(
    shape: tuple[int, ...], front: tuple[int, ...], order: str, data: st.DataObject
) -> None:
    x = array(shape, np.int32, order)
    wider = tuple(data.draw(st.integers(0, 3)) if n == 1 else n for n in shape)
    view = move("broadcast_to", x, (*front, *wider))
    expected = np.broadcast_to(x, (*front, *wider))
    same(view, expected)
    assert view.strides == expected.strides
    assert view.flags.writeable is expected.flags.writeable is False


@given(SHAPES.filter(len), DTYPES, ORDERS, st.data())
def test_take_along_axis(
    shape: tuple[int, ...], dtype: Any, order: str, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    length = shape[axis]
    picks = data.draw(st.integers(0, 3)) if length else 0
    index = array((*shape[:axis], picks, *shape[axis + 1 :])).astype(np.int64)
    index = index % (2 * length) - length if length else index
    x = array(shape, dtype, order)
    made = move("take_along_axis", x, index, axis=axis)
    same(made, np.take_along_axis(x, index, axis))


@given(SHAPES, st.data())
def test_moveaxis(shape: tuple[int, ...], data: st.DataObject) -> None:
    x, axes = array(shape), st.permutations(range(len(shape)))
    count = data.draw(st.integers(0, len(shape)))
    source, destination = (tuple(data.draw(axes)[:count]) for _ in range(2))
    made = move("moveaxis", x, source, destination)
    same(made, np.moveaxis(x, source, destination))
    assert made.strides == np.moveaxis(x, source, destination).strides


def test_strings_and_scalars_stay_arrays() -> None:
    words = np.asarray(["a", "b" * 99], np.dtypes.StringDType())
    for made in (
        move("take", words, np.asarray(1), axis=0),
        move("take_along_axis", words, np.asarray([1]), axis=0),
        move("roll", words, 1, axis=None)[:1],
        move("tile", words, 2)[1:2],
        move("flip", words, axis=(0,))[:1],
    ):
        assert type(made) is np.ndarray
        assert made.dtype == words.dtype
        assert made.reshape(-1).tolist() == ["b" * 99]
    zero = np.asarray(2.5)
    for name, options in {"flip": {"axis": ()}, "expand_dims": {"axis": ()}}.items():
        assert move(name, zero, **options).base is zero
