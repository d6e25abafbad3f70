"""Products of matrices, vectors and tensors, over blocks.

Every pair of blocks is multiplied by the kernel, and the products are added up in a tree over the
blocks of the axes that are contracted: exactly for integers, for floats in an order that only the
chunks decide. Dask's own ``matmul`` would widen int8 on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import unify_chunks
from dask.base import tokenize

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import cast_on_blocks, each
from promoarray.backends.dask.reductions import reduce
from promoarray.backends.dask.steps import Block
from promoarray.backends.dask.storage import closed, opened
from promoarray.backends.dask.tree import Results, answers, meta_of, only
from promoarray.backends.dask.whole import over_blocks
from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import DEFAULT

Labels = tuple[int, ...]
"""One number for each axis; axes of one number go together, and are of one length or of 1."""


def matmul(kernel: str, arrays: tuple[da.Array, ...], compute: DType) -> Results:
    """Multiply matrices, or vectors."""
    x, y = arrays
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise ValueError("the shapes do not match")
    stack = max(x.ndim, y.ndim, 2) - 2
    row, column, inner = stack, stack + 1, stack + 2
    of_x = (*_last(stack, x.ndim - 2), row, inner) if x.ndim > 1 else (inner,)
    of_y = (*_last(stack, y.ndim - 2), inner, column) if y.ndim > 1 else (inner,)
    out = (*range(stack), *(row,) * (x.ndim > 1), *(column,) * (y.ndim > 1))
    return _contract(kernel, (x, y), (of_x, of_y), out, (inner,), compute)


def vecdot(kernel: str, arrays: tuple[da.Array, ...], compute: DType, *, axis: int = -1) -> Results:
    """Multiply vectors along an axis."""
    x, y = arrays
    if not x.ndim or not y.ndim or x.shape[axis] != y.shape[axis]:
        raise ValueError("the shapes do not match")
    rest = max(x.ndim, y.ndim) - 1
    labels = []
    for array in arrays:
        own = list(_last(rest, array.ndim - 1))
        own.insert(axis % array.ndim, rest)
        labels.append(tuple(own))
    return _contract(kernel, arrays, labels, tuple(range(rest)), (rest,), compute, axis=axis)


def tensordot(
    kernel: str, arrays: tuple[da.Array, ...], compute: DType, *, axes: Any = 2
) -> Results:
    """Contract axes of two arrays."""
    x, y = arrays
    if isinstance(axes, int):
        if axes > min(x.ndim, y.ndim):
            raise ValueError("there are not as many axes")
        axes = range(x.ndim - axes, x.ndim), range(axes)
    first, second = ([each] if isinstance(each, int) else list(each) for each in axes)
    pairs = [(i % x.ndim, j % y.ndim) for i, j in zip(first, second, strict=True)]
    if any(x.shape[i] != y.shape[j] for i, j in pairs):
        raise ValueError("the shapes do not match")
    of_x: list[int] = list(range(x.ndim))
    of_y: list[int] = list(range(x.ndim, x.ndim + y.ndim))
    for i, j in pairs:
        of_y[j] = of_x[i]
    inner = tuple(i for i, _ in pairs)
    out = tuple(label for label in (*of_x, *of_y) if label not in inner)
    given = tuple(i for i, _ in pairs), tuple(j for _, j in pairs)
    return _contract(kernel, arrays, (tuple(of_x), tuple(of_y)), out, inner, compute, axes=given)


def outer(kernel: str, arrays: tuple[da.Array, ...], compute: DType) -> Results:
    """Multiply every element of one vector with every one of another."""
    if any(x.ndim != 1 for x in arrays):
        ranks = " and ".join(str(x.ndim) for x in arrays)
        raise ValueError(f"outer takes two vectors, not arrays of {ranks} axes")
    return _contract(kernel, arrays, ((0,), (1,)), (0, 1), (), compute)


def matrix_power(kernel: str, arrays: tuple[da.Array, ...], compute: DType, *, n: int) -> Results:
    """Multiply matrices with themselves, by squaring where they lie in several blocks."""
    (x,) = arrays
    if x.numblocks[-1] == x.numblocks[-2] == 1:
        return over_blocks(kernel, arrays, compute, n=n)
    out = None if n else _identity(x, compute)
    while n:
        if n & 1:
            out = x if out is None else matmul("matmul", (out, x), compute)[0][0]
        n >>= 1
        x = matmul("matmul", (x, x), compute)[0][0] if n else x
    return ((out, compute),)


def _identity(x: da.Array, compute: DType) -> da.Array:
    """The identity in the shape and chunks of a stack of matrices."""
    ones = da.eye(x.shape[-1], chunks=x.chunksize[-1], dtype=np.bool)
    cast = BlockExecutable(cast_on_blocks, dt.bool, compute, DEFAULT, ())
    spread = da.broadcast_to(each(cast, (ones,), compute, "eye"), x.shape)
    return spread.rechunk(x.chunks)


def _last(count: int, some: int) -> range:
    """The last labels of those that come before all others."""
    return range(count - some, count)


def _contract(
    kernel: str,
    arrays: tuple[da.Array, ...],
    labels: Sequence[Labels],
    out: Labels,
    inner: Labels,
    compute: DType,
    **options: Any,
) -> Results:
    """Multiply blocks, and add up what comes of different blocks of the labels ``inner``."""
    ones = tuple((1,) * x.ndim for x in arrays)
    (made,) = answers(kernel, compute, ones, **options)
    operands = [each for pair in zip(arrays, labels, strict=True) for each in pair]
    chunks, aligned = unify_chunks(*operands, warn=False)
    operands[::2] = aligned
    many = any(len(chunks[label]) > 1 for label in inner)
    kept = inner if many else ()
    run = _executable(kernel, compute, len(kept), tuple(options.items())).in_state()
    parts = da.blockwise(
        run,
        (*kept, *out),
        *operands,
        name=f"{kernel}-{tokenize([x.name for x in aligned], labels, run)}",
        adjust_chunks=_counted(chunks) | dict.fromkeys(kept, 1),
        align_arrays=False,  # once more it would warn of many blocks
        meta=meta_of(len(kept) + len(out), made),
    )
    if not many:
        return ((parts, made),)
    return reduce("sum", (parts,), made, axis=tuple(range(len(kept))))


def _counted(chunks: dict[Any, tuple[float, ...]]) -> dict[Any, Any]:
    """The chunks of every label, as Dask may take those of a length of 1 that meets others."""
    return {label: tuple(own) for label, own in chunks.items()}


@lru_cache(maxsize=1024)
def _executable(
    kernel: str, compute: DType, leading: int, options: tuple[tuple[str, Any], ...]
) -> BlockExecutable:
    return BlockExecutable(product_of_blocks, kernel, compute, leading, options)


def product_of_blocks(
    kernel: str, compute: DType, leading: int, options: tuple[tuple[str, Any], ...]
) -> Callable[..., Block]:
    """Make what multiplies two blocks; axes of length 1 come first for the tree to reduce."""

    def run(x: Any, y: Any) -> Block:
        given = opened(only(x), compute), opened(only(y), compute)
        ((out, made),) = backend_of(given[0]).call(kernel, given, compute, **dict(options))
        return closed(out, made)[(None,) * leading]

    return run


GRAPHS: dict[str, Callable[..., Results]] = {
    "matmul": matmul,
    "vecdot": vecdot,
    "tensordot": tensordot,
    "outer": outer,
    "cross": over_blocks,
    "matrix_power": matrix_power,
}
