"""Everything a report says, as remarks: each at one line of the program, for some policies.

The sections of a report are by sort; a reader of source wants all that is said of a line. A remark
is that, with the kinds and policies by which it can be filtered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.escape_report import Escapes, worded
from promoarray.diagnostics.shadow.decisions import Decisions
from promoarray.diagnostics.shadow.divergence import Divergence
from promoarray.diagnostics.shadow.place import edits, grouped, spelled
from promoarray.diagnostics.shadow.signatures import Signatures
from promoarray.diagnostics.shadow.value_changes import ValueChanges
from promoarray.pages import prose

REFUSE, DTYPE, BITS, SIGNATURE = "refuse", "dtype", "bits", "signature"
DECISION, ESCAPE = "decision", "escape"

KINDS = {
    REFUSE: "a policy refuses",
    DTYPE: "another dtype",
    BITS: "other values",
    SIGNATURE: "a call that a framework does not take",
    DECISION: "decided by the run's dtype",
    ESCAPE: "data leaves the policy",
}
"""What remarks are of, with the words for it, the most consequential first."""


class Said(NamedTuple):
    """What a remark says of some policies.

    Attributes
    ----------
    policies : tuple of str
        None of them if it is said of all.
    kind : str
        One of ``KINDS``; "" of what is no difference: the run's own answer, an edit.
    origin : str
        "root" or "inherits", of a difference in dtypes.
    html : str
    """

    policies: tuple[str, ...]
    kind: str
    origin: str
    html: str


@dataclass(frozen=True)
class Remark:
    """What is said of one expression.

    Attributes
    ----------
    line : Site
        Of the program's own source.
    head : str
        HTML: the expression, and what it is of.
    said : tuple of Said
    """

    line: Site
    head: str
    said: tuple[Said, ...]

    @property
    def inherited(self) -> bool:
        """Whether it only follows from an earlier line."""
        kinds = [each for each in self.said if each.kind]
        return all(each.origin == "inherits" for each in kinds)


def of_divergence(divergence: Divergence, run: str) -> Remark:
    """Return the remark on a place at which the policies differ."""
    said = []
    for answer, origin, names in grouped(divergence):
        kind = REFUSE if answer.dtype is None else DTYPE if origin else ""
        words = f"<b>{answer}</b> <span>{_policies(names, run)}</span>{_small(answer.reason)}"
        said.append(Said(tuple(names), kind, origin, words))
    for edit, names in edits(divergence).items():
        words = (
            f'<span class="write">write <code>{escape(edit)}</code></span> <span>for '
            f"{_policies(names, run)}</span>"
        )
        said.append(Said(tuple(names), "", "edit", words))
    times = f" ×{divergence.count}" if divergence.count > 1 else ""
    inside = divergence.site if divergence.site != divergence.program else None
    head = _head(divergence.site, spelled(divergence) + times, inside)
    return Remark(divergence.program, head, tuple(said))


def of_value_changes(changes: ValueChanges) -> Iterator[Remark]:
    """Yield the remarks on casts whose values differ."""
    for change in changes:
        site, program = change.place.site, change.place.program
        said = [
            Said(each.policies, BITS, "root", escape(words))
            for each, words in zip(tuple(change.differences.values()), change.said(), strict=True)
        ]
        if change.edit:
            words = f'<span class="write">write <code>{escape(change.edit)}</code></span>'
            policies = dict.fromkeys(name for each in said for name in each.policies)
            said.append(Said(tuple(policies), "", "edit", words))
        head = _head(site, change.cast, site if site != program else None)
        yield Remark(program, head, tuple(said))


def of_signatures(signatures: Signatures) -> Iterator[Remark]:
    """Yield the remarks on calls that some framework does not take."""
    for call in sorted(signatures.counts):
        words = f"<b>{escape(call.policy)}</b> {escape(call.reason)}"
        yield Remark(
            call.site, _head(call.site, ""), (Said((call.policy,), SIGNATURE, "root", words),)
        )


def of_escapes(escapes: Escapes) -> Iterator[Remark]:
    """Yield the remarks on data that left the policy."""
    for row in escapes.rows():
        site = row[0].site
        yield Remark(site, _head(site, ""), (Said((), ESCAPE, "root", escape(worded(row))),))


def of_decisions(decisions: Decisions) -> Iterator[Remark]:
    """Yield the remarks on places that the run's dtype decides."""
    for decided in sorted(decisions.counts):
        given, other = ", ".join(decided.run), ", ".join(decided.other)
        words = f"<b>{escape(decided.policy)}</b> has {escape(other)}, the run {escape(given)}"
        inside = decided.site if decided.site != decided.program else None
        head = _head(decided.site, "", inside)
        yield Remark(decided.program, head, (Said((decided.policy,), DECISION, "root", words),))


def _head(site: Site, what: str, inside: Site | None = None) -> str:
    of = f' <span class="quiet">[{escape(what)}]</span>' if what else ""
    called = _small(f"in {inside.path}") if inside else ""
    return f"<code>{escape(site.expression or site.text)}</code>{of}{called}"


def _policies(names: list[str], run: str) -> str:
    return ", ".join(f"{escape(name)}{' (the run)' if name == run else ''}" for name in names)


def _small(text: str) -> str:
    return f"<small>{prose(text)}</small>" if text else ""
