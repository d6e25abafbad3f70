"""Values that policies make otherwise: of casts, of data that come in, of Python scalars.

They are computed and compared once more at each pass of a place, as no other pass has the same.
Only policies whose rule differs for the pair of dtypes are looked at, and of those that agree one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from promoarray.backends import backend_of, is_lazy
from promoarray.core import host
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import sites
from promoarray.core.cast import convert, scalar
from promoarray.core.events import CastEvent, OperationEvent, SetitemEvent
from promoarray.diagnostics.model.divergence import ENTRY
from promoarray.diagnostics.model.slots import as_seen_by
from promoarray.diagnostics.model.values import (
    Difference,
    Example,
    Place,
    ValueChange,
    all_beyond,
    differs,
    one_pass,
)
from promoarray.dtypes import BY_CODE, INTEGERS, DType, Kind
from promoarray.promotion.cast_losses import gravity
from promoarray.promotion.cast_rules import CastPlan
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds, worded

BLOCK = 1 << 16
"""So many elements are looked at together, so that large data take no memory of their size."""


class Found(Protocol):
    """What is filled: a report, or a recorded flow."""

    uncomputed: int

    def record_values(self, change: ValueChange) -> None:
        """Add a place, or what differs in one more pass."""


@dataclass(eq=False)
class ComparedValues:
    """Casts what the run casts as every policy does, and notes what differs."""

    policies: tuple[Policy, ...]
    found: Found

    def narrowed(
        self,
        data: tuple[Any, ...],
        policy: Policy,
        source: DType,
        target: DType,
        names: tuple[str, ...],
        *,
        kept: bool = False,
    ) -> None:
        """Note what is lost of data that a policy narrows as they come in; see ``narrowed``."""
        lost = narrowed(policy, data, source, target, names, kept=kept)
        if lost is not None:
            place = Place(*sites(), ENTRY, source.name, target.name)
            self.found.record_values(one_pass(place, sum(x.size for x in data), [lost]))

    def held(self, values: Any, dtype: DType) -> None:
        """Note the policies that hold no such dtype, and lose values of an array in the dtype they
        have instead: integers beyond it, and floats of which half or more become equal to others.
        """
        for policy in self.policies:
            target = policy.canonical.get(dtype)
            if target is not None and (
                dtype.kind in INTEGERS
                or _join(values, dtype, target, policy.cast.plan(dtype, target))
            ):
                self.narrowed((values,), policy, dtype, target, (policy.name,))

    def cast(self, cast: CastEvent) -> None:
        """Note the policies that make other values of an explicit cast to the same dtype."""
        self._compare("astype", cast.policy, cast.array, cast.source, cast.target, cast.result)

    def stored(self, assignment: SetitemEvent) -> None:
        """Note the policies that make other values of an array that is assigned."""
        run, _, value, source, target, _ = assignment
        self._compare("setitem", run, value, source, target)

    def may_differ(self, run: Policy, array: Array, target: DType) -> bool:
        """Whether the rule of some policy differs from the run's, for the dtype it has there."""
        for policy in self.policies:
            dtype = policy.strong(as_seen_by(policy, array).type)
            if dtype is not target and _other_rule(run, (policy,), dtype, target):
                return True
        return False

    def alike_within(self, run: Policy, array: Array, target: DType) -> tuple[int, int] | None:
        """The integers between which all policies cast an array's floats as the run does.

        None where they may differ there, too. Conventions for what an integer cannot hold say
        nothing of the floats that it can.
        """
        source = type_of(array._type)
        if source.kind is not Kind.FLOAT or target.kind not in INTEGERS:
            return None
        mode, transforms = run.cast.effect(source, target)
        for policy in self.policies:
            theirs = policy.cast.effect(source, target)
            alike = theirs.mode._replace(to_integer=mode.to_integer) == mode
            same = policy.strong(as_seen_by(policy, array).type) is source
            if not same or not alike or theirs.transforms != transforms:
                return None
        return bounds(target)

    def _compare(
        self,
        operation: str,
        run: Policy,
        array: Array,
        source: DType,
        target: DType,
        result: Array | None = None,
    ) -> None:
        """Cast an array as every policy does, from the dtype that each of them has.

        Where that is not the run's, both rules cast what the run's array is in it: what differs
        then is a matter of the rules, and not of the dtype, which differs from an earlier line on.
        """
        if array.size == 0:  # arrays of recorded programs have no values here
            return
        if is_lazy(backend_of(array._buffer)):  # which is not computed for it
            exact = source.kind is target.kind and source.bits < target.bits
            self.found.uncomputed += not exact and _other_rule(run, self.policies, source, target)
            return
        found = []
        for dtype, policies in self._by_dtype(array, result, target).items():
            buffer = array._buffer
            if dtype is not source:
                if not _holds(source, dtype) or run.cast.refuses(source, dtype):
                    continue
                if not _other_rule(run, policies, dtype, target):
                    continue
                buffer = convert(run, buffer, source, dtype)
            found += differences(run, tuple(policies), buffer, dtype, target)
        if found:
            place = Place(*sites(), operation, source.name, target.name)
            others = tuple(policy for policy in self.policies if policy is not run)
            ways = routes(run, others, array, source, target) if operation == "astype" else ()
            self.found.record_values(one_pass(place, array.size, found, ways))

    def _by_dtype(
        self, array: Array, result: Array | None, target: DType
    ) -> dict[DType, list[Policy]]:
        """The policies by the dtype that an array has under them, but for those whose result has
        another dtype than the run's."""
        found: dict[DType, list[Policy]] = {}
        for policy in self.policies:
            if result is None or as_seen_by(policy, result).type is target:
                found.setdefault(policy.strong(as_seen_by(policy, array).type), []).append(policy)
        return found


