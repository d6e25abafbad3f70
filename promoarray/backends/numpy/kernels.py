"""The kernel of each operation over NumPy buffers that all hold one dtype.

A kernel is a ufunc, or a function of buffers and options. It answers an array or a scalar of
NumPy's, or a tuple of them where the operation has several results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from operator import index
from typing import Any, cast

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from promoarray.dtypes import DType, Kind
from promoarray.kernels.portable import composed
from promoarray.kernels.portable.steps import kernels_of
from promoarray.operations import OPERATIONS

Buffer = np.ndarray[Any, Any]


def _rounding(ufunc: np.ufunc, kinds: str) -> Callable[[Buffer], Buffer]:
    """Leave integers alone, which NumPy would turn into floats."""
    return lambda x: ufunc(x) if x.dtype.kind in kinds else x.copy()


def _concat(*buffers: Buffer, axis: int | None = 0) -> Buffer:
    return np.concatenate(buffers, axis=axis)


def _stack(*buffers: Buffer, axis: int = 0) -> Buffer:
    """``np.stack``, without the time that it takes to get to what joins them."""
    ndim = buffers[0].ndim
    if type(axis) is int and -ndim <= axis + 1 <= ndim + 1:
        along = axis % (ndim + 1)
        new = _new_axis(along)
        try:
            return np.concatenate([x[new] for x in buffers], axis=along)
        except (ValueError, IndexError):
            return np.stack(buffers, axis=axis)  # which has the words for what is wrong
    return np.stack(buffers, axis=axis)


@cache
def _new_axis(along: int) -> tuple[slice | None, ...]:
    """The key of a view with an axis of length 1 behind some of the axes."""
    return (*[slice(None)] * along, None)


def _where(x: Buffer, y: Buffer, *, condition: Buffer) -> Buffer:
    """``np.where``; of dtypes that NumPy has not by their words, which it copies at once."""
    if x.dtype.isbuiltin != 2 or x.dtype != y.dtype or x.itemsize > 8:
        return np.where(condition, x, y)
    word = f"u{x.itemsize}"
    return np.asarray(np.where(condition, x.view(word), y.view(word))).view(x.dtype)


def _trace(x: Buffer, **options: Any) -> Any:
    """The sum of a diagonal, in the dtype of the buffer."""
    return np.trace(x, dtype=x.dtype, **options)


def _tensordot(x: Buffer, y: Buffer, *, axes: Any = 1) -> Any:
    """``np.tensordot``; by default it pairs one axis, so that it is one of vectors, too."""
    return np.tensordot(x, y, axes)


def _copied(x: Buffer) -> Buffer:
    return x.copy()


CLIP: Any = np.clip
with suppress(ImportError):  # NumPy does not promise where the ufunc is
    CLIP = getattr(import_module("numpy._core.umath"), "clip", np.clip)


def clip_of(low: bool, high: bool) -> Callable[..., Any]:
    """``clip`` with the bounds that there are."""
    if low and high:  # which leaves a -0.0 that is not below 0.0
        return cast("Callable[..., Any]", CLIP)
    return np.maximum if low else np.minimum if high else _copied


def _clip(x: Buffer, *bounds: Buffer, low: bool = False, high: bool = False) -> Buffer:
    clipped: Buffer = clip_of(low, high)(x, *bounds)
    return clipped


# --- Reductions: ufuncs, without the time that NumPy's own functions take to get to them ----------


def _reduced(ufunc: np.ufunc, *, in_own_dtype: bool = True) -> Callable[..., Any]:
    """Reduce by a ufunc: in the dtype of the buffer, where NumPy would widen integers by a rule of
    its own, or as it does."""
    reduce: Any = ufunc.reduce  # positions are read soonest, and the stubs have them by name

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        dtype = x.dtype if in_own_dtype else None
        if axis is None and not keepdims:  # an array sooner than a scalar becomes one
            return reduce(x, None, dtype, None, True).reshape(())
        return reduce(x, axis, dtype, None, keepdims)

    return run


def _cumulative(ufunc: np.ufunc, whole: Callable[..., Buffer]) -> Callable[..., Buffer]:
    def run(x: Buffer, *, axis: int | None = None, include_initial: bool = False) -> Buffer:
        if axis is None and x.ndim != 1:
            raise ValueError("the axis may be left out for one-dimensional arrays only")
        if include_initial:
            return whole(x, axis=axis, include_initial=True)
        return ufunc.accumulate(x, 0 if axis is None else index(axis))  # of (0,) it takes the 0

    return run


def _mean(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.mean``, of floats in its two steps."""
    if x.dtype.char not in "fd" or not x.size or not x.ndim:
        return np.mean(x, axis=axis, keepdims=keepdims)
    total = _divided(_ADD_UP(x, axis, None, None, True), x.size)
    return total if keepdims else _without(total, axis)


