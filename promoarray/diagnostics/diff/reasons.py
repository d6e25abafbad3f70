"""Why two policies answer an operation otherwise: the steps of ``explain`` that they do not share.

The general rule of a policy, its principle, is one for the whole program and stands at the head of
the report; here is what the operation adds, and else nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from promoarray.core.events import OperationEvent
from promoarray.diagnostics.explain.case import Case
from promoarray.operations import Form
from promoarray.promotion.policy import Policy


class Reasons(NamedTuple):
    """The steps of two policies by which they come to other answers.

    Attributes
    ----------
    before, after : tuple of str
        Of the policy that the program runs under, and of the other.
    """

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


NO_REASONS = Reasons()
"""Where nobody was asked."""


def reasons_of(
    name: str, form: Form, operands: tuple[Any, ...], before: Policy, after: Policy
) -> Reasons:
    """Return the steps that two policies take on the same operands, without those they share."""
    one, other = (_steps(name, form, operands, policy) for policy in (before, after))
    return Reasons(tuple(_own(one, other)), tuple(_own(other, one)))


def reasons_of_event(event: OperationEvent, after: Policy) -> Reasons:
    """Return why a policy answers otherwise what the run has computed."""
    return reasons_of(event.name, event.form, event.operands, event.policy, after)


Step = tuple[str, list[str]]
"""What it is about, such as "promote", and what is said of that."""


def _steps(name: str, form: Form, operands: tuple[Any, ...], policy: Policy) -> list[Step]:
    """The steps but the general rule and the result, which the report shows by itself."""
    steps = Case(name, form, operands, policy, supposed=True).steps()
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


_SHOWN = ("result: ", "results: ", "refused: ", "raises ")
