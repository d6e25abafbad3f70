"""Results that are Inf, NaN, too small, or what they were before, while their operands are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from promoarray.diagnostics.losses.casts import is_finite, least_normal
from promoarray.diagnostics.losses.elements import (
    CODES,
    Array,
    Elements,
    Operand,
    Scope,
    Several,
    Values,
    counts,
    factors,
    fits,
    floats,
    least_float,
    plain,
    reduced_axes,
    rows,
)
from promoarray.diagnostics.model.lost import ABSORBED, NAN, OVERFLOW, UNDERFLOW, Loss
from promoarray.dtypes import INEXACT, DType, Kind
from promoarray.operations import OPERATIONS, Family

_BY_ELEMENTS = frozenset(
    {
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.POW, Family.EXTREMUM),
        *(Family.FLOAT_BINARY, Family.FLOAT_UNARY, Family.SIGN, Family.WHERE, Family.CLIP),
        *(Family.ROUND, Family.COMPLEX),
    }
)
_REDUCTIONS = frozenset({"sum", "prod", "mean", "std", "var", "max", "min"})
_CUMULATIVE = frozenset({"cumulative_sum", "cumulative_prod", "cumsum", "cumprod"})
_LOGARITHMS = frozenset({"log", "log2", "log10"})
_FOLDED: Mapping[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "matmul": np.vdot,
}
_NUMPY: Mapping[str, Any] = {"pow": np.power, "where": None, "clip": None}
"""Functions that NumPy has under another name, and those that compute nothing."""


def goes_by_elements(operation: str) -> bool:
    """Whether each element of a result is made of the elements that lie there."""
    if operation not in OPERATIONS or operation == "diff":
        return False
    return OPERATIONS[operation].family in _BY_ELEMENTS


# -- Inf and NaN ----------------------------------------------------------------------------------


def born(
    operation: str,
    operands: Sequence[Operand],
    result: Values,
    options: Mapping[str, Any],
    scope: Scope,
) -> list[Loss]:
    """Return the Inf and NaN of a result, of floats, that its operands do not have.

    Of functions that are not known, ``""`` among them, all elements of the operands count.
    """
    by_elements = goes_by_elements(operation) and fits(operands, result)
    elements = Elements.of(operands, result, scope if by_elements else scope._replace(bound=None))
    shape, found = result.array.shape, []
    smallest_first = sorted(enumerate(operands), key=lambda each: _size(each[1]))
    with np.errstate(all="ignore"):
        made = elements.beside(result).reshape(-1)
        for kind, is_so, clear in (OVERFLOW, np.isinf, is_finite), (NAN, np.isnan, _is_number):
            if kind not in scope.kinds:
                continue
            new = is_so(made)
            for position, operand in smallest_first:
                if not new.any():
                    break
                if by_elements or not isinstance(operand, Values):
                    new &= _clear_beside(elements, clear, operand)
                else:
                    mask = _clear(clear, plain(operand), operand)
                    mask = _spread(operation, position, mask, options, shape)
                    new &= np.broadcast_to(mask, shape).reshape(-1)
            which = np.flatnonzero(new)
            if which.size and not _is_mask(operation, kind, operands):
                found.append(_told(kind, operation, elements, which, options, by_elements))
    return found


def _size(operand: Operand) -> int:
    return operand.array.size if isinstance(operand, Values) else 1


def _clear_beside(elements: Elements, clear: Callable[..., Array], operand: Operand) -> Array:
    """Whether what lies beside each element is so; of what is broadcast each is asked once."""
    if not isinstance(operand, Values) or _size(operand) == _size(elements.result):
        return _clear(clear, elements.beside(operand), operand)
    return elements.held(operand._replace(array=_clear(clear, plain(operand), operand)))


def _clear(clear: Callable[..., Array], array: Array, operand: Operand) -> Array:
    if array.dtype.kind not in "fc":
        return np.ones(array.shape, bool)
    return clear(array, operand.dtype if isinstance(operand, Values) else None)


def _is_number(array: Array, dtype: DType | None) -> Array:
    return ~np.isnan(array)


def _is_mask(operation: str, kind: str, operands: Sequence[Operand]) -> bool:
    """Whether this is the logarithm of zeros and ones."""
    if kind != OVERFLOW or operation not in _LOGARITHMS:
        return False
    return all(
        isinstance(each, Values) and bool(np.isin(plain(each), (0, 1)).all()) for each in operands
    )


def _spread(
    operation: str,
    position: int,
    mask: Array,
    options: Mapping[str, Any],
    shape: tuple[int, ...],
) -> Array:
    """From what is so of an operand's elements to whether it is so of all behind each result."""
    if operation in _REDUCTIONS:
        ways = reduced_axes(mask.shape, shape, options)
        if len(ways) == 1:
            return np.asarray(rows(mask, ways[0]).all(axis=-1).reshape(shape))
    elif operation in _CUMULATIVE and mask.shape == shape and mask.ndim:
        axis = options.get("axis")
        if axis is not None or mask.ndim == 1:
            return np.logical_and.accumulate(mask, axis=int(axis or 0))
    elif operation == "matmul" and mask.ndim > 1 and len(shape) > 1:
        kept = np.asarray(mask.all(axis=-1 if position == 0 else -2, keepdims=True))
        if kept.shape[-2:] in ((shape[-2], 1), (1, shape[-1])):
            return kept
    return np.asarray(mask.all())


