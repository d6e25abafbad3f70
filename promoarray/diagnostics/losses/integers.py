"""Integers whose exact result does not fit the dtype of the result.

Results are computed in float64 beside those of the program. Of operands up to 32 bits that is exact
wherever it matters; of 64 bits Python's ints decide what is near a bound of a narrower result. A
result of 64 bits has the low bits of the exact one, so that the two differ by a multiple of 2^64,
or not at all: float64 tells these apart.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.losses.elements import (
    MOST,
    Array,
    Elements,
    Operand,
    Scope,
    Several,
    Values,
    factors,
    fits,
    floats,
    integer_ends,
    is_whole,
    least_integer,
    plain,
    reduced_axes,
    rows,
)
from promoarray.diagnostics.model.lost import WRAP, Loss
from promoarray.dtypes import DType, Kind
from promoarray.promotion.scalars import bounds

Number = Callable[..., Any]


class _Rule(NamedTuple):
    """An operation that goes by elements.

    ``approximate`` takes float64 arrays, and gives NaN where the result is undefined; ``exact``
    takes Python ints; ``ends`` are the operands, of those within some ranges, that lead to the
    least and the greatest result, or None if that is not told from the ranges.
    """

    approximate: Number
    exact: Number
    ends: Callable[..., Iterable[tuple[int, ...]] | None] = product


def _shifts(values: tuple[int, ...], counts: tuple[int, ...]) -> Any:
    return None if max(counts) > 64 or min(counts) < 0 else product(values, counts)


def _powers(bases: tuple[int, ...], exponents: tuple[int, ...]) -> Any:
    high, most = max(map(abs, bases)), max(exponents)
    if most > 64 or min(exponents) < 0:
        return None
    return product((high, -high if min(bases) < 0 else 0), (most, max(most - 1, 0), 0))


def _quotients(values: tuple[int, ...], divisors: tuple[int, ...]) -> Any:
    return product(values, [-1] * (min(divisors) < 0) + [1] * (max(divisors) > 0))


def _exact_power(base: int, exponent: int) -> int | str:
    return base**exponent if abs(base) < 2 or exponent < 1024 else f"{base} ** {exponent}"


def _exact_shift(value: int, count: int) -> int | str:
    return value << count if count < 1024 else f"{value} << {count}"


def _power(bases: Array, exponents: Array) -> Array:
    made = np.rint(np.power(bases, exponents))  # some libraries are an ulp off
    return np.where(exponents < 0, np.nan, made)  # no framework has such powers of integers


def _shift(values: Array, counts: Array) -> Array:
    made = np.ldexp(values, np.clip(counts, 0, 1024).astype(np.int32))
    return np.where(counts < 0, np.nan, made)


def _quotient(values: Array, divisors: Array) -> Array:
    return np.where(divisors == 0, np.nan, np.floor(values / divisors))


_ELEMENTWISE: Mapping[str, _Rule] = {
    "add": _Rule(np.add, operator.add),
    "subtract": _Rule(np.subtract, operator.sub),
    "multiply": _Rule(np.multiply, operator.mul),
    "negative": _Rule(np.negative, operator.neg),
    "abs": _Rule(np.abs, abs),
    "square": _Rule(np.square, lambda value: value * value, lambda ends: [*zip(ends), (0,)]),
    "pow": _Rule(_power, _exact_power, _powers),
    "bitwise_left_shift": _Rule(_shift, _exact_shift, _shifts),
    "floor_divide": _Rule(_quotient, operator.floordiv, _quotients),
}


EXACT: Mapping[str, Number] = {
    name: _ELEMENTWISE[name].exact
    for name in ("add", "subtract", "multiply", "negative", "abs", "square")
}
"""Operations of which Python's ints have the exact result at once."""


