"""Graphs of one task a block: a function of blocks, and the arrays it runs over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.storage import closed, opened, storage
from promoarray.dtypes import DType

Blocks = Any


def each(executable: BlockExecutable, arrays: tuple[Any, ...], dtype: DType, name: str) -> Blocks:
    """Run a function on every block of arrays that broadcast; it gives codes of a dtype.

    Parameters
    ----------
    executable : BlockExecutable
    arrays : tuple of dask.array.Array and NumPy's of no axes
        The latter, which are codes too, go into the task itself.
    dtype : DType
    name : str
        What the dashboard calls the tasks.
    """
    arrays, ndim = spread(arrays), max(x.ndim for x in arrays)
    axes = tuple(range(ndim))[::-1]  # as blockwise numbers them, the last axis is 0
    operands: list[Any] = []
    for x in arrays:
        operands += [x, axes[ndim - x.ndim :] if isinstance(x, da.Array) else None]
    executable = executable.in_state()
    told = tuple(x.name if isinstance(x, da.Array) else (x.dtype.str, x.tobytes()) for x in arrays)
    held = storage(dtype)
    return da.blockwise(
        executable,
        axes,
        *operands,
        name=f"{name}-{tokenize(executable, told)}",
        dtype=held,
        meta=np.empty((0,) * ndim, held),
        align_arrays=True,
    )


def spread(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays whose chunks broadcast where their shapes do; Dask takes an axis of length 1 that has
    empty blocks too for a longer one, and lets any length meet 0.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    """
    if len({x.shape for x in arrays}) == 1:
        return arrays
    np.broadcast_shapes(*(x.shape for x in arrays if x.size == x.size))  # of known lengths
    return tuple(map(in_blocks_of_one, arrays))


def in_blocks_of_one(x: Any) -> Any:
    """The same with axes of length 1 in one block, which Dask else takes for longer ones."""
    if 1 not in x.shape or not isinstance(x, da.Array):
        return x
    cut = [a for a, n in enumerate(x.shape) if n == 1 and x.numblocks[a] > 1]
    return x.rechunk(dict.fromkeys(cut, -1)) if cut else x


def cast_on_blocks(
    source: DType, target: DType, mode: Any, transforms: Any
) -> Callable[[Any], Any]:
    """A cast, for ``BlockExecutable``."""

    def run(block: Any) -> Any:
        values = opened(block, source)
        return closed(backend_of(values).cast(values, source, target, mode, transforms), target)

    return run


def codes_on_blocks(dtype: DType) -> Callable[[Any], Any]:
    """Blocks of the dtype of NumPy's or ml_dtypes' as codes, for ``BlockExecutable``."""

    def run(block: Any) -> Any:
        values = numpy_backend.native(block) if isinstance(block, np.ndarray) else block
        return closed(values, dtype)

    return run


def stored_on_blocks(dtype: DType) -> Callable[[Any], Any]:
    """Codes as blocks of that dtype, for ``BlockExecutable``."""
    return lambda block: block.view(dtype.storage)


def view_on_blocks(source: DType, target: DType) -> Callable[[Any], Any]:
    """The same bits under another dtype, for ``BlockExecutable``."""
    most = 1 if target is dt.bool else (1 << target.bits) - 1
    narrows = source.bits > target.bits or target is dt.bool
    width = target.storage.itemsize

    def run(block: Any) -> Any:
        block = block if block.ndim else np.asarray(block)
        codes = block.view(f"u{width}") if width <= 8 else block
        if narrows and codes.size and int(codes.max()) > most:
            raise ValueError(f"{target.name} has no code beyond {most}")
        return codes.view(storage(target))

    return run


def kernel_on_blocks(
    kernel: str, compute: DType, which: int = 0, options: tuple[tuple[str, Any], ...] = ()
) -> Callable[..., Any]:
    """A kernel of the back end of the blocks, for ``BlockExecutable``.

    Its operands all hold ``compute``; of several results it gives the one called ``which``.
    """
    fixed = dict(options)

    def run(*blocks: Any, **more: Any) -> Any:
        values = tuple(opened(block, compute) for block in blocks)
        found = backend_of(values[0]).call(kernel, values, compute, **fixed, **more)
        return closed(*found[which])

    return run


def no_casts(source: DType, target: DType) -> Any:
    """The casts of a plan that has none."""
    raise LookupError(f"no cast from {source} to {target} was planned")


def kernel_dtype(kernel: str, compute: DType, operands: int = 1, **options: Any) -> DType:
    """The dtype that a kernel answers in, asked of ones."""
    with np.errstate(all="ignore"):
        made = numpy_backend.call(kernel, (ones(compute),) * operands, compute, **options)
    return made[0][1]


def ones(dtype: DType, shape: tuple[int, ...] = (1,)) -> Any:
    """Ones in NumPy's storage of a dtype, which no kernel refuses."""
    plain = np.ones(shape, np.int8)
    return plain if dtype is dt.int8 else numpy_backend.cast(plain, dt.int8, dtype)
