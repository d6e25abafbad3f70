"""Casts on a condition: of arrays of some dtypes only, where a line is passed with several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from promoarray.diagnostics.edits.answers import Casts, Port, holds
from promoarray.diagnostics.edits.candidates import candidates
from promoarray.diagnostics.edits.occurrence import Asked
from promoarray.diagnostics.edits.place import Unedited
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Rank

RESULT = -1
"""Stands for the result among the operands."""

Types = tuple[DType | None, ...]
"""The dtypes of operands in one pass, None of a Python number."""

Condition = tuple[tuple[int, Types], ...]
"""Operands, and the dtypes of each."""

Cases = tuple[tuple[Condition, DType], ...]
"""What an operand becomes under which condition."""


class Rule(NamedTuple):
    """What an operand becomes, by the dtypes of a pass."""

    operand: int  # ``RESULT`` for that
    dtype: DType  # what it becomes in the first pass that needs it
    of: int | None = None  # the operand whose dtype it takes in every pass
    cases: Cases = ()
    otherwise: DType | None = None  # what it becomes else; None if it stays

    @property
    def operands(self) -> set[int]:
        """The operands whose text is written."""
        asked = {index for condition, _ in self.cases for index, _ in condition}
        return (asked | {self.operand, self.operand if self.of is None else self.of}) - {RESULT}

    def written(self, texts: Sequence[str], named: Callable[[DType], str]) -> str:
        """Write the dtype, of operands with some texts."""
        if self.of is not None:
            return f"{texts[self.of]}.dtype"
        text = named(self.otherwise) if self.otherwise else f"{texts[self.operand]}.dtype"
        for condition, dtype in reversed(self.cases):
            when = " and ".join(_condition(texts[i], types, named) for i, types in condition)
            text = f"{named(dtype)} if {when} else {text}"
        return text


def _condition(text: str, types: Types, named: Callable[[DType], str]) -> str:
    names = [named(dtype) for dtype in types if dtype is not None]
    return f"{text}.dtype " + (f"in ({', '.join(names)})" if names[1:] else f"== {names[0]}")


class _Row(NamedTuple):
    """What an operand has to become in a pass; its own dtype if it stays."""

    types: Types
    own: DType | None
    wanted: DType


def by_dtype(port: Port, every: list[Asked], needing: list[Asked]) -> list[Rule]:
    """Return what operands, or the result, become by the dtypes of a pass.

    Raises
    ------
    Unedited
        If there is no such rule.
    """
    try:
        return _of_operands(port, every, needing)
    except Unedited:
        each = (holds(port, asked, Casts(result=asked.wanted)) for asked in every)
        rows = [_Row(_types(asked), None, asked.wanted) for asked in every]
        if every[0].form is Form.INPLACE or not all(each) or not (rule := _rule(RESULT, rows)):
            raise
        return [rule]


def _of_operands(port: Port, every: list[Asked], needing: list[Asked]) -> list[Rule]:
    chosen: list[tuple[Asked, Casts]] = []
    for asked in every:
        casts: Casts | None = Casts()
        if asked in needing:
            found = (e for e in candidates(port, asked, {}) if _of_arrays(asked, e))
            casts = next(found, None)
        if casts is None:
            raise Unedited("it is passed with several dtypes, and no cast is right for all of them")
        chosen.append((asked, casts))
    rules = []
    for index in sorted({i for _, casts in chosen for i in casts.operands}):
        rows = [
            _Row(_types(asked), own := asked.operands[index].type, casts.operands.get(index, own))
            for asked, casts in chosen
            if asked.operands[index].rank is not Rank.SCALAR
        ]
        rule = _rule(index, rows)
        if rule is None:
            raise Unedited("it is passed with several dtypes, which need casts of their own")
        rules.append(rule)
    return rules


def _of_arrays(asked: Asked, casts: Casts) -> bool:
    return bool(casts.operands) and not casts.result and not {*casts.operands} & {*asked.scalars}


def _types(asked: Asked) -> Types:
    return tuple(None if o.rank is Rank.SCALAR else o.type for o in asked.operands)


def _rule(index: int, rows: list[_Row]) -> Rule | None:
    first = next(row.wanted for row in rows if row.wanted is not row.own)
    own = () if index == RESULT else (index,)
    others = [i for i in range(len(rows[0].types)) if i != index]
    if own and (cases := _cases(rows, own)) is not None:
        return Rule(index, first, None, cases)
    for other in others:
        if all(row.wanted is row.types[other] for row in rows):
            return Rule(index, first, other)
    for other in others:
        for asked in dict.fromkeys(((other,), (*own, other))):
            if (cases := _cases(rows, asked)) is None:
                continue
            if own:
                return Rule(index, first, None, cases)
            return Rule(index, first, None, cases[:-1], cases[-1][1])
    return None


def _cases(rows: list[_Row], asked: tuple[int, ...]) -> Cases | None:
    """Conditions on some operands' dtypes that say what becomes of each row; None if none do."""
    found = []
    for target in dict.fromkeys(row.wanted for row in rows if row.wanted is not row.own):
        needed = {_key(row, asked) for row in rows if row.wanted is target is not row.own}
        kept = {_key(row, asked) for row in rows if row.wanted is not target}
        if needed & kept or any(None in key for key in needed):
            return None
        condition = tuple(
            (i, tuple(dict.fromkeys(key[n] for key in sorted(needed, key=str))))
            for n, i in enumerate(asked)
        )
        if any(_matches(key, condition) for key in kept):
            return None  # of two operands whose dtypes are not free of each other
        found.append((condition, target))
    return tuple(found)


def _key(row: _Row, asked: Iterable[int]) -> Types:
    return tuple(row.types[i] for i in asked)


def _matches(key: Types, condition: Condition) -> bool:
    return all(dtype in types for dtype, (_, types) in zip(key, condition, strict=True))
