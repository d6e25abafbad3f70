"""Arrays of Python numbers: what other policies make of the same ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from promoarray.backends import backend_of, is_lazy
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.call_site import sites
from promoarray.core.events import Again
from promoarray.core.observers import unobserved
from promoarray.diagnostics.ask.dtypes import NOT_AGAIN, MadeAgain, seen_dtype
from promoarray.diagnostics.ask.operations import others
from promoarray.diagnostics.ask.values import decoded, other_values
from promoarray.diagnostics.model.divergence import DefaultMade
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.model.slots import lacks
from promoarray.diagnostics.model.values import Difference, Place, one_pass
from promoarray.diagnostics.report import Report
from promoarray.dtypes import DType
from promoarray.promotion.in_force import policy as in_force
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy

MOST = 1 << 20
"""So many numbers are made again under every policy."""

FEW = 1 << 12
"""Numbers up to which it is kept what was made of them."""

Known = dict[Any, tuple[MadeAgain, list[Difference], object]]

TOO_LARGE = "so many numbers are not made again for each policy"


def made_again(
    report: Report,
    run: Policy,
    again: Again | None,
    result: Array,
    asked: DType | None,
    known: Known,
) -> tuple[MadeAgain, Hashable]:
    """What each policy makes of the numbers, and what tells that from other answers; values that
    differ from the run's are noted.

    ``asked`` is the dtype that is asked for, perhaps one that was read, or None of each policy's
    default; ``known`` has what was made of a few numbers before.
    """
    if again is None:
        return NOT_AGAIN, None
    if again.numbers and _is_too_large(result):  # a count has the dtype alone
        report.unexamined[NotExamined(again.function, TOO_LARGE, *sites())] += 1
        return NOT_AGAIN, None
    few = result.size <= FEW or not again.numbers
    key = (again.function, repr(again.numbers), run.name, id(asked)) if few else None
    found, differences, _ = known.get(key) or (None, [], None)
    if found is None:
        found = _asked(report.policies, run, again, lambda p: asked and seen_dtype(p, asked))
        differences = _other_numbers(result, found) if again.numbers else []
        if key is not None:
            known[key] = found, differences, asked  # which lives as long, known by its address
    if differences:
        place = Place(*sites(), again.function, "numbers", result.dtype.name)
        report.record_values(one_pass(place, result.size, differences))
    answers = (x.dtype if isinstance(x, Array) else x.reason for x in found.values())
    return found, tuple(answers)


def _is_too_large(result: Array) -> bool:
    return result.size > MOST or is_lazy(backend_of(result._buffer))


def _asked(
    policies: tuple[Policy, ...],
    run: Policy,
    again: Again,
    dtype_of: Callable[[Policy], DType | None],
) -> dict[str, Array | Refusal]:
    found: dict[str, Array | Refusal] = {}
    for policy in others(policies, run):
        try:
            with unobserved(), in_force(policy):
                found[policy.name] = again.make(dtype_of(policy))
        except (TypeError, ValueError, OverflowError) as error:
            found[policy.name] = Refusal(str(error))
    return found


def made_otherwise(
    policies: tuple[Policy, ...], run: Policy, again: Again, result: Array, made: DefaultMade | None
) -> Iterator[tuple[str, str]]:
    """Yield the policies that refuse the numbers, or make others of them; ``made`` tells the dtype
    that is expected of a policy, None where one is asked for."""
    if again.numbers and _is_too_large(result):
        yield from ((policy.name, TOO_LARGE) for policy in others(policies, run))
        return
    asked, name = storage_dtype(result), again.function
    known = tuple(policy for policy in policies if made or not lacks(policy, asked))
    found = _asked(known, run, again, lambda policy: None if made else asked)
    for policy in known:
        theirs = found.get(policy.name)
        if isinstance(theirs, Refusal):
            yield policy.name, theirs.reason
        elif made and theirs is not None and theirs.dtype is not made.dtype(policy):
            yield policy.name, f"{name} makes {theirs.dtype.name} there"
    for each in _other_numbers(result, found):
        yield from ((policy, f"{name} makes other numbers there") for policy in each.policies)


def _other_numbers(result: Array, found: MadeAgain) -> list[Difference]:
    """Where policies make other numbers of the run's dtype than the run."""
    dtype = storage_dtype(result)
    made = [
        (decoded(x._buffer, x.dtype), [name])
        for name, x in found.items()
        if isinstance(x, Array) and x.dtype is dtype and x.shape == result.shape
    ]
    mine = decoded(result._buffer, dtype) if made else None
    return other_values(mine, mine, made)
