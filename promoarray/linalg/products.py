"""Products beyond those of the main namespace, diagonals and traces."""

from __future__ import annotations

from operator import index

from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_call, fast_function
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.errors import quoted
from promoarray.functions.data_types import astype
from promoarray.linalg.arguments import matrices, of_matrices, square
from promoarray.linalg.systems import inv
from promoarray.parray import AnyArray, AnyDType, PArray

_cross, _matrix_power = fast_call("cross", "axis"), fast_call("matrix_power", "n")
_diagonal, _trace = fast_call("diagonal", "offset"), fast_call("trace", "offset", "axis1", "axis2")


@fast_function("outer")
def outer(x1: AnyArray, x2: AnyArray, /) -> PArray:
    """Multiply every element of one vector with every one of another.

    Parameters
    ----------
    x1 : array, shape (M,)
    x2 : array, shape (N,)

    Returns
    -------
    PArray, shape (M, N)
        Dtypes promote as in ``multiply`` under most policies; Paddle 2.6 takes two of one dtype.

    Raises
    ------
    PromotionError
        If the policy does not multiply these dtypes.
    ValueError
        If one is not one-dimensional.

    Examples
    --------
    >>> linalg.outer(asarray([1, 2], dtype=uint8), asarray([10, -1], dtype=int8))
    PArray([[10, -1],
            [20, -2]], dtype=int16)
    """
    return call("outer", x1, x2)


def cross(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> PArray:
    """Return the cross product of vectors of three elements.

    Parameters
    ----------
    x1, x2 : array, shape (..., 3)
        With three elements along the axis; the other axes broadcast.
    axis : int
        Negative, counted from the last, if the arrays differ in their number of axes.

    Returns
    -------
    PArray, shape (..., 3)
        Dtypes promote as in ``subtract`` under NumPy, JAX and, of floats, Paddle 3.3;
        PyTorch, TensorFlow and MindSpore take two of one dtype.

    Raises
    ------
    PromotionError
        If the policy does not multiply these dtypes.
    ValueError
        If there are not three elements.

    Examples
    --------
    >>> linalg.cross(asarray([1, 0, 0]), asarray([0, 1, 0]))
    PArray([0, 0, 1], dtype=int64)
    """
    arrays = [as_array(x, "cross") for x in (x1, x2)]
    if axis >= 0 and arrays[0].ndim != arrays[1].ndim:
        raise ValueError(
            f"cross: x1 has {arrays[0].ndim} axes, x2 has {arrays[1].ndim}; write axis negative"
        )
    for x in arrays:
        if x.shape[axis_in("cross", axis, x.ndim)] != 3:
            raise ValueError(f"cross takes 3 elements along axis {axis}, not shape {x.shape}")
    return _cross(*arrays, axis=axis)


def matrix_power(x: AnyArray, n: int, /) -> PArray:
    """Multiply square matrices with themselves.

    Parameters
    ----------
    x : array, shape (..., M, M)
    n : int
        0 gives identities, a negative one powers of the inverse.

    Returns
    -------
    PArray, shape (..., M, M)
        Of the dtype that ``x @ x`` has, or for a negative ``n`` that of ``inv(x)``. Paddle and the
        standard take no integers.

    Raises
    ------
    PromotionError
        If the policy does not multiply matrices of the dtype.
    TypeError
        If ``n`` is no int.
    ValueError
        If a matrix is not square, or has no inverse.

    Examples
    --------
    >>> linalg.matrix_power(asarray([[1, 1], [0, 1]], dtype=int8), 3)
    PArray([[1, 3],
            [0, 1]], dtype=int8)
    """
    array = square(x, "matrix_power")
    try:
        power = index(n)
    except TypeError:
        raise TypeError(f"matrix_power takes an int, not {quoted(n)}") from None
    if power < 0:
        array = inv(array)
    return _matrix_power(array, n=abs(power))


def diagonal(x: AnyArray, /, *, offset: int = 0) -> PArray:
    """Return a diagonal of matrices.

    Parameters
    ----------
    x : array, shape (..., M, N)
        Of any dtype the policy has; the result keeps it.
    offset : int
        0 is the main diagonal, 1 the next above.

    Returns
    -------
    PArray, shape (..., K)
        A copy; K is the length of the diagonal. JAX's is never weakly typed.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    Examples
    --------
    >>> linalg.diagonal(asarray([[1, 2], [3, 4]], dtype=int4))
    PArray([1, 4], dtype=int4)
    """
    return _diagonal(matrices(x, "diagonal"), offset=offset)


@of_matrices(
    option="""
    offset : int
        0 is the main diagonal, 1 the next above.
    dtype : dtype_like, optional
        Default: the dtype that the policy sums ``x`` up in; see ``sum``.
    """,
    kind="PArray, shape (...)",
    result="Of ``dtype``.",
    refuses="If the policy sums up no such dtype.",
)
def trace(x: AnyArray, /, *, offset: int = 0, dtype: AnyDType | None = None) -> PArray:
    """Sum a diagonal of matrices.

    Examples
    --------
    >>> x = asarray([[100, 0], [0, 100]], dtype=int8)
    >>> linalg.trace(x)
    PArray(200, dtype=int64)
    >>> with policy("paddle"):
    ...     linalg.trace(x)
    PArray(-56, dtype=int8)
    """
    array = matrices(x, "trace")
    if dtype is not None:
        array = astype(array, dtype, copy=False)
    out = _trace(array, offset=offset, axis1=-2, axis2=-1)
    return out if dtype is None else astype(out, dtype, copy=False)
