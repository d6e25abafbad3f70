"""Going on after a refusal, with the casts that its message proposes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from promoarray.core.call_site import Site, current_site
from promoarray.core.events import Observer, OperationEvent, Recovery, RefusalEvent, Repeat, Repeats
from promoarray.core.passes import Passes
from promoarray.core.recovery import recovery, worded
from promoarray.core.refusals import spelled
from promoarray.diagnostics.shadow.magnitude import magnitude
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

    def on_refusal(self, event: RefusalEvent) -> Recovery | None:
        """Cast as the error message would have said, if there are such casts."""
        found = recovery(event)
        if found is not None:
            self.recovered[current_site(), refused(event)] = worded(event, found)
        return found


class Indifferent(Observer):
    """Hears of each sort of operation once, so that the others take the fast path.

    Parameters
    ----------
    run : Policy
        The policy that the program runs under.
    """

    def __init__(self, run: Policy) -> None:
        self.repeats = Repeats(magnitude, by_value=run.by_value is not None)
        self._tally = Passes[Any]().tally()

    def on_operation(self, event: OperationEvent) -> Repeat:
        """Say that nothing is to be done."""
        made = event.result, *event.extra_results
        return Repeat(tuple(x._type for x in made), _nothing_new, self._tally)


def _nothing_new() -> bool:
    return False


def refused(event: RefusalEvent) -> str:
    """What was refused, with the operands' dtypes."""
    if event.name == "setitem":
        return "{}[...] = {}".format(*event.seen)
    return spelled(event.name, event.seen, event.form)
