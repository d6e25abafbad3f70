"""PaddlePaddle's answers, executed on the CPU; the installed wheel says which edition it is.

python conformance/oracles/paddle.py [--out conformance/golden]

One wheel an environment: 3.3.1 writes ``paddle331.txt``, 2.6.2 (which needs numpy<2)
``paddle262.txt``. Integer powers are asked with the exponent 1 only: a negative exponent never
comes back in 3.3.1.
"""

from __future__ import annotations

import operator
import os
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from _ask import (
    BINARY,
    CODES,
    DTYPES,
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

EDITION = "paddle" + version("paddlepaddle").replace(".", "")

NAMES = {
    "less": "less_than",
    "greater": "greater_than",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "negative": "neg",
    "bitwise_invert": "bitwise_not",
}
"""Paddle's names where they are not those of the array API."""

LOSSES = {
    "l1_loss": "l1_loss",
    "mse_loss": "mse_loss",
    "huber_loss": "smooth_l1_loss",
    "poisson_nll_loss": "poisson_nll_loss",
}

MISSING = re.compile(r"key \(CPU, Undefined\(AnyLayout\), (\w+)\) of kernel `(\w+)` is not reg")
"""What Paddle says when it has chosen a kernel and has none for the CPU."""

NO_CPU = (
    "is not supported when casting data type",  # the kernel's own cast of its operands
    "tensor.set() supports array",  # signbit goes through NumPy
    "not understood",  # the same, of float8
)

PROMOTED = re.compile(
    "add|subtract|multiply|divide|scale|div_scale|floor_divide|remainder|pow|elementwise_pow"
    "|where|maximum|minimum|fmax|fmin|nextafter|copysign|huber_loss"
)
"""Kernels looked up after promotion, so that the dtype they lack is that of the result (3.x)."""

NAMELESS = re.compile(r".*/(hypot|logaddexp|matmul|stack|bitwise_\w+|\w+_shift)")
"""Sections whose kernels are looked up for a part of the work, or without promotion."""

MEANINGLESS = re.compile(
    r"bitwise_\w+ (b?float|complex)\w+"
    r"|nextafter (bool|u?int\d+)"
    r"|(maximum|minimum|fmax|fmin|max|min|argmax|clip|atan2|copysign|nextafter|floor|ceil|trunc"
    r"|floor_divide|remainder|(less|greater)_(than|equal)) complex\d+"
)
"""Kernels that lack a dtype because the function has no meaning there."""


def refusal(error: Exception) -> str:
    """`-` for a rule, `?` for a kernel the CPU wheel lacks, with the promoted dtype if named."""
    found = MISSING.search(str(error))
    if not found:
        return NO_KERNEL if any(text in str(error) for text in NO_CPU) else REFUSED
    dtype, kernel = found.groups()
    if MEANINGLESS.fullmatch(f"{kernel} {dtype}"):
        return REFUSED
    promoted = EDITION >= "paddle3" and PROMOTED.fullmatch(kernel)
    return NO_KERNEL + (CODES[dtype] if promoted else "")


def plain_refusal(error: Exception) -> str:
    """The same, of functions whose kernels say nothing about promotion."""
    return refusal(error)[:1]


def scalar_refusal(error: Exception) -> str:
    """The same with the name of the error, which tells an overflow from a rule."""
    cell = refusal(error)[:1]
    return cell if cell == NO_KERNEL else f"!{type(error).__name__}"


def edition() -> Oracle:
    """Ask the installed wheel."""
    os.environ.setdefault("GLOG_minloglevel", "4")
    warnings.simplefilter("ignore")
    import paddle

    paddle.set_device("cpu")

    dtypes = {CODES[name]: getattr(paddle, name) for name in DTYPES if hasattr(paddle, name)}

    def make(code: str, shape: tuple[int, ...] = (2,)) -> Any:
        return paddle.ones(shape, "float32").astype(dtypes[code])

    arrays = {code: make(code) for code in dtypes}
    zeros_d = {code: make(code, ()) for code in dtypes}
    squares = {code: make(code, (2, 2)) for code in dtypes}
    operands, operands_0d = {**arrays, **SCALARS}, {**zeros_d, **SCALARS}
    functions = _functions(paddle)
    zero_d = {name: functions[name] for name in ZERO_D}
    one_zero_d = zero_d | {name: functions[name] for name in MORE_ZERO_D if name in functions}
    pairs = {name: functions.pop(name) for name in ("concat", "stack")}
    losses = {name: getattr(paddle.nn.functional, theirs) for name, theirs in LOSSES.items()}
    matmul = {"matmul": functions.pop("matmul")}

    def code(answer: Any) -> str:
        if not isinstance(answer, paddle.Tensor):
            raise TypeError(f"{type(answer).__name__}, not a Tensor")
        return CODES[str(answer.dtype).removeprefix("paddle.")]

    def first(answer: Any) -> str:
        numeric = answer.astype("float32") if answer.dtype == paddle.bfloat16 else answer
        return f"{code(answer)}:{numeric.numpy()[0]!s}"  # format() of a float32 is a double's

    sections = {
        **binary("function", functions, operands, operands),
        **binary("function", losses, operands, operands),
        **binary("function", matmul, squares, squares),
        **binary("function", pairs, arrays, arrays),
        **binary("operator", OPERATORS, operands, operands, both_scalars=False),
        **binary("operator", {"matmul": operator.matmul}, squares, squares),
        **binary("array_0d", one_zero_d, arrays, zeros_d),
        **binary("0d_array", one_zero_d, zeros_d, arrays),
        **binary("0d_0d", zero_d, operands_0d, operands_0d),
        **inplace(make, arrays, operands),
        **inplace(make, arrays, zeros_d, functions={"add": operator.iadd}, prefix="inplace_0d"),
        **_values(scalars(_scalar_rows(arrays), first)),
        "unary": _plain(unary(_named(paddle, UNARY), arrays)),
        "reduce": _plain(unary(_reductions(paddle), arrays)),
        "clip": Section(
            lambda x, bound: paddle.clip(x, bound, bound),
            arrays,
            {kind: SCALARS[kind] for kind in ("int", "float")},
            plain_refusal,
        ),
    }
    identity = paddle.eye(3)
    matrices = {code: identity.astype(dtypes[code]) for code in dtypes}
    for name, section in linear(_linear(paddle), matrices).items():
        sections[name] = _plain(section)
    for name, section in sections.items():
        if NAMELESS.fullmatch(name):
            sections[name] = _plain(section)
    meta = {
        "framework": f"paddlepaddle {version('paddlepaddle')}, CPU, dynamic graph",
        "how": "executed on tensors of ones, shape (2,); 0-d; (2, 2) for matmul",
        "code after ?": "(3.x) the promoted dtype, of which the CPU wheel has no kernel",
        "scalars": f"first elements as numpy {version('numpy')} prints them",
        "huber_loss": "smooth_l1_loss, which calls it; paddle has no function of that name",
    }
    absent = [name for name in (*BINARY, *UNARY) if not hasattr(paddle, NAMES.get(name, name))]
    if absent:
        meta["absent"] = " ".join(absent)
    return Oracle(meta, code, sections, refusal)


def _functions(paddle: Any) -> dict[str, Callable[[Any, Any], Any]]:
    condition = paddle.to_tensor([True, False])
    return _named(paddle, BINARY) | {
        "where": lambda x, y: paddle.where(condition, x, y),
        "concat": lambda x, y: paddle.concat([x, y]),
        "stack": lambda x, y: paddle.stack([x, y]),
    }


def _linear(paddle: Any) -> dict[str, Callable[..., Any]]:
    """Linear algebra, Fourier transforms, sets and sorting."""
    rooms = (paddle.linalg, paddle.fft, paddle)
    functions = {
        name: next(getattr(room, name) for room in rooms if hasattr(room, name))
        for name in (*LINEAR["linalg"], *LINEAR["fft"], *LINEAR["sorting"], *LINEAR_PAIRS)
        if any(hasattr(room, name) for room in rooms)
    }
    return functions | {
        "matrix_power": lambda x: paddle.linalg.matrix_power(x, 2),
        "outer": lambda x, y: paddle.outer(x[0], y[0]),
        "unique_values": paddle.unique,
        "unique_counts": lambda x: paddle.unique(x, return_counts=True),
        "unique_inverse": lambda x: paddle.unique(x, return_inverse=True),
        "unique_all": lambda x: paddle.unique(x, True, True, True),
    }


def _reductions(paddle: Any) -> dict[str, Callable[[Any], Any]]:
    return _named(paddle, REDUCE) | {
        "cumulative_sum": lambda x: paddle.cumsum(x, 0),
        "cumulative_prod": lambda x: paddle.cumprod(x, 0),
    }


def _named(paddle: Any, names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    theirs = {name: getattr(paddle, NAMES.get(name, name), None) for name in names}
    return {name: function for name, function in theirs.items() if function}


def _scalar_rows(arrays: dict[str, Any]) -> dict[str, Any]:
    return {code: array for code, array in arrays.items() if not code.startswith("f8")}


def _values(sections: dict[str, Section]) -> dict[str, Section]:
    return {name: replace(s, refusal=scalar_refusal) for name, s in sections.items()}


def _plain(section: Section) -> Section:
    return replace(section, refusal=plain_refusal)


if __name__ == "__main__":
    main({EDITION: edition})
