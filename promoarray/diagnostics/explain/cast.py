"""``explain("astype", x, dtype)``: a policy's cast rule for a pair, and what it makes of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core import host
from promoarray.core.array_base import storage_dtype
from promoarray.core.cast import convert
from promoarray.diagnostics.casts import Answer, cast_answer, cells, rounded
from promoarray.diagnostics.explain.report import Cast, Explanation, other_policies
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.errors import quoted
from promoarray.functions.data_types import finfo
from promoarray.kernels.cast_mode import CastMode, ScaleRounding
from promoarray.kernels.float_state import in_default_float_state
from promoarray.parray import PArray
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds
from promoarray.promotion.source import Note

SHOWN = 6
"""How many of an array's values are shown."""


@in_default_float_state
def explain_cast(
    x: PArray | Operand, target: DType, policy: Policy, **settings: Any
) -> Explanation:
    """Explain a cast of an array's first values, or of those on which policies differ."""
    return CastCase(x, target, policy, settings).explanation()


class CastCase:
    """One cast under one policy, with ``saturate`` and ``round_mode`` as its settings."""

    def __init__(
        self, x: PArray | Operand, target: DType, policy: Policy, settings: dict[str, Any]
    ) -> None:
        self.x, self.asked, self.policy, self.settings = x, target, policy, settings
        if isinstance(x, Operand):
            self.source = policy.canonical.get(x.type, x.type)
        else:
            self.source = storage_dtype(x)
        self.target = self._given(policy)
        self.own = isinstance(x, PArray) and x.size > 0
        self.given = self._first() if self.own else edges(self.source, self.target)

    def _given(self, policy: Policy) -> DType:
        """The dtype that a policy gives where the one is asked for."""
        return policy.cast.target(self.source, policy.canonical.get(self.asked, self.asked))

    def _first(self) -> Any:
        """The first values of the array, on the CPU."""
        assert isinstance(self.x, PArray)
        buffer = self.x._buffer if self.x._buffer.ndim else self.x._buffer.reshape(1)
        first = np.unravel_index(np.arange(min(buffer.size, SHOWN)), buffer.shape)
        backend = backend_of(buffer)
        device = backend.device_of(buffer)
        key = tuple(backend.from_numpy(index, dt.int64, device) for index in first)
        return backend.to_numpy(backend.read(buffer, key), self.source)

    def explanation(self) -> Explanation:
        """Return the answer with its reasons, and every other policy's."""
        policy, rule, answer = self.policy, self.policy.cast, self.answer()
        to = self.asked if self.asked in rule.gives else self.target
        lost = "" if answer.dtype is None else loss(self.source, self.target)
        given = {name: value for name, value in self.settings.items() if value is not None}
        said = "".join(f", {name}={quoted(value)}" for name, value in given.items())
        return Explanation(
            operation="astype",
            policy=policy.name,
            title=policy.title,
            expression=f"astype({self.source.name}, {to.name}{said})",
            answer=answer,
            steps=tuple(self.steps(answer)),
            casts=(Cast("x", self.source.name, self.target.name, lost),) if answer.dtype else (),
            sources=tuple(map(str, rule.sources or policy.sources)),
            notes=tuple(self.notes()),
            others=tuple(other_policies(policy, self._ask)),
            quirks=tuple(self.quirks()) if answer.dtype else (),
            given=tuple(cells(self.given, self.source)),
            source=self.source.name,
        )

    def _ask(self, name: str) -> Answer:
        """The same cast, of an array that another policy has made of the values."""
        policy = as_policy(name)
        other = copy(self)
        other.policy = policy
        other.settings = {k: v for k, v in self.settings.items() if k in policy.cast.knobs}
        first = self.x.type if isinstance(self.x, Operand) else self.source
        other.source = policy.canonical.get(first, first)
        other.target = other._given(policy)
        whole = convert(as_policy("numpy"), self.given, self.source, first)
        other.given = convert(policy, whole, first, other.source)
        return other.answer()

    def answer(self) -> Answer:
        """Return what the values become, or why they are not cast."""
        try:
            self.policy.cast.settings(**self.settings)
        except (TypeError, ValueError) as error:  # no such argument, or no such choice of it
            return Answer((self.policy.name,), None, reason=str(error))
        return self._made(self.given)

    def _made(self, values: Any) -> Answer:
        return cast_answer(self.policy, values, self.source, self.target, **self.settings)

    def steps(self, answer: Answer) -> Iterator[str]:
        """Yield the rule in words."""
        policy, source, target = self.policy, self.source, self.target
        if isinstance(self.x, Operand) and self.x.type is not source:
            yield f"{policy.title} holds {self.x.type.name} as {source.name}"
        if answer.dtype is None:
            yield f"refused: {answer.reason}"
            return
        if (given := policy.cast.gives.get(self.asked)) and given.dtype is target:
            yield given.why
        chosen = policy.cast.settings(**self.settings)
        yield _rounding(source, target, policy.cast.plan(source, target, chosen).mode)
        values = edges(source, target)
        if self.own and values.size:  # else they are the values shown
            pairs = zip(cells(values, source), self._made(values).values, strict=True)
            yield "at the edges: " + ", ".join(f"{a.value} becomes {b.value}" for a, b in pairs)
        yield from (f"with the quirk {said}" for on, said in self._quirks() if on)
        for name, knob in policy.cast.knobs.items():
            choices = ({**chosen, name: choice} for choice in knob.choices)
            if len({policy.cast.plan(source, target, choice) for choice in choices}) > 1:
                others = " or ".join(repr(c) for c in knob.choices if c != chosen[name])
                default = ", the default" * (chosen[name] == knob.default)
                yield f"{name}={chosen[name]!r}{default}; it may be {others}"

    def notes(self) -> Iterator[str]:
        """Yield what to know about casts of the pair."""
        for note in self.policy.cast.notes:
            if not isinstance(note, Note) or note.about_cast(self.source, self.target):
                yield note

    def quirks(self) -> Iterator[str]:
        """Yield the bugs of the framework that this cast would show."""
        yield from (f"{'on' if on else 'off'}: {said}" for on, said in self._quirks())

    def _quirks(self) -> Iterator[tuple[bool, str]]:
        rule = self.policy.cast
        chosen = rule.settings(**self.settings)
        for quirk in rule.quirks:
            if any(case.holds(self.source, self.target, chosen) for case in quirk.cases):
                yield quirk.name in rule.on, str(quirk)