def wrapped(
    operation: str,
    operands: Sequence[Operand],
    result: Values,
    options: Mapping[str, Any],
    scope: Scope,
) -> list[Loss]:
    """Return what wraps of an operation on integers that has integers for a result."""
    if not result.array.size or not all(map(is_whole, operands)):
        return []
    with np.errstate(all="ignore"):
        if operation in _ELEMENTWISE:
            return _elementwise(operation, operands, result, scope)
        if operation in _FOLDINGS:
            return _folded(_FOLDINGS[operation], operands[0], result, options, scope)
        if operation in _PRODUCTS:
            return _product(_PRODUCTS[operation], operands, result, options, scope)
        if operation == "diff" and len(operands) == 1:
            return _difference(operands[0], result, options, scope)
    return []


def _beyond(exact: Array, made: Array, dtype: DType) -> Array:
    """The results that wrapped, where ``exact`` is right to some 40 bits; NaN is none."""
    if dtype.bits < 64:
        low, high = bounds(dtype)
        return (exact < low) | (exact > high)
    return np.asarray(np.abs(exact - floats(made)) >= 2.0**63)


def _wanted(exact: Array, made: Array, dtype: DType) -> str:
    """The least dtype that holds exact results, of which ``made`` are the low bits."""
    if dtype.bits == 64:  # float64 may have cancelled the digits of a small one
        small = made.view(np.int64)
        exact = np.where(np.abs(exact - small) < 2.0**63, small, exact)
    known = exact[~np.isnan(exact)]
    if not np.isfinite(known).all():
        return ""
    return least_integer(known.min().item(), known.max().item(), dtype)


def _within(ends: Iterable[Any] | None, dtype: DType) -> bool:
    low, high = bounds(dtype)
    return ends is not None and all(low <= end <= high for end in ends)


def _ends(operand: Operand) -> tuple[int, int]:
    """The least and the greatest value; of no elements 0."""
    if isinstance(operand, Values):
        return integer_ends(operand)
    assert isinstance(operand, int)
    return operand, operand


def _dtype_ends(operand: Operand) -> tuple[int, int]:
    """Those that the dtype has."""
    if not isinstance(operand, Values):
        return _ends(operand)
    return (0, 1) if operand.dtype.kind is Kind.BOOL else bounds(operand.dtype)


# -- elements -------------------------------------------------------------------------------------


def _elementwise(
    operation: str, operands: Sequence[Operand], result: Values, scope: Scope
) -> list[Loss]:
    if not fits(operands, result):
        return []
    rule = _ELEMENTWISE[operation]
    for ends_of in (_dtype_ends, _ends):
        ends = rule.ends(*map(ends_of, operands))
        if _within(None if ends is None else (rule.exact(*each) for each in ends), result.dtype):
            return []
    whole = operation in _CHEAP
    elements = Elements.of(operands, result, scope._replace(bound=None) if whole else scope)
    made = elements.beside(result).reshape(-1)
    given = [elements.beside(each) for each in operands]

    starts = range(0, made.size, MOST)

    def exact_from(start: int) -> Array:
        part = slice(start, start + MOST)
        exact = rule.approximate(*(floats(x[part] if x.ndim else x) for x in given))
        return _settled(np.broadcast_to(exact, made[part].shape), rule, elements, start)

    def wrapped_from(start: int) -> Array:
        some = made[start : start + MOST]
        return start + np.flatnonzero(_beyond(exact_from(start), some, result.dtype))

    def wanted() -> str:
        exact = np.concatenate([exact_from(start) for start in starts])
        return _wanted(exact, made, result.dtype)

    known = _wrapped_in_words(operation, given, made)
    which = (
        np.concatenate([wrapped_from(start) for start in starts])
        if known is None
        else np.flatnonzero(known)
    )
    return [elements.loss(WRAP, which, rule.exact, wanted=wanted)] if which.size else []


