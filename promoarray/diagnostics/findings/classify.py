"""Classes of findings: new, known or ignored, and those that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from promoarray.console import counted
from promoarray.diagnostics.findings.baseline import Baseline, Entry
from promoarray.diagnostics.findings.comments import Notice, comments_in, told
from promoarray.diagnostics.findings.finding import Finding, findings
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.model.kinds import selected

NEW, KNOWN, IGNORED = "new", "known", "ignored"


@dataclass(frozen=True)
class Judged:
    """The findings of a report, each known, ignored or new.

    Attributes
    ----------
    states : dict
        From each Finding, in the order of the source, to ``NEW``, ``KNOWN`` in the baseline, or
        ``IGNORED`` by a comment.
    fail_on : tuple of str
        Names that select the findings that fail, if they are new.
    notices : tuple of Notice
        What is wrong with comments.
    gone : Counter
        The entries of the baseline that were not found any more.
    baseline : str
        Its file; "" without one.
    """

    states: dict[Finding, str]
    fail_on: tuple[str, ...]
    notices: tuple[Notice, ...] = ()
    gone: Counter[Entry] = field(default_factory=Counter)
    baseline: str = ""

    def of(self, *states: str) -> list[Finding]:
        """Return the findings that are in one of some states."""
        return [each for each, state in self.states.items() if state in states]

    def fails(self, finding: Finding) -> bool:
        """Whether it is new, and selected to fail."""
        chosen = selected(self.fail_on)
        return self.states[finding] == NEW and not chosen.isdisjoint(finding.names)

    @property
    def failing(self) -> list[Finding]:
        """The findings that fail."""
        return [*filter(self.fails, self.states)]

    @property
    def hidden(self) -> frozenset[Finding]:
        """Those that a report to be read leaves out."""
        return frozenset(self.of(IGNORED, KNOWN))

    @property
    def left_out(self) -> str:
        """How many are left out, and why, in a sentence; "" if there are none."""
        why = {IGNORED: "ignored by comments", KNOWN: f"known in {self.baseline}"}
        counts = Counter(self.states.values())
        parts = [f"{counts[state]} {words}" for state, words in why.items() if counts[state]]
        total = counted(len(self.hidden), "finding")
        return f"{total} not shown: {', '.join(parts)}." if parts else ""

    @property
    def gone_in_words(self) -> list[str]:
        """What the baseline has and the program has not any more, a line each."""
        lines = []
        for entry, count in sorted(self.gone.items()):
            what = " ".join(filter(None, (entry.policy, entry.answer or entry.kind)))
            times = f"  ×{count}" if count > 1 else ""
            lines.append(f"{entry.file}: {entry.expression}  {what}{times}")
        return lines


def judge(
    report: Results,
    files: Collection[str],
    baseline: Baseline | None,
    fail_on: tuple[str, ...],
    *,
    whole: bool,
) -> Judged:
    """Say which findings of a report are new.

    Parameters
    ----------
    report : Results
    files : collection of str
        Those of the program, in which comments are looked for besides those with findings.
    baseline : Baseline or None
    fail_on : tuple of str
    whole : bool
        Whether the program ran to its end; else nothing is told of what was not found.
    """
    every = findings(report)
    comments = comments_in({*files, *(each.place.file for each in every)})
    holding = {each: [c for c in comments if c.covers(each)] for each in every}
    used = {comment for found in holding.values() for comment in found}
    left = [each for each, found in holding.items() if not found]
    known = baseline.known(left) if baseline else set()
    states = {each: IGNORED if found else NEW for each, found in holding.items()}
    states |= dict.fromkeys(known, KNOWN)
    policies = [policy.name for policy in report.policies]
    return Judged(
        states,
        fail_on,
        tuple(told(comments, used if whole else comments, policies)),
        baseline.gone(left, policies) if baseline and whole else Counter(),
        str(baseline.path) if baseline else "",
    )
