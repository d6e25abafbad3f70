"""Findings of ``promoarray compare`` as SARIF."""

from __future__ import annotations

from collections.abc import Iterator

from promoarray.diagnostics.findings.baseline import stable
from promoarray.diagnostics.findings.classify import Judged
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.render.sarif import Edit, Invocation, Note, Result, Rule, document
from promoarray.diagnostics.render.words import Place, by_place, message
from promoarray.diagnostics.spans import Span, span_of

LEVELS = {
    "refuse": "error",
    "dtype": "warning",
    "bits": "warning",
    "escape": "note",
    "signature": "note",
    "decision": "note",
}
"""How much a kind matters, in SARIF's words; the most comes first."""

_NAMES = {
    "refuse": "RefusedOperation",
    "dtype": "OtherDtype",
    "bits": "OtherValues",
    "escape": "DataLeavesPolicy",
    "signature": "CallNotTaken",
    "decision": "DecidedByDtype",
}

_FULL = {
    "dtype": "For the operands of the run the policy answers with another dtype: in that framework "
    "the program goes on with another precision or kind from here.",
    "refuse": "In that framework the program stops here with an error.",
    "bits": "The dtypes are the same, and the values of some elements are not: they overflow, "
    "saturate, wrap or round otherwise in that framework.",
    "escape": "Another library takes the numbers; from here its rules decide and no policy.",
    "signature": "No dtype changes, and the call has to be written otherwise in that framework.",
    "decision": "The run went the way of its own dtype. In that framework the program may take "
    "another branch here, of which this report says nothing.",
}

RULES = tuple(
    Rule(
        kind,
        _NAMES[kind],
        f"{KINDS[kind][0].upper()}{KINDS[kind][1:]}",
        _FULL[kind],
        level,
        "ci.md#what-is-found",
    )
    for kind, level in LEVELS.items()
)


def as_sarif(judged: Judged, invocation: Invocation) -> dict[str, object]:
    """Return the findings that are not ignored as a SARIF document.

    Parameters
    ----------
    judged : Judged
    invocation : Invocation
        How the command ran; what is wrong with comments is added.
    """
    left = (each for each in judged.every if each not in judged.ignored)
    notes = [
        Note("warning", notice.text, Span(notice.file, notice.line)) for notice in judged.notices
    ]
    told = invocation._replace(configuration=(*invocation.configuration, *notes))
    return document(RULES, (_result(judged, each) for each in by_place(left)), told)


def _result(judged: Judged, place: Place) -> Result:
    first = place[0]
    span = span_of(first.place)
    source, kind, _, operation, operands, run, _ = stable(first)
    known = all(each in judged.known for each in place)
    inside = first.inside
    return Result(
        kind,
        message(place),
        span,
        (source, operation, *operands, run, "root" if first.root else ""),
        related=((Span(inside.file, inside.line), "computed here"),) if inside else (),
        edits=tuple(_edits(place, span)),
        baseline=("unchanged" if known else "new") if judged.baseline else "",
        properties={"policies": [each.policy for each in place if each.policy]},
    )


def _edits(place: Place, span: Span) -> Iterator[Edit]:
    """The edits of a place, each for the policies that it is for."""
    text = span.text()
    if not text or ("\n" in text and "#" in text):  # an edit would drop the comments in between
        return
    policies: dict[str, list[str]] = {}
    for each in place:
        if each.edit:
            policies.setdefault(each.edit, []).append(each.policy)
    for edit, names in policies.items():
        yield Edit(f"Write {edit} for {', '.join(names)}", span, edit)
