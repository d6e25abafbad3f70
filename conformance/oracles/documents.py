"""The promotion tables the vendors' documents print, as printed, printed errors included.

No framework is asked: the saved pages are read. A page that contradicts itself stays so here;
what a policy mends, and why, is listed by the tests.

    python conformance/oracles/documents.py PAGES [--out conformance/golden]

``PAGES`` holds the saved pages as ``000_*.txt`` (aclnn), ``003_*.txt`` (JAX) and ``004_*.txt``
(Paddle).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where tables.py is

from tables import Cells, write

CODES = {
    "b": "b1",
    "bool": "b1",
    **{f"s{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    "NA": "-",
}
"""The pages' names where they are not ours."""

SCALARS = ["bool", "int", "float", "complex"]
WIDE_UNSIGNED = ["u16", "u32", "u64"]

META = {
    "documents": "the tables as printed, printed errors included",
    "aclnn": "CANN 'mutual derivation' page, 8.0 and earlier; prose: its three bullets on bool"
    " and u16, u32, u64 (bool with bool is not stated)",
    "paddle": "Introduction to Data Type Promotion ('As of Paddle version 2.6')",
    "paddle/apis": "rows are number/name; columns the rule named for tensor with tensor and"
    " tensor with scalar",
    "jax": "Design of Type Promotion Semantics, appendix: example tables of five libraries",
}


def main() -> None:
    """Read the three pages and write ``documents.txt``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "golden")
    options = parser.parse_args()
    sections = {
        **aclnn(_page(options.pages, "000")),
        **paddle(_page(options.pages, "004")),
        **jax_appendix(_page(options.pages, "003")),
    }
    write(options.out / "documents.txt", META, sections)


def aclnn(text: str) -> dict[str, Cells]:
    """The derivation table, printed one cell a line, and the bullets above it as cells."""
    body = text[text.index("数据类型 |") : text.index("推导示例")]
    lines = [line.rstrip(" |") for line in body.splitlines() if line.strip()]
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    columns, cells = lines[1:rule], lines[rule + 1 :]
    step = len(columns) + 1
    printed = _table(columns, [cells[i : i + step] for i in range(0, len(cells), step)])

    tabulated = list(map(_code, columns))
    prose = {("b1", dtype): dtype for dtype in tabulated}
    prose |= {(dtype, "b1"): dtype for dtype in tabulated}
    for wide in WIDE_UNSIGNED:
        others = ["b1", *tabulated, *WIDE_UNSIGNED]
        prose |= {(wide, other): "-" for other in others} | {(other, wide): "-" for other in others}
        prose[wide, wide] = wide
    return {"aclnn/table": printed, "aclnn/prose": prose}


def paddle(text: str) -> dict[str, Cells]:
    """Tensor with tensor, tensor with scalar, and the rule of each API."""
    tensors, scalars = re.findall(r"^\+/-/\* (.*)\n((?:[a-z0-9]+(?: [a-z0-9-]+)+\n)+)", text, re.M)
    rows = [line.split() for line in tensors[1].splitlines()]
    apis = re.findall(r"^(\d+) (\w+)\S* ((?:Common|Divide|Logic|-).*)$", text, re.M)
    return {
        "paddle/tensor_tensor": _table(tensors[0].split(), rows),
        "paddle/tensor_scalar": {
            (_code(row), scalar): _code(cell)
            for row, *cells in map(str.split, scalars[1].splitlines())
            for scalar, cell in zip(SCALARS, cells, strict=True)
        },
        "paddle/apis": {
            (f"{number}/{name}", column): cell
            for number, name, rules in apis
            for column, cell in zip(
                ["tensor", "scalar"],
                re.findall(r"(Common|Divide|Logic|-)(?: Rule)?", rules),
                strict=True,
            )
        },
    }


def jax_appendix(text: str) -> dict[str, Cells]:
    """The five tables of the appendix, in the order printed."""
    tables = re.findall(r"^b \| (.*)\n---.*\n((?:\S+ \|.*\n?)+)", text, re.M)
    names = ["numpy", "tensorflow", "pytorch", "jnp", "lax"]
    return {
        f"jax/{name}": _table(["b", *_split(header)], [_split(line) for line in body.splitlines()])
        for name, (header, body) in zip(names, tables, strict=True)
    }


def _table(columns: list[str], rows: list[list[str]]) -> Cells:
    return {
        (_code(row), _code(column)): _code(cell)
        for row, *cells in rows
        for column, cell in zip(columns, cells, strict=True)
    }


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def _code(name: str) -> str:
    return CODES.get(name, name)


def _page(folder: Path, number: str) -> str:
    (path,) = folder.glob(f"{number}_*.txt")
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