def _var(x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False) -> Any:
    """``np.var``, of floats in its five steps."""
    if x.dtype.char in "fd" and x.size and x.ndim and type(ddof) in (int, float):
        center = _ADD_UP(x, axis, None, None, True)
        count = x.size // center.size
        if count > ddof:
            gaps = np.subtract(x, _divided(center, x.size))
            squares = _ADD_UP(np.square(gaps, out=gaps), axis, None, None, True)
            np.true_divide(squares, np.float64(count - ddof), out=squares, casting="unsafe")
            return squares if keepdims else _without(squares, axis)
    return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


_ADD_UP: Any = np.add.reduce


def _divided(total: Buffer, size: int) -> Buffer:
    """Sums divided in place by how many numbers they are of, as NumPy divides: in float64."""
    count = np.float64(size // total.size)
    return np.true_divide(total, count, out=total, casting="unsafe")


def _without(x: Buffer, axis: Any) -> Buffer:
    """An array whose axes were reduced to a length of 1, without them."""
    return x.reshape(()) if axis is None else x.squeeze(axis)


class _Kernels(dict[str, Callable[..., Any]]):
    """Kernels by name; those of single policies are loaded once one is asked for."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        return _variants()[name]


@cache
def _variants() -> dict[str, Callable[..., Any]]:
    from promoarray.kernels.portable import variants

    return variants.of(np)


_NAMED = {name: vars(np).get(name) for name in OPERATIONS}  # else NumPy loads its modules
_STANDARD: dict[str, Callable[..., Any]] = {
    **{name: ufunc for name, ufunc in _NAMED.items() if isinstance(ufunc, np.ufunc)},
    **{name: partial(kernel, np) for name, kernel in kernels_of(composed).items()},
    "where": _where,
    "tensordot": _tensordot,
    "searchsorted": np.searchsorted,
    "clip": _clip,
    "concat": _concat,
    "stack": _stack,
    "floor": _rounding(np.floor, "f"),
    "ceil": _rounding(np.ceil, "f"),
    "trunc": _rounding(np.trunc, "f"),
    "round": _rounding(np.rint, "fc"),
    "real": lambda x: x.real.copy(),
    "imag": lambda x: x.imag.copy(),
    "trace": _trace,
    "sum": _reduced(np.add),
    "prod": _reduced(np.multiply),
    "max": _reduced(np.maximum),
    "min": _reduced(np.minimum),
    "all": _reduced(np.logical_and, in_own_dtype=False),
    "any": _reduced(np.logical_or, in_own_dtype=False),
    "cumulative_sum": _cumulative(np.add, np.cumulative_sum),
    "cumulative_prod": _cumulative(np.multiply, np.cumulative_prod),
    "argmax": np.ndarray.argmax,
    "argmin": np.ndarray.argmin,
    "mean": _mean,
    "var": _var,
    "std": lambda x, **options: np.sqrt(_var(x, **options)),
}

KERNELS = _Kernels(_STANDARD)
"""The kernel of every operation, and those that single policies have instead."""


@cache
def kernel_of(name: str, compute: DType) -> Callable[..., Any]:
    """The kernel of an operation on buffers that all hold a dtype."""
    if name not in KERNELS and not is_variant(name):
        return partial(_linalg, name, compute)
    if compute.kind is Kind.COMPLEX and (formula := formula_of_complex(name)):
        return formula
    kernel = KERNELS[name]
    if name in _UFUNC_OF and compute.kind in _UFUNC_OF[name][1]:
        kernel = _UFUNC_OF[name][0]
    if name == "signbit" and compute.kind is not Kind.FLOAT:  # of which NumPy's makes floats
        return partial(np.greater, compute.storage.type(0))
    if compute.kind is Kind.BOOL and name in _NOT_OF_BOOLS:
        return lambda *buffers, **options: kernel(*(b.astype(np.int8) for b in buffers), **options)
    return kernel


def _linalg(name: str, compute: DType, *buffers: Buffer, **options: Any) -> Any:
    """Linear algebra, sets and sorting, by the kernels that all libraries share."""
    from promoarray.kernels.portable import linalg

    if name in ("sort", "argsort"):  # which would take an axis for another, or for none
        normalize_axis_index(options.get("axis", -1), buffers[0].ndim)
    found = linalg.call(sys.modules[__package__], name, buffers, compute, **options)
    return found[0][0] if len(found) == 1 else tuple([out for out, _ in found])


def formula_of_complex(name: str) -> Callable[..., Any] | None:
    """What computes complex numbers where NumPy has a ufunc for real ones only."""
    from promoarray.kernels.portable import complexes

    return partial(complexes.KERNELS[name], np) if name in complexes.KERNELS else None


# What is this ufunc for these kinds, and another or something simpler for the others.
_UFUNC_OF: dict[str, tuple[np.ufunc, tuple[Kind, ...]]] = {
    "floor": (np.floor, (Kind.FLOAT,)),
    "ceil": (np.ceil, (Kind.FLOAT,)),
    "trunc": (np.trunc, (Kind.FLOAT,)),
    "round": (np.rint, (Kind.FLOAT, Kind.COMPLEX)),
    "signbit": (np.signbit, (Kind.FLOAT,)),
    "positive": (np.absolute, (Kind.BOOL,)),  # which has a loop for bools, and leaves them
    "sign": (np.absolute, (Kind.BOOL,)),
}

# NumPy refuses these for bools; policies that allow them mean arithmetic on 0 and 1.
_NOT_OF_BOOLS = frozenset({"subtract", "negative", "trace"})

MOVING = frozenset({"where", "concat", "stack"})
"""What answers in the dtype of its buffers, whatever that is."""

_ELEMENTWISE = frozenset(
    name
    for name, kernel in KERNELS.items()
    if isinstance(kernel, np.ufunc) and kernel.signature is None
) | {*_UFUNC_OF, "clip", "l1_loss", "mse_loss", "poisson_nll_loss"}


def is_variant(name: str) -> bool:
    """Whether a kernel is one that single policies have in place of the standard one."""
    if name in OPERATIONS:
        return False
    from promoarray.promotion.variants import VARIANTS

    return name in VARIANTS


def is_elementwise(name: str) -> bool:
    """Whether a kernel computes each element by itself, whatever lies around it."""
    if not is_variant(name):
        return name in _ELEMENTWISE
    from promoarray.kernels.portable import products, statistics

    along_axes = {*kernels_of(products), *kernels_of(statistics), "real_all", "real_any"}
    return name in _variants() and name not in along_axes and name != "integer_pow"


def asks_shapes(name: str) -> bool:
    """Whether a kernel of single policies asks which operands broadcasting repeats."""
    if not is_variant(name):
        return False
    from promoarray.kernels.portable.xla import ASKING_SHAPES

    return name in ASKING_SHAPES


OF_UFUNC = {kernel: name for name, kernel in KERNELS.items() if isinstance(kernel, np.ufunc)}
OF_UFUNC |= {np.rint: "round", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc"}
"""The operation that each of NumPy's ufuncs is here."""