def edges(source: DType, target: DType) -> Any:
    """Return values of the source at which casts to the target differ; none of strings."""
    return exact_in(source, edge_numbers(source, target))


def exact_in(source: DType, numbers: Iterable[bool | int | float]) -> Any:
    """Return those of some numbers that a dtype holds exactly; of integers its ends, too."""
    numbers = tuple(numbers)
    if numbers and source.kind in INTEGERS:
        low, high = bounds(source)
        inside = (n for n in numbers if type(n) is int and low <= n <= high)
        numbers = tuple(dict.fromkeys((*inside, low, high)))
    kept: dict[bytes, Any] = {}  # by their bits
    for number in numbers:
        made = rounded(number, source)
        back = host.decoded(made, source).item()
        if back == number or (back != back and number != number):
            kept.setdefault(made.tobytes(), made)
    return np.concatenate([np.zeros(0, source.storage), *kept.values()])


def edge_numbers(source: DType, target: DType) -> tuple[bool | int | float, ...]:
    """Return numbers at which casts to the target differ, whether or not the source has them."""
    if source is target or dt.string in (source, target):
        return ()
    if source.kind is Kind.BOOL:
        return True, False
    if target.kind is Kind.BOOL:
        return 2, 0, -0.0, math.nan
    if target.kind in INTEGERS:
        low, high = bounds(target)
        out = high + 1, low - 1
        return (-1, *out) if source.kind in INTEGERS else (-1.5, *out, 1e20, *_SPECIAL)
    if target is dt.float8_e8m0fnu:
        return 0, -1, 3, 1.5, 2.0**-130, 1.75 * 2.0**127, math.inf, math.nan
    beyond = 2 * finfo(target).max
    finite = () if math.isinf(beyond) else (int(beyond),)
    return *finite, *_SPECIAL, -0.0


_SPECIAL = math.inf, -math.inf, math.nan

_TO_SCALE = {
    ScaleRounding.NEAREST: "the nearest one, the upper at 1.5 * 2**k",
    ScaleRounding.UP: "the next one up",
    ScaleRounding.DOWN: "the next one down",
    ScaleRounding.NEAREST_BUT_LOWEST_UP: "the nearest one, but for those below 2**-126",
}


def _rounding(source: DType, target: DType, mode: CastMode) -> str:
    """What the cast does to a value in the target's range, in words."""
    if source is target:
        return "nothing changes"
    if target is dt.string:
        return "written as the shortest text that reads back as the same value"
    if source is dt.string:
        return "the text's exact value is taken"
    if target.kind is Kind.BOOL:
        return "all but zero is True"
    if not loss(source, target):
        return "every value comes through"
    real = source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX
    dropped = "the imaginary part is dropped; " * real
    if target.kind in INTEGERS:
        whole = source.kind in INTEGERS
        return dropped + ("the low bits are kept" if whole else "truncated towards zero")
    twice = "rounded to float32 first, then " * mode.via_float32
    if target is dt.float8_e8m0fnu:
        return f"{dropped}{twice}to a power of two, {_TO_SCALE[mode.scale_rounding]}"
    once = f"again to {target.name}" if twice else f"once, from the {source.name} itself"
    return f"{dropped}{twice or 'rounded '}{once}, to nearest, ties to even"
