"""What moves values: the second call, by the fast path, answers as the first and as NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import outcome

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.observers import observers_anywhere
from promoarray.policies import as_policy

INDEX = pa.asarray([1, 0, 1])
PLACES = pa.asarray([[1, 0, 1], [0, 0, 1]], dtype=pa.int8)

MOVES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "expand_dims": (lambda xp, x: xp.expand_dims(x, axis=(0, -1)), lambda a: a[None, ..., None]),
    "squeeze": (lambda xp, x: xp.squeeze(x[:1], 0), lambda a: a[0]),
    "flip": (lambda xp, x: xp.flip(x), np.flip),
    "flip an axis": (lambda xp, x: xp.flip(x, axis=-1), lambda a: np.flip(a, -1)),
    "roll": (lambda xp, x: xp.roll(x, 4), lambda a: np.roll(a, 4)),
    "roll axes": (
        lambda xp, x: xp.roll(x, (1, -5, 3), axis=(0, 1, 1)),
        lambda a: np.roll(a, (1, -5, 3), (0, 1, 1)),
    ),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (1, 0)), np.transpose),
    "moveaxis": (lambda xp, x: xp.moveaxis(x, -1, 0), np.transpose),
    "repeat": (lambda xp, x: xp.repeat(x, 2, axis=0), lambda a: a.repeat(2, 0)),
    "repeat by an array": (
        lambda xp, x: xp.repeat(x, INDEX, axis=1),
        lambda a: a.repeat([1, 0, 1], 1),
    ),
    "tile": (lambda xp, x: xp.tile(x, (2, 1, 3)), lambda a: np.tile(a, (2, 1, 3))),
    "broadcast_to": (
        lambda xp, x: xp.broadcast_to(x, (2, 2, 3)),
        lambda a: np.broadcast_to(a, (2, 2, 3)),
    ),
    "take": (lambda xp, x: xp.take(x, INDEX, axis=1), lambda a: a[:, [1, 0, 1]]),
    "take_along_axis": (
        lambda xp, x: xp.take_along_axis(x, PLACES, axis=0),
        lambda a: np.take_along_axis(a, np.asarray([[1, 0, 1], [0, 0, 1]]), 0),
    ),
    "roll along no axis": (lambda xp, x: xp.roll(x, 1, axis=()), np.copy),
    "tril": (lambda xp, x: xp.tril(x), np.tril),
    "tril by a diagonal": (lambda xp, x: xp.tril(x, k=-1), lambda a: np.tril(a, -1)),
    "triu": (lambda xp, x: xp.triu(x, k=1), lambda a: np.triu(a, 1)),
    "meshgrid": (
        lambda xp, x: xp.meshgrid(x[0], x[1][:2]),
        lambda a: tuple(np.meshgrid(a[0], a[1][:2])),
    ),
    "meshgrid ij": (
        lambda xp, x: xp.meshgrid(x[0], x[1][:2], indexing="ij"),
        lambda a: tuple(np.meshgrid(a[0], a[1][:2], indexing="ij")),
    ),
    "broadcast_arrays": (
        lambda xp, x: xp.broadcast_arrays(x, x[0]),
        lambda a: tuple(np.broadcast_arrays(a, a[0])),
    ),
    "broadcast_arrays of one shape": (
        lambda xp, x: xp.broadcast_arrays(x, x),
        lambda a: (a, a),
    ),
    "unstack": (lambda xp, x: xp.unstack(x, axis=1), lambda a: tuple(a.T)),
    "nonzero": (lambda xp, x: xp.nonzero(x), np.nonzero),
    "count_nonzero": (lambda xp, x: xp.count_nonzero(x), lambda a: np.asarray(np.count_nonzero(a))),
    "count_nonzero of axes": (
        lambda xp, x: xp.count_nonzero(x, axis=0, keepdims=True),
        lambda a: np.count_nonzero(a, axis=0, keepdims=True),
    ),
}

STORED = [np.float32, np.bool, np.int16, np.complex64, ml_dtypes.bfloat16, ml_dtypes.int4]


def frames(run: Callable[[], object]) -> set[str]:
    """The files of ours that a call goes through, and the names of the functions."""
    passed = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            passed.update({code.co_filename.rpartition("/promoarray/")[2], code.co_name})

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return passed


@pytest.mark.parametrize("stored", STORED, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", MOVES)
def test_answers_are_numpys_and_come_without_the_function(name: str, stored: Any) -> None:
    ours, theirs = MOVES[name]
    values = np.asarray([[0, 1, 0], [1, 1, 0]]).astype(stored)
    x = pa.asarray(values)
    with pa.policy(as_policy("numpy").derive("nothing kept")):
        first = ours(pa, x)
        passed = frames(lambda: ours(pa, x))
        assert outcome(ours, pa, x) == outcome(lambda: first)
    assert "slow" not in passed
    expected = theirs(values)
    if not isinstance(expected, tuple):
        first, expected = (first,), (expected,)
    found = [(x.shape, x._buffer.dtype, x._buffer.tobytes()) for x in first]
    assert found == [(e.shape, e.dtype, e.tobytes()) for e in expected]


ORDERS = st.sampled_from(["C", "F", "strided", "backwards"])
TIMES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def laid_out(shape: tuple[int, ...], dtype: Any = np.int32, order: str = "C") -> Any:
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


@given(st.lists(st.integers(0, 4), max_size=4).map(tuple), st.sampled_from(STORED[2:]), ORDERS,
       TIMES, st.data())  # fmt: skip
def test_answers_and_views_are_numpys_whatever_the_layout(
    shape: tuple[int, ...], dtype: Any, order: str, times: Any, data: st.DataObject
) -> None:
    values, count = laid_out(shape, dtype, order), len(shape)
    x = pa.asarray(values, copy=False)
    shifts = data.draw(st.integers(-9, 9) | st.lists(st.integers(-9, 9), min_size=1).map(tuple))
    wider = (*times, *(data.draw(st.integers(0, 3)) if n == 1 else n for n in shape))
    ways = [data.draw(st.permutations(range(count)))[: len(times)] for _ in range(2)]
    found = [
        (pa.tile(x, times), np.tile(values, times)),
        (pa.broadcast_to(x, wider), np.broadcast_to(values, wider)),
        (pa.moveaxis(x, *ways), np.moveaxis(values, *ways)),
    ]
    if type(shifts) is int:
        found.append((pa.roll(x, shifts), np.roll(values, shifts)))
    if count:
        axes = [data.draw(st.integers(0, count - 1)) for _ in np.atleast_1d(shifts)]
        along = axes[0] if type(shifts) is int else tuple(axes)
        found.append((pa.roll(x, shifts, axis=along), np.roll(values, shifts, along)))
        axis, length = axes[0], shape[axes[0]]
        picks = data.draw(st.integers(0, 3)) if length else 0
        index = laid_out((*shape[:axis], picks, *shape[axis + 1 :])).astype(np.int64)
        index = index % (2 * length) - length if length else index
        taken = pa.take_along_axis(x, pa.asarray(index), axis=axis)
        found.append((taken, np.take_along_axis(values, index, axis)))
    for ours, theirs in found:
        buffer = ours._buffer
        assert (buffer.dtype, buffer.shape) == (theirs.dtype, theirs.shape)
        assert buffer.tobytes() == theirs.tobytes()
    for ours, theirs in found[1:3]:
        assert ours._buffer.strides == theirs.strides
    assert not found[1][0]._buffer.flags.writeable
    assert not np.shares_memory(found[0][0]._buffer, values)


def test_strings_and_scalars_stay_arrays() -> None:
    words = pa.asarray(np.asarray(["a", "b" * 99], np.dtypes.StringDType()))
    one = pa.asarray([1])
    for made in (
        pa.take(words, one, axis=0),
        pa.take_along_axis(words, one, axis=0),
        pa.roll(words, 1)[:1],
        pa.tile(words, (2,))[1:2],
        pa.flip(words)[:1],
    ):
        assert made.dtype is words.dtype
        assert np.asarray(made._buffer).tolist() == ["b" * 99]
    zero = pa.asarray(2.5)
    assert type(pa.flip(zero)._buffer) is np.ndarray


AXES = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.booleans(),
    st.lists(st.integers(-3, 3), max_size=3).map(tuple),
    st.sampled_from([1.0, "a", [0], 2**70, (True,), np.int64(1)]),
)
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "expand_dims": lambda x, a, b: pa.expand_dims(x, a),
    "expand_dims by name": lambda x, a, b: pa.expand_dims(x, axis=a),
    "squeeze": lambda x, a, b: pa.squeeze(x, a),
    "flip": lambda x, a, b: pa.flip(x, axis=a),
    "flip by position": lambda x, a, b: pa.flip(x, a),
    "roll": lambda x, a, b: pa.roll(x, a, axis=b),
    "permute_dims": lambda x, a, b: pa.permute_dims(x, a),
    "moveaxis": lambda x, a, b: pa.moveaxis(x, a, b),
    "repeat": lambda x, a, b: pa.repeat(x, a, axis=b),
    "tile": lambda x, a, b: pa.tile(x, a) if a != 2**70 else x,
    "broadcast_to": lambda x, a, b: pa.broadcast_to(x, a),
    "take": lambda x, a, b: pa.take(x, INDEX, axis=a),
    "take_along_axis": lambda x, a, b: pa.take_along_axis(x, INDEX, axis=a),
    "unstack": lambda x, a, b: pa.unstack(x, axis=a),
    "count_nonzero": lambda x, a, b: pa.count_nonzero(x, axis=a, keepdims=b),
}


@given(
    shapes=st.lists(SHAPES, min_size=2, max_size=5),
    name=st.sampled_from(sorted(CALLS)),
    a=AXES,
    b=AXES,
)
def test_what_is_kept_of_one_array_is_right_for_the_next(
    shapes: list[tuple[int, ...]], name: str, a: Any, b: Any
) -> None:
    """A policy that begins with nothing kept says what it ought to be: answers and errors."""
    arrays = [pa.asarray(np.arange(np.prod(s, dtype=int)).reshape(s) % 2) for s in shapes]
    with pa.policy(as_policy("numpy").derive("kept")):
        kept = [outcome(lambda x=x: CALLS[name](x, a, b)) for x in arrays]
    for x, found in zip(arrays, kept, strict=True):
        with pa.policy(as_policy("numpy").derive("fresh")):
            assert found == outcome(lambda x=x: CALLS[name](x, a, b))


def test_policies_are_kept_apart() -> None:
    x = pa.asarray([1.5, 0.0])
    for _ in range(2):
        for policy, shared in {"numpy": True, "torch": False}.items():
            with pa.policy(policy):
                assert np.shares_memory(pa.flip(x)._buffer, x._buffer) is shared
        for policy, dtype in {"numpy": pa.int64, "jax@x32": pa.int32}.items():
            with pa.policy(policy):
                assert pa.nonzero(x)[0].dtype is pa.count_nonzero(x).dtype is dtype
        index = pa.asarray([1], dtype=pa.int8)
        assert pa.take(x, index).shape == (1,)
        with pa.policy("torch"), pytest.raises(pa.PromotionError, match="torch"):
            pa.take(x, index)


def test_memory_is_that_of_the_array_where_numpys_is() -> None:
    x = pa.asarray([[1.5, 2.5]])
    for _ in range(2):
        for view in (pa.expand_dims(x, axis=0), pa.squeeze(x, 0), pa.flip(x), pa.moveaxis(x, 0, 1)):
            assert np.shares_memory(view._buffer, x._buffer)
        assert all(np.shares_memory(row._buffer, x._buffer) for row in pa.unstack(x))
        assert not pa.broadcast_to(x, (3, 1, 2))._buffer.flags.writeable
        for copied in (pa.roll(x, 0), pa.tile(x, 1), pa.repeat(x, 1), pa.take(x, INDEX, axis=1)):
            assert not np.shares_memory(copied._buffer, x._buffer)


def test_bound_functions_answer_with_their_arrays_and_mix_no_others() -> None:
    xp, others = pa.namespace("torch"), pa.namespace("jax")
    bound, free, foreign = xp.asarray([1.5]), pa.asarray([1.5]), others.asarray([1.5])
    calls: list[Callable[[Any], Any]] = [
        xp.flip,
        lambda x: xp.reshape(x, (1, 1)),
        lambda x: xp.unstack(x)[0],
        lambda x: xp.nonzero(x)[0],
        lambda x: xp.take(x, xp.asarray([0])),
    ]
    for call in calls:
        for _ in range(2):
            assert type(call(bound)) is type(call(free)) is type(bound)
            with pytest.raises(TypeError, match="do not mix"):
                call(foreign)
    assert not np.shares_memory(xp.flip(bound)._buffer, bound._buffer)  # the namespace's policy


def test_weakly_typed_arrays_stay_so_and_are_counted_as_they_are_stored() -> None:
    with pa.policy("jax"):
        for stored in (np.float32, np.float64):
            weak = pa.PArray._wrap(np.asarray([0.0, 1e-40], stored), dt.weak_float)
            for _ in range(2):
                assert pa.flip(weak).weak_type
                assert pa.flip(weak).dtype == np.dtype(stored)
                assert pa.count_nonzero(weak).item() == 1
                assert pa.take(weak, INDEX).weak_type


def test_what_reports_carry_goes_through_and_nobody_is_told() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    pa.flip(x)
    with pa.shadow("torch", "numpy@1") as report:
        y = x / 2
        assert observers_anywhere
        assert type(y._type) is not dt.DType
        told = report.to_dict()
        for _ in range(3):
            assert pa.flip(y)._type is y._type
            assert pa.take(y, INDEX)._type is y._type
            assert all(each._type is y._type for each in pa.unstack(y))
        assert report.to_dict() == told
        assert pa.nonzero(y)[0]._type is dt.int64  # as it is to both
