"""Graphs of one task a block, and the functions on blocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask.block_executable import BlockExecutable, executable
from promoarray.backends.dask.buffer import Blocks, Shape, closed, opened, storage
from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import DEFAULT

Results = tuple[tuple[Blocks, DType], ...]
"""Arrays of codes, and the dtype that each holds."""


def meta_of(ndim: int, dtype: DType) -> Any:
    """An empty block: it tells Dask the library, dtype and rank of all."""
    return np.empty((0,) * ndim, storage(dtype))


def on_blocks(
    run: BlockExecutable,
    out: Sequence[Any],
    pairs: Sequence[tuple[Any, Sequence[Any] | None]],
    dtype: DType,
    name: str,
    **options: Any,
) -> Blocks:
    """``da.blockwise`` of a function that gives codes of a dtype, over (array, labels of its axes).

    NumPy's arrays of no axes, whose labels are None, go into the task itself.
    """
    operands = [each for pair in pairs for each in pair]
    return da.blockwise(
        run.in_state(),
        out,
        *operands,
        token=name,
        dtype=storage(dtype),
        meta=meta_of(len(out), dtype),
        **options,
    )


def each(run: BlockExecutable, arrays: tuple[Any, ...], dtype: DType, name: str) -> Blocks:
    """Run a function on every block of arrays that broadcast; it gives codes of a dtype."""
    arrays, ndim = spread(arrays), max(x.ndim for x in arrays)
    axes = tuple(range(ndim))[::-1]  # as blockwise numbers them, the last axis is 0
    pairs = [(x, axes[ndim - x.ndim :] if isinstance(x, da.Array) else None) for x in arrays]
    return on_blocks(run, axes, pairs, dtype, name, align_arrays=True)


def spread(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays whose chunks broadcast where their shapes do; Dask takes an axis of length 1 that has
    empty blocks too for a longer one, and lets any length meet 0.

    Raises ValueError if the shapes do not broadcast.
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


def in_one_block(name: str, x: Blocks, axes: Sequence[int]) -> None:
    """Refuse axes that lie in several blocks.

    Raises ValueError with what to write.
    """
    axis = next((a for a in axes if x.numblocks[a] > 1), None)
    if axis is not None:
        chunks = ", ".join(f"{a}: -1" for a in axes)
        raise ValueError(
            f"{name} needs axis {axis} in one block, and it lies in {x.numblocks[axis]}: write "
            f"x.rechunk({{{chunks}}}), or x.to_device('cpu')"
        )


# --- Functions on blocks, for BlockExecutable -----------------------------------------------------


def cast_on_blocks(
    source: DType, target: DType, mode: Any = DEFAULT, transforms: Any = ()
) -> Callable[[Any], Any]:
    """A cast."""

    def run(block: Any) -> Any:
        values = opened(block, source)
        return closed(backend_of(values).cast(values, source, target, mode, transforms), target)

    return run


def codes_on_blocks(dtype: DType) -> Callable[[Any], Any]:
    """Blocks of NumPy's or ml_dtypes' dtype as codes."""

    def run(block: Any) -> Any:
        values = numpy_backend.native(block) if isinstance(block, np.ndarray) else block
        return closed(values, dtype)

    return run


def stored_on_blocks(dtype: DType) -> Callable[[Any], Any]:
    """Codes as blocks of that dtype."""
    return lambda block: block.view(dtype.storage)


def view_on_blocks(source: DType, target: DType) -> Callable[[Any], Any]:
    """The same bits under another dtype."""
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
    kernel: str,
    compute: DType,
    options: tuple[tuple[str, Any], ...] = (),
    named: tuple[str, ...] = (),
    leading: int = 0,
) -> Callable[..., Any]:
    """A kernel of the back end of the blocks, whose operands all hold ``compute``.

    The last blocks are the options called ``named``. The result gets as many axes of length 1 in
    front as ``leading`` says; several results are a tuple.
    """

    def run(*blocks: Any) -> Any:
        found = tuple(map(only, blocks))
        operands = tuple(opened(x, compute) for x in found[: len(found) - len(named)])
        more = dict(zip(named, found[len(operands) :], strict=True))
        outs = backend_of(operands[0]).call(kernel, operands, compute, **dict(options), **more)
        made = tuple(closed(*out)[(None,) * leading] for out in outs)
        return made if len(made) > 1 else made[0]

    return run


def only(block: Any) -> Any:
    """The one block in the lists that Dask gives for an axis that is not in the result."""
    while isinstance(block, list):
        (block,) = block
    return block


def run_kernel(kernel: str, block: Any, compute: DType, **options: Any) -> Any:
    """Run a kernel of one operand and one result on the codes of a block."""
    block = opened(block, compute)
    ((out, made),) = backend_of(block).call(kernel, (block,), compute, **options)
    return closed(out, made)


def cast_each(x: Blocks, source: DType, target: DType, *how: Any) -> Blocks:
    """Cast an array."""
    if source is target:
        return x
    run = executable(cast_on_blocks, source, target, *how)
    return each(run, (x,), target, f"astype-{target.name}")


def kernel_each(kernel: str, arrays: tuple[Any, ...], dtype: DType) -> Blocks:
    """An elementwise kernel of arrays of a dtype, which answers in it."""
    return each(executable(kernel_on_blocks, kernel, dtype), arrays, dtype, kernel)


# --- What kernels answer --------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def answers(
    kernel: str, compute: DType, shapes: tuple[Shape, ...], **options: Any
) -> tuple[DType, ...]:
    """The dtypes a kernel answers in, and its errors for axes: asked of ones.

    Raises the ValueError or TypeError that the kernel raises of these axes, or of axes without
    elements.
    """
    given = tuple(ones(compute, shape) for shape in shapes)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = numpy_backend.call(kernel, given, compute, **options)
    return tuple(dtype for _, dtype in found)


def few(x: Blocks) -> Shape:
    """A shape of one element, or of none as the array has none, to ask a kernel of."""
    return tuple(int(n != 0) for n in x.shape)


def memoryless(shape: Shape) -> Any:
    """An array of NumPy's that takes no memory: it knows all errors of shapes, axes and keys."""
    return np.broadcast_to(np.empty((), np.int8), shape)


def ones(dtype: DType, shape: Shape) -> Any:
    """Ones in NumPy's storage of a dtype, which no kernel refuses."""
    return numpy_backend.cast(np.ones(shape, np.bool), dt.bool, dtype)
