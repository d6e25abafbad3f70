"""The files that a program is made of."""

from __future__ import annotations

import sys
from typing import Any

from promoarray.core.call_site import is_library


def own_files() -> tuple[str, ...]:
    """Return the files of the modules of this process that are no installed library's.

    Of a script there is none at its exit, when Python has taken it back.
    """
    # Not getattr, which a module may answer by importing more.
    spaces = [getattr(module, "__dict__", {}) for module in tuple(sys.modules.values())]
    given = [space.get("__file__") or _origin(space.get("__spec__")) for space in spaces]
    files = {file for file in given if type(file) is str}
    return tuple(sorted(file for file in files if not is_library(file)))


def _origin(spec: Any) -> Any:
    return getattr(spec, "has_location", False) and spec.origin
