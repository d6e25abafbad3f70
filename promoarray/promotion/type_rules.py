"""The operation rule most operations go by, and the small functions that rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INEXACT, INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, STANDS_FOR
from promoarray.promotion.answers import NO_KERNEL, ON_A_GPU
from promoarray.promotion.plan import Decomposition, Operand, Plan, Rank, Refusal
from promoarray.promotion.rules import PromotionRule, fold

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperandTypes, OperationRule, PolicyLike

TypeMap = Callable[[DType], "DType | None"]


def own_types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...]:
    """Count operands as their own types: weak scalars are dtypes the rule knows."""
    return tuple([operand.type for operand in operands])


def same(dtype: DType) -> DType:
    """Leave a dtype as it is."""
    return dtype


def to_bool(dtype: DType) -> DType:
    """Answer bool whatever was compared."""
    return dt.bool


def integers_by_scalar(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Take the standard kernel of integers with a Python scalar on the right."""
    return name if operands[-1].rank is Rank.SCALAR and computed.kind in INTEGERS else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """The rule most operations go by: operand types, promote, admit, compute, result."""

    # What each operand counts as, in place of the policy's.
    operand_types: OperandTypes | None = None
    promote: PromotionRule | None = None  # in place of the policy's
    # What the common dtype must be; None admits everything.
    admit: frozenset[Kind | DType] | None = None
    compute: TypeMap = same  # from the common dtype to the one computed in; None refuses
    # From an operand's index, the operand and the dtype computed in to what the operand is cast to
    # on its way there; None where that is the dtype computed in.
    cast: Callable[[int, Operand, DType], DType] | None = None
    # From the operands to the operations computed in place of this one, if any. It tells Python
    # scalars from arrays, and arrays of no axes from no others.
    decomposition: Callable[[tuple[Operand, ...]], Decomposition | None] | None = None
    result: TypeMap = same  # from the dtype computed in to that of the result
    # As ``result``, for the further results of an operation that has several.
    extra_results: tuple[TypeMap, ...] = ()
    # From the operation's name, the operands and the dtype computed in to the kernel, where the
    # operands decide; "" where the policy does. It tells arrays from each other no more than
    # ``decomposition`` does.
    kernel: Callable[[str, tuple[Operand, ...], DType], str] | None = None
    why: str = ""  # what to say when the operation does not admit the common dtype
    note: str = ""  # one sentence for ``explain``: what this rule adds to promotion

    def __call__(
        self, policy: PolicyLike, name: str, operands: tuple[Operand, ...]
    ) -> Plan | Refusal:
        own = self.operand_types or policy.operand_types, self.promote or policy.promote
        common = common_dtype(policy, *own, operands)
        if isinstance(common, Refusal):
            return common
        if common is None:
            said = self.note or f"{name} promotes nothing: it takes one dtype"
            return Refusal(said if self.promote else policy.refusal)
        types = self._types(common)
        if types is None:
            return self._not_admitted(policy, name, policy.strong(common))
        computed, result, *more = types
        plan = policy.make_plan(name, computed, result, len(operands), *more)
        computed = plan.inputs[0]
        if self.cast is not None:
            inputs = tuple([self.cast(i, operand, computed) for i, operand in enumerate(operands)])
            plan = plan if inputs == plan.inputs else plan._replace(inputs=inputs)
        if self.decomposition is not None and (parts := self.decomposition(operands)):
            plan = plan._replace(decomposition=parts)
        if self.kernel is not None and (kernel := self.kernel(name, operands, computed)):
            plan = plan._replace(kernel=kernel)
        return plan

    def _types(self, common: DType) -> tuple[DType, ...] | None:
        """What the operation computes in and what it returns for a common dtype; None where it
        refuses."""
        computed = self.compute(common) if self.admit is None or self.admits(common) else None
        result = self.result(computed) if computed is not None else None
        if computed is None or result is None:
            return None
        if not self.extra_results:
            return computed, result
        extra = [step(computed) for step in self.extra_results]
        return (computed, result, *filter(None, extra)) if all(extra) else None

    def _not_admitted(self, policy: PolicyLike, name: str, common: DType) -> Refusal:
        """Say that all dtypes of a kind are refused, or that this one is."""
        if self.why:
            return Refusal(self.why, common=common)
        if any(self._types(d) for d in policy.dtypes if d.kind is common.kind):
            return Refusal(f"{name} is not defined for {common.name}")
        return Refusal(f"{name} is not defined for {common.kind.words} dtypes", common=common)

    def admits(self, dtype: DType) -> bool:
        """Whether the operation takes operands of this common dtype."""
        return self.admit is None or dtype.kind in self.admit or dtype in self.admit


