"""Runs a NumPy program recorded: ``python -m ... WANTED POLICIES SCRIPT ARGS``.

WANTED is the policy whose dtypes the program shall keep, if not that of the NumPy installed. If
that is NumPy 1 and NumPy 2 runs it, what NumPy 2 stops at is done as NumPy 1 did it.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from promoarray.diagnostics.compare.watch import adopt, probe
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.numpy.running import recorded_run
from promoarray.diagnostics.record.probed import ProbedRecorder
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def home() -> Policy:
    """Return the policy of the NumPy that is installed."""
    return REWRITTEN["numpy"].home(np.__version__)


def main() -> None:
    """Run the script that the command line names; what is found goes to the command."""
    wanted, named, script, *arguments = sys.argv[1:]
    wanted = wanted or home().name
    policies = tuple(map(as_policy, dict.fromkeys((*named.split(","), wanted))))
    framework = f"numpy {np.__version__}"
    recorder = ProbedRecorder(home(), policies, framework=framework, listener=probe())
    adopt(recorder.report)
    sys.path[0] = os.path.dirname(os.path.realpath(script))  # as for ``python SCRIPT``
    past = as_policy(wanted) if wanted != home().name else None
    names = recorded_run(script, recorder, arguments, past=past)
    globals().update({n: x for n, x in names.items() if not n.startswith("_")})


if __name__ == "__main__":
    main()
