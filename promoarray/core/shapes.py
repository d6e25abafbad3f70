"""Shapes and axes that do not match: which ones, and where."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from promoarray.errors import clipped, quoted

Shape = tuple[int, ...]


def integers(name: str, what: str, values: Any) -> Any:
    """An int or a tuple of ints, where a float or an array of them would be cut.

    Raises
    ------
    TypeError
        If it is neither.
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

    Raises
    ------
    TypeError
        If it is neither.
    """
    if not hasattr(type(value), "__float__"):
        raise TypeError(f"{name} takes a number as {what}, not {quoted(value)}")
    return value


def axes_in(name: str, axis: Any, count: int) -> tuple[int, ...]:
    """Return the axes that are named, counted from the first; all of them for None.

    Raises
    ------
    TypeError
        If ``axis`` is neither an int nor a tuple of them.
    ValueError
        If an array of ``count`` axes lacks one, which is an IndexError too, as NumPy's AxisError
        is both; or if one is named twice.
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


def misfit(name: str, shapes: list[Shape], options: dict[str, Any]) -> Exception | None:
    """Say what is wrong with the shapes of an operation's operands, once a kernel refused them.

    Returns
    -------
    Exception or None
        None if neither shapes nor axes are to blame.
    """
    try:
        if name in _CHECKS:
            wrong = _CHECKS[name](*shapes, **options)
        elif len(shapes) > 1:
            wrong = None if options else _broadcast(*shapes)
        else:
            return _empty(name, shapes[0], options["axis"]) if "axis" in options else None
    except (TypeError, ValueError) as error:  # of an axis
        return error
    told = clipped(" and ".join(map(str, shapes)))
    return ValueError(f"{name}: shapes {told} do not match: {wrong}") if wrong else None


def _empty(name: str, shape: Shape, axis: Any) -> Exception | None:
    axes = axes_in(name, axis, len(shape))
    if name not in _OF_SOME or all(shape[each] != 0 for each in axes):  # None: known later
        return None
    along = "" if axis is None else f" along axis {axis}"
    return ValueError(f"{name} of an empty array: shape {shape} has no elements{along}")


_OF_SOME = frozenset({"max", "min", "argmax", "argmin"})
"""What picks one of the elements, and so needs one."""


def _broadcast(*shapes: Shape) -> str | None:
    for axis in range(-1, -1 - max(map(len, shapes)), -1):
        lengths = dict.fromkeys(shape[axis] for shape in shapes if len(shape) >= -axis)
        lengths.pop(1, None)
        if len(lengths) > 1:
            said = " and ".join(map(str, lengths))
            return f"lengths {said} of axis {axis} do not broadcast"
    return None


def _matmul(a: Shape, b: Shape) -> str | None:
    if not a or not b:
        return "a 0-d array is not a matrix; write x1 * x2"
    rows = b[-2] if len(b) > 1 else b[0]
    if a[-1] != rows:
        columns = _counted(a[-1], "column" if len(a) > 1 else "element")
        return f"x1 has {columns}, x2 has {_counted(rows, 'row' if len(b) > 1 else 'element')}"
    return _broadcast(a[:-2], b[:-2]) and "the stacks of matrices do not broadcast"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _solve(a: Shape, b: Shape) -> str | None:
    return _broadcast(a[:-2], b[:-2]) and "the stacks of matrices do not broadcast"


def _vecdot(a: Shape, b: Shape, *, axis: int = -1) -> str | None:
    if not a or not b:
        return "a 0-d array is not a vector; write x1 * x2"
    axis_in("vecdot", axis, min(len(a), len(b)))
    if a[axis] != b[axis]:
        return f"axis {axis} has length {a[axis]} in x1 and {b[axis]} in x2"
    return _broadcast(a, b)


def _tensordot(a: Shape, b: Shape, *, axes: Any = 2) -> str | None:
    if isinstance(axes, int):
        if axes > min(len(a), len(b)):
            return f"axes={quoted(axes)}, and x1 has {len(a)} axes, x2 has {len(b)}"
        pairs = list(zip(range(len(a) - axes, len(a)), range(axes), strict=True))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        if len(first) != len(second):
            return f"axes names {len(first)} of x1 and {len(second)} of x2"
        pairs = list(zip(first, second, strict=True))
    for i, j in pairs:
        axis_in("tensordot", i, len(a))
        axis_in("tensordot", j, len(b))
        if a[i] != b[j]:
            return f"axis {i} of x1 has length {a[i]}, axis {j} of x2 has length {b[j]}"
    return None


def _concat(*shapes: Shape, axis: int) -> str | None:
    if len({len(shape) for shape in shapes}) > 1:
        return "they differ in their number of axes"
    along = axis_in("concat", axis, len(shapes[0]))
    rest = {(*shape[:along], *shape[along + 1 :]) for shape in shapes}
    return f"only axis {axis} may differ in length" if len(rest) > 1 else None


def _stack(*shapes: Shape, axis: int) -> str | None:
    if len(set(shapes)) > 1:
        return "arrays to stack must have one shape"
    axis_in("stack", axis, len(shapes[0]) + 1)
    return None


def _clip(*shapes: Shape, low: bool, high: bool) -> str | None:
    return _broadcast(*shapes)


def _where(*shapes: Shape, condition: Any) -> str | None:
    wrong = _broadcast(condition.shape, *shapes)
    return wrong and f"with a condition of shape {condition.shape}, {wrong}"


_CHECKS: dict[str, Any] = {
    "clip": _clip,
    "matmul": _matmul,
    "solve": _solve,
    "vecdot": _vecdot,
    "tensordot": _tensordot,
    "concat": _concat,
    "stack": _stack,
    "where": _where,
}
