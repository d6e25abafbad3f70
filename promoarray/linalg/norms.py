"""Norms and ranks."""

from __future__ import annotations

from typing import Any, Literal

from promoarray.core.fast_path import fast_call, names_keywords
from promoarray.core.operands import as_array
from promoarray.core.shapes import axes_in, number
from promoarray.errors import quoted
from promoarray.functions.manipulation import moveaxis
from promoarray.linalg.arguments import RTOL, matrices, of_matrices, tolerance
from promoarray.parray import AnyArray, PArray

_matrix_norm = fast_call("matrix_norm", "keepdims", "ord", texts=("fro", "nuc"))
_vector_norm = fast_call("vector_norm", "axis", "keepdims", "ord")
_matrix_rank = fast_call("matrix_rank", "rtol")


@of_matrices(
    option="""
    keepdims : bool
        Keep the last two axes with length 1.
    ord : {"fro", "nuc", 1, 2, inf, -1, -2, -inf}
        Frobenius, nuclear, the largest sum of a column, the largest singular value, the largest sum
        of a row; with a minus sign the smallest ones.
    """,
    kind="PArray, shape (...)",
    result=(
        "Real, except in TensorFlow, Paddle and MindSpore: of the dtype of a complex ``x``. "
        "Integers have norms in NumPy, JAX and MindSpore, and as integers in ONNX."
    ),
    refuses="If the policy has no norm of the dtype.",
    invalid="If there are fewer than two axes, or no such norm.",
)
@names_keywords
def matrix_norm(
    x: AnyArray, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> PArray:
    """Return a norm of matrices.

    Examples
    --------
    >>> linalg.matrix_norm(asarray([[3.0, 0.0], [0.0, 4.0]]))
    PArray(5., dtype=float64)
    """
    array = matrices(x, "matrix_norm")
    if ord is not None and ord not in ("fro", "nuc", 1, 2, -1, -2, float("inf"), -float("inf")):
        raise ValueError(f"matrix_norm: ord is 'fro', 'nuc', ±1, ±2 or ±inf, not {quoted(ord)}")
    return _matrix_norm(array, keepdims=keepdims, ord=ord)


@names_keywords
def vector_norm(
    x: AnyArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> PArray:
    """Return a norm of vectors.

    Parameters
    ----------
    x : array, any shape
    axis : int or tuple of int, optional
        The axes that make up a vector. Default: all.
    keepdims : bool
        Keep them with length 1.
    ord : int or float
        The exponent p of ``sum(abs(x) ** p) ** (1 / p)``; inf for the largest element, -inf for the
        smallest, 0 for the number of elements that are not 0.

    Returns
    -------
    PArray
        The shape of ``x`` without the axes. Real; dtypes as in ``matrix_norm``, but JAX makes
        float64 of every integer here.

    Raises
    ------
    PromotionError
        If the policy has no norm of the dtype.
    ValueError
        If there is no such axis, or the smallest of no elements is asked for.

    Examples
    --------
    >>> linalg.vector_norm(asarray([3.0, 4.0], dtype=float32))
    PArray(5., dtype=float32)
    """
    array = as_array(x, "vector_norm")
    axes = axes_in("vector_norm", axis, array.ndim)
    power = number("vector_norm", "ord", ord)
    return _vector_norm(array, axis=axes, keepdims=keepdims, ord=power)


@names_keywords
def norm(
    x: AnyArray,
    ord: float | Literal["fro", "nuc"] | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> PArray:
    """Return the norm of vectors or matrices, as ``numpy.linalg.norm`` does.

    Parameters
    ----------
    x : array, any shape
    ord : optional
        As of ``vector_norm`` and ``matrix_norm``.
    axis : int or tuple of int, optional
        One axis for vectors, two for matrices. Default: all axes; without ``ord`` as one vector.
    keepdims : bool
        Keep them with length 1.

    Returns
    -------
    PArray
        The shape of ``x`` without the axes.

    Raises
    ------
    PromotionError
        If the policy has no norm of the dtype.
    ValueError
        If there are three axes or more, or no such norm.

    Examples
    --------
    >>> linalg.norm(asarray([3.0, 4.0], dtype=float32))
    PArray(5., dtype=float32)
    """
    array = as_array(x, "norm")
    if ord is None and axis is None:
        return vector_norm(array, keepdims=keepdims)
    axes = axes_in("norm", axis, array.ndim)
    if len(axes) == 1:
        power = number("norm", "ord", 2 if ord is None else ord)
        return vector_norm(array, axis=axes[0], keepdims=keepdims, ord=power)
    if len(axes) != 2:
        raise ValueError(f"norm is of one axis or two, not of {len(axes)}; write axis=")
    last = moveaxis(array, axes, (-2, -1))
    found = matrix_norm(last, keepdims=keepdims, ord="fro" if ord is None else ord)
    return moveaxis(found, (-2, -1), axes) if keepdims else found


@of_matrices(
    option=RTOL,
    kind="PArray, shape (...)",
    result="Of int64; int32 in JAX without x64, TensorFlow, MindSpore and Paddle 2.6.",
)
def matrix_rank(x: AnyArray, /, *, rtol: Any = None) -> PArray:
    """Count the singular values of matrices that are not nearly 0.

    Examples
    --------
    >>> linalg.matrix_rank(asarray([[1.0, 2.0], [2.0, 4.0]]))
    PArray(1, dtype=int64)
    """
    array = matrices(x, "matrix_rank")
    return _matrix_rank(array, rtol=tolerance(rtol, array))