def _other_rule(run: Policy, policies: Iterable[Policy], source: DType, target: DType) -> bool:
    """Whether some policy casts by another rule than the run's."""
    effect = run.cast.effect(source, target)
    return any(policy.cast.effect(source, target) != effect for policy in policies)


def _holds(source: DType, dtype: DType) -> bool:
    """Whether an array of a dtype can stand for one of another, but for rounding."""
    return source.kind is dtype.kind or (source.kind in INTEGERS and dtype.kind is Kind.FLOAT)


# -- data that come in ----------------------------------------------------------------------------


def narrowed(
    policy: Policy,
    data: tuple[Any, ...],
    source: DType,
    target: DType,
    names: tuple[str, ...],
    *,
    kept: bool = False,
) -> Difference | None:
    """Return what a policy's cast of data to a narrower dtype loses; None if nothing.

    ``names`` are the policies that differ from the run in this; with ``kept`` it is the run that
    loses it.
    """
    plan = policy.cast.plan(source, target)
    elements, largest, example = 0, -1.0, Example((), "", "", "")
    for x in map(np.asarray, data):
        for start, block in _blocks(x):
            made = _cast_values(block, source, target, plan)
            differ = differs(block, made)
            if not differ.any():
                continue
            elements += int(np.count_nonzero(differ))
            apart = _apart(block, made, differ)
            i = int(np.argmax(apart))
            if apart[i] > largest:
                at = np.unravel_index(start + i, x.shape) if x.ndim else ()
                given, lost = str(block[i].item()), str(made[i].item())
                run, other = (lost, given) if kept else (given, lost)
                example = Example(tuple(int(n) for n in at), given, run, other)
                largest = float(apart[i])
    return Difference(names, elements, example, largest=largest) if elements else None


def _join(values: Any, source: DType, target: DType, plan: CastPlan) -> bool:
    """Whether half of different values or more become equal, of the first ones of an array."""
    some = next(_blocks(values))[1]
    made = _cast_values(some, source, target, plan)
    return some.size > 1 and 2 * np.unique(made).size <= np.unique(some).size


