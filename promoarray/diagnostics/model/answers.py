"""What the policies answered at an operation, put into words when somebody asks for them.

A program is observed while it runs, so only what it goes on with is decided there: each policy's
dtype. Whether that is a root, why it refuses and what to write instead hang on nothing but dtypes,
ranks and Python scalars. They are kept, and the report asks when it is printed.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, ValuesView
from typing import Any, NamedTuple, Self

from promoarray.core.array_base import type_of
from promoarray.core.events import OperationEvent
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.divergence import Answer, LazyAnswers
from promoarray.diagnostics.model.fallback_dtype import held
from promoarray.diagnostics.model.slots import ShadowDTypes, as_held, as_seen_by, pending_of
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.plan import Decision, Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import is_installed


class Said(NamedTuple):
    """What policies decide of one result, each for operands with the types it has seen so far."""

    policies: tuple[Policy, ...]
    seen: tuple[tuple[Operand, ...], ...]
    decided: tuple[DType | Refusal, ...]

    def dtypes(self) -> list[DType | None]:
        """The dtypes in memory; None of those that refuse."""
        return [
            None if isinstance(decided, Refusal) else policy.strong(decided)
            for policy, decided in zip(self.policies, self.decided, strict=True)
        ]


class OperationAnswers(LazyAnswers):
    """What was answered of one result of an operation."""

    __slots__ = ("_event", "_found", "_said", "_which")

    def __init__(self, event: OperationEvent, which: int, said: Said) -> None:
        run = event.policy.name
        self.dtypes = {run: None}  # which stands first
        self.dtypes |= zip([p.name for p in said.policies], said.dtypes(), strict=True)
        self.dtypes[run] = _made(event, which)
        self._event, self._which, self._said = event, which, said
        self._found: dict[str, Answer] | None = None

    @classmethod
    def of(cls, event: OperationEvent, which: int, said: Said) -> Self:
        """Return what was said of a result of an operation, of which no data is kept."""
        by_value = any(policy.by_value is not None for policy in said.policies)
        return cls(_without_data(event, by_value), which, said)

    @property
    def event(self) -> OperationEvent:
        """The operation, without its data."""
        return self._event

    def _all(self) -> dict[str, Answer]:
        if self._found is None:
            operands = tuple(map(str, self._event.seen))
            every = zip(*self._said, strict=True)
            answers = {said[0].name: self._answer(*said, operands) for said in every}
            run = self._event.policy.name
            answers[run] = Answer(self.dtypes[run], "", "", operands)
            self._found = {name: answers[name] for name in self.dtypes}
        return self._found

    def _answer(
        self,
        policy: Policy,
        seen: tuple[Operand, ...],
        decided: DType | Refusal,
        operands: tuple[str, ...],
    ) -> Answer:
        """A policy's answer in words; ``operands`` are the run's."""
        event, which = self._event, self._which
        run, answer = _made(event, which), self.dtypes[policy.name]
        names = operands if seen == event.seen else tuple(map(str, seen))
        reason = decided.reason if isinstance(decided, Refusal) else ""
        origin = "" if answer is run else _origin(policy, seen, decided, event, which)
        if origin == "inherits" and answer is not None and _only_weak(policy, event, seen):
            origin, reason = "root", WEAK_REASON
        pending = pending_of(event.operands).get(policy.name, frozenset())
        return Answer(answer, reason, origin, names, None, pending)

    def __getitem__(self, name: str) -> Answer:
        return self._all()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.dtypes

    def __iter__(self) -> Iterator[str]:
        return iter(self.dtypes)

    def items(self) -> ItemsView[str, Answer]:
        """The dict's own: reports go over them again and again."""
        return self._all().items()

    def values(self) -> ValuesView[Answer]:
        """The dict's own."""
        return self._all().values()

    def __len__(self) -> int:
        return len(self.dtypes)

    def __reduce__(self) -> tuple[Any, ...]:
        if not is_installed(self._event.policy):  # whoever reads this may not know it
            return dict, (self._all(),)
        return OperationAnswers, (self._event, self._which, self._said)


