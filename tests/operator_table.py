"""Python's operators by the name of the operation, for the tests that try them all."""

from __future__ import annotations

import operator

import python_operators as asked
from python_operators import Operators

_SHIFTS = {"left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"}


def _named(operators: Operators) -> Operators:
    return {_SHIFTS.get(name, name): function for name, function in operators.items()}


FORWARD = {**_named(asked.OPERATORS), "matmul": operator.matmul}
INPLACE = {**_named(asked.INPLACE), "matmul": operator.imatmul}
MIRRORED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}
"""What Python asks an array on the right of a comparison, where it asks it at all."""
