"""One operation on its operands, as a policy sees it, and what the policy answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from promoarray.core import host
from promoarray.core.array_base import storage_dtype
from promoarray.core.cast import scalar
from promoarray.core.operands import operand_of
from promoarray.diagnostics.explain.report import Answer, Cast
from promoarray.dtypes import INTEGERS, WEAK, DType
from promoarray.operations import Form, operation
from promoarray.parray import PArray
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.overrides import ChangedOperation
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule


class Case:
    """One operation on its operands under one policy.

    Attributes
    ----------
    name : str
    form : Form
    entered : tuple
        Arrays, Python scalars, and the Operands that dtypes stand for.
    policy : Policy
    supposed : bool
        Whether the arrays were made under another policy.
    seen : tuple of Operand
        What the policy sees of them.
    plan : Plan or Refusal
        What it decides by their dtypes.
    decided : Decision or Refusal
        The same by the values of Python scalars.
    """

    def __init__(
        self,
        name: str,
        form: Form,
        entered: tuple[Any, ...],
        policy: Policy,
        *,
        supposed: bool = False,
        seen: tuple[Operand, ...] | None = None,
    ) -> None:
        self.name = name
        self.form = form
        self.entered = entered
        self.policy = policy
        self.inplace = form is Form.INPLACE
        self.supposed = supposed
        self.seen = tuple(map(self.described, entered)) if seen is None else seen
        self.plan = self.planned(form)
        self.decided = policy.decided(name, self.plan, self.seen, entered)
        self._answer: Answer | None = None
        self._by_value: tuple[Operand, ...] | None = None
        self._rule: OperationRule | None = None

    # -- what is asked ----------------------------------------------------------------------------

    def described(self, x: Any) -> Operand:
        """What the policy sees; arrays it would have made itself are of dtypes that it holds."""
        policy = self.policy
        if not isinstance(x, Operand):
            operand = operand_of(x, policy)
            if not self.supposed:
                return operand
        else:
            operand = x if policy.by_value else x._replace(value=None)
        return operand._replace(type=policy.canonical.get(operand.type, operand.type))

    def shown(self, index: int) -> str:
        """An operand as it stands in the expression."""
        x, seen = self.entered[index], self.seen[index]
        if isinstance(x, Operand):
            return str(x)
        if type(x) in WEAK:
            return worded(x)
        if isinstance(x, PArray) and x.weak_type:
            return f"{x.dtype} (weak)"
        return str(Operand(seen.type, seen.rank))

    def source(self, index: int) -> tuple[DType, str]:
        """The dtype an operand has before any cast, and how to call it."""
        x = self.entered[index]
        if type(x) in WEAK:
            return WEAK[type(x)], f"Python {type(x).__name__} {worded(x).removeprefix('int ')}"
        dtype = self.seen[index].type if isinstance(x, Operand) else storage_dtype(x)
        return dtype, dtype.name

    def expression(self) -> str:
        """The operation with its operands, as it was asked about."""
        return self.written_as(self.form)

    def written_as(self, form: Form) -> str:
        """The operation with its operands, as it is written in a form."""
        symbol = operation(self.name).symbol
        shown = [self.shown(i) for i in range(len(self.seen))]
        if symbol and len(shown) == 2 and form is not Form.FUNCTION:
            return f" {symbol}{form} ".join(shown)
        return f"{self.name}({', '.join(shown)})"

    # -- what is answered -------------------------------------------------------------------------

    def answer(self) -> Answer:
        """The policy's answer: a dtype, a refusal, or a scalar that does not fit."""
        if self._answer is None:
            self._answer = self._answered()
        return self._answer

    def _answered(self) -> Answer:
        names = (self.policy.name,)
        if isinstance(self.decided, Refusal):
            error = self.decided.error
            raised = "" if error is None else f"{type(error).__name__}: "
            return Answer(names, None, reason=raised + self.decided.reason)
        result = self.decided.plan.result
        dtype = self.policy.strong(result).name
        return Answer(names, dtype, result.weak, signature=self.signature())

    def fitted(self, index: int) -> Any:
        """What a Python scalar becomes, as a Python value; None where nothing is to fit.

        An infinity in an integer dtype stands for an int compared as the number it is.
        """
        if type(self.entered[index]) not in WEAK or isinstance(self.decided, Refusal):
            return None
        target, value = self.decided.plan.inputs[index], self.decided.values[index]
        if type(value) is float and math.isinf(value) and target.kind in INTEGERS:
            return value
        return host.decoded(scalar(self.policy, value, target), target).item()

    def compares_exactly(self, index: int) -> bool:
        """Whether an int out of range is compared as the number it is."""
        if type(self.entered[index]) is not int or isinstance(self.decided, Refusal):
            return False
        integers = self.decided.plan.inputs[index].kind in INTEGERS
        return integers and self.fitted(index) in (math.inf, -math.inf)

    # -- what it is decided by --------------------------------------------------------------------

    def planned(self, form: Form) -> Plan | Refusal:
        """What is done with the operands as they are, in some form."""
        counted = self.policy.squared(self.name, self.seen, self.entered, form)
        return self.policy.plan(self.name, counted, form)

    def by_value(self) -> tuple[Operand, ...]:
        """What is promoted in place of the operands."""
        if self._by_value is None:
            policy, seen = self.policy, self.seen
            self._by_value = (
                policy.squared(self.name, seen, self.entered, self.form)
                if policy.by_value is None or all(o.value is None for o in seen)
                else policy.by_value(policy, self.name, seen, self.form)
            )
        return self._by_value

    def rule(self) -> OperationRule:
        """The operation's own rule, without what ``derive`` laid over it."""
        if self._rule is None:
            self._rule = _below_changes(self.policy.rule(self.name, self.seen, self.form))
        return self._rule

    # -- what is done -----------------------------------------------------------------------------

    def casts(self) -> Iterator[Cast]:
        """The casts that the plan inserts, and what they lose."""
        if isinstance(self.plan, Refusal) or self.answer().dtype is None:
            return
        for index, target in enumerate(self.plan.inputs):
            source, called = self.source(index)
            if source is target or self.compares_exactly(index):
                continue
            lost = self.scalar_loss(index) if source.weak else loss(source, target)
            yield Cast(f"x{index + 1}", called, target.name, lost)
        made = self.policy.plan(self.name, self.seen)
        if self.inplace and isinstance(made, Plan) and made.result is not self.plan.result:
            result = self.policy.strong(made.result)
            lost = loss(result, self.plan.result)
            yield Cast("result", result.name, self.plan.result.name, lost)

    def scalar_loss(self, index: int) -> str:
        """Whether a scalar's very value comes through."""
        x = self.entered[index]
        if type(x) not in WEAK:
            return ""  # a weak dtype without a value
        got = self.fitted(index)
        same = got == x or (isinstance(x, float) and math.isnan(x) and got != got)
        return "" if same else f"{worded(x)} becomes {got!r}"

    def otherwise(self, form: Form) -> str:
        """What the operator or function of that name does, where it is another one than asked."""
        if form is self.form or self.inplace or not operation(self.name).symbol:
            return ""
        plan = self.planned(form)
        if plan == self.plan:
            return ""
        does = (
            f"is refused: {plan.reason}"
            if isinstance(plan, Refusal)
            else f"is {self.policy.strong(plan.result).name}"
        )
        return f"{self.written_as(form)} {does}"

    def signature(self) -> str:
        """What the framework's function does not take, though promoarray's does."""
        refusal = None if self.inplace else self.policy.signature_refusal(self.name, self.seen)
        return "" if refusal is None else f"{refusal.reason}: make an array of it first there"


def _below_changes(rule: OperationRule) -> OperationRule:
    while isinstance(rule, ChangedOperation):
        rule = rule.base
    return rule
