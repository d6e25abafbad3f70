"""``x[key]``, ``x[key] = y`` and what moves values: NumPy's answers, and no write lost."""

from __future__ import annotations

import operator
from functools import partial
from random import Random
from typing import Any

import dask
import numpy as np
import pytest
from lazily import answer, bits, lazy
from sampled import turns

import promoarray as pa

DTYPES = (pa.float32, pa.bfloat16, pa.float8_e5m2, pa.complex64, pa.int4, pa.bool)


def array(shape: tuple[int, ...], dtype: Any) -> pa.PArray:
    values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) % 7
    return pa.asarray(values).astype(dtype)


def part(random: Random, n: int) -> Any:
    ends = [None, *range(-n - 1, n + 2)]
    indices = random.choices(range(-n, n), k=4) if n else []
    return random.choice(
        [
            slice(random.choice(ends), random.choice(ends), random.choice([None, 1, 2, -1, -2])),
            slice(None),
            indices[:1] and indices[0],
            indices[: random.randrange(4)],
            np.array(indices).reshape(-1, 2) if n else slice(None),
            np.array([random.random() < 0.5 for _ in range(n)], bool),
        ]
    )


def key(random: Random, shape: tuple[int, ...]) -> Any:
    if random.random() < 0.15:
        return np.array(random.choices([True, False], k=int(np.prod(shape)))).reshape(shape)
    parts = [part(random, n) for n in shape[: random.randint(0, len(shape))]]
    for extra in (None, Ellipsis, True):
        if random.random() < 0.15:
            parts.insert(random.randint(0, len(parts)), extra)
    return tuple(parts)


def test_any_key_reads_and_writes_what_it_does_in_numpy() -> None:
    random = Random(15)
    for _ in range(40):
        shape = tuple(random.randint(0, 5) for _ in range(random.randint(1, 3)))
        x, where = array(shape, random.choice(DTYPES)), key(random, shape)
        there = lazy(x, random.randint(1, 3)) if 0 not in shape else lazy(x, -1)
        here = answer(lambda x=x, where=where: x[where])
        if isinstance(here, Exception):
            with pytest.raises(type(here)):
                _ = there[where]
            continue
        assert bits(there[where]) == bits(here), (shape, where)
        values = array(here.shape, x.dtype)
        given = random.choice([1, values, lazy(values, -1)])
        mine, lazily = x.copy(), there.copy()
        mine[where] = 1 if type(given) is int else values
        lazily[where] = given
        assert bits(lazily) == bits(mine), (shape, where, given)


def test_one_place_takes_the_arrays_that_it_takes_in_memory() -> None:
    mask = np.array([True, False])
    for dtype in DTYPES[1::2]:
        for shape in ((), (1,), (1, 1), (2,), (0,)):
            for key, room in (*((0, (2,)), ((), ()), (Ellipsis, ()), (True, ())), (mask, (2,))):
                x, y = array(room, dtype), array(shape, dtype)
                there = x.to_device("dask")
                told = [answer(operator.setitem, each, key, y) for each in (there, x)]
                assert bits(told[0] or there) == bits(told[1] or x), (dtype, shape, key)


@pytest.mark.parametrize("policy", ["numpy@1", "paddle@3.3", "numpy@2"])
def test_a_lazy_array_of_one_element_at_one_place(policy: str) -> None:
    x, values = lazy(array((3,), pa.int16)), lazy(pa.asarray([5], dtype=pa.int16))
    with pa.policy(policy):
        if policy == "numpy@2":
            with pytest.raises(ValueError, match="does not broadcast"):
                x[1] = values
        else:
            x[1] = values
            assert x.compute().tolist() == [0, 5, 2]


def test_masks_and_indices_that_are_computed_later() -> None:
    x = array((4, 6), pa.bfloat16)
    there, rows = lazy(x), pa.asarray([3, 0, -1])
    assert bits(there[there > 3]) == bits(x[x > 3])
    assert bits(there[lazy(x[:, 0] > 1)]) == bits(x[x[:, 0] > 1])
    assert bits(there[:, lazy(rows)]) == bits(x[:, rows])
    mine, lazily = x.copy(), there.copy()
    mine[x > 3], lazily[there > 3] = 0, 0
    assert bits(lazily) == bits(mine)
    with pytest.raises(IndexError, match="out of bounds for axis 1 with size 6"):
        there[:, lazy(pa.asarray([6]))].compute()
    assert bits(there[lazy(rows), lazy(rows)]) == bits(x[rows, rows])  # of axes in several blocks
    with pytest.raises(IndexError, match=r"i\.compute\(\)"):
        _ = there[lazy(x[:, 0] > 1), [1, 2, 0]]
    with pytest.raises(IndexError, match="out of bounds for axis 1 with size 6"):
        there[lazy(rows), lazy(rows + 4)].compute()


