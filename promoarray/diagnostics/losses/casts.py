"""Numbers that a cast lost: beyond the range, digits, too small."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Set
from functools import cache
from typing import Any

import numpy as np

from promoarray.core.cast import convert
from promoarray.diagnostics.losses.elements import (
    CODES,
    Array,
    Elements,
    Operand,
    Scope,
    Values,
    counts,
    ends,
    fits,
    floats,
    has_nan_for_zero,
    integer_ends,
    is_whole,
    least_float,
    least_integer,
)
from promoarray.diagnostics.model.lost import DIGITS, RANGE, UNDERFLOW, Loss
from promoarray.dtypes import INEXACT, INTEGERS, WEAK, DType, Kind, float32, int32, string, uint32
from promoarray.promotion.cast_losses import Lost, gravity
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import WIDE, bounds, largest, wrap


def losses(source: Operand, result: Values, scope: Scope) -> list[Loss]:
    """Return what a cast lost; ``lost_in_cast`` has the words."""
    if not result.array.size or result.dtype is string:
        return []
    kinds = scope.kinds
    if isinstance(source, Values) and not (kinds := _possible(source, result) & kinds):
        return []
    if not fits((source,), result):
        return []
    elements = Elements.of((source,), result, scope)
    with np.errstate(all="ignore"):
        return [
            loss
            for kind, look in ((RANGE, _range), (UNDERFLOW, _too_small), (DIGITS, _digits))
            if kind in kinds
            for loss in look(elements, source, result.dtype)
        ]


def in_promotion(operand: Values, result: DType, scope: Scope) -> list[Loss]:
    """Return the digits that an operand loses as it becomes the dtype of the result."""
    if result.kind not in INEXACT or _gravity(operand.dtype, result) < Lost.ROUNDED:
        return []
    if is_whole(operand) and DIGITS not in _possible(operand, Values(operand.array, result)):
        return []
    cast = convert(as_policy("numpy"), operand.array, operand.dtype, result)
    return losses(operand, Values(cast, result), scope._replace(kinds={DIGITS}))


@cache
def _gravity(source: DType, target: DType) -> Lost:
    return gravity(source, target)[0]


def _itself(value: Any) -> Any:
    return value


# -- passes that tell "nothing" -------------------------------------------------------------------


def _possible(source: Values, result: Values) -> Set[str]:
    """The kinds of losses that the ends of the values and the dtypes leave possible."""
    given, target = source.dtype, result.dtype
    if given is string or not _gravity(given, target):
        return _NOTHING
    if given.kind not in INEXACT:
        return _of_integers(integer_ends(source), target)
    if given.kind is Kind.COMPLEX or target.kind is Kind.COMPLEX:
        return _ANYTHING
    least, most, sign, is_finite = ends(source)
    limit = _limit(given, target)
    if target.format is None:
        is_inside = is_finite and most < limit and (target.kind is not Kind.UINT or sign > 0)
        return _NOTHING if is_inside else {RANGE}
    nan, inf, zero, subnormal, largest = counts(result)
    possible = set()
    if nan or inf or largest or not is_finite:
        possible.add(RANGE)
    if zero or subnormal:
        possible.add(UNDERFLOW)
    if most >= limit or _may_be_offset(least, most, sign, given):
        possible.add(DIGITS)
    return possible


_NOTHING: frozenset[str] = frozenset()
_ANYTHING = frozenset({RANGE, UNDERFLOW, DIGITS})


@cache
def _limit(source: DType, target: DType) -> int:
    """The code of the magnitude from which a cast may change whole numbers, or leave the range."""
    word, layout = CODES[source]
    if target.kind is Kind.BOOL:
        return layout.largest + 1
    bits = target.format.mantissa + 1 if target.format else target.bits - (target.kind is Kind.INT)
    if 2.0**bits > largest(source):
        return layout.largest + 1
    return int(np.array(2.0**bits).astype(source.storage).view(word))


def _may_be_offset(least: int, most: int, sign: int, dtype: DType) -> bool:
    """Whether all numbers have a sign, and the codes of these magnitudes are near each other."""
    return sign != 0 and 0 < most - least < 1 << CODES[dtype][1].mantissa


def _of_integers(given: tuple[int, int], target: DType) -> Set[str]:
    layout = target.part.format
    if target.kind is Kind.BOOL:
        return _NOTHING
    if layout is None:
        low, high = bounds(target)
        return _NOTHING if low <= given[0] and given[1] <= high else {RANGE}
    reach = max(-given[0], given[1])
    if reach <= 2 << layout.mantissa and reach <= largest(target.part) and layout.mantissa:
        return _NOTHING
    return {RANGE, DIGITS}


def _is_offset(least: float, most: float, sign: int, target: DType) -> bool:
    """Whether data lie far from zero, as times do. Those of about 1 are factors, to 16 bits."""
    return sign != 0 and 0 < most - least <= most / 16 and (target.bits > 16 or most > 2)


# -- range ----------------------------------------------------------------------------------------


def _range(elements: Elements, source: Operand, target: DType) -> Iterator[Loss]:
    # 1. What may be beyond: where floats come out, only what is at their ends.
    which = np.arange(elements.size)
    if (layout := target.part.format) is not None and layout.nan is not None:
        codes = elements.codes
        at_end = codes >= layout.largest
        if has_nan_for_zero(layout):
            at_end |= codes == 0
        which = _elements(at_end, which)
    given, made = elements.beside(source, which), elements.beside(elements.result, which)

    # 2. What is, and what drops an imaginary part.
    drops = given.dtype.kind == "c" and target.kind not in (Kind.COMPLEX, Kind.BOOL)
    dropped = which[:0]
    if drops:
        dropped = np.flatnonzero(np.broadcast_to(elements.beside(source).imag, elements.size))
    if target.kind in INEXACT:
        parts = _beyond_float(_parts(given, target), _parts(made, target), source, target)
        which = which[_elements(parts, which)]
    else:
        which = which[np.broadcast_to(_beyond_integer(given, target), which.shape)]
    if dropped.size:
        which = np.union1d(which, dropped)
    if not which.size:
        return

    # 3. What others make of the first, and what would hold all.
    lost = elements.beside(source, which)

    def note() -> str:
        if dropped.size:
            return "the imaginary part is dropped"
        if lost.dtype.kind != "f" or target.kind not in INTEGERS:
            return ""
        dtype = source.dtype if isinstance(source, Values) else WEAK[type(source)]
        return elsewhere(lost.reshape(-1)[0].item(), dtype, target)

    def wanted() -> str:
        return "" if dropped.size else _wide_enough(lost, target)

    yield elements.loss(RANGE, which, _itself, note=note, wanted=wanted)


def _elements(parts: Array, every: Array) -> Array:
    """The places of elements of which a part is so."""
    return np.flatnonzero(parts.reshape(len(every) or -1, -1 if len(every) else 1).any(axis=-1))


def _parts(array: Array, target: DType) -> Array:
    """The real and the imaginary part, side by side along the last axis, if the target has them."""
    if target.kind is Kind.COMPLEX:
        array = np.stack([array.real, array.imag], axis=-1)
    return floats(array.real)


def _beyond_integer(given: Array, target: DType) -> Array:
    if target.kind is Kind.BOOL:
        return np.asarray(~np.isfinite(given)) if given.dtype.kind in "fc" else np.array(False)
    low, high = bounds(target)
    if given.dtype.kind not in "fc":
        return np.asarray((given < low) | (given > high), bool)
    whole = np.trunc(floats(given).real)
    return np.asarray(~((whole >= low) & (whole < float(high + 1))))


def _beyond_float(given: Array, made: Array, source: Operand, target: DType) -> Array:
    """What is Inf, NaN or an end of the range and was not so."""
    layout, most = target.part.format, largest(target.part)
    assert layout is not None
    half = math.ldexp(0.5, math.frexp(most)[1] - 1 - layout.mantissa)
    out = np.greater_equal if layout.largest % 2 else np.greater  # a tie goes up, and out
    finite = is_finite(given, source.dtype if isinstance(source, Values) else None)
    saturated = (np.abs(made) == most) & out(np.abs(given) - most, half)
    lost = finite & (~np.isfinite(made) | saturated)
    lost |= np.isinf(given) & (made != given)
    return np.asarray(lost | (np.isnan(given) & ~np.isnan(made)))


def is_finite(array: Array, dtype: DType | None) -> Array:
    """Whether floats are finite, and no mask: the largest of a dtype stands for Inf there."""
    if dtype is None or dtype.kind not in INEXACT or dtype.bits < 16:
        return np.asarray(np.isfinite(array))
    if array.dtype.kind == "c":
        return is_finite(array.real, dtype) & is_finite(array.imag, dtype)
    return np.asarray(np.abs(array) < largest(dtype.part))


def _wide_enough(lost: Array, target: DType) -> str:
    if lost.dtype.kind in "fc" and not np.isfinite(lost).all():
        return ""
    if target.kind in INEXACT:
        return least_float(float(np.abs(floats(lost)).max()))
    if lost.dtype.kind in "fc":
        lost = np.trunc(floats(lost).real)
    return least_integer(int(lost.min()), int(lost.max()), target)


def elsewhere(value: float, source: DType, target: DType) -> str:
    """What others make of a float beyond the range of an integer dtype."""
    from promoarray.diagnostics.casts import cast_answer, rounded

    source = WIDE.get(source, source)
    told: dict[str, list[str]] = {}
    buffer = rounded(value, source)
    for policy, name in _MACHINES.items():
        answer = cast_answer(as_policy(policy), buffer, source, target)
        if answer.values:
            told.setdefault(answer.values[0].value, []).append(name)
    if source is float32 and target.bits <= 32 and not math.isnan(value):
        told.setdefault(str(_in_cupy(value, target)), []).append("CuPy")
    return "; ".join(f"{_listed(names)}: {made}" for made, names in told.items())


def _listed(names: list[str]) -> str:
    """Write names out, a framework's machines together."""
    machines: dict[str, list[str]] = {}
    for framework, _, machine in (name.partition(" on ") for name in names):
        machines.setdefault(framework, []).append(machine)
    return ", ".join(f"{name} on {'/'.join(m)}" if any(m) else name for name, m in machines.items())


