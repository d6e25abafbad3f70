"""A recorder that tells a probe what it tells the shadow run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from promoarray.core.array_base import Array
from promoarray.core.events import CastEvent, OperationEvent, Repeat, SetitemEvent
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.shadow.observer import ShadowObserver
from promoarray.dtypes import DType
from promoarray.promotion.policy import Policy


class Listener(Protocol):
    """What hears of recorded operations before the shadow run does."""

    edited: bool

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Hear of an operation, of which ``edited`` says whether it is the source's own."""

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Hear of an array of Python numbers."""

    def on_cast(self, cast: CastEvent) -> None:
        """Hear of an explicit cast."""

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Hear of an assignment."""


class ProbedRecorder(Recorder):
    """A recorder with a listener, which hears of every operation and not of new ones alone."""

    def __init__(
        self,
        home: Policy,
        policies: tuple[Policy, ...],
        *,
        framework: str = "",
        listener: Listener | None = None,
    ) -> None:
        self._listener = listener
        super().__init__(home, policies, framework=framework)

    def begin_again(self, report: RecordedReport) -> None:
        """Fill another report from here on."""
        super().begin_again(report)
        if self._listener is not None:
            report.flows.clear()  # the policies are asked as the program runs
            self._observer = _Telling(report, self._observer.framework, listener=self._listener)


@dataclass(eq=False)
class _Telling(ShadowObserver):
    """A shadow run that tells a listener first: afterwards arrays carry what came of it."""

    listener: Listener | None = None

    def on_operation(self, event: OperationEvent) -> None:
        """Tell, and ask the shadow policies; nothing is said of those that are alike."""
        assert self.listener is not None
        self.listener.edited = self.edited
        self.listener.on_operation(event)
        super().on_operation(event)

    def default(self, weak: DType, result: Array, lone: bool) -> None:
        """Tell, and note what default dtype each policy gives; nothing counts what is alike."""
        assert self.listener is not None
        self.listener.edited = True
        self.listener.on_default(weak, result, lone)
        super().default(weak, result, lone)

    def on_cast(self, cast: CastEvent) -> None:
        """Tell, and note the policies that refuse the cast."""
        assert self.listener is not None
        self.listener.on_cast(cast)
        super().on_cast(cast)

    def assign(self, assignment: SetitemEvent) -> None:
        """Tell, and note the policies that refuse the assignment; nothing counts what is alike."""
        assert self.listener is not None
        self.listener.on_setitem(assignment)
        super().assign(assignment)
