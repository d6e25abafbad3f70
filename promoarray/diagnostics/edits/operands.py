"""The operations that expressions are, and their operands."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection
from typing import Any

from promoarray.diagnostics.calls.common import operations
from promoarray.diagnostics.edits.occurrences import (
    ASTYPE,
    DEFAULT_DTYPE,
    ENTRY,
    SETITEM,
    Occurrence,
)
from promoarray.operations import OPERATIONS

MIRRORED: dict[type[ast.cmpop], str] = {
    ast.Lt: "greater",
    ast.LtE: "greater_equal",
    ast.Gt: "less",
    ast.GtE: "less_equal",
}


def given_to(call: ast.Call, modules: Collection[str]) -> list[Any]:
    """Return the operands among what a call is given, by position or by name.

    The first operand of ``x.sum(0)`` is ``x``, of ``xp.sum(x)`` the argument: ``modules`` are the
    names that stand for modules and namespaces.
    """
    if any(word.arg is None for word in call.keywords):
        return []
    named = [word for word in call.keywords if word.arg in _RANK]
    by_name = [word.value for word in sorted(named, key=lambda word: _RANK[word.arg])]
    if array := method_of(call, modules):
        return [array, *call.args, *by_name]
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return []
    if called_name(call) == "where":
        return [*call.args[1:], *by_name]
    match [*call.args, *by_name]:
        case [ast.List(elts=parts) | ast.Tuple(elts=parts), *_]:
            return [] if any(isinstance(part, ast.Starred) for part in parts) else parts
        case given:
            return given


_RANK: dict[str | None, int] = {
    name: rank
    for rank, names in enumerate(
        (
            "input self tensor tensors x x1 a arr array arrays lhs m",
            "other x2 y b rhs exponent mat2 vec vec2 target weights",
            "min a_min",
            "max a_max",
        )
    )
    for name in names.split()
}
"""Which operand a parameter is, by its names in the frameworks."""


def method_of(call: ast.Call, modules: Collection[str]) -> Any:
    """Return the array that a method is called on; None of a function."""
    if not isinstance(call.func, ast.Attribute):
        return None
    root: ast.expr = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return None if isinstance(root, ast.Name) and root.id in modules else call.func.value


def called_name(call: ast.Call) -> str:
    """Return the last name of what is called."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def folded(call: ast.AST, name: str) -> list[Any] | None:
    """Return the operands of an operation that Python's own code carries out on elements.

    Of ``sum(x)`` these are what was summed so far, which stands nowhere, and ``x``; of
    ``list(map(operator.mul, x, y))`` they are ``x`` and ``y``. None of what does no such thing.
    """
    if not isinstance(call, ast.Call) or not call.args:
        return None
    first, *others = call.args
    operation, operands = "", list[Any](others)
    match ast.unparse(call.func), others:
        case "sum", _:
            operation, operands = "add", [None, None if _is_lazy(first) else first]
        case "math.prod", _:
            operation, operands = "multiply", [None, first]
        case "functools.reduce" | "reduce", [values, *_]:
            operation, operands = operator_of(first), [None, values]
        case "itertools.accumulate" | "accumulate", _:
            operation, operands = operator_of(others[0]) if others else "add", [None, first]
        case "map", [_, *_]:
            operation = operator_of(first)
    inner = folded(first, name)
    if operation != name:
        return inner
    return None if inner or any(map(_is_lazy, operands)) else operands


