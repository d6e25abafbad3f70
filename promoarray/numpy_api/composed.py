"""NumPy's functions that are several of ours: those that move values and those that tell of them.

Each takes the namespace first, then what ``table`` gives on, by NumPy's names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from promoarray.core.array_base import Array
from promoarray.core.operands import as_operand
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in, axis_in, integers
from promoarray.dtypes import Kind, as_dtype
from promoarray.errors import kind_of


def array_of(xp: Any, x: Any, name: str) -> Any:
    """An array as it is; Python numbers and sequences of them as an array of the namespace.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if isinstance(x, Array):
        return x
    if as_operand(x) is NotImplemented and not isinstance(x, (list, tuple)):
        raise TypeError(
            f"np.{name} takes arrays and Python numbers, not {kind_of(x)}; "
            "write pa.asarray(...) around it first"
        )
    return xp.asarray(x)


def arrays_of(xp: Any, values: Iterable[Any], name: str) -> list[Any]:
    """Several of them: a sequence, or an array's slices along its first axis."""
    return [array_of(xp, x, name) for x in values]


def kept_shape(shape: tuple[int, ...], axes: Iterable[int]) -> tuple[int, ...]:
    """A shape whose reduced axes have length 1."""
    return tuple(1 if axis in axes else length for axis, length in enumerate(shape))


def ravel(xp: Any, a: Any) -> Any:
    return xp.reshape(a, (-1,))


def transpose(xp: Any, a: Any, *, axes: Any = None) -> Any:
    count = array_of(xp, a, "transpose").ndim
    order = range(count)[::-1] if axes is None else axes_in("transpose", tuple(axes), count)
    return xp.permute_dims(a, tuple(order))


def squeeze(xp: Any, a: Any, *, axis: Any = None) -> Any:
    """Return the array without some axes of length 1; by default all of them."""
    shape = array_of(xp, a, "squeeze").shape
    ones = tuple(n for n, length in enumerate(shape) if length == 1)
    return xp.squeeze(a, ones if axis is None else axis)


def fliplr(xp: Any, m: Any) -> Any:
    return xp.flip(m, axis=1)


def flipud(xp: Any, m: Any) -> Any:
    return xp.flip(m, axis=0)