def test_a_mask_beside_an_axis_of_one_in_several_blocks() -> None:
    x = array((6, 2), pa.float32)
    there = lazy(x, 3)[1:2]
    assert there.chunks[0] == (1,)
    there = there.rechunk(((1, 0), (1, 1)))
    mask = np.array([False, True])
    found = there[:, pa.asarray(mask).to_device("dask")]
    assert bits(found) == bits(x[1:2, mask])
    assert bits(found.compute_chunk_sizes()) == bits(x[1:2, mask])


def test_blocks_that_a_mask_left_empty_count_for_nothing() -> None:
    x, mask = array((6, 2), pa.float32), np.arange(6) > 2
    there = lazy(x)[pa.asarray(mask).to_device("dask").rechunk(2)]
    for options in ({}, {"axis": 0}):
        for reduce in (pa.max, pa.min, pa.sum, pa.mean):
            assert bits(reduce(there, **options)) == bits(reduce(x[mask], **options))
        made = pa.var(there, **options).compute()
        np.testing.assert_allclose(made, pa.var(x[mask], **options), rtol=1e-6)
    with pytest.raises(ValueError, match=r"unknown length: write x\.compute_chunk_sizes"):
        pa.argmax(there)
    with pytest.raises(ValueError, match="zero-size array"):
        pa.max(there[there[:, 0] > 99]).compute()


LAZY_KEYS: dict[str, tuple[Any, ...]] = {
    "two axes": ([[1], [0]], slice(None), [3, 0, -1]),
    "beside one in memory": ([1, 0, 1], np.array([[2], [0]])),
    "behind an integer": (1, slice(None), [3, 0]),
    "apart, with a new axis": ([1, 0], None, [2, 1]),
    "of two axes": (slice(None), [[2, 1], [0, 0]]),
    "of none": (slice(None), 1),
    "of no elements": (slice(None), np.zeros((0, 2), np.int64)),
    "mask, behind an integer": (0, slice(None), [True, False, True, True]),
    "mask of two axes": (slice(None), np.arange(12).reshape(3, 4) % 5 > 1),
    "mask of no axes": (Ellipsis, True, 0),
}


@pytest.mark.parametrize("name", LAZY_KEYS)
def test_keys_that_are_computed_later_lead_where_they_do_in_numpy(name: str) -> None:
    x, where = array((2, 3, 4), pa.bfloat16), LAZY_KEYS[name]
    key = tuple(pa.asarray(part) if isinstance(part, (list, bool)) else part for part in where)
    if not any(isinstance(part, pa.PArray) for part in key):
        key = (*where[:-1], pa.asarray(where[-1]))
    later = tuple(lazy(part, -1) if isinstance(part, pa.PArray) else part for part in key)
    assert bits(x.to_device("dask")[later]) == bits(x[key])
    assert bits(lazy(x)[later]) == bits(x[key])


def test_shapes_that_do_not_join_are_told_alike() -> None:
    for one, other in (((4, 1), (1, 3)), ((4, 2), (4, 3)), ((4,), (4, 1)), ((2, 2), (3, 2))):
        x, y = array(one, pa.float32), array(other, pa.float32)
        for join in (pa.concat, pa.stack):
            for axis in (0, -1):
                told = [
                    bits(answer(join, each, axis=axis)) for each in ([x, y], [lazy(x), lazy(y)])
                ]
                assert told[0] == told[1], (join, one, other, axis)


def test_positions_of_true_where_blocks_are_empty() -> None:
    for chunks in (((1, 2, 0), (1, 1)), ((0, 3), (2,)), ((0, 0, 3), (0, 1, 1))):
        x = array((3, 2), pa.int8)
        for each in (x, x * 0):
            there = each.to_device("dask").rechunk(chunks)
            assert list(map(bits, pa.nonzero(there))) == list(map(bits, pa.nonzero(each)))
            assert bits(pa.reshape(there, (2, 3))) == bits(pa.reshape(each, (2, 3)))


def test_a_difference_along_an_axis_that_is_not_there_is_refused_each_time() -> None:
    for shape, axis in (((3,), 0), ((3,), 1), ((3,), -2), ((), 0), ((), -1)):
        x = array(shape, pa.float32)
        told = [bits(answer(pa.diff, each, axis=axis)) for each in (x, x.to_device("dask"))]
        assert told[0] == told[1]


def test_an_index_beyond_an_axis_is_told_where_nothing_is_taken() -> None:
    for shape in ((0, 2), (2, 0), (0, 0)):
        for index in ([5], [-1], np.zeros(0, np.int64)):
            for axis in (0, 1):
                take = partial(pa.take, axis=axis)
                x, i = pa.zeros(shape), pa.asarray(index)
                here, there = answer(take, x, i), answer(take, lazy(x, -1), lazy(i, -1))
                assert bits(there)[0] is bits(here)[0], (shape, index, axis)


