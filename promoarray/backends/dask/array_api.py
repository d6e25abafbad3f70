"""``xp`` of Dask's back end: ranges that are made in the tasks, counts, and positions of True.

A ``Line`` is asked what NumPy's array would be: its ends, its first value, to go through ufuncs. It
has no values but those it is asked for, until it is laid out in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, copysign
from types import SimpleNamespace
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from numpy.lib.mixins import NDArrayOperatorsMixin

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import cast_each, each
from promoarray.backends.dask.buffer import (
    Blocks,
    Buffer,
    closed,
    right_of_the_diagonal,
    usual_chunks,
)
from promoarray.backends.dask.indexing import without_empty
from promoarray.backends.dask.reductions import reduce
from promoarray.dtypes import DType


class Line(NDArrayOperatorsMixin):
    """Values along one axis, each by NumPy's own rule, of its place alone: ``at`` answers them for
    places, which are int64 and count from 0. It travels."""

    ndim = 1

    def __init__(self, size: int, at: Callable[[Any], Any]) -> None:
        self.size, self.at = size, at
        self.dtype = at(np.arange(0)).dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        rules = [x.at if isinstance(x, Line) else None for x in inputs]

        def at(places: Any) -> Any:
            pairs = zip(rules, inputs, strict=True)
            return ufunc(*(x if rule is None else rule(places) for rule, x in pairs))

        return Line(self.size, at)

    def astype(self, dtype: Any) -> Line:
        """The values in another dtype."""
        before = self.at
        return Line(self.size, lambda places: before(places).astype(dtype))

    def __getitem__(self, places: slice) -> Any:
        return self.at(np.arange(*places.indices(self.size)))

    def __setitem__(self, places: slice, line: Line) -> None:
        """Go on from a place with another line, which has the values from there on."""
        start, before, after = places.start, self.at, line.at

        def at(places: Any) -> Any:
            values, there = before(places), places >= start
            values[there] = after(places[there] - start)
            return values

        self.at = at

    def min(self) -> Any:
        """The least value, or NaN if there is one."""
        return self._ends().min()

    def max(self) -> Any:
        """The largest value, or NaN if there is one."""
        return self._ends().max()

    def _ends(self) -> Any:
        """A range goes one way, but for what its first values may be off by, and the last one."""
        few = {*range(min(self.size, 3)), *range(max(self.size - 2, 0), self.size)}
        return self.at(np.array(sorted(few)))

    def blocks(self, dtype: DType) -> Blocks:
        """A Dask array of the codes of a dtype, whose storage the line has."""
        run = BlockExecutable(line_on_blocks, self.at, dtype)
        return each(run, (da.arange(self.size, dtype=np.int64),), dtype, "range")


def line_on_blocks(at: Callable[[Any], Any], dtype: DType) -> Callable[[Any], Any]:
    """A line at the places that a block says, for ``BlockExecutable``."""
    return lambda places: closed(np.asarray(at(places)), dtype)


def arange(
    start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: str | None = None
) -> Any:
    """``numpy.arange``: it fills by the difference of the first two values, in their dtype."""
    start, stop = (0, start) if stop is None else (start, stop)
    ends = start, stop, step
    if dtype is None:
        dtype = np.float64 if any(isinstance(v, float) for v in ends) else np.int64
    dtype, int64 = np.dtype(dtype), np.iinfo(np.int64)
    fits = all(isinstance(v, float) or int64.min <= v <= int64.max for v in ends)
    if not fits or dtype.kind not in "iuf":  # Python's ints and bools: a few
        return numpy_backend.xp.arange(start, stop, step, dtype=dtype)
    size, head = _length(start, stop, step), np.zeros(2, dtype)
    for i, value in enumerate((start, start + step)[:size]):
        head[i] = value

    def at(places: Any) -> Any:
        first, second = head.astype(np.float32) if dtype == np.float16 else head
        values = first + places.astype(first.dtype) * (second - first)
        values[places == 0], values[places == 1] = head
        return values.astype(dtype)

    return Line(size, at)


def _length(start: Any, stop: Any, step: Any) -> int:
    """NumPy's count."""
    gap = stop - start
    span: float = gap / step
    if span == 0 and gap != 0:  # it underflowed
        return 1 if copysign(1, span) > 0 else 0
    if not abs(span) < np.iinfo(np.intp).max:
        raise ValueError("Maximum allowed size exceeded")
    return max(ceil(span), 0)


def linspace(
    start: Any, stop: Any, num: int, *, endpoint: bool = True, device: str | None = None
) -> Line:
    """``numpy.linspace``."""
    few = numpy_backend.xp.linspace(start, stop, min(num, 1), endpoint=endpoint)  # and its errors
    dtype = few.dtype
    start, stop = dtype.type(start), dtype.type(stop)
    parts = num - 1 if endpoint else num

    def at(places: Any) -> Any:
        gap = np.subtract(stop, start, dtype=dtype)
        step = gap / parts if parts > 0 else gap
        values, too_small = places.astype(dtype), parts > 0 and step == 0
        values = (values / parts * gap if too_small else values * step) + start
        if endpoint and num > 1:
            values[places == num - 1] = stop
        return values

    return Line(num, at)


def eye(
    rows: int,
    columns: int | None = None,
    *,
    k: int = 0,
    dtype: Any = None,
    device: str | None = None,
) -> Blocks:
    """``numpy.eye``, as a Dask array."""
    numpy_backend.xp.eye(min(rows, 1), None if columns is None else min(columns, 1), k=k)
    shape = rows, rows if columns is None else columns
    chunks = normalize_chunks(usual_chunks(shape), shape, dtype=np.int64)
    return (right_of_the_diagonal(chunks) == k).astype(dtype or np.float64)


def fftfreq(n: int, *, d: float = 1.0, device: str | None = None) -> Line:
    """``numpy.fft.fftfreq``."""
    scale, half = 1.0 / (n * d), (n + 1) // 2
    return Line(n, lambda places: np.where(places < half, places, places - n) * scale)


def rfftfreq(n: int, *, d: float = 1.0, device: str | None = None) -> Line:
    """``numpy.fft.rfftfreq``."""
    scale = 1.0 / (n * d)
    return Line(n // 2 + 1, lambda places: places * scale)


def count_nonzero(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Buffer:
    """How many are True, in int64."""
    numbers = cast_each(x.array, dt.bool, dt.int64)
    axis = axis if x.ndim else None
    ((out, _),) = reduce("sum", (numbers,), dt.int64, axis=axis, keepdims=keepdims)
    return Buffer(out)


def nonzero(x: Buffer) -> tuple[Buffer, ...]:
    """Where it is True: of lengths that are not known before it is computed."""
    if 0 in x.shape:  # which Dask's own cannot always
        return tuple(Buffer(da.zeros(0, dtype=np.int64)) for _ in x.shape)
    return tuple(Buffer(index) for index in da.nonzero(without_empty(x.array)))


xp = SimpleNamespace(
    __name__="dask.array",
    bool=np.bool,
    int64=np.int64,
    arange=arange,
    linspace=linspace,
    eye=eye,
    floor=np.floor,
    fft=SimpleNamespace(fftfreq=fftfreq, rfftfreq=rfftfreq),
    count_nonzero=count_nonzero,
    nonzero=nonzero,
)
"""The functions that other rooms ask for."""
