"""Dtypes that a program asks for: where it makes arrays, where it casts, and ``result_type``.

A dtype that it wrote is the same everywhere, unless a policy lacks it: then that is a root, and the
policy goes on with the dtype that loses least. One that it read from an array, or from the policy,
is each policy's own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.core.array_base import type_of
from promoarray.core.call_site import sites
from promoarray.core.events import CastEvent, Decision, EntryEvent, MadeEvent, Question
from promoarray.core.operands import looked_on
from promoarray.core.passes import Passes
from promoarray.core.read_dtype import ReadDType
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.ask.dtype_queries import (
    answer_of,
    answer_to,
    is_default,
    seen_dtype,
    seen_operands,
)
from promoarray.diagnostics.model.divergence import (
    ASKED_DTYPE,
    DEFAULT_DTYPE,
    ENTRY,
    Answer,
    Divergence,
    Entered,
)
from promoarray.diagnostics.model.fallback_dtype import held, lacks, why_lacking
from promoarray.diagnostics.model.noted import Decided
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import ShadowDTypes, as_seen_by, record
from promoarray.diagnostics.report import Report
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy


class Found(NamedTuple):
    """What the policies say of a dtype that is asked for.

    Attributes
    ----------
    name : str
        The operation.
    operands : tuple of str
    answers : dict
        The run's first.
    differs : bool
        Whether some policy gives another dtype, or refuses.
    slot : DType or ShadowDTypes
        What the array's type slot bears.
    carried : dict
        What the policies go on with.
    held : object
        What has to live as long, for it is known by its address.
    event : Entered or None
        How data come in, where that can be edited.
    """

    name: str
    operands: tuple[str, ...]
    answers: dict[str, Answer]
    differs: bool
    slot: DType | ShadowDTypes
    carried: dict[str, DType]
    held: object
    event: Entered | None = None


@dataclass(eq=False)
class AskedDtypes:
    """Asks policies about the dtypes that a program asks for, and remembers what they say.

    Attributes
    ----------
    report : Report
        Which names the policies.
    note : callable
        Notes a place: the operation, the answers, the operands.
    passes : Passes
        Counts the places that were noted.
    """

    report: Report
    note: Callable[..., Any]
    passes: Passes[Divergence]
    _known: dict[Hashable, Found] = field(default_factory=dict)

    def made(self, made: MadeEvent) -> None:
        """Note the policies that lack the dtype of an array that is made, or have another."""
        run, result, asked = made
        dtype = type_of(result._type)
        if dtype is not dt.string:
            asked = asked if type(asked) is ReadDType else dtype
            key = ASKED_DTYPE, run, id(asked), dtype
            result._type = self._find(key, lambda: self._made(run, dtype, asked)).slot

    def entered(self, entry: EntryEvent) -> None:
        """Note the policies that do not narrow what the run narrows: data, or what is asked for."""
        run, result, source, data, operands = entry
        rank = Rank.ARRAY if result.ndim or not data else Rank.ZERO_D
        key = ENTRY, run, source, rank, operands, bool(data)
        result._type = self._find(key, lambda: self._entered(entry, rank)).slot

    def cast(self, cast: CastEvent) -> None:
        """Note the policies that refuse a cast, or make another dtype of it."""
        asked = cast.asked if type(cast.asked) is ReadDType else cast.target
        key = "astype", cast.policy, cast.array._type, cast.source, id(asked), cast.target
        cast.result._type = self._find(key, lambda: self._cast(cast, asked)).slot

    def question(self, question: Question) -> None:
        """Ask every policy what it would have answered, and note where they differ."""
        by_value = any(policy.by_value is not None for policy in self.report.policies)
        operands = (_key_of(x, by_value) for x in question.operands)
        key = question.name, question.policy, question.run, *operands
        found = self._find(key if question.operands else None, lambda: self._question(question))
        question.answers.update(found.carried)

    def decision(self, decision: Decision) -> None:
        """Note the policies whose dtypes decide otherwise."""
        read = tuple(x for x in decision.asked if type(x) is ReadDType)
        site, program = (replace(each, column=-1) for each in sites())
        for policy in self.report.policies:
            if answer_of(decision, policy) != decision.answer:
                run, others = _names(read), _names(seen_dtype(policy, x) for x in read)
                decided = Decided(site, program, run, policy.name, others)
                self.report.count(self.report.decisions, decided)

    def _find(self, key: Hashable | None, ask: Callable[[], Found]) -> Found:
        """What was found before, or is now; note the place."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST:
                self._known.clear()
            found = ask()
            if key is not None:
                self._known[key] = found
        if found.differs or found.name == "astype":
            note = partial(self.note, found.name, found.answers, found.operands, event=found.event)
            if key is None:
                note()
            else:
                self.passes.count(found, note)
        return found

    def _made(self, run: Policy, dtype: DType, asked: DType) -> Found:
        operands = _names([Operand(dtype)])
        answers = {p: _would_make(p, asked, dtype, operands) for p in self._others(run)}
        name = DEFAULT_DTYPE if is_default(asked) else ASKED_DTYPE
        return self._found(name, operands, run, dtype, answers, asked)

    def _entered(self, entry: EntryEvent, rank: Rank) -> Found:
        run, source, indices = entry.policy, entry.source, entry.operands
        target, names = type_of(entry.result._type), _names([Operand(source, rank)])
        answers = {}
        for policy in self._others(run):
            answer = _would_make(policy, source, target, names)
            apart = answer.dtype is not target
            answers[policy] = replace(answer, origin="root") if apart else answer
        name = ENTRY if entry.data else ASKED_DTYPE
        found = self._found(name, names, run, target, answers, source)
        if not entry.data or indices is None:
            return found
        return found._replace(event=Entered(source, target, indices))

    def _cast(self, cast: CastEvent, asked: DType) -> Found:
        run, array, _, source, target, _ = cast
        operands = _names([Operand(source), Operand(target)])
        answers = {
            p: _would_cast(p, as_seen_by(p, array).type, asked, target) for p in self._others(run)
        }
        return self._found("astype", operands, run, target, answers, asked)

    def _question(self, question: Question) -> Found:
        run, asked = question.policy, question.operands
        said = {policy: answer_to(question, policy) for policy in self._others(run)}
        answers = {policy: each.answer for policy, each in said.items() if asked}
        operands = _names(seen_operands(run, asked))
        found = self._found(question.name, operands, run, question.run, answers, question.run)
        read = tuple(x for x in asked if isinstance(x, DType))
        carried = {policy.name: each.carried for policy, each in said.items()}
        return found._replace(carried=carried, held=read)

    def _found(
        self,
        name: str,
        operands: tuple[str, ...],
        run: Policy,
        dtype: DType,
        answers: dict[Policy, Answer],
        asked: DType,
    ) -> Found:
        differs = any(answer.dtype is not dtype for answer in answers.values())
        told = {run.name: Answer(dtype, "", "", operands)}
        told |= {policy.name: answer for policy, answer in answers.items()}
        kept = {p.name: held(p, seen_dtype(p, asked)) for p in self.report.policies}
        return Found(name, operands, told, differs, record(dtype, kept), {}, asked)

    def _others(self, run: Policy) -> Iterator[Policy]:
        return (policy for policy in self.report.policies if policy.name != run.name)


