"""Shapes and axes that do not fit, in words."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

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
            return tuple(operator.index(v) for v in values)
        return operator.index(values)
    except TypeError:
        message = f"{name} takes an int or a tuple of ints as {what}, not {values!r}"
        raise TypeError(message) from None


def axes_in(name: str, axis: Any, count: int) -> tuple[int, ...]:
    """Return the axes that are named, counted from the first; all of them for None.

    Raises
    ------
    TypeError
        If ``axis`` is no int and no tuple of them.
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
            raise no_axis(name, each, count)
    found = tuple(each % count for each in chosen)
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: an axis is named twice in {axis}")
    return found


def no_axis(name: str, axis: int, count: int) -> np.exceptions.AxisError:
    """Return the error for an axis that an array of ``count`` axes lacks."""
    if not count:
        said = f"{axis} in a 0-d array, which has none; write x[None] to give it one"
    else:
        choice = "0 or -1" if count == 1 else f"one from {-count} to {count - 1}"
        said = f"{axis} in an array of {count} ax{'i' if count == 1 else 'e'}s; write {choice}"
    return np.exceptions.AxisError(f"{name}: there is no axis {said}")


def axis_in(name: str, axis: Any, count: int) -> int:
    """Return the one axis that is named, counted from the first; errors as in ``axes_in``."""
    if isinstance(axis, (tuple, list)) or axis is None:
        raise TypeError(f"{name} takes one int as axis, not {axis!r}")
    (found,) = axes_in(name, axis, count)
    return found


def misfit(name: str, shapes: list[Shape], options: dict[str, Any]) -> Exception | None:
    """Say what is wrong with the shapes of an operation's operands, once a kernel refused them.

    Returns
    -------
    Exception or None
        None if neither shapes nor axes are to blame.
    """
    if name in _CHECKS:
        wrong = _CHECKS[name](*shapes, **options)
    elif len(shapes) > 1:
        wrong = None if options else _broadcast(*shapes)
    else:
        return _lacking(name, shapes[0], options["axis"]) if "axis" in options else None
    return (
        ValueError(f"{name} of shapes {' and '.join(map(str, shapes))}: {wrong}") if wrong else None
    )


def _lacking(name: str, shape: Shape, axis: Any) -> Exception | None:
    try:
        axes = axes_in(name, axis, len(shape))
    except (TypeError, ValueError) as error:
        return error
    if name not in _OF_SOME or all(shape[each] for each in axes):
        return None
    along = "" if axis is None else f" along axis {axis}"
    return ValueError(f"{name} of no elements: shape {shape} has none{along} to choose from")


_OF_SOME = frozenset({"max", "min", "argmax", "argmin"})
"""What picks one of the elements, and so needs one."""


def _broadcast(*shapes: Shape) -> str | None:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return "they do not broadcast, for two lengths of one axis differ and neither is 1"
    return None


def _matmul(a: Shape, b: Shape) -> str | None:
    if not a or not b:
        return "a 0-d array is no matrix; write x1 * x2"
    rows = b[-2] if len(b) > 1 else b[0]
    if a[-1] != rows:
        return f"the rows of x1 are {a[-1]} long, the columns of x2 {rows}"
    return _broadcast(a[:-2], b[:-2]) and "the stacks of matrices do not broadcast"


def _vecdot(a: Shape, b: Shape, *, axis: int = -1) -> str | None:
    if not a or not b:
        return "a 0-d array is no vector; write x1 * x2"
    if not -min(len(a), len(b)) <= axis < min(len(a), len(b)):
        return f"there is no axis {axis} in both"
    if a[axis] != b[axis]:
        return f"along axis {axis} they are {a[axis]} and {b[axis]} long"
    return _broadcast(a, b)


def _tensordot(a: Shape, b: Shape, *, axes: Any = 2) -> str | None:
    if isinstance(axes, int):
        if axes > min(len(a), len(b)):
            return f"there are no {axes} axes in both"
        pairs = list(zip(range(len(a) - axes, len(a)), range(axes), strict=True))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        if len(first) != len(second):
            return f"axes {axes} do not pair"
        pairs = list(zip(first, second, strict=True))
    for i, j in pairs:
        if not (-len(a) <= i < len(a) and -len(b) <= j < len(b)):
            return f"there is no axis {i} in x1, or no axis {j} in x2"
        if a[i] != b[j]:
            return f"axis {i} of x1 is {a[i]} long, axis {j} of x2 {b[j]}"
    return None


def _concat(*shapes: Shape, axis: int) -> str | None:
    if len({len(shape) for shape in shapes}) > 1:
        return "they have not as many axes"
    count = len(shapes[0])
    if not -count <= axis < count:
        return f"there is no axis {axis}"
    rest = {(*shape[: axis % count], *shape[axis % count + 1 :]) for shape in shapes}
    return f"they differ in another axis than {axis}" if len(rest) > 1 else None


def _stack(*shapes: Shape, axis: int) -> str | None:
    if len(set(shapes)) > 1:
        return "they are not of one shape"
    count = len(shapes[0]) + 1
    return None if -count <= axis < count else f"there is no axis {axis} in a stack of them"


def _clip(*shapes: Shape, low: bool, high: bool) -> str | None:
    return _broadcast(*shapes)


def _where(*shapes: Shape, condition: Any) -> str | None:
    wrong = _broadcast(condition.shape, *shapes)
    return wrong and f"with a condition of shape {condition.shape} {wrong}"


_CHECKS: dict[str, Any] = {
    "clip": _clip,
    "matmul": _matmul,
    "vecdot": _vecdot,
    "tensordot": _tensordot,
    "concat": _concat,
    "stack": _stack,
    "where": _where,
}
