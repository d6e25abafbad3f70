"""The value that a program is asked for at its end: as plain data, compared, and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.console import visible
from promoarray.core.call_site import shortened
from promoarray.diagnostics.model.final import final_of
from promoarray.diagnostics.model.values import distance

_NUMBERS = (bool, int, float, complex, np.ndarray)


def plain(value: Any) -> Any:
    """Return a value as data that another process reads: numbers, NumPy's arrays, or text."""
    kind = type(value)
    if kind in (list, tuple):
        return [plain(each) for each in value]
    if kind is dict:
        return {str(key): plain(each) for key, each in value.items()}
    if issubclass(kind, (bool, int, float, complex, str)):
        return value.item() if issubclass(kind, np.generic) else value
    final = final_of(value)
    if final is None or final.values is None or final.values.dtype.kind not in "biufc":
        return repr(value)
    return final.values if final.shape else final.values.item()


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Whether two values are the same, numbers within a relative tolerance; NaN is itself."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if not (isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS)):
        return bool(type(a) is type(b) and a == b)
    if np.shape(a) != np.shape(b):
        return False
    apart = distance(np.asarray(a), np.asarray(b))
    if apart is None:
        return True
    return bool(tolerance) and apart.finite and (apart.relative or 0.0) <= tolerance


def in_words(values: list[Any]) -> list[str]:
    """Return values in words; of arrays the first element at which the first two differ."""
    first, other, *_ = values
    at: tuple[int, ...] = ()
    if all(isinstance(x, np.ndarray) for x in (first, other)) and first.shape == other.shape:
        apart = distance(first, other)
        at = apart.first if apart else ()
    return [shown(value, at) for value in values]


def shown(value: Any, at: tuple[int, ...] = ()) -> str:
    """Return a value in words; of an array its shape, and the element at an index."""
    if not isinstance(value, np.ndarray):
        return visible(shortened(value if isinstance(value, str) else repr(value)))
    kind = f"an array of shape {value.shape}"
    if len(at) != value.ndim:
        return kind
    return f"{value[at].item()!r} at {list(at)} of {kind}"
