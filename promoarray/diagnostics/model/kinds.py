"""The kinds of findings, and the names that select them."""

from __future__ import annotations

from collections.abc import Collection

KINDS = {
    "refuse": "the policy refuses the operation",
    "bits": "the policy makes other values of a cast",
    "dtype": "the policy gives another dtype",
    "signature": "the framework's own function does not take the call",
    "decision": "the program reads a dtype that is another under the policy, and may branch on it",
    "escape": "an array leaves the policy, so that another library's rules decide",
}
"""The kinds in words, in the order in which reports have them: the most consequential first."""

DIFFERENCES = frozenset({"refuse", "bits", "dtype", "signature", "decision"})
"""Those after which a policy does not agree."""

UNKNOWN = "unknown"
"""Said of what hangs on a refusal for which there is no edit; no finding."""

ROOT = "root"
"""A dtype or a refusal that does not come of an earlier line."""

NAMES = (ROOT, "dtype", "refuse", "bits", "escape", "signature", "decision")
"""What findings are selected by."""

INCOMPLETE = "incomplete"
"""Selects policies that agree as far as the run was examined, and it was not examined whole."""

ANY, NONE = "any", "none"

SELECTORS = (*NAMES, INCOMPLETE, ANY, NONE)
"""What ``--fail-on`` takes."""

DEFAULT = (ROOT, "bits")
"""What fails if nothing else is said: the policies differ there, in dtype or in bits."""


def selected(names: Collection[str]) -> frozenset[str]:
    """Return the kinds, and ``root``, that names select."""
    if ANY in names:
        return frozenset(KINDS)
    return frozenset(names) - {NONE, INCOMPLETE}
