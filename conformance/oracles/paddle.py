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

import _ask

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
        return _ask.NO_KERNEL if any(text in str(error) for text in NO_CPU) else _ask.REFUSED
    dtype, kernel = found.groups()
    if MEANINGLESS.fullmatch(f"{kernel} {dtype}"):
        return _ask.REFUSED
    promoted = EDITION >= "paddle3" and PROMOTED.fullmatch(kernel)
    return _ask.NO_KERNEL + (_ask.CODES[dtype] if promoted else "")


def plain_refusal(error: Exception) -> str:
    """The same, of functions whose kernels say nothing about promotion."""
    return refusal(error)[:1]


def edition() -> _ask.Oracle:
    """Ask the installed wheel."""
    os.environ.setdefault("GLOG_minloglevel", "4")
    warnings.simplefilter("ignore")
    import paddle

    paddle.set_device("cpu")

    dtypes = {
        _ask.CODES[name]: getattr(paddle, name) for name in _ask.DTYPES if hasattr(paddle, name)
    }

    def make(code: str, shape: tuple[int, ...] = (2,)) -> Any:
        return paddle.ones(shape, "float32").astype(dtypes[code])

    arrays = {code: make(code) for code in dtypes}
    zeros_d = {code: make(code, ()) for code in dtypes}
    squares = {code: make(code, (2, 2)) for code in dtypes}
    operands = {**arrays, **_ask.SCALARS}
    losses = {name: getattr(paddle.nn.functional, theirs) for name, theirs in LOSSES.items()}

    def code(answer: Any) -> str:
        if not isinstance(answer, paddle.Tensor):
            raise TypeError(f"{type(answer).__name__}, not a Tensor")
        return _ask.CODES[str(answer.dtype).removeprefix("paddle.")]

    def first(answer: Any) -> str:
        numeric = answer.astype("float32") if answer.dtype == paddle.bfloat16 else answer
        return f"{code(answer)}:{numeric.numpy()[0]!s}"  # format() of a float32 is a double's

    sections = {
        **_ask.promotion(_functions(paddle), arrays, zeros_d, squares),
        **_ask.binary("function", losses, operands, operands),
        **_ask.inplace(make, arrays, operands),
        **_ask.inplace(
            make, arrays, zeros_d, functions={"add": operator.iadd}, prefix="inplace_0d"
        ),
        **_ask.telling_errors(_ask.scalars(_scalar_rows(arrays), first), refusal),
        "unary": _plain(_ask.unary(_ask.named(paddle, _ask.UNARY, NAMES), arrays)),
        "reduce": _plain(_ask.unary(_reductions(paddle), arrays)),
        "clip": _ask.Section(
            lambda x, bound: paddle.clip(x, bound, bound),
            arrays,
            {kind: _ask.SCALARS[kind] for kind in ("int", "float")},
            plain_refusal,
        ),
    }
    identity = paddle.eye(3)
    matrices = {code: identity.astype(dtypes[code]) for code in dtypes}
    for name, section in _ask.linear(_linear(paddle), matrices).items():
        sections[name] = _plain(section)
    for name, section in sections.items():
        if NAMELESS.fullmatch(name):
            sections[name] = _plain(section)
    meta = {
        "policy": f"paddle@{paddle.__version__[:3]}",
        "framework": f"paddlepaddle {version('paddlepaddle')}, CPU, dynamic graph",
        "how": "executed on tensors of ones, shape (2,); 0-d; (2, 2) for matmul",
        "code after ?": "(3.x) the promoted dtype, of which the CPU wheel has no kernel",
        "scalars": f"first elements as numpy {version('numpy')} prints them",
        "huber_loss": "smooth_l1_loss, which calls it; paddle has no function of that name",
    }
    absent = [
        name for name in (*_ask.BINARY, *_ask.UNARY) if not hasattr(paddle, NAMES.get(name, name))
    ]
    if absent:
        meta["absent"] = " ".join(absent)
    return _ask.Oracle(meta, code, sections, refusal)


def _functions(paddle: Any) -> dict[str, Callable[[Any, Any], Any]]:
    condition = paddle.to_tensor([True, False])
    return _ask.named(paddle, _ask.BINARY, NAMES) | {
        "where": lambda x, y: paddle.where(condition, x, y),
        "concat": lambda x, y: paddle.concat([x, y]),
        "stack": lambda x, y: paddle.stack([x, y]),
    }


def _linear(paddle: Any) -> dict[str, Callable[..., Any]]:
    """Linear algebra, Fourier transforms, sets and sorting."""
    modules = (paddle.linalg, paddle.fft, paddle)
    functions = {
        name: next(getattr(module, name) for module in modules if hasattr(module, name))
        for name in _ask.LINEAR_NAMES
        if any(hasattr(module, name) for module in modules)
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
    return _ask.named(paddle, _ask.REDUCE, NAMES) | {
        "cumulative_sum": lambda x: paddle.cumsum(x, 0),
        "cumulative_prod": lambda x: paddle.cumprod(x, 0),
    }


def _scalar_rows(arrays: dict[str, Any]) -> dict[str, Any]:
    return {code: array for code, array in arrays.items() if not code.startswith("f8")}


def _plain(section: _ask.Section) -> _ask.Section:
    return replace(section, refusal=plain_refusal)


if __name__ == "__main__":
    _ask.main({EDITION: edition})
