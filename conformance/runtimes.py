"""Compare promoarray with what runtimes of ONNX answered; print only the cells that differ.

    python conformance/runtimes.py [litert onnxruntime openvino]

`oracles/onnx_runtimes.py` and `oracles/litert.py` say what the sections are: kernels by opset, of
which the policy's is compared, casts, quantization and arithmetic of integers, to the bit. Exit
status 1 if one differs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tables

import promoarray as pa
from promoarray.dtypes import BY_CODE, INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, Family
from promoarray.policies import Operand, Policy, Refusal, as_policy, litert
from promoarray.policies.onnx.operators import operators
from promoarray.promotion.scalars import bounds

REDUCED = (Family.SUM, Family.MEAN, Family.EXTREME)
GOLDEN = Path(__file__).resolve().parent / "golden" / "runtimes"
FUNCTIONS = {operator: function for function, (operator, _) in reversed(operators().items())}
FUNCTIONS |= {"And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "Not": "logical_not"}
FUNCTIONS |= {"Mod": "fmod", "Mul": "multiply", "MatMul": "matmul"}

OF_LITERT = {each: name for name, (each, _) in reversed(operators(litert.OPERATORS).items())}

KNOWN = {
    "openvino : cast/[iu]64 : * : [iu]64": "the low half is kept, and extended by its sign",
    "openvino : cast/u32 : 2147483648 : [iu]64": "the same",
    "openvino : cast/[iu]64 : * : b1": "false where the low half is 0 or -2**31; of uint64 below 0",
    "openvino : cast/[iu][36][24] : * : f64": "rounded to float32",
    "openvino : cast/f64 : * : bf16": "rounded to nearest in some vectors, and cut off in others",
    "litert : values/FLOOR_DIV : i8 : min,-1": "saturates; int32 wraps",
    "litert : values/FLOOR_DIV : i16 : min,-1": "the same",
    "litert : values/FLOOR_MOD : i[36][24] : min,-1": "the process ends (SIGFPE)",
}
"""What promoarray answers otherwise, and what the runtime does."""


def compare(golden: str) -> Iterator[str]:
    """What differs, a line a cell."""
    meta, sections = tables.read(GOLDEN / f"{golden}.txt")
    policy = as_policy(meta["policy"])
    for section, cells in sections.items():
        kind, name, *more = section.split("/")
        ask = {"kernels": kernel, "cast": cast, "quantize": quantize, "values": value}[kind]
        with pa.policy(policy):
            for (row, column), recorded in cells.items():
                if kind == "kernels" and row != meta["opset"]:
                    continue
                ours = ask(policy, name, row, column, *more)
                cell = f"{golden} : {section} : {row} : {column}"
                known = any(fnmatchcase(cell, pattern) for pattern in KNOWN)
                same = recorded == ours or (recorded, ours) == ("q", "-")
                if ours is not None and recorded != "?" and not same and not known:
                    yield f"{section}: {row} {column} -> recorded {recorded}, ours {ours}"


def kernel(policy: Policy, name: str, opset: str, code: str) -> str | None:
    """The dtype where a policy computes an operator of it; None of one that no function is."""
    dtype = BY_CODE[code]
    if name in OF_LITERT:
        return _planned(policy, OF_LITERT[name], dtype)
    if name in ("Cast", "CastLike"):
        return "-" if policy.cast.refuses(dtype, pa.float32) else code
    if name in ("QuantizeLinear", "DequantizeLinear"):
        return None
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    if dtype is pa.bool and name in ("ReduceMax", "ReduceMin"):
        function = {"ReduceMax": "any", "ReduceMin": "all"}[name]
    return _planned(policy, function, dtype)


def _planned(policy: Policy, function: str, dtype: DType) -> str:
    plan = policy.plan(function, (Operand(dtype),) * (OPERATIONS[function].arity or 1))
    return "-" if isinstance(plan, Refusal) else dtype.code


def number(text: str, dtype: DType) -> Any:
    """A value as golden files write it."""
    if text in ("True", "False"):
        return text == "True"
    return int(text) if dtype.kind in INTEGERS or dtype is pa.bool else float(text)


def cast(policy: Policy, name: str, row: str, column: str, saturate: str = "") -> str | None:
    """The value that a cast makes."""
    source, target = BY_CODE[name], BY_CODE[column]
    if policy.cast.refuses(source, target):
        return "-"
    given = {"saturate": False} if saturate else {}
    return told(pa.astype(_given(name, row), target, **given))


@cache
def _given(code: str, text: str) -> Any:
    dtype = BY_CODE[code]
    with np.errstate(all="ignore"):
        wide = np.array([number(text, dtype)], np.float64 if dtype.kind is Kind.FLOAT else None)
        return pa.asarray(wide.astype(dtype.storage), dtype=dtype)


def quantize(policy: Policy, name: str, row: str, column: str) -> str | None:
    """The value that QuantizeLinear makes, with a scale of 1 and a zero point."""
    dtype = BY_CODE[name]
    zero = pa.astype(pa.asarray(np.array(int(column), np.int32)), dtype)
    x = pa.asarray(np.array([float(row)], np.float32))
    try:
        return told(pa.quantize(x, pa.asarray(np.float32(1)), zero, dtype=dtype))
    except TypeError:
        return "-"


def value(policy: Policy, name: str, code: str, pair: str) -> str | None:
    """What an operator gives for two integers."""
    dtype = BY_CODE[code]
    ends = dict(zip(("min", "max"), bounds(dtype), strict=True))
    numbers = [ends[each] if each in ends else int(each) for each in pair.split(",")]
    x, y = (pa.asarray(np.full(16, n, dtype.storage)) for n in numbers)
    function = OF_LITERT.get(name) or ("remainder" if name == "Mod" else FUNCTIONS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _value(function, x, y)


def _value(function: str, x: Any, y: Any) -> str | None:
    operation = OPERATIONS[function]
    try:
        if operation.family not in REDUCED:
            return told(getattr(pa, function)(*(x, y)[: operation.arity]))
        found = getattr(pa, function)(pa.concat([x[:1], y[:1]]))
        return ",".join(told(each[None]) for each in (found if found.ndim else [found]))
    except TypeError:  # of ONNX: a runtime may take more types
        return None
    except ValueError:
        return "-"


def told(x: Any) -> str:
    """The first value, as golden files write it."""
    held = x[0].item()
    if isinstance(held, (bool, int)):
        return str(held)
    return repr(float(held)) if held == held else "nan"


def main(names: list[str]) -> int:
    """Run the command; returns its exit status."""
    status = 0
    for name in names or sorted(path.stem for path in GOLDEN.glob("*.txt")):
        found = list(compare(name))
        print(*found, f"{name}: {len(found)} differ", sep="\n")
        status |= bool(found)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
