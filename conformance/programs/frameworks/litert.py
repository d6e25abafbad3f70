"""LiteRT: each operator and function of a program is a model of one operator of plain numbers.

It has no scalars beside tensors. What an operator takes for quantized numbers is not asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tables
from litert_models import OPERATORS, run
from tables import CODES as CODES_OF

from programs.frameworks import Framework
from programs.frameworks.boxed import boxed, of_boxes
from programs.program import words

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
    " complex64"
)
GOLDEN = Path(tables.__file__).parent / "golden" / "runtimes" / "litert.txt"
SIGNS = dict(
    zip(
        words("+ - * / // % ** == != < <= > >= >> ^ @"),
        words(
            "ADD SUB MUL DIV FLOOR_DIV FLOOR_MOD POW EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER"
            " GREATER_EQUAL RIGHT_SHIFT BITWISE_XOR BATCH_MATMUL"
        ),
        strict=True,
    )
)
BINARY = {
    "add": "ADD",
    "subtract": "SUB",
    "multiply": "MUL",
    "divide": "DIV",
    "floor_divide": "FLOOR_DIV",
    "remainder": "FLOOR_MOD",
    "bitwise_right_shift": "RIGHT_SHIFT",
    **{
        name: name.upper()
        for name in words(
            "pow equal not_equal less less_equal greater greater_equal maximum minimum atan2"
            " logical_and logical_or bitwise_xor"
        )
    },
}
UNARY = {
    name: name.upper()
    for name in words("abs sign floor ceil round sqrt exp log sin cos tanh square logical_not")
} | {"negative": "NEG"}
REDUCED = {"sum": "SUM", "mean": "MEAN"} | {
    name: f"REDUCE_{name.upper()}" for name in words("prod max min all any")
}
POSITIONS = {"argmax": "ARG_MAX", "argmin": "ARG_MIN"}
_, _ANSWERS = tables.read(GOLDEN)


def compute(name: str, *values: Any, **more: Any) -> Any:
    """Run an operator of arrays of one type."""
    if not all(isinstance(x, (np.ndarray, np.generic)) for x in values):
        raise NotImplementedError("a Python scalar is no tensor")
    if not all(x.size for x in values):
        raise NotImplementedError("of no elements kernels check no types")
    if name == "ATAN2" and len({x.shape for x in values}) > 1:
        raise NotImplementedError("it reads beyond the smaller array")
    if name == "BATCH_MATMUL" and any(x.ndim < 2 for x in values):
        raise NotImplementedError("a product is of matrices")
    codes = {CODES_OF[x.dtype.name] for x in values}
    if len(codes) > 1:
        raise TypeError("the inputs are of one type")
    (code,) = codes
    if _ANSWERS[f"kernels/{name}"]["2.3", code] == "q":
        raise NotImplementedError("of quantized numbers")
    operator = OPERATORS[name]
    if "axes" in more:
        axes = np.array(more.pop("axes"), np.int32)
        operator = replace(operator, more=lambda ndim: [("i32", axes)])
    return operator.asked(code, *map(np.asarray, values), **more)


def _signed(text: str, *values: Any) -> Any:
    if text == "-x":
        return compute("NEG", *values)
    return compute(SIGNS[text.split()[1]], *values)


Array = boxed(_signed, " ".join((*SIGNS, "-")))


def _function(name: str) -> Callable[..., Any]:
    return lambda *arrays: Array(compute(name, *(getattr(x, "value", x) for x in arrays)))


def _reduction(name: str) -> Callable[..., Any]:
    def reduced(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        ndim = np.ndim(x.value)
        axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        if not axes or not all(type(n) is int and -ndim <= n < ndim for n in axes):
            raise NotImplementedError("axes are integers")
        if len({n % ndim for n in axes}) < len(axes) or not x.value.size:
            raise NotImplementedError("different ones, of values")
        return Array(compute(name, x.value, axes=axes, keepDims=bool(keepdims)))

    return reduced


def _along(name: str) -> Callable[..., Any]:
    def along(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        ndim = np.ndim(x.value)
        if type(axis) is not int or not -ndim <= axis < ndim or keepdims or not np.size(x.value):
            raise NotImplementedError("of one axis that is there")
        return Array(compute(name, x.value, axes=axis))

    return along


def _joined(name: str) -> Callable[..., Any]:
    def joined(arrays: list[Any], *, axis: int | None = 0) -> Any:
        if axis is None or not all(isinstance(x, Array) and x.value.size for x in arrays):
            raise NotImplementedError(f"{name} needs an axis, and tensors")
        count = {"valuesCount": len(arrays)} if name == "PACK" else {}
        return Array(compute(name, *(x.value for x in arrays), axis=axis, **count))

    return joined


def _where(condition: Any, x: Any, y: Any) -> Any:
    if not all(isinstance(each, Array) for each in (condition, x, y)):
        raise NotImplementedError("a Python scalar is no tensor")
    if condition.value.dtype != bool:
        raise TypeError("a condition is of bools")
    if x.value.dtype != y.value.dtype:
        raise TypeError("the inputs are of one type")
    given = [(CODES_OF[v.value.dtype.name], np.asarray(v.value)) for v in (condition, x, y)]
    return Array(run("SELECT_V2", given, given[1][0], table="SelectV2Options"))


def _astype(x: Any, dtype: Any) -> Any:
    code = CODES_OF[x.value.dtype.name]
    if CODES_OF[dtype] == code:
        raise NotImplementedError("no cast")
    return Array(run("CAST", [(code, np.asarray(x.value))], CODES_OF[dtype]))


def framework(edition: str) -> Framework:
    """The installed version."""
    functions: dict[str, Any] = {
        **{name: _function(theirs) for name, theirs in (BINARY | UNARY).items()},
        **{name: _reduction(theirs) for name, theirs in REDUCED.items()},
        **{name: _along(theirs) for name, theirs in POSITIONS.items()},
        "cumulative_sum": _along("CUMSUM"),
        "concat": _joined("CONCATENATION"),
        "stack": _joined("PACK"),
        "matmul": _function("BATCH_MATMUL"),
        "where": _where,
        "astype": _astype,
    }
    made = of_boxes(
        Array,
        version=f"ai-edge-litert {version('ai-edge-litert')}, CPU, no delegate",
        policy="litert@2.3",
        functions=functions,
        dtypes={name: name for name in DTYPES},
    )

    def leave(x: Any) -> tuple[str, bool, Any]:
        name, weak, value = made.leave(x)
        return name, weak, value.astype(np.float64) if name == "bfloat16" else value

    return replace(made, leave=leave, traits=frozenset({"no scalars"}))
