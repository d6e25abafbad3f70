"""Products of matrices, vectors and tensors, over blocks.

Every pair of blocks is multiplied by the kernel, and the products are added up in a tree over the
blocks of the axes that are contracted: exactly for integers, for floats in an order that only the
chunks decide. Dask's own ``matmul`` would widen int8 on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.dask.blocks import Results, answers, cast_each
from promoarray.backends.dask.buffer import Blocks
from promoarray.backends.dask.reductions import reduce
from promoarray.backends.dask.whole import Labels, Signature, axes_of, of_matrices, run
from promoarray.dtypes import DType


def matmul(kernel: str, arrays: tuple[Blocks, ...], compute: DType) -> Results:
    """Multiply matrices, or vectors."""
    x, y = arrays
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise ValueError("the shapes do not match")
    stack = max(x.ndim, y.ndim, 2) - 2
    row, column = ("row",) * (x.ndim > 1), ("column",) * (y.ndim > 1)
    of_x = (*axes_of(stack, max(x.ndim - 2, 0)), *row, "inner")
    of_y = (*axes_of(stack, max(y.ndim - 2, 0)), "inner", *column)
    out = (*axes_of(stack), *row, *column)
    return _contract(kernel, arrays, (of_x, of_y), out, ("inner",), compute)


def vecdot(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int = -1) -> Results:
    """Multiply vectors along an axis."""
    x, y = arrays
    if not x.ndim or not y.ndim or x.shape[axis] != y.shape[axis]:
        raise ValueError("the shapes do not match")
    rest = max(x.ndim, y.ndim) - 1
    labels = []
    for array in arrays:
        own = list(axes_of(rest, array.ndim - 1))
        own.insert(axis % array.ndim, "inner")
        labels.append(tuple(own))
    return _contract(kernel, arrays, labels, axes_of(rest), ("inner",), compute, axis=axis)


def tensordot(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axes: Any = 2) -> Results:
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
    labels = axes_of(x.ndim + y.ndim)
    of_x, of_y = labels[: x.ndim], list(labels[x.ndim :])
    for i, j in pairs:
        of_y[j] = of_x[i]
    inner = tuple(of_x[i] for i, _ in pairs)
    out = tuple(label for label in (*of_x, *of_y) if label not in inner)
    given = tuple(i for i, _ in pairs), tuple(j for _, j in pairs)
    return _contract(kernel, arrays, (of_x, tuple(of_y)), out, inner, compute, axes=given)


def outer(kernel: str, arrays: tuple[Blocks, ...], compute: DType) -> Results:
    """Multiply every element of one vector with every one of another."""
    if any(x.ndim != 1 for x in arrays):
        ranks = " and ".join(str(x.ndim) for x in arrays)
        raise ValueError(f"outer takes two vectors, not arrays of {ranks} axes")
    return _contract(kernel, arrays, (("row",), ("column",)), ("row", "column"), (), compute)


def matrix_power(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, n: int) -> Results:
    """Multiply matrices with themselves, by squaring where they lie in several blocks."""
    (x,) = arrays
    if x.numblocks[-1] == x.numblocks[-2] == 1:
        return of_matrices(kernel, arrays, compute, n=n)
    out = None if n else _identity(x, compute)
    while n:
        if n & 1:
            out = x if out is None else matmul("matmul", (out, x), compute)[0][0]
        n >>= 1
        x = matmul("matmul", (x, x), compute)[0][0] if n else x
    return ((out, compute),)


def _identity(x: Blocks, compute: DType) -> Blocks:
    """The identity in the shape and chunks of a stack of matrices."""
    ones = da.eye(x.shape[-1], chunks=x.chunksize[-1], dtype=np.bool)
    return da.broadcast_to(cast_each(ones, dt.bool, compute), x.shape).rechunk(x.chunks)


def _contract(
    kernel: str,
    arrays: tuple[Blocks, ...],
    labels: Sequence[Labels],
    out: Labels,
    inner: Labels,
    compute: DType,
    **options: Any,
) -> Results:
    """Multiply blocks, and add up what comes of different blocks of the labels ``inner``."""
    made = answers(kernel, compute, tuple((1,) * x.ndim for x in arrays), **options)
    along = zip(arrays, labels, strict=True)
    if all(n == 1 for x, own in along for n, a in zip(x.numblocks, own, strict=True) if a in inner):
        signature = Signature(labels, [out], frozenset(inner))
        return run(kernel, arrays, compute, signature, made, **options)
    signature = Signature(labels, [(*inner, *out)], partial=inner)
    ((parts, _),) = run(kernel, arrays, compute, signature, made, **options)
    return reduce("sum", (parts,), made[0], axis=tuple(range(len(inner))))


GRAPHS: dict[str, Callable[..., Results]] = {
    **dict.fromkeys(("matmul", "one_term_matmul", "blas_matmul"), matmul),
    **dict.fromkeys(("vecdot", "one_term_vecdot"), vecdot),
    **dict.fromkeys(("tensordot", "one_term_tensordot", "blas_tensordot"), tensordot),
    "outer": outer,
    "matrix_power": matrix_power,
}
