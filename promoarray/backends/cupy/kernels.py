"""CuPy's kernels, of operations without one of ours: over buffers that all hold one dtype.

Sums and products of matrices are CuPy's: float32 subnormals are zero in them, and the order of the
terms is theirs. What compares values must not take two float32 for one, so CuPy sees such values as
integers in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.cupy.array_api import functions
from promoarray.backends.cupy.device import cupy
from promoarray.backends.cupy.launch import Buffer, bits, cast, launcher, new, operate, storage
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cuda.kernel_source import KernelSource
from promoarray.kernels.cuda.values import INTEGERS, complex_sign, from_order, next_code, to_order

Kernel = Callable[..., Any]
"""Takes the buffers, then the dtype they hold, then options; gives a buffer, or several."""


def _do(name: str, compute: DType, *buffers: Buffer) -> Buffer:
    """Run an elementwise operation by our kernel, or CuPy's of that name."""
    done = operate(name, buffers, compute)
    return getattr(functions(), name)(*buffers) if done is None else done[0]


_WIDE = {Kind.FLOAT: dt.float64, Kind.COMPLEX: dt.complex128}

# --- The largest, the smallest and where ---------------------------------------------------------
# CuPy's own flush float32 subnormals, and take the largest finite number for an infinity.


def _by(source: KernelSource, x: Buffer, dtype: DType) -> Buffer:
    """Run a kernel of one buffer, to new memory of a dtype."""
    out = new(x.shape, dtype)
    if x.size:
        launcher(source)(x, out)
    return out


def _extreme(name: str) -> Kernel:
    def run(x: Buffer, dtype: DType, *, initial: Any = None, **options: Any) -> Buffer:
        choose, largest = getattr(cupy, name), name == "max"
        if initial is not None and not x.size:
            shape = np.max(np.empty(x.shape), initial=0, **options).shape
            return cupy.full(shape, initial, x.dtype)
        if dtype not in INTEGERS:
            return choose(x, **options)
        keys = _by(to_order(dtype, largest=largest), x, INTEGERS[dtype])
        return _by(from_order(dtype, largest=largest), choose(keys, **options), dtype)

    return run


def _position(name: str) -> Kernel:
    """The first of the most extreme, NaN before all."""

    def run(x: Buffer, dtype: DType, *, axis: Any = None, keepdims: bool = False) -> Buffer:
        if not x.size and (axis is None or x.shape[axis] == 0):
            raise ValueError(f"{name} of no elements")
        largest = name == "argmax"
        if dtype in INTEGERS:
            kernel = to_order(dtype, largest=largest, zeros_alike=True)
            x = _by(kernel, x, INTEGERS[dtype])
        flat = x.reshape(-1) if axis is None else x
        along = 0 if axis is None else axis
        found = flat == (flat.max if largest else flat.min)(axis=along, keepdims=True)
        at = cupy.argmax(found.view("uint8"), axis=along)
        if not keepdims:
            return at
        return at.reshape((1,) * x.ndim) if axis is None else cupy.expand_dims(at, axis)

    return run


# --- Sums and the like ---------------------------------------------------------------------------


def _keeping_dtype(name: str) -> Kernel:
    """Sum in the dtype of the buffer, where CuPy would widen integers by a rule of its own."""

    def run(x: Buffer, dtype: DType, **options: Any) -> Buffer:
        held = dt.int8 if name == "trace" and dtype is dt.bool else dtype
        return getattr(cupy, name)(cast(x, dtype, held), dtype=storage(held), **options)

    return run


def _cumulative(name: str, identity: int) -> Kernel:
    def run(x: Buffer, dtype: DType, *, axis: int = 0, include_initial: bool = False) -> Buffer:
        held = dt.int64 if dtype is dt.bool else dtype
        y = getattr(cupy, name)(cast(x, dtype, held), axis=axis, dtype=storage(held))
        if include_initial:
            shape = [*x.shape]
            shape[axis] = 1
            y = cupy.concatenate([cupy.full(shape, identity, y.dtype), y], axis=axis)
        return cast(y, held, dtype)

    return run


