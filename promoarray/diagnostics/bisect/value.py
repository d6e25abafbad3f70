"""The value that a program is asked for at its end: as plain data, compared, and in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from promoarray.core.call_site import shortened
from promoarray.parray import PArray

NUMBERS = (bool, int, float, complex)


def plain(value: Any) -> Any:
    """Return a value as data that another process reads: numbers, NumPy's arrays, or text."""
    kind = type(value)
    if issubclass(kind, PArray):
        decoded = value._decoded()
        return decoded if value.ndim else plain(decoded[()])
    if kind in (list, tuple):
        return [plain(each) for each in value]
    if kind is dict:
        return {str(key): plain(each) for key, each in value.items()}
    if issubclass(kind, np.generic):
        return value.item()
    if issubclass(kind, (bool, int, float, complex, str)):
        return value
    if kind is np.ndarray and value.dtype.kind in "biufc":
        return value
    return repr(value)


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Whether two values are the same, numbers within a relative tolerance; NaN is itself."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and all(
            same(x.item(), y.item(), tolerance) for x, y in zip(a.flat, b.flat, strict=True)
        )
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return _same_number(a, b, tolerance)
    return bool(type(a) is type(b) and a == b)


def where_they_differ(a: Any, b: Any) -> tuple[int, ...]:
    """The index of the first element at which two arrays of a shape differ; () of anything else."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape):
        return ()
    pairs = zip(np.ndindex(a.shape), a.flat, b.flat, strict=True)
    return next((at for at, x, y in pairs if not same(x.item(), y.item())), ())


def shown(value: Any, at: tuple[int, ...] = ()) -> str:
    """A value in words; of an array its shape, and the element at an index."""
    if not isinstance(value, np.ndarray):
        return shortened(value if isinstance(value, str) else repr(value))
    kind = f"an array of shape {value.shape}"
    if len(at) != value.ndim:
        return kind
    return f"{value[at].item()!r} at {list(at)} of {kind}"


def _same_number(a: complex, b: complex, tolerance: float) -> bool:
    if a == b:
        return True
    try:
        a, b = complex(a), complex(b)
    except OverflowError:  # ints beyond floats
        return False
    parts = ((a.real, b.real), (a.imag, b.imag))
    if all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in parts):
        return True
    gap = abs(a - b)
    return math.isfinite(gap) and gap <= tolerance * max(abs(a), abs(b))
