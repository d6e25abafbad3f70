"""Huber's error over NumPy buffers: in a loop of ours, or in steps of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from promoarray import kernels
from promoarray.backends.numpy import loops
from promoarray.dtypes import BY_STORAGE

Buffer = np.ndarray[Any, Any]
Kernel = Callable[..., Buffer | None]

LOOP = "huber_loss_by_delta"
"""The loop, of which ``delta`` is the third operand."""


def huber(x: Buffer, y: Buffer, *, delta: float = 1.0) -> Buffer:
    """Half the square of the error up to ``delta``, linear beyond it."""
    loop, bound = _loop(x.dtype), as_buffer(delta, x.dtype)
    found = loop.run((x, y, bound)) if loop is not None and bound is not None else None
    return in_steps(x, y, delta=delta) if found is None else found


def in_steps(x: Buffer, y: Buffer, *, delta: float) -> Buffer:
    error = np.abs(x - y)
    loss: Buffer = np.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta))
    return loss


def by_delta(kernel: Callable[..., Buffer | None], storage: Any) -> Callable[..., Buffer | None]:
    """The same of short buffers, by a kernel that takes ``delta`` as its last operand."""

    def run(x: Buffer, y: Buffer, *, delta: float = 1.0) -> Buffer | None:
        bound = as_buffer(delta, storage)
        return None if bound is None else kernel(x, y, bound)

    return run


def by_known_delta(kernel_of: Callable[[Any], Kernel | None], otherwise: Kernel) -> Kernel:
    """The same by a kernel for each ``delta``, of which programs have few."""
    known = lru_cache(maxsize=64, typed=True)(kernel_of)

    def run(x: Buffer, y: Buffer, *, delta: float = 1.0) -> Buffer | None:
        kernel = known(delta) if type(delta) is float else None
        return kernel(x, y) if kernel else otherwise(x, y, delta=delta)

    return run


@lru_cache(maxsize=256, typed=True)
def as_buffer(delta: Any, storage: Any) -> Buffer | None:
    """A number as NumPy takes it into an operation on a dtype; None where that has to be told."""
    if type(delta) not in (int, float) or not _LEAST <= abs(delta) <= _MOST:
        return None
    return np.asarray(delta, storage)


_LEAST, _MOST = 1e-30, 1e30
"""What neither overflows nor underflows in float32."""


@cache
def _loop(storage: np.dtype[Any]) -> loops.LoopPlan | None:
    dtype = BY_STORAGE.get(storage)
    if dtype is None or kernels.loop_of(LOOP, kernels.dtype_args(dtype)) is None:
        return None
    row = kernels.dtype_args(dtype)
    return loops.LoopPlan(LOOP, (row,) * 5, (kernels.DEFAULT,) * 4, storage)
