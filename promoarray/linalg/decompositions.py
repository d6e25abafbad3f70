"""Systems of equations, determinants, factors and spectra of matrices."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.linalg.arguments import matrices, square, tolerance
from promoarray.parray import PArray


class EigResult(NamedTuple):
    """What ``eig`` answers."""

    eigenvalues: PArray
    eigenvectors: PArray


class EighResult(NamedTuple):
    """What ``eigh`` answers."""

    eigenvalues: PArray
    eigenvectors: PArray


class QRResult(NamedTuple):
    """What ``qr`` answers."""

    Q: PArray
    R: PArray


class SlogdetResult(NamedTuple):
    """What ``slogdet`` answers."""

    sign: PArray
    logabsdet: PArray


class SVDResult(NamedTuple):
    """What ``svd`` answers."""

    U: PArray
    S: PArray
    Vh: PArray


def solve(x1: Any, x2: Any, /) -> PArray:
    """Solve ``x1 @ x = x2``.

    Parameters
    ----------
    x1 : array
        A stack of square matrices.
    x2 : array
        A vector if it has one axis, else a stack of matrices; stacks broadcast.

    Returns
    -------
    PArray
        NumPy and JAX promote the dtypes, and make floats of them first; the others want two of one
        dtype.

    Raises
    ------
    PromotionError
        If the policy solves no systems of these dtypes.
    ValueError
        If the shapes do not fit, or a matrix is singular.
    """
    stack, sides = square(x1, "solve"), as_array(x2, "solve")
    rows = sides.shape[0 if sides.ndim == 1 else -2] if sides.ndim else "none"
    if rows != stack.shape[-1]:
        raise ValueError(
            f"solve: shapes {stack.shape} and {sides.shape} do not match: "
            f"x1 has {stack.shape[-1]} rows, x2 has {rows}"
        )
    return call("solve", stack, sides)


def inv(x: Any, /) -> PArray:
    """Return the inverse of square matrices.

    Parameters
    ----------
    x : array
        A stack of square matrices.

    Returns
    -------
    PArray
        float64 of integers in NumPy, a float in JAX; the others refuse integers.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If a matrix is not square or singular.
    """
    return call("inv", square(x, "inv"))


def pinv(x: Any, /, *, rtol: Any = None) -> PArray:
    """Return the Moore-Penrose pseudo-inverse of matrices.

    Parameters
    ----------
    x : array
        A stack of matrices.
    rtol : float or array, optional
        Singular values below this part of the largest count as 0. By default the machine epsilon
        times the longer side, whatever the policy.

    Returns
    -------
    PArray
        The sides swapped; dtypes as in ``inv``. TensorFlow and MindSpore take real floats only.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If there are fewer than two axes.
    """
    array = matrices(x, "pinv")
    return call("pinv", array, rtol=tolerance(rtol, array))


def det(x: Any, /) -> PArray:
    """Return the determinant of square matrices; dtypes as in ``inv``.

    Parameters
    ----------
    x : array
        A square matrix or a stack of them.

    Returns
    -------
    PArray
        Of the shape of the stack.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If a matrix is not square.
    """
    return call("det", square(x, "det"))


def slogdet(x: Any, /) -> SlogdetResult:
    """Return sign and logarithm of the determinant of square matrices.

    Parameters
    ----------
    x : array
        A square matrix or a stack of them.

    Returns
    -------
    SlogdetResult
        ``sign``, and ``logabsdet``, real but in TensorFlow and Paddle, which keep the complex dtype
        of a complex matrix; -inf where the matrix is singular. Dtypes else as in ``inv``.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If a matrix is not square.
    """
    return SlogdetResult(*call("slogdet", square(x, "slogdet")))


def cholesky(x: Any, /, *, upper: bool = False) -> PArray:
    """Factor Hermitian, positive-definite matrices into a triangle and its conjugate transpose.

    Parameters
    ----------
    x : array
        A stack of square matrices, of which one triangle is looked at.
    upper : bool
        Return the upper triangle ``U`` with ``x = U^H @ U``, not the lower one.

    Returns
    -------
    PArray
        Dtypes as in ``inv``.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If a matrix is not square or not positive definite.
    """
    return call("cholesky", square(x, "cholesky"), upper=upper)


def qr(x: Any, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Factor matrices into orthonormal columns and an upper triangle.

    Parameters
    ----------
    x : array
        A stack of matrices.
    mode : {"reduced", "complete"}
        Whether ``Q`` has as many columns as the shorter side of ``x``, or as ``x`` has rows.

    Returns
    -------
    QRResult
        ``Q`` and ``R``; dtypes as in ``inv``.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If there are fewer than two axes, or no such mode.
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode is 'reduced' or 'complete', not {mode!r}")
    return QRResult(*call("qr", matrices(x, "qr"), mode=mode))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """Factor matrices into ``U @ diag(S) @ Vh``.

    Parameters
    ----------
    x : array
        A stack of matrices.
    full_matrices : bool
        Whether ``U`` and ``Vh`` are square.

    Returns
    -------
    SVDResult
        ``U``, ``S`` in descending order, ``Vh``. ``S`` is real (in MindSpore of the dtype of
        ``x``); dtypes else as in ``inv``.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If there are fewer than two axes, or NaN keep the computation from its end.
    """
    return SVDResult(*call("svd", matrices(x, "svd"), full_matrices=full_matrices))


def svdvals(x: Any, /) -> PArray:
    """Return the singular values of matrices, in descending order; see ``svd``.

    Parameters
    ----------
    x : array
        A matrix or a stack of them.

    Returns
    -------
    PArray
        Real; a vector for each matrix.
    """
    return call("svdvals", matrices(x, "svdvals"))


def eig(x: Any, /) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    x : array
        A square matrix or a stack of them.

    Returns
    -------
    EigResult
        ``eigenvalues`` in no order and ``eigenvectors`` in columns, complex under every policy, as
        the standard has them: NumPy's own are real where all of them happen to be.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If a matrix is not square or not finite.
    """
    return EigResult(*call("eig", square(x, "eig")))


def eigvals(x: Any, /) -> PArray:
    """Return the eigenvalues of square matrices, which are complex; see ``eig``.

    Parameters
    ----------
    x : array
        A square matrix or a stack of them.

    Returns
    -------
    PArray
        Complex under every policy; a vector for each matrix, in no order.
    """
    return call("eigvals", square(x, "eigvals"))


def eigh(x: Any, /) -> EighResult:
    """Return eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    x : array
        A stack of square matrices, of which the lower triangle is looked at.

    Returns
    -------
    EighResult
        ``eigenvalues`` in ascending order, real (in TensorFlow of the dtype of ``x``), and
        ``eigenvectors`` in columns. Dtypes else as in ``inv``.

    Raises
    ------
    PromotionError
        If the policy does not factor matrices of the dtype.
    ValueError
        If a matrix is not square.
    """
    return EighResult(*call("eigh", square(x, "eigh")))


def eigvalsh(x: Any, /) -> PArray:
    """Return the eigenvalues of Hermitian matrices in ascending order; see ``eigh``.

    Parameters
    ----------
    x : array
        A Hermitian matrix or a stack of them; the lower triangle is looked at.

    Returns
    -------
    PArray
        Real; a vector for each matrix.
    """
    return call("eigvalsh", square(x, "eigvalsh"))
