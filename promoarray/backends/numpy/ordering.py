"""Sorting and sets over NumPy buffers.

NumPy's fastest sorts are not stable. Of integers nobody sees that, equal ones have equal bits. Of
floats only zeros and NaN differ in bits, and are put back in the order they had. Indices sort as
the low bits of words that have integers in the order of the values above (`keys_of`), so that no
two are equal. Complex numbers are ordered by such integers of both parts. Long rows of integers,
and of keys, are sorted by our own kernel, by counting and by digits.

What is ordered is as in ``kernels.portable.linalg``, which computes for other libraries: NaN comes
last, -0.0 and 0.0 are equal, equal elements stay in order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels import order_integers, sort_integers

Buffer = np.ndarray[Any, Any]
Results = tuple[tuple[Buffer, DType], ...]


def computes(name: str, dtype: DType) -> bool:
    """Whether an operation on a dtype is computed here: what is asked by code, of few codes."""
    if dtype.kind is Kind.STRING or (name == "isin" and dtype.storage.itemsize > 2):
        return False
    return name in KERNELS


# --- integers in the order of the values ----------------------------------------------------------


def keys_of(x: Buffer, dtype: DType) -> Buffer:
    """Unsigned integers in the order of the values; zeros have one, and all NaN the largest."""
    if dtype.kind is Kind.COMPLEX:
        return _complex_keys(x, dtype)
    codes = _codes(x)
    word, wide, lost = codes.dtype.type, 8 * x.itemsize, 8 * x.itemsize - dtype.bits
    if dtype.bits < 8 and dtype.kind is not Kind.BOOL:  # bits above a narrow code say nothing
        codes = codes << word(lost)
    sign = word(1 << wide - 1)
    if dtype.kind is Kind.INT:
        keys: Buffer = codes ^ sign
        return keys
    layout = dtype.format
    if layout is None or not layout.signed:  # the NaN of a scale is its largest code
        return codes
    # 1. What is negative turns round, and lies below what is positive.
    keys = (codes.view(f"i{x.itemsize}") >> wide - 1).view(codes.dtype)
    keys |= sign
    keys ^= codes
    # 2. The sign alone is a second zero, next to the first; or else NaN, and leaves a gap there.
    lone = codes == sign
    if layout.negative_zero:
        keys += lone
        lone = (codes & (sign - word(1))) > word(_last(dtype) << lost)
    else:
        keys -= codes < sign
    np.copyto(keys, np.iinfo(keys.dtype).max, where=lone)
    return keys


def _values_of(keys: Buffer, storage: Any) -> Buffer:
    """The floats that have such keys, of a dtype with two zeros: of zeros 0.0, of NaN any."""
    wide = 8 * keys.itemsize
    codes = (keys.view(f"i{keys.itemsize}") >> wide - 1).view(keys.dtype)
    np.invert(codes, out=codes)
    codes |= keys.dtype.type(1 << wide - 1)
    codes ^= keys
    return codes.view(storage)


def _codes(x: Buffer) -> Buffer:
    return x.view(f"u{x.itemsize}")


def _last(dtype: DType) -> int:
    """The largest code of what is a number, or infinite."""
    assert dtype.format is not None
    return dtype.format.largest if dtype.format.inf is None else dtype.format.inf


# --- the same of complex numbers ------------------------------------------------------------------


def _complex_keys(x: Buffer, dtype: DType) -> Buffer:
    """By the real parts, then by the imaginary ones. As NumPy has it, those with a NaN come last,
    by the part that is none: x + NaN j, NaN + y j, both."""
    keys = keys_of(_parts(x, dtype), dtype.part)
    first, second = keys[..., 0], keys[..., 1]
    last = np.iinfo(keys.dtype).max
    if (keys == last).any():
        no_first, no_second = first == last, second == last
        by_first, by_second = no_second & ~no_first, no_first & ~no_second
        second = np.where(by_first, first, np.where(no_first & no_second, 0, second))
        first = np.where(by_first, last - 2, np.where(by_second, last - 1, first))
    if keys.itemsize == 8:
        return _ranks(first, second)
    bits = 8 * keys.itemsize
    word: Any = np.uint32 if bits == 16 else np.uint64
    pairs: Buffer = first.astype(word) << word(bits) | second.astype(word)
    return pairs


def _ranks(first: Buffer, second: Buffer) -> Buffer:
    """Keys in the order of pairs of words of 64 bits: the first of them, if no two are equal."""
    given, shape = np.ascontiguousarray(first).reshape(-1), first.shape
    line = np.sort(given)
    if _starts(line).all():
        return given.reshape(shape)
    others = second.reshape(-1)
    order = _order(others)
    order = order[_order(given[order])]
    starts = _starts(given[order]) | _starts(others[order])
    ranks = np.empty(given.shape, np.uint64)
    ranks[order] = np.cumsum(starts, dtype=np.uint64)
    return ranks.reshape(shape)


def _parts(x: Buffer, dtype: DType) -> Buffer:
    """Both parts of complex numbers, along one axis more."""
    parts: Buffer = np.ascontiguousarray(x).view(dtype.part.storage)
    return parts.reshape(*x.shape, 2)


def _sorted_complex(rows: Buffer, dtype: DType, descending: bool) -> Buffer:
    keys = keys_of(rows, dtype)
    in_keys = keys.itemsize == dtype.storage.itemsize
    if not in_keys or _has_twins(rows, dtype):
        return np.take_along_axis(rows, _order(keys, descending), axis=-1)
    keys.sort(axis=-1)
    if descending:
        keys = keys[..., ::-1]
    parts = np.empty((*keys.shape, 2), f"u{keys.itemsize // 2}")
    parts[..., 0], parts[..., 1] = keys >> keys.dtype.type(4 * keys.itemsize), keys
    made: Buffer = _values_of(parts, dtype.part.storage).view(dtype.storage)[..., 0]
    return made


def _has_twins(x: Buffer, dtype: DType) -> bool:
    """Whether there may be equal numbers of other bits: a zero below 0, or a NaN."""
    codes = _codes(_parts(x, dtype))
    sign = codes.dtype.type(1 << dtype.part.bits - 1)
    last = codes.dtype.type(_last(dtype.part))
    return bool(((codes == sign) | (codes & ~sign > last)).any())


# --- sorting along the last axis ------------------------------------------------------------------


def _sorted(rows: Buffer, dtype: DType, descending: bool = False) -> Buffer:
    """The same bits in order."""
    if not rows.size:
        return rows.copy()
    if dtype.kind is Kind.COMPLEX:
        return _sorted_complex(rows, dtype, descending)
    if dtype.kind is Kind.FLOAT and dtype.bits > 8:
        return _sorted_floats(rows, dtype, descending)
    if dtype.kind is Kind.FLOAT or (dtype.bits < 8 and dtype.kind is not Kind.BOOL):
        order = _order(keys_of(rows, dtype), descending)  # many codes may have one value
        return np.take_along_axis(rows, order, axis=-1)
    made = _in_order(rows)
    return made[..., ::-1] if descending else made


def _sorted_floats(rows: Buffer, dtype: DType, descending: bool) -> Buffer:
    if rows.size <= FEW and dtype in dt.NATIVE and not descending:
        return np.sort(rows, kind="stable")  # sooner than to look for zeros and NaN
    if dtype.bits > 16:
        made = np.sort(rows)
    else:  # the same in integers, which has a faster way
        made = _values_of(_in_order(keys_of(rows, dtype)), dtype.storage)
    if descending:
        made = made[..., ::-1].copy()
    # There are as many zeros and NaN in a row as there were, and they stand together.
    before, after = _codes(rows), _codes(made)
    word, sign = before.dtype.type, before.dtype.type(1 << dtype.bits - 1)
    size = sign - word(1)
    in_one_line = dtype.bits > 16 and made.ndim == 1
    if (not in_one_line or _has_zeros(made, descending)) and (before == sign).any():
        after[(after & size) == 0] = before[(before & size) == 0]
    ends = after[..., 0 if descending else -1] & size
    if (ends > word(_last(dtype))).any():
        after[(after & size) > word(_last(dtype))] = before[(before & size) > word(_last(dtype))]
    return made


def _has_zeros(line: Buffer, descending: bool) -> bool:
    """Whether there are zeros in a sorted line: they are found sooner than all of it is looked at.
    Which signs they had, NumPy's vectors may have lost."""
    if descending:
        line = line[::-1]
    zero = line.dtype.type(0)
    at = line.searchsorted(zero)
    return bool(at < line.size and line[at] == zero)


