"""What the page asks: operations as ``explain`` takes them, and the operands of each policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from promoarray.dtypes import CONCRETE, WEAK, DType, Kind, string
from promoarray.operations import OPERATIONS, Form, Operation
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded

SCALARS: tuple[bool | int | float | complex, ...] = (True, 1, -1, 300, 2.5, 1e40, 1j)
"""One Python scalar of each type, and those that a common dtype cannot hold."""


class Question(NamedTuple):
    """An operation in the form in which the page shows it.

    Attributes
    ----------
    op : str
        What ``explain`` takes: an operator, or the name of a function.
    row : Operation
    form : Form
    """

    op: str
    row: Operation
    form: Form

    @property
    def arity(self) -> int:
        """How many operands the page shows: two where any number may be given."""
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
    """Every operation: operators first, then functions of two operands and of one."""
    written = [(row, bool(row.symbol) and row.arity == 2) for row in OPERATIONS.values()]
    operators = [Question(row.symbol, row, Form.OPERATOR) for row, symbol in written if symbol]
    functions = [Question(row.name, row, Form.FUNCTION) for row, symbol in written if not symbol]
    return (*operators, *sorted(functions, key=lambda q: q.arity == 1))


def _in_order() -> dict[DType, int]:
    """The dtypes by kind, then by width: the order of rows and columns."""
    kinds = list(Kind)
    every = sorted((*CONCRETE, string), key=lambda d: (kinds.index(d.kind), d.bits))
    return {dtype: index for index, dtype in enumerate(every)}


ORDER = _in_order()


def held(policy: Policy) -> list[DType]:
    """The dtypes that a policy takes, those included that it holds as another, in order."""
    return sorted({*policy.dtypes, *policy.canonical}, key=ORDER.__getitem__)


def entries(policy: Policy) -> Iterator[Entry]:
    """The operands that a policy is asked about."""
    dtypes = held(policy)
    ranks = (Rank.ARRAY, Rank.ZERO_D) if policy.ranks or policy.ranked else (Rank.ARRAY,)
    for rank in ranks:
        for dtype in dtypes:
            operand = Operand(dtype, rank)
            yield Entry(str(operand), dtype, rank, operand)
    for value in SCALARS:
        yield Entry(worded(value), WEAK[type(value)], Rank.SCALAR, value)


def pair_of_scalars(*operands: Entry) -> bool:
    """Whether Python itself computes: no array takes part."""
    return all(entry.rank is Rank.SCALAR for entry in operands)
