"""Programs of other frameworks: which are recorded, and whose dtypes they keep."""

from __future__ import annotations

from promoarray.diagnostics.compare.frameworks import OWN, framework_of, imported_by
from promoarray.diagnostics.port.numpy_program import home
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def recorded_framework(script: str | None, module: str | None) -> str:
    """Return what a program computes with; NumPy, if it imports neither promoarray nor others."""
    found = framework_of(script, module)
    names = imported_by(script, module)
    return "numpy" if found == OWN and OWN not in names and "numpy" in names else found


def refused(framework: str, script: str | None, run: Policy | None) -> str:
    """Say why a program cannot be recorded from a policy; "" if it can."""
    if framework not in REWRITTEN:
        if run is None:
            return ""
        return f"the program runs in {framework} itself; leave out --run and --from"
    editions = [name for _, name in REWRITTEN[framework].editions]
    if run is not None and run not in map(as_policy, editions):
        return f"the program was written for NumPy; --from is one of {', '.join(editions)}"
    return "" if script else "-m is not for NumPy programs, which are rewritten; name the script"


def wanted(framework: str, run: Policy | None) -> str:
    """Return the policy whose dtypes are kept, if not those that the run itself has."""
    if run is None or framework not in REWRITTEN or run is home():
        return ""
    return run.name
