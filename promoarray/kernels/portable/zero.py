"""Masks of the elements that are zero, subnormals not among them. ``xp`` is NumPy or CuPy."""

from __future__ import annotations

from typing import Any

Buffer = Any


def is_zero(xp: Any, x: Buffer) -> Buffer:
    """Where ``x`` is 0 or -0; CuPy's own ``==`` takes float32 subnormals for it, too."""
    return xp.equal(x, xp.zeros_like(x))
