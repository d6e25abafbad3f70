"""ONNX: every operator's types, for every opset, against onnx's own schemas."""

from __future__ import annotations

from pathlib import Path

import tables

from promoarray.dtypes import BY_CODE, DType
from promoarray.policies.onnx import admitted, operators

GOLDEN = Path(tables.__file__).parent / "golden" / "onnx.txt"
META, SCHEMAS = tables.read(GOLDEN)
OPSETS = range(1, int(META["opset"]) + 1)

# Bools take And, Or, Xor and Not where integers take the Bitwise operators; ReduceMin and ReduceMax
# are all and any of bools only. Mod of floats is C's fmod before opset 28.
APART = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert", "all", "any", "remainder"}


def schema(operator: str, parameters: str, opset: int) -> set[DType]:
    """What the schema in force at an opset admits for its type parameter."""
    rows: dict[int, set[DType]] = {}
    for (row, _), cell in SCHEMAS[f"types/{operator}"].items():
        since, parameter = row.split("/")
        if parameter in parameters.split():
            rows.setdefault(int(since), set()).update(
                {BY_CODE[cell]} - {None} if cell != "-" else ()
            )
    return rows[max(since for since in rows if since <= opset)] if min(rows) <= opset else set()


def test_types_of_every_operator_and_opset() -> None:
    different = [
        (operator, opset)
        for function, (operator, history) in operators().items()
        for opset in OPSETS
        if function not in APART
        if set(admitted(history, opset))
        != schema(operator, "T V" if operator != "IsNaN" and operator != "IsInf" else "T1", opset)
    ]
    assert not different
