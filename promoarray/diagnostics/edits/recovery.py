"""Going on after a refusal: the casts of operands, and of the result, that let the program go on.

They are those that the error's message proposes. A Python int that the dtype of its array does not
hold has the array cast to one that does. What may not be written in place is computed, and cast to
the target's dtype before it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from promoarray.console import listed
from promoarray.core.events import Recovery, RefusalEvent
from promoarray.core.proposed_casts import accepted_casts, remarks
from promoarray.core.refusals import cast_refusal
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.cast_losses import gravity
from promoarray.promotion.plan import Decision, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import NO_OPTIONS, Policy

Found = tuple[Mapping[int, DType], Plan]
"""Casts of operands, and the plan then."""


def recovery(event: RefusalEvent) -> Recovery | None:
    """Return what to cast after a refusal; None if nothing lets the program go on."""
    if event.name == "setitem":
        return _written(event)
    if event.form is Form.INPLACE and event.policy.inplace is not None:
        return _in_place(event)
    found = _accepted(event, event.form, event.refusal)
    return found and Recovery(found[0])


def _accepted(event: RefusalEvent, form: Form, refusal: Refusal) -> Found | None:
    """Find casts after which an operation passes with these very operands."""
    name, policy, seen = event.name, event.policy, event.seen
    if refusal.error is None:
        return accepted_casts(policy, name, seen, form)
    return accepted_for_value(policy, name, seen, event.operands, form, event.options)


def accepted_for_value(
    policy: Policy,
    name: str,
    seen: tuple[Operand, ...],
    values: tuple[Any, ...],
    form: Form,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Found | None:
    """Find the cast of the arrays after which a Python scalar fits that is refused for its value;
    return it with the plan then. Of those that keep every value of the arrays it is to the smallest
    dtype, of integers first."""
    arrays = [i for i, operand in enumerate(seen) if operand.rank is not Rank.SCALAR]
    for target in _wider(policy, [policy.strong(seen[i].type) for i in arrays]):
        casts = {i: target for i in arrays if seen[i].type is not target}
        made = tuple(Operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(seen))
        decided = policy.decide(name, made, values, form, options=options)
        if casts and isinstance(decided, Decision):
            return casts, decided.plan
    return None


def _wider(policy: Policy, held: list[DType]) -> Iterator[DType]:
    """The dtypes of a policy that arrays are cast to without a loss, the smallest first.

    Of two integers of a size, unsigned arrays are cast to the unsigned one, others to the signed.
    """
    targets = dict.fromkeys(policy.canonical.get(dtype, dtype) for dtype in policy.dtypes)
    fitting = [
        target for target in targets if all(_keeps(policy, source, target) for source in held)
    ]
    last = Kind.INT if all(dtype.kind is Kind.UINT for dtype in held) else Kind.UINT
    return iter(sorted(fitting, key=lambda t: (t.kind.category, t.bits, t.kind is last)))


def _keeps(policy: Policy, source: DType, target: DType) -> bool:
    """Whether ``astype`` casts one dtype to another, and keeps every value."""
    admitted = target.kind.category >= source.kind.category
    return source is target or (
        admitted
        and not any(gravity(source, target))
        and not cast_refusal(policy, source, target)
        and policy.cast.target(source, target) is target
    )


def _written(event: RefusalEvent) -> Recovery | None:
    """``x[...] = y``: the value is cast to the dtype of the target, if it is an array."""
    target, value = event.seen
    if event.refusal.error is not None or type(event.operands[1]) in WEAK:
        return None
    why = cast_refusal(event.policy, event.policy.strong(value.type), target.type)
    imaginary = value.type.kind is Kind.COMPLEX is not target.type.kind
    return None if why or imaginary else Recovery({1: target.type})


def _in_place(event: RefusalEvent) -> Recovery | None:
    """``x op= y``: computed as ``x op y``, and cast to the dtype of the target."""
    target = event.seen[0].type
    asked = event.name, event.seen, event.operands
    decided = event.policy.decide(*asked, Form.OPERATOR, options=event.options)
    found: Found | None = None
    if isinstance(decided, Decision):
        found = {}, decided.plan
    else:
        found = _accepted(event, Form.OPERATOR, decided)
    if found is None or cast_refusal(event.policy, event.policy.strong(found[1].result), target):
        return None
    return Recovery(found[0], target)


def worded(event: RefusalEvent, found: Recovery) -> str:
    """What is cast in words, "x1 to float32", and remarks on it."""
    policy, seen = event.policy, event.seen
    if event.name == "setitem":
        return f"the value to {found.casts[1].name}"
    said = [f"x{index + 1} to {target.name}" for index, target in found.casts.items()]
    said += [f"the result to {found.result.name}"] if found.result else []
    lost = remarks(policy, [operand.type for operand in seen], found.casts)
    return f"{listed(said)} ({lost})" if lost else listed(said)