_MACHINES = {
    "numpy": "NumPy on x86",
    "torch": "PyTorch on x86",
    "numpy@2-arm64": "NumPy on ARM64",
    "torch@2.13-arm64": "PyTorch on ARM64",
    "torch@2.13-cuda": "PyTorch on CUDA",
    "jax": "JAX",
}
"""Policies that have cast rules of their own for such numbers, and what they stand for."""


def _in_cupy(value: float, target: DType) -> int:
    """As ``cvt.rzi`` has it in the PTX of CuPy's cast: a saturating 32-bit integer, cut."""
    low, high = bounds(int32 if target.kind is Kind.INT else uint32)
    cut: int = wrap(int(min(max(value, low), high)), target)
    return cut


# -- too small ------------------------------------------------------------------------------------


def _too_small(elements: Elements, source: Operand, target: DType) -> Iterator[Loss]:
    layout = target.part.format
    if layout is None or not layout.mantissa or is_whole(source):
        return
    which = _elements(elements.codes < 1 << layout.mantissa, np.arange(elements.size))
    given, made = (
        _parts(elements.beside(each, which), target) for each in (source, elements.result)
    )
    given = np.broadcast_to(given, made.shape)
    lost = (np.abs(made) < smallest_normal(target)) & (given != made) & np.isfinite(given)
    if lost.any():
        which = which[_elements(lost, which)]

        def wanted() -> str:
            return least_normal(float(np.abs(given[lost]).min()))

        yield elements.loss(UNDERFLOW, which, _itself, wanted=wanted)


