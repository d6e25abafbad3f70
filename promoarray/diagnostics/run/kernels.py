"""Kernels of Triton as programs: their bodies run once, over arrays that stand for blocks.

No GPU and no Triton is needed: ``triton.language`` is a stand-in whose functions are those of
promoarray's arrays, under the policy ``triton``, and other policies are asked of each line. What a
kernel does that the stand-in has not is named.
"""

from __future__ import annotations

import argparse
import ast
import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from promoarray import dtypes as dt
from promoarray.core.call_site import keep_source
from promoarray.diagnostics.ask.observer import shadow
from promoarray.diagnostics.exit_codes import FINDINGS, INCOMPLETE, NOTHING, UsageError
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.frameworks import named
from promoarray.diagnostics.run.program import say
from promoarray.dtypes import DType
from promoarray.namespaces import namespace
from promoarray.promotion.in_force import policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

pa: Any = namespace("triton")
BLOCK = 4
"""The elements of a block, and the value of a ``tl.constexpr`` of which nothing is known."""

NAMES = {"int1": dt.bool, "float8e4nv": dt.float8_e4m3fn, "float8e5": dt.float8_e5m2}
NAMES |= {d.name: d for d in as_policy("triton").dtypes}


class Pointer:
    """A pointer to elements of a dtype, or a block of them."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = SimpleNamespace(element_ty=dtype)

    def __add__(self, offset: object) -> Pointer:
        return self

    __radd__ = __iadd__ = __sub__ = __getitem__ = __add__


def _block(shape: Any, dtype: DType) -> Any:
    return pa.ones(shape if isinstance(shape, (tuple, list)) else (shape,), dtype=dtype)


def load(pointer: Pointer, mask: object = None, other: object = None, **options: object) -> Any:
    """Read a block, which has the dtype of the pointer whatever ``other`` is."""
    return _block(BLOCK, pointer.dtype.element_ty)


def store(pointer: Pointer, value: Any, mask: object = None, **options: object) -> None:
    """Write a block, which is cast to the dtype of the pointer."""
    pa.astype(pa.asarray(value), pointer.dtype.element_ty)


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, **options: function(x, axis=axis)


LANGUAGE = SimpleNamespace(
    **NAMES,
    constexpr=type("constexpr", (), {}),
    load=load,
    store=store,
    program_id=lambda axis=0: pa.asarray(0, dtype=dt.int32),
    num_programs=lambda axis=0: pa.asarray(1, dtype=dt.int32),
    arange=lambda start, end: _block(BLOCK, dt.int32),
    zeros=lambda shape, dtype: _block(shape, dtype),
    full=lambda shape, value, dtype: _block(shape, dtype),
    tensor_of=lambda value: pa.asarray(value, dtype=dt.float32 if value % 1 else dt.int32),
    dot=lambda x, y, *more, **options: pa.matmul(x, y),
    cdiv=lambda x, y: -(-x // y),
    static_range=range,
    range=range,
    maximum=pa.maximum,
    minimum=pa.minimum,
    where=pa.where,
    trans=lambda x: pa.matrix_transpose(x),
    **{name: getattr(pa, name) for name in ("exp", "log", "log2", "sqrt", "sin", "cos", "abs")},
    **{name: _reduced(getattr(pa, name)) for name in ("sum", "max", "min", "argmax", "argmin")},
    cumsum=_reduced(pa.cumulative_sum),
)


class _Rewriter(ast.NodeTransformer):
    """``x.to(dtype)`` is a cast, and a number under a name of its own a tensor."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            node.func.attr = "astype"
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.value, ast.Constant) and type(node.value.value) in (int, float):
            made = ast.parse("tl.tensor_of(0)", mode="eval").body
            assert isinstance(made, ast.Call)
            made.args = [node.value]
            node.value = ast.copy_location(made, node.value)
            ast.fix_missing_locations(node)
        return node


def _is_jit(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(d).partition("(")[0].rpartition(".")[2] == "jit" for d in node.decorator_list
    )


