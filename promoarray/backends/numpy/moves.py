"""Functions that move values and never look at them: NumPy's, the methods of arrays where they are
the same, as it takes less time to get to those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Buffer = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def move(name: str, buffer: Buffer, *args: Any, **options: Any) -> Buffer:
    """Run one of them."""
    out = MOVES[name](buffer, *args, **options)
    return out if type(out) is np.ndarray else np.asarray(out, buffer.dtype)


def _flip(x: Buffer, *, axis: Shape) -> Buffer:
    back, every = slice(None, None, -1), slice(None)
    return x[(*[back if each in axis else every for each in range(x.ndim)], ...)]


def _roll(x: Buffer, shift: int | Shape, *, axis: Shape | None) -> Buffer:
    """``np.roll`` along one axis in two parts, which is most of the calls."""
    if axis is None and x.ndim != 1:
        return _roll(x.reshape(-1), shift, axis=(0,)).reshape(x.shape)
    axes = (0,) if axis is None else axis
    if not axes:
        return x.copy("K")
    if type(shift) is not int or not x.size or len(axes) != 1:
        return np.roll(x, shift, axes)
    (along,) = axes
    by, before = shift % x.shape[along], (slice(None),) * along
    parts = x[(*before, slice(-by, None))], x[(*before, slice(None, -by))]
    return np.concatenate(parts, axis=along) if by else x.copy("K")


METHODS = {
    "permute_dims": "transpose",
    "repeat": "repeat",
    "reshape": "reshape",
    "squeeze": "squeeze",
}
"""Those that are methods of arrays, by whose names no frame of Python's is entered."""

MOVES: dict[str, Callable[..., Any]] = {
    "broadcast_to": np.broadcast_to,
    "diag": np.diag,
    "expand_dims": np.expand_dims,
    "flip": _flip,
    "moveaxis": np.moveaxis,
    **{name: getattr(np.ndarray, method) for name, method in METHODS.items()},
    "roll": _roll,
    "take": np.ndarray.take,
    "take_along_axis": np.take_along_axis,
    "tile": lambda x, times: np.asarray(np.tile(x, times), order="C"),
    "tril": np.tril,
    "triu": np.triu,
}
