"""Executables of ``asarray`` of Python's numbers, alone or in lists, and of arrays in a list.

NumPy makes them, where a policy stores every number as it is; what NumPy refuses, ragged lists and
ints that do not fit, the long way has the words for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from operator import is_
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.cast import caster
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.executable_cache import Executable, keep_function, kinds_in
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds

_NATURAL = {bool: dt.bool, int: dt.int64, float: dt.float64, complex: dt.complex128}
"""What NumPy stores numbers in, in the order of their kinds."""

_INTS = 0, 1, -1, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)
_FLOATS = 0.1, -0.0, 5e-324, 3.4e38, 1e300, -1e300, math.inf, -math.inf, math.nan
_PROBES: dict[type, tuple[Any, ...]] = {
    bool: (False, True),
    int: _INTS,
    float: _FLOATS,
    complex: tuple(map(complex, _FLOATS, reversed(_FLOATS))),
}
"""Numbers by which it is asked whether a policy stores them as they are."""


def keep_data(data: Any, asked: DType | None, out: Array) -> None:
    """Keep how ``asarray`` made an array of a number, or of nested lists, by the kinds of numbers
    and the dtype asked for."""
    kinds = kinds_in(data)
    if not kinds or kinds >= 1 << len(WEAK):
        return
    policy = get_policy()
    make = policy.once(_maker, kinds, storage_dtype(out), asked)
    if make is not None:
        executable = Executable(make, (), out._type, ())
        keep_function(policy, "asarray", (data,), asked, executable, Form.OPERATOR)


def _maker(
    policy: Policy, kinds: int, target: DType, asked: DType | None
) -> Callable[[Any], Any] | None:
    """From numbers of these kinds to a buffer of a dtype; None where the policy does more than to
    cast them."""
    classes = [c for n, c in enumerate(_NATURAL) if kinds & 1 << n]
    highest = classes[-1]
    natural = _NATURAL[highest]
    if asked is None and target is not _default(policy, tuple(c(1) for c in classes), highest):
        return None  # as of an int that only uint64 holds
    whole = target.kind in INTEGERS
    if target.kind is Kind.STRING or (whole and (highest is not int or target.bits < 8)):
        return None
    held = [x for c in classes for x in _PROBES[c]]
    if whole:
        least, most = bounds(target)
        held = [x for x in held if least <= x <= most]
    given = [(x,) for x in held]
    if len(classes) > 1:
        given.append(tuple(c(1) for c in classes))
    if _as_they_are(policy, given, target, asked):
        return _reader(target) if whole or natural is target else _caster(natural, target, policy)
    if target not in dt.NATIVE or classes != [float]:
        return None
    refused = [x for x in held if not _as_they_are(policy, [(x,)], target, asked)]
    cast = _caster(natural, target, policy)
    if all(map(math.isfinite, refused)) and not np.isfinite(cast(refused)).any():
        return partial(_finite, cast)
    return None


def _caster(natural: DType, target: DType, policy: Policy) -> Callable[[Any], Any]:
    """From numbers that NumPy stores in one dtype to a buffer of another."""
    cast, store = caster(natural, target, *policy.cast.plan(natural, target)), _reader(natural)
    return lambda numbers: cast(store(numbers))


@cache
def _reader(dtype: DType) -> Callable[[Any], Any]:
    """What stores numbers in a dtype that has them as they are."""
    # NumPy finds the dtype of floats soonest by itself; of ints it may find another.
    return partial(np.array, dtype=dtype.storage) if dtype.kind in INTEGERS else np.array


def _finite(cast: Callable[[Any], Any], numbers: Any) -> Any:
    """What floats become where a policy refuses those that become infinite: None if any does, or
    was so, of which the long way makes an array, or an error."""
    out = cast(numbers)
    few = out.size <= _FEW
    finite = math.isfinite(sum(out.ravel().tolist())) if few else np.isfinite(out).all()
    return out if finite else None


_FEW = 16
"""Numbers up to which Python has looked at all before NumPy has begun. They are of float32 or less,
so that no sum of some in float64 becomes infinite."""


def _default(policy: Policy, numbers: tuple[Any, ...], highest: type) -> DType | None:
    """What a policy stores such numbers in where no dtype is asked for; None where it refuses."""
    try:
        return policy.stored.dtype("asarray", numbers) or policy.strong(WEAK[highest])
    except (TypeError, ValueError, OverflowError):
        return None


def _as_they_are(
    policy: Policy, given: list[tuple[Any, ...]], target: DType, asked: DType | None
) -> bool:
    """Whether a policy refuses none of several lists of numbers, and gives them no other dtype and
    no other values."""
    rule = policy.stored.dtype_by.get("asarray") if asked is None else None
    fit = policy.stored.rule("asarray")
    numbers = [x for several in given for x in several]
    try:
        if rule is not None and not {*map(rule, given)} <= {None, target}:
            return False
        stored = [fit(x, target) for x in numbers]
    except (TypeError, ValueError, OverflowError):
        return False
    if all(map(is_, numbers, stored)):
        return True
    classes = [*map(type, numbers)], [*map(type, stored)]
    return classes[0] == classes[1] and [*map(repr, numbers)] == [*map(repr, stored)]


# --- Of arrays in a list -------------------------------------------------------------------------


def keep_joined(members: Any, dtype: DType | None, out: Array) -> None:
    """Keep how arrays of these types were joined in one dtype."""
    policy, result = out._policy or get_policy(), storage_dtype(out)
    if policy.by_value is not None:
        return
    held = [storage_dtype(x) for x in members if isinstance(x, Array)]
    if len(held) < len(members) or dt.string in (result, *held):
        return
    casts = [None if x is result else caster(x, result, *policy.cast.plan(x, result)) for x in held]
    run = partial(_joined, casts, result.storage)
    executable = Executable(run, (), result, ())
    keep_function(policy, "asarray", (members,), dtype, executable, Form.OPERATOR)


def _joined(casts: list[Any], storage: np.dtype[Any], members: Any) -> Any:
    """The buffers of arrays of one shape in a new one; None of others, which the long way tells."""
    buffers = [x._buffer for x in members]
    if len({buffer.shape for buffer in buffers}) > 1:
        return None
    if any(casts):
        pairs = zip(casts, buffers, strict=True)
        buffers = [buffer if cast is None else cast(buffer) for cast, buffer in pairs]
    return np.array(buffers, storage)