def _blocks(data: Any) -> Iterator[tuple[int, Any]]:
    """Yield the elements of an array in order, a block of them each, and where it begins."""
    if data.size <= BLOCK:
        yield 0, data.ravel()
        return
    start = 0
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    blocks: Any = np.nditer(data, flags=flags, order="C", buffersize=BLOCK)
    for block in blocks:
        yield start, block
        start += block.size


def _apart(given: Any, made: Any, differ: Any) -> Any:
    """By how much each element changes; less than nothing where it does not."""
    wide = np.promote_types(given.dtype, np.float64)
    with np.errstate(all="ignore"):
        by = np.abs(made.astype(wide) - given.astype(wide))
    return np.where(differ, np.fmax(by, 0.0), -1.0)  # a part of a complex number may be NaN


# -- casts, and Python scalars --------------------------------------------------------------------


def _cast_values(buffer: Any, source: DType, target: DType, plan: CastPlan) -> Any:
    return decoded(backend_of(buffer).cast(buffer, source, target, *plan), target)


def differences(
    run: Policy, policies: tuple[Policy, ...], buffer: Any, source: DType, target: DType
) -> list[Difference]:
    """Return where the policies, which cast these values from the same dtype, make other values of
    a buffer than the run's policy."""
    own = run.cast.effect(source, target)
    plans: dict[Any, list[str]] = {}
    for policy in policies:
        plan = policy.cast.effect(source, target)
        if plan != own and policy.cast.refuses(source, target) is None:
            plans.setdefault(plan, []).append(policy.name)
    if not plans or not buffer.size:
        return []
    mine = _cast_values(buffer, source, target, own)
    made = ((_cast_values(buffer, source, target, plan), names) for plan, names in plans.items())
    given = decoded(buffer, source)
    beyond = partial(all_beyond, source=source, target=target)
    return other_values(given, mine, made, beyond)


def other_values(
    given: Any,
    mine: Any,
    made: Iterable[tuple[Any, list[str]]],
    beyond: Callable[[Any], bool] = lambda values: False,
) -> list[Difference]:
    """Return where policies make other values than the run, ``mine``, of what it was given.

    ``made`` has theirs, and those that make the same are told together; ``beyond`` says whether all
    of some values lie beyond what they are made to.
    """
    alike: list[tuple[Any, list[str]]] = []
    for theirs, names in made:
        same = next((who for known, who in alike if not differs(known, theirs).any()), None)
        if same is None:
            alike.append((theirs, names))
        else:
            same.extend(names)
    found = []
    for theirs, names in alike:
        differ = differs(mine, theirs)
        if differ.any():
            index = np.unravel_index(int(np.argmax(differ)), differ.shape)
            first = (str(each[index].item()) for each in (given, mine, theirs))
            example = Example(tuple(int(i) for i in index), *first)
            count = int(np.count_nonzero(differ))
            found.append(Difference(tuple(names), count, example, beyond(given[differ])))
    return found


def scalar_differences(
    run: Policy, given: Any, value: Any, dtype: DType, others: dict[Policy, Any]
) -> list[Difference]:
    """Return where the policies compute with another number than the run, of a Python scalar.

    ``value`` is what the run's policy makes of it on its way to ``dtype``; ``others`` has what
    those make of it that cast it to the same dtype.
    """
    as_it_is = _stands_as_it_is(given, value, dtype)
    wide = dtype if as_it_is else host.wide(value, dtype)[1]
    own = run.cast.effect(wide, dtype) if wide is not dtype else None
    others = {
        policy: number
        for policy, number in others.items()
        if (number is not value or (own and policy.cast.effect(wide, dtype) != own))
        and not _bounds_alike(given, value, number, dtype)
    }
    if not others:  # as most often: the same number, cast by the same rule
        return []
    mine = _made(run, given, value, dtype)
    every = ((policy, _made(policy, given, number, dtype)) for policy, number in others.items())
    return _by_number(
        *(given, mine),
        (
            (policy, theirs)
            for policy, theirs in every
            if mine is not theirs and (mine is None or theirs is None or differs(mine, theirs))
        ),
    )


