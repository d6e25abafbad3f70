"""Ask PyTorch, on the CPU: ``python conformance/oracles/torch.py [--out conformance/golden]``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).resolve().parent)
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != HERE]
import torch  # noqa: E402 - this file has the same name: found only without its own folder

sys.path.append(HERE)
import _ask  # noqa: E402

SCALAR_TYPES = {
    "Bool": "b1",
    "Byte": "u8",
    "Char": "i8",
    "Short": "i16",
    "Int": "i32",
    "Long": "i64",
    "Half": "f16",
    "BFloat16": "bf16",
    "Float": "f32",
    "Double": "f64",
    "ComplexHalf": "c32",
    "ComplexFloat": "c64",
    "ComplexDouble": "c128",
    **{f"{sign}Int{n}": f"{code}{n}" for sign, code in (("", "i"), ("U", "u")) for n in (2, 4)},
    **{f"UInt{n}": f"u{n}" for n in (16, 32, 64)},
}
"""The names in PyTorch's errors; Float8_e4m3fn and its like are spelt as our codes are."""

MEANINGLESS = {
    r"bitwise_\w+|[lr]shift": "fc",
    r"[lr]shift|pow|remainder|div_floor\w*|floor|ceil|trunc|round": "b",
    r"(l|g)[te]|maximum|minimum|fmaxmin|fmax|fmin|max\w*|min\w*|aminmax\w*|argmax|argmin": "c",
    r"atan2|hypot|copysign|nextafter|remainder|div_floor\w*|floor|ceil|trunc|round|signbit": "c",
    r"hypot|nextafter|logaddexp": "biu",
}
"""Kernels and the kinds they have on no device, by PyTorch's own lists: that is a refusal."""

HELPERS = re.compile(r"copy_?(_kernel)?|fill_\w+|reciprocal|clone|empty\w*")
"""Kernels an operation needs besides its own: their dtype is not the one it computes in."""

OTHER_RESULT = re.compile(
    r"(not_)?equal|(less|greater)(_equal)?|logical_\w+|is\w+|signbit|any|all|argmax"
)
"""Functions whose result has not the dtype they compute in: a kernel's dtype says nothing of it."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(torch, name) for name in _ask.BINARY if hasattr(torch, name)},
    "equal": torch.eq,
    "where": lambda x, y: torch.where(torch.tensor([True, False]), x, y),
    "left_shift": torch.bitwise_left_shift,
    "right_shift": torch.bitwise_right_shift,
    "concat": lambda x, y: torch.concat([x, y]),
    "stack": lambda x, y: torch.stack([x, y]),
}

UNARY = {
    **{name: getattr(torch, name) for name in _ask.UNARY if hasattr(torch, name)},
    "bitwise_invert": torch.bitwise_not,
}

REDUCE = {
    **{name: getattr(torch, name) for name in _ask.REDUCE if hasattr(torch, name)},
    "cumulative_sum": lambda x: torch.cumsum(x, 0),
    "cumulative_prod": lambda x: torch.cumprod(x, 0),
}

LINEAR: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(torch.linalg, name)
        for name in (*_ask.LINEAR["linalg"], *_ask.LINEAR_PAIRS)
        if hasattr(torch.linalg, name)
    },
    **{name: getattr(torch.fft, name) for name in _ask.LINEAR["fft"]},
    "cross": torch.linalg.cross,
    "isin": torch.isin,
    "matrix_power": lambda x: torch.linalg.matrix_power(x, 2),
    "outer": lambda x, y: torch.outer(x[0], y[0]),
    "tensordot": torch.tensordot,
    "trace": torch.trace,
    "argsort": torch.argsort,
    "sort": lambda x: torch.sort(x)[0],
    "unique_values": torch.unique,
    "unique_counts": lambda x: torch.unique(x, return_counts=True),
    "unique_inverse": lambda x: torch.unique(x, return_inverse=True),
}

FACTORED = {"cholesky", "det", "inv", "pinv", "qr", "slogdet", "solve", "svd", "svdvals"}
FACTORED |= {"eig", "eigh", "eigvals", "eigvalsh", "matrix_rank"}
"""What LAPACK and its like do, which have no routines of low precision for any device."""


def code(answer: Any) -> str:
    """Code of a tensor's dtype, or of a dtype."""
    if isinstance(answer, torch.Tensor):
        answer = answer.dtype
    if not isinstance(answer, torch.dtype):
        raise TypeError(f"{type(answer).__name__} is no tensor")
    return _ask.CODES[str(answer).removeprefix("torch.")]


def refusal(error: Exception) -> str:
    """A kernel the CPU lacks is `?`; everything else is PyTorch's type rules speaking."""
    found = re.match(r'"(\w+?)" not implemented for \'(\w+)\'', str(error))
    if not found:
        return _ask.REFUSED
    kernel = re.sub(r"_(cpu|stub|reduced_float|impl|out|all|kernel|values|vml|_)+$", "", found[1])
    dtype = SCALAR_TYPES.get(found[2], found[2].replace("Float8", "f8"))
    kind = "f" if dtype == "bf16" else dtype[0]
    if any(re.fullmatch(k, kernel) and kind in kinds for k, kinds in MEANINGLESS.items()):
        return _ask.REFUSED
    # PyTorch has no arithmetic for its 2- and 4-bit integers, not even a rule to promote them.
    unsaid = HELPERS.fullmatch(kernel) or dtype[1:] in ("2", "4")
    return _ask.NO_KERNEL + ("" if unsaid else dtype)


