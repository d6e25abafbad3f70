"""The entries of the reference: ``.. names::`` in a page of ``api/`` becomes one for each name.

``.. names:: promoarray of promoarray.functions.sorting`` takes the ``__all__`` of a file,
``.. names:: promoarray`` the names that follow it. A table of them comes first, if they are
several. An object that is public under a shorter name, as ``promoarray.linalg.matmul`` is
``promoarray.matmul``, has its entry there, and is in the table alone.

Nothing here imports Sphinx, so that the tests can ask what the pages have.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import promoarray as pa

_NAMES = re.compile(
    r"^\.\. names:: (?P<space>[\w.]+)(?: of (?P<chapter>[\w.]+))?\n(?P<listed>(?:\n|[ ]+\S.*\n)*)",
    re.MULTILINE,
)
_ENTRY = re.compile(r"^\.\. (?:auto\w+|py:data|py:module):: ([\w.]+)$", re.MULTILINE)


def expand(page: str) -> str:
    """Return the text of a page with the entries in place of ``.. names::``."""
    return _NAMES.sub(_entries, page)


def entries(page: str) -> list[str]:
    """Return the full names of which an expanded page has entries."""
    return _ENTRY.findall(page)


def _entries(names: re.Match[str]) -> str:
    space = import_module(names["space"])
    chapter = names["chapter"]
    listed = import_module(chapter).__all__ if chapter else names["listed"].split()
    found = {name: getattr(space, name) for name in listed}
    if all(isinstance(obj, pa.DType) for obj in found.values()):
        table, each = _table_of_dtypes(found), _dtype
    else:
        table, each = _table(space.__name__, found), _entry
    own = ((n, obj) for n, obj in found.items() if space is pa or getattr(pa, n, None) is not obj)
    texts = [each(f"{space.__name__}.{name}", obj) for name, obj in own]
    tables = [_lines(table)] if len(found) > 1 else []
    return "\n\n".join([*tables, *texts]) + "\n\n"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _table(space: str, found: dict[str, Any]) -> Iterator[str]:
    """One line for each name: the first of its docstring, which links to the entry."""
    yield from (".. py:currentmodule:: None", "", ".. autosummary::", "   :nosignatures:", "")
    for name, obj in found.items():
        yield f"   ~{'promoarray' if getattr(pa, name, None) is obj else space}.{name}"


def _entry(name: str, obj: Any) -> str:
    if not inspect.isclass(obj):
        return f".. autofunction:: {name}"
    if issubclass(obj, BaseException):
        return f".. autoexception:: {name}"
    options = _OF_THE_ARRAY if obj is pa.PArray else ()
    return _lines([f".. autoclass:: {name}", "   :members:", *options])


_OF_THE_ARRAY = ("   :inherited-members: object", "   :exclude-members: default")
"""Its methods lie in its base too; ``default``, the class that policies bind, is not for users."""


_COLUMNS = ("dtype", "bits", "exponent", "mantissa", "largest", "inf", "NaN")


def _table_of_dtypes(found: dict[str, pa.DType]) -> Iterator[str]:
    yield from (".. list-table::", "   :header-rows: 1", "")
    rows = [_COLUMNS, *(_row(name, dtype) for name, dtype in found.items())]
    for first, *others in rows:
        yield f"   * - {first}"
        yield from (f"     - {cell}" for cell in others)


def _row(name: str, dtype: pa.DType) -> tuple[object, ...]:
    shown = (f":py:data:`~promoarray.{name}`", dtype.bits)
    if dtype.format is None:
        return (*shown, "", "", _largest_integer(dtype), "", "")
    layout = dtype.format
    has = ("no" if code is None else "yes" for code in (layout.inf, layout.nan))
    return (*shown, layout.exponent, layout.mantissa, f"{pa.finfo(dtype).max:.6g}", *has)


def _largest_integer(dtype: pa.DType) -> object:
    if not pa.isdtype(dtype, "integral"):
        return ""
    largest = pa.iinfo(dtype).max
    return largest if largest < 2**16 else f"2\\ :sup:`{largest.bit_length()}` − 1"


def _dtype(name: str, dtype: pa.DType) -> str:
    stored = f", stored as NumPy's ``{dtype.storage}``" if dtype.storage is not None else ""
    bits = f"{dtype.bits} bits, " if dtype.bits else ""
    code = f" In tables ``{dtype.code}``."
    return f".. py:data:: {name}\n\n   {bits}{dtype.kind.words}{stored}.{code}"
