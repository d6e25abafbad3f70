"""Places of a program as a reader knows them: a file from here on, a cell of a notebook."""

from __future__ import annotations

import re
import sys
from typing import Any

from promoarray.console import visible
from promoarray.core.call_site import Site

_INSTALLED = re.compile(r".*[\\/](?:site|dist)-packages[\\/]")
_RUN = {"<string>": "a text given to exec or eval"}
"""Names of files that Python gives to code of no file, and what that is."""
_CELL = re.compile(r"<ipython-input-(\d+)-\w+>")


def path_of(site: Site) -> str:
    """Return file and line: the file from the current folder on, a cell as ``In [4]:3``, an
    installed library from its own folder on."""
    cell = _cell(site.file)
    return f"{cell}:{site.line}" if cell else visible(_INSTALLED.sub("", site.path))


def name_of(site: Site) -> str:
    """Return the file's own name and line: "train.py:12"."""
    cell = _cell(site.file)
    return f"{cell}:{site.line}" if cell else visible(str(site))


def text_at(site: Site) -> str:
    """Return the source at a place, or what stands there for it where no file has it."""
    return visible(site.expression or site.text or _RUN.get(site.file, ""))


def _cell(file: str) -> str:
    """The cell that a file of IPython's stands for, with its number; "" of another file."""
    match = _CELL.fullmatch(file)
    if match:
        return f"In [{match[1]}]"
    number = _numbers().get(file)
    return f"In [{number}]" if isinstance(number, int) else ""


def _numbers() -> dict[str, Any]:
    """From the file of each cell to its number, as IPython has them; it is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    found = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return found if isinstance(found, dict) else {}
