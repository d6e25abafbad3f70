"""NumPy's functions that are several of ours: comparisons, products, norms and transforms.

Each step is an operation under the policy, refused where the policy refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in
from promoarray.dtypes import INEXACT, Kind
from promoarray.numpy_api.composed import array_of, ravel

# --- Comparisons ---------------------------------------------------------------------------------


def isclose(
    xp: Any, a: Any, b: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    x, y = array_of(xp, a, "isclose"), array_of(xp, b, "isclose")
    if y.dtype.kind not in INEXACT:  # so that no difference of integers wraps
        y = xp.astype(y, xp.result_type(y, 1.0))
    with np.errstate(invalid="ignore"):  # inf - inf
        near = xp.abs(x - y) <= atol + rtol * xp.abs(y)
    close = (near & xp.isfinite(y)) | (x == y)
    if equal_nan and x.dtype.kind in INEXACT:
        close = close | (xp.isnan(x) & xp.isnan(y))
    return close


def allclose(xp: Any, a: Any, b: Any, **options: Any) -> bool:
    return bool(xp.all(isclose(xp, a, b, **options)))


def array_equal(xp: Any, a1: Any, a2: Any, *, equal_nan: bool = False) -> bool:
    x, y = array_of(xp, a1, "array_equal"), array_of(xp, a2, "array_equal")
    if x.shape != y.shape:
        return False
    same = x == y
    if equal_nan and x.dtype.kind in INEXACT and y.dtype.kind in INEXACT:
        same = same | (xp.isnan(x) & xp.isnan(y))
    return bool(xp.all(same))


def iscomplex(xp: Any, x: Any) -> Any:
    array = array_of(xp, x, "iscomplex")
    if array.dtype.kind is not Kind.COMPLEX:
        return xp.zeros_like(array, dtype=xp.bool)
    return xp.imag(array) != 0


def isreal(xp: Any, x: Any) -> Any:
    return xp.logical_not(iscomplex(xp, x))


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


def _one_nan(xp: Any, found: Any) -> Any:
    """The same with one NaN: they come last, each its own."""
    values, indices, inverse, counts = found
    first = values.shape[0] - int(xp.count_nonzero(xp.isnan(values)))
    if first >= values.shape[0] - 1:
        return found
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


def outer(xp: Any, a: Any, b: Any) -> Any:
    return xp.linalg.outer(*(ravel(xp, array_of(xp, x, "outer")) for x in (a, b)))


def vdot(xp: Any, a: Any, b: Any) -> Any:
    return xp.vecdot(*(ravel(xp, array_of(xp, x, "vdot")) for x in (a, b)))


def trace(
    xp: Any, a: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: object = None
) -> Any:
    square = xp.moveaxis(a, (axis1, axis2), (-2, -1))
    return xp.linalg.trace(square, offset=offset, dtype=dtype)


def linalg_norm(
    xp: Any, x: Any, *, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    array = array_of(xp, x, "linalg.norm")
    if ord is None and axis is None:
        return xp.linalg.vector_norm(array, keepdims=keepdims)
    axes = axes_in("linalg.norm", axis, array.ndim)
    if len(axes) == 1:
        order = 2 if ord is None else ord
        return xp.linalg.vector_norm(array, axis=axes[0], keepdims=keepdims, ord=order)
    if len(axes) != 2:
        raise ValueError(f"np.linalg.norm is of one axis or two, not of {len(axes)}; write axis=")
    last = xp.moveaxis(array, axes, (-2, -1))
    order = "fro" if ord is None else ord
    norm = xp.linalg.matrix_norm(last, keepdims=keepdims, ord=order)
    return xp.moveaxis(norm, (-2, -1), axes) if keepdims else norm


def linalg_qr(xp: Any, a: Any, *, mode: str = "reduced") -> Any:
    return xp.linalg.qr(a).R if mode == "r" else xp.linalg.qr(a, mode=mode)


def linalg_svd(xp: Any, a: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    if not compute_uv:
        return xp.linalg.svdvals(a)
    return xp.linalg.svd(a, full_matrices=full_matrices)


def _over_two(name: str) -> Callable[..., Any]:
    """Make a Fourier transform over two axes of that over any number."""

    def function(xp: Any, a: Any, *, axes: Any = (-2, -1), **options: Any) -> Any:
        return getattr(xp.fft, name)(a, axes=axes, **options)

    return function


fft_fft2, fft_ifft2 = _over_two("fftn"), _over_two("ifftn")
fft_rfft2, fft_irfft2 = _over_two("rfftn"), _over_two("irfftn")
