"""MindSpore's answers (mindspore.ops), executed on the CPU in PyNative mode.

python conformance/oracles/mindspore.py [--out conformance/golden]

Asked with mindspore 2.10.0 and numpy<2. Launches block, and a question that fails is asked three
times: asynchronous launches report one function's error at a later one.
"""

from __future__ import annotations

import operator
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from _ask import (
    BINARY,
    CODES,
    DTYPES,
    INPLACE,
    LINEAR,
    LINEAR_PAIRS,
    MORE_ZERO_D,
    NO_KERNEL,
    OPERATORS,
    REDUCE,
    REFUSED,
    SCALARS,
    UNARY,
    ZERO_D,
    Oracle,
    Section,
    binary,
    inplace,
    linear,
    main,
    scalars,
    unary,
)

NAMES = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "negative": "neg",
    "bitwise_invert": "invert",
    "max": "amax",
    "min": "amin",
}
"""mindspore.ops' names where they are not those of the array API."""

MISSING = re.compile(
    r"operator\[(\w+)\] fail!.*but get input\[(.*?)\](?:,| and) output\[(.*)\]", re.S
)
"""What MindSpore says when it has no kernel: kernel, types of the operands, inferred result."""

NO_CPU = (
    "Select CPU operator",
    "KernelMod Init Failed",  # concat infers the promoted dtype and then cannot join the two
    "on CPU, Please confirm",
    "Reduce does not support this kernel data type",
    "unsupported reduce operation for bool",
)

MEANINGLESS = re.compile(
    r"(Less|LessEqual|Greater|GreaterEqual|Maximum|Minimum|Atan2|FloorDiv|Floor|Ceil|Trunc|Hypot"
    r"|NextAfter|LogicalAnd) Complex\d+"
)
"""Kernels that lack a dtype because the function has no meaning there."""

DTYPE = re.compile(r"\b(?:B?Float|U?Int|Complex)\d+|\bBool\b")

ATTEMPTS = 3


def refusal(error: Exception) -> str:
    """`-` for a rule, `?` for a kernel the CPU lacks, with the dtype inferred for the result."""
    found = MISSING.search(str(error))
    if not found:
        return NO_KERNEL if any(text in str(error) for text in NO_CPU) else REFUSED
    if any(MEANINGLESS.fullmatch(f"{found[1]} {name}") for name in DTYPE.findall(found[2])):
        return REFUSED
    result = DTYPE.findall(found[3].splitlines()[0])
    told = result and result[0] != "Bool"  # a comparison infers bool of whatever is compared
    return NO_KERNEL + (CODES[result[0].lower()] if told else "")


def scalar_refusal(error: Exception) -> str:
    """The same with the name of the error, which tells an overflow from a rule."""
    cell = refusal(error)[:1]
    return cell if cell == NO_KERNEL else f"!{type(error).__name__}"


