"""Shapes and axes as they are given: integers that an array has room for."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from promoarray.errors import quoted


def integers(name: str, what: str, values: Any) -> Any:
    """An int or a tuple of ints, where a float or an array of them would be cut.

    Raises TypeError if it is neither.
    """
    try:
        if isinstance(values, (tuple, list)):
            return tuple(map(operator.index, values))
        return operator.index(values)
    except TypeError:
        message = f"{name} takes an int or a tuple of ints as {what}, not {quoted(values)}"
        raise TypeError(message) from None


def number(name: str, what: str, value: Any) -> Any:
    """A real number, or an array of them: what is neither would be computed with, and quoted.

    Raises TypeError if it is neither.
    """
    if not hasattr(type(value), "__float__"):
        raise TypeError(f"{name} takes a number as {what}, not {quoted(value)}")
    return value


def axes_in(name: str, axis: Any, count: int) -> tuple[int, ...]:
    """Return the axes that are named, counted from the first; all of them for None.

    Raises TypeError if ``axis`` is neither an int nor a tuple of them; ValueError if an array of
    ``count`` axes lacks one, which is an IndexError too, as NumPy's AxisError is both; or if one is
    named twice.
    """
    if axis is None:
        return tuple(range(count))
    named = integers(name, "axis", axis)
    chosen = named if isinstance(named, tuple) else (named,)
    for each in chosen:
        if not -count <= each < count:
            raise _no_axis(name, each, count)
    found = tuple(each % count for each in chosen)
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: repeated axis in {quoted(axis)}")
    return found


def _no_axis(name: str, axis: int, count: int) -> Exception:
    """NumPy's error, for whose words SciPy's tests look; of a very long int they fail."""
    if axis.bit_length() <= 64:
        return np.exceptions.AxisError(axis, count, name)
    words = f"axis {quoted(axis)} is out of bounds for array of dimension {count}"
    return np.exceptions.AxisError(f"{name}: {words}")


def axis_in(name: str, axis: Any, count: int) -> int:
    """Return the one axis that is named, counted from the first; errors as in ``axes_in``."""
    if isinstance(axis, (tuple, list)) or axis is None:
        raise TypeError(f"{name} takes one int as axis, not {quoted(axis)}")
    (found,) = axes_in(name, axis, count)
    return found
