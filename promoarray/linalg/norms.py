"""Norms and ranks."""

from __future__ import annotations

from typing import Any, Literal

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axes_in
from promoarray.linalg.arguments import matrices, tolerance
from promoarray.parray import PArray


def matrix_norm(
    x: Any, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> PArray:
    """Return a norm of matrices.

    Parameters
    ----------
    x : array
        A stack of matrices.
    keepdims : bool
        Keep the last two axes with length 1.
    ord : {"fro", "nuc", 1, 2, inf, -1, -2, -inf}
        Frobenius, nuclear, the largest sum of a column, the largest singular value, the largest sum
        of a row, and with - the smallest ones.

    Returns
    -------
    PArray
        Real, but in TensorFlow, Paddle and MindSpore of the dtype of a complex ``x``. Integers have
        norms in NumPy, JAX and MindSpore, and as integers in ONNX.

    Raises
    ------
    PromotionError
        If the policy has no norm of the dtype.
    ValueError
        If there are fewer than two axes, or no such norm.
    """
    array = matrices(x, "matrix_norm")
    if ord is not None and ord not in ("fro", "nuc", 1, 2, -1, -2, float("inf"), -float("inf")):
        raise ValueError(f"matrix_norm: ord is 'fro', 'nuc', ±1, ±2 or ±inf, not {ord!r}")
    return call("matrix_norm", array, keepdims=keepdims, ord=ord)


def vector_norm(
    x: Any,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> PArray:
    """Return a norm of vectors.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        The axes that make up a vector, all by default.
    keepdims : bool
        Keep them with length 1.
    ord : int or float
        The root of the sum of which powers; inf for the largest element, -inf for the smallest, 0
        for how many are not 0.

    Returns
    -------
    PArray
        Real. Dtypes as in ``matrix_norm``; JAX makes float64 of every integer here.

    Raises
    ------
    PromotionError
        If the policy has no norm of the dtype.
    ValueError
        If there is no such axis, or the smallest of no elements is asked for.
    """
    array = as_array(x, "vector_norm")
    axes = axes_in("vector_norm", axis, array.ndim)
    return call("vector_norm", array, axis=axes, keepdims=keepdims, ord=ord)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> PArray:
    """Count the singular values of matrices that are not nearly 0.

    Parameters
    ----------
    x : array
        A stack of matrices.
    rtol : float or array, optional
        As in ``pinv``.

    Returns
    -------
    PArray
        Of int64; int32 in JAX without x64, TensorFlow and Paddle 2.6.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If there are fewer than two axes.
    """
    array = matrices(x, "matrix_rank")
    return call("matrix_rank", array, rtol=tolerance(rtol, array))