PROMOTING = TypeRule()
"""Promotes, and nothing more."""


def in_own_dtype(rule: OperationRule) -> OperationRule:
    """Compute floats of 16 bits in themselves, so that each step rounds to them."""

    def narrow(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        if isinstance(plan, Refusal) or plan.result.kind is not Kind.FLOAT:
            return plan
        return plan._replace(compute=plan.result)

    return narrow


def common_dtype(
    policy: PolicyLike,
    operand_types: OperandTypes,
    promote: PromotionRule,
    operands: tuple[Operand, ...],
) -> DType | Refusal | None:
    """What operands promote to; None where they do not."""
    types = operand_types(policy, operands)
    return types if isinstance(types, Refusal) else fold(promote, types)


def refuse(why: str, *, unknown: bool = False) -> OperationRule:
    """Return a rule that refuses every operand."""

    def rule(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Refusal:
        return Refusal(why, unknown=unknown)

    return rule


# --- Functions that follow no promotion: what the framework answered for them ---------------------


def recorded(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Look up what the framework answered when it was asked; else go by the like operation."""
    answers, operand = policy.answers, operands[0]
    if operand.rank is not Rank.SCALAR:
        operand = operand._replace(type=policy.strong(operand.type))
    cell = None if answers is None else answers.cell(name, operand)
    if answers is None or cell is None:
        return _stand_in(policy, name, operands)
    narrow = operand.type in ON_A_GPU and cell.text == NO_KERNEL
    if narrow:  # a device has the kernel, and the dtype stays
        cell = answers.cell(name, Operand(dt.float32)) or cell
    if cell.refused:
        why = answers.without_kernel(policy.title, name, operand.type)
        return why or Refusal(f"{policy.title} takes no {operand.type.name} in {name}")
    first, *more = (operand.type if narrow and d is dt.float32 else d for d in cell.results)
    raised = first.kind in INEXACT and operand.type.kind not in INEXACT
    return policy.make_plan(name, first if raised else operand.type, first, 1, *more)


def _stand_in(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Go by the operation that a function stands for, which may be one of two arrays."""
    stand_in = STANDS_FOR[name]
    plan = policy.plan(stand_in, operands * (OPERATIONS[stand_in].arity or 1))
    if isinstance(plan, Refusal):
        return plan
    made = policy.strong(plan.result)
    result = made.complexified if name in _OF_PARTS else plan.result
    if result is None or result not in policy.dtypes:
        return Refusal(f"{policy.title} has no complex dtype of two {made.name}")
    return plan._replace(inputs=plan.inputs[: len(operands)], result=result)


_OF_PARTS = frozenset({"complex", "polar", "view_as_complex"})
"""Functions that make complex numbers of two real ones each."""


# --- Operands that must be arrays, whatever their dtypes ------------------------------------------
# An operator that takes no Python scalar refuses it. promoarray's functions take scalars as the
# array API's do, so a framework's function that takes none is no rule about dtypes: the operator's
# rule answers then, and ``explain`` tells what the function takes.


class Arrays(Enum):
    """Which operands are to be arrays; the value says what is refused."""

    ALL = "takes no Python scalar"
    FIRST = "takes no Python scalar as its first operand"
    SOME = "takes no Python scalars alone"

    def admit(self, operands: Sequence[Operand]) -> bool:
        """Whether these operands will do."""
        arrays = [operand.rank is not Rank.SCALAR for operand in operands]
        if self is Arrays.FIRST:
            return arrays[0]
        return all(arrays) if self is Arrays.ALL else any(arrays)

    def refusal(self, title: str, name: str, operands: Sequence[Operand]) -> Refusal | None:
        """Return why these operands will not do, None if they will."""
        return None if self.admit(operands) else Refusal(f"{name} of {title} {self.value}")


def with_arrays(which: Arrays, rule: OperationRule) -> OperationRule:
    """Make the rule of an operator that wants arrays."""

    def checked(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        return which.refusal(policy.title, name, operands) or rule(policy, name, operands)

    return checked
