"""Chapters "searching functions" and "utility functions"."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray import _apply
from promoarray import dtypes as dt
from promoarray.array import PArray
from promoarray.policies.registry import get_policy
from promoarray.policies.registry import policy as in_force

__all__ = ["all", "any", "argmax", "argmin", "count_nonzero", "nonzero", "where"]


def where(condition: Any, x1: Any, x2: Any, /) -> PArray:
    """Choose elements of ``x1`` where the condition holds, of ``x2`` elsewhere.

    Parameters
    ----------
    condition : bool array
    x1, x2 : array or Python scalar
        Their dtypes promote as the policy says for ``where``; the condition takes no part.

    Raises
    ------
    TypeError
        If the condition is not of bools.
    """
    mask = _apply.as_array(condition, "where")
    if mask.dtype is not dt.bool:
        raise TypeError(f"where needs a bool condition, not {mask.dtype}; write condition != 0")
    _apply.array_class((mask, x1, x2))  # two bindings do not mix, the condition's included
    if mask._policy is None:
        return _apply.call("where", x1, x2, condition=mask._buffer)
    with in_force(mask._policy):  # the condition's binding counts, if not its dtype
        out = _apply.call("where", x1, x2, condition=mask._buffer)
    return mask._of(out._buffer, out._type) if type(out) is PArray else out


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> PArray:
    """Return the index of the first largest element; NaN counts as largest."""
    return _apply.call("argmax", x, axis=axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> PArray:
    """Return the index of the first smallest element; NaN counts as smallest."""
    return _apply.call("argmin", x, axis=axis, keepdims=keepdims)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Whether every element is true."""
    return _apply.call("all", x, axis=axis, keepdims=keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Whether some element is true."""
    return _apply.call("any", x, axis=axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Count the elements that are not zero."""
    array = _apply.as_array(x, "count_nonzero")
    counts = np.count_nonzero(array._decoded(), axis=axis, keepdims=keepdims)
    return _index(array, counts)


def nonzero(x: Any, /) -> tuple[PArray, ...]:
    """Return the indices of the elements that are not zero, an array an axis.

    Raises
    ------
    ValueError
        If ``x`` is 0-d.
    """
    array = _apply.as_array(x, "nonzero")
    if not array.ndim:
        raise ValueError("nonzero of a 0-d array has no index to give; write x != 0")
    return tuple(_index(array, i) for i in np.nonzero(array._decoded()))


def _index(array: PArray, values: Any) -> PArray:
    """Label indices with the policy's default for integers."""
    policy = array._policy or get_policy()
    dtype = policy.strong(dt.weak_int)
    return array._of(np.asarray(values).astype(dtype.storage), dtype)
