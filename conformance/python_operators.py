"""Python's operators by the name of the operation, as the oracles ask them and the tests try them.

``left_shift`` and ``right_shift`` are short for the standard's ``bitwise_left_shift`` and
``bitwise_right_shift``, as in the recorded tables.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Operators = dict[str, Callable[[Any, Any], Any]]

OPERATORS: Operators = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "equal": operator.eq,
    "less": operator.lt,
    "bitwise_and": operator.and_,
    "left_shift": operator.lshift,
    "not_equal": operator.ne,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "right_shift": operator.rshift,
}
"""Operators of two arrays of one shape; `operator.matmul` wants matrices."""

INPLACE: Operators = {
    "add": operator.iadd,
    "subtract": operator.isub,
    "multiply": operator.imul,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "pow": operator.ipow,
    "bitwise_and": operator.iand,
    "left_shift": operator.ilshift,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
    "right_shift": operator.irshift,
}
