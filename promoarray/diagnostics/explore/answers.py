"""Every policy's answers to every question, each kind of answer stored once.

A cell of a matrix has two parts: how the operands *enter* and promote, which most operations have
in common, and what the operation *answers*. Both are numbers of lines of text. A row is the cells
for one left operand; most rows are the same for many operations, so all of them take little room.

Lines have *marks* for what depends on the question alone: ``"¤1 with int64: int64"`` is the same
line for every first operand. The page fills them in, which gives the words of ``explain`` back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.core.proposed_casts import FRACTIONS, ON_BITS
from promoarray.core.refusals import remedy
from promoarray.diagnostics.explain.case import Case
from promoarray.diagnostics.explain.report import Cast
from promoarray.diagnostics.explore.questions import NUMBERS, Entry, Pool, Question, entries
from promoarray.dtypes import BY_CODE, BY_NAME, WEAK_TYPES
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

NOT_ASKED = (-1, -1)
"""In place of an answer, where Python computes and no policy is asked."""

MARK = "¤"
"""Stands before the letter of a mark; no text of explain has it."""

_DTYPES = sorted((*BY_NAME, *(c for c in BY_CODE if not c.endswith("*"))), key=len, reverse=True)


class Table(NamedTuple):
    """Answers to one question: numbers of rows, a row for each left operand."""

    entering: list[int]
    answering: list[int]


class Answers:
    """Texts and answers that all policies share.

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
        self.lines, self.entering, self.answering, self.rows = Pool(""), Pool(), Pool(), Pool()

    def tables(
        self, policy: Policy, asked: Sequence[Question], step: Callable[[float], None]
    ) -> list[Table]:
        """Return a policy's table for each question; ``step`` is given the part that is done.

        Of functions of one operand a table has one row.
        """
        mark = Marker({policy.title: "t", policy.name: "p", policy.refusal: "f"})
        alike: dict[Hashable, list[Question]] = {}
        for question in asked:
            alike.setdefault(_same_rule(policy, question), []).append(question)
        tables: dict[Question, Table] = {}
        groups = list(alike.values())
        while groups:
            asking = [_Asking(self, policy, group[0], mark) for group in groups]
            for done in _ask(asking, tuple(entries(policy))):
                step(done * len(groups) / len(alike))
            apart: list[list[Question]] = []
            for group, each in zip(groups, asking, strict=True):
                tables |= dict.fromkeys(group[:1] if each.named else group, each.table())
                apart += [[question] for question in group[1:]] if each.named else []
            groups = apart
        return [tables[question] for question in asked]


class Marker:
    """Puts marks into texts: for dtypes, and for phrases such as a policy's title."""

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self.phrases = dict(phrases)
        words = "|".join(map(re.escape, (*self.phrases, *_DTYPES)))
        self.pattern = re.compile(rf"(?<![\w@])(?:{words})(?![\w@])")

    def __call__(self, text: str, dtypes: Mapping[str, str]) -> str:
        """Return a text with marks; ``dtypes`` has those of the names and codes of dtypes.

        Raises
        ------
        ValueError
            If the text has the sign of a mark itself.
        """
        if MARK in text:
            raise ValueError(f"{text!r} has the sign that marks stand after")

        def mark(found: re.Match[str]) -> str:
            letter = self.phrases.get(found[0]) or dtypes.get(found[0])
            return MARK + letter if letter else found[0]

        return self.pattern.sub(mark, text)


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


def _ask(asking: list[_Asking], shown: tuple[Entry, ...]) -> Iterator[float]:
    """Ask all questions of one arity about the same operands before the next, and yield the part
    that is done: most of what is said has to do with the operands alone."""
    places = {(entry.dtype, entry.rank): place for place, entry in enumerate(shown)}
    arrays = [places.get((entry.dtype, Rank.ARRAY), place) for place, entry in enumerate(shown)]
    for arity in (1, 2):
        each_asked = [each for each in asking if each.question.arity == arity]
        for done, cell in enumerate(product(range(len(shown)), repeat=arity)):
            operands = _Operands([shown[place] for place in cell])
            # Where no rank is looked at, the answer is that of arrays with axes, which come first.
            first = sum(arrays[n] * len(shown) ** at for at, n in enumerate(reversed(cell)))
            for each in each_asked:
                answered = each.of_any_rank and first < len(each.cells)
                each.cells.append(each.cells[first] if answered else each.cell(operands))
            if cell[-1] == 0:
                yield done / len(shown) ** arity * (arity == 2)
    yield 1


class _Operands:
    """Operands that are asked about, and what was said of them.

    Attributes
    ----------
    marks : dict
        From the names and codes of their dtypes to the marks that stand for them.
    known : dict
        From what words hang on to the numbers of these: most operations say the same.
    seen : tuple of Operand, optional
        What the policy sees, once that is known.
    """

    def __init__(self, shown: list[Entry]) -> None:
        self.dtypes = [entry.dtype.name for entry in shown]
        self.entered = tuple(entry.entered for entry in shown)
        self.scalars = all(entry.rank is Rank.SCALAR for entry in shown)
        self.marks: dict[str, str] = {}
        for entry, (name, code) in reversed(list(zip(shown, ("13", "24"), strict=False))):
            if not entry.dtype.weak:
                self.marks |= {entry.dtype.name: name, entry.dtype.code: code}
        self.known: dict[Hashable, Any] = {}
        self.seen: tuple[Operand, ...] | None = None