def compared(
    path: str, types: Mapping[str, DType], policies: tuple[Policy, ...]
) -> tuple[Report, list[str]]:
    """Run each kernel of a file; return where policies differ, and what was not read.

    Parameters
    ----------
    types : mapping
        From the names of arguments to dtypes; those of pointers are of what they point to.

    Raises
    ------
    UsageError
        If the file has no kernel.
    OSError, SyntaxError
    """
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    kept = [n for n in tree.body if _is_jit(n) or _is_constant(n)]
    kernels = [n for n in kept if isinstance(n, ast.FunctionDef)]
    called = {name for kernel in kernels for each in ast.walk(kernel) for name in _called(each)}
    if not any(map(_is_jit, kept)):
        raise UsageError(f"{path} has no function that triton.jit decorates")
    for kernel in kernels:
        kernel.decorator_list = []
    keep_source(path)
    names: dict[str, Any] = {"tl": LANGUAGE, "triton": SimpleNamespace(language=LANGUAGE)}
    tree.body = [_Rewriter().visit(n) if isinstance(n, ast.FunctionDef) else n for n in kept]
    exec(compile(tree, path, "exec"), names)
    unread: list[str] = []
    with policy("triton"), shadow(*policies) as report:
        for kernel in kernels:
            if kernel.name not in called:
                unread += _ran(names[kernel.name], kernel, types)
    return report, unread


def how_to_read(path: str) -> str:
    """Return how ``compare`` reads the kernels that a file has; "" if it has none."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError):
        return ""
    kernels = [n for n in tree.body if isinstance(n, ast.FunctionDef) and _is_jit(n)]
    names = dict.fromkeys(a.arg for n in kernels for a in n.args.args if _is_pointer(a.arg))
    types = ",".join(f"{name}=float16" for name in names)
    return f"; --types {types} reads its kernels without Triton, each pointer as you say" * bool(
        types
    )


def _is_pointer(name: str) -> bool:
    return name.endswith(("ptr", "ptrs"))


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)


def _called(node: ast.AST) -> Iterator[str]:
    """Yield the name that a node calls."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node.func.id


def _ran(
    function: Callable[..., Any], kernel: ast.FunctionDef, types: Mapping[str, DType]
) -> Iterator[str]:
    """Run a kernel; yield what stopped it, or which of its arguments have no dtype."""
    given: list[Any] = []
    for argument in kernel.args.args:
        name, note = argument.arg, ast.unparse(argument.annotation or ast.Constant(""))
        if _is_pointer(name) and name not in types:
            yield f"{kernel.name}: {name} points to nothing known; write --types {name}=float16"
            return
        if _is_pointer(name):
            given.append(Pointer(types[name]))
        elif note.endswith("constexpr"):
            given.append(types.get(name, BLOCK))
        else:
            given.append(pa.asarray(1, dtype=types.get(name, dt.int32)))
    try:
        function(*given)
    except Exception as error:  # whatever the stand-in has not
        trace = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in trace if f.filename == function.__code__.co_filename]
        said = " ".join(str(error).split())
        yield f"{kernel.name} was read up to line {lines[-1]}: {type(error).__name__}: {said}"


def main(args: argparse.Namespace) -> int:
    """Run ``promoarray compare FILE --types ...``; return its exit status.

    Raises
    ------
    UsageError, FileNotFoundError
    """
    pairs = [pair.partition("=") for pair in args.types.split(",") if pair]
    unknown = [dtype for _, _, dtype in pairs if dtype.strip() not in NAMES]
    if unknown or not args.script:
        known = ", ".join(NAMES)
        raise UsageError(f"--types names no dtype of Triton's in {unknown}; it has {known}")
    types = {name.strip(): NAMES[dtype.strip()] for name, _, dtype in pairs}
    report, unread = compared(args.script, types, named(args.policies or "triton,torch"))
    if args.json or args.format == "json":
        print(json.dumps(report.to_dict() | {"not_read": unread}, indent=2))
    else:
        print(report)
        if report.divergences:
            print("In a kernel pa.astype(x, pa.float32) is x.to(tl.float32).")
    for each in unread:
        say("compare", f"not examined: {each}")
    return INCOMPLETE if unread else FINDINGS if report.divergences else NOTHING
