"""What a recorder fills and keeps: a report, what arrays carry, what was told of calls.

A call that is like another is not decided about again: what was told of the first is told once
more (``tell_again``), or counted where nothing was to note (``count``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from promoarray.core._fast_path import Tally
from promoarray.core.call_site import sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.model.results import MAX_SITES
from promoarray.diagnostics.record._seen import Carried
from promoarray.diagnostics.record.flow import FlowRecorder
from promoarray.diagnostics.record.ghost import Ghost, ghosts_of
from promoarray.diagnostics.record.heard import Heard
from promoarray.diagnostics.record.report import RecordedReport, Unexamined, Warned
from promoarray.diagnostics.shadow.observer import ShadowObserver
from promoarray.dtypes import DType
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord

Told = TypeVar("Told")


class RecorderBase:
    """The state of a recorder, and how it tells the observer of what it records.

    Attributes
    ----------
    home : Policy
        The policy of the framework itself.
    report : RecordedReport
    carried : Carried
    by_value : bool
        Whether some policy looks at the values of 0-d arrays.
    noted : bool
        Whether there was anything to note since this was last set to False.
    heard : Heard
    flow : bool
        Whether it is recorded which result feeds which operand, and no policy is asked.
    until : object
        What has ``quiet_until``, the time at which counts are to be written down; or None.
    default_named : bool
        Whether the program has set the default dtype itself, so that it is no longer one that it
        did not name.
    known : dict
        What is known of calls, by all that it hangs on (``watcher.py``).
    forgetting : list of callable
        What forgets what is known of them elsewhere.
    """

    def __init__(
        self,
        home: Policy,
        policies: tuple[Policy, ...],
        *,
        framework: str = "",
        max_sites: int = MAX_SITES,
        flow: bool = False,
    ) -> None:
        self.home, self.flow = home, flow
        self.carried = Carried(DType)
        self.known: dict[Hashable, Any] = {}
        self.forgetting: list[Callable[[], object]] = []
        self.begin_again(RecordedReport(home, policies, max_sites=max_sites, framework=framework))
        self.noted = self.default_named = False
        self.heard = Heard(lasting=not flow)
        self.until: Any = None
        self._ghost = ghosts_of(home)

    def begin_again(self, report: RecordedReport) -> None:
        """Fill another report from here on."""
        self.report = report
        self.by_value = any(policy.by_value is not None for policy in report.policies)
        kind: Any = FlowRecorder if self.flow else ShadowObserver
        self._observer: ShadowObserver = kind(report, report.framework.partition(" ")[0])
        self._forget_calls()

    def _forget_calls(self) -> None:
        """Forget what is known of calls, as what they are told has changed."""
        self.known.clear()
        for forget in self.forgetting:
            forget()

    def guarded(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call what looks at the program's own calls.

        A recorder of a program that must go on whatever goes wrong here answers None then.
        """
        return function(*given)

    def names_default(self) -> None:
        """Note that the program sets the default dtype, which it names by that."""
        self.default_named = True
        self._forget_calls()

    def settle(self, home: Policy) -> bool:
        """Take the policy of the mode that the framework is in, unless something is recorded.

        Returns
        -------
        bool
            Whether it is the policy of this run.
        """
        if home is not self.home and not self.report.calls:
            self.home = self.report.run = home
            self._forget_calls()
            self._ghost = ghosts_of(home)
        return home is self.home

    def tell_again(
        self,
        kind: str,
        name: str,
        operations: int,
        tells: tuple[Callable[[], object], ...],
        frame: FrameType,
    ) -> None:
        """Tell of a call what was told of one that is like it (``Heard``); of no kind is what
        only asks."""
        with notify_lock, standing_at(frame):
            if kind:
                self.report.calls[kind, name] += 1
            self.report.operations += operations
            for tell in tells:
                tell()

    def tell_agreed(
        self, tells: tuple[tuple[Callable[[], object], Tally | None], ...], frame: FrameType
    ) -> None:
        """Tell of operations at which all policies agree."""
        with notify_lock, standing_at(frame):
            for tell, _ in tells:
                tell()

    def count(self, kind: str, name: str, operations: int = 0) -> None:
        """Count a call of the framework among those of a kind, and operations of it at which there
        is nothing to note."""
        with notify_lock:
            self.report.calls[kind, name] += 1
            self.report.operations += operations

    def unexamined(self, what: str, why: str, frame: FrameType) -> None:
        """Note what was computed, or may have been, and that no policy is asked about.

        Parameters
        ----------
        what, why : str
        frame : FrameType
            Where the program, or a library, did it.
        """
        with notify_lock, standing_at(frame):
            self.report.unexamined[Unexamined(what, why, *sites())] += 1

    def warned(self, text: str, frame: FrameType) -> None:
        """Note a warning of the framework's own; see ``unexamined``."""
        with notify_lock, standing_at(frame):
            self.report.warned[Warned(text, sites()[1])] += 1

    def ghost(
        self, array: Any, dtype: DType, ndim: int, value: Callable[[], Any] | None = None
    ) -> Ghost:
        """Return an operand: what a live array of the framework carries."""
        return self._ghost.of(self.carried.get(array, dtype), ndim, value)

    def _tell(self, tell: Callable[[], Tally | None], frame: FrameType) -> None:
        """Tell the observer, now and of calls that are alike."""
        with notify_lock, standing_at(frame):
            tally = tell()
        self._hear(tell, tally)

    def _hear(self, tell: Callable[[], object], tally: Tally | None) -> None:
        """Have this told of calls that are alike; where nothing is due a tally counts them."""
        self.heard.add(tell, self._until(tally))

    def _until(self, tally: Tally | None) -> Tally | None:
        """Have a tally leave it to its observer to count, once something is due."""
        if tally is not None:
            tally.until = self.until
        return tally

    def _as_written(self, standing: tuple[bool, str], tell: Callable[[], Told]) -> Told:
        """Tell the observer of what stands in the source as it is, or of what does not."""
        self._observer.edited, self._observer.part_of = standing
        try:
            return tell()
        finally:
            self._observer.edited, self._observer.part_of = True, ""

    def _put(self, array: Any, slot: DType | TypeRecord) -> None:
        """Note what an array carries; None stands for one that the program does not have."""
        if array is not None:
            self.heard.arrays.add(id(array))
            self.carried.put(array, slot)
