"""The one place where a policy is asked what it does with operands that it sees in its own way."""

from __future__ import annotations

from typing import Any

from promoarray.core.events import OperationEvent, RefusalEvent
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.plan import Decision, Operand, Refusal
from promoarray.promotion.policy import Policy


def ask(
    policy: Policy, event: OperationEvent | RefusalEvent, seen: tuple[Operand, ...]
) -> Decision | Refusal:
    """Return what a policy does with an operation of the run, on operands as it sees them."""
    return policy.carried_out(event.name, seen, event.operands, event.form, options=event.options)


def result_of(
    decided: Decision | Refusal, which: int = 0, made: DType | None = None
) -> DType | Refusal:
    """Return the dtype of one of the results.

    Where the policy has fewer, as of the indices beside values, it is what the run ``made``.
    """
    if isinstance(decided, Refusal):
        return decided
    results = decided.plan.result, *decided.plan.extra_results
    return made if made is not None and which >= len(results) else results[which]


def not_stored(policy: Policy, seen: tuple[Operand, ...], value: Any) -> str:
    """Return why a policy does not write a value into an array, "" if it does.

    Parameters
    ----------
    policy : Policy
    seen : tuple of Operand
        The array and the value, as it sees them.
    value : Array, or Python scalar
    """
    dtype = policy.strong(seen[0].type)
    if type(value) not in WEAK:
        return policy.assigns(policy.strong(seen[1].type), dtype) or ""
    try:
        policy.assigned(value, dtype)
    except (TypeError, OverflowError, ValueError) as error:
        return str(error)
    return ""