def error_name(error: Exception) -> str:
    """For `scalars`, where the errors are told apart."""
    missing = refusal(error)[0] == _ask.NO_KERNEL
    return _ask.NO_KERNEL if missing else f"!{type(error).__name__}"


def quiet(functions: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Let those of `OTHER_RESULT` answer a missing kernel themselves, without its dtype."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*operands: Any) -> Any:
            try:
                return function(*operands)
            except NotImplementedError as error:
                return refusal(error)[0]

        return asked

    return {n: wrapped(f) if OTHER_RESULT.fullmatch(n) else f for n, f in functions.items()}


def ones(name: str, *shape: int) -> torch.Tensor:
    """Ones; the 2- and 4-bit integers have no kernel to fill them, and stay as they are."""
    dtype = getattr(torch, name)
    if re.search(r"int[24]$", name):
        return torch.empty(shape, dtype=dtype)
    return torch.ones(shape, dtype=torch.complex64 if dtype.is_complex else None).to(dtype)


def linear(functions: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Let linear algebra refuse what no device has a routine for; the rest lacks a kernel."""

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        several = _ask.SEVERAL.get(name)
        factored = name in FACTORED

        def asked(*operands: Any) -> Any:
            try:
                return function(*operands)
            except NotImplementedError:
                cell = _ask.REFUSED if factored else _ask.NO_KERNEL
                return [cell] * several if several else cell

        return asked

    return {name: wrapped(name, function) for name, function in functions.items()}


def identity(code: str, name: str) -> torch.Tensor:
    """The 3 x 3 identity; of float8 through float32, which has a kernel to fill it."""
    if code.endswith(("i2", "i4", "u2", "u4")):
        return torch.empty((3, 3), dtype=getattr(torch, name))
    return torch.eye(3).to(getattr(torch, name))


def can_cast(source: torch.dtype, target: torch.dtype) -> str:
    """The target, or a refusal."""
    return code(target) if torch.can_cast(source, target) else _ask.REFUSED


def edition() -> _ask.Oracle:
    """PyTorch as installed."""
    torch.set_num_threads(1)
    names = {_ask.CODES[name]: name for name in _ask.DTYPES if hasattr(torch, name)}
    dtypes = {c: getattr(torch, name) for c, name in names.items()}
    arrays = {c: ones(name, 2) for c, name in names.items()}
    square = {c: ones(name, 2, 2) for c, name in names.items()}
    zero_d = {c: ones(name) for c, name in names.items()}
    operands, single = {**arrays, **_ask.SCALARS}, {**zero_d, **_ask.SCALARS}
    joined = {name: FUNCTIONS[name] for name in ("concat", "stack")}
    some = quiet({n: FUNCTIONS[n] for n in FUNCTIONS if n not in ("matmul", *joined)})
    near = {name: some[name] for name in (*_ask.ZERO_D, *_ask.MORE_ZERO_D)}
    both = {name: some[name] for name in _ask.ZERO_D}
    operators = quiet(_ask.OPERATORS)
    matmul = {"matmul": torch.matmul}
    plain = {c: x for c, x in arrays.items() if not re.fullmatch(r"[iu][24]|f8.*|c32", c)}
    edges = _ask.scalars(plain, lambda x: f"{code(x)}:{x[0].item()}")
    sections = {
        **_ask.binary("function", some, operands, operands),
        **_ask.binary("function", {**matmul, **joined}, square, square),
        **_ask.binary("operator", operators, operands, operands, both_scalars=False),
        **_ask.binary("operator", matmul, square, square),
        **_ask.binary("array_0d", near, arrays, zero_d),
        **_ask.binary("0d_array", near, zero_d, arrays),
        **_ask.binary("0d_0d", both, single, single),
        **_ask.inplace(lambda c: ones(names[c], 2), names, operands),
        **_ask.inplace(
            lambda c: ones(names[c], 2), names, zero_d, {"add": _ask.INPLACE["add"]}, "inplace_0d"
        ),
        "clip": _ask.Section(lambda x, y: torch.clip(x, y, y), arrays, {"int": 1, "float": 1.0}),
        "unary": _ask.unary(quiet(UNARY), arrays),
        "reduce": _ask.unary(quiet(REDUCE), arrays),
        "types/promote_types": _ask.Section(torch.promote_types, dtypes, dtypes),
        "types/result_type": _ask.Section(torch.result_type, operands, operands),
        "types/can_cast": _ask.Section(can_cast, dtypes, dtypes),
        **_ask.linear(linear(LINEAR), {c: identity(c, name) for c, name in names.items()}),
        **{name: replace(section, refusal=error_name) for name, section in edges.items()},
    }
    meta = {"policy": "torch@2.13", "torch": torch.__version__}
    meta |= {"how": "executed on the CPU, arrays of two ones"}
    return _ask.Oracle(meta, code, sections, refusal)


if __name__ == "__main__":
    _ask.main({"torch": edition})
