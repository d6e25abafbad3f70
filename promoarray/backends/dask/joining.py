"""Arrays joined, differences along an axis, and what is moved by a rule of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da

from promoarray import dtypes as dt
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import each, kernel_on_blocks
from promoarray.backends.dask.reshaping import reshape
from promoarray.dtypes import DType

Blocks = Any
Results = tuple[tuple[Blocks, DType], ...]


def _concat(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int | None = 0
) -> Results:
    if axis is None:
        arrays, axis = tuple(reshape(x, (-1,)) for x in arrays), 0
    return ((da.concatenate(arrays, axis=axis, allow_unknown_chunksizes=True), compute),)


def _stack(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int = 0) -> Results:
    return ((da.stack(arrays, axis=axis, allow_unknown_chunksizes=True), compute),)


def _diff(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int) -> Results:
    """Neighbours subtracted; bools are compared, as NumPy does."""
    (x,) = arrays
    before = (slice(None),) * (axis % x.ndim)
    subtract = "not_equal" if compute is dt.bool else "subtract"
    run = BlockExecutable(kernel_on_blocks, subtract, compute)
    ends = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
    return ((each(run, ends, compute, kernel), compute),)


def _diagonal(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, offset: int = 0
) -> Results:
    return ((da.diagonal(arrays[0], offset, -2, -1), compute),)


def _shifted(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axes: Any = None
) -> Results:
    (x,) = arrays
    named = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in named:
        half = x.shape[axis] // 2
        if x.shape[axis]:
            x = da.roll(x, half if kernel == "fftshift" else -half, axis)
    return ((x, compute),)


GRAPHS: dict[str, Callable[..., Results]] = {
    "concat": _concat,
    "stack": _stack,
    "diff": _diff,
    "diagonal": _diagonal,
    "fftshift": _shifted,
    "ifftshift": _shifted,
}
"""What ``call`` finds here."""
