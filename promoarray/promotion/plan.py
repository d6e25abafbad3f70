"""Operands, plans and the rules that make one of the other.

What a policy refuses is a ``Refusal`` with its reason, which costs nothing to ask for; the
dispatcher turns it into an error that says what to write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.operations import Family
from promoarray.promotion.rules import PromotionRule, fold

if TYPE_CHECKING:
    from promoarray.promotion.policy import Policy


INTEGERS = frozenset({Kind.INT, Kind.UINT})
BITS = INTEGERS | {Kind.BOOL}
REALS = INTEGERS | {Kind.FLOAT}
ORDERED = BITS | REALS
INEXACT = frozenset({Kind.FLOAT, Kind.COMPLEX})
NUMBERS = REALS | {Kind.COMPLEX}


class Rank(Enum):
    """What an operand is apart from its dtype."""

    SCALAR = "Python scalar"
    ZERO_D = "0-d array"
    ARRAY = "array"


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


class Decomposition(NamedTuple):
    """Two operations in place of one, the first of them rounded to the dtype of the result.

    Attributes
    ----------
    first : str
        The operation on one operand, whose place its result takes.
    operand : int
        Which operand, counted from 0.
    then : str
        The operation on all of them.
    """

    first: str
    operand: int
    then: str


class Plan(NamedTuple):
    """What one operation does: cast the inputs, compute, label the result.

    Attributes
    ----------
    inputs : tuple of DType
        What each operand becomes; never weak.
    compute : DType or None
        What the kernel runs in: float32 for bfloat16 + bfloat16. Never weak. None where it takes
        the inputs as they are: NumPy compares integers of both signs exactly.
    result : DType
        What the result is called; weak where JAX's result is weakly typed.
    more : tuple of DType
        The same of the further results of an operation that has several.
    detour : Detour or None
        What is computed in place of the operation itself.
    usual : bool
        Whether the usual kernel computes it even where the policy has one of its own.
    """

    inputs: tuple[DType, ...]
    compute: DType | None
    result: DType
    extra_results: tuple[DType, ...] = ()
    decomposition: Decomposition | None = None
    standard_kernel: bool = False


class Refusal(NamedTuple):
    """Why there is no plan.

    Attributes
    ----------
    reason : str
    error : Exception or None
        What to raise where it is the value of a scalar that is refused, and not the dtypes.
    """

    reason: str
    error: Exception | None = None


class Decision(NamedTuple):
    """A plan for these very values.

    Attributes
    ----------
    plan : Plan
    values : tuple
        The operands, every Python scalar as a value that the input it becomes can hold. An
        infinity in an integer dtype is an int beyond it, compared as the number it is.
    """

    plan: Plan
    values: tuple[Any, ...]


OperandTypes = Callable[["Policy", tuple[Operand, ...]], "tuple[DType, ...] | Refusal"]
OperationRule = Callable[["Policy", str, tuple[Operand, ...]], "Plan | Refusal"]
TypeMap = Callable[[DType], "DType | None"]


def own_types(policy: Policy, operands: tuple[Operand, ...]) -> tuple[DType, ...]:
    """Enter operands as their own types: weak scalars are rows of the rule."""
    return tuple(operand.type for operand in operands)


def same(dtype: DType) -> DType:
    """Leave a dtype as it is."""
    return dtype


def to_bool(dtype: DType) -> DType:
    """Answer bool whatever was compared."""
    return dt.bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """The usual operation rule: enter, promote, admit, compute, label.

    Attributes
    ----------
    enter : Enter or None
        In place of the policy's.
    promote : Rule or None
        In place of the policy's.
    admit : container of Kind or DType, or None
        What the common dtype must be; None admits everything.
    compute : callable
        From the common dtype to the one computed in; None refuses.
    cast : callable or None
        From an operand's index, the operand and the dtype computed in to what the operand is cast
        to on its way there; None where that is the dtype computed in.
    detour : callable or None
        From the operands to the detour the plan takes, if any.
    result : callable
        From the dtype computed in to that of the result.
    more : tuple of callables
        The same for the further results of an operation that has several.
    usual : bool
        Whether the usual kernel computes with a Python scalar on the right.
    why : str
        What to say when the operation does not admit the common dtype.
    note : str
        One sentence for ``explain``: what this rule adds to promotion.
    """

    operand_types: OperandTypes | None = None
    promote: PromotionRule | None = None
    admit: frozenset[Kind | DType] | None = None
    compute: TypeMap = same
    cast: Callable[[int, Operand, DType], DType] | None = None
    decomposition: Callable[[tuple[Operand, ...]], Decomposition | None] | None = None
    result: TypeMap = same
    extra_results: tuple[TypeMap, ...] = ()
    standard_kernel: bool = False
    why: str = ""
    note: str = ""

    def __call__(self, policy: Policy, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        entered = (self.operand_types or policy.operand_types)(policy, operands)
        if isinstance(entered, Refusal):
            return entered
        common = fold(self.promote or policy.promote, entered)
        if common is None:
            own = self.note or f"{name} promotes nothing: it takes one dtype"
            return Refusal(own if self.promote else policy.refusal)
        computed = self.compute(common) if self.admits(common) else None
        results = (
            () if computed is None else [s(computed) for s in (self.result, *self.extra_results)]
        )
        if computed is None or None in results:
            why = self.why or f"{name} is not defined for {common.kind.words} dtypes"
            return Refusal(f"{why} (here {policy.strong(common).name})")
        result, *more = filter(None, results)
        plan = policy.make_plan(name, computed, result, len(operands), *more)
        if self.cast is not None:
            kept = zip(operands, plan.inputs, strict=True)
            plan = plan._replace(inputs=tuple(self.cast(i, *each) for i, each in enumerate(kept)))
        detour = self.decomposition(operands) if self.decomposition is not None else None
        usual = self.standard_kernel and operands[-1].rank is Rank.SCALAR
        return (
            plan._replace(decomposition=detour, standard_kernel=usual) if detour or usual else plan
        )

    def admits(self, dtype: DType) -> bool:
        """Whether the operation takes operands of this common dtype."""
        return self.admit is None or dtype in self.admit or dtype.kind in self.admit


def refuse(why: str) -> OperationRule:
    """Return a rule that refuses every operand."""

    def rule(policy: Policy, name: str, operands: tuple[Operand, ...]) -> Refusal:
        return Refusal(why)

    return rule


MOVES = frozenset(
    {
        *(Family.WHERE, Family.CONCAT, Family.MOVE),
        *(Family.SORT, Family.INDEX, Family.UNIQUE, Family.ISIN),
    }
)
"""Operations that move or compare values and compute nothing."""


def accumulator(dtype: DType) -> DType:
    """The dtype to compute in: float32 (complex64, int8) for anything narrower, narrowed once.

    Rounding the float32 result of + - * / and sqrt to a format of at most 11 significant bits is
    correctly rounded, because float32 has more than twice as many plus two (Figueroa 1995). For
    2- and 4-bit integers the low bits of the 8-bit result are the low bits of the exact one.
    """
    if dtype.kind is Kind.FLOAT and dtype.bits < 32:
        return dt.float32
    if dtype is dt.complex32:
        return dt.complex64
    if dtype.kind in INTEGERS and dtype.bits < 8:
        return dt.int8 if dtype.kind is Kind.INT else dt.uint8
    return dtype
