"""Compute what the golden files recorded of functions and operators; print the cells that differ.

    python conformance/called.py [GOLDEN ...]       e.g. torch paddle331; all of them without a name

`check.py` asks the policies for their plans. Here arrays are made and `pa.add(x, y)` is called,
`x + y` computed, so that a function follows the framework's function and an operator its operator.
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import check
import python_operators
import tables

import promoarray as pa
from promoarray import extras
from promoarray.core import refusals
from promoarray.dtypes import BY_CODE
from promoarray.operations import OPERATIONS, Family
from promoarray.policies import Policy, as_policy
from promoarray.promotion.in_force import policy as in_force

OPERATORS: python_operators.Operators = {
    "matmul": operator.matmul,
    **{check.NAMES.get(name, name): f for name, f in python_operators.OPERATORS.items()},
}
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "where": lambda x, y: pa.where(_condition(), x, y),
    "concat": lambda x, y: pa.concat([x, y]),
    "stack": lambda x, y: pa.stack([x, y]),
    "tensordot": lambda x, y: pa.tensordot(x, y, axes=1),
    "cross": pa.linalg.cross,
    "outer": lambda x, y: pa.linalg.outer(x[0], y[0]),
    "solve": pa.linalg.solve,
}

# Of a refusal nobody reads what to write, which takes long to find.
SHORT_ERRORS = patch.multiple(refusals, remedy=lambda *_: "", elsewhere=lambda *_: "")


def compare(golden: str, every: int = 1) -> list[check.Cell]:
    """Compute the pairs with an array in them that were recorded of a function or an operator.

    ``every`` so many cells one is computed, which ones hangs on nothing but their place.
    """
    policy = as_policy(check.POLICY_OF[golden])
    _, sections = tables.read(check.GOLDEN / f"{golden}.txt")
    with in_force(policy), warnings.catch_warnings(), SHORT_ERRORS:
        warnings.simplefilter("ignore")
        return [
            check.Cell(section, row, column, recorded, ours)
            for section, cells in check.promised(sections).items()
            if section.partition("/")[0] in ("function", "operator", "tnp")
            for (row, column), recorded in list(cells.items())[::every]
            if not recorded.startswith("?")  # there is no kernel
            and (ours := computed(policy, section, row, column)) is not None
        ]


def computed(policy: Policy, section: str, row: str, column: str) -> str | None:
    """Compute a cell; None where there is no array, or the function takes no such scalar."""
    kind, _, name = section.partition("/")
    name = check.NAMES.get(name, name)
    if {row, column} <= {*check.SCALARS}:
        return None
    by_value = policy.by_value is not None
    operands = check._operand(by_value, row), check._operand(by_value, column)
    if kind == "function" and policy.signature_refusal(name, operands) is not None:
        return None
    run = OPERATORS[name] if kind == "operator" else _function(name)
    solving = name == "solve"  # which ones have no inverse
    try:
        return check._weak_code(run(_operand(row, solving), _operand(column, solving)))
    except (TypeError, OverflowError):
        return "-"


def _function(name: str) -> Callable[[Any, Any], Any]:
    if OPERATIONS[name].family is Family.LOSS:
        return partial(getattr(extras, name), reduction="none")
    return FUNCTIONS.get(name) or getattr(pa, name)


@cache
def _condition() -> pa.PArray:
    return pa.ones((3, 3), dtype=pa.bool)


@cache
def _operand(code: str, solving: bool) -> Any:
    """Ones, of a dtype or as a Python scalar; a code like ``i*`` is a weakly typed array."""
    if code in check.SCALARS:
        return check.SCALARS[code][1]
    held = pa.eye(3) if solving else pa.ones((3, 3))
    if not code.endswith("*"):
        with in_force("numpy"):
            return held.astype(BY_CODE[code])
    one = next(value for weak, value in check.SCALARS.values() if weak.code == code)
    with in_force("jax"):
        return pa.where(held.astype(pa.bool), one, type(one)(0))


def main(names: list[str]) -> int:
    """Print the cells that differ; return the exit status."""
    status = 0
    for golden in names or list(check.POLICY_OF):
        cells = compare(golden)
        rest = list(check.unexplained(golden, cells))
        for fold in check._folded(rest):
            print(f"  {fold}")
        print(f"{golden}: {len(cells)} cells computed, {len(rest)} differ")
        status |= bool(rest)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
