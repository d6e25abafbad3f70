"""Every policy's answers to every question, each kind of answer stored once.

A cell of a matrix has two parts: how the operands *enter* and promote, which most operations have
in common, and what the operation *answers*. Both are numbers of lines of text. A row is the cells
for one left operand; most rows are the same for many operations, so all of them take little room.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from promoarray.core.proposed_casts import FRACTIONS, ON_BITS
from promoarray.core.refusals import remedy
from promoarray.diagnostics.explain.case import Case
from promoarray.diagnostics.explain.report import Cast
from promoarray.diagnostics.explore.pool import NUMBERS, Pool
from promoarray.diagnostics.explore.questions import Entry, Question, entries, pair_of_scalars
from promoarray.diagnostics.explore.words import MARK, Marker
from promoarray.dtypes import WEAK_TYPES
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.plan import MOVES, Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.source import Note
from promoarray.promotion.type_rules import TypeRule

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule

REFUSED, AS_FIRST, AS_SECOND = -1, -2, -3
"""In place of the number of a dtype: there is none, or it is that of an operand."""

NO_LINE = 0
"""The number of a line that is not there."""

NOT_ASKED = -1
"""In place of an answer, where Python computes and no policy is asked."""


class Table(NamedTuple):
    """The answers to one question: numbers of rows, a row for each left operand."""

    entering: list[int]
    answering: list[int]


class Ending(NamedTuple):
    """What an operation answers, but for what its own rule says.

    Attributes
    ----------
    dtype, weak : int
    lines : tuple of int
        How it is computed.
    casts : tuple
    reason : str
        Why it is refused.
    """

    dtype: int
    weak: int
    lines: tuple[int, ...]
    casts: tuple[tuple[int, ...], ...]
    reason: str


class Operands(NamedTuple):
    """What is asked about, and what was said of it.

    Attributes
    ----------
    entries : tuple of Entry
    entered : tuple
        What ``explain`` takes.
    marks : dict
        From the names and codes of their dtypes to the marks that stand for them.
    lines, entering, ending : dict
        The numbers of lines, and of what one policy said, by what the words hang on: most
        operations say the same of the same operands.
    seen, notes : list of tuple
        What the policy sees, and the numbers of its notes on that, once they are known.
    """

    entries: tuple[Entry, ...]
    entered: tuple[Any, ...]
    marks: dict[str, str]
    lines: dict[str, int]
    entering: dict[Hashable, int]
    ending: dict[Hashable, Ending]
    seen: list[tuple[Operand, ...]]
    notes: list[tuple[int, ...]]

    @classmethod
    def of(cls, *shown: Entry) -> Self:
        """Return operands of which nothing was said yet."""
        marks: dict[str, str] = {}
        for entry, (name, code) in reversed(list(zip(shown, ("13", "24"), strict=False))):
            if not entry.dtype.weak:
                marks |= {entry.dtype.name: name, entry.dtype.code: code}
        return cls(shown, tuple(entry.entered for entry in shown), marks, {}, {}, {}, [], [])


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
        self.lines.number("")  # ``NO_LINE``

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
                tables |= dict.fromkeys(group[:1] if each.named else group, each.table())
                apart += [[question] for question in group[1:]] if each.named else []
            groups = apart
        return [tables[question] for question in asked]


def _ask(asking: list[_Asking], shown: tuple[Entry, ...]) -> Iterator[float]:
    """Ask all questions about one pair of operands after the other, which have much in common.

    Yields
    ------
    float
        The part that is done.
    """
    by_arity = {n: [each for each in asking if each.question.arity == n] for n in (1, 2)}
    places = {(entry.dtype, entry.rank): place for place, entry in enumerate(shown)}
    with_axes = [
        places[entry.dtype, Rank.ARRAY] if entry.rank is Rank.ZERO_D else place
        for place, entry in enumerate(shown)
    ]
    for i, x in enumerate(shown):
        for j, y in enumerate(shown):
            if pair_of_scalars(x, y):
                for each in by_arity[2]:
                    each.cells.append((NOT_ASKED, NOT_ASKED))
                continue
            _ask_of(by_arity[2], Operands.of(x, y), with_axes[i] * len(shown) + with_axes[j])
        if pair_of_scalars(x):
            for each in by_arity[1]:
                each.cells.append((NOT_ASKED, NOT_ASKED))
        else:
            _ask_of(by_arity[1], Operands.of(x), with_axes[i])
        yield (i + 1) / len(shown)


def _ask_of(asking: list[_Asking], operands: Operands, with_axes: int) -> None:
    """Note what is answered of some operands.

    ``with_axes`` is the number of the cell in which 0-d arrays are arrays with axes, which comes
    first: it serves where no rank is looked at.
    """
    for each in asking:
        answered = each.of_any_rank and with_axes < len(each.cells)
        each.cells.append(each.cells[with_axes] if answered else each.cell(operands))


def _same_rule(policy: Policy, question: Question) -> Hashable:
    """A key that two questions share only if their answers differ in the operation's name alone.

    An operation rule is given the name, so only those are compared that are known to use it for
    nothing but words and what ``_TOLD_APART`` has: ``TypeRule``.
    """
    row, name = question.row, question.row.name
    rules = _rules(policy, name)
    by_name = getattr(policy.by_value, "by_name", None)
    if not all(isinstance(rule, TypeRule) for rule in rules) or (policy.by_value and not by_name):
        return question
    families = (policy.signatures, policy.scalars.fit_family)
    dtypes = tuple({*policy.dtypes, *policy.canonical.values(), *WEAK_TYPES})
    own = [rule.answers_by(dtypes) for rule in rules if isinstance(rule, TypeRule)]
    return (
        *own,
        *(row.family in families for families in _TOLD_APART),
        *(row.arity, question.form, row.symbol if own[1:] else bool(row.symbol)),
        *(name == "nextafter", by_name and by_name(name)),
        policy.kernels.get(name),
        *(id(of.get(name) or of.get(row.family)) for of in families),
    )


_TOLD_APART = (
    *((Family.EQUALITY, Family.ORDER), (Family.ISIN,), (Family.CLIP,), (Family.POW,)),
    *(MOVES, FRACTIONS, ON_BITS),
)
"""The families whose scalars, plans, words or proposed casts are not as those of others."""


def _rules(policy: Policy, name: str) -> list[OperationRule]:
    """The rules of an operator and of the function of its name: mostly one."""
    rules = (policy.rule(name, (), form) for form in (Form.OPERATOR, Form.FUNCTION))
    return list({id(rule): rule for rule in rules}.values())


def _of_any_rank(policy: Policy, name: str) -> bool:
    """Whether all is said alike of 0-d arrays and others: the rule does not look, nor do notes,
    and there is no other form, whose operands are written out."""
    looks = policy.ranks or name in policy.ranked or policy.by_value is not None
    notes = (note.ranks for note in policy.notes if isinstance(note, Note))
    noted = any((Rank.ARRAY in ranks) != (Rank.ZERO_D in ranks) for ranks in notes)
    return not looks and not noted and len(_rules(policy, name)) == 1


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
        self.lines: dict[str, int] = {}
        """The numbers of lines that are the same of all operands."""
        self.cells: list[tuple[int, int]] = []
        self.of_any_rank = _of_any_rank(policy, self.name)
        self.named = False
        """Whether a line has the operation's name where no mark can stand for it, so that the
        answers do not hold for other operations."""

    def table(self) -> Table:
        """What was answered, in rows."""
        number, width = self.pools.rows.number, len(self.shown)
        rows = (self.cells[at : at + width] for at in range(0, len(self.cells), width))
        parts = [tuple(map(number, zip(*row, strict=True))) for row in rows]
        return Table([first for first, _ in parts], [second for _, second in parts])

    def cell(self, operands: Operands) -> tuple[int, int]:
        """Both parts of a cell."""
        seen = operands.seen[0] if operands.seen else None
        case = Case(self.name, self.question.form, operands.entered, self.policy, seen=seen)
        if seen is None:
            operands.seen.append(case.seen)
        # In this order, as lines are numbered when they are first written.
        answering = self.answering(case, operands)
        return self.entering(case, operands), self.pools.answering.number(answering)

    def entering(self, case: Case, operands: Operands) -> int:
        """How the operands enter and promote."""
        key = case.entering_by()
        number = operands.entering.get(key)
        if number is None:
            lines = tuple(self.line(text, operands) for text in case.entering())
            number = operands.entering[key] = self.pools.entering.number(lines)
        return number

    def answering(self, case: Case, operands: Operands) -> tuple[Hashable, ...]:
        """What the operation answers; the page reads it in this order."""
        refused = isinstance(case.plan, Refusal)  # the words on a scalar that does not fit advise
        write = remedy(self.policy, self.name, case.seen, case.form) if refused else ""
        others = (case.otherwise(Form.FUNCTION), case.otherwise(Form.OPERATOR))
        signature = "" if isinstance(case.decided, Refusal) else case.signature()
        noted = tuple(self.line(text, operands) for text in case.rule_said())
        ending = self.ending(case, operands)
        if not operands.notes:
            operands.notes.append(tuple(self.notes[note] for note in case.notes()))
        return (
            ending.dtype,
            ending.weak,
            (*noted, *ending.lines),
            ending.casts,
            *(self.line(text, operands) for text in (*others, signature, ending.reason, write)),
            operands.notes[0],
        )

    def ending(self, case: Case, operands: Operands) -> Ending:
        """What it answers, and how it is computed."""
        key = case.ending_by()
        ending = operands.ending.get(key)
        if ending is None:
            answer, texts, casts = case.answer, tuple(case.ending()), tuple(case.casts())
            ending = Ending(
                self.dtype(answer.dtype, operands.entries),
                int(answer.weak),
                tuple(self.line(text, operands) for text in texts),
                tuple(self.cast(cast, operands) for cast in casts),
                answer.reason,
            )
            texts += (answer.reason, *map(str, casts))
            if not any(map(_names_operation, texts)):
                operands.ending[key] = ending
        return ending

    def dtype(self, name: str | None, operands: tuple[Entry, ...]) -> int:
        """The number of a dtype, or which operand has it."""
        if name is None:
            return REFUSED
        names = [entry.dtype.name for entry in operands]
        return (AS_FIRST, AS_SECOND)[names.index(name)] if name in names else NUMBERS[name]

    def cast(self, cast: Cast, operands: Operands) -> tuple[int, ...]:
        """A cast: the operand and its target, and what it loses where the dtypes do not say so."""
        index = int(cast.operand.removeprefix("x")) - 1
        target = self.dtype(cast.target, operands.entries)
        own = cast.source == operands.entries[index].dtype.name
        return (index, target) if own else (index, target, self.line(str(cast), operands))

    def line(self, text: str, operands: Operands) -> int:
        """The number of a line; that of the empty one is 0."""
        if not text:
            return NO_LINE
        known = operands.lines.get(text)
        if known is None:
            known = self.lines.get(text)
        if known is not None:
            return known
        number = self.pools.lines.number
        if text == self.policy.principle:
            return number(MARK + "r")
        made = self.mark(text, operands.marks)
        if self.name in made:
            made = self.own_name.sub(f"{MARK}n", made)
            self.named = self.named or bool(self.any_name.search(made))
        found = number(made)
        if not _names_operation(text):
            operands.lines[text] = found
        elif not self.mark.names_dtype(text):
            self.lines[text] = found
        return found


@cache
def _names_operation(text: str) -> bool:
    """Whether a word is the name of some operation, so that a line may not be the same of all."""
    return _NAMES.search(text) is not None


_NAMES = re.compile(rf"(?<!\w)(?:{'|'.join(OPERATIONS)})(?!\w)")
