"""Shapes and axes that do not match: which ones, and where. Only errors need it."""

from __future__ import annotations

from typing import Any

from promoarray.core.shapes import axes_in, axis_in
from promoarray.errors import clipped, quoted

Shape = tuple[int, ...]


def misfit(name: str, shapes: list[Shape], options: dict[str, Any]) -> Exception | None:
    """Say what is wrong with the shapes of an operation's operands, once a kernel refused them;
    None if neither shapes nor axes are to blame."""
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
