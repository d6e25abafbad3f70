"""Every policy's casts, and what they make of values that targets cannot hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from promoarray import dtypes as dt
from promoarray.diagnostics.casts import CastValue, cells
from promoarray.diagnostics.explain.cast import CastCase, edge_numbers, exact_in
from promoarray.diagnostics.explore.questions import DTYPES, NUMBERS, Pool, held
from promoarray.dtypes import DType, Kind
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy

Pools = Mapping[str, Pool]
"""What policies share, by the names that the page has for it."""


def losses(pools: Pools) -> list[list[int]]:
    """Return the line that says what a cast loses, by source and target."""
    lines = pools["lines"]
    return [[lines[loss(source, target)] for target in DTYPES] for source in DTYPES]


def given(pools: Pools) -> list[list[int]]:
    """Return the values that each pair of dtypes is asked about."""
    return [
        [_values(pools, cells(special_values(source, target), source)) for target in DTYPES]
        for source in DTYPES
    ]


def cast_table(pools: Pools, policy: Policy) -> list[list[int]]:
    """Return the numbers of a policy's answers, a list for each source."""
    dtypes = held(policy)
    return [[_answer(pools, policy, a, b) for b in dtypes] for a in dtypes]


def _values(pools: Pools, found: Iterable[CastValue]) -> int:
    """The number of some values, which are numbers of bits and how they read themselves."""
    return pools["values"][tuple(pools["cells"][v.bits, v.value] for v in found)]


def _answer(pools: Pools, policy: Policy, source: DType, target: DType) -> int:
    """What is said of a cast; the page reads it in this order."""
    case, line = CastCase(Operand(source), target, policy, {}), pools["lines"].__getitem__
    case.given = special_values(case.source, case.target)
    answer = case.answer()
    refused = answer.dtype is None
    return pools["castAnswers"][
        (
            -1 if refused else NUMBERS[case.target.name],
            tuple(map(line, case.steps(answer))),
            () if refused else tuple(map(line, case.quirks())),
            line(answer.reason),
            line(answer.note),
            tuple(policy.cast.notes.index(note) for note in case.notes()),
            NUMBERS[case.source.name],
            -1 if refused else _values(pools, answer.values),
        )
    ]


@cache
def special_values(source: DType, target: DType) -> Any:
    """Return values on which casts differ: ``edges``, and those at the target's small end."""
    return exact_in(source, (*edge_numbers(source, target), *_small(source, target)))


def _small(source: DType, target: DType) -> Iterator[float]:
    """-0, the least subnormal of the target, what lies beside it, and a tie."""
    layout = target.part.format
    if source is target or dt.string in (source, target) or source.kind is Kind.BOOL:
        return
    yield -0.0
    if layout is not None and layout.mantissa:
        least = math.ldexp(1.0, 1 - layout.bias - layout.mantissa)
        yield from (least, 1.5 * least, least / 2)
        yield 1 + math.ldexp(1.0, -layout.mantissa - 1)
