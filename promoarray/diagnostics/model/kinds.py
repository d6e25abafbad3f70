"""The kinds of findings, and the names that select them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of findings, in the words of every report."""

    words: str  # what a finding says
    says: str  # the same in a word or two; "" where that is a dtype
    title: str  # of one place, with the policies
    left_out: str  # lines of it, behind their number
    heading: str  # what stands above its lines, and beside its box on a page
    # in SARIF: its name, ``"error"``, ``"warning"`` or ``"note"``, and what it means, in sentences
    rule: str
    level: str
    meaning: str


def kinds_of(table: str) -> dict[str, Kind]:
    """Read a table of kinds: the name of each, and its fields, of which "-" is empty."""
    entries = (" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", table.strip()))
    pairs = (entry.partition(": ")[::2] for entry in entries)
    return {name: Kind(*(x * (x != "-") for x in row.split(" | "))) for name, row in pairs}


KINDS = kinds_of("""
refuse: the policy refuses the operation | refused | refused under {} | refused | Refused |
    RefusedOperation | error | In that framework the program stops here with an error.
bits: the policy makes other values of a cast | other values | other values under {} | with other
    values | Other values | OtherValues | warning | The dtypes are the same, and the values of some
    elements are not: they overflow, saturate, wrap or round otherwise in that framework.
dtype: the policy gives another dtype | - | other dtype under {} | with other dtypes | Other dtypes
    | OtherDtype | warning | For the operands of the run the policy answers with another dtype: in
    that framework the program goes on with another precision or kind from here.
signature: the framework's own function does not take the call | not taken | not taken by {} | with
    calls that a framework does not take | Calls that a framework's own function does not take |
    CallNotTaken | note | No dtype changes, and the call has to be written otherwise in that
    framework.
decision: the program reads a dtype that is another under the policy, and may branch on it | - |
    decided by a dtype that is another under {} | decided by a dtype | Decided by the run's dtype:
    other policies may take another branch | DecidedByDtype | note | The run went the way of its own
    dtype. In that framework the program may take another branch here, of which this report says
    nothing.
escape: an array leaves the policy, so that another library's rules decide | leaves the policy |
    data leaves the policy | at which data leaves the policy | Where data left the policy |
    DataLeavesPolicy | note | Another library takes the numbers; from here its rules decide and no
    policy.
""")
"""In the order in which reports have them: the most consequential first."""

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

DEFAULT = (ROOT, "bits", "signature")
"""What fails if nothing else is said: the policies differ there, in dtype or in bits, or a
framework does not take the call."""


def selected(names: Collection[str]) -> frozenset[str]:
    """Return the kinds, and ``root``, that names select."""
    if ANY in names:
        return frozenset(KINDS)
    return frozenset(names) - {NONE, INCOMPLETE}
