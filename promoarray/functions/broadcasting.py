"""What moves values in one way: a backend's function, and broadcasting by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import backend_of
from promoarray.core.operands import array_class, as_array
from promoarray.core.shapes import integers
from promoarray.parray import PArray


def moved(name: str, x: Any, *args: Any, **kwargs: Any) -> PArray:
    """Run a function that moves values: dtype and weakness stay, whatever the policy."""
    array = as_array(x, name)
    out = backend_of(array._buffer).move(name, array._buffer, *args, **kwargs)
    return array._wrap(out, array._type)


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> PArray:
    """Return a view in a shape that an array broadcasts to.

    Parameters
    ----------
    x : array
    shape : tuple of int

    Returns
    -------
    PArray
        Not to be written to.

    Raises
    ------
    ValueError
        If it does not broadcast.
    """
    return moved("broadcast_to", x, integers("broadcast_to", "shape", shape))


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
    """
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Any) -> tuple[PArray, ...]:
    """Return views in the shape that all arrays broadcast to.

    Parameters
    ----------
    *arrays : array
        Nothing promotes, under any policy: each keeps its dtype.

    Returns
    -------
    tuple of PArray

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    entered = [as_array(x, "broadcast_arrays") for x in arrays]
    array_class(tuple(entered))  # two bindings do not mix
    shape = broadcast_shapes(*(x.shape for x in entered))
    return tuple(broadcast_to(x, shape) for x in entered)