def _truth(name: str) -> Kernel:
    def run(x: Buffer, dtype: DType, **options: Any) -> Buffer:
        return getattr(cupy, name)(cast(x, dtype, dt.bool), **options)

    return run


# --- Elementwise, of several steps ---------------------------------------------------------------


def _clip(*given: Any, low: bool, high: bool) -> Buffer:
    *buffers, dtype = given
    done = operate("clip", tuple(buffers), dtype, low=low, high=high) if low or high else None
    return buffers[0].copy() if done is None else done[0]


def _sign(x: Buffer, dtype: DType) -> Buffer:
    """Of complex numbers, which alone come here."""
    return _by(complex_sign(dtype), x, dtype)


def _nextafter(x: Buffer, y: Buffer, dtype: DType) -> Buffer:
    """The next code of a narrow float."""
    wide = [cast(b, dtype, dt.float32) for b in (x, y)]
    asked = [_do(name, dt.float32, *wide) for name in ("less", "equal")]
    unordered = _do("logical_or", dt.bool, *(_do("isnan", dt.float32, w) for w in wide))
    out = cupy.empty(asked[0].shape, storage(dtype))
    if out.size:
        codes = [bits(b, dtype) for b in (x, y)]
        launcher(next_code(dtype))(*codes, *asked, unordered, bits(out, dtype))
    return out


# --- The library's -------------------------------------------------------------------------------


def _moved(name: str) -> Kernel:
    """Values that are moved and never looked at."""

    def run(*given: Any, **options: Any) -> Buffer:
        *buffers, dtype = given
        codes = [bits(b, dtype) for b in buffers]
        return getattr(functions(), name)(codes, **options).view(storage(dtype))

    return run


def _where(x: Buffer, y: Buffer, dtype: DType, *, condition: Buffer) -> Buffer:
    done = operate("where", (x, y), dtype, condition)
    assert done is not None, dtype
    return done[0]


def _searchsorted(x: Buffer, values: Buffer, dtype: DType, **options: Any) -> Buffer:
    wide = comparable(dtype)
    return cupy.searchsorted(cast(x, dtype, wide), cast(values, dtype, wide), **options)


def of_buffers(function: Callable[..., Any]) -> Kernel:
    """What asks for no dtype."""

    def run(*given: Any, **options: Any) -> Any:
        *buffers, _ = given
        return function(*buffers, **options)

    return run


def comparable(dtype: DType) -> DType:
    """A dtype in which CuPy tells all values of another apart, and that holds them exactly."""
    if dtype is dt.float16:
        return dt.float32  # in which its subnormals are none
    if dtype.kind in (Kind.INT, Kind.UINT) and dtype.bits < 8:
        return dt.int8 if dtype.kind is Kind.INT else dt.uint8
    return _WIDE.get(dtype.kind, dtype)


KERNELS: dict[str, Kernel] = {
    "where": _where,
    "clip": _clip,
    "sign": _sign,
    "nextafter": _nextafter,
    "concat": _moved("concat"),
    "stack": _moved("stack"),
    "sum": _keeping_dtype("sum"),
    "prod": _keeping_dtype("prod"),
    "trace": _keeping_dtype("trace"),
    "cumulative_sum": _cumulative("cumsum", 0),
    "cumulative_prod": _cumulative("cumprod", 1),
    "mean": of_buffers(cupy.mean),
    "std": of_buffers(cupy.std),
    "var": of_buffers(cupy.var),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "signed_max": _extreme("max"),  # which orders zeros, too
    "signed_min": _extreme("min"),
    "all": _truth("all"),
    "any": _truth("any"),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "searchsorted": _searchsorted,
}
"""The kernels that are no library function of their name."""
