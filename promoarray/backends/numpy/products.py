"""Products of matrices, vectors and tensors over NumPy buffers.

NumPy multiplies floats with BLAS, and integers element by element; these have a loop of their own.
Floats that are cast on the way go by panels, so that no operand is ever cast whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.dtypes import BY_STORAGE, DType, Kind

Buffer = np.ndarray[Any, Any]
Cast = Callable[[Buffer], Buffer]


# --- integers, which wrap around ------------------------------------------------------------------

FEW = 64
"""Elements up to which NumPy has multiplied before a loop of ours has begun."""


def integer_matmul(x: Buffer, y: Buffer) -> Any:
    """``np.matmul`` of integers of one dtype."""
    if (
        (x.size <= FEW and y.size <= FEW)
        or x.dtype != y.dtype
        or not x.ndim
        or not y.ndim
        or x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]
    ):
        return np.matmul(x, y)  # soonest for a few, and it has the words for what is wrong
    left = x if x.ndim > 1 else x[None, :]
    right = y if y.ndim > 1 else y[:, None]
    if left.ndim == right.ndim == 2:
        out = _multiplied(left[None], right[None])[0]
    else:
        stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        stacks = [
            np.broadcast_to(each, stack + each.shape[-2:]).reshape(-1, *each.shape[-2:])
            if each.size
            else np.empty((prod(stack), *each.shape[-2:]), each.dtype)
            for each in (left, right)
        ]
        out = _multiplied(*stacks).reshape(*stack, left.shape[-2], right.shape[-1])
    if x.ndim == 1:
        out = out[..., 0, :]
    return out[..., 0] if y.ndim == 1 else out


def _multiplied(left: Buffer, right: Buffer) -> Buffer:
    """The products of two stacks of matrices."""
    out = np.empty((left.shape[0], left.shape[1], right.shape[2]), left.dtype)
    row = kernels.dtype_args(BY_STORAGE[left.dtype])
    kernels.multiply(_aligned(left), _aligned(right), out, row)
    return out


def _aligned(x: Buffer) -> Buffer:
    return x if x.flags.aligned else x.copy()


def of_integers(name: str, compute: DType) -> Callable[..., Any] | None:
    """The kernel of an operation on integers, where NumPy's is not the one to take."""
    known = compute in dt.NATIVE and compute.kind in (Kind.INT, Kind.UINT)
    return _OF_INTEGERS.get(name) if known else None


# --- products of tensors --------------------------------------------------------------------------

Product = Callable[[Buffer, Buffer], Buffer]


def _tensordot(product: Product) -> Callable[..., Any]:
    """``np.tensordot`` by a product of matrices, in its steps, without the time that it takes to
    get to them."""

    def run(x: Buffer, y: Buffer, *, axes: Any = 1) -> Any:
        paired = _paired(x, y, axes) if isinstance(axes, (int, tuple, list)) else None
        if paired is None:
            return np.tensordot(x, y, axes)  # which has the words for it
        x, y, count = paired
        inside = x.ndim - count
        inner, m, n = prod(y.shape[:count]), prod(x.shape[:inside]), prod(y.shape[count:])
        out = product(x.reshape(m, inner), y.reshape(inner, n))
        return out.reshape(x.shape[:inside] + y.shape[count:])

    return run


def _paired(x: Buffer, y: Buffer, axes: Any) -> tuple[Buffer, Buffer, int] | None:
    """The arrays with the axes that meet moved to the end of the first and the begin of the second,
    and how many they are; None where they do not meet."""
    if not isinstance(axes, int):
        first, second = (list(of) if isinstance(of, (list, tuple)) else [of] for of in axes)
        if len(first) != len(second) or not (_are_of(x, first) and _are_of(y, second)):
            return None
        first, second = [i % x.ndim for i in first], [j % y.ndim for j in second]
        axes = len({*first})
        if not axes == len({*second}) == len(first):
            return None
        x = x.transpose([i for i in range(x.ndim) if i not in first] + first)
        y = y.transpose(second + [j for j in range(y.ndim) if j not in second])
    meet = 0 <= axes <= min(x.ndim, y.ndim) and x.shape[x.ndim - axes :] == y.shape[:axes]
    return (x, y, axes) if meet else None


def _are_of(x: Buffer, axes: list[Any]) -> bool:
    return all(isinstance(i, int) and -x.ndim <= i < x.ndim for i in axes)