def rot90(xp: Any, m: Any, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    first, second = axes_in("rot90", tuple(axes), array_of(xp, m, "rot90").ndim)
    turns = integers("rot90", "k", k) % 4
    if turns == 2:
        return xp.flip(m, axis=(first, second))
    flipped = xp.flip(m, axis=second) if turns == 1 else m
    turned = flipped.swapaxes(first, second) if turns else xp.flip(m, axis=())
    return xp.flip(turned, axis=second) if turns == 3 else turned


def _with_axes(xp: Any, arys: Any, name: str, shaped: Callable[[Any], Any]) -> Any:
    made = tuple(shaped(x) for x in arrays_of(xp, arys, name))
    return made[0] if len(made) == 1 else made


def _two(xp: Any, x: Any) -> Any:
    return xp.reshape(x, (1, -1)) if x.ndim < 2 else x


def _three(xp: Any, x: Any) -> Any:
    return xp.expand_dims(_two(xp, x), -1) if x.ndim < 3 else x


def atleast_1d(xp: Any, *arys: Any) -> Any:
    return _with_axes(xp, arys, "atleast_1d", lambda x: x if x.ndim else ravel(xp, x))


def atleast_2d(xp: Any, *arys: Any) -> Any:
    return _with_axes(xp, arys, "atleast_2d", lambda x: _two(xp, x))


def atleast_3d(xp: Any, *arys: Any) -> Any:
    return _with_axes(xp, arys, "atleast_3d", lambda x: _three(xp, x))


def hstack(xp: Any, tup: Any) -> Any:
    parts = [x if x.ndim else ravel(xp, x) for x in arrays_of(xp, tup, "hstack")]
    return xp.concat(parts, axis=0 if parts and parts[0].ndim == 1 else 1)


def vstack(xp: Any, tup: Any) -> Any:
    return xp.concat([_two(xp, x) for x in arrays_of(xp, tup, "vstack")], axis=0)


def dstack(xp: Any, tup: Any) -> Any:
    return xp.concat([_three(xp, x) for x in arrays_of(xp, tup, "dstack")], axis=2)


def column_stack(xp: Any, tup: Any) -> Any:
    parts = arrays_of(xp, tup, "column_stack")
    columns = [xp.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in parts]
    return xp.concat(columns, axis=1)


def append(xp: Any, arr: Any, values: Any, *, axis: int | None = None) -> Any:
    return xp.concat(arrays_of(xp, (arr, values), "append"), axis=axis)


def array_split(xp: Any, ary: Any, indices_or_sections: Any, *, axis: int = 0) -> list[Any]:
    array = array_of(xp, ary, "array_split")
    along = axis_in("array_split", axis, array.ndim)
    length, asked = array.shape[along], indices_or_sections
    if hasattr(asked, "__len__"):
        bounds = [0, *map(int, asked), length]
    else:
        count = integers("array_split", "indices_or_sections", asked)
        if count < 1:
            raise ValueError(f"np.array_split: the number of sections is {count}, not 1 or more")
        each, more = divmod(length, count)
        bounds = [each * n + min(n, more) for n in range(count + 1)]
    before = (slice(None),) * along
    return [array[(*before, slice(start, stop))] for start, stop in pairwise(bounds)]


def split(xp: Any, ary: Any, indices_or_sections: Any, *, axis: int = 0) -> list[Any]:
    array, sections = array_of(xp, ary, "split"), indices_or_sections
    if not hasattr(sections, "__len__"):
        length = array.shape[axis_in("split", axis, array.ndim)]
        if sections and length % sections:
            raise ValueError(f"np.split: {length} elements do not make {sections} equal sections")
    return array_split(xp, array, sections, axis=axis)


def hsplit(xp: Any, ary: Any, indices_or_sections: Any) -> list[Any]:
    axis = 1 if array_of(xp, ary, "hsplit").ndim > 1 else 0
    return split(xp, ary, indices_or_sections, axis=axis)


def vsplit(xp: Any, ary: Any, indices_or_sections: Any) -> list[Any]:
    return split(xp, _of_axes(xp, ary, 2, "vsplit"), indices_or_sections)


def dsplit(xp: Any, ary: Any, indices_or_sections: Any) -> list[Any]:
    return split(xp, _of_axes(xp, ary, 3, "dsplit"), indices_or_sections, axis=2)


def _of_axes(xp: Any, ary: Any, count: int, name: str) -> Any:
    array = array_of(xp, ary, name)
    if array.ndim < count:
        raise ValueError(f"np.{name} needs {count} axes or more, and the array has {array.ndim}")
    return array


def diagonal(xp: Any, a: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return xp.linalg.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def take(xp: Any, a: Any, indices: Any, *, axis: int | None = None) -> Any:
    """Return the elements at some indices along an axis; without one, of the flattened array."""
    index = xp.asarray(indices)
    return xp.take(ravel(xp, a), index, axis=0) if axis is None else xp.take(a, index, axis=axis)


def partition(xp: Any, a: Any, kth: Any, *, axis: int | None = -1) -> Any:
    return sort(xp, a, axis=axis)  # which puts every element where it belongs


def argpartition(xp: Any, a: Any, kth: Any, *, axis: int | None = -1) -> Any:
    return argsort(xp, a, axis=axis)


def sort(xp: Any, a: Any, *, axis: int | None = -1) -> Any:
    return xp.sort(ravel(xp, a)) if axis is None else xp.sort(a, axis=axis)


def argsort(xp: Any, a: Any, *, axis: int | None = -1) -> Any:
    return xp.argsort(ravel(xp, a)) if axis is None else xp.argsort(a, axis=axis)


def where(xp: Any, condition: Any, *choices: Any) -> Any:
    if not choices:
        return xp.nonzero(condition)
    chosen = array_of(xp, condition, "where")  # numbers too, of which NumPy takes the truth
    if chosen.dtype is not xp.bool:
        chosen = xp.astype(chosen, xp.bool)
    return xp.where(chosen, *choices)


def flatnonzero(xp: Any, a: Any) -> Any:
    return xp.nonzero(ravel(xp, a))[0]


def argwhere(xp: Any, a: Any) -> Any:
    array = array_of(xp, a, "argwhere")
    if not array.ndim:  # NumPy's answer: one row, or none, without columns
        return xp.zeros((int(bool(array)), 0), dtype=flatnonzero(xp, array).dtype)
    return xp.stack(xp.nonzero(array), axis=1)


def broadcast_arrays(xp: Any, *args: Any) -> Any:
    given = [
        np.asarray(x, object)  # which nothing is computed with
        if x is None or isinstance(x, str)
        else array_of(xp, x, "broadcast_arrays")
        for x in args
    ]
    if not any(isinstance(x, np.ndarray) for x in given):
        return xp.broadcast_arrays(*given)
    shape = np.broadcast_shapes(*(x.shape for x in given))
    return tuple((xp if isinstance(x, Array) else np).broadcast_to(x, shape) for x in given)


def _like(name: str) -> Callable[..., Any]:
    """Make ``zeros_like`` of ``zeros`` where a shape is given, which ours takes none of."""

    def function(xp: Any, a: Any, *value: Any, shape: Any = None, **options: Any) -> Any:
        if shape is None:
            return getattr(xp, f"{name}_like")(a, *value, **options)
        array = array_of(xp, a, f"{name}_like")
        options = {"device": array.device, **options}
        options["dtype"] = options.get("dtype") or kept_dtype(array)
        return getattr(xp, name)(shape, *value, **options)

    return function


zeros_like, ones_like, empty_like, full_like = map(_like, ("zeros", "ones", "empty", "full"))


def linspace(xp: Any, start: Any, stop: Any, *, num: int = 50, **options: Any) -> Any:
    return xp.linspace(start, stop, num, **options)


def eye(xp: Any, *lengths: Any, dtype: object = None, **options: Any) -> Any:
    wanted = None if dtype is float else dtype  # which NumPy gives on where nobody gave one
    return xp.eye(*lengths, dtype=wanted, **options)


# --- What is told of an array, and computes nothing ----------------------------------------------


def size(xp: Any, a: Any, *, axis: Any = None) -> int:
    return math.prod(a.shape[each] for each in axes_in("size", axis, a.ndim))


def can_cast(xp: Any, from_: Any, to: Any, *, casting: str = "safe") -> bool:
    if casting == "safe":
        return bool(xp.can_cast(from_, to))
    of = from_.dtype if isinstance(from_, (Array, np.ndarray, np.generic)) else from_
    source, target = as_dtype(of), as_dtype(to)
    if casting == "same_kind":
        higher = source.kind.category <= target.kind.category
        return higher or bool(xp.can_cast(source, target))
    return source is target or casting == "unsafe"


def iscomplexobj(xp: Any, x: Any) -> bool:
    return bool(x.dtype.kind is Kind.COMPLEX)


def isrealobj(xp: Any, x: Any) -> bool:
    return not iscomplexobj(xp, x)


def array_repr(xp: Any, arr: Any) -> str:
    return repr(arr)


def array_str(xp: Any, a: Any) -> str:
    return str(a)


def shares_memory(xp: Any, a: Any, b: Any) -> bool:
    return np.shares_memory(*(x._buffer if isinstance(x, Array) else x for x in (a, b)))


def may_share_memory(xp: Any, a: Any, b: Any) -> bool:
    return np.may_share_memory(*(x._buffer if isinstance(x, Array) else x for x in (a, b)))