def wrapped_ints(
    event: OperationEvent,
    index: int,
    given: Any,
    value: Any,
    others: dict[Policy, tuple[Any, DType]],
) -> list[Difference]:
    """Return where policies that enter an int in another dtype make another int of it than the run:
    ``uint8 < -1`` by its low bits. ``others`` has their numbers, with the dtypes."""
    if type(given) is not int:
        return []
    mine = _made(event.policy, given, value, event.plan.inputs[index])
    every = ((policy, _made(policy, given, *pair), pair[1]) for policy, pair in others.items())
    return _by_number(
        *(given, mine),
        (
            (policy, theirs)
            for policy, theirs, dtype in every
            if dtype.kind in INTEGERS and _number(given, theirs) != _number(given, mine)
        ),
    )


def _by_number(given: Any, mine: Any, made: Iterable[tuple[Policy, Any]]) -> list[Difference]:
    """What policies make of a Python scalar, those together that make the same number."""
    found: dict[str, list[str]] = {}
    for policy, theirs in made:
        found.setdefault(_worded(given, theirs), []).append(policy.name)
    words = worded(given), _worded(given, mine)
    return [
        Difference(tuple(names), 1, Example((), *words, other)) for other, names in found.items()
    ]


def _bounds_alike(given: Any, value: Any, number: Any, dtype: DType) -> bool:
    """Whether one policy drops a bound of clip beyond which the array has no integers, and the
    other keeps it (``not_clipping``)."""
    if type(given) is not int or dtype.kind is not Kind.FLOAT:
        return False
    both = (value, number), (number, value)
    return any(type(a) is float and math.isinf(a) and b == given for a, b in both)


def _made(policy: Policy, given: Any, value: Any, dtype: DType) -> Any:
    """The number of a dtype that a policy makes of a Python scalar.

    None of an int that it compares as it is, though the dtype does not hold it.
    """
    if _stands_as_it_is(given, value, dtype):
        return None
    return host.decoded(scalar(policy, value, dtype), dtype)


def _stands_as_it_is(given: Any, value: Any, dtype: DType) -> bool:
    """Whether a policy compares an int as it is that the dtype does not hold.

    It stands as an infinity then (``promotion/scalars.py``), or as the int itself.
    """
    if type(given) is not int or dtype.kind not in INTEGERS:
        return False
    low, high = bounds(dtype)
    return math.isinf(value) if type(value) is float else not low <= value <= high


def _number(given: Any, made: Any) -> Any:
    return given if made is None else made.item()


def _worded(given: Any, made: Any) -> str:
    return worded(given) if made is None else str(made.item())


# -- casts in two steps ------------------------------------------------------------------------


BY_WAY_OF = tuple(BY_CODE[code] for code in ("i64", "i32", "i16", "f64", "f32", "bf16", "f16"))


def routes(
    run: Policy, policies: tuple[Policy, ...], array: Array, source: DType, target: DType
) -> tuple[DType, ...]:
    """Return the dtypes by way of which every policy makes the run's values of an array."""
    buffer = array._buffer
    wanted = _cast_values(buffer, source, target, run.cast.plan(source, target))
    least = sorted(BY_WAY_OF, key=lambda dtype: gravity(source, dtype))
    return tuple(
        way
        for way in least
        if way not in (source, target)
        and all(_gives(p, buffer, (source, way, target), wanted) for p in (run, *policies))
    )


def _gives(policy: Policy, buffer: Any, steps: tuple[DType, ...], wanted: Any) -> bool:
    for source, target in pairwise(steps):
        if target not in policy.dtypes or policy.cast.refuses(source, target) is not None:
            return False
        plan = policy.cast.plan(source, target)
        buffer = backend_of(buffer).cast(buffer, source, target, *plan)
    return not differs(decoded(buffer, steps[-1]), wanted).any()


def decoded(buffer: Any, dtype: DType) -> Any:
    return host.decoded(backend_of(buffer).to_numpy(buffer, dtype), dtype)
