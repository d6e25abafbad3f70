"""NumPy's functions that are one expression of ours, by name.

Each takes the namespace first, then what ``table`` gives on, by NumPy's names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.core.array_base import Array
from promoarray.core.shapes import axes_in
from promoarray.dtypes import Kind
from promoarray.numpy_api.composed import (
    argsort,
    array_of,
    arrays_of,
    as_matrix,
    as_stack,
    isclose,
    iscomplex,
    ravel,
    sort,
)


def _each(name: str, shaped: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a function of any number of arrays, which gives a tuple of several."""

    def function(xp: Any, *arys: Any) -> Any:
        made = tuple(shaped(xp, x) for x in arrays_of(xp, arys, name))
        return made[0] if len(made) == 1 else made

    return function


def _over_two(name: str) -> Callable[..., Any]:
    """Make a Fourier transform over two axes of that over any number."""
    return lambda xp, a, *, axes=(-2, -1), **options: getattr(xp.fft, name)(a, axes=axes, **options)


def _of_memory(function: Callable[..., bool]) -> Callable[..., bool]:
    """Make a question about the memory of two arrays."""
    return lambda xp, *arrays: function(*(x._buffer if isinstance(x, Array) else x for x in arrays))


def _hundredths(xp: Any, q: Any) -> Any:
    """Percents as shares; numbers stay numbers."""
    return q / 100 if isinstance(q, (int, float)) else xp.asarray(q) / 100


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    # What moves values.
    "fliplr": lambda xp, m: xp.flip(m, axis=1),
    "flipud": lambda xp, m: xp.flip(m, axis=0),
    "atleast_1d": _each("atleast_1d", lambda xp, x: x if x.ndim else ravel(xp, x)),
    "atleast_2d": _each("atleast_2d", as_matrix),
    "atleast_3d": _each("atleast_3d", as_stack),
    "vstack": lambda xp, tup: xp.concat(
        [as_matrix(xp, x) for x in arrays_of(xp, tup, "vstack")], axis=0
    ),
    "dstack": lambda xp, tup: xp.concat(
        [as_stack(xp, x) for x in arrays_of(xp, tup, "dstack")], axis=2
    ),
    "append": lambda xp, arr, values, *, axis=None: xp.concat(
        arrays_of(xp, (arr, values), "append"), axis=axis
    ),
    "diagonal": lambda xp, a, *, offset=0, axis1=0, axis2=1: xp.linalg.diagonal(
        xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset
    ),
    "flatnonzero": lambda xp, a: xp.nonzero(ravel(xp, a))[0],
    # A whole sort puts every element where it belongs.
    "partition": lambda xp, a, kth, *, axis=-1: sort(xp, a, axis=axis),
    "argpartition": lambda xp, a, kth, *, axis=-1: argsort(xp, a, axis=axis),
    # What makes arrays. NumPy gives float on where nobody gave a dtype.
    "linspace": lambda xp, start, stop, *, num=50, **options: xp.linspace(
        start, stop, num, **options
    ),
    "eye": lambda xp, *lengths, dtype=None, **options: xp.eye(
        *lengths, dtype=None if dtype is float else dtype, **options
    ),
    # What is told of an array, and computes nothing.
    "size": lambda xp, a, *, axis=None: math.prod(
        a.shape[each] for each in axes_in("size", axis, a.ndim)
    ),
    "iscomplexobj": lambda xp, x: x.dtype.kind is Kind.COMPLEX,
    "isrealobj": lambda xp, x: x.dtype.kind is not Kind.COMPLEX,
    "array_repr": lambda xp, arr: repr(arr),
    "array_str": lambda xp, a: str(a),
    "shares_memory": _of_memory(np.shares_memory),
    "may_share_memory": _of_memory(np.may_share_memory),
    # What computes.
    "isreal": lambda xp, x: xp.logical_not(iscomplex(xp, x)),
    "allclose": lambda xp, a, b, **options: bool(xp.all(isclose(xp, a, b, **options))),
    "ptp": lambda xp, a, **options: xp.max(a, **options) - xp.min(a, **options),
    "percentile": lambda xp, a, q, **options: xp.extras.quantile(a, _hundredths(xp, q), **options),
    "nanpercentile": lambda xp, a, q, **options: xp.extras.nanquantile(
        a, _hundredths(xp, q), **options
    ),
    "outer": lambda xp, a, b: xp.linalg.outer(
        *(ravel(xp, array_of(xp, x, "outer")) for x in (a, b))
    ),
    "trace": lambda xp, a, *, offset=0, axis1=0, axis2=1, dtype=None: xp.linalg.trace(
        xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset, dtype=dtype
    ),
    "linalg.qr": lambda xp, a, *, mode="reduced": (
        xp.linalg.qr(a).R if mode == "r" else xp.linalg.qr(a, mode=mode)
    ),
    "linalg.svd": lambda xp, a, *, full_matrices=True, compute_uv=True: (
        xp.linalg.svd(a, full_matrices=full_matrices) if compute_uv else xp.linalg.svdvals(a)
    ),
    **{f"fft.{name}2": _over_two(f"{name}n") for name in ("fft", "ifft", "rfft", "irfft")},
}
