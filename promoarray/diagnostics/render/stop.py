"""What to do where a program stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promoarray.diagnostics.findings.results import Results
    from promoarray.diagnostics.model.refusals import Stopped


OLD = "numpy@1"
"""Goes on where NumPy 2 refuses a Python number."""


def remedies(report: Results, stopped: Stopped) -> Iterator[tuple[str, str]]:
    """Yield what to write, or to do, each with a word before it."""
    if stopped.edit:
        yield "write", stopped.edit
    place = stopped.refused.place if stopped.refused else None
    if place and not stopped.edit and place.site != place.program:
        call = place.program.expression or place.program.text
        yield "cast", f"an argument of {call} ({place.program}), so that {_wanted(report, stopped)}"
    if place and place.framework == "numpy" and OLD in stopped.goes_on:
        file = os.path.relpath(report.script) if report.script else "SCRIPT"
        yield "run", f"promoarray port {file}, which tries the casts that keep the results of {OLD}"
    if stopped.remedy:
        yield "or run", stopped.remedy
    package = _package(report, stopped)
    if package:
        yield "or record", f"--packages {package}, whose operations are not recorded otherwise"


def _wanted(report: Results, stopped: Stopped) -> str:
    """The dtypes that the refused operation was given, as the reason to cast."""
    operands = stopped.refused.place.operands if stopped.refused else ()
    return f"{report.run.name} does not meet {' with '.join(operands)} there"


def _package(report: Results, stopped: Stopped) -> str:
    """The library in which a program of NumPy stopped, unseen; "" of the program itself.

    The modules of a library are not rewritten, unless they are asked for by name.
    """
    site, recorded = stopped.site, str(getattr(report, "framework", ""))
    if site is None or stopped.refused or not recorded.startswith("numpy"):
        return ""
    found, folder = "", Path(os.path.realpath(site.file)).parent
    while (folder / "__init__.py").exists():
        found, folder = folder.name, folder.parent
    own = report.script and Path(os.path.realpath(report.script)).is_relative_to(folder / found)
    return "" if own else found
