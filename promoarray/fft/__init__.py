"""Extension "Fourier transform functions", ``pa.fft``.

What goes in and out is the policy's business. Most compute float32 and narrower in complex64, the
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


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    x : array
    n : int, optional
        How many elements to transform: more than there are are zeros, the rest is left out. By
        default as many as there are.
    axis : int
    norm : {"backward", "ortho", "forward"}
        Where to divide by ``n``: in the inverse, by its square root in both, or here.

    Returns
    -------
    PArray
        Complex, with ``n`` elements along the axis.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype: float16 in PyTorch, real numbers in TensorFlow
        and under ``array_api``.
    ValueError
        If there is no such axis, ``n`` is no count, or ``norm`` none of the three.

    Notes
    -----
    float32 becomes complex64 (complex128 in NumPy 1), integers complex128 in NumPy, complex64 in
    PyTorch, Paddle and, up to 32 bits, JAX.
    """
    return _along("fft", x, n, axis, norm)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the inverse of ``fft``; parameters, dtypes and errors are the same.

    Parameters
    ----------
    x : array
    n, axis, norm
        As in ``fft``.

    Returns
    -------
    PArray
        Complex, of the dtype that ``fft`` has.
    """
    return _along("ifft", x, n, axis, norm)


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
    x : array
    s : sequence of int, optional
        How many elements to transform along each; -1 for as many as there are.
    axes : sequence of int, optional
        By default the last ``len(s)``, or all.
    norm : {"backward", "ortho", "forward"}
        As in ``fft``.

    Returns
    -------
    PArray
        Of the dtype of ``fft(x)``, whatever the policy.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype.
    ValueError
        If ``s`` and ``axes`` are not of one length, or there is no such axis.
    """
    return _over("fftn", x, s, axes, norm)


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return the inverse of ``fftn``; parameters, dtypes and errors are the same.

    Parameters
    ----------
    x : array
    s, axes, norm
        As in ``fftn``.

    Returns
    -------
    PArray
        Complex, of the dtype that ``fftn`` has.
    """
    return _over("ifftn", x, s, axes, norm)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the first half of the Fourier transform of real numbers, which tells it all.

    Parameters
    ----------
    x : array
        Of real numbers.
    n, axis, norm
        As in ``fft``.

    Returns
    -------
    PArray
        Complex, with ``n // 2 + 1`` elements along the axis.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype: complex numbers, and float16 and bfloat16 in
        JAX and PyTorch.
    ValueError
        As in ``fft``.
    """
    return _along("rfft", x, n, axis, norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the inverse of ``rfft``.

    Parameters
    ----------
    x : array
        The first half of a transform.
    n : int, optional
        How many elements the result has; by default ``2 * (m - 1)`` of ``m``.
    axis, norm
        As in ``fft``.

    Returns
    -------
    PArray
        Real: float32 from complex64, float64 from complex128.

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype: real numbers in TensorFlow and under
        ``array_api``, integers in Paddle.
    ValueError
        As in ``fft``.
    """
    return _along("irfft", x, n, axis, norm)


def rfftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return ``rfft`` along the last of several axes and ``fft`` along the others; see both.

    Parameters
    ----------
    x : array
    s, axes, norm
        As in ``fftn``.

    Returns
    -------
    PArray
        Complex, ``n // 2 + 1`` long along the last axis.
    """
    return _over("rfftn", x, s, axes, norm)


def irfftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> PArray:
    """Return the inverse of ``rfftn``; dtypes are as in ``irfft``.

    Parameters
    ----------
    x : array
    s : sequence of int, optional
        How many elements the result has along each axis.
    axes, norm
        As in ``fftn``.

    Returns
    -------
    PArray
        Real.
    """
    return _over("irfftn", x, s, axes, norm)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the real transform of numbers of which the second half mirrors the first.

    Dtypes and errors are as in ``irfft``.

    Parameters
    ----------
    x : array
    n : int, optional
        How many elements the result has; by default ``2 * (m - 1)`` of ``m``.
    axis, norm
        As in ``fft``.

    Returns
    -------
    PArray
        Real.
    """
    return _along("hfft", x, n, axis, norm)


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the inverse of ``hfft``; dtypes and the length of the result are as in ``rfft``.

    Parameters
    ----------
    x : array
    n, axis, norm
        As in ``fft``.

    Returns
    -------
    PArray
        Complex, ``n // 2 + 1`` long.
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
