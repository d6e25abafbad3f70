"""MindSpore's answers (mindspore.ops), executed on the CPU in PyNative mode.

python conformance/oracles/mindspore.py [--out conformance/golden]

Asked with mindspore 2.10.0 and numpy<2. Launches block, and a question that fails is asked three
times: asynchronous launches report one function's error at a later one.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import _ask

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
        return _ask.NO_KERNEL if any(text in str(error) for text in NO_CPU) else _ask.REFUSED
    if any(MEANINGLESS.fullmatch(f"{found[1]} {name}") for name in DTYPE.findall(found[2])):
        return _ask.REFUSED
    result = DTYPE.findall(found[3].splitlines()[0])
    told = result and result[0] != "Bool"  # a comparison infers bool of whatever is compared
    return _ask.NO_KERNEL + (_ask.CODES[result[0].lower()] if told else "")


def edition() -> _ask.Oracle:
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
        return _ask.CODES[str(answer.dtype).lower()]

    def first(answer: Any) -> str:
        return f"{code(answer)}:{values(answer)[0]!s}"

    def patient(section: _ask.Section) -> _ask.Section:
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
    operands = {**arrays, **_ask.SCALARS}
    add = {"add": _ask.INPLACE["add"]}

    sections = {
        **_ask.promotion(_functions(mindspore), arrays, zeros_d, squares),
        **_ask.inplace(make, arrays, operands),
        **_ask.inplace(make, arrays, zeros_d, functions=add, prefix="inplace_0d"),
        **_ask.telling_errors(_ask.scalars(arrays, first), refusal),
        "unary": _plain(_ask.unary(_ask.named(mindspore.ops, _ask.UNARY, NAMES), arrays)),
        "reduce": _plain(_ask.unary(_reductions(mindspore.ops), arrays)),
        "clip": _plain(
            _ask.Section(
                lambda x, bound: mindspore.ops.clip(x, bound, bound),
                arrays,
                {kind: _ask.SCALARS[kind] for kind in ("int", "float")},
            )
        ),
    }
    matrices = {
        code: mindspore.Tensor(np.eye(3, dtype="float32")).astype(dtypes[code]) for code in dtypes
    }
    for name, section in _ask.linear(_linear(mindspore), matrices).items():
        sections[name] = _plain(section)
    for name in sections:
        if name.endswith("/copysign"):  # composed: its kernels see one operand each
            sections[name] = _plain(sections[name])
    meta = {
        "policy": "mindspore@2.10",
        "framework": f"mindspore {version('mindspore')}, CPU, PyNative, blocking launches",
        "how": "mindspore.ops and operators, executed on tensors of ones, shape (2,); 0-d;"
        " (2, 2) for matmul; a failure is asked three times",
        "scalars": f"first elements as numpy {np.__version__} prints them",
        "code after ?": "the dtype inferred for the result, of which the CPU wheel has no kernel",
    }
    return _ask.Oracle(meta, code, {name: patient(s) for name, s in sections.items()}, refusal)


def _dtypes(mindspore: Any) -> dict[str, Any]:
    names = {name: "bool_" if name == "bool" else name for name in _ask.DTYPES}
    return {
        _ask.CODES[name]: getattr(mindspore, theirs)
        for name, theirs in names.items()
        if hasattr(mindspore, theirs)
    }


def _functions(mindspore: Any) -> dict[str, Callable[[Any, Any], Any]]:
    ops, condition = mindspore.ops, mindspore.Tensor([True, False])
    return _ask.named(ops, _ask.BINARY, NAMES) | {
        "where": lambda x, y: ops.where(condition, x, y),
        "concat": lambda x, y: ops.concat([x, y]),
        "stack": lambda x, y: ops.stack([x, y]),
    }


def _linear(mindspore: Any) -> dict[str, Callable[..., Any]]:
    """Linear algebra, Fourier transforms, sets and sorting."""
    ops = mindspore.ops
    functions = {
        name: getattr(ops, name)
        for name in (*_ask.LINEAR["linalg"], *_ask.LINEAR["fft"], *_ask.LINEAR_PAIRS, "argsort")
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
    return _ask.named(ops, _ask.REDUCE, NAMES) | {
        "cumulative_sum": lambda x: ops.cumsum(x, 0),
        "cumulative_prod": lambda x: ops.cumprod(x, 0),
    }


def _plain(section: _ask.Section) -> _ask.Section:
    """Leave the dtype out where a kernel's says nothing about the result."""
    return replace(section, refusal=lambda error: refusal(error)[:1])


def _settle(mindspore: Any) -> None:
    with suppress(Exception):  # the error of the question before
        mindspore.runtime.synchronize()


if __name__ == "__main__":
    _ask.main({"mindspore": edition})
