"""Which findings are new, known or ignored, and which of them fail."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from promoarray.console import counted
from promoarray.diagnostics.findings.baseline import Baseline, Entry
from promoarray.diagnostics.findings.comments import Comment, Notice, comments_in, told
from promoarray.diagnostics.findings.finding import Finding, findings
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.model.kinds import selected


@dataclass(frozen=True)
class Judged:
    """The findings of a report, each known, ignored or new.

    Attributes
    ----------
    every : tuple of Finding
        In the order of the source.
    ignored, known : frozenset of Finding
        By comments, and in the baseline.
    fail_on : tuple of str
        Names that select the findings that fail, if they are new.
    notices : tuple of Notice
        What is wrong with comments.
    gone : Counter
        The entries of the baseline that were not found any more.
    baseline : str
        Its file; "" without one.
    """

    every: tuple[Finding, ...]
    ignored: frozenset[Finding]
    known: frozenset[Finding]
    fail_on: tuple[str, ...]
    notices: tuple[Notice, ...] = ()
    gone: Counter[Entry] = field(default_factory=Counter)
    baseline: str = ""

    def state(self, finding: Finding) -> str:
        """Return ``"ignored"``, ``"known"`` or ``"new"``."""
        if finding in self.ignored:
            return "ignored"
        return "known" if finding in self.known else "new"

    def fails(self, finding: Finding) -> bool:
        """Whether it is new, and selected to fail."""
        chosen = selected(self.fail_on)
        return self.state(finding) == "new" and not chosen.isdisjoint(finding.names)

    @property
    def failing(self) -> list[Finding]:
        """The findings that fail."""
        return [each for each in self.every if self.fails(each)]

    @property
    def hidden(self) -> frozenset[Finding]:
        """Those that a report to be read leaves out."""
        return self.ignored | self.known

    @property
    def left_out(self) -> str:
        """How many are left out, and why, in a sentence; "" if there are none."""
        known = f"known in {self.baseline}"
        counts = {"ignored by comments": len(self.ignored), known: len(self.known)}
        parts = [f"{count} {why}" for why, count in counts.items() if count]
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
    ignored, used = _ignored(every, comments)
    left = [each for each in every if each not in ignored]
    policies = [policy.name for policy in report.policies]
    return Judged(
        tuple(every),
        frozenset(ignored),
        frozenset(baseline.known(left) if baseline else ()),
        fail_on,
        tuple(told(comments, used if whole else comments, policies)),
        baseline.gone(left, policies) if baseline and whole else Counter(),
        str(baseline.path) if baseline else "",
    )


def _ignored(
    every: Collection[Finding], comments: Collection[Comment]
) -> tuple[set[Finding], set[Comment]]:
    """The findings that comments hold for, and those comments."""
    by_file: dict[str, list[Comment]] = {}
    for comment in comments:
        by_file.setdefault(os.path.realpath(comment.file), []).append(comment)
    ignored, used = set(), set()
    for finding in every:
        held = by_file.get(os.path.realpath(finding.place.file), ())
        holding = [comment for comment in held if comment.covers(finding)]
        used.update(holding)
        if holding:
            ignored.add(finding)
    return ignored, used
