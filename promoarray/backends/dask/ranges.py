"""Ranges that are made in the tasks: each value by NumPy's own rule, of its place alone.

A ``Line`` is asked what NumPy's array would be: its ends, its first value, to go through ufuncs. It
has no values but those it is asked for, until it is laid out in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, copysign, isnan
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks

from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import each
from promoarray.backends.dask.storage import closed, usual_chunks
from promoarray.dtypes import DType

Rule = tuple[Callable[..., Any], Any]
"""A function of a module, of fields and of the places from 0 on, which are int64; its fields."""


class Line:
    """Values along one axis.

    Parameters
    ----------
    size : int
    rule : Rule

    Attributes
    ----------
    dtype : numpy.dtype
    """

    ndim = 1

    def __init__(self, size: int, rule: Rule) -> None:
        self.size, self.rule = size, rule
        self.dtype = self.at(np.arange(0)).dtype

    def at(self, places: Any) -> Any:
        """The values at some places."""
        function, fields = self.rule
        return function(fields, places)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        which = next(i for i, x in enumerate(inputs) if x is self)
        scalars = inputs[:which] + inputs[which + 1 :]
        return Line(self.size, (of_ufunc, (ufunc, self.rule, which, scalars)))

    def __rmul__(self, other: Any) -> Line:
        return np.multiply(other, self)  # type: ignore[call-overload, no-any-return]

    def __radd__(self, other: Any) -> Line:
        return np.add(other, self)  # type: ignore[call-overload, no-any-return]

    def __rsub__(self, other: Any) -> Line:
        return np.subtract(other, self)  # type: ignore[call-overload, no-any-return]

    def astype(self, dtype: Any) -> Line:
        """The values in another dtype."""
        return Line(self.size, (in_dtype, (self.rule, dtype)))

    def __getitem__(self, places: slice) -> Any:
        return self.at(np.arange(*places.indices(self.size)))

    def __setitem__(self, places: slice, line: Line) -> None:
        """Go on from a place with another line, which has the values from there on."""
        self.rule = joined, (places.start, self.rule, line.rule)

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

    def blocks(self, dtype: DType) -> Any:
        """A Dask array of the codes of a dtype, whose storage the line has."""
        run = BlockExecutable(line_on_blocks, self.rule, dtype)
        return each(run, (da.arange(self.size, dtype=np.int64),), dtype, "range")


def line_on_blocks(rule: Rule, dtype: DType) -> Callable[[Any], Any]:
    """A line at the places that a block says, for ``BlockExecutable``."""
    function, fields = rule
    return lambda places: closed(np.asarray(function(fields, places)), dtype)


# --- Rules ----------------------------------------------------------------------------------------


def of_ufunc(fields: Any, places: Any) -> Any:
    """A ufunc of a line, which is its operand number ``which``, and of scalars."""
    ufunc, (function, inner), which, scalars = fields
    return ufunc(*scalars[:which], function(inner, places), *scalars[which:])


def in_dtype(fields: Any, places: Any) -> Any:
    """A line cast as NumPy casts."""
    (function, inner), dtype = fields
    return function(inner, places).astype(dtype)


def joined(fields: Any, places: Any) -> Any:
    """One line up to a place, and from there on another, from its own place 0."""
    start, (before, first), (after, second) = fields
    here = places < start
    values = before(first, places)
    values[~here] = after(second, places[~here] - start)
    return values


def counted(fields: Any, places: Any) -> Any:
    """As NumPy fills ``arange``: by the difference of the first two values, in their dtype."""
    first, second = fields
    wide = fields.astype(np.float32) if fields.dtype == np.float16 else fields
    values = wide[0] + places.astype(wide.dtype) * (wide[1] - wide[0])
    values[places == 0], values[places == 1] = first, second
    return values.astype(fields.dtype)


def spaced(fields: Any, places: Any) -> Any:
    """As NumPy fills ``linspace``."""
    start, stop, num, endpoint, dtype = fields
    gap, parts = np.subtract(stop, start, dtype=dtype), num - 1 if endpoint else num
    step = gap / parts if parts > 0 else gap
    values, too_small = places.astype(dtype), parts > 0 and step == 0
    values = (values / parts * gap if too_small else values * step) + start
    if endpoint and num > 1:
        values[places == num - 1] = stop
    return values


# --- What NumPy calls them ------------------------------------------------------------------------


def arange(
    start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: str | None = None
) -> Any:
    """``numpy.arange``."""
    start, stop = (0, start) if stop is None else (start, stop)
    ends = start, stop, step
    if dtype is None:
        dtype = np.float64 if any(isinstance(v, float) for v in ends) else np.int64
    dtype, int64 = np.dtype(dtype), np.iinfo(np.int64)
    fits = all(isinstance(v, float) or int64.min <= v <= int64.max for v in ends)
    if not fits or dtype.kind not in "iuf":  # Python's ints and bools: a few
        return numpy_backend.xp.arange(start, stop, step, dtype=dtype)
    head = np.zeros(2, dtype)
    size = _length(start, stop, step)
    for i, value in enumerate((start, start + step)[:size]):
        head[i] = value
    return Line(size, (counted, head))


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
) -> Any:
    """``numpy.linspace``."""
    few = numpy_backend.xp.linspace(start, stop, min(num, 1), endpoint=endpoint)  # and its errors
    start, stop = few.dtype.type(start), few.dtype.type(stop)
    return Line(num, (spaced, (start, stop, num, endpoint, few.dtype)))


def eye(
    rows: int,
    columns: int | None = None,
    *,
    k: int = 0,
    dtype: Any = None,
    device: str | None = None,
) -> Any:
    """``numpy.eye``, as a Dask array."""
    numpy_backend.xp.eye(min(rows, 1), None if columns is None else min(columns, 1), k=k)
    shape = rows, rows if columns is None else columns
    chunks = normalize_chunks(usual_chunks(shape), shape, dtype=np.int64)
    return (offsets(chunks) == k).astype(dtype or np.float64)


def offsets(chunks: tuple[tuple[float, ...], ...]) -> Any:
    """How far to the right of the main diagonal each element of a matrix is."""
    if any(isnan(n) for along in chunks for n in along):
        raise ValueError(
            "the diagonal of a matrix of unknown lengths: write x.compute_chunk_sizes() before"
        )
    down, right = (da.arange(sum(c), chunks=(c,), dtype=np.int64) for c in chunks)
    return right - down[:, None]


def fftfreq(n: int, *, d: float = 1.0, device: str | None = None) -> Line:
    """``numpy.fft.fftfreq``."""
    line, half = arange(0, n), (n - 1) // 2 + 1
    line[half:] = arange(half - n, 0)
    return _scaled(line, n, d)


def rfftfreq(n: int, *, d: float = 1.0, device: str | None = None) -> Line:
    """``numpy.fft.rfftfreq``."""
    return _scaled(arange(0, n // 2 + 1), n, d)


def _scaled(line: Line, n: int, d: float) -> Line:
    return np.multiply(line, 1.0 / (n * d))  # type: ignore[call-overload, no-any-return]
