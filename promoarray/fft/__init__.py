"""Extension "Fourier transform functions", ``pa.fft``.

The policy decides the dtypes. Most policies compute float32 and narrower in complex64, the
rest in complex128; NumPy 1 computes everything in double precision, PyTorch, Paddle and aclnn make
integers float32, TensorFlow and the standard take complex numbers where complex ones are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Literal

from promoarray.core.fast_path import fast_call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.errors import end_at_callers, quoted
from promoarray.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from promoarray.functions._docs import template
from promoarray.other_names import missing
from promoarray.parray import AnyArray, PArray

__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft"]
__all__ += ["irfft", "irfftn", "rfft", "rfftfreq", "rfftn"]

Lengths = Sequence[int] | None
Norm = Literal["backward", "ortho", "forward"]
_NORMS = "backward", "ortho", "forward"

_RUN = {
    name: fast_call(name, *options, "norm", texts=_NORMS)
    for options, names in {
        ("n", "axis"): ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"),
        ("s", "axes"): ("fftn", "ifftn", "rfftn", "irfftn"),
    }.items()
    for name in names
}


_along = template(
    """
    Parameters
    ----------
    x : array, shape (..., N)
        {x}
    n : int, optional
        {n}
    axis : int
        The axis to transform. Default: the last.
    norm : {"backward", "ortho", "forward"}
        Where to scale by ``1/n``: in the inverse transform, by its square root in both, or in the
        forward transform.

    Returns
    -------
    PArray
        Of the shape of ``x`` but for the axis.
        {result}

    Raises
    ------
    PromotionError
        {refuses}
    ValueError
        If there is no such axis or ``norm``, or ``n`` is less than 1.
    """,
    x="Of complex numbers, or real ones where the policy takes them.",
    n="How many elements to transform: zeros are appended, or elements left out. Default: all.",
)
_over = template(
    """
    Parameters
    ----------
    x : array, any shape
        {x}
    s : sequence of int, optional
        {s}
    axes : sequence of int, optional
        The axes to transform. Default: the last ``len(s)``, or all.
    norm : {"backward", "ortho", "forward"}
        As in ``fft``: where to scale.

    Returns
    -------
    PArray
        Of the shape of ``x`` but for the axes.
        {result}

    Raises
    ------
    PromotionError
        If the policy does not transform the dtype, as for the transform along one axis.
    ValueError
        If there is no such axis or ``norm``, a number of elements is less than 1, or ``s`` and
        ``axes`` differ in length.
    """,
    x="Of complex numbers, or real ones where the policy takes them.",
    s="How many elements to transform along each axis; -1 for all of it. Default: all.",
)


@_along(
    result=(
        "Complex, with ``n`` elements along the axis: complex64 of float32 (complex128 in NumPy "
        "1), complex128 of float64. Integers give complex128 in NumPy, complex64 in PyTorch, "
        "Paddle and, up to 32 bits, JAX."
    ),
    refuses=(
        "If the policy does not transform the dtype: float16 in PyTorch, real numbers in "
        "TensorFlow and under ``array_api``."
    ),
)
def fft(x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> PArray:
    """Return the discrete Fourier transform along an axis.

    Examples
    --------
    >>> fft.fft(asarray([1.0, 0.0, 0.0, 0.0], dtype=float32))
    PArray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("fft", x, n, axis, norm)


