"""Operands, plans and refusals: the questions put to a policy, and its answers.

What a policy refuses is a ``Refusal`` with its reason, which costs nothing to ask for; the
dispatcher turns it into an error that says what to write.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, Family


class Rank(Enum):
    """What an operand is apart from its dtype."""

    SCALAR = "Python scalar"
    ZERO_D = "0-d array"
    ARRAY = "array"

    # Operands are keys of plans, and an Enum's own hash is a call of Python's.
    __hash__ = object.__hash__


class Operand(NamedTuple):
    """What a policy sees of an operand.

    Attributes
    ----------
    type : DType
        A Python scalar's is weak; so is that of an array JAX calls weakly typed.
    rank : Rank
    value : object, optional
        The value of a scalar or 0-d array, given only to policies that look at values.
    """

    type: DType
    rank: Rank = Rank.ARRAY
    value: Any = None

    def __str__(self) -> str:
        return (
            f"{self.type.name}[]"
            if self.rank is Rank.ZERO_D
            else _PLAIN.get(self.type, self.type.name)
        )


_PLAIN = {
    dt.weak_bool: "Python bool",
    dt.weak_int: "Python int",
    dt.weak_float: "Python float",
    dt.weak_complex: "Python complex",
}


class _Arrays(dict[DType, Operand]):
    def __missing__(self, dtype: DType) -> Operand:
        return self.setdefault(dtype, Operand(dtype))


ARRAYS = _Arrays()
"""Arrays that have axes, as policies see them."""


class Decomposition(NamedTuple):
    """Two operations in place of one, the first of them rounded to the dtype it has by itself."""

    first: str  # the operation on one operand, whose place its result takes
    operand: int  # which operand, counted from 0
    then: str  # the operation on all of them


class Plan(NamedTuple):
    """What one operation does: cast the inputs, compute, store the result.

    Attributes
    ----------
    inputs : tuple of DType
        What each operand becomes; never weak.
    compute : DType or None
        What the kernel runs in: float32 for bfloat16 + bfloat16. Never weak. None where it takes
        the inputs as they are: NumPy compares integers of both signs exactly.
    result : DType
        The dtype of the result; weak where JAX's result is weakly typed.
    extra_results : tuple of DType
        The dtypes of the further results of an operation that has several.
    decomposition : Decomposition or None
        The operations that are computed in place of this one.
    kernel : str
        The kernel that computes it, where the operands decide; "" where the policy does.
    """

    inputs: tuple[DType, ...]
    compute: DType | None
    result: DType
    extra_results: tuple[DType, ...] = ()
    decomposition: Decomposition | None = None
    kernel: str = ""


class Refusal(NamedTuple):
    """Why there is no plan.

    Attributes
    ----------
    why : str
    error : Exception or None
        What to raise where it is the value of a scalar that is refused, and not the dtypes.
    common : DType or None
        The operands' common dtype, where that is what is refused.
    kernel : bool
        Whether nothing but a kernel is missing, which is no rule of promotion.
    unknown : bool
        Whether nothing is known of it, so that it is not computed.
    """

    why: str
    error: Exception | None = None
    common: DType | None = None
    kernel: bool = False
    unknown: bool = False

    @property
    def reason(self) -> str:
        """Why, with the dtype it is about."""
        return self.why if self.common is None else f"{self.why} (here {self.common.name})"


class Decision(NamedTuple):
    """A plan for these very values."""

    plan: Plan
    # The operands, every Python scalar as a value that the input it becomes can hold. An infinity
    # in an integer dtype is an int beyond it, compared as the number it is.
    values: tuple[Any, ...]


MOVES = frozenset(
    {
        *(Family.WHERE, Family.CONCAT, Family.MOVE),
        *(Family.SORT, Family.INDEX, Family.UNIQUE, Family.ISIN),
    }
)
"""Operations that move or compare values and compute nothing."""

KEEPS_BITS = frozenset(name for name, row in OPERATIONS.items() if row.family in MOVES)
KEEPS_BITS |= {"nextafter"}  # a step of this format
"""Operations that see the bits of their operands, and so are in no wider dtype."""


def accumulator(dtype: DType) -> DType:
    """The dtype to compute in: float32 (complex64, int8) for anything narrower, narrowed once.

    Rounding the float32 result of + - * / and sqrt to a format of at most 11 significant bits is
    correctly rounded, because float32 has more than twice as many plus two (Figueroa 1995). For
    2- and 4-bit integers the low bits of the 8-bit result are the low bits of the exact one.
    """
    if dtype is dt.complex32:
        return dt.complex64
    if dtype.bits >= 32:
        return dtype
    if dtype.kind is Kind.FLOAT:
        return dt.float32
    if dtype.kind in INTEGERS and dtype.bits < 8:
        return dt.int8 if dtype.kind is Kind.INT else dt.uint8
    return dtype
