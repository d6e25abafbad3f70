"""NumPy's functions that are several of ours: moved values, comparisons, products and norms.

Each takes the namespace first, then what ``table`` gives on, by NumPy's names. Each step is an
operation under the policy, refused where the policy refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import pairwise
from typing import Any, cast

import numpy as np

from promoarray.backends import common_backend
from promoarray.core.array_base import Array
from promoarray.core.operands import as_operand, policy_of
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in, axis_in, integers
from promoarray.dtypes import INEXACT, Kind, as_dtype, float32, float64
from promoarray.errors import kind_of, quoted


def array_of(xp: Any, x: Any, name: str) -> Any:
    """An array as it is; Python numbers and sequences of them as an array of the namespace.

    Raises TypeError if it is something else.
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
    if isinstance(values, range):  # which may be longer than memory
        values = xp.asarray(values)
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


def rot90(xp: Any, m: Any, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    first, second = axes_in("rot90", tuple(axes), array_of(xp, m, "rot90").ndim)
    turns = integers("rot90", "k", k) % 4
    if turns == 2:
        return xp.flip(m, axis=(first, second))
    flipped = xp.flip(m, axis=second) if turns == 1 else m
    turned = flipped.swapaxes(first, second) if turns else xp.flip(m, axis=())
    return xp.flip(turned, axis=second) if turns == 3 else turned


def as_matrix(xp: Any, x: Any) -> Any:
    return xp.reshape(x, (1, -1)) if x.ndim < 2 else x


def as_stack(xp: Any, x: Any) -> Any:
    return xp.expand_dims(as_matrix(xp, x), -1) if x.ndim < 3 else x


def hstack(xp: Any, tup: Any) -> Any:
    parts = [x if x.ndim else ravel(xp, x) for x in arrays_of(xp, tup, "hstack")]
    return xp.concat(parts, axis=0 if parts and parts[0].ndim == 1 else 1)


def column_stack(xp: Any, tup: Any) -> Any:
    parts = arrays_of(xp, tup, "column_stack")
    columns = [xp.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in parts]
    return xp.concat(columns, axis=1)


def array_split(xp: Any, ary: Any, indices_or_sections: Any, *, axis: int = 0) -> list[Any]:
    array = array_of(xp, ary, "array_split")
    along = axis_in("array_split", axis, array.ndim)
    length, asked = array.shape[along], indices_or_sections
    several = hasattr(asked, "__len__")
    count = len(asked) + 1 if several else integers("array_split", "indices_or_sections", asked)
    if not 0 < count <= 2**24:  # each of which is an array
        said = f"the number of sections is {quoted(count)}, not 1 to 2**24"
        raise ValueError(f"np.array_split: {said}")
    if several:
        bounds = [0, *map(int, asked), length]
    else:
        each, more = divmod(length, count)
        bounds = [each * n + min(n, more) for n in range(count + 1)]
    before = (slice(None),) * along
    return [array[(*before, slice(start, stop))] for start, stop in pairwise(bounds)]


def split(xp: Any, ary: Any, indices_or_sections: Any, *, axis: int = 0) -> list[Any]:
    array, sections = array_of(xp, ary, "split"), indices_or_sections
    if not hasattr(sections, "__len__"):
        length = array.shape[axis_in("split", axis, array.ndim)]
        if sections and length % sections:
            said = f"{length} elements do not make {quoted(sections)} equal sections"
            raise ValueError(f"np.split: {said}")
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


def take(xp: Any, a: Any, indices: Any, *, axis: int | None = None) -> Any:
    """Return the elements at some indices along an axis; without one, of the flattened array."""
    index = xp.asarray(indices)
    return xp.take(ravel(xp, a), index, axis=0) if axis is None else xp.take(a, index, axis=axis)


def _along(name: str, default: int | None) -> Callable[..., Any]:
    """Make a function that takes the array flattened where it is given no axis."""

    def function(xp: Any, a: Any, *, axis: int | None = default, **options: Any) -> Any:
        if axis is None:
            a, axis = ravel(xp, a), 0
        return getattr(xp, name)(a, axis=axis, **options)

    return function


sort, argsort = _along("sort", -1), _along("argsort", -1)
cumsum, cumprod = _along("cumulative_sum", None), _along("cumulative_prod", None)


def where(xp: Any, condition: Any, *choices: Any) -> Any:
    if not choices:
        return xp.nonzero(condition)
    chosen = array_of(xp, condition, "where")  # numbers too, of which NumPy takes the truth
    if chosen.dtype is not xp.bool:
        chosen = xp.astype(chosen, xp.bool)
    return xp.where(chosen, *choices)


def argwhere(xp: Any, a: Any) -> Any:
    array = array_of(xp, a, "argwhere")
    if not array.ndim:  # NumPy's answer: one row, or none, without columns
        return xp.zeros((int(bool(array)), 0), dtype=xp.nonzero(ravel(xp, array))[0].dtype)
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


# --- Comparisons ---------------------------------------------------------------------------------


def can_cast(xp: Any, from_: Any, to: Any, *, casting: str = "safe") -> bool:
    if casting == "safe":
        return bool(xp.can_cast(from_, to))
    of = from_.dtype if isinstance(from_, (Array, np.ndarray, np.generic)) else from_
    source, target = as_dtype(of), as_dtype(to)
    if casting == "same_kind":
        higher = source.kind.category <= target.kind.category
        return higher or bool(xp.can_cast(source, target))
    return source is target or casting == "unsafe"


def isclose(
    xp: Any, a: Any, b: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    x, y = array_of(xp, a, "isclose"), array_of(xp, b, "isclose")
    if y.dtype.kind not in INEXACT:  # so that no difference of integers wraps
        if x.dtype.kind not in INEXACT:
            x = xp.astype(x, xp.result_type(x, 1.0))
        y = xp.astype(y, xp.result_type(y, 1.0))
    with np.errstate(invalid="ignore"):  # inf - inf
        near = xp.abs(x - y) <= atol + rtol * xp.abs(y)
    close = (near & xp.isfinite(y)) | (x == y)
    if equal_nan and x.dtype.kind in INEXACT:
        close = close | (xp.isnan(x) & xp.isnan(y))
    return close


def array_equal(xp: Any, a1: Any, a2: Any, *, equal_nan: bool = False) -> bool:
    x, y = array_of(xp, a1, "array_equal"), array_of(xp, a2, "array_equal")
    if x.shape != y.shape:
        return False
    same = x == y
    if equal_nan and x.dtype.kind in INEXACT and y.dtype.kind in INEXACT:
        same = same | (xp.isnan(x) & xp.isnan(y))
    return bool(xp.all(same))


def nan_to_num(xp: Any, x: Any, *, nan: float = 0.0) -> Any:
    array = array_of(xp, x, "nan_to_num")
    if array.dtype.kind not in INEXACT:
        return array.copy()
    return import_module("array_api_extra").nan_to_num(array, fill_value=nan, xp=xp)


def iscomplex(xp: Any, x: Any) -> Any:
    array = array_of(xp, x, "iscomplex")
    if array.dtype.kind is not Kind.COMPLEX:
        return xp.zeros_like(array, dtype=xp.bool)
    return xp.imag(array) != 0


def unique(
    xp: Any,
    ar: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    equal_nan: bool = True,
) -> Any:
    asked = [True, return_index, return_inverse, return_counts]
    found = xp.unique_all(ar)
    if equal_nan and found.values.dtype.kind in INEXACT:
        found = _one_nan(xp, found)
    answers = tuple(part for part, wanted in zip(found, asked, strict=True) if wanted)
    return answers if len(answers) > 1 else answers[0]


def bincount(xp: Any, x: Any, *, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often each number from 0 on is there, or the sums of its weights."""
    array = array_of(xp, x, "bincount")
    if array.ndim != 1 or array.dtype.kind in INEXACT:
        raise TypeError(
            f"np.bincount takes a vector of integers, not {array.dtype.name}, {array.ndim} axes"
        )
    places = xp.arange(max(int(xp.max(array)) + 1 if array.size else 0, minlength) + 1)
    ordered = xp.sort(xp.astype(array, kept_dtype(places), copy=False))
    if array.size and int(ordered[0]) < 0:
        raise ValueError("np.bincount: the numbers are 0 or more")
    if weights is not None:
        return _sums_of_weights(xp, array, array_of(xp, weights, "bincount"), places.size - 1)
    return xp.diff(xp.searchsorted(ordered, places))


def _sums_of_weights(xp: Any, x: Any, weights: Any, length: int) -> Any:
    """The weights of each number, added up in their order in the dtype of the result."""
    if weights.shape != x.shape:
        raise ValueError(f"np.bincount: weights have the shape {weights.shape}, not {x.shape}")
    fixed = policy_of(x, weights).fixed
    own = weights.dtype
    single = None if own in (float32, float64) else fixed.get("weights")
    wide = fixed.get("bincount") or single or own
    drops_parts = own.kind is Kind.COMPLEX and wide.kind is not Kind.COMPLEX
    if drops_parts or wide.kind is Kind.BOOL or own.bits < 8:
        raise TypeError(f"np.bincount takes no weights of {own.name} under this policy")
    totals = xp.zeros(length, dtype=wide)
    if common_backend(x._buffer, weights._buffer) is not common_backend(totals._buffer):
        raise TypeError("np.bincount takes weights of arrays in memory alone; call .compute()")
    np.add.at(totals._buffer, x._buffer, xp.astype(weights, wide, copy=False)._buffer)
    return totals


def _one_nan(xp: Any, found: Any) -> Any:
    """The same with one NaN: they come last, each its own."""
    values, indices, inverse, counts = found
    missing = xp.isnan(values)
    if int(xp.count_nonzero(missing)) < 2:
        return found
    first = int(xp.count_nonzero(xp.logical_not(missing)))
    together = xp.sum(counts[first:], dtype=kept_dtype(counts), keepdims=True)
    earliest = xp.min(indices[first:], keepdims=True)
    return type(found)(
        values[: first + 1],
        xp.concat([indices[:first], earliest]),
        xp.minimum(inverse, xp.full_like(inverse, first)),
        xp.concat([counts[:first], together]),
    )


def corrcoef(xp: Any, x: Any, *, y: Any = None, rowvar: bool = True) -> Any:
    spread = xp.extras.cov(x, y, rowvar=rowvar)
    if not spread.ndim:
        return spread / spread
    deviation = xp.sqrt(xp.real(xp.linalg.diagonal(spread)))
    found = spread / deviation[:, None] / deviation[None, :]
    return found if found.dtype.kind is Kind.COMPLEX else xp.clip(found, -1.0, 1.0)


def polyval(xp: Any, p: Any, x: Any) -> Any:
    coefficients, places = array_of(xp, p, "polyval"), array_of(xp, x, "polyval")
    out = xp.zeros_like(places)
    for n in range(coefficients.shape[0]):
        out = out * places + coefficients[n]
    return out


def fill_diagonal(xp: Any, a: Any, val: Any) -> None:
    """Write into the main diagonal."""
    if not isinstance(a, Array) or a.ndim < 2:
        raise ValueError(f"fill_diagonal writes into an array of two axes or more, not {quoted(a)}")
    if a.ndim > 2 and len({*a.shape}) > 1:
        raise ValueError(f"fill_diagonal of {a.ndim} axes needs lengths that are equal: {a.shape}")
    places, target = xp.arange(min(a.shape)), cast("Any", a)
    target[(places,) * a.ndim] = val


# --- Products and norms --------------------------------------------------------------------------


def dot(xp: Any, a: Any, b: Any) -> Any:
    """Return the product: of matrices and vectors ``x @ y``, with a 0-d array ``x * y``."""
    x, y = array_of(xp, a, "dot"), array_of(xp, b, "dot")
    if not x.ndim or not y.ndim:
        return xp.multiply(x, y)
    return xp.matmul(x, y) if y.ndim <= 2 else xp.tensordot(x, y, axes=((-1,), (-2,)))


def inner(xp: Any, a: Any, b: Any) -> Any:
    x, y = array_of(xp, a, "inner"), array_of(xp, b, "inner")
    if not x.ndim or not y.ndim:
        return xp.multiply(x, y)
    return xp.tensordot(x, y, axes=((-1,), (-1,)))


def vdot(xp: Any, a: Any, b: Any) -> Any:
    """Return the product of all elements, conjugated first: ``dot``'s, of which PyTorch has that of
    integers, not ``vecdot``'s."""
    x, y = (ravel(xp, array_of(xp, each, "vdot")) for each in (a, b))
    return xp.matmul(xp.conj(x) if x.dtype.kind is Kind.COMPLEX else x, y)
