"""Frequencies of the Fourier transforms, and the frequency zero in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import on_device
from promoarray.core.cast import convert
from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.dtypes import Kind, as_dtype
from promoarray.functions._creation import default, notified
from promoarray.parray import PArray
from promoarray.promotion.registry import get_policy


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: object = None, device: str | None = None
) -> PArray:
    """Return the frequencies that the elements of ``fft`` belong to.

    Parameters
    ----------
    n : int
        How many elements were transformed.
    d : float
        The distance between them.
    dtype : dtype_like, optional
        A real floating-point one; by default the policy's for floats: float64 in NumPy and JAX with
        x64, float32 in PyTorch, TensorFlow and Paddle.
    device : str, optional
        By default the CPU.

    Returns
    -------
    PArray
        One-dimensional, of ``n`` elements.

    Raises
    ------
    TypeError
        If ``dtype`` is no real float.
    ValueError
        If ``n`` is no positive number.
    ZeroDivisionError
        If ``d`` is 0.
    """
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: object = None, device: str | None = None
) -> PArray:
    """Return the frequencies of ``rfft``, ``n // 2 + 1`` of them; see ``fftfreq``.

    Parameters
    ----------
    n : int
        How many elements were transformed.
    d : float
        Their distance.
    dtype : dtype_like, optional
        By default the policy's for floats.
    device : str, optional
        By default the CPU.

    Returns
    -------
    PArray
        One-dimensional.
    """
    return _frequencies("rfftfreq", n, d, dtype, device)


def fftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> PArray:
    """Move the frequency zero to the middle.

    Parameters
    ----------
    x : array
        Of any dtype the policy has; the result keeps it.
    axes : int or sequence of int, optional
        By default all.

    Returns
    -------
    PArray
    """
    return call("fftshift", as_array(x, "fftshift"), axes=axes)


def ifftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> PArray:
    """Return the inverse of ``fftshift``, which it is not for axes of odd length.

    Parameters
    ----------
    x : array
        Of any dtype the policy has; the result keeps it.
    axes : int or sequence of int, optional
        By default all.

    Returns
    -------
    PArray
        Of the shape and dtype of ``x``.
    """
    return call("ifftshift", as_array(x, "ifftshift"), axes=axes)


def _frequencies(name: str, n: int, d: float, dtype: object, device: str | None) -> PArray:
    if dtype is not None and as_dtype(dtype).kind is not Kind.FLOAT:
        raise TypeError(f"{name} takes a real floating-point dtype, not {as_dtype(dtype).name}")
    if n < 1:
        raise ValueError(f"{name}: n must be 1 or more, not {n}")
    if d == 0:
        raise ZeroDivisionError(
            f"{name}: d, the distance between samples, must not be 0; write d=1.0"
        )
    values = getattr(on_device(device).xp.fft, name)(n, d=d, device=device)
    target = default(dt.weak_float, dtype)
    made = PArray._wrap(convert(get_policy(), values, dt.float64, target), target)
    return notified(made, dt.weak_float, dtype)
