"""Compare promoarray with what frameworks answered of foreign operands; print what differs.

    python conformance/foreign_check.py [GOLDEN ...]        e.g. torch paddle331; all without a name

Exit status 1 if a cell differs that `departures.toml` does not name (``[[foreign]]``).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import check
import departures
import foreign
import numpy as np
import tables
from check import Cell

import promoarray as pa
from promoarray.dtypes import BY_CODE
from promoarray.parray import PArray

GOLDEN = check.GOLDEN / "foreign"


def side(policy: str) -> foreign.Side:
    """Promoarray under a policy, in place of the framework."""
    xp: Any = pa.namespace(policy)
    mask = xp.asarray([True, False])

    def assign(x: Any, key: Any, value: Any) -> Any:
        x[key] = value
        return x

    def code(answer: Any) -> str:
        if not isinstance(answer, PArray):
            raise TypeError(f"{type(answer).__name__} is no array")
        found: str = answer._type.code
        return found

    return foreign.Side(
        array=lambda code, values: xp.asarray(values).astype(BY_CODE[code]),
        codes=foreign.ROWS,
        code=code,
        values=lambda x: np.ravel(np.asarray(x.tolist(), object)).tolist(),
        functions={
            "add": xp.add,
            "maximum": xp.maximum,
            "where": lambda x, y: xp.where(mask, x, y),
        },
        assign=assign,
    )


def compare(golden: str) -> Iterator[Cell]:
    """Ask the policy every question of a golden file that the framework has an answer to."""
    asked = foreign.questions(side(check.POLICY_OF[golden]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for section, cells in tables.read(GOLDEN / f"{golden}.txt")[1].items():
            # That a function takes no such operand is no rule about dtypes: ours compute.
            functions = "/function" in section
            for (row, column), recorded in cells.items():
                if recorded == "?" or (functions and recorded == "-"):
                    continue
                ours = _answer(asked[section].ask, row, column)
                yield Cell(section, row, column, said(recorded), ours)


def said(recorded: str) -> str:
    """A recorded cell as ours are written: arrays of NumPy's count as arrays, and what is compared
    by identity, or becomes an array of objects, as refused."""
    plain = recorded.removeprefix("np:")
    return "-" if plain in ("False", "True", "object") or plain.startswith("str") else plain


def _answer(ask: foreign.Question, row: str, column: str) -> str:
    try:
        return ask(row, column)
    except (TypeError, ValueError, IndexError, OverflowError):
        return "-"


def differs(cell: Cell) -> bool:
    """Whether the answers part; the signs of NaN and of the zeros of complex numbers do not."""
    return _same(cell.recorded) != _same(cell.ours)


def _same(text: str) -> str:
    return text.replace("(-0+0j)", "0j").replace("(inf+nanj)", "(inf+0j)")


def unexplained(golden: str, cells: list[Cell]) -> list[Cell]:
    """The cells that no departure covers."""
    known = [d for d in departures.read("foreign") if d.is_about(golden)]
    return [
        cell
        for cell in cells
        if not any(d.covers(golden, (cell.section, cell.row, cell.column)) for d in known)
    ]


def main(names: list[str]) -> int:
    """Compare golden files and print what differs."""
    failed = 0
    for golden in names or sorted(path.stem for path in GOLDEN.glob("*.txt")):
        cells = list(compare(golden))
        differing = [cell for cell in cells if differs(cell)]
        unknown = unexplained(golden, differing)
        share = 100 - 100 * len(differing) / len(cells)
        print(f"{golden}: {len(cells)} cells, {share:.2f} % agree, {len(unknown)} unexplained")
        for cell in unknown[:40]:
            print(f"  {cell}")
        failed += len(unknown)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
