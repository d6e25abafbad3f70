"""Going on after a refusal, with the casts that its message proposes."""

from __future__ import annotations

from dataclasses import dataclass, field

from promoarray.core.call_site import Site, current_site
from promoarray.core.events import (
    Observer,
    OperationEvent,
    Recovery,
    RefusalEvent,
    Repeat,
    Repeats,
)
from promoarray.core.recovery import recovery, worded
from promoarray.core.refusals import spelled
from promoarray.diagnostics.model.scalar_class import scalar_class


@dataclass(eq=False)
class AutoCast(Observer):
    """Applies the casts that a refusal proposes, so that the program goes on.

    Attributes
    ----------
    recovered : dict
        From each place and operation refused to the cast applied, in words.
    """

    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repeats = Repeats(scalar_class, by_value=True)

    def on_operation(self, event: OperationEvent) -> Repeat:
        """Need not hear of what is carried out, which is as fast as it is without an observer."""
        made = (event.result, *event.extra_results)
        return Repeat(tuple(x._type for x in made), lambda: False)

    def on_refusal(self, event: RefusalEvent) -> Recovery | None:
        """Cast as the error message would have said, if there are such casts."""
        found = recovery(event)
        if found is not None:
            refused = spelled(event.name, event.seen, event.form)
            if event.name == "setitem":
                refused = "{}[...] = {}".format(*event.seen)
            self.recovered[current_site(), refused] = worded(event, found)
        return found
