"""Runtimes of ONNX as editions over an opset: the kernels that are not there, and the casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from promoarray.dtypes import BY_CODE, DType, Kind
from promoarray.policies.onnx.operators import of_opset, operators
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.plan import Operand, Plan, Refusal

if TYPE_CHECKING:
    from promoarray.promotion.cast_rules import Quirk
    from promoarray.promotion.policy import Policy
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

Lacking = Mapping[str, frozenset[DType]]


def lacking(text: str) -> dict[str, frozenset[DType]]:
    """Read lines ``Add Sub | bf16``: the types that a runtime has no kernel of an operator for."""
    found: dict[str, frozenset[DType]] = {}
    for line in text.strip().splitlines():
        names, codes = line.split("|")
        types = frozenset(BY_CODE[code] for code in codes.split())
        found |= dict.fromkeys(names.split(), types)
    return found


@dataclass(frozen=True)
class WithKernels:
    """The rule of an operator, where the runtime has a kernel.

    ``narrow`` is what the runtime computes a dtype in instead.
    """

    rule: OperationRule
    operator: str
    lacks: frozenset[DType]
    title: str
    narrow: Callable[[str, Plan], Plan]

    def __call__(
        self, policy: PolicyLike, name: str, operands: tuple[Operand, ...]
    ) -> Plan | Refusal:
        plan = self.rule(policy, name, operands)
        if isinstance(plan, Refusal):
            return plan
        missing = next((dtype for dtype in plan.inputs if dtype in self.lacks), None)
        if missing is not None:
            said = f"{self.title} has no kernel of {self.operator} for {missing.name}"
            return Refusal(said, kernel=True)
        return self.narrow(name, plan)


def as_given(name: str, plan: Plan) -> Plan:
    """Compute as ONNX says."""
    return plan


def runtime(
    name: str,
    title: str,
    opset: int,
    lacks: Lacking,
    *,
    on: tuple[str, ...],
    quirks: tuple[Quirk, ...] = (),
    narrow: Callable[[str, Plan], Plan] = as_given,
    no_cast: tuple[tuple[str, str], ...] = (),
    kernels: Mapping[str, tuple[str, ...]] | None = None,
    **changes: Any,
) -> Policy:
    """Make the policy of a runtime: that of an opset, with these quirks of its Cast on, ONNX's own
    or those of ``quirks``.

    ``narrow`` makes of a function and its plan the one that is carried out; ``no_cast`` has the
    targets and sources that Cast does not make of each other, by code or group; ``kernels`` are as
    ``Policy.kernels``, besides ONNX's.
    """
    base = of_opset(opset)
    operations = dict(base.operations)
    for function, (operator, _) in operators().items():
        rule, types = operations[function], lacks.get(operator, frozenset())
        operations[function] = WithKernels(rule, operator, types, title, narrow)
    uncast, targets = lacks.get("Cast", frozenset()), lacks.get("QuantizeLinear", frozenset())

    def refuses(source: DType, target: DType) -> str | None:
        missing = next((dtype for dtype in (source, target) if dtype in uncast), None)
        if missing is not None and source is not target:
            return f"{title} has no kernel of Cast for {missing.name}"
        if any(target in dtypes(to) and source in dtypes(of) for to, of in no_cast):
            return f"{title} has no kernel of Cast from {source.name} to {target.name}"
        return base.cast.refuses(source, target)

    theirs = tuple(quirk for quirk in (*base.cast.quirks, *quirks) if quirk.name in on)
    cast = replace(base.cast, refuses=refuses, quirks=theirs, on=tuple(q.name for q in theirs))
    quantization = changes.pop("quantization", base.quantization)
    return base.derive(
        name,
        title=title,
        dtypes=tuple(d for d in base.dtypes if d.kind is not Kind.COMPLEX),
        operations=operations,
        cast=cast,
        quantization=replace(quantization, targets=quantization.targets - targets),
        kernels={**base.kernels, **(kernels or {})},
        **changes,
    )
