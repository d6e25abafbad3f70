"""Sorting and sets over NumPy buffers.

NumPy's fastest sorts are not stable. Of integers nobody sees that, equal ones have equal bits. Of
floats only zeros and NaN differ in bits, and are put back in the order they had. Dtypes that NumPy
has not are compared in one that holds all of their values.

What is ordered is as in ``kernels.portable.linalg``, which computes for other libraries: NaN comes
last, -0.0 and 0.0 are equal, equal elements stay in order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.cast import cast, comparable
from promoarray.dtypes import BY_STORAGE, DType, Kind

Buffer = np.ndarray[Any, Any]
Results = tuple[tuple[Buffer, DType], ...]


def computes(name: str, dtype: DType) -> bool:
    """Whether an operation on a dtype is computed here."""
    return dtype.kind is not Kind.STRING and name in KERNELS


def _values(x: Buffer, dtype: DType) -> Buffer:
    """The same values in a dtype that NumPy compares."""
    return cast(x, dtype, comparable(dtype))


# --- Along the last axis --------------------------------------------------------------------------

FEW = 64
"""Elements of which NumPy's stable sort has the same order soonest."""


def _sorted(rows: Buffer, dtype: DType, descending: bool = False) -> Buffer:
    """The same bits in order."""
    if dtype in dt.NATIVE and dtype.kind not in (Kind.FLOAT, Kind.COMPLEX):
        # Of up to 16 bits NumPy's stable sort, a radix sort, is its fastest.
        made = np.sort(rows, kind="stable" if rows.itemsize <= 2 else None)
        return made[..., ::-1] if descending else made
    if dtype.kind is Kind.FLOAT and dtype.bits > 8 and rows.size > FEW:
        return _sorted_floats(rows, dtype, descending)
    if dtype in dt.NATIVE and not descending:
        return np.sort(rows, kind="stable")
    return np.take_along_axis(rows, _order(_values(rows, dtype), descending), axis=-1)


def _sorted_floats(rows: Buffer, dtype: DType, descending: bool) -> Buffer:
    """Floats by a sort that is not stable: the zeros and the NaN of a row, of which there are as
    many as before, stand together, and get the bits they had, in order."""
    made = cast(np.sort(_values(rows, dtype)), comparable(dtype), dtype)
    if descending:
        made = made[..., ::-1].copy()
    before, after = (each.view(f"u{each.itemsize}") for each in (rows, made))
    word, sign = before.dtype.type, before.dtype.type(1 << dtype.bits - 1)
    size = sign - word(1)
    if (before == sign).any():
        after[(after & size) == 0] = before[(before & size) == 0]
    assert dtype.format is not None
    last = word(dtype.format.largest if dtype.format.inf is None else dtype.format.inf)
    if (after[..., 0 if descending else -1] & size > last).any():
        after[(after & size) > last] = before[(before & size) > last]
    return made


def _order(values: Buffer, descending: bool = False) -> Buffer:
    """The indices that sort; equal values stay in order, descending too. They are of a copy: NumPy
    ends the process where another thread writes to what it orders."""
    values = values.copy()
    if not descending:
        return np.argsort(values, axis=-1, kind="stable")
    order = np.argsort(values[..., ::-1], axis=-1, kind="stable")
    turned: Buffer = values.shape[-1] - 1 - order[..., ::-1]
    return turned


def _starts(line: Buffer) -> Buffer:
    """Where an element differs from the one before it."""
    starts = np.ones(line.shape, np.bool)
    with np.errstate(invalid="ignore"):  # NumPy tells of NaN among complex numbers
        np.not_equal(line[..., 1:], line[..., :-1], out=starts[..., 1:])
    return starts


def _sort(x: Buffer, dtype: DType, *, axis: int, descending: bool, stable: bool) -> Results:
    return ((_along(axis, x, lambda rows: _sorted(rows, dtype, descending)), dtype),)


def _argsort(x: Buffer, dtype: DType, *, axis: int, descending: bool, stable: bool) -> Results:
    order = _along(axis, x, lambda rows: _order(_values(rows, dtype), descending))
    return ((order, BY_STORAGE[order.dtype]),)


def _along(axis: int, x: Buffer, function: Callable[[Buffer], Buffer]) -> Buffer:
    """What a function of rows makes of an axis, with its elements in rows."""
    if axis in (-1, x.ndim - 1):  # moving an axis nowhere takes longer than to sort a few elements
        return np.ascontiguousarray(function(x))
    made = function(np.moveaxis(x, axis, -1))
    return np.ascontiguousarray(np.moveaxis(made, -1, axis))


# --- sets -----------------------------------------------------------------------------------------


def _unique(x: Buffer, dtype: DType, *, wanted: str) -> Results:
    """The values, and of ``wanted`` their first indices, the inverse indices, their counts.

    Equal values stand side by side once they are sorted, in the order they had; so the first of
    each run is the first of its value. A NaN is equal to none.
    """
    flat = x.reshape(-1)
    if "i" in wanted or "v" in wanted:
        order = _order(_values(flat, dtype))
        line = flat[order]
    else:
        line = _sorted(flat, dtype)
    starts = _starts(_values(line, dtype))
    found = [line[starts]]
    if "i" in wanted:
        found.append(order[starts])
    if "v" in wanted:
        inverse = np.empty(flat.shape, np.intp)
        inverse[order] = np.cumsum(starts, dtype=np.intp) - 1
        found.append(inverse.reshape(x.shape))
    if "c" in wanted:
        found.append(np.diff(np.nonzero(starts)[0], append=flat.size))
    return tuple((each, BY_STORAGE[each.dtype] if i else dtype) for i, each in enumerate(found))


def _isin(x: Buffer, among: Buffer, dtype: DType, *, invert: bool) -> Results:
    """Whether values are among others, of which NaN is equal to none."""
    values, others = _values(x, dtype), _values(among.reshape(-1), dtype)
    with np.errstate(invalid="ignore"):  # of signalling NaN
        if values.size * others.size > MOST_PAIRS:
            return ((np.isin(values, others, invert=invert), dt.bool),)
        found = np.logical_or.reduce(np.equal(values[..., None], others), axis=-1)
    return ((np.asarray(np.logical_not(found) if invert else found), dt.bool),)


MOST_PAIRS = 1 << 12
"""Pairs that are compared one by one: of more a sort takes less time."""


KERNELS: dict[str, Callable[..., Results]] = {
    "isin": _isin,
    "sort": _sort,
    "argsort": _argsort,
    "unique_values": partial(_unique, wanted=""),
    "unique_counts": partial(_unique, wanted="c"),
    "unique_inverse": partial(_unique, wanted="v"),
    "unique_all": partial(_unique, wanted="ivc"),
}
