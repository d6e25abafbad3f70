"""Triton's answers, asked of its compiler: no GPU is needed.

python conformance/oracles/triton.py [--out conformance/golden]

Asked with triton 3.8.0. Each question is a kernel of one operation, which the compiler's front end
turns into IR for compute capability 9.0; ``tl.static_print`` tells the dtype of the result. Python
numbers stand in the operation itself: under a name of their own they are tensors of int32 or
float32, which promote as tensors do.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import _ask

DTYPES = {
    "bool": "int1",
    **{name: name for name in _ask.DTYPES if name.lstrip("u") in ("int8", "int16", "int32")},
    "int64": "int64",
    "uint64": "uint64",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float64": "float64",
    "float8_e4m3fn": "float8e4nv",
    "float8_e5m2": "float8e5",
}
"""Our names of Triton's dtypes; fnuz formats are for other devices."""

PRINTED = {"int1": "bool", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}
PRINTED |= {"fp64": "float64", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}

SIGNS = _ask._names("+ - * / // % ** == != < <= > >= & | ^ << >>")
OPERATORS = dict(
    zip(
        _ask._names(
            "add subtract multiply divide floor_divide remainder pow equal not_equal less"
            " less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor left_shift"
            " right_shift"
        ),
        SIGNS,
        strict=True,
    )
)
FUNCTIONS = {
    "where": "tl.where(mask, {x}, {y})",
    "maximum": "tl.maximum({x}, {y})",
    "minimum": "tl.minimum({x}, {y})",
}
LOGICAL = {"logical_and": "{x} and {y}", "logical_or": "{x} or {y}"}
SQUARES = {"matmul": "tl.dot({x}, {y})"}
CLIP = "tl.clamp({x}, {y}, {y})"
UNARY = {
    **{name: f"tl.{name}(x)" for name in _ask._names("sin cos exp log log2 sqrt abs floor ceil")},
    "negative": "-x",
    "positive": "+x",
    "bitwise_invert": "~x",
    "logical_not": "not x",
}
REDUCE = {
    **{name: f"tl.{name}(x, 0)" for name in ("sum", "max", "min", "argmax", "argmin")},
    "cumulative_sum": "tl.cumsum(x, 0)",
    "cumulative_prod": "tl.cumprod(x, 0)",
    "sort": "tl.sort(x)",
}

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(A: tl.constexpr, B: tl.constexpr):
    mask = tl.full({shape}, 1, tl.int1)
    x = tl.full({shape}, 1, tl.float32).to(A)
    y = tl.full({shape}, 1, tl.float32).to(B)
    z = {expression}
    tl.static_print(z.dtype)
"""


def kernel_of(expression: str, shape: str) -> Any:
    """Make the kernel of an expression; Triton reads its source from a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernels.py")
        path.write_text(KERNEL.format(expression=expression, shape=shape), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.kernel


def compiler() -> Callable[[Any, str, str], str]:
    """A function of a kernel and two dtypes to the dtype that the compiler prints."""
    import triton.language as tl
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({})

    def printed(kernel: Any, a: str, b: str) -> str:
        constants = {(0,): getattr(tl, DTYPES[a]), (1,): getattr(tl, DTYPES[b])}
        signature = {"A": "constexpr", "B": "constexpr"}
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        context, out = ir.context(), io.StringIO()
        ir.load_dialects(context)
        backend.load_dialects(context)
        functions = backend.get_codegen_implementation(options)
        with contextlib.redirect_stdout(out):
            source.make_ir(target, options, functions, backend.get_module_map(), context)
        said = out.getvalue().split()[-1]
        return _ask.CODES[PRINTED.get(said, said)]

    return printed


def edition() -> _ask.Oracle:
    """Ask the installed compiler."""
    ask = compiler()
    by_code = {_ask.CODES[name]: name for name in DTYPES}
    numbers = {name: repr(value) for name, value in _ask.SCALARS.items() if name != "complex"}
    made = cache(kernel_of)

    def question(expression: str, shape: str = "(4,)") -> Callable[[str, str], str]:
        def answer(a: str, b: str) -> str:
            x, y = ("x" if a in by_code else a), ("y" if b in by_code else b)
            kernel = made(expression.format(x=x, y=y), shape)
            return ask(kernel, by_code.get(a, "float32"), by_code.get(b, "float32"))

        return answer

    def unary(expressions: dict[str, str]) -> _ask.Section:
        columns = {name: question(text) for name, text in expressions.items()}
        return _ask.Section(lambda a, answer: answer(a, a), arrays, columns)

    arrays = {code: code for code in by_code}
    operands = {**arrays, **numbers}
    operators = {name: question(f"{{x}} {sign} {{y}}") for name, sign in OPERATORS.items()}
    functions = {name: question(text) for name, text in FUNCTIONS.items()}
    logical = {name: question(text) for name, text in LOGICAL.items()}
    squares = {name: question(text, "(32, 32)") for name, text in SQUARES.items()}
    sections = {
        **_ask.binary("operator", operators, operands, operands, both_scalars=False),
        **_ask.binary("function", functions, operands, operands, both_scalars=False),
        **_ask.binary("function", {**logical, **squares}, arrays, arrays),
        "unary": unary(UNARY),
        "reduce": unary(REDUCE),
        "clip": _ask.Section(question(CLIP), arrays, {k: numbers[k] for k in ("int", "float")}),
    }
    meta = {
        "policy": "triton@3.8",
        "framework": f"triton {version('triton')}",
        "how": "the compiler's front end for cuda:90, kernels of one operation on blocks of four",
    }
    return _ask.Oracle(meta, str, sections)


if __name__ == "__main__":
    _ask.main({"triton": edition})
