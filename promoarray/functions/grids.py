"""Chapter "creation functions", third part: grids and triangles."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, on_device
from promoarray.core.creation import keep_copy
from promoarray.core.fast_path import fast_function, making
from promoarray.core.move import Move, fast_move, move
from promoarray.core.operands import as_array
from promoarray.errors import quoted
from promoarray.functions._creation import buffer_of, cast_values, default
from promoarray.functions._docs import template
from promoarray.parray import AnyArray, AnyDType, PArray
from promoarray.promotion.in_force import get_policy

__all__ = ["eye", "meshgrid", "tril", "triu"]


@fast_function("eye", settings=making(PArray))
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: AnyDType | None = None,
    device: str | None = None,
) -> PArray:
    """Return a matrix with ones on a diagonal.

    Parameters
    ----------
    n_rows : int
    n_cols : int, optional
        Default: ``n_rows``.
    k : int
        Which diagonal: 0 is the main one, 1 the next above.
    dtype : dtype_like, optional
        Default: the policy's default float, float64 in NumPy, float32 in PyTorch.
    device : str, optional
        Default: the CPU.

    Returns
    -------
    PArray, shape (n_rows, n_cols)
        Of ``dtype``.

    Raises
    ------
    ValueError
        If a length is negative.

    Examples
    --------
    >>> eye(2)
    PArray([[1., 0.],
            [0., 1.]], dtype=float64)
    >>> with policy("torch"):
    ...     eye(2)
    PArray([[1., 0.],
            [0., 1.]], dtype=float32)
    """
    target = default(dt.weak_float, dtype, "eye")
    storage = target.storage if target in dt.NATIVE else None
    values = on_device(device).xp.eye(n_rows, n_cols, k=k, dtype=storage, device=device)
    out = cast_values(values, dt.weak_float, dtype, target, device)
    if device is None and k == 0:
        given = (n_rows,) if n_cols is None else (n_rows, n_cols)
        keep_copy("eye", given, dtype, out)
    return out


@fast_move
def meshgrid(*arrays: AnyArray, indexing: str = "xy") -> Move[tuple[PArray, ...]]:
    """Return coordinate matrices of one-dimensional arrays.

    Parameters
    ----------
    *arrays : array, shape (N,) or ()
        Nothing promotes, under any policy: each grid keeps its dtype. PyTorch, TensorFlow,
        MindSpore and Paddle's wheels take arrays of one dtype only.
    indexing : {"xy", "ij"}
        Whether the first array runs along the second axis, or along the first.

    Returns
    -------
    tuple of PArray
        As many as arrays, each with as many axes and with memory of its own.

    Raises
    ------
    PromotionError
        If the policy does not take arrays of these dtypes together.
    ValueError
        If an array has more axes, or there is no such indexing.

    Examples
    --------
    >>> x, y = meshgrid(asarray([1, 2]), asarray([0.5, 1.5]))
    >>> x
    PArray([[1, 2],
            [1, 2]], dtype=int64)
    >>> y
    PArray([[0.5, 0.5],
            [1.5, 1.5]], dtype=float64)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {quoted(indexing)}")
    entered = tuple([as_array(x, "meshgrid") for x in arrays])
    if any(x.ndim > 1 for x in entered):
        raise ValueError("meshgrid takes arrays of one axis")
    axes = list(range(len(entered)))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    # A new axis for each other array's, and for that of a number.
    along = [
        tuple(slice(None) if x.ndim and axis == each else None for each in range(len(axes)))
        for axis, x in zip(axes, entered, strict=True)
    ]
    return Move(entered, partial(_grids, axes, along), ...)


def _grids(axes: list[int], along: list[tuple[slice | None, ...]], *buffers: Any) -> Any:
    """Buffers of one axis each, along these axes, in memory of their own."""
    shape = tuple([buffers[i].size for i in axes])  # the first two are swapped, or none
    grids = []
    for key, x in zip(along, buffers, strict=True):
        if type(x) is np.ndarray:
            grid = np.empty(shape, x.dtype)
            grid[...] = x[key]
        else:
            backend = backend_of(x)
            grid = backend.copy(backend.move("broadcast_to", backend.read(x, key), shape))
        grids.append(grid)
    return tuple(grids)


_triangular = template(
    """
    Parameters
    ----------
    x : array, shape (..., M, N)
    k : int
        {k}

    Returns
    -------
    PArray, shape (..., M, N)
        Of the dtype of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes.
    """
)


@_triangular(k="The last diagonal to keep: 0 is the main one, 1 the next above.")
@fast_move
def tril(x: AnyArray, /, *, k: int = 0) -> Move[PArray]:
    """Return the lower triangle of matrices, and zeros above.

    Examples
    --------
    >>> tril(asarray([[1, 2], [3, 4]], dtype=int8))
    PArray([[1, 0],
            [3, 4]], dtype=int8)
    """
    return _triangle("tril", x, k)


@_triangular(k="The first diagonal to keep: 0 is the main one, 1 the next above.")
@fast_move
def triu(x: AnyArray, /, *, k: int = 0) -> Move[PArray]:
    """Return the upper triangle of matrices, and zeros below.

    Examples
    --------
    >>> triu(asarray([[1, 2], [3, 4]], dtype=int8), k=1)
    PArray([[0, 2],
            [0, 0]], dtype=int8)
    """
    return _triangle("triu", x, k)


def _triangle(name: str, x: Any, k: int) -> Move[PArray]:
    array = as_array(x, name)
    if array.ndim < 2:
        raise ValueError(f"{name} needs two axes or more, and x has {array.ndim}")
    if array.dtype is dt.float8_e8m0fnu:
        return Move((array,), partial(_triangle_of_e8m0, name, k, array))
    return move(name, array, k=k)


def _triangle_of_e8m0(name: str, k: int, array: PArray, buffer: Any) -> Any:
    """A triangle in the dtype whose code 0 is 2**-127, with what the policy casts 0.0 to."""
    backend, dtype = backend_of(buffer), dt.float8_e8m0fnu
    policy = array._policy or get_policy()
    zero = buffer_of("zeros", (), dtype, array.device, policy)
    # It has no zero, so all of its values are true.
    inside = backend.move(name, backend.cast(buffer, dtype, dt.bool), k=k)
    ((out, _),) = backend.call("where", (buffer, zero), dtype, condition=inside)
    return out
