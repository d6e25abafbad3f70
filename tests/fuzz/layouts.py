"""NumPy arrays of every layout: answers as of contiguous copies, and nothing else is written.

Views with steps, backwards, transposed, broadcast, of the other byte order, misaligned, read-only
and empty; operators, functions, casts and assignment; of dtypes and policies drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from promoarray import dtypes

STORED = [row for row in dtypes.CONCRETE if row.storage is not None]
OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: pa.sqrt(x),
    lambda x, y: pa.floor(pa.abs(x)),
    lambda x, y: x < y,
    lambda x, y: x + y,
    lambda x, y: pa.where(pa.astype(x, pa.bool), x, y),
    lambda x, y: pa.concat([pa.reshape(x, (-1,)), pa.reshape(y, (-1,))]),
    lambda x, y: pa.max(x),
    lambda x, y: pa.astype(x, y.dtype),
    lambda x, y: pa.flip(x),
    lambda x, y: x + y[..., :1] if y.ndim else x + y,
    lambda x, y: pa.where(pa.astype(x, pa.bool), x, y[..., :1] if y.ndim else y),
    lambda x, y: pa.clip(x, 0, 1),
]


def one_of(random: Generator, choices: Sequence[Any]) -> Any:
    """Return one of a sequence."""
    return choices[int(random.integers(len(choices)))]


def numbers(random: Generator, shape: tuple[int, ...], dtype: dtypes.DType) -> Any:
    """Return an ndarray of random bits; a bool's are 0 and 1."""
    if dtype is dtypes.bool:
        return random.integers(0, 2, shape).astype(bool)
    storage = np.dtype(dtype.storage)
    bits = random.integers(0, 256, (*shape, storage.itemsize), dtype=np.uint8)
    if dtype.bits < 8:
        bits = bits & np.uint8(2**dtype.bits - 1)
    return bits.view(storage).reshape(shape)


def laid_out(random: Generator, plain: Any) -> Any:
    """Return an array of the same numbers in another layout."""
    way = int(random.integers(7))
    if way == 0 and plain.ndim:
        wide = np.repeat(plain, 3, axis=-1)
        return wide[..., 1::3]
    if way == 1 and plain.ndim:
        return np.array(plain[..., ::-1], order="C")[..., ::-1]
    if way == 2:
        return np.array(plain, order="F")
    if way == 3 and plain.dtype.isbuiltin == 1 and plain.dtype.itemsize > 1:
        return plain.astype(plain.dtype.newbyteorder())
    if way == 4:
        beside = np.zeros(plain.nbytes + 1, np.uint8)[1:].view(plain.dtype).reshape(plain.shape)
        beside[...] = plain
        return beside
    if way == 5:
        kept = plain.copy()
        kept.flags.writeable = False
        return kept
    return plain


def answer(function: Callable[[Any, Any], Any], x: Any, y: Any) -> tuple[Any, Any, bytes] | str:
    """Return dtype, shape and bits of a result, or what was raised."""
    try:
        found = function(x, y)
    except Exception as error:
        return type(error).__name__
    return found.dtype, found.shape, bits(found._buffer)


def bits(buffer: Any) -> bytes:
    """Return a buffer's bits, with one NaN: which bits it has hangs on the instructions."""
    held = np.array(buffer, order="C").reshape(-1)
    if held.dtype.kind == "c":
        held = held.view(held.real.dtype)
    if pa.isdtype(held.dtype, "real floating"):
        held[np.isnan(held)] = np.nan
    return held.tobytes()


def once(random: Generator) -> None:
    """One operation on operands of two layouts, under one policy."""
    shape = tuple(int(n) for n in random.integers(0, 5, int(random.integers(0, 4))))
    if random.random() < 0.2:
        shape = (int(random.integers(0, 40_000)),)
    first, second = one_of(random, STORED), one_of(random, STORED)
    plain = [numbers(random, shape, first), numbers(random, shape, second)]
    other = [laid_out(random, array) for array in plain]
    before = [array.tobytes() for array in other]
    # NumPy's loops over complex numbers round otherwise where they are not contiguous.
    inexact = {first.kind, second.kind} & {dtypes.Kind.COMPLEX}
    function = one_of(random, OPERATIONS[4:] if inexact else OPERATIONS)
    with pa.policy(one_of(random, pa.list_policies())), np.errstate(all="ignore"):
        wanted = answer(function, *(pa.asarray(array.copy()) for array in plain))
        given = answer(function, *(pa.asarray(array) for array in other))
        assert given == wanted, (pa.get_policy().name, first, second, shape)
        assert [array.tobytes() for array in other] == before