def _in_order(rows: Buffer) -> Buffer:
    """Integers in order; of up to 16 bits NumPy's stable sort, a radix sort, is its fastest."""
    if rows.shape[-1] < LONG:
        return np.sort(rows, kind="stable" if rows.itemsize <= 2 else None)
    rows = np.require(rows, requirements=["C", "A"])
    made = np.empty(rows.shape, rows.dtype)
    sort_integers(rows, made, rows.dtype.kind == "i")
    return made


FEW = 64
"""Elements of which NumPy's stable sort has the same order soonest."""

LONG, LONG_ORDER = 1 << 11, 1 << 10
"""Elements in a row from which on sorting them by counts or digits pays, and so their indices."""


def _order(keys: Buffer, descending: bool = False) -> Buffer:
    """The indices that sort unsigned integers; equal ones stay in order, descending too."""
    if descending:
        keys = ~keys
    if keys.shape[-1] >= LONG_ORDER:
        order = np.empty(keys.shape, np.int64)
        order_integers(np.require(keys, requirements=["C", "A"]), order)
        return order
    low = max(keys.shape[-1] - 1, 0).bit_length()
    high = 8 * keys.itemsize
    if high == 8 or high + low > 64:
        return np.argsort(keys, axis=-1, kind="stable")
    return _order_in_words(keys, low, np.uint32 if high + low <= 32 else np.uint64)


