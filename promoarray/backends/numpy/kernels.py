"""What each operation computes over NumPy buffers that all hold one dtype.

A kernel is a ufunc, or a function of buffers and options. It answers an array or a scalar of
NumPy's, or a tuple of them where the operation has several results.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from promoarray import kernels
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.operations import OPERATIONS

Buffer = np.ndarray[Any, Any]


def _round(x: Buffer) -> Buffer:
    return np.rint(x) if x.dtype.kind in "fc" else x.copy()


def _whole(rounding: Callable[[Buffer], Buffer]) -> Callable[[Buffer], Buffer]:
    """Leave integers alone, which NumPy would turn into floats."""
    return lambda x: rounding(x) if x.dtype.kind == "f" else x.copy()


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
    """``np.where``, which branches at each element: of long operands in a loop that does not."""
    if condition.size < _LONG or x.itemsize > 8 or not x.dtype.isnative:
        return np.where(condition, x, y)
    shape = x.shape
    if not condition.shape == shape == y.shape:
        shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
    like = next((a for a in (condition, x, y) if a.shape == shape), np.empty(shape, np.bool))
    out = np.empty_like(like, x.dtype, subok=False)
    kernels.combine("where", (condition, x, y), out, *_WHERE[x.itemsize])
    return out


def _rows_of_where(dtype: DType) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    row = kernels.dtype_args(dtype)
    return (kernels.dtype_args(BY_STORAGE[np.dtype(bool)]), *(row,) * 4), (kernels.DEFAULT,) * 4


_LONG = 4096
_WHERE = {n: _rows_of_where(BY_STORAGE[np.dtype(f"u{n}")]) for n in (1, 2, 4, 8)}
"""What ``kernels.combine`` takes, by the length of elements: it looks at no more of them."""


def _trace(x: Buffer, **options: Any) -> Any:
    """The sum of a diagonal, in the dtype of the buffer."""
    return np.trace(x, dtype=x.dtype, **options)


def _outer(x: Buffer, y: Buffer) -> Buffer:
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"outer takes two vectors, not arrays of {x.ndim} and {y.ndim} axes")
    product: Buffer = x[:, None] * y[None, :]
    return product


def _huber(x: Buffer, y: Buffer, *, delta: float = 1.0) -> Buffer:
    from promoarray.backends.numpy.losses import huber

    return huber(x, y, delta=delta)


def neighbours(x: Buffer, *, axis: int) -> tuple[Buffer, Buffer]:
    """All elements but the first along an axis, and all but the last."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"an array of {x.ndim} axes has no axis {axis}")
    before = (slice(None),) * (axis % x.ndim)
    return x[(*before, slice(1, None))], x[(*before, slice(None, -1))]


def _diff(x: Buffer, *, axis: int = -1) -> Buffer:
    later, earlier = neighbours(x, axis=axis)
    gaps: Buffer = later != earlier if x.dtype == np.bool else later - earlier
    return gaps


_HOMES = {
    **dict.fromkeys(("argmax", "argmin", "cumulative_prod", "cumulative_sum"), "reductions"),
    **dict.fromkeys(("all", "any", "max", "min", "prod", "sum"), "reductions"),
    **dict.fromkeys(("mean", "std", "var"), "means"),
    "clip": "clips",
    "searchsorted": "searching",
    "tensordot": "products",
}
"""From a kernel that has more to it than a ufunc to the module whose ``KERNELS`` have it."""


class _Kernels(dict[str, Callable[..., Any]]):
    """Kernels by name; those of other modules, and of single policies, are loaded once one of them
    is asked for."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        home = import_module(f"promoarray.backends.numpy.{_HOMES.get(name, 'variants')}")
        kernel: Callable[..., Any] = home.KERNELS[name]
        return kernel


_STANDARD: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.true_divide,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "pow": np.power,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "logaddexp": np.logaddexp,
    "where": _where,
    "matmul": np.matmul,
    "vecdot": np.vecdot,
    "outer": _outer,
    "concat": _concat,
    "stack": _stack,
    "l1_loss": lambda x, y: np.abs(x - y),
    "mse_loss": lambda x, y: np.square(x - y),
    "huber_loss": _huber,
    "poisson_nll_loss": lambda x, y: np.exp(x) - y * x,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    "abs": np.abs,
    "negative": np.negative,
    "positive": np.positive,
    "sign": np.sign,
    "square": np.square,
    "floor": _whole(np.floor),
    "ceil": _whole(np.ceil),
    "trunc": _whole(np.trunc),
    "round": _round,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
    "conj": np.conj,
    "real": lambda x: x.real.copy(),
    "imag": lambda x: x.imag.copy(),
    "trace": _trace,
    "diff": _diff,
}

KERNELS = _Kernels(_STANDARD)
"""The kernel of every operation, and those that single policies have instead."""


@cache
def kernel_of(name: str, compute: DType) -> Callable[..., Any] | None:
    """The kernel of an operation on buffers that all hold a dtype; None of linear algebra, whose
    kernels are those of ``kernels.portable.linalg``.

    Parameters
    ----------
    name : str
    compute : DType
    """
    if name not in KERNELS and name not in _HOMES and not is_variant(name):
        return None
    if compute.kind is Kind.COMPLEX and (formula := formula_of_complex(name)):
        return formula
    kernel = KERNELS[name]
    if name in ("matmul", "tensordot"):
        from promoarray.backends.numpy.products import of_integers

        kernel = of_integers(name, compute) or kernel
    if name in _UFUNC_OF and compute.kind in _UFUNC_OF[name][1]:
        kernel = _UFUNC_OF[name][0]
    if name == "signbit" and compute.kind is not Kind.FLOAT:  # of which NumPy's makes floats
        return partial(np.greater, compute.storage.type(0))
    if compute.kind is Kind.BOOL and name in _NOT_OF_BOOLS:
        return lambda *buffers, **options: kernel(*(b.astype(np.int8) for b in buffers), **options)
    return kernel


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

POSITIONS = frozenset({"argmax", "argmin"})
"""What answers with a place."""

# NumPy refuses these for bools; policies that allow them mean arithmetic on 0 and 1.
_NOT_OF_BOOLS = frozenset({"subtract", "negative", "trace"})

OF_ONE_CALL = frozenset(_UFUNC_OF)
"""The functions that make nothing besides their result."""

_ELEMENTWISE = frozenset(
    name
    for name, kernel in KERNELS.items()
    if isinstance(kernel, np.ufunc) and kernel.signature is None
) | {*OF_ONE_CALL, "l1_loss", "mse_loss", "huber_loss", "poisson_nll_loss"}


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
    from promoarray.backends.numpy.variants import ELEMENTWISE

    return name in ELEMENTWISE


def is_along_axes(name: str) -> bool:
    """Whether a kernel of single policies goes along axes."""
    if not is_variant(name):
        return False
    from promoarray.backends.numpy.variants import ALONG_AXES

    return name in ALONG_AXES


OF_UFUNC = {kernel: name for name, kernel in KERNELS.items() if isinstance(kernel, np.ufunc)}
OF_UFUNC |= {np.rint: "round", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc"}
"""The operation that each of NumPy's ufuncs is here."""