def _told(
    kind: str,
    operation: str,
    elements: Elements,
    which: Array,
    options: Mapping[str, Any],
    by_elements: bool,
) -> Loss:
    operands, index = elements.operands, elements.index(int(which[0]))
    exact, note, wanted = "", "", ""
    given: list[Any] = []
    if kind in elements.brief:
        pass
    elif by_elements:
        given = elements.at(index)
        note = _division(operation, *given)
        if kind == OVERFLOW and not note:
            lost = (elements.beside(each, which) for each in operands)
            exact, wanted = _magnitude(_numpy(operation), *lost)
    else:
        shape = elements.result.array.shape
        given = _behind(operation, operands, index, shape, options)
        is_known = operation in _FOLDED and all(type(x) is Several for x in given)
        if kind == OVERFLOW and is_known and len({x.array.shape for x in given}) == 1:
            exact, wanted = _magnitude(_FOLDED[operation], *(each.array for each in given))
    words: Any = {"note": lambda: note, "wanted": lambda: wanted, "given": lambda: given}
    return elements.loss(kind, which, lambda *_: exact, **words)


def _behind(
    operation: str,
    operands: Sequence[Operand],
    index: tuple[int, ...],
    shape: tuple[int, ...],
    options: Mapping[str, Any],
) -> list[Any]:
    """The elements of operands that an element of the result is made of, as far as known."""
    given: list[Any] = [plain(x) if isinstance(x, Values) else x for x in operands]
    dtypes = [x.dtype if isinstance(x, Values) else None for x in operands]
    if operation == "matmul" and all(isinstance(x, np.ndarray) and x.ndim > 1 for x in given):
        return list(factors(given[0], given[1], shape, index))
    if operation in _REDUCTIONS and isinstance(given[0], np.ndarray):
        ways = reduced_axes(given[0].shape, shape, options)
        if len(ways) == 1:
            first = int(np.ravel_multi_index(index, shape)) if shape else 0
            return [Several(rows(given[0], ways[0])[first], dtypes[0])]
    return [
        Several(x, d) if isinstance(x, np.ndarray) else x
        for x, d in zip(given, dtypes, strict=True)
    ]


def _magnitude(compute: Callable[..., Any] | None, *operands: Array) -> tuple[str, str]:
    """The first result in float64 as text, and the least dtype that holds all of them."""
    if compute is None:
        return "", ""
    made = np.asarray(compute(*map(floats, operands))).reshape(-1)
    if np.isnan(made).any():
        return "", ""
    first = made[0].item()
    exact = _few_digits(first) if np.isfinite(first) else "beyond float64"
    return exact, least_float(float(np.abs(made).max()))


def _few_digits(value: Any) -> str:
    """A result that was computed in float64: whole numbers in all their digits."""
    if isinstance(value, complex) or (float(value).is_integer() and abs(value) < 1e16):
        return repr(value)
    return f"{value:.7g}"


def _division(operation: str, *given: Any) -> str:
    """That a number is divided by zero, if it is."""
    if operation in ("divide", "floor_divide", "remainder"):
        return _BY_ZERO if given[1] == 0 else ""
    if operation == "pow":
        return _BY_ZERO if given[0] == 0 and given[1].real < 0 else ""
    if operation == "reciprocal":
        return _BY_ZERO if given[0] == 0 else ""
    if operation in _LOGARITHMS:
        return "the logarithm of zero" if given[0] == 0 else ""
    return ""


_BY_ZERO = "a division by zero"


# -- too small ------------------------------------------------------------------------------------


def _has_zeros_of(operands: Sequence[Operand], result: Values) -> bool:
    """Whether an array that is scaled by a number has as many zeros as what comes of it, which has
    no subnormal numbers."""
    first, *others = operands
    if not isinstance(first, Values) or any(isinstance(x, Values) or not x for x in others):
        return False
    if first.dtype is not result.dtype or first.array.shape != result.array.shape:
        return False
    *_, zeros, subnormal, _ = counts(result)
    return not subnormal and zeros == counts(first)[2]


