"""The layout of arrays that are broadcast together, in as few axes as tell it."""

from __future__ import annotations

from itertools import zip_longest
from math import gcd, prod
from typing import NamedTuple

import numpy as np

from promoarray.kernels.cuda.contiguous import MOST_PACKED

__all__ = ["Layout", "layout_of"]

_MOST_AXES = 4


class Layout(NamedTuple):
    """What a kernel of ``spread_kernel`` asks about its arrays.

    Attributes
    ----------
    shape : tuple of int
        Of the result, which lies row by row.
    axes : int
        How many are left where neighbours are taken for one.
    last : int
        The power of two that divides the length of the last of them, at most ``MOST_PACKED``.
    steps : numpy.ndarray
        ``Steps`` of device.h, one value of them.
    """

    shape: tuple[int, ...]
    axes: int
    last: int
    steps: np.ndarray[tuple[()], np.dtype[np.void]]


def layout_of(arrays: list[tuple[tuple[int, ...], tuple[int, ...], int]]) -> Layout | None:
    """Return how arrays lie, told by their shapes, strides and bytes an element.

    None where that is for CuPy's own indices: elements that follow each other in the result do not
    lie side by side in an operand, there are many axes, or no elements.

    Raises
    ------
    ValueError
        Where shapes do not fit.
    """
    shape = np.broadcast_shapes(*(lengths for lengths, _, _ in arrays))
    if not prod(shape):
        return None
    # 1. Steps of each axis, the last first; none where an operand is repeated.
    steps = []
    for lengths, strides, size in arrays:
        if any(stride % size for stride in strides):
            return None
        own = zip(reversed(lengths), reversed(strides), strict=True)
        rows = zip_longest((0 if n == 1 else s // size for n, s in own), shape, fillvalue=0)
        steps.append([step for step, _ in rows])
    # 2. Axes that every operand goes through as through one.
    axes: list[tuple[int, tuple[int, ...]]] = []
    for length, found in zip(reversed(shape), zip(*steps, strict=True), strict=True):
        if length == 1:
            continue
        if axes:
            inner, before = axes[-1]
            if found == tuple(step * inner for step in before):
                axes[-1] = inner * length, before
                continue
        axes.append((length, found))
    axes = axes or [(1, (1,) * len(arrays))]
    (last, inner_steps), count = axes[0], len(axes)
    if count > _MOST_AXES or not {*inner_steps} <= {0, 1}:
        return None
    # 3. The same as the kernel takes it.
    ordered = axes[::-1]
    words = [length for length, _ in ordered]
    for index in range(len(arrays)):
        words += [found[index] for _, found in ordered]
    made = np.array(words, np.int64).view([("steps", np.int64, (len(words),))])
    return Layout(shape, count, gcd(last, MOST_PACKED), made.reshape(()))
