"""What every policy's casts say, and what they make of values that targets cannot hold."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from functools import cache
from typing import Any

from promoarray import dtypes as dt
from promoarray.diagnostics.casts import answers, cells
from promoarray.diagnostics.explain.cast import CastCase, edge_numbers, exact_in
from promoarray.diagnostics.explore.pool import DTYPES, Pool
from promoarray.diagnostics.explore.questions import held
from promoarray.dtypes import BY_NAME, DType, Kind
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy

Values = tuple[int, ...]
"""Numbers of texts, each the bits of a value and how it reads."""


def losses(lines: Pool) -> list[list[int]]:
    """The number of the line that says what a cast loses, by source and target."""
    every = [BY_NAME[name] for name in DTYPES]
    return [[lines.number(loss(source, target)) for target in every] for source in every]


class Casts:
    """What all policies share of casts.

    Attributes
    ----------
    lines : Pool
        Texts, those of explanations of operations among them.
    answers : Pool
        What is said of one cast, as a tuple of numbers.
    values : Pool
        What values read as and become: ``Values``.
    cells : Pool
        Single values: their bits and how they read.
    """

    def __init__(self, lines: Pool) -> None:
        self.lines, self.answers, self.values, self.cells = lines, Pool(), Pool(), Pool()
        self.made: dict[Hashable, int | str] = {}

    def given(self) -> list[list[int]]:
        """The values that each pair of dtypes is asked about."""
        every = [BY_NAME[name] for name in DTYPES]
        return [[self._given(source, target) for target in every] for source in every]

    def table(self, policy: Policy) -> list[list[int]]:
        """The numbers of a policy's answers, a list for each source."""
        dtypes = held(policy)
        return [[self._answer(policy, a, b) for b in dtypes] for a in dtypes]

    def _given(self, source: DType, target: DType) -> int:
        return self._values(special_values(source, target), source)

    def _values(self, buffer: Any, dtype: DType) -> int:
        numbers = (self.cells.number((v.bits, v.value)) for v in cells(buffer, dtype))
        return self.values.number(tuple(numbers))

    def _answer(self, policy: Policy, source: DType, target: DType) -> int:
        case, line = CastCase(Operand(source), target, policy, {}), self.lines.number
        made = self._made(policy, case.source, case.target)
        refused = isinstance(made, str)
        answer = case.answer()
        return self.answers.number(
            (
                -1 if refused else DTYPES.index(case.target.name),
                tuple(line(text) for text in case.steps(answer)),
                () if refused else tuple(line(text) for text in case.quirks()),
                line(answer.reason),
                line(answer.note),
                tuple(policy.cast.notes.index(note) for note in case.notes()),
                DTYPES.index(case.source.name),
                -1 if refused else made,
            )
        )

    def _made(self, policy: Policy, source: DType, target: DType) -> int | str:
        """The number of what the values become, or why they are not cast."""
        plan = policy.cast.plan(source, target, policy.cast.settings())
        key = plan, source, target, policy.cast.refuses(source, target), policy.can_cast
        if key not in self.made:
            made = answers(policy, special_values(source, target), source, target)
            if isinstance(made, str):
                self.made[key] = made
            else:
                numbers = (self.cells.number((v.bits, v.value)) for v in made)
                self.made[key] = self.values.number(tuple(numbers))
        return self.made[key]


@cache
def special_values(source: DType, target: DType) -> Any:
    """Values on which casts differ: what ``edges`` has, and those at the target's small end."""
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
