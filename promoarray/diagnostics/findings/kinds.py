"""What can be found, and the names that select it."""

from __future__ import annotations

from collections.abc import Collection

KINDS = {
    "dtype": "the policy gives another dtype",
    "refuse": "the policy refuses the operation",
    "bits": "the policy makes other values of a cast",
    "escape": "an array leaves the policy, so that another library's rules decide",
    "signature": "the framework's own function does not take the call",
    "decision": "the program reads a dtype that is another under the policy, and may branch on it",
}
"""What can be found, in words."""

ROOT = "root"
"""A dtype or a refusal that does not come of an earlier line."""

NAMES = (ROOT, *KINDS)
"""What findings are selected by."""

ANY, NONE = "any", "none"

SELECTORS = (*NAMES, ANY, NONE)
"""What ``--fail-on`` takes."""

DEFAULT = (ROOT, "bits")
"""What fails if nothing else is said: the policies differ there, in dtype or in bits."""


def selected(names: Collection[str]) -> frozenset[str]:
    """Return the kinds, and ``root``, that names select."""
    if ANY in names:
        return frozenset(KINDS)
    return frozenset(names) - {NONE}
