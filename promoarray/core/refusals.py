"""The text of a refusal: what was given, which rule refuses, what to write, what others do."""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.errors import PromotionError, quoted
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.answers import ASKED_AS, MADE_OF_DTYPE
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

COMPARED = ("numpy", "torch", "jax", "tensorflow", "paddle@3.3", "aclnn@8.5")
"""The policies an error message looks at: one a framework, of the edition people have installed."""


def promotion_error(
    policy: Policy,
    name: str,
    operands: tuple[Operand, ...],
    refusal: Refusal,
    form: Form = Form.OPERATOR,
) -> PromotionError:
    """Return the error for a refusal of an operation, or of a question such as ``result_type``."""
    from promoarray.core.proposed_casts import MANY  # what follows is for errors only

    given, many = operands, len(operands) > MANY  # which are told by their dtypes, each once
    if many:  # whose casts, of each and of all, would take minutes to try
        operands = tuple(dict.fromkeys(operands))[:MANY]
    asked = name if name in OPERATIONS else "concat"  # which does nothing but promote
    verb = "compute" if refusal.kernel else "promote"
    refused, reason = f"does not {verb} {spelled(name, operands, form)}", refusal.reason
    inplace = form is Form.INPLACE
    alike = name in OPERATIONS and not inplace and len(set(map(str, operands))) == 1
    if alike:  # there is nothing to promote
        refused = f"has no {_named(name, operands, form)}"
        if str(operands[0]) == str(refusal.common):
            reason = refusal.why
    parts = [
        f"policy {quoted(policy.name)} {refused}: {reason}.",
        f"These are the dtypes of {len(given)} operands." if many else "",
        (_remedy_of_each if many else remedy)(policy, asked, operands, form),
        "" if inplace else elsewhere(policy, asked, operands, form),
    ]
    message = " ".join(filter(None, parts))
    return PromotionError(message, policy, name, given, refusal.reason, form=form)


def _named(name: str, operands: tuple[Operand, ...], form: Form) -> str:
    return f"{name} of {operands[0]}" if len(operands) == 1 else spelled(name, operands, form)


def spelled(name: str, operands: tuple[Operand | str, ...], form: Form) -> str:
    """Write an operation with its operands' dtypes, or what else they are called."""
    symbol = OPERATIONS[name].symbol if name in OPERATIONS else ""
    if symbol and len(operands) == 2 and form is not Form.FUNCTION:
        return f" {symbol}{form} ".join(map(str, operands))
    return f"{name}({', '.join(map(str, operands))})"


def remedy(policy: Policy, name: str, operands: tuple[Operand, ...], form: Form) -> str:
    """Say which casts the policy would accept, and what they lose if no choice keeps all values."""
    if form is Form.INPLACE and isinstance(policy.plan(name, operands), Plan):
        return f"Write x1 = pa.{name}(x1, x2), or cast the result before you write it."
    from promoarray.core.proposed_casts import proposed_casts, remarks

    proposed = proposed_casts(policy, name, operands, form)
    if proposed is None:
        return ""
    casts = proposed[0]
    written = (
        f"pa.astype(x{index + 1 if len(operands) > 1 else ''}, pa.{target.name})"
        for index, target in casts.items()
    )
    lost = remarks(policy, [operand.type for operand in operands], casts)
    return f"Write {' and '.join(written)}{lost and f' ({lost})'}."


def _remedy_of_each(policy: Policy, name: str, operands: tuple[Operand, ...], form: Form) -> str:
    """``remedy`` where an operand stands for all that are like it."""
    from promoarray.core.proposed_casts import proposed_casts, remarks

    casts, _ = proposed_casts(policy, name, operands, form) or ({}, None)
    written = (f"pa.astype(x, pa.{to.name}) of each x of {operands[i]}" for i, to in casts.items())
    lost = remarks(policy, [operand.type for operand in operands], casts)
    return f"Write {' and '.join(written)}{lost and f' ({lost})'}." if casts else ""


def elsewhere(policy: Policy, name: str, operands: tuple[Operand, ...], form: Form) -> str:
    """Say what the others give: "Elsewhere: numpy float64; torch and jax float32."."""
    from promoarray.console import listed

    answers: dict[str, list[str]] = {}
    for short, other in ((short, as_policy(short)) for short in COMPARED):
        plan = other.plan(name, operands, form)
        lacks = isinstance(plan, Plan) and other.kernel_refusal(name, operands, plan, form)
        if policy.needs_kernels and (lacks or policy.made.get("base") is other):
            continue
        if other is not policy and isinstance(plan, Plan):
            answers.setdefault(other.strong(plan.result).name, []).append(short)
    said = "; ".join(f"{listed(names)} {dtype}" for dtype, names in answers.items())
    return said and f"Elsewhere: {said}."


# -- casts ----------------------------------------------------------------------------------------


def cast_refusal(policy: Policy, source: DType, target: DType) -> str:
    """Return why ``astype`` refuses a pair under a policy; "" if it does not."""
    if source is target:
        return ""
    why = policy.cast.refuses(source, target)
    if why or dt.string not in (source, target):
        return why or ""
    if dt.string not in policy.dtypes or not policy.can_cast(dt.string, dt.float32):
        return "it casts no strings (ONNX Cast does, from opset 9); write with pa.policy('onnx')"
    if Kind.COMPLEX in (source.kind, target.kind):
        return "strings are cast to and from real numbers and bools"
    return "" if policy.can_cast(source, target) else "it has no such cast of strings"


def require_cast(policy: Policy, source: DType, target: DType) -> None:
    """Refuse a pair that ``astype`` does not cast under a policy.

    Raises PromotionError with the source and the target as its operands.
    """
    why = cast_refusal(policy, source, target)
    if why:
        pair = f"{source.name} to {target.name}"
        message = f"policy {quoted(policy.name)} does not cast {pair}: {why}"
        raise PromotionError(message, policy, "astype", (Operand(source), Operand(target)), why)


# -- functions that no policy plans ---------------------------------------------------------------


def rule_against(policy: Policy, name: str, dtypes: tuple[DType, ...]) -> str:
    """Return why a function that no policy plans takes no arrays of these dtypes together, whatever
    kernels there are (``Policy.refuses``); "" where it does."""
    refuses = policy.refuses.get(name)
    return (refuses and refuses(dtypes)) or ""


def require_kernel(policy: Policy, name: str, dtype: DType) -> None:
    """Refuse a dtype that a function, which no policy plans, has no kernel for.

    Raises PromotionError if the policy refuses such functions (``Policy.with_kernels``).
    """
    answers, asked = policy.answers if policy.needs_kernels else None, ASKED_AS.get(name, name)
    refusal = answers and answers.without_kernel(policy.title, asked, dtype)
    if answers is None or not refusal:
        return
    near, made = answers.nearest(asked, dtype), name.removesuffix(MADE_OF_DTYPE)
    write = "dtype=pa." if made != name else "pa.astype(x, pa."
    said = near and f". Write {write}{near.name}{')' * (made == name)}"
    message = (
        f"policy {quoted(policy.name)} has no {made} of {dtype.name}: {refusal.why}{said or ''}"
    )
    raise PromotionError(message, policy, made, (Operand(dtype),), refusal.why)