def _wrapped_in_words(operation: str, given: Sequence[Array], made: Array) -> Array | None:
    """Which results wrapped, by integers of 64 bits alone; None where these do not tell."""
    ufunc = _IN_WORDS.get(operation)
    if ufunc is None or any(x.dtype.kind not in "iu" for x in (*given, made)):
        return None
    is_narrow = all(x.itemsize < 8 or (not x.ndim and abs(int(x)) < 1 << 31) for x in given)
    if made.itemsize < 8 and is_narrow:
        unsigned = ufunc is np.multiply and all(x.dtype.kind == "u" for x in given)
        word = np.uint64 if unsigned else np.int64
        return np.asarray(ufunc(*given, dtype=word, casting="unsafe") != made)
    if ufunc is np.multiply or any(x.dtype != made.dtype for x in given):
        return None
    x, y = given
    if made.dtype.kind == "u":
        return np.asarray(made < x if ufunc is np.add else x < y)
    signs = (x ^ made) & (y ^ made) if ufunc is np.add else (x ^ y) & (x ^ made)
    return np.asarray(signs < 0)


_IN_WORDS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
}

_CHEAP = frozenset({"add", "subtract", "multiply"})
"""Operations of which all elements are examined, however many there are."""


def _settled(exact: Array, rule: _Rule, elements: Elements, start: int) -> Array:
    """Results right enough to tell whether a dtype below 64 bits holds them."""
    dtype, operands = elements.result.dtype, elements.operands
    largest = float(max(abs(end) for each in operands for end in _ends(each)))
    if dtype.bits == 64 or largest < 1 << 53:
        return exact
    error = 1 + np.ldexp(largest, -51)  # of both operands, the result, and of rounding down
    near = [np.abs(exact - bound) <= error for bound in bounds(dtype)]
    unsure = np.flatnonzero(near[0] | near[1])
    exact = exact.copy()
    at = (elements.index(start + n) for n in unsure.tolist())
    exact[unsure] = [rule.exact(*elements.at(each)) for each in at]
    return exact


# -- reductions, and differences ------------------------------------------------------------------


class _Folding(NamedTuple):
    """An operation that puts the elements of rows together, or all from the first to each."""

    ufunc: np.ufunc
    exact: Number
    cumulates: bool = False


def _exact_sum(values: Array) -> int:
    """The sum, from both halves of 64 bits."""
    wide = values.astype(np.uint64 if values.dtype == np.uint64 else np.int64)
    return (int((wide >> 32).sum()) << 32) + int((wide & 0xFFFFFFFF).sum())


def _exact_prod(values: Array) -> int:
    return math.prod(values.tolist())


_FOLDINGS = {
    "sum": _Folding(np.add, _exact_sum),
    "nansum": _Folding(np.add, _exact_sum),
    "trace": _Folding(np.add, _exact_sum),
    "prod": _Folding(np.multiply, _exact_prod),
    "cumulative_sum": _Folding(np.add, _exact_sum, True),
    "cumsum": _Folding(np.add, _exact_sum, True),
    "nancumsum": _Folding(np.add, _exact_sum, True),
    "cumulative_prod": _Folding(np.multiply, _exact_prod, True),
    "cumprod": _Folding(np.multiply, _exact_prod, True),
}


def _is_safe(fold: _Folding, ends: tuple[int, int], count: int, dtype: DType) -> bool:
    """Whether so many numbers between two ends are put together without wrapping."""
    if fold.ufunc is np.add:
        return _within((end * n for end in ends for n in (1, count)), dtype)
    high = max(map(abs, ends))
    if high > 1 and count > 64:
        return False
    return _within((high**count, -(high**count) if ends[0] < 0 else 0), dtype)


def _approximate(fold: _Folding, array: Array) -> Array:
    """Rows put together, right to some 50 bits: sums of both halves of 64 bits are exact."""
    along = fold.ufunc.accumulate if fold.cumulates else fold.ufunc.reduce
    if fold.ufunc is np.multiply:
        made = along(floats(array), axis=-1)
        return np.where(np.isnan(made), 0.0, made)  # Inf * 0
    if array.dtype.itemsize < 8:
        return floats(along(array, axis=-1, dtype=np.int64))
    high, low = (floats(along(part, axis=-1)) for part in (array >> 32, array & 0xFFFFFFFF))
    return np.asarray(high * 2.0**32 + low)


