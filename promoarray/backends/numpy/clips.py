"""``clip`` over NumPy buffers, of which each may have a lower bound, an upper one, or both."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from promoarray import kernels
from promoarray.backends.numpy import loops
from promoarray.dtypes import BY_STORAGE

Buffer = np.ndarray[Any, Any]


def clip(x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    """``np.clip``, and what it is of one bound."""
    if low and high:  # which leaves a -0.0 that is not below 0.0
        within: Buffer = CLIP(x, *bounds)
        return within
    return np.maximum(x, *bounds) if low else np.minimum(x, *bounds) if high else x.copy()


CLIP: Any = np.clip
with suppress(ImportError):  # NumPy does not promise where the ufunc is
    CLIP = getattr(import_module("numpy._core.umath"), "clip", np.clip)

_ALL: Any = np.logical_and.reduce


def checked(x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    """``variants.checked_clip``: of integers by NumPy's own, of floats by a loop of ours."""
    from promoarray.kernels.portable import variants

    if low and high and not _ALL(np.less_equal(*bounds), None):
        refused: Buffer = variants.checked_clip(np, x, *bounds, low=low, high=high)  # which says so
        return refused
    if x.dtype.kind in "iu":
        return clip(x, *bounds, low=low, high=high)
    name = "clip_beyond" if low and high else f"clip_beyond_{'low' if low else 'high'}"
    loop = _loop(name, x.dtype) if bounds else None
    found = None if loop is None else loop.run((x, *bounds))
    return variants.clip_beyond(np, x, *bounds, low=low, high=high) if found is None else found


def checked_by(
    kernel: Callable[..., Buffer | None] | None, otherwise: Callable[..., Buffer]
) -> Callable[..., Buffer]:
    """The same of short buffers with both bounds, by a kernel that may answer None."""

    def run(x: Buffer, low: Buffer, high: Buffer) -> Buffer:
        out = kernel(x, low, high) if kernel and _ALL(np.less_equal(low, high), None) else None
        return otherwise(x, low, high) if out is None else out

    return run


@cache
def _loop(name: str, storage: np.dtype[Any]) -> loops.LoopPlan | None:
    row = kernels.dtype_args(BY_STORAGE[storage])
    found = kernels.loop_of(name, row)
    if found is None:
        return None
    count = found[0]
    return loops.LoopPlan(name, (row,) * (count + 2), (kernels.DEFAULT,) * (count + 1), storage)


KERNELS: dict[str, Callable[..., Any]] = {"clip": clip}
