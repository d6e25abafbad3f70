"""Functions that add and multiply integers, carried out again: none but they know what they add.

Float64 tells which multiple of 2^64 is missing between the exact result and its low 64 bits, which
integers of 64 bits have whatever they add and multiply. Where it has too few digits for that, the
function gets Python's ints, if it takes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.losses.elements import (
    Array,
    Elements,
    Operand,
    Scope,
    Values,
    floats,
    integer_ends,
    is_whole,
    least_integer,
    plain,
)
from promoarray.diagnostics.model.lost import WRAP, Loss
from promoarray.dtypes import INTEGERS
from promoarray.promotion.scalars import bounds

Change = Callable[[Array], Array]
"""From an array of integers to the same numbers in another dtype, or to their magnitudes."""


class Again(NamedTuple):
    """A function that adds and multiplies integers, and how to carry it out again."""

    # carries it out with its arrays of integers changed; raises where it takes no such arrays
    carry_out: Callable[[Change], Any]
    operands: Sequence[Operand]  # arrays and numbers, those that tell where to add among them
    takes_ints: bool = True  # whether it takes arrays of Python's ints
    subtracts: bool = False  # whether it subtracts: of unsigned numbers, some below zero come out
    goes_once: bool = True  # whether no term has an element of an operand twice, or two of them

    def of(self, change: Change, result: Values) -> Array | None:
        """What it gives of changed arrays; None if it does not take them."""
        try:
            with np.errstate(all="ignore"):
                made = np.asarray(self.carry_out(change))
        except Exception:  # whatever it raises
            return None
        return made if made.shape == result.array.shape else None


def wrapped_again(again: Again, result: Values, scope: Scope) -> list[Loss] | None:
    """Return what wraps in a result, or on the way to floats; None if that cannot be told."""
    if result.dtype.kind not in INTEGERS:
        return _of_inner(again, result, scope)
    every = [_ends(each) for each in again.operands]
    sizes = [max(each.array.size, 1) for each in again.operands if isinstance(each, Values)]
    reach, products = math.prod(max(1, -least, most) for least, most in every), math.prod(sizes)
    low, high = bounds(result.dtype)
    is_above = low < 0 or not (again.subtracts or any(least < 0 for least, _ in every))
    if again.goes_once and is_above and 4 * reach * products <= high:  # of a sum of products
        return []
    hidden = float(4 * reach * max(sizes, default=1)) if again.subtracts else 0.0
    takes_ints = again.takes_ints and (again.goes_once or _is_short(again)) and products <= _MANY
    found = _of_floats(again, result, scope, hidden, sum(sizes), every=takes_ints)
    if found is None and takes_ints:
        found = _of_ints(again, result, scope)
    return found


_MANY = 1 << 20
"""So many products of Python's ints take a second at most."""


def _is_short(again: Again) -> bool:
    """Whether the powers that numbers may ask for have not too many digits."""
    return all(abs(x) <= _POWER for x in again.operands if isinstance(x, int))


_POWER = 256


def _ends(operand: Operand) -> tuple[int, int]:
    if isinstance(operand, Values):
        return integer_ends(operand) if is_whole(operand) else (0, 0)
    return (operand, operand) if isinstance(operand, int) else (0, 0)


def _of_inner(again: Again, result: Values, scope: Scope) -> list[Loss] | None:
    exact = again.of(_whole, result)
    if exact is None:
        return None
    made = plain(result)
    which = np.flatnonzero(~np.isclose(exact, made, rtol=1e-6, atol=0, equal_nan=True))
    return _told(again, result, scope, which, lambda at: exact.reshape(-1)[at].item(), [])


def _of_ints(again: Again, result: Values, scope: Scope) -> list[Loss] | None:
    exact = again.of(lambda x: x.astype(object), result)
    if exact is None:
        return None
    every, made = exact.reshape(-1).tolist(), plain(result).reshape(-1).tolist()
    turn, (low, high) = 1 << result.dtype.bits, bounds(result.dtype)
    if any(type(x) is not int or (x - y) % turn for x, y in zip(every, made, strict=True)):
        return None  # it does something else with them
    which = [at for at, each in enumerate(every) if not low <= each <= high]
    return _told(again, result, scope, np.array(which, np.intp), every.__getitem__, every)


def _of_floats(
    again: Again, result: Values, scope: Scope, hidden: float, terms: int, *, every: bool
) -> list[Loss] | None:
    """Tell of every element, or else of those of which it is certain; None if that is none."""
    # 1. The low 64 bits, the exact result to some 50, and how far that may be off: by so many
    #    roundings of the sum of all magnitudes, which a difference hides.
    wide = plain(result) if result.dtype.bits == 64 else again.of(_whole, result)
    near, most = again.of(floats, result), again.of(lambda x: np.abs(floats(x)), result)
    if wide is None or near is None or most is None:
        return None
    wide, near, most = (x.reshape(-1) for x in (wide, near, most))
    error = (most + hidden) * ((2 * terms + 8) * 2.0**-53)
    if (wide.astype(result.array.dtype) != plain(result).reshape(-1)).any():
        return None

    # 2. Where that is less than a quarter of 2^64 it is known how many of these are missing.
    turns = np.rint((near - floats(wide)) / 2.0**64)
    low, high = bounds(result.dtype)
    wraps = (turns != 0) | (wide < low) | (wide > high)
    is_sure = error < 2.0**62
    unsure = ~is_sure & ~(np.abs(near) - error > 2.0**64)
    wraps = np.where(is_sure, wraps, ~unsure)
    if not is_sure.all() if every else unsure.any() and not wraps.any():
        return None

    def exact(at: int) -> Any:
        if not is_sure[at]:
            return f"about {near[at]:.3g}"
        return int(turns[at]) * (1 << 64) + int(wide[at])

    which = np.flatnonzero(wraps)
    known = [*map(exact, which.tolist())] if is_sure[which].all() else []
    return _told(again, result, scope, which, exact, known)


def _whole(x: Array) -> Array:
    return x.astype(np.int64)


def _told(
    again: Again,
    result: Values,
    scope: Scope,
    which: Array,
    exact: Callable[[int], Any],
    known: Sequence[int],
) -> list[Loss]:
    if not which.size:
        return []

    def wanted() -> str:
        if not known or max(map(int.bit_length, known)) > 1000:
            return ""
        return least_integer(min(known), max(known), result.dtype)

    elements = Elements(again.operands, result, 1, scope.brief)
    first = int(which[0])
    given: Any = {"given": list, "wanted": wanted}
    return [elements.loss(WRAP, which, lambda: exact(first), **given)]
