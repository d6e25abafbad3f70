"""Every policy's answers to every question, each kind of answer stored once.

A cell of a matrix has two parts: how the operands *enter* and promote, which most operations have
in common, and what the operation *answers*. Both are numbers of lines of text. A row is the cells
for one left operand; most rows are the same for many operations, so all of them take little room.

Lines have *marks* for what depends on the question alone: ``"¤1 with int64: int64"`` is the same
line for every first operand. The page fills them in, which gives the words of ``explain`` back.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.core.refusals import remedy
from promoarray.diagnostics.casts import CastValue, cells
from promoarray.diagnostics.explain.case import Case
from promoarray.diagnostics.explain.cast import CastCase, edge_numbers, exact_in
from promoarray.diagnostics.explain.report import Cast
from promoarray.dtypes import BY_CODE, BY_NAME, WEAK, DType, Kind, is_narrow
from promoarray.operations import OPERATIONS, Form, Operation
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded
from promoarray.promotion.source import Note

SCALARS: tuple[bool | int | float | complex, ...] = (True, 1, -1, 300, 2.5, 1e40, 1j)
"""One Python scalar of each type, and those that a common dtype cannot hold."""

DTYPES = [dtype for dtype in BY_NAME.values() if not dtype.weak]
"""All dtypes in the order of the numbers that the page has for them."""

NUMBERS = {dtype.name: index for index, dtype in enumerate(DTYPES)}

ORDER = {
    dtype: index
    for index, dtype in enumerate(sorted(DTYPES, key=lambda d: (list(Kind).index(d.kind), d.bits)))
}
"""The order of rows and columns: by kind, then by width."""


class Question(NamedTuple):
    """An operation in the form in which the page shows it.

    ``op`` is what ``explain`` takes: an operator, or the name of a function.
    """

    op: str
    row: Operation
    form: Form

    @property
    def arity(self) -> int:
        """The operands that the page shows: two where any number may be given."""
        return self.row.arity or 2


class Entry(NamedTuple):
    """An operand that the page shows."""

    label: str  # how ``explain`` writes it, such as ``"int8"``, ``"int8[]"`` or ``"2.5"``
    dtype: DType
    rank: Rank
    entered: Any  # what is asked about: the Operand a dtype stands for, or a Python scalar


COMMON = ("maximum", "where", "concat")
"""Functions of two operands that a page has beside the operators; the others take most of the time
that it takes."""

ALIKE = {"==": ("!=",), "<": ("<=", ">", ">="), "&": ("|", "^"), "<<": (">>",)}
"""Operators, and those left out beside them: the policies that people have installed give the same
dtypes."""

COMMON_0D = (dt.bool, dt.int64, dt.float32, dt.float64)
"""The dtypes of the 0-d arrays of such a page: those that sums, means and Python numbers become."""


def questions(every: bool = True) -> tuple[Question, ...]:
    """Return every operation, or the common ones: operators first, then functions of two operands
    and of one."""
    alike = {symbol for symbols in ALIKE.values() for symbol in symbols}
    rows = [
        row
        for row in OPERATIONS.values()
        if every or row.arity == 1 or row.name in COMMON or (row.symbol and row.symbol not in alike)
    ]
    operators = [row for row in rows if row.symbol and row.arity == 2]
    functions = [Question(row.name, row, Form.FUNCTION) for row in rows if row not in operators]
    return (
        *(Question(row.symbol, row, Form.OPERATOR) for row in operators),
        *sorted(functions, key=lambda q: q.arity == 1),
    )


def held(policy: Policy) -> list[DType]:
    """Return the dtypes that a policy takes, also those it holds as another, in order."""
    return sorted({*policy.dtypes, *policy.canonical}, key=ORDER.__getitem__)


def entries(policy: Policy, every: bool = True) -> Iterator[Entry]:
    """Yield the operands that a policy is asked about, arrays with axes first.

    Of ``every`` dtype or the common ones; the same of every policy, so that a page can compare.
    """
    ranks = (Rank.ARRAY, Rank.ZERO_D) if policy.ranks or policy.ranked else (Rank.ARRAY,)
    for rank in ranks:
        for dtype in held(policy):
            if every or (dtype in COMMON_0D if rank is Rank.ZERO_D else not is_narrow(dtype)):
                operand = Operand(dtype, rank)
                yield Entry(str(operand), dtype, rank, operand)
    for value in SCALARS:
        yield Entry(worded(value), WEAK[type(value)], Rank.SCALAR, value)


class Pool(dict[Hashable, int]):
    """Things that are stored once, each named by its number; it gets one when it is first seen."""

    def __missing__(self, item: Hashable) -> int:
        self[item] = number = len(self)
        return number


Pools = Mapping[str, Pool]
"""Pools by the names that the page has for them."""


def new_pools() -> Pools:
    """Return pools with nothing in them; the line of the number 0 is empty."""
    return defaultdict(Pool, lines=Pool({"": 0}))


REFUSED, AS_FIRST, AS_SECOND = -1, -2, -3
"""In place of the number of a dtype: there is none, or it is that of an operand."""

NOT_ASKED = (-1, -1)
"""In place of an answer, where Python computes and no policy is asked."""

MARK = "¤"
"""Stands before the letter of a mark; no text of explain has it."""

_DTYPES = sorted((*BY_NAME, *(c for c in BY_CODE if not c.endswith("*"))), key=len, reverse=True)


class Marker:
    """Puts marks into texts: for dtypes, and for phrases such as a policy's title."""

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self.phrases = {phrase: letter for phrase, letter in phrases.items() if phrase}
        words = "|".join(map(re.escape, (*self.phrases, *_DTYPES)))
        self.pattern = re.compile(rf"(?<![\w@])({words})(?!\w)")
        self.split = cache(self.pattern.split)  # a text is of many operands

    def __call__(self, text: str, dtypes: dict[str, str]) -> str:
        """Return a text with marks; ``dtypes`` has those of the names and codes of dtypes."""
        if MARK in text:
            raise ValueError(f"{text!r} has the sign that marks stand after")
        marks = dtypes | self.phrases
        first, *parts = self.split(text)  # a word, and what follows it, in turn
        words = [MARK + marks[word] if word in marks else word for word in parts[::2]]
        return first + "".join(map(str.__add__, words, parts[1::2]))


