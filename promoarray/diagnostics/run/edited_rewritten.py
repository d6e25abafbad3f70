"""Runs a program that is rewritten, and whose edited text is not on the disk.

What ``python -c`` runs: TEXTS as for ``launch.py`` follows, and what ``python`` would be told.
"""

from __future__ import annotations

import sys

from promoarray.diagnostics.run import rewritten
from promoarray.diagnostics.run import edited as launch

COMMAND = "from promoarray.diagnostics.run.edited_rewritten import main; main()"


def main() -> None:
    """Run the program, seeing its edited texts."""
    launch.install(sys.argv.pop(1))
    rewritten.main()