def _order_in_words(keys: Buffer, low: int, word: Any) -> Buffer:
    """The same by words of a key above the index, which takes ``low`` bits."""
    words = keys.astype(word)
    words <<= word(low)
    words |= np.arange(keys.shape[-1], dtype=word)
    words.sort(axis=-1)
    words &= word((1 << low) - 1)
    return words.astype(np.int64) if word is np.uint32 else words.view(np.int64)


def _starts(line: Buffer) -> Buffer:
    """Where an element differs from the one before it."""
    starts = np.ones(line.shape, np.bool)
    with np.errstate(invalid="ignore"):  # NumPy tells of NaN among complex numbers
        np.not_equal(line[..., 1:], line[..., :-1], out=starts[..., 1:])
    return starts


def _sort(x: Buffer, dtype: DType, *, axis: int, descending: bool, stable: bool) -> Results:
    return ((_along(axis, x, lambda rows: _sorted(rows, dtype, descending)), dtype),)


def _argsort(x: Buffer, dtype: DType, *, axis: int, descending: bool, stable: bool) -> Results:
    order = _along(axis, x, lambda rows: _order(keys_of(rows, dtype), descending))
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
        order = _order(keys_of(flat, dtype))
        line = flat[order]
    else:
        line = _sorted(flat, dtype)
    starts = _starts_of_values(line, dtype)
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


def _starts_of_values(line: Buffer, dtype: DType) -> Buffer:
    if dtype in dt.NATIVE and dtype is not dt.float16:  # NumPy compares them at once
        return _starts(line)
    keys = keys_of(line, dtype)
    starts = _starts(keys)
    layout = dtype.part.format
    if layout is not None and layout.nan is not None:
        last = np.iinfo(keys.dtype).max
        least = last + 1 - (3 << dtype.part.bits) if dtype.kind is Kind.COMPLEX else last
        starts |= keys >= keys.dtype.type(least)
    return starts


def _isin(x: Buffer, among: Buffer, dtype: DType, *, invert: bool) -> Results:
    """By a table of all codes, where it pays: those with the key of a value, and no NaN."""
    from promoarray.backends.numpy import code_tables

    others = keys_of(among.reshape(-1), dtype)
    if dtype.format is not None and dtype.format.nan is not None:
        others = others[others != np.iinfo(others.dtype).max]
    if x.itemsize > 1 and x.size < TABULATED:
        found = np.isin(keys_of(x.reshape(-1), dtype), others, invert=invert).reshape(x.shape)
        return ((found, dt.bool),)
    member = np.full(1 << 8 * x.itemsize, invert)
    member[others] = not invert
    codes = np.arange(member.size, dtype=f"u{x.itemsize}").view(dtype.storage)
    results = member[keys_of(codes, dtype)].view(np.uint8)
    table = code_tables.Entries(results, np.zeros(member.size, np.uint8))
    found = np.empty_like(x, np.bool, subok=False)
    code_tables.look_up(x, found, table, 0)
    return ((found, dt.bool),)


TABULATED = 1 << 16
"""Elements of 16 bits from which on a table of all codes pays."""


KERNELS: dict[str, Callable[..., Results]] = {
    "isin": _isin,
    "sort": _sort,
    "argsort": _argsort,
    "unique_values": partial(_unique, wanted=""),
    "unique_counts": partial(_unique, wanted="c"),
    "unique_inverse": partial(_unique, wanted="v"),
    "unique_all": partial(_unique, wanted="ivc"),
}
