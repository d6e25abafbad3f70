"""A program: lines of Python, run one after the other, each answered by what it binds.

Only the standard library is used, because frameworks run programs in environments of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

NUMBERS = {"nan": float("nan"), "inf": float("inf"), "complex": complex}
"""What numbers are written with that Python has no literal for."""


def words(text: str) -> tuple[str, ...]:
    """Names that stand apart by blanks."""
    return tuple(text.split())


def answered(
    program: str, names: Mapping[str, Any], told: Callable[[Any], str], failed: Callable[..., str]
) -> Iterator[str]:
    """Run a program line by line and answer each line; end behind the first that raises.

    Parameters
    ----------
    program : str
        Lines that bind a name each.
    names : mapping
        The functions and dtypes that the lines call.
    told : callable
        From what a line binds to its answer.
    failed : callable
        From an exception to the answer of the line that raised it.
    """
    scope = {**NUMBERS, **names}
    for line in program.splitlines():
        try:
            exec(compiled(line), scope)
            answer = told(scope[target(line)])
        except Exception as error:  # whatever is raised is the answer
            yield failed(error)
            return
        yield answer


@lru_cache(maxsize=4096)
def compiled(line: str) -> CodeType:
    """Compile a line."""
    return compile(line, "<program>", "exec")


@lru_cache(maxsize=4096)
def parsed(line: str) -> ast.stmt:
    """Read a line."""
    return ast.parse(line).body[0]


def target(line: str) -> str:
    """The name that a line binds."""
    return line.partition(" ")[0]


def makes_operand(line: str) -> bool:
    """Whether a line only writes an array out."""
    return " = array(" in line


_SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.USub: "-x",
    ast.UAdd: "+x",
    ast.Invert: "~",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def operation(line: str) -> str:
    """What a line does: a function's name, an operator, or one in place (``+=``)."""
    statement = parsed(line)
    if isinstance(statement, ast.AugAssign):
        return _SYMBOLS[type(statement.op)] + "="
    match getattr(statement, "value", None):
        case ast.Call(func=function):
            return ast.unparse(function)
        case ast.BinOp(op=symbol) | ast.UnaryOp(op=symbol):
            return _SYMBOLS[type(symbol)]
        case ast.Compare(ops=[symbol]):
            return _SYMBOLS[type(symbol)]
        case ast.Subscript():
            return "getitem"
    return "="


def operands(line: str) -> list[str]:
    """The names and numbers that a line computes with, as they are written, in their order."""
    statement = parsed(line)
    if isinstance(statement, ast.AugAssign):
        return [ast.unparse(statement.target), ast.unparse(statement.value)]
    match getattr(statement, "value", None):
        case ast.Call(args=args, keywords=keywords):
            return [ast.unparse(each) for each in (*args, *(k.value for k in keywords))]
        case ast.BinOp(left=left, right=right):
            return [ast.unparse(left), ast.unparse(right)]
        case ast.Compare(left=left, comparators=[right]):
            return [ast.unparse(left), ast.unparse(right)]
        case ast.UnaryOp(operand=operand):
            return [ast.unparse(operand)]
        case ast.Subscript(value=value):
            return [ast.unparse(value)]
    return []
