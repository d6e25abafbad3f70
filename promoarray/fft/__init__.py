"""Extension "Fourier transform functions", ``pa.fft``.

The policy decides the dtypes. Most policies compute float32 and narrower in complex64, the
rest in complex128; NumPy 1 computes everything in double precision, PyTorch, Paddle and aclnn make
integers float32, TensorFlow and the standard take complex numbers where complex ones are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from promoarray.functions._docs import sharing
from promoarray.parray import PArray

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]


_shared = sharing(
    """
    n : int, optional
        How many elements to transform: zeros are appended, or elements left out. Default: all.
    axis : int
        The axis to transform. Default: the last.
    s : sequence of int, optional
        How many elements to transform along each axis; -1 for all of it. Default: all.
    axes : sequence of int, optional
        The axes to transform. Default: the last ``len(s)``, or all.
    norm : {"backward", "ortho", "forward"}
        Where to scale by ``1/n``: in the inverse transform, by its square root in both, or in the
        forward transform.
    ValueError
        If there is no such axis or ``norm``, a number of elements is less than 1, or ``s`` and
        ``axes`` differ in length.
    """
)


@_shared
def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    x : array, shape (..., N)
    {n}
    {axis}
    {norm}

    Returns
    -------
    PArray, shape (..., n)
        Complex: complex64 of float32 (complex128 in NumPy 1), complex128 of float64. Integers give
        complex128 in NumPy, complex64 in PyTorch, Paddle and, up to 32 bits, JAX.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype: float16 in PyTorch, real numbers in TensorFlow
        and under ``array_api``.
    {ValueError}

    Examples
    --------
    >>> fft.fft(asarray([1.0, 0.0, 0.0, 0.0], dtype=float32))
    PArray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _along("fft", x, n, axis, norm)


@_shared
def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the inverse of ``fft``.

    Parameters
    ----------
    x : array, shape (..., N)
    {n}
    {axis}
    {norm}

    Returns
    -------
    PArray, shape (..., n)
        Complex, of the dtype that ``fft`` gives.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``fft``.
    {ValueError}
    """
    return _along("ifft", x, n, axis, norm)


@_shared
def fftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return the discrete Fourier transform along several axes.

    Parameters
    ----------
    x : array, any shape
    {s}
    {axes}
    {norm}

    Returns
    -------
    PArray
        Complex, of the dtype that ``fft`` gives; the axes have the lengths ``s``.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``fft``.
    {ValueError}
    """
    return _over("fftn", x, s, axes, norm)


@_shared
def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return the inverse of ``fftn``.

    Parameters
    ----------
    x : array, any shape
    {s}
    {axes}
    {norm}

    Returns
    -------
    PArray
        Complex, of the dtype that ``fft`` gives; the axes have the lengths ``s``.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``fft``.
    {ValueError}
    """
    return _over("ifftn", x, s, axes, norm)


@_shared
def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the discrete Fourier transform of real numbers, its first half.

    The second half is the complex conjugate of the first, reversed.

    Parameters
    ----------
    x : array, shape (..., N)
        Of real numbers.
    {n}
    {axis}
    {norm}

    Returns
    -------
    PArray, shape (..., n // 2 + 1)
        Complex: complex64 of float32 (complex128 in NumPy 1), complex128 of float64.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype: complex numbers, and float16 and bfloat16 in
        JAX and PyTorch.
    {ValueError}

    Examples
    --------
    >>> fft.rfft(asarray([1.0, 0.0, 0.0, 0.0]))
    PArray([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _along("rfft", x, n, axis, norm)


@_shared
def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the inverse of ``rfft``.

    Parameters
    ----------
    x : array, shape (..., M)
        The first half of a transform.
    n : int, optional
        How many elements the result has. Default: ``2 * (M - 1)``.
    {axis}
    {norm}

    Returns
    -------
    PArray, shape (..., n)
        Real: float32 of complex64 (float64 in NumPy 1), float64 of complex128.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype: real numbers in TensorFlow and under
        ``array_api``, integers in Paddle.
    {ValueError}
    """
    return _along("irfft", x, n, axis, norm)


@_shared
def rfftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return ``rfft`` along the last of several axes and ``fft`` along the others.

    Parameters
    ----------
    x : array, any shape
        Of real numbers.
    {s}
    {axes}
    {norm}

    Returns
    -------
    PArray
        Complex, of the dtype that ``rfft`` gives; the last of the axes has the length
        ``s[-1] // 2 + 1``, the others have the lengths ``s``.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``rfft``.
    {ValueError}
    """
    return _over("rfftn", x, s, axes, norm)


@_shared
def irfftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return the inverse of ``rfftn``.

    Parameters
    ----------
    x : array, any shape
        The first half of a transform, along the last of the axes.
    s : sequence of int, optional
        How many elements the result has along each axis. Default: all, and of the last axis, of
        length M, ``2 * (M - 1)``.
    {axes}
    {norm}

    Returns
    -------
    PArray
        Real, of the dtype that ``irfft`` gives; the axes have the lengths ``s``.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``irfft``.
    {ValueError}
    """
    return _over("irfftn", x, s, axes, norm)


@_shared
def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the real Fourier transform of numbers whose second half mirrors the first.

    Parameters
    ----------
    x : array, shape (..., M)
        The first half of the numbers; the second is its complex conjugate, reversed.
    n : int, optional
        How many elements the result has. Default: ``2 * (M - 1)``.
    {axis}
    {norm}

    Returns
    -------
    PArray, shape (..., n)
        Real, of the dtype that ``irfft`` gives.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``irfft``.
    {ValueError}
    """
    return _along("hfft", x, n, axis, norm)


@_shared
def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the inverse of ``hfft``.

    Parameters
    ----------
    x : array, shape (..., N)
        Of real numbers.
    {n}
    {axis}
    {norm}

    Returns
    -------
    PArray, shape (..., n // 2 + 1)
        Complex, of the dtype that ``rfft`` gives.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for ``rfft``.
    {ValueError}
    """
    return _along("ihfft", x, n, axis, norm)


def _along(name: str, x: Any, n: int | None, axis: int, norm: str) -> PArray:
    array = as_array(x, name)
    _check(name, array, (axis,), norm)
    if n is not None and n < 1:
        raise ValueError(f"{name}: n must be 1 or more, not {n}")
    if n is None and not array.shape[axis]:
        raise ValueError(f"{name}: axis {axis} has length 0; write n= to pad it with zeros")
    return call(name, array, n=n, axis=axis, norm=norm)


def _over(
    name: str, x: Any, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str
) -> PArray:
    array = as_array(x, name)
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(array.ndim)
    _check(name, array, tuple(axes), norm)
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: s has {len(s)} lengths for {len(axes)} axes")
    return call(name, array, s=None if s is None else tuple(s), axes=tuple(axes), norm=norm)


def _check(name: str, array: PArray, axes: tuple[int, ...], norm: str) -> None:
    for axis in axes:  # one may be named twice: it is transformed again
        axis_in(name, axis, array.ndim)
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f"{name}: norm is 'backward', 'ortho' or 'forward', not {norm!r}")
