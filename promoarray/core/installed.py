"""Files that were installed into a folder of the path that is not Python's own.

``pip install --target`` makes such folders, whose packages lie beside a program's own. Standard
library alone: a process that is recorded reads this before it imports promoarray.
"""

from __future__ import annotations

import os
import sys
from functools import cache


def is_installed(file: str) -> bool:
    """Return whether the record of a distribution on ``sys.path`` lists a file's package."""
    for folder in sys.path:
        root = os.path.join(os.path.abspath(folder), "")
        if file.startswith(root) and file[len(root) :].partition(os.sep)[0] in _installed_in(root):
            return True
    return False


@cache
def _installed_in(folder: str) -> frozenset[str]:
    """The packages and modules that records in a folder list."""
    found = set()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        record = os.path.join(folder, name, "RECORD")
        if name.endswith(".dist-info") and os.path.isfile(record):
            with open(record, encoding="utf-8", errors="replace") as lines:
                found |= {line.partition(",")[0].partition("/")[0] for line in lines}
    return frozenset(found)
