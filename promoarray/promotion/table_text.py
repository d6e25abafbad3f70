"""Reads what people write: promotion tables (blanks, CSV, Markdown, mappings), dtypes, scalars.

Here a code such as ``i8`` counts bits, as everywhere in promoarray's tables; names serve too.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

from promoarray.dtypes import BY_CODE, DType, as_dtype
from promoarray.errors import quoted
from promoarray.promotion.rules import Table

Cells = dict[tuple[DType, DType], DType | None]
TableLike = str | os.PathLike[str] | Mapping[tuple[object, object], object] | Table

NOTHING = frozenset({"", "-", "–", "—", "·"})  # the dashes people paste
"""What stands in a cell without a common dtype."""


def cell_dtype(written: object) -> DType:
    """Return the dtype a table names: a code, weak ones included, or whatever names a dtype.

    Raises ValueError if nothing has that name.
    """
    if isinstance(written, str) and written in BY_CODE:
        return BY_CODE[written]
    try:
        return as_dtype(written)
    except TypeError:
        codes = ", ".join(BY_CODE)
        raise ValueError(
            f"{quoted(written)} is not a dtype. Write a name or one of: {codes}"
        ) from None


def python_scalar(text: str) -> bool | int | float | complex | None:
    """Return the Python scalar that a text is; None if it is not one.

    Examples
    --------
    >>> [python_scalar(text) for text in ("True", "2", "2.5", "2j", "two")]
    [True, 2, 2.5, 2j, None]
    """
    if text in ("True", "False"):
        return text == "True"
    for kind in (_int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _int(text: str) -> int:
    """``int(text)``, also of more digits than that takes: as a float it would be infinity."""
    if len(text) > 4000 and text.lstrip("+-").isdecimal():
        from decimal import Decimal  # for these only

        return int(Decimal(text))
    return int(text)


def cell(written: object) -> DType | None:
    """Return the dtype in a cell, None for a dash."""
    empty = written is None or (isinstance(written, str) and written.strip() in NOTHING)
    return None if empty else cell_dtype(written)


def read_cells(pairs: Mapping[tuple[object, object], object], *, symmetric: bool = True) -> Cells:
    """Read a mapping of pairs; one order holds for both unless the other is given too.

    Raises ValueError if a key is not a pair of dtypes.
    """
    cells: Cells = {}
    for key, written in pairs.items():
        if not _is_pair(key):
            raise ValueError(f"{quoted(key)} is not a pair of dtypes; write (a, b): dtype")
        cells[cell_dtype(key[0]), cell_dtype(key[1])] = cell(written)
    if symmetric:
        for (a, b), common in list(cells.items()):
            cells.setdefault((b, a), common)
    return cells


def _is_pair(key: object) -> TypeGuard[tuple[object, object]]:
    return isinstance(key, tuple) and len(key) == 2


def read_table(source: TableLike) -> Table:
    """Read a table in any of its forms.

    Parameters
    ----------
    source : str, path, mapping or Table
        A square of dtypes apart by blanks, commas (CSV) or bars (Markdown), whose first line names
        the columns and whose first column names the rows; a path of such a file; or
        ``{(a, b): dtype}``. Columns of weak types without rows, or the other way about, stand for
        both orders.

    Raises
    ------
    ValueError
        If a dtype is unknown, a row short, long or there twice, or rows and columns differ.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, Mapping):
        return _with_all_dtypes(read_cells(source))
    if isinstance(source, os.PathLike) or (source.endswith(".csv") and "\n" not in source):
        source = Path(source).read_text(encoding="utf-8")
    lines = [line for line in source.strip("\n").splitlines() if line.strip()]
    if len(lines) < 2:
        raise ValueError("a table needs a line that names its columns, and one line per row")
    rows = _split(lines)
    cells = _squared(rows)
    return Table.from_cells(cells)


def _with_all_dtypes(cells: Cells) -> Table:
    """Let every dtype of a mapping go with itself, also those that stand on the right only."""
    for a in [d for pair in list(cells) for d in pair]:
        cells.setdefault((a, a), a)
    return Table.from_cells(cells)


def _split(lines: list[str]) -> list[list[str]]:
    """Cut the lines into cells; the corner above the row names is dropped."""
    if any("|" in line for line in lines):
        ruled = (line.strip().strip("|").split("|") for line in lines)
        rows = [[c.strip() for c in row] for row in ruled if not set("".join(row)) <= set("-: ")]
    elif any("," in line for line in lines):
        rows = [[c.strip() for c in row] for row in csv.reader(lines)]
    else:
        rows = [line.split() for line in lines]
        rows[0].insert(0, "")
    rows[0] = rows[0][1:]
    return rows


def _squared(rows: list[list[str]]) -> Cells:
    columns, body = [cell_dtype(c) for c in rows[0]], rows[1:]
    named = [cell_dtype(row[0]) for row in body]
    for names, what in ((columns, "column"), (named, "row")):
        twice = next((d for d in names if names.count(d) > 1), None)
        if twice is not None:
            raise ValueError(f"there are two {what}s {twice.code}")
    odd = {d for d in set(columns) ^ set(named) if not d.weak}
    if odd:
        codes = ", ".join(sorted(d.code for d in odd))
        raise ValueError(f"a table is square, and {codes} is a row or a column only")
    cells: Cells = {}
    for a, row in zip(named, body, strict=True):
        if len(row) - 1 != len(columns):
            raise ValueError(f"row {a.code} has {len(row) - 1} cells for {len(columns)} columns")
        cells.update({(a, b): cell(c) for b, c in zip(columns, row[1:], strict=True)})
    for (a, b), common in list(cells.items()):
        if a.weak is not b.weak:
            cells.setdefault((b, a), common)
    return cells
