"""Going on after a refusal, with the cast that its message proposes."""

from __future__ import annotations

from dataclasses import dataclass, field

from promoarray.core.call_site import Site, current_site
from promoarray.core.observers import Observer, ProposedCasts
from promoarray.core.proposed_casts import accepted_casts, remarks
from promoarray.core.refusals import spelled
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy


@dataclass(eq=False)
class AutoCast(Observer):
    """Applies the casts that a refusal proposes, so that the program goes on.

    Attributes
    ----------
    recovered : dict
        From each place and operation refused to the cast applied, in words.
    """

    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)

    def on_refusal(
        self,
        name: str,
        form: Form,
        policy: Policy,
        seen: tuple[Operand, ...],
        refusal: Refusal,
    ) -> ProposedCasts | None:
        """Cast operands as the error message would have said, if there are such casts."""
        casts, _ = accepted_casts(policy, name, seen, form) or ({}, None)
        if casts:
            self.recovered[current_site(), spelled(name, seen, form)] = worded(policy, seen, casts)
        return casts


def worded(policy: Policy, seen: tuple[Operand, ...], casts: ProposedCasts) -> str:
    """Casts of operands in words, "x1 to float32", and remarks on them."""
    said = " and ".join(f"x{index + 1} to {target.name}" for index, target in casts.items())
    lost = remarks(policy, seen, casts)
    return f"{said} ({lost})" if lost else said