MOVES: dict[str, Any] = {
    "reshape": lambda x: pa.reshape(x, (3, -1)),
    "flat": lambda x: pa.reshape(x, (-1,)),
    "permute": lambda x: pa.permute_dims(x, (1, 0)),
    "T": lambda x: x.T,
    "expand": lambda x: pa.expand_dims(x, axis=(0, -1)),
    "squeeze": lambda x: pa.squeeze(x[:1], axis=0),
    "flip": lambda x: pa.flip(x, axis=1),
    "roll": lambda x: pa.roll(x, (1, -2), axis=(0, 1)),
    "roll flat": lambda x: pa.roll(x, 3),
    "repeat": lambda x: pa.repeat(x, 2, axis=0),
    "repeats": lambda x: pa.repeat(x, pa.asarray([0, 2, 1, 3]), axis=0),
    "tile": lambda x: pa.tile(x, (2, 1, 2)),
    "take": lambda x: pa.take(x, pa.asarray([[2, 0], [-1, 1]]), axis=1),
    "take_along_axis": lambda x: pa.take_along_axis(x, pa.asarray([[5], [0], [1], [-1]])),
    "broadcast": lambda x: pa.broadcast_to(x, (2, 4, 6)),
    "concat": lambda x: pa.concat([x, x[:2]], axis=0),
    "stack": lambda x: pa.stack([x, x], axis=1),
    "unstack": lambda x: pa.unstack(x)[1],
    "tril": lambda x: pa.tril(x, k=1),
    "triu": lambda x: pa.triu(x, k=-1),
    "diagonal": lambda x: pa.linalg.diagonal(x, offset=1),
    "diff": lambda x: pa.diff(x),
    "fftshift": lambda x: pa.fft.fftshift(x),
    "nonzero": lambda x: pa.nonzero(x)[1],
    "count_nonzero": lambda x: pa.count_nonzero(x, axis=0),
    "view": lambda x: x.view(pa.uint16),
    "too long": lambda x: pa.reshape(x, (5, 5)),
    "too long and unknown": lambda x: pa.reshape(x, (-1, 7)),
}


@pytest.mark.parametrize("move", MOVES)
def test_values_move_as_in_numpy(move: str) -> None:
    x = array((4, 6), pa.bfloat16)
    assert bits(answer(MOVES[move], lazy(x))) == bits(answer(MOVES[move], x))


RANGES: list[Any] = [
    lambda **where: pa.arange(0.1, 7, 0.3, **where),
    lambda **where: pa.arange(9, -50, -3, dtype=pa.float8_e4m3fn, **where),
    lambda **where: pa.arange(2.5, 40.0, 1.5, dtype=pa.float16, **where),
    lambda **where: pa.arange(2**63 - 2, 2**63 + 2, dtype=pa.uint64, **where),
    lambda **where: pa.arange(300, dtype=pa.uint8, **where),
    lambda **where: pa.linspace(0, 1, 50, endpoint=False, **where),
    lambda **where: pa.linspace(-3.5, 9, 40, dtype=pa.int16, **where),
    lambda **where: pa.linspace(0, 5e-324, 9, **where),
    lambda **where: pa.linspace(0, 1 - 2j, 9, **where),
    lambda **where: pa.eye(3, 40, k=7, dtype=pa.bfloat16, **where),
    lambda **where: pa.eye(0, 4, **where),
    lambda **where: pa.full((2, 30), 5, dtype=pa.float8_e4m3fn, **where),
    lambda **where: pa.zeros((-1, 3), **where),
    lambda **where: pa.fft.fftfreq(51, d=0.1, **where),
    lambda **where: pa.fft.rfftfreq(50, **where),
]
IN_BLOCKS = ["numpy@2", "numpy@1", "torch@2.13", "paddle@3.3"]


@pytest.mark.parametrize("policy", IN_BLOCKS)
def test_ranges_are_made_in_blocks_with_the_bits_of_numpy(policy: str) -> None:
    with pa.policy(policy), dask.config.set({"array.chunk-size": "64B"}):
        for make in turns(RANGES, 2, IN_BLOCKS.index(policy)):  # each under two policies
            here, there = answer(make), answer(lambda make=make: make(device="dask"))
            assert bits(there) == bits(here), make
            assert isinstance(there, Exception) or there.device == "dask"
    assert pa.eye(3, 5, device="dask").compute().tolist() == pa.eye(3, 5).tolist()  # of one block
    assert pa.arange(10**12, device="dask")[-1].compute().item() == 10**12 - 1


def test_a_write_that_another_array_would_see_is_refused() -> None:
    x = lazy(array((4, 6), pa.float32))
    view = x.T
    with pytest.raises(ValueError, match="views of the same values"):
        x[0] = 1.0
    with pytest.raises(ValueError, match="views of the same values"):
        view += 1
    del view
    x[0] = 1.0
    assert x.compute()[0].tolist() == [1.0] * 6
    y = x[1:]
    del x
    y += 1
    with pytest.raises(ValueError, match="read-only"):
        pa.broadcast_to(y, (2, 3, 6))[...] = 0


def test_codes_that_a_narrow_dtype_lacks_are_told_when_computed() -> None:
    codes = lazy(pa.asarray([3, 200], dtype=pa.uint8)).view(pa.int4)
    with pytest.raises(ValueError, match="int4 has no code beyond 15"):
        codes.compute()
