"""``explain`` of an operation: asks a policy the way the dispatcher does, and says why."""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.core import host
from promoarray.core.array_base import storage_dtype
from promoarray.core.cast import scalar
from promoarray.core.operands import operand_of
from promoarray.diagnostics.explain.other_policies import other_policies
from promoarray.diagnostics.explain.report import Answer, Cast, Explanation
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import Family, Form, operation
from promoarray.parray import PArray
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.overrides import ChangedOperandTypes, ChangedOperation
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.scalars import worded
from promoarray.promotion.source import Note
from promoarray.promotion.type_rules import TypeRule, common_dtype
from promoarray.promotion.variants import VARIANTS

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperandTypes, OperationRule


@in_default_float_state
def explain_operation(
    name: str, form: Form, entered: tuple[Any, ...], policy: Policy
) -> Explanation:
    """Explain an operation of arrays, scalars and the Operands that dtypes stand for."""
    return Case(name, form, entered, policy).explanation()


class Case:
    """One operation on its operands under one policy."""

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
        self.supposed = supposed  # whether the arrays were made under another policy
        self.seen = tuple(map(self.described, entered)) if seen is None else seen
        self.plan = self.planned(form)
        self.decided = policy.decided(name, self.plan, self.seen, entered)
        self._answer: Answer | None = None
        self._by_value: tuple[Operand, ...] | None = None
        self._rule: OperationRule | None = None

    def explanation(self) -> Explanation:
        policy = self.policy
        return Explanation(
            operation=self.name,
            policy=policy.name,
            title=policy.title,
            expression=self.expression(),
            answer=self.answer(),
            steps=tuple(self.steps()),
            casts=tuple(self.casts()),
            function=self.otherwise(Form.FUNCTION),
            operator=self.otherwise(Form.OPERATOR),
            sources=tuple(map(str, policy.sources)),
            notes=tuple(self.notes()),
            others=tuple(self.others()),
        )

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

    # -- why --------------------------------------------------------------------------------------

    def steps(self) -> Iterator[str]:
        """The rule in words: entering, promoting, the operation's own rule, the result."""
        yield from self.entering()
        yield from self.operating()

    def entering(self) -> Iterator[str]:
        """The general rule, how the operands enter, and the way to their common dtype."""
        if self.policy.principle:
            yield self.policy.principle
        for x, seen in zip(self.entered, self.seen, strict=True):
            if isinstance(x, Operand) and x.type is not seen.type:
                yield f"{self.policy.title} holds {x.type.name} as {seen.type.name}"
        operands = self.by_value()
        if operands != self.seen:
            types = ", ".join(f"x{i + 1} as {o.type.name}" for i, o in enumerate(operands))
            yield f"by value: {types}"
        if self.promotes():
            yield from self.promotion(operands, *self.promoting())

    def promoting(self) -> tuple[OperandTypes, PromotionRule]:
        """What operands count as and how they promote: the rule's own, or the policy's."""
        rule, policy = self.rule(), self.policy
        if not isinstance(rule, TypeRule):
            return policy.operand_types, policy.promote
        return rule.operand_types or policy.operand_types, rule.promote or policy.promote

    def promotes(self) -> bool:
        """Whether the operation promotes its operands at all."""
        if isinstance(self.rule(), TypeRule):
            return True
        common = common_dtype(self.policy, *self.promoting(), self.by_value())
        return self.agrees(None if isinstance(common, Refusal) else common)

    def operating(self) -> Iterator[str]:
        """The operation's own rule, what it computes in and its result."""
        yield from self.rule_said()
        yield from self.ending()

    def rule_said(self) -> Iterator[str]:
        """The operation's own rule."""
        rule = self.rule()
        said = rule.note if isinstance(rule, TypeRule) else _doc(rule)
        if said:
            yield f"{self.name}: {said}"
        if self.inplace:
            yield self.written()

    def rule(self) -> OperationRule:
        if self._rule is None:
            self._rule = _below_changes(self.policy.rule(self.name, self.seen, self.form))
        return self._rule

    def written(self) -> str:
        """What becomes of the result of an operation in place."""
        plan = self.policy.plan(self.name, self.seen)
        if self.policy.inplace is None:
            return "in place: the name is bound to the result, a new array"
        if isinstance(plan, Refusal) or isinstance(self.plan, Refusal):
            return "in place: the result has to fit into the first operand"
        made, target = self.policy.strong(plan.result).name, self.plan.result.name
        return f"in place: the result, {made}, is written into the {target} of the first operand"

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

    def agrees(self, common: DType | None) -> bool:
        """Whether the policy's general rule is what the plan came from."""
        if isinstance(self.plan, Refusal) or common is None:
            return isinstance(self.plan, Refusal) and common is None
        return all(d is self.policy.strong(common) for d in self.plan.inputs)

    def promotion(
        self,
        operands: tuple[Operand, ...],
        enter: OperandTypes,
        promote: PromotionRule,
    ) -> Iterator[str]:
        """How the operands enter, and the way to their common dtype."""
        if len(operands) == 1:
            return
        entered = enter(self.policy, operands)
        types = tuple(o.type for o in operands)
        refused = isinstance(entered, Refusal)  # told apart first: a dtype equals texts, slowly
        if (refused or entered != types) and _doc(enter):
            yield f"enter: {_doc(enter)}"
        if isinstance(entered, Refusal):
            arrays = all(o.rank is Rank.ARRAY for o in operands)
            if entered.reason != self.policy.refusal or not arrays:
                return
            entered = types
        pairwise = fold(promote, types)
        if len(entered) == len(types):
            types = entered
        elif pairwise is None or pairwise is not entered[0]:
            yield f"promote: together they count as {_called(entered[0])}"
            return
        common: DType | None = types[0]
        for dtype in types[1:]:
            if common is None:
                return
            yield f"promote: {self.path(promote, common, dtype)}"
            common = promote(common, dtype)

    def path(self, promote: PromotionRule, a: DType, b: DType) -> str:
        """The way from two dtypes to their common one."""
        path = getattr(promote, "path", None)
        if path is not None:
            return str(path(a, b))
        common, said = promote(a, b), _doc(promote).rstrip(".")
        cell = f"row {a.code}, column {b.code}: {common.code if common else '-'}"
        return f"{said}; {cell}" if said else cell

    def ending(self) -> Iterator[str]:
        """What is computed in, and what comes out."""
        if isinstance(self.plan, Refusal):
            yield f"refused: {self.plan.reason}"
            return
        reason = self.answer().reason
        if reason:
            yield f"raises {reason}"
            return
        result, compute = self.policy.strong(self.plan.result), self.plan.compute
        beyond = [x for i, x in enumerate(self.entered) if self.compares_exactly(i)]
        variant = self.policy.kernel(self.name, self.plan)
        if variant != self.name:
            yield f"values: {VARIANTS[variant].sentence}"
        if compute is None:
            yield "compared as the integers they are"
        elif beyond:
            given = worded(beyond[0])
            yield f"{given} lies beyond {compute.name}: the numbers themselves are compared"
        elif compute is not result and result is not dt.bool:
            narrowed = compute.kind is result.kind and compute.bits > result.bits
            yield f"computed in {compute.name}" + f", rounded once to {result.name}" * narrowed
        elif compute is not result:
            compares = operation(self.name).family in (Family.EQUALITY, Family.ORDER)
            yield f"{'compared' if compares else 'computed'} in {compute.name}"
        weak = " (weak: it counts for no more than a Python scalar)" * self.plan.result.weak
        more = "".join(f", {self.policy.strong(dtype).name}" for dtype in self.plan.extra_results)
        yield f"result{'s' * bool(more)}: {result.name}{weak}{more}"

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

    def notes(self) -> Iterator[str]:
        """What to know about operations on these operands."""
        for note in self.policy.notes:
            if not isinstance(note, Note) or note.about_operands(self.seen):
                yield note

    # -- what the words hang on -------------------------------------------------------------------

    def entering_by(self) -> Hashable:
        """All that ``entering`` says of these operands hangs on, the same for many operations."""
        return self.by_value(), *map(id, self.promoting()), self.promotes()

    def ending_by(self) -> Hashable:
        """All that the answer, the casts and ``ending`` hang on, the same for many operations."""
        if isinstance(self.plan, Refusal):
            return self.plan.reason
        decided: Hashable = self.decided
        if isinstance(self.decided, Refusal):
            decided = self.decided.reason, type(self.decided.error)
        else:  # 1 is True, and 1.0
            decided = decided, tuple(map(type, self.decided.values))
        compares = operation(self.name).family in (Family.EQUALITY, Family.ORDER)
        variant = self.policy.kernel(self.name, self.plan)
        return self.plan, decided, compares, variant if variant != self.name else ""

    # -- the other policies -----------------------------------------------------------------------

    def others(self) -> Iterator[Answer]:
        """Every other policy's answer."""
        return other_policies(self.policy, self.asking)

    def asking(self, name: str) -> Answer:
        policy = as_policy(name)
        return Case(self.name, self.form, self.entered, policy, supposed=True).answer()


def _below_changes(rule: OperationRule) -> OperationRule:
    while isinstance(rule, ChangedOperation):
        rule = rule.base
    return rule


def _doc(step: Any) -> str:
    """The first sentence of what a step says of itself; nothing for the step that does nothing."""
    while isinstance(step, ChangedOperandTypes):
        step = step.base
    step = inspect.unwrap(step)
    if not inspect.isfunction(step):
        step = type(step).__dict__.get("__call__")
    return _first_line(step.__doc__ or "") if inspect.isfunction(step) else ""


@lru_cache(maxsize=1024)
def _first_line(doc: str) -> str:
    return inspect.cleandoc(doc).partition("\n")[0].replace("``", "")


def _called(dtype: DType) -> str:
    return f"{dtype.code} ({dtype.name})" if dtype.code not in BY_NAME else dtype.name
