"""The protocol by which a rule knows the policy that it belongs to.

Rules are written before there is a policy, and a policy is made of them; so they know it by this
protocol alone. Nothing here is needed but for type checking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from promoarray.dtypes import DType
from promoarray.operations import Family, Form
from promoarray.promotion.answers import Answers
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.rules import PromotionRule


class PolicyLike(Protocol):
    """A policy as its rules see it; ``promotion.policy.Policy`` says what each name means."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
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
    def weak_arrays(self) -> bool: ...
    @property
    def refusal(self) -> str: ...
    @property
    def answers(self) -> Answers | None: ...
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