class Asked:
    """One policy, asked about all its operands.

    Its answers go into pools: texts with marks into ``lines``, tuples of their numbers, the two
    parts of cells, into ``entering`` and ``answering``, and tuples of the numbers of these into
    ``rows``.
    """

    def __init__(self, pools: Pools, policy: Policy, every: bool = True) -> None:
        self.pools, self.policy, self.shown = pools, policy, tuple(entries(policy, every))
        phrases = {policy.principle: "r", policy.title: "t", policy.name: "p", policy.refusal: "f"}
        self.mark = Marker(phrases)
        self.lines: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self.notes: dict[tuple[str, ...], tuple[int, ...]] = {}
        self.letters, self.named = cache(_letters), cache(_named)
        self.entering: dict[Hashable, int] = {}
        self.answering: dict[Hashable, int] = {}

    def table(self, question: Question) -> list[tuple[int, ...]]:
        """Return the numbers of rows, a row for each left operand: of how operands enter, and of
        what is answered. Of functions of one operand there is one row."""
        width, known = len(self.shown), dict[tuple[Entry, ...], tuple[int, int]]()
        alike = self._like_arrays(question.row.name)
        cells = []
        for operands in product(self.shown, repeat=question.arity):
            asked = tuple(alike.get(entry, entry) for entry in operands)
            if asked not in known:
                known[asked] = self._cell(question, asked)
            cells.append(known[asked])
        rows = (cells[at : at + width] for at in range(0, len(cells), width))
        numbers = ([self.pools["rows"][part] for part in zip(*row, strict=True)] for row in rows)
        return list(zip(*numbers, strict=True))

    def _like_arrays(self, name: str) -> dict[Entry, Entry]:
        """From each 0-d array to the array that all is said alike of: where the rule does not look
        at ranks, nor a note, and there is no other form, whose operands are written out."""
        policy = self.policy
        ranks = (note.ranks for note in policy.notes if isinstance(note, Note))
        noted = any((Rank.ARRAY in each) != (Rank.ZERO_D in each) for each in ranks)
        forms = {id(policy.rule(name, (), form)) for form in (Form.OPERATOR, Form.FUNCTION)}
        if policy.ranks or name in policy.ranked or policy.by_value or noted or len(forms) > 1:
            return {}
        arrays = {entry.dtype: entry for entry in self.shown if entry.rank is Rank.ARRAY}
        return {entry: arrays[entry.dtype] for entry in self.shown if entry.rank is Rank.ZERO_D}

    def _cell(self, question: Question, operands: tuple[Entry, ...]) -> tuple[int, int]:
        """Both parts of a cell."""
        if all(entry.rank is Rank.SCALAR for entry in operands):
            return NOT_ASKED
        entered = tuple(entry.entered for entry in operands)
        case = Case(question.row.name, question.form, entered, self.policy)
        key = *(entry.label for entry in operands), case.entering_by()
        if key not in self.entering:
            lines = self._lines(case.entering(), operands)
            self.entering[key] = self.pools["entering"][lines]
        return self.entering[key], self._answer(case, operands)

    def _answer(self, case: Case, operands: tuple[Entry, ...]) -> int:
        """The number of what the operation answers: one for operations of which the same is said,
        but for the name."""
        refused = isinstance(case.plan, Refusal)  # the words on a scalar that does not fit advise
        write = remedy(self.policy, case.name, case.seen, case.form) if refused else ""
        signature = "" if isinstance(case.decided, Refusal) else case.signature()
        others = case.otherwise(Form.FUNCTION), case.otherwise(Form.OPERATOR)
        texts = *others, signature, case.rules_answer.reason, write, *case.rule_said()
        reason = case.plan.reason if isinstance(case.plan, Refusal) else ""
        said = tuple([text and self.named(text, case.name) for text in (*texts, reason)])
        notes = self._notes(case, operands)
        asked = [e.label if e.rank is Rank.SCALAR else e.dtype for e in operands]
        key = said, case.ending_by(), notes, *asked
        if key not in self.answering:
            answer = (
                self._dtype(case.rules_answer.dtype, operands),
                int(case.rules_answer.weak),
                self._lines((*case.rule_said(), *case.ending()), operands, case.name),
                tuple(self._cast(cast, operands) for cast in case.casts()),
                *self._lines(texts[:5], operands, case.name),
                notes,
            )
            self.answering[key] = self.pools["answering"][answer]
        return self.answering[key]

    def _notes(self, case: Case, operands: tuple[Entry, ...]) -> tuple[int, ...]:
        """The numbers of the notes, which are about operands whatever the operation."""
        key = tuple([entry.label for entry in operands])
        if key not in self.notes:
            self.notes[key] = tuple(map(self.policy.notes.index, case.notes()))
        return self.notes[key]

    def _dtype(self, name: str | None, operands: tuple[Entry, ...]) -> int:
        """The number of a dtype, or which operand has it."""
        if name is None:
            return REFUSED
        dtypes = [entry.dtype.name for entry in operands]
        return (AS_FIRST, AS_SECOND)[dtypes.index(name)] if name in dtypes else NUMBERS[name]

    def _cast(self, cast: Cast, operands: tuple[Entry, ...]) -> tuple[int, ...]:
        """A cast: the operand and its target, and what it loses where the dtypes do not say so."""
        index = int(cast.operand.removeprefix("x")) - 1
        target = self._dtype(cast.target, operands)
        own = cast.source == operands[index].dtype.name
        return (index, target) if own else (index, target, *self._lines([str(cast)], operands))

    def _lines(
        self, texts: Iterable[str], operands: tuple[Entry, ...], name: str = ""
    ) -> tuple[int, ...]:
        """The numbers of lines, with marks for the operation's name, if it is given."""
        found, dtypes = [], tuple(entry.dtype.name for entry in operands)
        for text in texts:
            known = self.lines.get((text, name, dtypes)) if text else 0
            if known is None:
                made = self.mark(text, self.letters(tuple(entry.dtype for entry in operands)))
                made = self.named(made, name) if name else made
                known = self.lines[text, name, dtypes] = self.pools["lines"][made]
            found.append(known)
        return tuple(found)


def _named(text: str, name: str) -> str:
    """A text with a mark for the name of an operation."""
    return re.sub(rf"(?<![\w.{MARK}]){name}(?!\w)", f"{MARK}n", text) if name in text else text


def _letters(dtypes: tuple[DType, ...]) -> dict[str, str]:
    """The marks that stand for the names and codes of the operands' dtypes."""
    marks: dict[str, str] = {}
    for dtype, (name, code) in reversed(list(zip(dtypes, (("1", "3"), ("2", "4")), strict=False))):
        if not dtype.weak:
            marks |= {dtype.name: name, dtype.code: code}
    return marks


# -- casts -------------------------------------------------------------------------------------


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
    return [[_cast_answer(pools, policy, a, b) for b in dtypes] for a in dtypes]


def _values(pools: Pools, found: Iterable[CastValue]) -> int:
    """The number of some values, which are numbers of bits and how they read themselves."""
    return pools["values"][tuple(pools["cells"][v.bits, v.value] for v in found)]


def _cast_answer(pools: Pools, policy: Policy, source: DType, target: DType) -> int:
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
