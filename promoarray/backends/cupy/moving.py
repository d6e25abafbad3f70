"""Functions that move values and never look at them: structure, ``x[key]``, ``x[key] = y``.

CuPy wraps indices round that are out of bounds, and its kernels may change the codes of dtypes that
it does not know; so indices are looked at before, and values move as unsigned integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends.cupy.array_api import functions
from promoarray.backends.cupy.device import cupy, guarded, home
from promoarray.backends.cupy.launch import Buffer


@guarded
def move(name: str, buffer: Buffer, *args: Any, **options: Any) -> Buffer:
    """Run a function of the array API that moves values and never looks at them."""
    with home(buffer, *args):
        if name in ("take", "take_along_axis"):
            axis = options.get("axis")
            _inside(args[0], buffer.shape[0 if axis is None else axis])
            options["axis"] = 0 if axis is None else axis
        if name == "repeat" and isinstance(args[0], cupy.ndarray):
            args = (tuple(args[0].tolist()),)
        moved = getattr(functions(), name)(_codes(buffer), *args, **options)
        return moved.view(buffer.dtype)


def _codes(buffer: Buffer) -> Buffer:
    """The same memory as unsigned integers, which no kernel of CuPy's can change on the way."""
    return buffer.view(f"u{buffer.itemsize}") if buffer.itemsize <= 8 else buffer


@guarded
def read(buffer: Buffer, key: Any) -> Buffer:
    """``buffer[key]``; an index out of bounds, which CuPy would wrap round, is an IndexError."""
    with home(buffer):
        return _codes(buffer)[_checked(buffer, key)].view(buffer.dtype)


@guarded
def write(buffer: Buffer, key: Any, value: Buffer) -> None:
    """``buffer[key] = value``, both of one dtype; which of two values for one place is not said."""
    with home(buffer, value):
        found = _checked(buffer, key)
        if cupy.may_share_memory(buffer, value):
            value = value.copy()  # of which CuPy would read what it has written
        _codes(buffer)[found] = _codes(value)


def _checked(buffer: Buffer, key: Any) -> Any:
    """The key with masks as indices, all of them within bounds."""
    parts = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(part, cupy.ndarray) for part in parts):
        return key
    axes = sum(_axes(part) for part in parts)
    if axes > buffer.ndim:
        raise IndexError(f"{axes} indices are too many for an array of {buffer.ndim} axes")
    checked: list[Any] = []
    axis = 0
    for part in parts:
        if part is Ellipsis:
            axis += buffer.ndim - axes
        elif isinstance(part, cupy.ndarray) and part.dtype == np.bool and part.ndim:
            _fits(part, buffer, axis)
            checked += cupy.nonzero(part) if len(parts) > 1 else [part]
            axis += part.ndim
            continue
        elif isinstance(part, cupy.ndarray) and part.dtype != np.bool:
            _inside(part, buffer.shape[axis])
            axis += 1
        else:
            axis += _axes(part)
        checked.append(part)
    return tuple(checked)


def _axes(part: Any) -> int:
    """How many axes a part of a key stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    is_mask = isinstance(part, cupy.ndarray) and part.dtype == np.bool
    return part.ndim if is_mask else 1


def _fits(mask: Buffer, buffer: Buffer, axis: int) -> None:
    covered = buffer.shape[axis : axis + mask.ndim]
    if mask.shape != covered:
        raise IndexError(f"a mask of shape {mask.shape} is over axes of shape {covered}")


def _inside(index: Buffer, length: int) -> None:
    """Refuse indices that lead nowhere."""
    if index.size and bool(((index < -length) | (index >= length)).any()):
        raise IndexError(f"an index is out of bounds for an axis of length {length}")
