"""Casts on a condition: of arrays of some dtypes only, where a line is passed with several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from promoarray.diagnostics.edits.answers import holds
from promoarray.diagnostics.edits.candidates import candidates
from promoarray.diagnostics.edits.occurrence import Asked
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy

Types = tuple[DType | None, ...]
"""The dtypes of all operands in one pass, None of a Python number."""

Conditions = tuple[tuple[int, tuple[DType | None, ...]], ...]
"""Operands, and the dtypes of each."""


class Rule(NamedTuple):
    """What an operand becomes, by the dtypes of a pass.

    Attributes
    ----------
    operand : int
        ``RESULT`` for that.
    dtype : DType
        What it becomes in the first pass that needs it.
    of : int or None
        The operand whose dtype it takes in every pass.
    cases : tuple of (Conditions, DType)
        Conditions on the dtypes of operands, each with what it becomes then.
    otherwise : DType or None
        What it becomes else; None if it stays.
    """

    operand: int
    dtype: DType
    of: int | None = None
    cases: tuple[tuple[Conditions, DType], ...] = ()
    otherwise: DType | None = None

    @property
    def operands(self) -> set[int]:
        """The operands whose dtypes it asks for."""
        asked = {index for conditions, _ in self.cases for index, _ in conditions}
        own = self.operand if self.of is None else self.of
        return asked | ({own} - {RESULT})

    def written(self, texts: Sequence[str], named: Callable[[DType], str]) -> str:
        """Write the dtype, of operands with some texts."""
        if self.of is not None:
            return f"{texts[self.of]}.dtype"
        text = named(self.otherwise) if self.otherwise else f"{texts[self.operand]}.dtype"
        for conditions, dtype in reversed(self.cases):
            when = " and ".join(_condition(texts[i], types, named) for i, types in conditions)
            text = f"{named(dtype)} if {when} else {text}"
        return text


def _condition(text: str, dtypes: tuple[DType | None, ...], named: Callable[[DType], str]) -> str:
    names = [named(dtype) for dtype in dtypes if dtype is not None]
    return f"{text}.dtype " + (f"in ({', '.join(names)})" if names[1:] else f"== {names[0]}")


Rules = dict[int, Rule]

RESULT = -1
"""Stands for the result among the operands."""


class _Row(NamedTuple):
    """What an operand has to become in a pass; its own dtype if it stays."""

    types: Types
    own: DType
    wanted: DType


def by_dtype(
    run: Policy, policies: Sequence[Policy], every: list[Asked], needing: list[Asked]
) -> Rules | str:
    """Return what each operand becomes by the dtypes of a pass, or why there is no such rule."""
    rules = _of_operands(run, policies, every, needing)
    if isinstance(rules, str) and (rule := _of_result(run, policies, every)):
        return {RESULT: rule}
    return rules


def _of_result(run: Policy, policies: Sequence[Policy], every: list[Asked]) -> Rule | None:
    """What the result becomes, by the dtype of one operand."""
    if every[0].form is Form.INPLACE:
        return None
    if not all(holds(run, policies, asked, {}, asked.wanted) for asked in every):
        return None
    first = every[0].wanted
    for index in range(len(every[0].operands)):
        by_type: dict[DType | None, set[DType]] = {}
        for asked in every:
            by_type.setdefault(_types(asked)[index], set()).add(asked.wanted)
        if None in by_type or any(len(wanted) > 1 for wanted in by_type.values()):
            continue
        became = {dtype: wanted.pop() for dtype, wanted in by_type.items()}
        if all(dtype is wanted for dtype, wanted in became.items()):
            return Rule(RESULT, first, index)
        *targets, last = dict.fromkeys(became.values())
        cases = tuple(
            (((index, tuple(d for d, wanted in became.items() if wanted is target)),), target)
            for target in targets
        )
        return Rule(RESULT, first, None, cases, last)
    return None


def _of_operands(
    run: Policy, policies: Sequence[Policy], every: list[Asked], needing: list[Asked]
) -> Rules | str:
    chosen: list[tuple[Asked, dict[int, DType]]] = []
    for asked in every:
        casts = _arrays_alone(run, policies, asked) if asked in needing else {}
        if casts is None:
            return "it is passed with several dtypes, and no cast is right for all of them"
        chosen.append((asked, casts))
    rules: Rules = {}
    for index in sorted({i for _, casts in chosen for i in casts}):
        rows = [
            _Row(
                _types(asked),
                asked.operands[index].type,
                casts.get(index, asked.operands[index].type),
            )
            for asked, casts in chosen
            if asked.operands[index].rank is not Rank.SCALAR
        ]
        rule = _rule(index, [*dict.fromkeys(rows)])
        if rule is None:
            return "it is passed with several dtypes, which need casts of their own"
        rules[index] = rule
    return rules


def _arrays_alone(run: Policy, policies: Sequence[Policy], asked: Asked) -> dict[int, DType] | None:
    """The first casts of arrays after which all answer alike."""
    for each in candidates(run, policies, asked, {}):
        if each.casts and not each.result and not {*dict(each.casts)} & {*asked.scalars}:
            return dict(each.casts)
    return None


def _types(asked: Asked) -> Types:
    return tuple(None if o.rank is Rank.SCALAR else o.type for o in asked.operands)


def _rule(index: int, rows: list[_Row]) -> Rule | None:
    needed = [row for row in rows if row.wanted is not row.own]
    first = needed[0].wanted
    others = [i for i in range(len(rows[0].types)) if i != index]
    if (cases := _cases(rows, (index,))) is not None:
        return Rule(index, first, None, cases)
    for other in others:
        if all(row.wanted is row.types[other] for row in rows):
            return Rule(index, first, other)
    for other in others:
        for asked in ((other,), (index, other)):
            if (cases := _cases(rows, asked)) is not None:
                return Rule(index, first, None, cases)
    return None


def _cases(rows: list[_Row], asked: tuple[int, ...]) -> tuple[tuple[Conditions, DType], ...] | None:
    """Conditions on some operands' dtypes that say what becomes of each row; None if none do."""
    found = []
    for target in dict.fromkeys(row.wanted for row in rows if row.wanted is not row.own):
        needed = {_key(row, asked) for row in rows if row.wanted is target is not row.own}
        kept = {_key(row, asked) for row in rows if row.wanted is not target}
        if needed & kept or any(None in key for key in needed):
            return None
        conditions = tuple(
            (i, tuple(dict.fromkeys(key[n] for key in sorted(needed, key=str))))
            for n, i in enumerate(asked)
        )
        if _matching(conditions, kept):
            return None  # of two operands whose dtypes are not free of each other
        found.append((conditions, target))
    return tuple(found)


def _key(row: _Row, asked: Iterable[int]) -> Types:
    return tuple(row.types[i] for i in asked)


def _matching(conditions: Conditions, keys: set[Types]) -> bool:
    return any(
        all(dtype in types for dtype, (_, types) in zip(key, conditions, strict=True))
        for key in keys
    )
