"""Every policy's answers to every question, each kind of answer stored once.

A cell of a matrix has two parts: how the operands *enter* and promote, which most operations have
in common, and what the operation *answers*. Both are numbers of lines of text. A row is the cells
for one left operand; most rows are the same for many operations, so all of them take little room.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from promoarray.core.refusals import remedy
from promoarray.diagnostics.explain.operation import Case
from promoarray.diagnostics.explain.report import Cast
from promoarray.diagnostics.explore.pool import NUMBERS, Pool
from promoarray.diagnostics.explore.questions import Entry, Question, entries, pair_of_scalars
from promoarray.diagnostics.explore.words import MARK, Marker
from promoarray.operations import Form
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.type_rules import TypeRule

REFUSED, AS_FIRST, AS_SECOND = -1, -2, -3
"""In place of the number of a dtype: there is none, or it is that of an operand."""

NOT_ASKED = -1
"""In place of an answer, where Python computes and no policy is asked."""


class Table(NamedTuple):
    """The answers to one question: numbers of rows, a row for each left operand."""

    entering: list[int]
    answering: list[int]


class Answers:
    """What all policies share.

    Attributes
    ----------
    lines : Pool
        Texts with marks.
    entering, answering : Pool
        The two parts of cells, as tuples of numbers of lines.
    rows : Pool
        Rows, as tuples of numbers of parts.
    """

    def __init__(self) -> None:
        self.lines, self.entering, self.answering, self.rows = Pool(), Pool(), Pool(), Pool()
        self.general: dict[tuple[Policy, tuple[Entry, ...]], int] = {}
        self.lines.number("")  # which the page takes for no line

    def tables(
        self, policy: Policy, asked: Sequence[Question], step: Callable[[float], None]
    ) -> list[Table]:
        """Ask a policy every question; ``step`` is told which part of them has been asked.

        Returns
        -------
        list of Table
            A table for each question; of functions of one operand it has one row.
        """
        shown = tuple(entries(policy))
        mark = Marker({policy.title: "t", policy.name: "p", policy.refusal: "f"})
        alike: dict[Hashable, list[Question]] = {}
        for question in asked:
            alike.setdefault(_same_rule(policy, question), []).append(question)
        tables: dict[Question, Table] = {}
        groups = list(alike.values())
        while groups:
            asking = [_Asking(self, policy, group[0], shown, mark) for group in groups]
            for done in _ask(asking, shown):
                step(done * len(groups) / len(alike))
            apart: list[list[Question]] = []
            for group, each in zip(groups, asking, strict=True):
                tables |= dict.fromkeys(group if each.alike else group[:1], each.table())
                apart += [] if each.alike else [[question] for question in group[1:]]
            groups = apart
        return [tables[question] for question in asked]


def _ask(asking: list[_Asking], shown: tuple[Entry, ...]) -> Iterator[float]:
    """Ask all questions about one pair of operands after the other, which have much in common.

    Yields
    ------
    float
        The part that is done.
    """
    for number, x in enumerate(shown, 1):
        for y in shown:
            for each in asking:
                if each.question.arity == 2:
                    each.ask(x, y)
        for each in asking:
            if each.question.arity == 1:
                each.ask(x)
        yield number / len(shown)


def _same_rule(policy: Policy, question: Question) -> Hashable:
    """A key that two questions share only if their answers differ in the operation's name alone.

    An operation rule is given the name, so only those are compared that are known to use it for
    nothing but words: ``TypeRule``.
    """
    row, name = question.row, question.row.name
    rules = [policy.rule(name, (), form) for form in (Form.OPERATOR, Form.FUNCTION)]
    if not all(isinstance(rule, TypeRule) for rule in rules) or policy.by_value is not None:
        return question
    families = (policy.signatures, policy.scalars.fit_family)
    return (
        *map(id, rules),
        *(row.family, row.arity, question.form, bool(row.symbol), name == "nextafter"),
        policy.kernels.get(name),
        *(id(of.get(name) or of.get(row.family)) for of in families),
    )


class _Asking:
    """One policy asked one question about all its operands."""

    def __init__(
        self,
        pools: Answers,
        policy: Policy,
        question: Question,
        shown: tuple[Entry, ...],
        mark: Marker,
    ) -> None:
        self.pools, self.policy, self.question, self.shown = pools, policy, question, shown
        self.name = question.row.name
        self.mark = mark
        after = r"(?=: |\(| is | of | promotes | takes )"
        self.own_name = re.compile(rf"(?<![\w.]){self.name}{after}")
        self.any_name = re.compile(rf"(?<![\w{MARK}]){self.name}(?!\w)")
        self.notes = {note: index for index, note in enumerate(policy.notes)}
        self.cells: list[tuple[int, int]] = []
        self.alike = True
        """Whether the answers hold for other operations of the same rule: no line has the name."""

    def ask(self, *operands: Entry) -> None:
        """Note the answer for some operands."""
        self.cells.append(self.cell(*operands))

    def table(self) -> Table:
        """What was answered, in rows."""
        number, width = self.pools.rows.number, len(self.shown)
        rows = (self.cells[at : at + width] for at in range(0, len(self.cells), width))
        parts = [tuple(map(number, zip(*row, strict=True))) for row in rows]
        return Table([first for first, _ in parts], [second for _, second in parts])

    def cell(self, *operands: Entry) -> tuple[int, int]:
        """Both parts of a cell."""
        if pair_of_scalars(*operands):
            return NOT_ASKED, NOT_ASKED
        entered = tuple(entry.entered for entry in operands)
        case = Case(self.name, self.question.form, entered, self.policy)
        marks: dict[str, str] = {}
        for entry, (name, code) in reversed(list(zip(operands, ("13", "24"), strict=False))):
            if not entry.dtype.weak:
                marks |= {entry.dtype.name: name, entry.dtype.code: code}
        answering = self.answering(case, operands, marks)
        return self.entering(case, operands, marks), self.pools.answering.number(answering)

    def entering(self, case: Case, operands: tuple[Entry, ...], marks: Mapping[str, str]) -> int:
        """How the operands enter and promote; once for all rules that leave it to the policy."""
        rule = case.rule()
        general = (
            isinstance(rule, TypeRule)
            and rule.operand_types is None
            and rule.promote is None
            and self.policy.by_value is None
        )
        known = self.pools.general
        if general and (self.policy, operands) in known:
            return known[self.policy, operands]
        lines = tuple(self.line(text, marks) for text in case.entering())
        number = self.pools.entering.number(lines)
        if general:
            known[self.policy, operands] = number
        return number

    def answering(
        self, case: Case, operands: tuple[Entry, ...], marks: Mapping[str, str]
    ) -> tuple[Hashable, ...]:
        """What the operation answers; the page reads it in this order."""
        answer = case.answer()
        refused = isinstance(case.plan, Refusal)  # the words on a scalar that does not fit advise
        write = remedy(self.policy, self.name, case.seen, case.form) if refused else ""
        others = (case.otherwise(Form.FUNCTION), case.otherwise(Form.OPERATOR), answer.signature)
        return (
            self.dtype(answer.dtype, operands),
            int(answer.weak),
            tuple(self.line(text, marks) for text in case.operating()),
            tuple(self.cast(cast, operands, marks) for cast in case.casts()),
            *(self.line(text, marks) for text in (*others, answer.reason, write)),
            tuple(self.notes[note] for note in case.notes()),
        )

    def dtype(self, name: str | None, operands: tuple[Entry, ...]) -> int:
        """The number of a dtype, or which operand has it."""
        if name is None:
            return REFUSED
        names = [entry.dtype.name for entry in operands]
        return (AS_FIRST, AS_SECOND)[names.index(name)] if name in names else NUMBERS[name]

    def cast(
        self, cast: Cast, operands: tuple[Entry, ...], marks: Mapping[str, str]
    ) -> tuple[int, ...]:
        """A cast: the operand and its target, and what it loses where the dtypes do not say so."""
        index = int(cast.operand.removeprefix("x")) - 1
        target = self.dtype(cast.target, operands)
        own = cast.source == operands[index].dtype.name
        return (index, target) if own else (index, target, self.line(str(cast), marks))

    def line(self, text: str, marks: Mapping[str, str]) -> int:
        """The number of a line; that of the empty one is 0."""
        number = self.pools.lines.number
        if text == self.policy.principle:
            return number(MARK + "r")
        made = self.mark(text, marks)
        if self.name in made:
            made = self.own_name.sub(f"{MARK}n", made)
            self.alike = self.alike and not self.any_name.search(made)
        return number(made)
