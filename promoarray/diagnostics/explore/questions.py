"""Questions of the page: operations as ``explain`` takes them, and the operands of each policy."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from promoarray.dtypes import BY_NAME, WEAK, DType, Kind
from promoarray.operations import OPERATIONS, Form, Operation
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded

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
    """An operand that the page shows.

    Attributes
    ----------
    label : str
        How ``explain`` writes it, such as ``"int8"``, ``"int8[]"`` or ``"2.5"``.
    dtype : DType
    rank : Rank
    entered : object
        What is asked about: the Operand a dtype stands for, or a Python scalar.
    """

    label: str
    dtype: DType
    rank: Rank
    entered: Any


def questions() -> tuple[Question, ...]:
    """Return every operation: operators first, then functions of two operands and of one."""
    rows = OPERATIONS.values()
    operators = [row for row in rows if row.symbol and row.arity == 2]
    functions = [Question(row.name, row, Form.FUNCTION) for row in rows if row not in operators]
    return (
        *(Question(row.symbol, row, Form.OPERATOR) for row in operators),
        *sorted(functions, key=lambda q: q.arity == 1),
    )


def held(policy: Policy) -> list[DType]:
    """Return the dtypes that a policy takes, also those it holds as another, in order."""
    return sorted({*policy.dtypes, *policy.canonical}, key=ORDER.__getitem__)


def entries(policy: Policy) -> Iterator[Entry]:
    """Yield the operands that a policy is asked about; arrays with axes come first."""
    ranks = (Rank.ARRAY, Rank.ZERO_D) if policy.ranks or policy.ranked else (Rank.ARRAY,)
    for rank in ranks:
        for dtype in held(policy):
            operand = Operand(dtype, rank)
            yield Entry(str(operand), dtype, rank, operand)
    for value in SCALARS:
        yield Entry(worded(value), WEAK[type(value)], Rank.SCALAR, value)


class Pool(dict[Hashable, int]):
    """Things that are stored once, each named by its number; it gets one when it is first seen."""

    def __missing__(self, item: Hashable) -> int:
        self[item] = number = len(self)
        return number
