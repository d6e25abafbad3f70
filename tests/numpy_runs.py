"""A run of a NumPy program in this process, recorded."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from typing import Any

from promoarray.diagnostics.record.numpy.running import rewriting
from promoarray.diagnostics.record.recorder import Recorder


def recorded_run(script: str, recorder: Recorder, **given: Any) -> None:
    """Run a script as ``__main__``; raise RuntimeError if recording went wrong."""
    before = sys.path[:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        with rewriting(recorder, **given) as session:
            runpy.run_path(script, {"__builtins__": builtins}, "__main__")  # as it is there
    finally:
        sys.path[:] = before
    if session.bug:
        raise RuntimeError(f"recording went wrong, which is a bug in promoarray:\n{session.bug}")
