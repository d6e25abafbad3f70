"""Chapter "linear algebra functions": the four of the main namespace; the others are ``pa.linalg``.

Narrow floats are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence

from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_function
from promoarray.core.operands import as_array
from promoarray.errors import ends_at_caller
from promoarray.parray import AnyArray, PArray

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@fast_function("matmul")
def matmul(x1: AnyArray, x2: AnyArray, /) -> PArray:
    """Multiply matrices, ``x1 @ x2``.

    Parameters
    ----------
    x1 : array, shape (..., M, K) or (K,)
    x2 : array, shape (..., K, N) or (K,)
        Leading axes broadcast.

    Returns
    -------
    PArray, shape (..., M, N)
        Without the axis M or N where that operand is a vector. NumPy and JAX promote the dtypes.

    Raises
    ------
    PromotionError
        If the policy does not multiply matrices of these dtypes: PyTorch, Paddle and TensorFlow
        take two of one dtype.
    ValueError
        If the shapes do not match, or an array is 0-d.

    Examples
    --------
    >>> matmul(asarray([[1, 2], [3, 4]]), asarray([1.0, 0.5]))
    PArray([2., 5.], dtype=float64)
    """
    return call("matmul", x1, x2)


@ends_at_caller
def matrix_transpose(x: AnyArray, /) -> PArray:
    """Return the array with its last two axes swapped, of any dtype under every policy.

    Parameters
    ----------
    x : array, shape (..., M, N)

    Returns
    -------
    PArray, shape (..., N, M)
        A view, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    Examples
    --------
    >>> matrix_transpose(asarray([[1, 2, 3]], dtype=int4))
    PArray([[1],
            [2],
            [3]], dtype=int4)
    """
    return as_array(x, "matrix_transpose").mT


@fast_function("vecdot", axis=-1)
def vecdot(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> PArray:
    """Multiply vectors along an axis, the first conjugated.

    Parameters
    ----------
    x1, x2 : array, shape (..., N)
        Of one length along the axis; the others broadcast.
    axis : int
        Default: the last.

    Returns
    -------
    PArray, shape (...)
        MindSpore sums narrow integers up in int64, Paddle 3.3 bools and int32, the others keep the
        promoted dtype; PyTorch takes floats and complex numbers only.

    Raises
    ------
    PromotionError
        If the policy does not multiply these dtypes.
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> x = asarray([100, 100], dtype=int8)
    >>> vecdot(x, x)
    PArray(32, dtype=int8)
    >>> with policy("paddle"):
    ...     vecdot(x, x)
    PArray(32, dtype=int8)
    """
    return call("vecdot", x1, x2, axis=axis)


@fast_function("tensordot", axes=2)
def tensordot(
    x1: AnyArray, x2: AnyArray, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> PArray:
    """Contract axes of two arrays.

    Parameters
    ----------
    x1, x2 : array, any shape
    axes : int, or two sequences of int
        How many of the last axes of ``x1`` are paired with the first of ``x2``, or which axes.

    Returns
    -------
    PArray
        With the remaining axes of ``x1``, then those of ``x2``. Dtypes promote as in ``matmul``.

    Raises
    ------
    PromotionError
        If the policy does not multiply these dtypes.
    ValueError
        If the lengths of the axes differ.

    Examples
    --------
    >>> tensordot(asarray([[1, 2], [3, 4]]), asarray([1.0, 0.5]), axes=1)
    PArray([2., 5.], dtype=float64)
    """
    return call("tensordot", x1, x2, axes=axes)