def is_sum(node: ast.AST) -> bool:
    """Whether a call is one of Python's ``sum``."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "sum"


def operator_of(node: ast.AST) -> str:
    """Return the operation of a function such as ``operator.mul``; "" if it is none."""
    match node:
        case ast.Attribute(value=ast.Name(id="operator"), attr=name) | ast.Name(id=name):
            return _OPERATORS.get(name, "")
    return ""


_OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "pow": "pow", "mod": "remainder"}
_OPERATORS |= {"truediv": "divide", "floordiv": "floor_divide", "xor": "bitwise_xor"}
_OPERATORS |= {"and_": "bitwise_and", "or_": "bitwise_or"}
_OPERATORS |= {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
"""Functions of ``operator``, by name."""


def _is_lazy(node: ast.AST | None) -> bool:
    """Whether an expression makes its elements one by one, so that no array is made of it."""
    if isinstance(node, ast.Call):
        return called_name(node) in _ITERATORS
    return isinstance(node, (ast.GeneratorExp, ast.Starred))


_ITERATORS = {
    *("map", "filter", "zip", "iter", "reversed", "enumerate", "accumulate", "starmap"),
    *("chain", "from_iterable", "islice", "takewhile", "dropwhile", "filterfalse", "repeat"),
}


def number_text(node: ast.AST) -> Any:
    """Return the value of a number that stands in the source; None of all else."""
    match node:
        case ast.Constant(value=bool() | int() | float() | complex() as value):
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant(value=int() | float())):
            return ast.literal_eval(node)
    return None


def is_simple(node: ast.AST) -> bool:
    """Whether an expression may be written twice."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=inner):
            return is_simple(inner)
    return False


def is_operation(node: Any, seen: Occurrence) -> bool:
    """Whether a piece of source is the operation: a call of ``xp.var`` makes others, too."""
    name = seen.asked.name
    match node:
        case ast.BinOp() | ast.Compare() | ast.Call() if name == ENTRY:
            return True
        case ast.Subscript():  # np.mgrid[0:3] makes an array
            return seen.span.stores if name == SETITEM else name == DEFAULT_DTYPE
        case ast.Assign(targets=[ast.Subscript()]):
            return name == SETITEM
        case ast.BinOp() | ast.AugAssign():
            return symbol_of(node.op) == _symbol(name)
        case ast.Compare(ops=ops) if seen.span.part < len(ops):
            op = ops[seen.span.part]
            return symbol_of(op) == _symbol(name) or MIRRORED.get(type(op)) == name
        case ast.UnaryOp():
            return _UNARY.get(type(node.op)) == name
        case ast.Call() if seen.framework:  # its calls are known by the tables of the recorder
            if isinstance(node.func, ast.Name) and node.func.id in _OF_PYTHON:
                return False
            return name != DEFAULT_DTYPE or not any(word.arg == "dtype" for word in node.keywords)
        case ast.Call():
            return _calls(node, name)
    return False


_OF_PYTHON = {*dir(builtins)} - {"abs", "divmod", "pow", "round"}
"""Python's functions whose arguments are not what they compute with, one by one."""


def _calls(call: ast.Call, name: str) -> bool:
    called = called_name(call)
    if name == DEFAULT_DTYPE:
        return called in MAKERS and not any(word.arg == "dtype" for word in call.keywords)
    if name == ASTYPE:
        return called in ("astype", "asarray", "array")
    return name in (called, operations("numpy").get(called)) or called in _OURS.get(name, ())


_OURS = {
    "abs": {"fabs"},
    "vecdot": {"dot", "inner"},
    "clip": {"clamp"},
    "cumulative_sum": {"cumsum"},
    "cumulative_prod": {"cumprod"},
    "matrix_norm": {"norm"},
}
"""From an operation to what functions and methods of it are called besides, where NumPy's of that
name are others."""

MAKERS = frozenset(
    ("arange", "array", "asarray", "empty", "eye", "full", "linspace", "logspace", "ones", "zeros")
)
"""The functions that take the dtype of what they make."""

_UNARY: dict[type, str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "bitwise_invert"}


def symbol_of(op: Any) -> str:
    """Return how an operator between two expressions is written."""
    a = ast.Name("a")
    tree = ast.Compare(a, [op], [a]) if isinstance(op, ast.cmpop) else ast.BinOp(a, op, a)
    return ast.unparse(tree).split()[1]


def _symbol(name: str) -> str:
    return OPERATIONS[name].symbol if name in OPERATIONS else "?"