def too_small(
    operation: str, operands: Sequence[Operand], result: Values, scope: Scope
) -> list[Loss]:
    """Return the products, quotients and powers that are zero or subnormal, and not exactly so."""
    if operation not in SCALED or result.dtype.kind is not Kind.FLOAT:
        return []
    if not fits(operands, result) or _has_zeros_of(operands, result):
        return []
    elements = Elements.of(operands, result, scope)
    small = elements.codes < 1 << CODES[result.dtype][1].mantissa
    for operand in operands[: 1 if operation == "pow" else 2]:
        small &= elements.nonzero(operand)
    which = np.flatnonzero(small)
    if not which.size:
        return []
    with np.errstate(all="ignore"):
        made, *given = (floats(elements.beside(each, which)) for each in (result, *operands))
        if any(each.dtype.kind == "c" for each in given):
            return []
        if result.dtype.bits == 64:
            lost = SCALED[operation](made, *given)
        else:  # of which float64 has the exact products, and the quotients near enough
            lost = np.isfinite(given[-1]) & (_numpy(operation)(*given) != made)
        lost = np.broadcast_to(lost, which.shape)
        which = which[lost & ~np.isnan(made)]
        if not which.size:
            return []
        compute = _numpy(operation)

        def wanted() -> str:
            exact = compute(*(floats(elements.beside(each, which)) for each in operands))
            return least_normal(float(np.abs(exact).min()))

        return [elements.loss(UNDERFLOW, which, _small(compute), wanted=wanted)]


def _numpy(operation: str) -> Any:
    return _NUMPY[operation] if operation in _NUMPY else getattr(np, operation, None)


def _small(compute: Callable[..., Any]) -> Callable[..., str]:
    def exact(*given: Any) -> str:
        value = float(compute(*map(float, given)))
        return _few_digits(value) if value else "not 0, and too small for float64"

    return exact


def _product_is_lost(made: Array, x: Array, y: Array) -> Array:
    return np.asarray((made == 0) | ~_is_product(made, x, y))


def _quotient_is_lost(made: Array, x: Array, y: Array) -> Array:
    lost = (made == 0) | ~_is_product(x, made, y)
    return np.asarray(np.isfinite(y) & lost)


def _power_is_lost(made: Array, x: Array, y: Array) -> Array:
    numbers = np.isfinite(x) & np.isfinite(y)
    return np.asarray(numbers & ((made == 0) | (np.power(x, y) != made)))


SCALED: Mapping[str, Callable[..., Array]] = {
    "multiply": _product_is_lost,
    "square": lambda made, x: _product_is_lost(made, x, x),
    "divide": _quotient_is_lost,
    "pow": _power_is_lost,
}
"""Operations whose results may be too small: the others mean it, or are exact then."""


def _is_product(made: Array, x: Array, y: Array) -> Array:
    """Whether a number is exactly the product of two (Dekker; of their fractions alone)."""
    (x, x_exponent), (y, y_exponent) = np.frexp(x), np.frexp(y)
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    rest = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    scaled = np.ldexp(made, -(x_exponent + y_exponent))
    return np.asarray((scaled == product) & (rest == 0))


def _halves(x: Array) -> tuple[Array, Array]:
    wide = x * (2.0**27 + 1)
    high = wide - (wide - x)
    return high, x - high


# -- absorbed -------------------------------------------------------------------------------------


def absorbed(
    before: Values, update: Operand, result: Values, scope: Scope, sign: int
) -> Loss | None:
    """Return the updates that changed nothing; ``examined.absorbed`` has the words."""
    if result.dtype.kind not in INEXACT or not fits((before, update), result):
        return None
    elements = Elements.of((before, update), result, scope)
    with np.errstate(all="ignore"):
        same = _unchanged(elements, before)
        if not same.any():
            return None
        moves = elements.nonzero(update)
        which = np.flatnonzero(same & elements.nonzero(before) & moves)
        x, y = (floats(elements.beside(each, which)) for each in (before, update))
        finite = np.broadcast_to(np.isfinite(x), which.shape)
        which, x = which[finite], np.broadcast_to(x, finite.shape)[finite]
        if not which.size:
            return None
        of = int(np.count_nonzero(np.broadcast_to(moves, elements.size)))
        y = sign * np.broadcast_to(y, finite.shape)[finite]

    def wanted() -> str:
        return next((name for name in ("float32", "float64") if _moves(x, y, name)), "")

    def summed(x: Any, y: Any) -> Any:
        return total if (total := x + sign * y) != x else ""

    return elements.loss(ABSORBED, which, summed, of=of, wanted=wanted)


def _unchanged(elements: Elements, before: Values) -> Array:
    """Which elements of the result equal those before, by their codes if they can be."""
    result = elements.result
    if before.dtype is result.dtype and before.dtype.kind is Kind.FLOAT:
        word = CODES[before.dtype][0]
        x, made = (elements.held(each).view(word) for each in (before, result))
    else:
        x, made = elements.beside(before), elements.beside(result)
    return np.asarray(x == made.reshape(-1))


def _moves(x: Array, y: Array, name: str) -> bool:
    wide = x.astype(name)
    return bool((wide + y.astype(name) != wide).all())
