"""The state of a recorder: a report, what arrays carry, the cache of calls.

A call that is like another at the same place is not looked at again, but counted
(``count_again``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from promoarray.core.call_site import sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.findings.results import MAX_SITES
from promoarray.diagnostics.model.abstract_array import AbstractArray, abstract_arrays_of
from promoarray.diagnostics.record._seen import Carried
from promoarray.diagnostics.record.call_record import Heard
from promoarray.diagnostics.record.flow import FlowRecorder
from promoarray.diagnostics.record.report import RecordedReport, Unexamined, Warned
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
        Whether the framework did otherwise than its policy says since this was set to False.
    heard : Heard
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
    ) -> None:
        self.home, self.heard = home, Heard()
        self.carried = Carried(DType)
        self.known: dict[Hashable, Any] = {}
        self.forgetting: list[Callable[[], object]] = []
        self.begin_again(RecordedReport(home, policies, max_sites=max_sites, framework=framework))
        self.noted = self.default_named = False
        self._abstract_array = abstract_arrays_of(home)

    def begin_again(self, report: RecordedReport) -> None:
        """Fill another report from here on."""
        self.report = report
        self.by_value = any(policy.by_value is not None for policy in report.policies)
        self._observer = FlowRecorder(report, report.framework.partition(" ")[0], self.heard)
        self._forget_calls()

    @property
    def flow(self) -> FlowRecorder:
        """What records operations."""
        return self._observer

    def go_on(self, before: FlowRecorder) -> None:
        """Go on with an earlier flow in another report, with nothing counted."""
        self._observer = before
        before.begin_again(self.report)

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
            self._abstract_array = abstract_arrays_of(home)
        return home is self.home

    def count_again(self, known: Any, name: str) -> None:
        """Count a call that is like another at the same place (``Known``)."""
        with notify_lock:
            if known.kind:
                self.report.calls[known.kind, name] += 1
            for operation in known.operations:
                operation.count += 1
        for tell in known.tells:
            tell()

    def heard_again(self) -> None:
        """Hear, once in some thousand calls that are alike, that the program goes on."""

    def count(self, kind: str, name: str) -> None:
        """Count a call of the framework among those of a kind."""
        with notify_lock:
            self.report.calls[kind, name] += 1

    def called(
        self,
        name: str,
        operand: AbstractArray | None,
        keywords: Collection[str],
        ruled: bool,
        frame: FrameType,
    ) -> None:
        """Record a call by its name, for what else than promotion frameworks do otherwise.

        Parameters
        ----------
        name : str
            The function, as the framework has it.
        operand : AbstractArray or None
            The array that it takes first.
        keywords : collection of str
            The parameters that the call names.
        ruled : bool
            Whether it is recorded as an operation, of which a rule says what is refused.
        frame : FrameType
        """
        given = () if operand is None else (operand,)
        tell = partial(self._observer.on_call, name, self.home, given, keywords, ruled)
        self._tell(tell, frame)

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

    def abstract(
        self, array: Any, dtype: DType, ndim: int, value: Callable[[], Any] | None = None
    ) -> AbstractArray:
        """Return an operand: what a live array of the framework carries."""
        return self._abstract_array.of(self.carried.get(array, dtype), ndim, value)

    def _tell(self, tell: Callable[[], object], frame: FrameType) -> None:
        """Tell the observer."""
        with notify_lock, standing_at(frame):
            tell()

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
