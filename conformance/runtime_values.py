"""Values that runtimes of models are asked for, and how golden files write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx_sessions import Bits, dtype_of

FLOATS = (
    *(300.0, -300.0, float("nan"), float("inf"), -float("inf"), 3e9, -3e9, -1.5, 1.5, 2.5, 0.5),
    *(-0.5, 0.0, -0.0, 7.5, 9.0, -9.0, 127.5, 128.0, -129.0, 255.9, 256.0, 65535.0, 65536.0),
    *(448.0, 464.0, 465.0, 500.0, 61440.0, 57345.0, 1e6, -40000.0, 1e19, 2e19, -1e19, 1e-5, 1e-40),
    *(2.0**31, 2.0**32, -(2.0**31) - 1024, 65519.0, 65520.0, 3e38),
)
INTEGERS = (
    *(0, 1, -1, 2, 7, 8, 9, 100, 127, 128, -128, -129, 255, 256, 300, -300, 32767, 32768, 65535),
    *(65536, -40000, 99999, 2**31 - 1, -(2**31), 2**31, 2**32, 2**40 + 1, -(2**40), 2**53 + 1),
    *(2**63 - 1, -(2**63), 2**63, 2**64 - 1),
)
PAIRS = "max,1 min,-1 min,max max,max 100,100 5,10 -7,2 7,-2 1,max 70000,70000 1099511627777,3"
"""Operands of arithmetic of integers; ``max`` and ``min`` are the ends of the type."""


def told(value: Any) -> str:
    """A value as Python writes it; NaN without sign."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, (bool, int)):
        return str(value)
    return repr(float(value)) if value == value else "nan"


def numbers(values: Any, code: str) -> Bits:
    """Values as they are stored in a type: integers wrap."""
    if code[0] in "iu":
        bits = int(code[1:])
        return np.array(values, object).astype(
            f"{'u' if code[0] == 'u' else 'i'}{max(bits, 8) // 8}"
        )
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(dtype_of(code))


def ends(code: str) -> tuple[int, int]:
    """The least and the largest integer of a type."""
    bits = int(code[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if code[0] == "i" else (0, (1 << bits) - 1)


def listed(code: str) -> list[Any]:
    """The values of a type that casts are asked for."""
    if code == "b1":
        return [0, 1]
    if code[0] in "iu":
        low, high = ends(code)
        return [n for n in INTEGERS if low <= n <= high]
    with np.errstate(all="ignore"):
        held = np.array(FLOATS).astype(dtype_of(code)).astype(np.float64)
    return list({told(v): float(v) for v in held}.values())


def pair(text: str, code: str) -> tuple[int, ...] | None:
    """Two integers as ``PAIRS`` writes them, if a type holds them."""
    low, high = ends(code)
    named = {"min": low, "max": high}
    both = tuple(named[each] if each in named else int(each) for each in text.split(","))
    return both if all(low <= each <= high for each in both) else None
