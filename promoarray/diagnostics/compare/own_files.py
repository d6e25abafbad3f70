"""The files that a program is made of."""

from __future__ import annotations

import sys

from promoarray.core.call_site import is_library


def own_files() -> tuple[str, ...]:
    """Return the files of the modules of this process that are no installed library's."""
    # Not getattr, which a module may answer by importing more.
    spaces = [getattr(module, "__dict__", {}) for module in tuple(sys.modules.values())]
    files = {file for space in spaces if type(file := space.get("__file__")) is str}
    return tuple(sorted(file for file in files if not is_library(file)))
