"""How arrays are made of Python's numbers, alone or in lists, kept for the fast path.

NumPy makes them, where a policy stores every number as it is; what NumPy refuses, ragged lists and
ints that do not fit, the long way has the words for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import is_
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.cast import caster
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.kept import Executable
from promoarray.core.observers import observers_anywhere
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds

_NATURAL = {bool: dt.bool, int: dt.int64, float: dt.float64, complex: dt.complex128}
"""What NumPy stores numbers in, in the order of their kinds."""

_INTS = 0, 1, -1, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)
_FLOATS = 0.1, -0.0, 5e-324, 1e300, -1e300, math.inf, -math.inf, math.nan
_PROBES: dict[type, tuple[Any, ...]] = {
    bool: (False, True),
    int: _INTS,
    float: _FLOATS,
    complex: tuple(map(complex, _FLOATS, reversed(_FLOATS))),
}
"""Numbers by which it is asked whether a policy stores them as they are."""


def keep_data(data: Any, asked: object, out: Array) -> None:
    """Keep how ``asarray`` made an array of a number, or of nested lists, under what
    ``native/creation.cpp`` looks it up by: the kinds of numbers, and the dtype asked for."""
    if observers_anywhere or not (asked is None or type(asked) is DType):
        return
    classes = frozenset(_classes(data))
    if not classes or not classes <= WEAK.keys():
        return
    policy, highest = get_policy(), max(classes, key=[*_NATURAL].index)
    several = None if type(data) in WEAK else list if len(classes) == 1 else tuple
    key = "asarray", several, highest, asked
    if key in policy.executables:
        return
    mixed = frozenset(_NATURAL) if several is tuple else classes
    make = policy.once(_maker, mixed, highest, storage_dtype(out), asked)
    if make is not None:
        policy.executables[key] = Executable(make, (), out._type, ())


def _classes(data: Any) -> set[type]:
    """The classes of the numbers in nested lists and tuples, and of what else there is."""
    if type(data) not in (list, tuple):
        return {type(data)}
    found: set[type] = set()
    for item in data:
        found |= _classes(item)
    return found


def _maker(
    policy: Policy, classes: frozenset[type], highest: type, target: DType, asked: object
) -> Callable[[Any], Any] | None:
    """From numbers of these classes, or of lower kinds than the highest, to a buffer of a dtype;
    None where the policy does more than to cast them."""
    kinds = [*_NATURAL]
    lower = [c for c in kinds[: kinds.index(highest) + 1] if c in classes]
    natural = _NATURAL[highest]
    if asked is None and target is not _default(policy, tuple(c(1) for c in lower), highest):
        return None  # as of an int that only uint64 holds
    whole = target.kind in INTEGERS
    if target.kind is Kind.STRING or (whole and (highest is not int or target.bits < 8)):
        return None
    held = [x for c in lower for x in _PROBES[c]]
    if whole:
        least, most = bounds(target)
        held = [x for x in held if least <= x <= most]
    given = [(x,) for x in held]
    if len(lower) > 1:
        given.append(tuple(c(1) for c in lower))
    if asked is None and not _has_dtype(policy, given, target):
        return None
    if not _stores_as_they_are(policy, held, target):
        return None
    if whole or natural is target:
        return partial(np.array, dtype=target.storage)
    cast = caster(natural, target, *policy.cast.plan(natural, target))
    storage = natural.storage
    return lambda numbers: cast(np.array(numbers, storage))


def _default(policy: Policy, numbers: tuple[Any, ...], highest: type) -> DType | None:
    """What a policy stores such numbers in where no dtype is asked for; None where it refuses."""
    try:
        return policy.stored.dtype("asarray", numbers) or policy.strong(WEAK[highest])
    except (TypeError, ValueError, OverflowError):
        return None


def _has_dtype(policy: Policy, given: list[tuple[Any, ...]], target: DType) -> bool:
    """Whether a policy gives each of several lists of numbers a dtype, where none is asked for."""
    rule = policy.stored.dtype_by.get("asarray")
    try:
        return rule is None or {*map(rule, given)} <= {None, target}
    except (TypeError, ValueError, OverflowError):
        return False


def _stores_as_they_are(policy: Policy, numbers: list[Any], target: DType) -> bool:
    """Whether a policy refuses none of the numbers, and gives none another value."""
    fit = policy.stored.rule("asarray")
    try:
        stored = [fit(x, target) for x in numbers]
    except (TypeError, ValueError, OverflowError):
        return False
    if all(map(is_, numbers, stored)):
        return True
    classes = [*map(type, numbers)], [*map(type, stored)]
    return classes[0] == classes[1] and [*map(repr, numbers)] == [*map(repr, stored)]
