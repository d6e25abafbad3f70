"""Source of a call: on which side of an operator a Python number stands, and whether
an array of a default dtype is cast where it is made.

Python tells of ``1 < x`` as of ``x > 1``, and PyTorch of ``2 * x`` as of ``x * 2``. And
``np.zeros(3).astype(np.float32)`` ends alike under every policy, whatever dtype its zeros had.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from functools import lru_cache
from types import FrameType
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.core.call_site import part_of, site_of
from promoarray.diagnostics.record.chosen import nodes_around
from promoarray.dtypes import CONCRETE, WEAK, DType
from promoarray.promotion.cast_losses import loss

MIRRORED = {
    **{name: name for name in ("add", "multiply", "equal", "not_equal")},
    **{name: name for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "less": "greater",
    "greater": "less",
    "less_equal": "greater_equal",
    "greater_equal": "less_equal",
}
"""From an operation to the one that does the same with its operands exchanged."""


def number_first(frame: FrameType, tensor: type[Any] | tuple[type[Any], ...]) -> bool | None:
    """Whether the operator at which a frame stands has a number on its left; None if unknown."""
    sides = _sides_at(frame)
    if not sides:  # a function, or a method
        return False
    left, right = (_is_number(side, frame, tensor) for side in sides)
    if left is None and right is None:
        return None
    return left if left is not None else not right


def is_literal(frame: FrameType) -> bool:
    """Whether the source alone tells on which side the number stands."""
    sides = _sides_at(frame)
    return not sides or any(side.number for side in sides)


def _sides_at(frame: FrameType) -> tuple[_Side, ...]:
    """What stands on both sides of the operator at which a frame stands; nothing of a call."""
    pairs = _sides(site_of(frame.f_code, frame.f_lasti, frame.f_lineno).expression)
    part = part_of(frame.f_code, frame.f_lasti) if pairs[1:] else 0
    return pairs[part % len(pairs)] if pairs else ()


class _Side(NamedTuple):
    """What stands on one side of an operator; and if it is a literal, whether it is a number."""

    node: ast.expr
    number: bool | None


@lru_cache(maxsize=1024)
def _sides(expression: str) -> list[tuple[_Side, _Side]]:
    """What stands on both sides of an operator; of each of a chain of comparisons."""
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    match tree:
        case ast.BinOp(left=left, right=right):
            return [(_side(left), _side(right))]
        case ast.Compare(left=left, comparators=others):
            return [(_side(a), _side(b)) for a, b in zip([left, *others], others, strict=False)]
    return []


def _side(node: ast.expr) -> _Side:
    try:
        return _Side(node, type(ast.literal_eval(node)) in WEAK)
    except (ValueError, TypeError):
        return _Side(node, None)


def _is_number(
    side: _Side, frame: FrameType, tensor: type[Any] | tuple[type[Any], ...]
) -> bool | None:
    """Whether an expression is a number and no tensor; None if that takes computing it."""
    if side.number is not None:
        return side.number
    if isinstance(_value(side.node, frame), tensor):
        return False
    return True if _of_numbers(side.node, frame) else None


def _of_numbers(node: ast.expr, frame: FrameType) -> bool:
    """Whether an expression is arithmetic of Python's own on numbers."""
    match node:
        case ast.UnaryOp(operand=operand):
            return _of_numbers(operand, frame)
        case ast.BinOp(left=left, right=right):
            return _of_numbers(left, frame) and _of_numbers(right, frame)
        case ast.Constant(value=value):
            return type(value) in WEAK
        case ast.Call(func=func):
            called = _value(func, frame)
            return any(called is each for each in _NUMBERS)
    return type(_value(node, frame)) in WEAK


_PRODUCTS = "prod", "sumprod"  # which are of what they are given
_NUMBERS = (
    *(float, int, len),
    *(f for name, f in vars(math).items() if callable(f) and name not in _PRODUCTS),
)
"""What gives a Python number, or fails."""


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name stands for, or an attribute that an object holds; None if unknown."""
    if isinstance(node, ast.Name):
        found = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
        return frame.f_builtins.get(node.id) if found is None else found
    if isinstance(node, ast.Attribute):
        held: dict[str, Any] = getattr(_value(node.value, frame), "__dict__", {})
        return held.get(node.attr)
    return None


# -- casts ----------------------------------------------------------------------------------------

_METHODS = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bool": "bool",
    "bfloat16": "bfloat16",
}
"""PyTorch's methods that are casts."""

_PYTHONS = {"int": "int64", "float": "float64", "complex": "complex128"}
"""What NumPy and PyTorch take Python's types for, where a dtype is asked for."""

_BY_NAME = {dtype.name: dtype for dtype in CONCRETE}


def cast_at_once(frame: FrameType) -> DType | None:
    """Return what the expression at which a frame stands is cast to there; None if it is not."""
    site = site_of(frame.f_code, frame.f_lasti, frame.f_lineno)
    match nodes_around(site)[1:3]:
        case [ast.Attribute() as method, ast.Call() as call] if call.func is method:
            return _BY_NAME.get(_cast_by(call).removesuffix("_"))
    return None


def ends_alike(weak: DType, target: DType, defaults: Iterable[DType]) -> bool:
    """Whether a cast of Python numbers gives the same whatever default dtype they have before it.

    Of integers it does; of floats if each default holds all that the cast keeps.

    Parameters
    ----------
    weak : DType
        What the numbers are.
    defaults : iterable of DType
        Of each policy.
    """
    return weak in (dt.weak_bool, dt.weak_int) or not any(loss(target, d) for d in {*defaults})


def _cast_by(call: ast.Call) -> str:
    """The dtype that the call of a method casts to; "" if it is no cast."""
    match call:
        case ast.Call(ast.Attribute(_, "astype" | "to" | "type"), [dtype], []):
            return _last_name(dtype)
        case ast.Call(ast.Attribute(_, "astype" | "to"), [], [ast.keyword("dtype", dtype)]):
            return _last_name(dtype)
        case ast.Call(ast.Attribute(_, method), [], []):
            return _METHODS.get(method, "")
    return ""


def _last_name(dtype: Any) -> str:
    match dtype:
        case ast.Name(id="int" | "float" | "complex" as name):
            return _PYTHONS[name]
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
            return str(name)
    return ""