def edition() -> Oracle:
    """Ask the installed wheel."""
    os.environ.setdefault("GLOG_v", "4")
    warnings.simplefilter("ignore")
    import mindspore
    import numpy as np

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")
    mindspore.runtime.launch_blocking()

    def make(code: str, shape: tuple[int, ...] = (2,)) -> Any:
        return mindspore.Tensor(np.ones(shape, "float32")).astype(dtypes[code])

    def values(answer: Any) -> Any:
        bfloat16 = answer.dtype == mindspore.bfloat16  # NumPy knows none
        return (answer.float() if bfloat16 else answer).asnumpy()

    def code(answer: Any) -> str:
        if not isinstance(answer, mindspore.Tensor):
            raise TypeError(f"{type(answer).__name__}, not a Tensor")
        values(answer)
        return CODES[str(answer.dtype).lower()]

    def first(answer: Any) -> str:
        return f"{code(answer)}:{values(answer)[0]!s}"

    def patient(section: Section) -> Section:
        def ask(x: Any, y: Any) -> Any:
            for _ in range(ATTEMPTS - 1):
                try:
                    answer = section.ask(x, y)
                    code(answer) if isinstance(answer, mindspore.Tensor) else None
                except Exception:
                    _settle(mindspore)
                else:
                    return answer
            return section.ask(x, y)

        return replace(section, ask=ask)

    dtypes = _dtypes(mindspore)
    for name in list(dtypes):
        try:
            values(make(name))
        except (TypeError, RuntimeError):  # float8 is a name only
            del dtypes[name]
    arrays = {code: make(code) for code in dtypes}
    zeros_d = {code: make(code, ()) for code in dtypes}
    squares = {code: make(code, (2, 2)) for code in dtypes}
    operands, operands_0d = {**arrays, **SCALARS}, {**zeros_d, **SCALARS}
    functions = _functions(mindspore)
    zero_d = {name: functions[name] for name in ZERO_D}
    one_zero_d = zero_d | {name: functions[name] for name in MORE_ZERO_D}
    pairs = {name: functions.pop(name) for name in ("concat", "stack")}
    matmul = {"matmul": functions.pop("matmul")}
    add = {"add": INPLACE["add"]}

    sections = {
        **binary("function", functions, operands, operands),
        **binary("function", matmul, squares, squares),
        **binary("function", pairs, arrays, arrays),
        **binary("operator", OPERATORS, operands, operands, both_scalars=False),
        **binary("operator", {"matmul": operator.matmul}, squares, squares),
        **binary("array_0d", one_zero_d, arrays, zeros_d),
        **binary("0d_array", one_zero_d, zeros_d, arrays),
        **binary("0d_0d", zero_d, operands_0d, operands_0d),
        **inplace(make, arrays, operands),
        **inplace(make, arrays, zeros_d, functions=add, prefix="inplace_0d"),
        **_values(scalars(arrays, first)),
        "unary": _plain(unary(_named(mindspore.ops, UNARY), arrays)),
        "reduce": _plain(unary(_reductions(mindspore.ops), arrays)),
        "clip": _plain(
            Section(
                lambda x, bound: mindspore.ops.clip(x, bound, bound),
                arrays,
                {kind: SCALARS[kind] for kind in ("int", "float")},
            )
        ),
    }
    matrices = {
        code: mindspore.Tensor(np.eye(3, dtype="float32")).astype(dtypes[code]) for code in dtypes
    }
    for name, section in linear(_linear(mindspore), matrices).items():
        sections[name] = _plain(section)
    for name in sections:
        if name.endswith("/copysign"):  # composed: its kernels see one operand each
            sections[name] = _plain(sections[name])
    meta = {
        "framework": f"mindspore {version('mindspore')}, CPU, PyNative, blocking launches",
        "how": "mindspore.ops and operators, executed on tensors of ones, shape (2,); 0-d;"
        " (2, 2) for matmul; a failure is asked three times",
        "scalars": f"first elements as numpy {np.__version__} prints them",
        "code after ?": "the dtype inferred for the result, of which the CPU wheel has no kernel",
    }
    return Oracle(meta, code, {name: patient(s) for name, s in sections.items()}, refusal)


def _dtypes(mindspore: Any) -> dict[str, Any]:
    names = {name: "bool_" if name == "bool" else name for name in DTYPES}
    return {
        CODES[name]: getattr(mindspore, theirs)
        for name, theirs in names.items()
        if hasattr(mindspore, theirs)
    }


def _functions(mindspore: Any) -> dict[str, Callable[[Any, Any], Any]]:
    ops, condition = mindspore.ops, mindspore.Tensor([True, False])
    return _named(ops, BINARY) | {
        "where": lambda x, y: ops.where(condition, x, y),
        "concat": lambda x, y: ops.concat([x, y]),
        "stack": lambda x, y: ops.stack([x, y]),
    }


def _linear(mindspore: Any) -> dict[str, Callable[..., Any]]:
    """Linear algebra, Fourier transforms, sets and sorting."""
    ops = mindspore.ops
    functions = {
        name: getattr(ops, name)
        for name in (*LINEAR["linalg"], *LINEAR["fft"], *LINEAR_PAIRS, "argsort")
        if hasattr(ops, name)
    }
    return functions | {
        "inv": ops.inverse,
        "matrix_power": lambda x: ops.matrix_power(x, 2),
        "matrix_norm": ops.matrix_norm if hasattr(ops, "matrix_norm") else ops.norm,
        "outer": lambda x, y: ops.outer(x[0], y[0]),
        "sort": lambda x: ops.sort(x)[0],
        "svd": lambda x: [ops.svd(x)[index] for index in (1, 0, 2)],  # the values first, there
        "svdvals": lambda x: ops.svd(x, compute_uv=False),
        "tensordot": lambda x, y: ops.tensor_dot(x, y, 2),
        "unique_values": lambda x: ops.unique(x)[0],
        "unique_inverse": ops.unique,
    }


def _reductions(ops: Any) -> dict[str, Callable[[Any], Any]]:
    return _named(ops, REDUCE) | {
        "cumulative_sum": lambda x: ops.cumsum(x, 0),
        "cumulative_prod": lambda x: ops.cumprod(x, 0),
    }


def _named(ops: Any, names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    theirs = {name: getattr(ops, NAMES.get(name, name), None) for name in names}
    return {name: function for name, function in theirs.items() if function}


def _values(sections: dict[str, Section]) -> dict[str, Section]:
    return {name: replace(s, refusal=scalar_refusal) for name, s in sections.items()}


def _plain(section: Section) -> Section:
    """Leave the dtype out where a kernel's says nothing about the result."""
    return replace(section, refusal=lambda error: refusal(error)[:1])


def _settle(mindspore: Any) -> None:
    with suppress(Exception):  # the error of the question before
        mindspore.runtime.synchronize()


if __name__ == "__main__":
    main({"mindspore": edition})
