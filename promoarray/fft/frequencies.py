"""Frequencies of the Fourier transforms, and the frequency zero in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import is_lazy, on_device
from promoarray.core.cast import convert
from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.dtypes import Kind, as_dtype
from promoarray.errors import quoted
from promoarray.functions._creation import default, notified
from promoarray.functions._docs import template
from promoarray.kernels.float_state import in_default_float_state
from promoarray.parray import AnyArray, AnyDType, PArray
from promoarray.promotion.in_force import get_policy

_frequencies_of = template(
    """
    Parameters
    ----------
    n : int
        How many elements were transformed.
    d : float
        The distance between samples.
    dtype : dtype_like, optional
        A real float dtype. Default: the policy's default float, float64 in NumPy and JAX with x64,
        float32 in PyTorch, TensorFlow and Paddle.
    device : str, optional
        Default: the CPU.

    Returns
    -------
    PArray, shape (K,)
        Of ``dtype``:
        {elements}

    Raises
    ------
    TypeError
        If ``dtype`` is no real float.
    ValueError
        If ``n`` is less than 1.
    ZeroDivisionError
        If ``d`` is 0.
    """
)
_shift = template(
    """
    Parameters
    ----------
    x : array, any shape
        Of any dtype the policy has.
    axes : int or sequence of int, optional
        The axes to shift. Default: all.

    Returns
    -------
    PArray
        Of the shape and dtype of ``x``.

    Raises
    ------
    ValueError
        If there is no such axis.
    """
)


@_frequencies_of(elements="0 and the positive frequencies, then the negative ones, ``n`` in all.")
def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: AnyDType | None = None, device: str | None = None
) -> PArray:
    """Return the frequencies that the elements of ``fft`` belong to.

    Examples
    --------
    >>> fft.fftfreq(4, d=0.5)
    PArray([ 0. ,  0.5, -1. , -0.5], dtype=float64)
    """
    return _frequencies("fftfreq", n, d, dtype, device)


@_frequencies_of(elements="0 and the positive frequencies, ``n // 2 + 1`` in all.")
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: AnyDType | None = None, device: str | None = None
) -> PArray:
    """Return the frequencies that the elements of ``rfft`` belong to.

    Examples
    --------
    >>> fft.rfftfreq(4, d=0.5)
    PArray([0. , 0.5, 1. ], dtype=float64)
    """
    return _frequencies("rfftfreq", n, d, dtype, device)


@_shift()
def fftshift(x: AnyArray, /, *, axes: int | Sequence[int] | None = None) -> PArray:
    """Move the frequency zero to the middle.

    Examples
    --------
    >>> fft.fftshift(asarray([0, 1, 2, -2, -1]))
    PArray([-2, -1,  0,  1,  2], dtype=int64)
    """
    return _shifted("fftshift", x, axes)


@_shift()
def ifftshift(x: AnyArray, /, *, axes: int | Sequence[int] | None = None) -> PArray:
    """Return the inverse of ``fftshift``; they differ for axes of odd length.

    Examples
    --------
    >>> fft.ifftshift(asarray([-2, -1, 0, 1, 2]))
    PArray([ 0,  1,  2, -2, -1], dtype=int64)
    """
    return _shifted("ifftshift", x, axes)


def _shifted(name: str, x: Any, axes: int | Sequence[int] | None) -> PArray:
    array = as_array(x, name)
    named = range(array.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in named:  # one may be named twice: it is shifted again
        axis_in(name, axis, array.ndim)
    return call(name, array, axes=axes)


@in_default_float_state
def _frequencies(name: str, n: int, d: float, dtype: object, device: str | None) -> PArray:
    if dtype is not None and as_dtype(dtype).kind is not Kind.FLOAT:
        raise TypeError(f"{name} takes a real floating-point dtype, not {as_dtype(dtype).name}")
    if n < 1:
        raise ValueError(f"{name}: n must be 1 or more, not {quoted(n)}")
    if d == 0:
        raise ZeroDivisionError(
            f"{name}: d, the distance between samples, must not be 0; write d=1.0"
        )
    backend = on_device(device)
    values = getattr(backend.xp.fft, name)(n, d=d, device=device)
    if is_lazy(backend):  # which has ranges that are no buffers
        values = backend.from_numpy(values, dt.float64)
    target = default(dt.weak_float, dtype, "zeros")
    made = PArray._wrap(convert(get_policy(), values, dt.float64, target), target)
    return notified(made, dt.weak_float, dtype)
