"""The text form of everything the real frameworks answered: square tables a person can read.

A file holds `# key: value` lines (framework, version, how it was asked) and sections. A section
starts with the names of the questions that share one table, then the table itself::

    [operator/add operator/multiply function/add]
           b1   u8   int
    b1     b1   u8   i64
    u8     u8   u8   u8

Rows are left operands and columns right ones, in dtype codes (bit widths); ``bool int float
complex`` stand for Python scalars and ``i* f* c*`` for weakly typed arrays. A cell is a dtype
code, ``-`` for a refusal, ``?`` where the recording machine had no kernel (``?f32`` if the
framework named the dtype it looked one up for), ``.`` where the question was not asked.

Only the standard library is used, because the oracles run in the environments of the frameworks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

Cells = dict[tuple[str, str], str]

SUFFIX = ".txt"

CODES = {
    "bool": "b1",
    "bfloat16": "bf16",
    **{f"{sign}int{n}": f"{sign or 'i'}{n}" for sign in ("", "u") for n in (2, 4, 8, 16, 32, 64)},
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
    **{f"complex{n}": f"c{n}" for n in (32, 64, 128)},
    **{
        f"float{f}": f"f{f}"
        for f in (
            "8_e3m4",
            "8_e4m3",
            "8_e4m3b11fnuz",
            "8_e4m3fn",
            "8_e4m3fnuz",
            "8_e5m2",
            "8_e5m2fnuz",
            "8_e8m0fnu",
            "6_e2m3fn",
            "6_e3m2fn",
            "4_e2m1fn",
        )
    },
    "string": "str",
    "int*": "i*",
    "float*": "f*",
    "complex*": "c*",
}
"""Dtype name to the code tables are written in."""


def write(path: Path, meta: Mapping[str, str], sections: Mapping[str, Cells]) -> None:
    """Write sections to ``path``, tables that are equal only once."""
    shared: dict[str, list[str]] = {}
    for name, cells in sections.items():
        shared.setdefault(_square(cells), []).append(name)
    text = "".join(f"# {key}: {value}\n" for key, value in meta.items())
    text += "".join(f"\n[{' '.join(names)}]\n{table}" for table, names in shared.items())
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> tuple[dict[str, str], dict[str, Cells]]:
    """Read a file back: its ``# key: value`` lines and its sections."""
    meta: dict[str, str] = {}
    sections: dict[str, Cells] = {}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip().splitlines()
        if lines[0].startswith("#"):
            meta.update(line[2:].split(": ", 1) for line in lines)
            continue
        names, header, *rows = lines
        columns = header.split()
        cells = {
            (row, column): cell
            for row, *values in map(str.split, rows)
            for column, cell in zip(columns, values, strict=True)
            if cell != "."
        }
        sections.update(dict.fromkeys(names.strip("[]").split(), cells))
    return meta, sections


def _square(cells: Cells) -> str:
    rows, columns = _unique(r for r, _ in cells), _unique(c for _, c in cells)
    grid = [["", *columns], *([r, *(cells.get((r, c), ".") for c in columns)] for r in rows)]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in grid
    )


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
