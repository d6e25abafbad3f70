"""Going on after a refusal, with the casts that its message proposes."""

from __future__ import annotations

from dataclasses import dataclass, field

from promoarray.core.call_site import Site, current_site
from promoarray.core.events import Observer, Recovery, RefusalEvent
from promoarray.core.recovery import recovery, worded
from promoarray.core.refusals import spelled


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


def refused(event: RefusalEvent) -> str:
    """What was refused, with the operands' dtypes."""
    if event.name == "setitem":
        return "{}[...] = {}".format(*event.seen)
    return spelled(event.name, event.seen, event.form)