def smallest_normal(dtype: DType) -> float:
    """The least positive normal number; 0 for a float of powers of two alone, as it has no zero."""
    layout = dtype.part.format
    assert layout is not None
    return math.ldexp(1.0, 1 - layout.bias) if layout.mantissa else 0.0


def least_normal(magnitude: float) -> str:
    """The name of the least of float32 and float64 in which a magnitude is normal, or ""."""
    if magnitude >= np.finfo(np.float32).tiny:
        return "float32"
    return "float64" if magnitude >= np.finfo(np.float64).tiny else ""


# -- digits ---------------------------------------------------------------------------------------


def _digits(elements: Elements, source: Operand, target: DType) -> Iterator[Loss]:
    layout = target.part.format
    if layout is None or type(source) in (float, complex):
        return
    given, digits = elements.beside(source).reshape(-1), layout.mantissa + 1
    if is_whole(source):
        yield from _whole_numbers(elements, given, digits)
    elif isinstance(source, Values) and (own := source.dtype.format) is not None:
        *codes, sign, _ = ends(source)
        if digits > own.mantissa or codes[1] < 0:
            return
        word, storage = CODES[source.dtype][0], source.dtype.storage
        least, most = np.array(codes, word).view(storage).astype(np.float64).tolist()
        # Beyond, floats are whole numbers by chance, if not always.
        if 2.0**digits < most <= 2.0 ** (own.mantissa - 3) and _are_whole(given):
            yield from _whole_numbers(elements, given, digits)
        elif _is_offset(least, most, sign, target.part):
            yield from _offset(elements, given, digits)
        elif most > 2.0**digits and target.part.bits > 16:  # times among other numbers
            yield from _offset(elements, given, digits, beyond=2.0**digits, neighbours=64)


