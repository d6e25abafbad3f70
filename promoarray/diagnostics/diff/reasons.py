"""Reasons for a difference: the steps of ``explain`` that two policies do not share.

The general rule of a policy, its principle, is one for the whole program and stands at the head of
the report; here is what the operation adds, and else nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from promoarray.core.events import OperationEvent, RefusalEvent
from promoarray.diagnostics.explain.case import Case
from promoarray.operations import OPERATIONS
from promoarray.promotion.policy import Policy

Event = OperationEvent | RefusalEvent
Step = tuple[str, list[str]]
"""What it is about, such as "promote", and what is said of that."""

_SHOWN = ("result: ", "results: ", "refused: ", "raises ")
"""Steps that the report shows by itself."""


class Reasons(NamedTuple):
    """The steps by which two policies come to other answers, without those that they share."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


NO_REASONS = Reasons()
"""Where nobody was asked."""


def reasons_of(event: Event | None, before: Policy, after: Policy) -> Reasons:
    """Return the steps of two policies on the same operands; none of what is no operation."""
    if event is None or event.name not in OPERATIONS:
        return NO_REASONS
    one, other = _steps(event, before), _steps(event, after)
    return Reasons(tuple(_own(one, other)), tuple(_own(other, one)))


def _steps(event: Event, policy: Policy) -> list[Step]:
    """The steps but the general rule and the result."""
    steps = Case(event.name, event.form, event.operands, policy, supposed=True).steps()
    own = (step.rstrip(".") for step in steps if step != policy.principle)
    parts = (step.partition(": ") for step in own if not step.startswith(_SHOWN))
    return [(label, said.split("; ")) for label, _, said in parts]


def _own(steps: list[Step], others: list[Step]) -> Iterator[str]:
    """What is said in these steps and not in the others."""
    shared = {(label, part) for label, said in others for part in said}
    for label, said in steps:
        own = [part for part in said if (label, part) not in shared]
        if own:
            yield f"{label}: {'; '.join(own)}" if any(own) else label
