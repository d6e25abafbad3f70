"""What a rule may ask of the policy it belongs to.

Rules are written before there is a policy, and a policy is made of them; so they know it by this
protocol alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from promoarray.dtypes import DType
from promoarray.operations import Family, Form
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.rules import PromotionRule
from promoarray.promotion.source import Source


class PolicyLike(Protocol):
    """A policy as its rules see it; ``promotion.policy.Policy`` says what each name means."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def principle(self) -> str: ...
    @property
    def dtypes(self) -> tuple[DType, ...]: ...
    @property
    def promote(self) -> PromotionRule: ...
    @property
    def operand_types(self) -> OperandTypes: ...
    @property
    def operations(self) -> Mapping[str | Family, OperationRule]: ...
    @property
    def functions(self) -> Mapping[str | Family, OperationRule]: ...
    @property
    def ranks(self) -> bool: ...
    @property
    def ranked(self) -> frozenset[str]: ...
    @property
    def weak_arrays(self) -> bool: ...
    @property
    def refusal(self) -> str: ...
    @property
    def cast(self) -> CastRule: ...
    @property
    def sources(self) -> tuple[Source, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def worked_out(self) -> dict[tuple[Any, ...], tuple[Any, ...]]: ...
    def once(self, make: Callable[..., Any], *key: Any) -> Any: ...
    def strong(self, dtype: DType) -> DType: ...
    def make_plan(
        self, name: str, computed: DType, result: DType, count: int, *extra_results: DType
    ) -> Plan: ...
    def plan(
        self, name: str, operands: tuple[Operand, ...], form: Form = Form.OPERATOR
    ) -> Plan | Refusal: ...
    def rule(
        self, name: str, operands: tuple[Operand, ...] = (), form: Form = Form.OPERATOR
    ) -> OperationRule: ...


OperandTypes = Callable[[PolicyLike, tuple[Operand, ...]], tuple[DType, ...] | Refusal]
"""What each operand counts as in promotion."""

OperationRule = Callable[[PolicyLike, str, tuple[Operand, ...]], Plan | Refusal]
"""What an operation of that name does with its operands."""

ByValue = Callable[[PolicyLike, str, tuple[Operand, ...], Form], tuple[Operand, ...]]
"""From a policy, an operation, operands with values and how it is written to operands without."""


# --- What a function says of ranks, which are else found out by trying --------------------------

Entering = TypeVar("Entering", bound=OperandTypes)
Rule = TypeVar("Rule", bound=OperationRule)


def of_types_alone(enter: Entering) -> Entering:
    """Mark what counts 0-d arrays as it does others."""
    vars(enter)["tells_ranks"] = False
    return enter


def entering_by(
    inner: Callable[[PolicyLike], OperandTypes],
) -> Callable[[Entering], Entering]:
    """Mark what tells 0-d arrays from others only as ``inner`` does, which it goes on by; all that
    it looks at besides is dtypes, and which operands are Python scalars."""

    def mark(enter: Entering) -> Entering:
        vars(enter)["goes_on_by"] = inner
        return enter

    return mark


def ruled_by(
    inner: Callable[[tuple[Operand, ...]], OperationRule | None],
) -> Callable[[Rule], Rule]:
    """The same of an operation's rule; None where it is not so for these operands."""

    def mark(rule: Rule) -> Rule:
        vars(rule)["goes_on_by"] = inner
        return rule

    return mark