def _are_whole(array: Array) -> bool:
    def are(part: Array) -> bool:
        return bool(((np.trunc(part) == part) | ~np.isfinite(part)).all())

    return are(array[:64]) and are(array)


def _whole_numbers(elements: Elements, given: Array, digits: int) -> Iterator[Loss]:
    made = floats(elements.beside(elements.result).reshape(-1).real)
    if given.dtype.kind in "fb" or given.dtype.itemsize < 8:
        changed = made != floats(given)
    else:  # of 64 bits in two halves, between which and a float no digit is lost
        changed = (made - floats(given >> 32) * 2.0**32) != floats(given & 0xFFFFFFFF)
    which = np.flatnonzero(changed & np.isfinite(made) & (np.abs(made) >= 2.0**digits))
    if which.size:

        def wanted() -> str:
            most = float(np.abs(floats(given[np.isfinite(floats(given))])).max())
            return "float32" if most <= 1 << 24 else "float64" if most <= 1 << 53 else "int64"

        yield elements.loss(DIGITS, which, _itself, wanted=wanted)


def _offset(
    elements: Elements,
    given: Array,
    digits: int,
    *,
    beyond: float = 0.0,
    neighbours: int = sys.maxsize,
) -> Iterator[Loss]:
    """Data far from zero, such as times, of which different ones become equal."""
    made, source = elements.beside(elements.result).reshape(-1), elements.operands[0]
    assert isinstance(source, Values)
    given = np.broadcast_to(given, made.shape)  # one value may fill an array
    finite = np.flatnonzero(np.isfinite(given) & np.isfinite(made) & (np.abs(given) >= beyond))
    given, made = given[finite], made[finite]
    if not given.size:
        return
    different, index, inverse = np.unique(given, return_index=True, return_inverse=True)
    dense = _dense(floats(different), digits, min(len(different), neighbours))
    equal = (made[index][1:] == made[index][:-1]) & dense[1:] & dense[:-1]
    if equal.any():
        merged = np.append(equal, False) | np.append(False, equal)
        left = len(different) - int(np.count_nonzero(equal))
        words = f"{len(different)} different values become {left}", source.dtype.name
        # One of those that are equal now may be what it was.
        which = finite[merged[inverse.reshape(-1)] & (given != made)]
        yield elements.loss(DIGITS, which, _itself, note=lambda: words[0], wanted=lambda: words[1])


def _dense(different: Array, digits: int, several: int) -> Array:
    """Whether sorted numbers are among several that lie closer than numbers of so many digits.

    Those become equal for want of digits, and not by chance, as two of many numbers do.
    """
    first, last = different[: len(different) - several + 1], different[several - 1 :]
    step = np.ldexp(1.0, np.frexp(np.maximum(np.abs(first), np.abs(last)))[1] - digits)
    close = (last - first) / step < several
    ends = np.zeros(len(different) + 1, int)
    ends[:-several] += close
    ends[several:] -= close
    return np.asarray(np.cumsum(ends[:-1]) > 0)
