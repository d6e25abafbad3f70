"""Chapter "manipulation functions", second part: broadcasting. Nothing promotes."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import backend_of
from promoarray.core.move import Move, fast_move, move
from promoarray.core.operands import as_array
from promoarray.core.shapes import integers
from promoarray.parray import AnyArray, PArray

__all__ = ["broadcast_arrays", "broadcast_shapes", "broadcast_to"]


@fast_move
def broadcast_to(x: AnyArray, /, shape: tuple[int, ...]) -> Move[PArray]:
    """Return a view of an array in a shape that it broadcasts to.

    Parameters
    ----------
    x : array, any shape
    shape : tuple of int

    Returns
    -------
    PArray, shape ``shape``
        Read-only, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If ``x`` does not broadcast to it.

    Examples
    --------
    >>> broadcast_to(asarray([1, 2], dtype=int8), (2, 2))
    PArray([[1, 2],
            [1, 2]], dtype=int8)
    """
    array, lengths = as_array(x, "broadcast_to"), integers("broadcast_to", "shape", shape)
    return move("broadcast_to", array, lengths)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    tuple of int
        ``()`` of no shapes.

    Raises
    ------
    ValueError
        If they do not broadcast.

    Examples
    --------
    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return np.broadcast_shapes(*(integers("broadcast_shapes", "shape", s) for s in shapes))


@fast_move
def broadcast_arrays(*arrays: AnyArray) -> Move[tuple[PArray, ...]]:
    """Return views in the shape that all arrays broadcast to.

    Parameters
    ----------
    *arrays : array, any shape
        Nothing promotes, under any policy: each keeps its dtype. Paddle's wheels take arrays
        of one dtype only.

    Returns
    -------
    tuple of PArray
        Of the broadcast shape, each of the dtype of its array. What was broadcast is read-only.

    Raises
    ------
    PromotionError
        If the policy does not take arrays of these dtypes together.
    ValueError
        If they do not broadcast.

    Examples
    --------
    >>> x, y = broadcast_arrays(asarray([1, 2], dtype=int8), asarray([[0.5], [1.5]]))
    >>> x
    PArray([[1, 2],
            [1, 2]], dtype=int8)
    >>> y.shape, y.dtype
    ((2, 2), promoarray.float64)
    """
    entered = tuple([as_array(x, "broadcast_arrays") for x in arrays])
    return Move(entered, _spread, ...)


def _spread(*buffers: Any) -> tuple[Any, ...]:
    """Buffers in the shape that all of them broadcast to."""
    shapes = [x.shape for x in buffers]
    if len({*shapes}) < 2:
        return buffers
    of_numpy = all(type(x) is np.ndarray for x in buffers)
    shape = np.broadcast(*buffers).shape if of_numpy else broadcast_shapes(*shapes)
    return tuple(
        [x if x.shape == shape else backend_of(x).move("broadcast_to", x, shape) for x in buffers]
    )
