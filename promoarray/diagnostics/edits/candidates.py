"""Candidates for an edit: which operands to cast, so that several policies answer as the run did.

Numbers that fit come first, as a person would write them. Then casts that write down what the run's
policy did unasked: the fewest operands become what they became in the run, which computes the same
as before. Where that does not do, casts that a refusal proposes, and a cast of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from promoarray.core.proposed_casts import accepted_casts
from promoarray.core.recovery import accepted_for_value
from promoarray.diagnostics.edits.answers import (
    WIDEST,
    Casts,
    Port,
    agree,
    compute_alike,
    cost_of,
    decided,
    holds,
    may_cast_result,
    strong_of,
)
from promoarray.diagnostics.edits.occurrence import Asked
from promoarray.diagnostics.model.slots import adopted
from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.plan import Rank, Refusal
from promoarray.promotion.policy import Policy


def candidates(
    port: Port,
    asked: Asked,
    numbers: Mapping[int, DType],
    *,
    alike: bool = False,
    kernels: bool = True,
) -> Iterator[Casts]:
    """Yield edits after which the run and every policy answer what the run answered.

    Parameters
    ----------
    port : Port
        The policies that have to answer the same afterwards.
    asked : Asked
    numbers : mapping
        The operands that may be written as a Python number, and of which weak type.
    alike : bool
        Whether dtypes are the same already, and all shall compute as the run does.
    kernels : bool
        Whether those come first after which all compute by the same kernel.
    """
    as_in_the_run = [Casts(each) for each in _as_in_the_run(asked)]
    right = [casts for casts in as_in_the_run if agree(port, asked, casts)]
    same = [each for each in right if compute_alike(port, asked, each)] if alike | kernels else []
    if alike:
        rows = [each._replace(rows=True) for each in as_in_the_run if _has_rows(asked, each)]
        yield from same
        yield from (e for e in rows if agree(port, asked, e) and compute_alike(port, asked, e))
        return
    for size in range(1, len(numbers) + 1):
        every = (Casts(dict(chosen)) for chosen in combinations(numbers.items(), size))
        yield from (casts for casts in every if holds(port, asked, casts))
    yield from (*same, *(each for each in right if each not in same))
    yield from _losing_least(port, asked, as_in_the_run)


def _losing_least(port: Port, asked: Asked, as_in_the_run: list[Casts]) -> Iterator[Casts]:
    """Other casts that a refusal proposes, and casts of the result, those first that lose least."""
    refusing = [p for p in port.every if isinstance(decided(p, asked), Refusal)]
    proposed = [casts for policy in refusing for casts in _accepted(policy, asked)]
    proposed += _to_the_widest(asked) if refusing else []
    tried: list[Casts] = []
    every = [Casts(), *as_in_the_run, *map(Casts, proposed)]
    for casts in sorted(every, key=lambda casts: cost_of(port, asked, casts)):
        if casts in tried or not _keeps_sort(asked, casts):
            continue
        tried.append(casts)
        if agree(port, asked, casts):
            if casts.operands and casts not in as_in_the_run:
                yield casts
        elif may_cast_result(port.run, asked):
            with_result = casts._replace(result=asked.wanted)
            if agree(port, asked, with_result):
                yield with_result


def _accepted(policy: Policy, asked: Asked) -> Iterator[Mapping[int, DType]]:
    """The casts that a refusal proposes."""
    seen = tuple(adopted(policy, o) for o in asked.operands)
    refusal = decided(policy, asked)
    if isinstance(refusal, Refusal) and refusal.error is not None:
        values = tuple(o.value if o.rank is Rank.SCALAR else None for o in asked.operands)
        found = accepted_for_value(policy, asked.name, seen, values, asked.form)
    else:
        found = accepted_casts(policy, asked.name, seen, asked.form)
    if found is not None:
        yield dict(found[0])


def _keeps_sort(asked: Asked, casts: Casts) -> bool:
    """Whether casts make no integers of floats, which would lose what the run computes with.

    What only asks for truth takes bools of anything.
    """
    truth = OPERATIONS[asked.name].family in (Family.LOGICAL, Family.TRUTH)
    kinds = [(strong_of(asked.operands[i].type).kind, to.kind) for i, to in casts.operands.items()]
    return truth or all(to.category >= kind.category for kind, to in kinds)


def _to_the_widest(asked: Asked) -> list[dict[int, DType]]:
    """Casts of all arrays to int64, and to float64."""
    first = 1 if asked.form is Form.INPLACE else 0
    arrays = {i: o.type for i, o in enumerate(asked.operands) if o.rank is not Rank.SCALAR}
    return [
        {i: wide for i, dtype in arrays.items() if dtype is not wide and i >= first}
        for wide in (WIDEST["i*"], WIDEST["f*"])
    ]


def _has_rows(asked: Asked, casts: Casts) -> bool:
    """Whether Python scalars are cast that may become arrays of one axis beside another array.

    For policies that have 0-d arrays as scalars; else the result would have an axis more.
    """
    arrays = any(operand.rank is Rank.ARRAY for operand in asked.operands)
    return arrays and not casts.operands.keys().isdisjoint(asked.scalars)


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