def _integer_product(x: Buffer, y: Buffer) -> Any:
    """``np.dot`` of two matrices of integers of one dtype."""
    if (x.size <= FEW and y.size <= FEW) or x.dtype != y.dtype:
        return np.dot(x, y)
    return _multiplied(x[None], y[None])[0]


tensordot = _tensordot(np.dot)
"""``np.tensordot``; by default it pairs one axis, so that it is one of vectors, too."""

KERNELS: dict[str, Callable[..., Any]] = {"tensordot": tensordot}

_OF_INTEGERS: dict[str, Callable[..., Any]] = {
    "matmul": integer_matmul,
    "tensordot": _tensordot(_integer_product),
}


# --- floats that are cast on the way --------------------------------------------------------------

SCRATCH = 6 << 20
"""Bytes of what is cast at a time: with a cast of two steps no more than 8 MiB."""


def in_panels(
    buffers: Sequence[Buffer],
    casts: Sequence[Cast | None],
    finish: Cast,
    stored: Any,
    computed: Any,
) -> Buffer | None:
    """Multiply matrices that are cast before and after, a panel at a time.

    None where all of it is small enough to be cast at once, or nothing can be multiplied.
    """
    x, y = buffers
    whole = x.size + y.size
    if min(x.ndim, y.ndim) < 2 or x.shape[-1] != y.shape[-2]:
        return None
    try:
        stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return None
    shape = (*stack, x.shape[-2], y.shape[-1])
    whole += prod(shape)
    room = SCRATCH // computed.itemsize
    if whole <= room or not prod(shape):
        return None
    out = np.empty(shape, stored)
    left = np.broadcast_to(x, (*stack, *x.shape[-2:]))
    right = np.broadcast_to(y, (*stack, *y.shape[-2:]))
    for index in np.ndindex(*stack):
        _in_panels(left[index], right[index], out[index], casts, finish, room)
    return out


def _in_panels(
    x: Buffer, y: Buffer, out: Buffer, casts: Sequence[Cast | None], finish: Cast, room: int
) -> None:
    """One product. A panel is as long as the inner axis, so that BLAS rounds as it does elsewhere;
    of the longest axes it is a part, and the products are added up."""
    rows, inner = x.shape
    columns = y.shape[1]
    depth = min(inner, room // 8)
    held = 2 if depth == inner else 4  # the part of the room that one panel of y may take
    width = max(1, min(columns, _even(room // held // depth)))
    height = max(1, min(rows, _even(room // 2 // (depth + 2 * width))))
    of_x, of_y = (_same if cast is None else cast for cast in casts)

    def panel(k: int, j: int) -> Buffer:  # rows that lie apart take long to cast
        return of_y(np.ascontiguousarray(y[k : k + depth, j : j + width]))

    for j in range(0, columns, width):
        right = panel(0, j)
        for i in range(0, rows, height):
            made = of_x(x[i : i + height, :depth]) @ right
            for k in range(depth, inner, depth):
                made += of_x(x[i : i + height, k : k + depth]) @ panel(k, j)
            out[i : i + height, j : j + width] = finish(made)


def _even(length: int) -> int:
    """As many whole tiles of BLAS as there are, so that most elements are computed as elsewhere."""
    return length // 192 * 192 or length


def in_rows(
    buffers: Sequence[Buffer],
    casts: Sequence[Cast | None],
    finish: Cast,
    stored: Any,
    computed: Any,
    *,
    axis: int = -1,
) -> Buffer | None:
    """Multiply the vectors along the last axis of two arrays, some of them at a time.

    None where that axis is not the last, or the arrays do not lie alike, or are short.
    """
    x, y = buffers
    alike = x.shape == y.shape and x.flags.c_contiguous and y.flags.c_contiguous
    if not alike or axis not in (-1, x.ndim - 1) or x.size <= AT_ONCE or x.ndim < 2:
        return None
    out = np.empty(x.shape[:-1], stored)
    made, length = out.reshape(-1), x.shape[-1]
    of_x, of_y = (_same if cast is None else cast for cast in casts)
    step = max(1, AT_ONCE // length)
    x, y = x.reshape(-1, length), y.reshape(-1, length)
    for i in range(0, made.size, step):
        made[i : i + step] = finish(np.vecdot(of_x(x[i : i + step]), of_y(y[i : i + step])))
    return out


AT_ONCE = 1 << 16
"""Elements that stay in a cache between their cast and their product."""

IN_PARTS: dict[Any, Callable[..., Buffer | None]] = {np.matmul: in_panels, np.vecdot: in_rows}
"""How a kernel goes part by part where its operands are cast."""


def _same(x: Buffer) -> Buffer:
    return x