class _Asking:
    """One policy asked one question about all its operands.

    Attributes
    ----------
    cells : list of tuple
    named : bool
        Whether a line has the operation's name where no mark can stand for it, so that the answers
        do not hold for other operations.
    """

    def __init__(self, pools: Answers, policy: Policy, question: Question, mark: Marker) -> None:
        self.pools, self.policy, self.question, self.mark = pools, policy, question, mark
        self.name = question.row.name
        after = r"(?=: |\(| is | of | promotes | takes )"
        self.own_name = re.compile(rf"(?<![\w.]){self.name}{after}")
        self.any_name = re.compile(rf"(?<![\w{MARK}]){self.name}(?!\w)")
        self.notes = {note: index for index, note in enumerate(policy.notes)}
        self.of_any_rank = _of_any_rank(policy, self.name)
        self.cells: list[tuple[int, int]] = []
        self.named = False

    def table(self) -> Table:
        """Return what was answered, in rows."""
        number, width = self.pools.rows.number, len(tuple(entries(self.policy)))
        rows = (self.cells[at : at + width] for at in range(0, len(self.cells), width))
        parts = [tuple(map(number, zip(*row, strict=True))) for row in rows]
        return Table([first for first, _ in parts], [second for _, second in parts])

    def cell(self, operands: _Operands) -> tuple[int, int]:
        """Return both parts of a cell."""
        if operands.scalars:
            return NOT_ASKED
        case = Case(
            self.name, self.question.form, operands.entered, self.policy, seen=operands.seen
        )
        operands.seen = case.seen
        answering = self.pools.answering.number(self._answering(case, operands))
        key = "entering", case.entering_by()
        if key not in operands.known:
            lines = self._lines(case.entering(), operands)
            operands.known[key] = self.pools.entering.number(lines)
        return operands.known[key], answering

    def _answering(self, case: Case, operands: _Operands) -> tuple[Hashable, ...]:
        """What the operation answers; the page reads it in this order."""
        key = "ending", case.ending_by()
        ending = operands.known.get(key)
        if ending is None:
            said, casts = tuple(case.ending()), tuple(case.casts())
            ending = (
                self._dtype(case.answer.dtype, operands),
                int(case.answer.weak),
                self._lines(said, operands),
                tuple(self._cast(cast, operands) for cast in casts),
                case.answer.reason,
            )
            if not any(map(_names_operation, (*said, case.answer.reason, *map(str, casts)))):
                operands.known[key] = ending
        dtype, weak, lines, made, reason = ending
        if "notes" not in operands.known:
            operands.known["notes"] = tuple(self.notes[note] for note in case.notes())
        refused = isinstance(case.plan, Refusal)  # the words on a scalar that does not fit advise
        others = (
            case.otherwise(Form.FUNCTION),
            case.otherwise(Form.OPERATOR),
            "" if isinstance(case.decided, Refusal) else case.signature(),
            reason,
            remedy(self.policy, self.name, case.seen, case.form) if refused else "",
        )
        noted = self._lines(case.rule_said(), operands)
        return (
            *(dtype, weak, (*noted, *lines), made),
            *self._lines(others, operands),
            operands.known["notes"],
        )

    def _dtype(self, name: str | None, operands: _Operands) -> int:
        """The number of a dtype, or which operand has it."""
        if name is None:
            return REFUSED
        if name in operands.dtypes:
            return (AS_FIRST, AS_SECOND)[operands.dtypes.index(name)]
        return NUMBERS[name]

    def _cast(self, cast: Cast, operands: _Operands) -> tuple[int, ...]:
        """A cast: the operand and its target, and what it loses where the dtypes do not say so."""
        index = int(cast.operand.removeprefix("x")) - 1
        target = self._dtype(cast.target, operands)
        own = cast.source == operands.dtypes[index]
        return (index, target) if own else (index, target, *self._lines([str(cast)], operands))

    def _lines(self, texts: Iterator[str] | Sequence[str], operands: _Operands) -> tuple[int, ...]:
        """The numbers of lines; that of the empty one is 0."""
        known, found = operands.known, []
        for text in texts:
            key = (text, self.name) if _names_operation(text) else text
            if key not in known:
                known[key] = self.pools.lines.number(self._marked(text, operands))
            found.append(known[key])
        return tuple(found)

    def _marked(self, text: str, operands: _Operands) -> str:
        if text == self.policy.principle:
            return MARK + "r"
        made = self.mark(text, operands.marks)
        if self.name in made:
            made = self.own_name.sub(f"{MARK}n", made)
            self.named = self.named or bool(self.any_name.search(made))
        return made


@cache
def _names_operation(text: str) -> bool:
    """Whether a word is the name of some operation, so that a line may not be the same of all."""
    return _NAMES.search(text) is not None


_NAMES = re.compile(rf"(?<!\w)(?:{'|'.join(OPERATIONS)})(?!\w)")
