"""Powers by one exponent that are functions of the base alone, and so a loop of one operand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Buffer = np.ndarray[Any, Any]

_WHOLE: Mapping[float, str] = {-1: "reciprocal", 2: "square"}
_FACTORS: Mapping[float, str] = {**_WHOLE, -2: "reciprocal_square", 3: "cube"}

LOOPS: Mapping[str, Mapping[float, str]] = {
    "pow": {0.5: "sqrt", 2: "square"},  # as NumPy's own loops do
    "plain_pow": {0.5: "plain_root", 2: "square"},
    "whole_shortcut_pow": _WHOLE,
    "root_shortcut_pow": {0.5: "sqrt"},
    "shortcut_pow": {**_WHOLE, 0.5: "sqrt"},
    "multiplied_pow": {**_FACTORS, 0.5: "sqrt", -0.5: "reciprocal_root"},
    "integer_pow": _FACTORS,
}
"""The loops that give what ``kernels.portable`` gives, by kernel and exponent."""


AROUND_A_ROOT = 0.4, 0.6
"""Exponents that are 0.5 in some dtype lie between these."""


def loop_of(name: str, x: Buffer, y: Buffer) -> str | None:
    """The loop of the base alone; None where there is none, or the exponents are several."""
    if y.size != 1 or y.ndim > x.ndim:
        return None
    return LOOPS[name].get(y.item())


def is_as_numpy(x: Buffer, y: Buffer) -> bool:
    """Whether ``np.power`` takes no root of -inf here: it does for exponents 0.5 that it reads over
    and over, and for one alone."""
    if y.size == 1:
        low, high = AROUND_A_ROOT
        return not low < y.item().real < high
    return x.shape == y.shape and 0 not in y.strides
