"""What a refusal says: what was given, which rule refuses, what to write, what others would do."""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.console import listed
from promoarray.dtypes import DType, Kind
from promoarray.errors import PromotionError
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

COMPARED = ("numpy", "torch", "jax", "tensorflow", "paddle", "aclnn")
"""The policies an error message looks at: one a framework, in the order people meet them."""

Casts = tuple[dict[int, DType], Plan]
"""From the operands that are cast to what they become, and the plan then."""


def promotion_error(
    policy: Policy,
    name: str,
    operands: tuple[Operand, ...],
    refusal: Refusal,
    form: Form = Form.OPERATOR,
) -> PromotionError:
    """Return the error for a refusal of an operation, or of a question such as ``result_type``."""
    asked = name if name in OPERATIONS else "concat"  # which does nothing but promote
    refused, reason = f"does not promote {spelled(name, operands, form)}", refusal.reason
    inplace = form is Form.INPLACE
    alike = name in OPERATIONS and not inplace and len(set(map(str, operands))) == 1
    if alike:  # there is nothing to promote
        refused = f"has no {_named(name, operands, form)}"
        if str(operands[0]) == str(refusal.common):
            reason = refusal.why
    parts = [
        f"policy {policy.name!r} {refused}: {reason}.",
        remedy(policy, asked, operands, form),
        "" if inplace else elsewhere(policy, asked, operands, form),
    ]
    message = " ".join(filter(None, parts))
    return PromotionError(message, policy, name, operands, refusal.reason, form=form)


def _named(name: str, operands: tuple[Operand, ...], form: Form) -> str:
    return f"{name} of {operands[0]}" if len(operands) == 1 else spelled(name, operands, form)


def spelled(name: str, operands: tuple[Operand, ...], form: Form) -> str:
    """Write an operation with its operands' dtypes."""
    symbol = OPERATIONS[name].symbol if name in OPERATIONS else ""
    if symbol and len(operands) == 2 and form is not Form.FUNCTION:
        return f" {symbol}{form} ".join(map(str, operands))
    return f"{name}({', '.join(map(str, operands))})"


def remedy(policy: Policy, name: str, operands: tuple[Operand, ...], form: Form) -> str:
    """Say which cast the policy would accept."""
    if form is Form.INPLACE and isinstance(policy.plan(name, operands), Plan):
        return f"Write x1 = pa.{name}(x1, x2), or cast the result before you write it."
    casts, _ = _proposed(policy, name, operands, form) or ({}, None)
    written = (
        f"pa.astype(x{index + 1 if len(operands) > 1 else ''}, pa.{target.name})"
        for index, target in casts.items()
    )
    return f"Write {' and '.join(written)}." if casts else ""


def accepted_casts(
    policy: Policy, name: str, operands: tuple[Operand, ...], form: Form = Form.OPERATOR
) -> Casts | None:
    """Find casts that make a refused operation pass: those the error proposes, else a lossy one.

    Returns
    -------
    tuple of (dict, Plan), or None
        From each operand that is cast to its new dtype, and the plan then.
    """
    proposed = _proposed(policy, name, operands, form)
    if proposed is None and (cast := _accepted_cast(policy, name, operands, form)):
        return {cast[0]: cast[1]}, cast[2]
    return proposed


def _proposed(policy: Policy, name: str, operands: tuple[Operand, ...], form: Form) -> Casts | None:
    """Find casts that keep the sort of number: of one operand, else of every array."""
    cast = _accepted_cast(policy, name, operands, form)
    if cast and _keeps(name, operands[cast[0]].type, cast[1]):
        return {cast[0]: cast[1]}, cast[2]
    return _casts_to_default(policy, name, operands, form)


def _accepted_cast(
    policy: Policy, name: str, operands: tuple[Operand, ...], form: Form
) -> tuple[int, DType, Plan] | None:
    """Find the cast of one operand that makes a refused operation pass, gains before losses.

    Returns
    -------
    tuple of (int, DType, Plan), or None
        Which operand, what it is cast to, and the plan then.
    """
    for index, target in _candidates(policy, operands):
        if not _admits(policy, operands[index].type, target):
            continue
        changed = list(operands)
        changed[index] = Operand(target, operands[index].rank)
        plan = policy.plan(name, tuple(changed), form)
        if isinstance(plan, Plan):
            return index, target, plan
    return None


def _casts_to_default(
    policy: Policy, name: str, operands: tuple[Operand, ...], form: Form
) -> Casts | None:
    """Find the default dtype to which all arrays can be cast to make a refused operation pass."""
    arrays = [index for index, operand in enumerate(operands) if operand.rank is not Rank.SCALAR]
    for weak in (dt.weak_int, dt.weak_float, dt.weak_complex, dt.weak_bool):
        target = policy.strong(weak)
        casts = {index: target for index in arrays if operands[index].type is not target}
        changed = (Operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(operands))
        types = [operands[index].type for index in casts]
        kept = all(_keeps(name, x, target) and _admits(policy, x, target) for x in types)
        plan = policy.plan(name, tuple(changed), form) if casts and kept else None
        if isinstance(plan, Plan):
            return casts, plan
    return None


def _admits(policy: Policy, source: DType, target: DType) -> bool:
    """Whether ``astype`` makes the cast, or would refuse what the error says to write."""
    return policy.cast.refuses(policy.strong(source), target) is None


def _keeps(name: str, source: DType, target: DType) -> bool:
    """Whether a cast keeps the sort of number, which operations on bits and truth cannot want."""
    on_bits = OPERATIONS[name].family in (Family.BITWISE, Family.SHIFT, Family.LOGICAL)
    return on_bits or target.kind.category >= source.kind.category


def _candidates(policy: Policy, operands: tuple[Operand, ...]) -> list[tuple[int, DType]]:
    """Which operand could take another one's dtype; a lone one, the policy's default float."""
    if len(operands) == 1:
        if operands[0].rank is Rank.SCALAR:
            return []
        return [(0, policy.strong(weak)) for weak in (dt.weak_float, dt.weak_int)]
    held = [other.type for other in operands if not other.type.weak]
    pairs = [
        (index, target)
        for index, operand in enumerate(operands)
        for target in (policy.canonical.get(operand.type, operand.type), *held)
        if operand.rank is not Rank.SCALAR and target is not operand.type
    ]
    return sorted(pairs, key=lambda pair: _gain(operands[pair[0]].type, pair[1]), reverse=True)


def _gain(source: DType, target: DType) -> tuple[int, int]:
    return target.kind.category - source.kind.category, target.bits - source.bits


def elsewhere(policy: Policy, name: str, operands: tuple[Operand, ...], form: Form) -> str:
    """Say what the others give: "Elsewhere: numpy float64; torch and jax float32."."""
    answers: dict[str, list[str]] = {}
    for other in map(as_policy, COMPARED):
        if _family(other) == _family(policy):
            continue
        plan = other.plan(name, operands, form)
        if isinstance(plan, Plan):
            answers.setdefault(other.strong(plan.result).name, []).append(_family(other))
    said = "; ".join(f"{listed(names)} {dtype}" for dtype, names in answers.items())
    return said and f"Elsewhere: {said}."


def _family(policy: Policy) -> str:
    return policy.name.partition("@")[0]


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

    Raises
    ------
    PromotionError
        With the source and the target as its operands.
    """
    why = cast_refusal(policy, source, target)
    if why:
        message = f"policy {policy.name!r} does not cast {source.name} to {target.name}: {why}"
        raise PromotionError(message, policy, "astype", (Operand(source), Operand(target)), why)
