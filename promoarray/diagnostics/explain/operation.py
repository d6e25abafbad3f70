"""``explain`` of an operation: asks a policy the way the dispatcher does, and says why."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.diagnostics.explain.case import Case
from promoarray.diagnostics.explain.other_policies import other_policies
from promoarray.diagnostics.explain.report import Answer, Explanation
from promoarray.dtypes import BY_NAME, DType
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import Family, Form, operation
from promoarray.promotion.overrides import ChangedOperandTypes
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.scalars import worded
from promoarray.promotion.source import Note
from promoarray.promotion.type_rules import TypeRule, common_dtype
from promoarray.promotion.variants import VARIANTS

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperandTypes


@in_default_float_state
def explain_operation(
    name: str, form: Form, entered: tuple[Any, ...], policy: Policy
) -> Explanation:
    """Explain an operation of arrays, scalars and the Operands that dtypes stand for."""
    return ExplainedCase(name, form, entered, policy).explanation()


class ExplainedCase(Case):
    """An operation with the reasons for what the policy answers."""

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

    def written(self) -> str:
        """What becomes of the result of an operation in place."""
        plan = self.policy.plan(self.name, self.seen)
        if self.policy.inplace is None:
            return "in place: the name is bound to the result, a new array"
        if isinstance(plan, Refusal) or isinstance(self.plan, Refusal):
            return "in place: the result has to fit into the first operand"
        made, target = self.policy.strong(plan.result).name, self.plan.result.name
        return f"in place: the result, {made}, is written into the {target} of the first operand"

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
