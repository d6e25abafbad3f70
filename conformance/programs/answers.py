"""Answers as text, which both sides write alike: ``int16(2,) 1 2``, ``int64* (…)`` if weak.

Values are written so that they can be read back to the bit; NaNs count as one. A line that raised
is ``!TypeError: message``, one that asked for a kernel the machine has not is ``?message``, and one
that took the process with it is ``!!``. Several results stand apart by `` & ``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

CRASHED = "!!"
LONGEST = 160
"""So many characters of an error's message are kept."""


def of_array(dtype: str, array: Any, *, weak: bool = False) -> str:
    """Write an array: its dtype's name, its shape and its values."""
    values = " ".join(map(number, np.asarray(array).ravel().tolist()))
    shape = str(np.shape(array)).replace(" ", "")
    return f"{dtype}{'*' if weak else ''} {shape} {values}".rstrip()


def number(value: Any) -> str:
    """Write a number so that Python reads it back; ``1.0+nanj`` for complex ones."""
    if isinstance(value, complex):
        return f"{number(value.real)}{'' if _negative(value.imag) else '+'}{number(value.imag)}j"
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return repr(value if isinstance(value, (bool, int, float)) else float(value))


def _negative(value: float) -> bool:
    return not math.isnan(value) and math.copysign(1, value) < 0


def of_error(error: BaseException, *, missing: bool = False) -> str:
    """Write an exception, or that the machine has no such kernel."""
    message = " ".join(str(error).split())[:LONGEST]
    return f"?{message}" if missing else f"!{type(error).__name__}: {message}"


class Result(NamedTuple):
    """One array of an answer."""

    dtype: str
    weak: bool
    shape: tuple[int, ...]
    values: list[str]


def read(answer: str) -> list[Result] | None:
    """Read the arrays of an answer; None of one that is no arrays."""
    if not answer or answer[0] in "!?":
        return None
    results = []
    for part in answer.split(" & "):
        dtype, shape, *values = part.split(" ")
        numbers = tuple(int(n) for n in shape.strip("()").split(",") if n)
        results.append(Result(dtype.rstrip("*"), dtype.endswith("*"), numbers, values))
    return results
