"""Arrays with borders: ``pad``. Nothing promotes."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import backend_of
from promoarray.core.index_keys import picking
from promoarray.core.move import mover
from promoarray.core.operands import as_array
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.parray import PArray

_REPEATING = ("edge", "reflect", "symmetric", "wrap")
"""Modes that repeat elements of the array."""


def pad(
    x: Any,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = 0,
) -> PArray:
    """Return an array with a border.

    Parameters
    ----------
    x : array, any shape
    pad_width : int, (int, int), or one such pair for each axis
        How many elements come before and after those of each axis.
    mode : {"constant", "edge", "reflect", "symmetric", "wrap"}
        What they are: a constant; the element at the edge; the elements mirrored at the edge,
        without it or with it; those of the other end.
    constant_values : Python scalar, or as ``pad_width``
        Stored as ``x[key] = value`` stores it.

    Returns
    -------
    PArray
        Of the shape of ``x`` with each axis longer by its ``pad_width``, and the dtype of ``x``.

    Raises
    ------
    TypeError
        If the widths are no integers.
    ValueError
        If a width is negative, the widths are not as many as axes, there is no such mode, or an
        axis without elements has none to repeat.
    OverflowError
        If a constant does not fit the dtype.

    Examples
    --------
    >>> pad(asarray([1, 2]), (1, 2), constant_values=7)
    PArray([7, 1, 2, 7, 7], dtype=int64)
    >>> pad(asarray([1, 2, 3]), 2, mode="reflect")
    PArray([3, 2, 1, 2, 3, 2, 1], dtype=int64)
    """
    array, widths = as_array(x, "pad"), np.asarray(pad_width)
    if widths.dtype.kind not in "iu":
        raise TypeError(f"pad takes integers as pad_width, not {quoted(pad_width)}")
    pairs = _pairs(widths, "pad_width", array.ndim)
    if widths.size and widths.min() < 0:
        raise ValueError(f"pad: pad_width must be 0 or more, not {quoted(pad_width)}")
    if mode == "constant":
        return _with_constants(array, pairs, constant_values)
    if mode not in _REPEATING:
        choices = ", ".join(map(repr, ("constant", *_REPEATING)))
        raise ValueError(f"pad has no mode {quoted(mode)}; write one of: {choices}")
    out: PArray = array
    for axis, (before, after) in enumerate(pairs):
        places: Any = {"mode": mode}  # of the elements, which NumPy pads as it would the elements
        index = np.pad(np.arange(array.shape[axis]), (before, after), **places)
        out = picking(mover(out, "take", axis=axis), out, xp.asarray(index))()
    return out


def _pairs(values: Any, name: str, ndim: int) -> list[tuple[Any, Any]]:
    """What comes before and after, for each axis."""
    try:
        return [(a, b) for a, b in np.broadcast_to(values, (ndim, 2)).tolist()]
    except ValueError:
        raise ValueError(
            f"pad: {name} is one number, a pair, or a pair for each of the {ndim} axes, not "
            f"{quoted(values)}"
        ) from None


def _with_constants(x: PArray, pairs: list[tuple[int, int]], values: Any) -> PArray:
    lone = np.ndim(values) == 0  # keep a 0-d array as it is
    constants = [(values, values)] * x.ndim if lone else _pairs(values, "constant_values", x.ndim)
    shape = tuple(n + before + after for n, (before, after) in zip(x.shape, pairs, strict=True))
    backend = backend_of(x._buffer)
    out = x._wrap(backend.empty(shape, x.dtype, x.device), x._type)
    inner = tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, pairs, strict=True))
    backend.write(out._buffer, inner, x._buffer)
    for axis, (before, after) in enumerate(pairs):
        there = (slice(None),) * axis
        for end, value in zip(
            (slice(before), slice(shape[axis] - after, None)), constants[axis], strict=True
        ):
            out[(*there, end)] = value
    return out