def _made(event: OperationEvent, which: int) -> DType:
    """The run's dtype of one of the results."""
    return event.policy.strong((event.plan.result, *event.plan.extra_results)[which])


def _without_data(event: OperationEvent, by_value: bool) -> OperationEvent:
    """An event that keeps no array alive, but values of 0-d arrays if they are asked for."""
    name, policy, operands, seen, plan, *_, form = event
    given = tuple([x if type(x) in WEAK else without_data(x, by_value) for x in operands])
    options = {name: event.options[name] for name in ("low", "real") if name in event.options}
    nothing: Any = None
    return OperationEvent(name, policy, given, seen, plan, (), nothing, (), options, form)


def without_data(x: Any, by_value: bool) -> AbstractArray:
    """Return what stands for an array; of a 0-d one with its value, if that is looked at."""
    ndim = x._buffer.ndim
    if ndim or not by_value:
        return AbstractArray.of(x._type, ndim)
    known = x.has_value if isinstance(x, AbstractArray) else not is_left_lazy(x)
    return AbstractArray.of_value(x._type, looked_on(x), known)


def _origin(
    policy: Policy,
    seen: tuple[Operand, ...],
    decided: DType | Refusal,
    event: OperationEvent,
    which: int,
) -> str:
    """Whether the policy answers otherwise for the run's own operands, too, or an earlier line did.

    So roots are what has to be edited, and with their edits nothing is left to inherit; but for a
    dtype that the policy never holds, which differs from where it comes up.
    """
    run = _made(event, which)
    given = tuple([_as_stored(policy, event.policy, x) for x in event.operands])
    if given != seen:
        asked = event.name, given, event.operands, event.form
        decided = result_of(policy.carried_out(*asked, options=event.options), which, run)
    answer = None if isinstance(decided, Refusal) else policy.strong(decided)
    never_held = answer is held(policy, run) and any(
        type(x) not in WEAK and type(x._type) is ShadowDTypes and policy.name in x._type.answers
        for x in event.operands
    )
    return "inherits" if answer is run or never_held else "root"


def _as_stored(policy: Policy, run: Policy, x: Any) -> Operand:
    """An operand of the run as a policy sees it; a weakly typed array as the run stores it.

    Where defaults differ, as of JAX with and without x64, it was told where the array was made.
    """
    operand = as_held(policy, x)
    label = None if type(x) in WEAK else x._type
    if label is None or not type_of(label).weak:
        return operand
    told = type(label) is ShadowDTypes and policy.name in label.answers
    stored, seen = run.strong(type_of(label)), policy.strong(as_seen_by(policy, x).type)
    differs = seen is not stored and (told or policy.weak_arrays)
    return operand._replace(type=stored) if differs else operand


WEAK_REASON = "an operand is weakly typed there: it was made of Python numbers alone"


def _only_weak(policy: Policy, event: OperationEvent, seen: tuple[Operand, ...]) -> bool:
    """Whether the operands have the run's dtypes under a policy, but some are weak there alone.

    No line before has another dtype then, from which this one could inherit it.
    """
    if not policy.weak_arrays:
        return False
    held = [as_held(policy, x).type for x in event.operands]
    theirs = [operand.type for operand in seen]
    alike = all(policy.strong(a) is policy.strong(b) for a, b in zip(held, theirs, strict=True))
    return alike and any(a.weak > b.weak for a, b in zip(theirs, held, strict=True))


def result_of(decided: Decision | Refusal, which: int, made: DType) -> DType | Refusal:
    """The dtype of one of the results; the run's where the policy has fewer, as of indices."""
    if isinstance(decided, Refusal):
        return decided
    results = decided.plan.result, *decided.plan.extra_results
    return results[which] if which < len(results) else made