@_along(
    result="Complex, of the dtype that ``fft`` gives, with ``n`` elements along the axis.",
    refuses="If the policy does not transform the dtype, as for ``fft``.",
)
def ifft(
    x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> PArray:
    """Return the inverse of ``fft``.

    Examples
    --------
    >>> fft.ifft(asarray([4.0, 0.0], dtype=complex64))
    PArray([2.+0.j, 2.+0.j], dtype=complex64)
    """
    return _transform("ifft", x, n, axis, norm)


@_over(result="Complex, of the dtype that ``fft`` gives, with ``s`` elements along the axes.")
def fftn(
    x: AnyArray, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
) -> PArray:
    """Return the discrete Fourier transform along several axes.

    Examples
    --------
    >>> fft.fftn(asarray([[1.0, 2.0], [3.0, 4.0]]))
    PArray([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]], dtype=complex128)
    """
    return _transform_n("fftn", x, s, axes, norm)


@_over(result="Complex, of the dtype that ``fft`` gives, with ``s`` elements along the axes.")
def ifftn(
    x: AnyArray, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
) -> PArray:
    """Return the inverse of ``fftn``.

    Examples
    --------
    >>> fft.ifftn(asarray([[4.0, 0.0], [0.0, 0.0]], dtype=complex64))
    PArray([[1.+0.j, 1.+0.j],
            [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _transform_n("ifftn", x, s, axes, norm)


@_along(
    x="Of real numbers.",
    result=(
        "Complex, with ``n // 2 + 1`` elements along the axis: complex64 of float32 (complex128 "
        "in NumPy 1), complex128 of float64."
    ),
    refuses=(
        "If the policy does not transform the dtype: complex numbers, and float16 and bfloat16 "
        "in JAX and PyTorch."
    ),
)
def rfft(
    x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> PArray:
    """Return the discrete Fourier transform of real numbers, its first half.

    The second half is the complex conjugate of the first, reversed.

    Examples
    --------
    >>> fft.rfft(asarray([1.0, 0.0, 0.0, 0.0]))
    PArray([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _transform("rfft", x, n, axis, norm)


@_along(
    x="The first half of a transform.",
    n="How many elements the result has. Default: ``2 * (N - 1)``.",
    result=(
        "Real, with ``n`` elements along the axis: float32 of complex64 (float64 in NumPy 1), "
        "float64 of complex128."
    ),
    refuses=(
        "If the policy does not transform the dtype: real numbers in TensorFlow and under "
        "``array_api``, integers in Paddle."
    ),
)
def irfft(
    x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> PArray:
    """Return the inverse of ``rfft``.

    Examples
    --------
    >>> fft.irfft(asarray([4.0, 0.0, 0.0], dtype=complex64))
    PArray([1., 1., 1., 1.], dtype=float32)
    """
    return _transform("irfft", x, n, axis, norm)


@_over(
    x="Of real numbers.",
    result=(
        "Complex, of the dtype that ``rfft`` gives. The last of the axes has ``s[-1] // 2 + 1`` "
        "elements, the others have ``s``."
    ),
)
def rfftn(
    x: AnyArray, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
) -> PArray:
    """Return ``rfft`` along the last of several axes and ``fft`` along the others.

    Examples
    --------
    >>> fft.rfftn(zeros((4, 6), dtype=float32)).shape
    (4, 4)
    """
    return _transform_n("rfftn", x, s, axes, norm)


@_over(
    x="The first half of a transform, along the last of the axes.",
    s=(
        "How many elements the result has along each axis. Default: all, and of the last axis, "
        "of length N, ``2 * (N - 1)``."
    ),
    result="Real, of the dtype that ``irfft`` gives, with ``s`` elements along the axes.",
)
def irfftn(
    x: AnyArray, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
) -> PArray:
    """Return the inverse of ``rfftn``.

    Examples
    --------
    >>> fft.irfftn(zeros((4, 4), dtype=complex64)).shape
    (4, 6)
    """
    return _transform_n("irfftn", x, s, axes, norm)


@_along(
    x="The first half of the numbers; the second is its complex conjugate, reversed.",
    n="How many elements the result has. Default: ``2 * (N - 1)``.",
    result="Real, of the dtype that ``irfft`` gives, with ``n`` elements along the axis.",
    refuses="If the policy does not transform the dtype, as for ``irfft``.",
)
def hfft(
    x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> PArray:
    """Return the real Fourier transform of numbers whose second half mirrors the first.

    Examples
    --------
    >>> fft.hfft(asarray([1.0, 0.0, 0.0], dtype=complex64))
    PArray([1., 1., 1., 1.], dtype=float32)
    """
    return _transform("hfft", x, n, axis, norm)


@_along(
    x="Of real numbers.",
    result=(
        "Complex, of the dtype that ``rfft`` gives, with ``n // 2 + 1`` elements along the axis."
    ),
    refuses="If the policy does not transform the dtype, as for ``rfft``.",
)
def ihfft(
    x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> PArray:
    """Return the inverse of ``hfft``.

    Examples
    --------
    >>> out = fft.ihfft(asarray([4.0, 0.0, 0.0, 0.0], dtype=float32))
    >>> out.shape, out.dtype
    ((3,), promoarray.complex64)
    """
    return _transform("ihfft", x, n, axis, norm)


def _transform(name: str, x: Any, n: int | None, axis: int, norm: str) -> PArray:
    array = as_array(x, name)
    _check(name, array, (axis,), norm)
    if n is not None and n < 1:
        raise ValueError(f"{name}: n must be 1 or more, not {quoted(n)}")
    if n is None and not array.shape[axis]:
        raise ValueError(f"{name}: axis {axis} has length 0; write n= to pad it with zeros")
    return _RUN[name](array, n=None if n is None else index(n), axis=axis, norm=norm)


def _transform_n(name: str, x: Any, s: Lengths, axes: Lengths, norm: str) -> PArray:
    array = as_array(x, name)
    if not array.ndim and "rfft" in name:  # the others have nothing to do
        raise ValueError(f"{name} takes an array of one axis or more")
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(array.ndim)
    _check(name, array, tuple(axes), norm)
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: s has {len(s)} lengths for {len(axes)} axes")
    return _RUN[name](array, s=None if s is None else tuple(s), axes=tuple(axes), norm=norm)


def _check(name: str, array: PArray, axes: tuple[int, ...], norm: str) -> None:
    for axis in axes:  # one may be named twice: it is transformed again
        axis_in(name, axis, array.ndim)
    if norm not in _NORMS:
        raise ValueError(f"{name}: norm is 'backward', 'ortho' or 'forward', not {quoted(norm)}")


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


end_at_callers(globals(), __all__)
