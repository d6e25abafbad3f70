"""Programs of other frameworks: whose dtypes they keep."""

from __future__ import annotations

from importlib import import_module

from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def refused(framework: str, run: Policy | None) -> str:
    """Say why a program cannot be recorded from a policy; "" if it can."""
    if run is None:
        return ""
    if framework not in REWRITTEN:
        return f"the program runs in {framework} itself; leave out --run and --from"
    editions = [name for _, name in REWRITTEN[framework].editions]
    if run not in map(as_policy, editions):
        return f"the program was written for NumPy; --from is one of {', '.join(editions)}"
    return ""


def written_for(framework: str, policies: tuple[Policy, ...]) -> Policy | None:
    """Return the policy that a program is ported from where none is named: NumPy 1 of NumPy's.

    None leaves it to the framework.
    """
    if framework not in REWRITTEN:
        return None
    first = as_policy(REWRITTEN[framework].editions[-1][1])
    return None if first in policies else first


def wanted(framework: str, run: Policy | None) -> str:
    """Return the policy whose dtypes are kept, if not those that the run itself has."""
    if run is None or framework not in REWRITTEN:
        return ""
    installed = REWRITTEN[framework].home(import_module(framework).__version__)
    return "" if run is installed else run.name