MOST = 1 << 12
"""So many are remembered."""


def _names(dtypes: Any) -> tuple[str, ...]:
    return tuple(map(str, dtypes))


def _key_of(x: Any, by_value: bool) -> Hashable:
    """What operands of one answer have in common."""
    if isinstance(x, DType):
        return id(x)
    if type(x) in WEAK:
        return scalar_class(x)
    flat = not x._buffer.shape
    return x._type, flat, scalar_class(looked_on(x)) if flat and by_value else None


def _would_cast(policy: Policy, source: DType, asked: DType, run: DType) -> Answer:
    """A policy's answer to ``x.astype(asked)`` with the types it has seen so far."""
    target = seen_dtype(policy, asked)
    names = _names([Operand(source), Operand(target)])
    why = "" if lacks(policy, target) else cast_refusal(policy, policy.strong(source), target)
    return Answer(None, why, "root", names) if why else _would_make(policy, asked, run, names)


def _would_make(policy: Policy, asked: DType, run: DType, operands: tuple[str, ...]) -> Answer:
    """A policy's answer to a dtype that is asked for, as it was written or read."""
    theirs = seen_dtype(policy, asked)
    if lacks(policy, theirs):
        return Answer(None, why_lacking(policy, theirs), "root", operands)
    made = held(policy, theirs)
    begins = made is not theirs or is_default(asked)
    return Answer(made, "", "" if made is run else "root" if begins else "inherits", operands)