def _folded(
    fold: _Folding, operand: Operand, result: Values, options: Mapping[str, Any], scope: Scope
) -> list[Loss]:
    if not isinstance(operand, Values) or any(
        _is_safe(fold, ends_of(operand), operand.array.size, result.dtype)
        for ends_of in (_dtype_ends, _ends)
    ):
        return []
    array, made = plain(operand), result.array
    if fold is _FOLDINGS["trace"] and array.ndim == 2:
        array, options = np.diagonal(array, options.get("offset", 0)), {}
    if not fold.cumulates:
        ways = (rows(array, axes) for axes in reduced_axes(array.shape, made.shape, options))
        told = [
            _told(fold.exact, _approximate(fold, each), each.__getitem__, operand, result, scope)
            for each in ways
            if len(each) == made.size and _is_of(fold, each, result)
        ]
        return told[0] if told and all(told) else []
    axis = options.get("axis")
    if not made.ndim:
        return []
    if array.ndim != made.ndim:
        array, axis = array.reshape(-1), 0
    axis = 0 if axis is None else int(axis)
    array = np.moveaxis(array, axis, -1)
    if options.get("include_initial"):
        first = np.full((*array.shape[:-1], 1), fold.ufunc.identity, array.dtype)
        array = np.concatenate([first, array], axis=-1)
    if array.shape != np.moveaxis(made, axis, -1).shape:
        return []

    def several(first: int) -> Array:
        at = list(np.unravel_index(first, made.shape))
        last = at.pop(axis)
        return np.asarray(array[tuple(at)][: last + 1])

    exact = np.moveaxis(_approximate(fold, array), -1, axis)
    return _told(fold.exact, exact, several, operand, result, scope)


def _is_of(fold: _Folding, each: Array, result: Values) -> bool:
    """Whether a result has the low bits of the rows: of several axes that are possible the one."""
    made = plain(result).reshape(-1)
    folded = fold.ufunc.reduce(each.astype(made.dtype), axis=-1, dtype=made.dtype)
    if result.dtype.bits < 8:
        folded, made = (part & ((1 << result.dtype.bits) - 1) for part in (folded, made))
    return bool((folded == made).all())


def _told(
    exactly: Number,
    exact: Array,
    several: Callable[[int], Array],
    operand: Operand,
    result: Values,
    scope: Scope,
) -> list[Loss]:
    """Tell of the elements, each made of several, that wrapped."""
    exact, made = exact.reshape(-1), plain(result).reshape(-1)
    which = np.flatnonzero(_beyond(exact, made, result.dtype))
    if not which.size:
        return []

    def given() -> list[Several]:
        return [Several(several(int(which[0])))]

    def truth(each: Several) -> Any:  # of a product of many it would be long
        is_known = math.isfinite(exact[which[0]])
        return exactly(each.array) if is_known else "beyond float64"

    elements = Elements([operand], result, 1, scope.brief)
    wanted = partial(_wanted, exact, made, result.dtype)
    return [elements.loss(WRAP, which, truth, given=given, wanted=wanted)]


def _difference(
    operand: Operand, result: Values, options: Mapping[str, Any], scope: Scope
) -> list[Loss]:
    times, axis = int(options.get("n", 1)), int(options.get("axis", -1))
    if not isinstance(operand, Values) or not 0 < times < 20:
        return []
    array = plain(operand)
    exact = np.diff(floats(array), times, axis)
    if exact.shape != result.array.shape:
        return []

    def several(first: int) -> Array:
        at = list(np.unravel_index(first, exact.shape))
        start = at.pop(axis)
        return np.asarray(np.moveaxis(array, axis, -1)[tuple(at)][start : start + times + 1])

    return _told(_last_difference, exact, several, operand, result, scope)


