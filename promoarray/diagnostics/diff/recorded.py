"""``promoarray diff --from numpy@1 --to numpy@2`` of a NumPy program as it is.

NumPy 2 runs it, and it is recorded. What NumPy 2 stops at is done as NumPy 1 did it, so that one
run finds all that changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from promoarray.core.call_site import sites
from promoarray.core.events import OperationEvent
from promoarray.diagnostics.run.frameworks import framework_of
from promoarray.diagnostics.run.probe import Probe
from promoarray.diagnostics.diff.probe import MOST_KNOWN, At, Noted
from promoarray.diagnostics.diff.reasons import reasons_of
from promoarray.diagnostics.diff.recompute import decided_on_the_same
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.shadow.common_fixes import fix_of
from promoarray.diagnostics.shadow.verdict import key_of
from promoarray.promotion.plan import Decision, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def framework_recorded(
    script: str | None, module: str | None, before: Policy, after: Policy
) -> str:
    """Return what a program computes with itself, if its editions are compared; else ""."""
    for name, framework in REWRITTEN.items():
        if {before, after} <= {as_policy(edition) for _, edition in framework.editions}:
            return name if framework_of(script, module) == name else ""
    return ""


@dataclass(eq=False)
class RecordedChanges(Probe):
    """Notes why two policies answer otherwise what a recorded program does, and what to write.

    Attributes
    ----------
    before, after : str
        Their names. Either may be that of the run.
    """

    before: str
    after: str
    _noted: Noted = field(default_factory=Noted)
    _known: set[Hashable] = field(default_factory=set)

    def begin(self) -> None:
        """Begin with nothing noted."""
        self._noted, self._known = Noted(), set()
        self._policies = as_policy(self.before), as_policy(self.after)
        self._by_value = any(policy.by_value is not None for policy in self._policies)

    def ended(self, names: dict[str, Any]) -> Noted:
        """Return what was noted."""
        return self._noted

    def on_operation(self, event: OperationEvent) -> None:
        """Note the steps of both policies and the edit, where their answers differ."""
        key = key_of(event, self._by_value)
        if key in self._known:
            return
        before, after = self._policies
        one, other = (decided_on_the_same(policy, event) for policy in self._policies)
        if _result(before, one) == _result(after, other):
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(key)
            return
        at = At(*sites(), event.name, event.form, tuple(map(str, event.seen)))
        if at in self._noted.reasons:
            return
        asked = event.name, event.form, event.operands
        self._noted.reasons[at] = reasons_of(*asked, before, after)
        if isinstance(one, Refusal):
            return
        as_before = event._replace(policy=before, plan=one.plan, values=one.values)
        fix = fix_of(after, as_before, before.strong(one.plan.result))
        if fix is not None:
            self._noted.edits[at] = fix


def _result(policy: Policy, decided: Decision | Refusal) -> Any:
    return None if isinstance(decided, Refusal) else policy.strong(decided.plan.result)
