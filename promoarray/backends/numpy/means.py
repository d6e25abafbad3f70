"""Means and variances, without the time that NumPy takes to get to their steps.

All give NumPy's bits, and warn in NumPy's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.backends.numpy import folds

Buffer = np.ndarray[Any, Any]

_ADD_UP: Any = np.add.reduce


def mean(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.mean``; of all elements in its two steps, without the time it takes to get there."""
    if x.size >= folds.LONG:
        out = folds.fold("mean", x, axis, keepdims)
        if out is not None:
            return out
    char = x.dtype.char
    if char in "fd" and x.size and x.ndim:
        total = _ADD_UP(x, axis, None, None, True)
        if _divide(total, x.size // total.size):
            return total if keepdims else _without(total, axis)
    elif x.size and x.ndim and char in _SUMMED_IN:
        total = _ADD_UP(x, axis, _SUMMED_IN[char], None, keepdims)
        count = x.size // total.size
        return total / count if total.dtype.char == "d" else _quotient(total, count)
    return np.mean(x, axis=axis, keepdims=keepdims)


_SUMMED_IN: dict[str, Any] = dict.fromkeys("FD") | dict.fromkeys("?bBhHiIlLqQ", np.float64)
"""What NumPy sums complex numbers and integers up in for their mean."""


def _quotient(total: Any, count: int) -> Any:
    """A sum of complex numbers by their count, in complex128: one by NumPy's own formula, Smith's,
    where there is nothing to tell of it, as to call NumPy takes longer."""
    if isinstance(total, np.ndarray):
        return np.true_divide(total, np.intp(count), out=total, casting="unsafe")
    whole = total.item()
    x, y, scale = whole.real, whole.imag, 1.0 / count
    if _is_ordinary(x) and _is_ordinary(y):
        return type(total)(complex((x + y * 0.0) * scale, (y - x * 0.0) * scale))
    return type(total)(total / np.intp(count))


def _is_ordinary(x: float) -> bool:
    return x == 0 or _TINY < abs(x) < _HUGE


def _divide(total: Buffer, count: float) -> bool:
    """Divide in place as NumPy divides by a count, in float64; whether it has nothing to tell of
    it, as it tells of scalars in words of their own."""
    if total.size > 1:
        np.true_divide(total, np.float64(count), out=total, casting="unsafe")
        return True
    whole = total.item()
    total.fill(whole / count)
    if whole == 0 or count == 1:
        return True
    return not abs(whole / count) <= _TINY  # of NaN there is nothing to tell


def _without(x: Buffer, axis: Any) -> Buffer:
    """An array whose axes were reduced to a length of 1, without them."""
    if axis is None or (x.ndim == 1 and axis != ()):
        return x.reshape(())
    return x.squeeze(axis)


def var(x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False) -> Any:
    """``np.var``, without the time that it takes to get to its five steps."""
    char = x.dtype.char
    if (char in "fd" or char in _SUMMED_IN) and x.size and x.ndim and type(ddof) in (int, float):
        center = _ADD_UP(x, axis, _SUMMED_IN.get(char), None, True)
        count = x.size // center.size
        if count > ddof and _divide_any(center, count):
            total = _ADD_UP(_squares(np.subtract(x, center)), axis, None, None, True)
            if _divide(total, count - ddof):
                return total if keepdims else _without(total, axis)
    return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


def _divide_any(total: Buffer, count: int) -> bool:
    if total.dtype.kind != "c":
        return _divide(total, count)
    np.true_divide(total, np.intp(count), out=total, casting="unsafe")
    return True


def _squares(gaps: Buffer) -> Buffer:
    """Of numbers; of complex ones those of their sizes, where NumPy leaves them."""
    if gaps.dtype.kind != "c":
        np.square(gaps, out=gaps)
        return gaps
    np.square(gaps.real, out=gaps.real)
    np.square(gaps.imag, out=gaps.imag)
    made: Buffer = np.add(gaps.real, gaps.imag, out=gaps.real)
    return made


def std(x: Buffer, **options: Any) -> Any:
    found = var(x, **options)
    return np.sqrt(found, out=found) if type(found) is np.ndarray else np.sqrt(found)


_TINY, _HUGE = 1e-30, 1e30
"""Below it NumPy may have an underflow to tell, and 0 may be of either sign."""


def widest(dtype: Any) -> Any:
    """What NumPy sums integers up in that are not to wrap around."""
    return np.uint64 if dtype.kind == "u" else np.int64


def mean_towards_zero(
    others: Callable[..., Any], summed_in: Callable[[Any], Any]
) -> Callable[..., Any]:
    """A mean of integers without its fraction: one number soonest as an int of Python's."""

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        total = _ADD_UP(x, axis, summed_in(x.dtype), None, keepdims)
        if isinstance(total, np.ndarray) or not x.size:
            return others(x, axis=axis, keepdims=keepdims)
        whole = total.item()
        mean = abs(whole) // x.size
        return x.dtype.type(-mean if whole < 0 else mean)

    return run


def mean_or_zero(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
    """``statistics.mean_or_zero`` without the time that it takes to get here."""
    total = _ADD_UP(x, axis, None, None, keepdims)
    return total / max(x.size // max(total.size, 1), 1)


KERNELS: dict[str, Callable[..., Any]] = {"mean": mean, "std": std, "var": var}