def _last_difference(values: Array) -> int:
    row: list[int] = values.tolist()
    while len(row) > 1:
        row = [b - a for a, b in pairwise(row)]
    return row[0]


# -- products of matrices -------------------------------------------------------------------------


def _matmul(x: Array, y: Array, options: Mapping[str, Any]) -> tuple[Array, Array]:
    return x if x.ndim > 1 else x[None], y if y.ndim > 1 else y[:, None]


def _vecdot(x: Array, y: Array, options: Mapping[str, Any]) -> tuple[Array, Array]:
    axis = options.get("axis")
    axis = -1 if axis is None else int(axis)
    x, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    return x[..., None, :], y[..., :, None]


def _outer(x: Array, y: Array, options: Mapping[str, Any]) -> tuple[Array, Array]:
    return x.reshape(-1, 1), y.reshape(1, -1)


def _tensordot(x: Array, y: Array, options: Mapping[str, Any]) -> tuple[Array, Array]:
    axes = options.get("axes", 2)
    if isinstance(axes, int):
        axes = range(x.ndim - axes, x.ndim), range(axes)
    left, right = (
        tuple(int(at) % array.ndim for at in (which if np.iterable(which) else (which,)))
        for array, which in zip((x, y), axes, strict=True)
    )
    return rows(x, left), rows(y, right).T


_PRODUCTS = {"matmul": _matmul, "vecdot": _vecdot, "outer": _outer, "tensordot": _tensordot}


def _product(
    matrices: Callable[..., tuple[Array, Array]],
    operands: Sequence[Operand],
    result: Values,
    options: Mapping[str, Any],
    scope: Scope,
) -> list[Loss]:
    left, right = operands
    if not (isinstance(left, Values) and isinstance(right, Values)):
        return []
    x, y = matrices(plain(left), plain(right), options)
    depth = x.shape[-1]
    if depth != y.shape[-2]:
        return []
    for ends_of in (_dtype_ends, _ends):
        ends = [a * b for a, b in product(ends_of(left), ends_of(right))]
        if _within([end * n for end in ends for n in (1, depth)], result.dtype):
            return []
    shape = (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])
    if math.prod(shape) != result.array.size:
        return []

    def behind(first: int) -> list[Several]:
        return factors(x, y, shape, tuple(map(int, np.unravel_index(first, shape))))

    return _products(x, y, behind, Elements(operands, result, 1, scope.brief))


def _products(
    x: Array, y: Array, behind: Callable[[int], list[Several]], of: Elements
) -> list[Loss]:
    # 1. Sums of products, and how far float64 may be off.
    dtype, low_bits = of.result.dtype, plain(of.result).reshape(-1)
    made, x, y = floats(low_bits), floats(x), floats(y)
    exact = np.matmul(x, y).reshape(-1)
    error = np.matmul(np.abs(x), np.abs(y)).reshape(-1) * ((x.shape[-1] + 4) * 2.0**-53)

    # 2. The program's has the low bits: it is off by nothing, or by one 2^bits at least.
    turn, (low, high) = 2.0**dtype.bits, bounds(dtype)
    lost = np.abs(exact - made) >= turn / 2
    for unsure in np.flatnonzero((error >= turn / 4) & (np.abs(exact) - error < turn)).tolist():
        exact[unsure] = known = _dot(*behind(unsure))
        lost[unsure] = not low <= known <= high
    which = np.flatnonzero(lost)
    if not which.size:
        return []

    wanted = partial(_wanted, exact, low_bits, dtype)
    given = partial(behind, int(which[0]))
    return [of.loss(WRAP, which, _dot, given=given, wanted=wanted)]


def _dot(one: Several, other: Several) -> int:
    return sum(map(operator.mul, one.array.tolist(), other.array.tolist()))
