"""Candidates for an edit: which operands to cast, so that several policies answer as the run did.

Numbers that fit come first, as a person would write them. Then casts that write down what the run's
policy did unasked: the fewest operands become what they became in the run, which computes the same
as before. Where that does not do, casts that a refusal proposes, and a cast of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from promoarray.core.proposed_casts import accepted_casts
from promoarray.core.recovery import accepted_for_value
from promoarray.diagnostics.edits.answers import (
    WIDEST,
    Casts,
    answer_of,
    can_become,
    compute_alike,
    cost_of,
    decided,
    holds,
    strong_of,
)
from promoarray.diagnostics.edits.occurrence import Asked
from promoarray.diagnostics.model.slots import adopted
from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.plan import Plan, Rank, Refusal
from promoarray.promotion.policy import Policy


class Candidate(NamedTuple):
    """Casts of operands and of the result.

    Attributes
    ----------
    casts : tuple of (int, DType)
        The operands to cast, and to what; to a weak type, to a Python number.
    result : DType or None
    rows : bool
        Whether Python scalars that are cast become arrays of one axis.
    """

    casts: tuple[tuple[int, DType], ...] = ()
    result: DType | None = None
    rows: bool = False


def candidates(
    run: Policy,
    policies: Sequence[Policy],
    asked: Asked,
    numbers: Mapping[int, DType],
    *,
    alike: bool = False,
    kernels: bool = True,
) -> Iterator[Candidate]:
    """Yield edits after which the run and every policy answer what the run answered.

    Parameters
    ----------
    run : Policy
    policies : sequence of Policy
        Those that answer otherwise, and those that have to answer the same afterwards.
    asked : Asked
    numbers : mapping
        The operands that may be written as a Python number, and of which weak type.
    alike : bool
        Whether dtypes are the same already, and all shall compute as the run does.
    kernels : bool
        Whether those come first after which all compute by the same kernel.
    """
    every = (*policies, run)
    if not alike:
        yield from _of_numbers(run, policies, asked, numbers)
    bases: list[Casts] = [{}]
    right: list[tuple[bool, Candidate]] = []
    for casts in _as_in_the_run(asked):
        if all(answer_of(p, asked, casts) is asked.wanted for p in every):
            other = (alike or kernels) and not compute_alike(asked, every, casts)
            right.append((other, Candidate((*casts.items(),))))
        bases.append(casts)
    yield from (fix for other, fix in sorted(right, key=lambda each: each[0]) if not other & alike)
    if alike:
        yield from _with_rows(asked, every)
        return
    yield from _losing_least(run, asked, every, bases)


def _of_numbers(
    run: Policy, policies: Sequence[Policy], asked: Asked, numbers: Mapping[int, DType]
) -> Iterator[Candidate]:
    """Numbers in place of 0-d arrays, and floats in place of ints."""
    for size in range(1, len(numbers) + 1):
        for chosen in combinations(numbers.items(), size):
            if holds(run, policies, asked, dict(chosen)):
                yield Candidate(chosen)


def _losing_least(
    run: Policy, asked: Asked, every: Sequence[Policy], bases: list[Casts]
) -> Iterator[Candidate]:
    """Other casts that a refusal proposes, and casts of the result, those first that lose least."""
    in_the_run = [*bases]
    refusing = [p for p in every if isinstance(decided(p, asked, {}), Refusal)]
    bases += [casts for p in refusing if (casts := _accepted(p, asked)) is not None]
    bases += _to_the_widest(asked) if refusing else []
    kept = [casts for casts in bases if _keeps_sort(asked, casts)]
    done: list[Casts] = []
    for casts in sorted(kept, key=lambda casts: cost_of(asked, every, casts)):
        if casts in done:
            continue
        done.append(casts)
        answers = [(p, answer_of(p, asked, casts)) for p in every]
        if any(answer is None for _, answer in answers):
            continue
        if all(answer is asked.wanted for _, answer in answers):
            if casts not in in_the_run:
                yield Candidate((*casts.items(),))
        elif (
            asked.form is not Form.INPLACE
            and not _several(run, asked)
            and all(a is asked.wanted or can_become(p, a, asked.wanted) for p, a in answers)
        ):
            yield Candidate((*casts.items(),), asked.wanted)


def _accepted(policy: Policy, asked: Asked) -> Casts | None:
    """The casts that a refusal proposes."""
    seen = tuple(adopted(policy, o) for o in asked.operands)
    refusal = decided(policy, asked, {})
    if isinstance(refusal, Refusal) and refusal.error is not None:
        values = tuple(o.value if o.rank is Rank.SCALAR else None for o in asked.operands)
        found = accepted_for_value(policy, asked.name, seen, values, asked.form)
    else:
        found = accepted_casts(policy, asked.name, seen, asked.form)
    return None if found is None else dict(found[0])


def _several(run: Policy, asked: Asked) -> bool:
    """Whether it gives several results, of which no one is the expression's."""
    plan = run.plan(asked.name, asked.operands, asked.form)
    return isinstance(plan, Plan) and bool(plan.extra_results)


def _keeps_sort(asked: Asked, casts: Casts) -> bool:
    """Whether casts make no integers of floats, which would lose what the run computes with.

    What only asks for truth takes bools of anything.
    """
    truth = OPERATIONS[asked.name].family in (Family.LOGICAL, Family.TRUTH)
    kinds = [(strong_of(asked.operands[i].type).kind, to.kind) for i, to in casts.items()]
    return truth or all(to.category >= kind.category for kind, to in kinds)


def _to_the_widest(asked: Asked) -> list[Casts]:
    """Casts of all arrays to int64, and to float64."""
    arrays = {i: o.type for i, o in enumerate(asked.operands) if o.rank is not Rank.SCALAR}
    first = 1 if asked.form is Form.INPLACE else 0
    return [
        {i: wide for i, dtype in arrays.items() if dtype is not wide and i >= first}
        for wide in (WIDEST["i*"], WIDEST["f*"])
    ]


def _with_rows(asked: Asked, every: Sequence[Policy]) -> Iterator[Candidate]:
    """Casts of Python scalars to arrays of one axis, where a policy has 0-d ones as scalars."""
    if not any(o.rank is Rank.ARRAY for o in asked.operands):
        return  # the result would have an axis more
    for casts in _as_in_the_run(asked):
        if not {*casts} & {*asked.scalars}:
            continue
        right = all(answer_of(p, asked, casts, rows=True) is asked.wanted for p in every)
        if right and compute_alike(asked, every, casts, rows=True):
            yield Candidate((*casts.items(),), rows=True)


def _as_in_the_run(asked: Asked) -> Iterator[dict[int, DType]]:
    """Casts of some operands to what they became in the run, the fewest first."""
    became = dict(enumerate(asked.inputs))
    first = 1 if asked.form is Form.INPLACE else 0  # the target keeps its dtype
    open_ = [
        i
        for i in became
        if i >= first and (asked.operands[i].type is not became[i] or i in asked.weak)
    ]
    sizes = range(1, len(open_) + 1) if len(open_) <= _FEW else (len(open_),)
    for size in sizes:
        every = combinations(open_, size)
        for chosen in sorted(every, key=lambda some: len({*some} & {*asked.scalars})):
            yield {i: became[i] for i in chosen}


_FEW = 4
"""Of more operands all or none are cast."""
