"""Record what CuPy has, what its functions take and of which dtypes, for the stand-in: no more is
in the latter.

Run ``python tests/gpu/cupy_standin/names.py`` with CuPy installed to write names.txt again. No
GPU is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).with_name("names.txt")
UFUNC = "*args, out, dtype, casting"


class Loop(NamedTuple):
    """A loop of a function of elements: what it takes and makes, as NumPy's letters.

    One ``by_double`` makes float64 of its integers first.
    """

    takes: str
    makes: str
    by_double: bool


def _lines() -> Iterator[tuple[str, str, str]]:
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition("(")
            parameters, _, loops = rest.partition(")")
            yield name, parameters, loops


def recorded() -> dict[str, tuple[str, ...]]:
    """The parameters of each function by its name: "linalg.inv", "ndarray.copy", "sum"."""
    return {name: tuple(filter(None, given.split(", "))) for name, given, _ in _lines()}


def recorded_loops() -> dict[str, tuple[Loop, ...]]:
    """The loops of each function of elements, in the order in which CuPy looks for one."""
    return {name: tuple(map(_loop, loops.split())) for name, _, loops in _lines() if loops}


def _loop(text: str) -> Loop:
    takes, _, makes = text.rstrip("~").partition(">")
    return Loop(takes, makes, text.endswith("~"))


def asked() -> str:
    """The same of the CuPy that is installed, as the file has it."""
    import cupy
    import cupy.fft
    import cupy.linalg

    modules = {"": cupy, "linalg.": cupy.linalg, "fft.": cupy.fft, "ndarray.": cupy.ndarray}
    title = f"# What CuPy {cupy.__version__} has and what it takes"
    lines = [f"{title}: `python tests/gpu/cupy_standin/names.py` writes this file."]
    for label, module in modules.items():
        for name in sorted(set(dir(module))):
            value = getattr(module, name)
            if name.startswith("_") or isinstance(value, (type, ModuleType)) or not callable(value):
                continue
            loops = _loops(value) if isinstance(value, cupy.ufunc) else ""
            lines.append(f"{label}{name}({', '.join(_parameters(value, cupy))}){loops}")
    return "\n".join(lines) + "\n"


def _loops(function: Any) -> str:
    found = ""
    for loop in function._ops.ops:
        takes, makes = (
            "".join(np.dtype(each).char for each in types)
            for types in (loop.in_types, loop.out_types)
        )
        through = "~" if takes[0] in "bBhHiIlLqQ" and "double" in str(loop.routine) else ""
        found += f" {takes}>{makes}{through}"
    return found


def _parameters(function: Any, cupy: Any) -> list[str]:
    if isinstance(function, cupy.ufunc):
        return UFUNC.split(", ")
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled: the docstring begins with the signature
        return _of_docstring(function.__doc__ or "")
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [star.get(p.kind, "") + p.name for p in given if p.name != "self"]


def _of_docstring(text: str) -> list[str]:
    inner = text.partition("(")[2].partition("\n")[0].rpartition(")")[0]
    found = []
    for part in map(str.strip, inner.split(",")):
        name = part.partition("=")[0].split()[-1:]
        if name and name[0] not in ("self", "*", "/"):
            found.append(name[0])
    return found


if __name__ == "__main__":
    FILE.write_text(asked(), encoding="utf-8")
