"""One operation on its operands: what a policy answers, as the dispatcher asks it, and why."""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.core import host
from promoarray.core.array_base import storage_dtype
from promoarray.core.cast import scalar
from promoarray.core.operands import operand_of
from promoarray.core.refusals import spelled
from promoarray.diagnostics.casts import Answer
from promoarray.diagnostics.explain.functions import NOT_ASKED
from promoarray.diagnostics.explain.numpys import enter
from promoarray.diagnostics.explain.report import Cast, Explanation, other_policies
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType
from promoarray.kernels.float_state import in_default_float_state
from promoarray.once import cached_property
from promoarray.operations import STANDS_FOR, Family, Form, operation
from promoarray.parray import PArray
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.overrides import ChangedOperandTypes, ChangedOperation
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.scalars import worded
from promoarray.promotion.source import Note
from promoarray.promotion.type_rules import TypeRule, common_dtype, recorded
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
    """One operation on its operands under one policy: arrays, which were made under another if that
    is ``supposed``, Python scalars, and the Operands that dtypes stand for.

    ``plan`` is what the policy decides by their dtypes, ``decided`` by the values of Python
    scalars.
    """

    def __init__(
        self,
        name: str,
        form: Form,
        entered: tuple[Any, ...],
        policy: Policy,
        *,
        supposed: bool = False,
    ) -> None:
        self.name, self.form, self.policy, self.supposed = name, form, policy, supposed
        self.given = entered
        self.entered, self.decider, refusal = enter(policy, name, form, entered)
        self.seen = tuple(map(self._see, self.entered))
        self.plan = refusal or self._planned(form)
        self.decided = refusal or self.decider.decide(name, self.seen, self.entered, form)

    def explanation(self) -> Explanation:
        """Return the answer with its reasons, and every other policy's."""
        policy = self.policy
        return Explanation(
            operation=self.name,
            policy=policy.name,
            title=policy.title,
            expression=self.written(self.form),
            answer=self.answer,
            steps=tuple(self.steps()),
            casts=tuple(self.casts()),
            function=self.otherwise(Form.FUNCTION),
            operator=self.otherwise(Form.OPERATOR),
            sources=() if self.unknown else tuple(map(str, policy.sources)),
            notes=tuple(self.notes()),
            others=tuple(each for each in other_policies(policy, self._ask) if each.asked),
        )

    def _ask(self, policy: str) -> Answer:
        return Case(self.name, self.form, self.given, as_policy(policy), supposed=True).answer

    # -- what is asked ----------------------------------------------------------------------------

    def _see(self, x: Any) -> Operand:
        """What the policy sees; arrays it would have made itself are of dtypes that it holds."""
        policy = self.policy
        if not isinstance(x, Operand):
            operand = operand_of(x, policy)
            if not self.supposed:
                return operand
        else:
            operand = x if policy.by_value or x.value is None else x._replace(value=None)
        held = policy.canonical.get(operand.type, operand.type)
        return operand if held is operand.type else operand._replace(type=held)

    def _planned(self, form: Form) -> Plan | Refusal:
        counted = self.decider.squared(self.name, self.seen, self.entered, form)
        return self.decider.plan(self.name, counted, form)

    @cached_property
    def by_value(self) -> tuple[Operand, ...]:
        """What is promoted in place of the operands."""
        policy, seen = self.policy, self.seen
        if policy.by_value is None or all(o.value is None for o in seen):
            return policy.squared(self.name, seen, self.entered, self.form)
        return policy.by_value(policy, self.name, seen, self.form)

    @cached_property
    def rule(self) -> OperationRule:
        """The operation's own rule, without what ``derive`` laid over it."""
        rule = self.policy.rule(self.name, self.seen, self.form)
        while isinstance(rule, ChangedOperation):
            rule = rule.base
        return rule

    def written(self, form: Form) -> str:
        """Return the operation with its operands, as it is written in a form."""
        return spelled(self.name, tuple(map(self._shown, range(len(self.seen)))), form)

    def _shown(self, index: int) -> str:
        x, seen = self.entered[index], self.seen[index]
        if isinstance(x, Operand):
            return str(x)
        if type(x) in WEAK:
            return worded(x)
        weak = isinstance(x, PArray) and x.weak_type
        return f"{x.dtype} (weak)" if weak else str(Operand(seen.type, seen.rank))

    # -- what is answered -------------------------------------------------------------------------

    @cached_property
    def answer(self) -> Answer:
        """The policy's answer, with what is known of the framework's function and its kernel."""
        made = self.rules_answer
        if made.dtype is None:
            return made
        return replace(made, signature=self.signature(), kernel=self.kernel())

    @cached_property
    def rules_answer(self) -> Answer:
        """The policy's answer: a dtype, a refusal, or a scalar that does not fit."""
        names = (self.policy.name,)
        if self.unknown:
            return Answer(names, None, reason=self.unknown, asked=False)
        if isinstance(self.decided, Refusal):
            error = self.decided.error
            raised = "" if error is None else f"{type(error).__name__}: "
            return Answer(names, None, reason=raised + self.decided.reason)
        result = self.decided.plan.result
        return Answer(names, self.policy.strong(result).name, result.weak)

    @cached_property
    def unknown(self) -> str:
        """Why nothing is known of the operation; "" where a rule or the framework answers."""
        if isinstance(self.plan, Refusal) and self.plan.unknown:
            return self.plan.reason
        if self.rule is not recorded:
            return ""
        x = self.seen[0]
        x = x if x.rank is Rank.SCALAR else x._replace(type=self.policy.strong(x.type))
        lacking = not x.type.weak and x.type not in self.policy.dtypes
        answers = self.policy.answers
        if lacking or (answers and answers.cell(self.name, x)):
            return ""
        like, plan = STANDS_FOR[self.name], self.plan
        given = plan.reason if isinstance(plan, Refusal) else self.policy.strong(plan.result).name
        verb = "is refused: " if isinstance(plan, Refusal) else "gives "
        return f"{NOT_ASKED}; {like}, which is most like it, {verb}{given}"

    def signature(self) -> str:
        """Return what the framework's function does not take, though promoarray's does."""
        inplace = self.form is Form.INPLACE
        refusal = None if inplace else self.policy.signature_refusal(self.name, self.seen)
        return "" if refusal is None else f"{refusal.reason}: make an array of it first there"

    def kernel(self) -> str:
        """Return what is known of the kernel that carries it out, which is no rule of promotion; ""
        if that is nothing."""
        if isinstance(self.plan, Refusal):
            return ""
        asked = self.name, self.seen, self.plan
        support = self.policy.support(*asked)
        known: Any = {"values": self.entered, "anywhere": False}
        lacking = self.policy.kernel_refusal(*asked, self.form, **known)
        return str(support) if support else lacking.reason if lacking else ""

    def otherwise(self, form: Form) -> str:
        """Return what the operator or function of that name does, if it is another one."""
        if form is self.form or self.form is Form.INPLACE or not operation(self.name).symbol:
            return ""
        if self.unknown or not self._differs(form):
            return ""
        plan = self._planned(form)
        if plan == self.plan:
            return ""
        if isinstance(plan, Refusal):
            return f"{self.written(form)} is refused: {plan.reason}"
        return f"{self.written(form)} is {self.policy.strong(plan.result).name}"

    def _differs(self, form: Form) -> bool:
        """Whether the operation may go by another rule in a form."""
        policy, asked = self.decider, (self.name, self.seen)
        by_form = policy.needs_kernels or policy.by_value or policy.squares
        return bool(by_form) or policy.rule(*asked, form) is not policy.rule(*asked, self.form)

    def notes(self) -> Iterator[str]:
        """Yield what to know about operations on these operands."""
        for note in self.policy.notes:
            if not isinstance(note, Note) or note.about_operands(self.seen):
                yield note

    # -- the casts --------------------------------------------------------------------------------

    def casts(self) -> Iterator[Cast]:
        """Yield the casts that the plan inserts, and what they lose."""
        if isinstance(self.plan, Refusal) or self.rules_answer.dtype is None:
            return
        for index, target in enumerate(self.plan.inputs):
            x, source, called = self.entered[index], self.seen[index].type, ""
            if type(x) in WEAK:
                source = WEAK[type(x)]
                called = f"Python {type(x).__name__} {worded(x).removeprefix('int ')}"
            elif not isinstance(x, Operand):
                source = storage_dtype(x)
            if source is target or self._beyond(index):
                continue
            lost = self._scalar_loss(index) if source.weak else loss(source, target)
            yield Cast(f"x{index + 1}", called or source.name, target.name, lost)
        if self.form is not Form.INPLACE:
            return
        made = self.policy.plan(self.name, self.seen)
        if isinstance(made, Plan):
            result, target = self.policy.strong(made.result), self.plan.result
            if made.result is not target:
                yield Cast("result", result.name, target.name, loss(result, target))

    def _scalar_loss(self, index: int) -> str:
        """What becomes of a scalar whose very value does not come through."""
        x = self.entered[index]
        if type(x) not in WEAK:
            return ""  # a weak dtype without a value
        got = self._fitted(index)
        same = got == x or (isinstance(x, float) and math.isnan(x) and got != got)
        return "" if same else f"{worded(x)} becomes {got!r}"

    def _fitted(self, index: int) -> Any:
        """What a Python scalar becomes, as a Python value.

        An infinity in an integer dtype stands for an int compared as the number it is.
        """
        assert not isinstance(self.decided, Refusal)
        target, value = self.decided.plan.inputs[index], self.decided.values[index]
        if type(value) is float and math.isinf(value) and target.kind in INTEGERS:
            return value
        return host.decoded(scalar(self.policy, value, target), target).item()

    def _beyond(self, index: int) -> bool:
        """Whether an int out of range is compared as the number it is."""
        if type(self.entered[index]) is not int or isinstance(self.decided, Refusal):
            return False
        integers = self.decided.plan.inputs[index].kind in INTEGERS
        return integers and self._fitted(index) in (math.inf, -math.inf)

    # -- why --------------------------------------------------------------------------------------

    def steps(self) -> Iterator[str]:
        """Yield the rule in words: entering, promoting, the operation's own rule, the result."""
        if self.unknown:
            yield self.unknown
            return
        yield from self.entering()
        yield from self.rule_said()
        yield from self.ending()

    def entering(self) -> Iterator[str]:
        """Yield the general rule, how the operands enter, and the way to their common dtype."""
        if self.policy.principle:
            yield self.policy.principle
        for x, seen in zip(self.entered, self.seen, strict=True):
            if isinstance(x, Operand) and x.type is not seen.type:
                yield f"{self.policy.title} holds {x.type.name} as {seen.type.name}"
        if self.by_value != self.seen:
            types = ", ".join(f"x{i + 1} as {o.type.name}" for i, o in enumerate(self.by_value))
            yield f"by value: {types}"
        if len(self.by_value) > 1 and self._promotes():
            yield from self._promotion(*self._promoting())

    def entering_by(self) -> Hashable:
        """Return all that ``entering`` says of the operands hangs on."""
        return self.by_value, *map(id, self._promoting()), self._promotes()

    def _promoting(self) -> tuple[OperandTypes, PromotionRule]:
        """What operands count as and how they promote: the rule's own, or the policy's."""
        rule, policy = self.rule, self.policy
        if not isinstance(rule, TypeRule):
            return policy.operand_types, policy.promote
        return rule.operand_types or policy.operand_types, rule.promote or policy.promote

    def _promotes(self) -> bool:
        """Whether the plan came from promoting the operands."""
        if isinstance(self.rule, TypeRule):
            return True
        common = common_dtype(self.policy, *self._promoting(), self.by_value)
        if isinstance(self.plan, Refusal) or isinstance(common, Refusal) or common is None:
            return isinstance(self.plan, Refusal) and not isinstance(common, DType)
        return all(d is self.policy.strong(common) for d in self.plan.inputs)

    def _promotion(self, enter: OperandTypes, promote: PromotionRule) -> Iterator[str]:
        """How the operands enter, and the way to their common dtype."""
        operands = self.by_value
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
            one = entered[0]
            called = one.name if one.code in BY_NAME else f"{one.code} ({one.name})"
            yield f"promote: together they count as {called}"
            return
        common: DType | None = types[0]
        for dtype in types[1:]:
            if common is None:
                return
            general = promote is self.policy.promote and self.policy.principle
            yield f"promote: {_path(promote, common, dtype, '' if general else _doc(promote))}"
            common = promote(common, dtype)

    def rule_said(self) -> Iterator[str]:
        """Yield the operation's own rule."""
        rule = self.rule
        said = rule.note if isinstance(rule, TypeRule) else _doc(rule)
        if said:
            yield f"{self.name}: {said}"
        if self.form is not Form.INPLACE:
            return
        plan = self.policy.plan(self.name, self.seen)
        if self.policy.inplace is None:
            yield "in place: the name is bound to the result, a new array"
        elif isinstance(plan, Refusal) or isinstance(self.plan, Refusal):
            yield "in place: the result has to fit into the first operand"
        else:
            made, target = self.policy.strong(plan.result).name, self.plan.result.name
            yield f"in place: the result, {made}, is written into the {target} of the first operand"

    def ending(self) -> Iterator[str]:
        """Yield what is computed in, and what comes out."""
        if isinstance(self.plan, Refusal):
            yield f"refused: {self.plan.reason}"
            return
        if self.rules_answer.reason:
            yield f"raises {self.rules_answer.reason}"
            return
        result, compute = self.policy.strong(self.plan.result), self.plan.compute
        beyond = [x for i, x in enumerate(self.entered) if self._beyond(i)]
        variant = self.policy.kernel(self.name, self.plan)
        if variant != self.name:
            known = VARIANTS.get(variant)
            yield f"values: {known.sentence if known else f'those of {variant}'}"
        if compute is None:
            yield "compared as the integers they are"
        elif beyond:
            given = worded(beyond[0])
            yield f"{given} lies beyond {compute.name}: the numbers themselves are compared"
        elif compute is not result:
            verb = "compared" if self._compares() and result is dt.bool else "computed"
            narrowed = compute.kind is result.kind and compute.bits > result.bits
            yield f"{verb} in {compute.name}" + f", rounded once to {result.name}" * narrowed
        weak = " (weak: it counts for no more than a Python scalar)" * self.plan.result.weak
        more = "".join(f", {self.policy.strong(dtype).name}" for dtype in self.plan.extra_results)
        yield f"result{'s' * bool(more)}: {result.name}{weak}{more}"

    def _compares(self) -> bool:
        return operation(self.name).family in (Family.EQUALITY, Family.ORDER)

    def ending_by(self) -> Hashable:
        """Return all that ``ending`` and ``casts`` say hangs on, but for operands and reasons."""
        plan, decided = self.plan, self.decided
        if isinstance(plan, Refusal) or isinstance(decided, Refusal):
            return None
        variant = self.policy.kernel(self.name, plan)
        fitted = [
            repr(x)
            for given, x in zip(self.entered, decided.values, strict=True)
            if type(given) in WEAK
        ]
        return plan, variant != self.name and variant, self._compares(), *fitted


def _path(promote: PromotionRule, a: DType, b: DType, doc: str) -> str:
    """The way from two dtypes to their common one; ``doc`` is the rule in words."""
    path = getattr(promote, "path", None)
    if path is not None:
        return str(path(a, b))
    first, second = (f"a Python {d.name[5:]}" if d.weak else d.name for d in (a, b))
    common = promote(a, b)
    result = ": no common dtype" if common is None else f" is {common.name}"
    if common is a:
        result = " stays that" if a.weak else f" stays {a.name}"
    return f"{first} with {second}{result}" + (f"; {doc.rstrip('.')}" if doc else "")


def _doc(step: Any) -> str:
    """The first sentence of what a step says of itself; nothing for the step that does nothing."""
    while isinstance(step, ChangedOperandTypes):
        step = step.base
    step = inspect.unwrap(step)
    if not inspect.isfunction(step):
        step = type(step).__dict__.get("__call__")
    doc = (inspect.isfunction(step) and step.__doc__) or ""
    return inspect.cleandoc(doc).partition("\n")[0].replace("``", "")
