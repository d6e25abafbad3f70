"""Systems of equations, inverses and determinants of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.core.fast_path import fast_call
from promoarray.core.operands import as_array
from promoarray.linalg.arguments import RTOL, matrices, of_matrices, of_square, square, tolerance
from promoarray.parray import AnyArray, PArray

_solve, _inv, _det, _slogdet = map(fast_call, ("solve", "inv", "det", "slogdet"))
_pinv = fast_call("pinv", "rtol")


class SlogdetResult(NamedTuple):
    """What ``slogdet`` answers."""

    sign: PArray
    logabsdet: PArray


def solve(x1: AnyArray, x2: AnyArray, /) -> PArray:
    """Solve ``x1 @ x = x2``.

    Parameters
    ----------
    x1 : array, shape (..., M, M)
    x2 : array, shape (M,) or (..., M, K)
        A vector if it has one axis, else matrices; leading axes broadcast.

    Returns
    -------
    PArray, shape (..., M) or (..., M, K)
        NumPy and JAX promote the dtypes, and make floats of them first; PyTorch, TensorFlow, Paddle
        and MindSpore take two of one dtype.

    Raises
    ------
    PromotionError
        If the policy solves no systems of these dtypes.
    ValueError
        If the shapes do not match, or a matrix is singular.

    Examples
    --------
    >>> linalg.solve(asarray([[2.0, 0.0], [0.0, 4.0]]), asarray([1.0, 1.0]))
    PArray([0.5 , 0.25], dtype=float64)
    """
    stack, sides = square(x1, "solve"), as_array(x2, "solve")
    rows = sides.shape[0 if sides.ndim == 1 else -2] if sides.ndim else "none"
    if rows != stack.shape[-1]:
        raise ValueError(
            f"solve: shapes {stack.shape} and {sides.shape} do not match: "
            f"x1 has {stack.shape[-1]} rows, x2 has {rows}"
        )
    return _solve(stack, sides)


@of_square(
    kind="PArray, shape (..., M, M)",
    result=(
        "Of the dtype of ``x``; of integers float64 in NumPy, a float in JAX. The others refuse "
        "them."
    ),
    invalid="If a matrix is not square or is singular.",
)
def inv(x: AnyArray, /) -> PArray:
    """Return the inverse of square matrices.

    Examples
    --------
    >>> linalg.inv(asarray([[2, 0], [0, 4]]))
    PArray([[0.5 , 0.  ],
            [0.  , 0.25]], dtype=float64)
    """
    return _inv(square(x, "inv"))


@of_matrices(
    option=RTOL,
    kind="PArray, shape (..., N, M)",
    result="Dtypes as in ``inv``. TensorFlow and MindSpore take real floats only.",
)
def pinv(x: AnyArray, /, *, rtol: Any = None) -> PArray:
    """Return the Moore-Penrose pseudo-inverse of matrices.

    Examples
    --------
    >>> linalg.pinv(asarray([[2.0, 0.0], [0.0, 0.0]]))
    PArray([[0.5, 0. ],
            [0. , 0. ]], dtype=float64)
    """
    array = matrices(x, "pinv")
    return _pinv(array, rtol=tolerance(rtol, array))


@of_square(
    kind="PArray, shape (...)",
    result="Dtypes as in ``inv``.",
)
def det(x: AnyArray, /) -> PArray:
    """Return the determinant of square matrices.

    Examples
    --------
    >>> x = asarray([[0, 1], [1, 0]], dtype=int32)
    >>> linalg.det(x)
    PArray(-1., dtype=float64)
    >>> with policy("jax"):
    ...     linalg.det(x)
    PArray(-1., dtype=float32)
    """
    return _det(square(x, "det"))


@of_square(
    kind="SlogdetResult",
    result=(
        "``sign`` and ``logabsdet``, both of shape (...); the latter is -inf where a matrix is "
        "singular. It is real except in TensorFlow, Paddle and MindSpore, which keep the "
        "complex dtype of a complex matrix. Dtypes else as in ``inv``."
    ),
)
def slogdet(x: AnyArray, /) -> SlogdetResult:
    """Return sign and logarithm of the determinant of square matrices.

    Examples
    --------
    >>> linalg.slogdet(asarray([[0.0, 1.0], [1.0, 0.0]], dtype=float32))
    SlogdetResult(sign=PArray(-1., dtype=float32), logabsdet=PArray(0., dtype=float32))
    """
    return SlogdetResult(*_slogdet(square(x, "slogdet")))
