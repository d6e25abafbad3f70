"""Factors and spectra of matrices."""

from __future__ import annotations

from typing import Literal, NamedTuple

from promoarray.core.fast_path import fast_call
from promoarray.errors import quoted
from promoarray.linalg.arguments import matrices, of_matrices, of_square, square
from promoarray.parray import AnyArray, PArray

_eig, _eigvals, _eigh, _eigvalsh = map(fast_call, ("eig", "eigvals", "eigh", "eigvalsh"))
_cholesky = fast_call("cholesky", "upper")
_qr = fast_call("qr", "mode", texts=("reduced", "complete"))
_svd, _svdvals = fast_call("svd", "full_matrices"), fast_call("svdvals")


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


class SVDResult(NamedTuple):
    """What ``svd`` answers."""

    U: PArray
    S: PArray
    Vh: PArray


@of_square(
    takes="Only one triangle is read.",
    option="""
    upper : bool
        Return the upper triangle ``U`` with ``x = U^H @ U``, not the lower one.
    """,
    kind="PArray, shape (..., M, M)",
    result="Dtypes as in ``inv``.",
    invalid="If a matrix is not square or not positive definite.",
)
def cholesky(x: AnyArray, /, *, upper: bool = False) -> PArray:
    """Factor Hermitian, positive-definite matrices into a triangle and its conjugate transpose.

    Examples
    --------
    >>> linalg.cholesky(asarray([[4.0, 2.0], [2.0, 5.0]], dtype=float32))
    PArray([[2., 0.],
            [1., 2.]], dtype=float32)
    """
    return _cholesky(square(x, "cholesky"), upper=upper)


@of_matrices(
    option="""
    mode : {"reduced", "complete"}
        Whether ``Q`` has K = min(M, N) columns, or K = M.
    """,
    kind="QRResult",
    result="``Q``, shape (..., M, K), and ``R``, shape (..., K, N); dtypes as in ``inv``.",
    invalid="If there are fewer than two axes, or no such mode.",
)
def qr(x: AnyArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Factor matrices into orthonormal columns and an upper triangle.

    Examples
    --------
    >>> Q, R = linalg.qr(asarray([[3.0], [4.0]], dtype=float32))
    >>> Q.shape, abs(R)
    ((2, 1), PArray([[5.]], dtype=float32))
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode is 'reduced' or 'complete', not {quoted(mode)}")
    return QRResult(*_qr(matrices(x, "qr"), mode=mode))


@of_matrices(
    option="""
    full_matrices : bool
        Whether ``U`` and ``Vh`` are square, or have K = min(M, N) columns and rows.
    """,
    kind="SVDResult",
    result=(
        "``U``, ``S``, shape (..., K), in descending order, and ``Vh``. ``S`` is real (in "
        "MindSpore of the dtype of ``x``); dtypes else as in ``inv``."
    ),
    invalid=(
        "If there are fewer than two axes, or the computation does not converge because of NaN."
    ),
)
def svd(x: AnyArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Factor matrices into ``U @ diag(S) @ Vh``.

    Examples
    --------
    >>> U, S, Vh = linalg.svd(asarray([[0.0, 3.0], [2.0, 0.0]]), full_matrices=False)
    >>> S
    PArray([3., 2.], dtype=float64)
    """
    return SVDResult(*_svd(matrices(x, "svd"), full_matrices=full_matrices))


@of_matrices(
    kind="PArray, shape (..., min(M, N))",
    result="``S`` of ``svd``, of its dtype.",
    invalid=(
        "If there are fewer than two axes, or the computation does not converge because of NaN."
    ),
)
def svdvals(x: AnyArray, /) -> PArray:
    """Return the singular values of matrices, in descending order.

    Examples
    --------
    >>> with policy("jax"):
    ...     linalg.svdvals(asarray([[0.0, 3.0], [2.0, 0.0]], dtype=bfloat16))
    PArray([3., 2.], dtype=bfloat16)
    """
    return _svdvals(matrices(x, "svdvals"))


@of_square(
    kind="EigResult",
    result=(
        "``eigenvalues``, shape (..., M), in no order, and ``eigenvectors``, shape (..., M, M), "
        "in columns. Complex under every policy, as the standard has them: NumPy's own are real "
        "where all of them happen to be."
    ),
    invalid="If a matrix is not square or not finite.",
)
def eig(x: AnyArray, /) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices.

    Examples
    --------
    >>> values, vectors = linalg.eig(asarray([[0.0, 1.0], [-1.0, 0.0]]))
    >>> values.dtype, vectors.shape
    (promoarray.complex128, (2, 2))
    """
    return EigResult(*_eig(square(x, "eig")))


@of_square(
    kind="PArray, shape (..., M)",
    result="In no order, complex under every policy.",
    invalid="If a matrix is not square or not finite.",
)
def eigvals(x: AnyArray, /) -> PArray:
    """Return the eigenvalues of square matrices.

    Examples
    --------
    >>> linalg.eigvals(asarray([[2.0, 1.0], [0.0, 1.0]]))
    PArray([2.+0.j, 1.+0.j], dtype=complex128)
    """
    return _eigvals(square(x, "eigvals"))


@of_square(
    takes="Only the lower triangle is read.",
    kind="EighResult",
    result=(
        "``eigenvalues``, shape (..., M), in ascending order, real (in TensorFlow of the dtype "
        "of ``x``), and ``eigenvectors``, shape (..., M, M), in columns. Dtypes else as in "
        "``inv``."
    ),
)
def eigh(x: AnyArray, /) -> EighResult:
    """Return eigenvalues and eigenvectors of Hermitian matrices.

    Examples
    --------
    >>> values, vectors = linalg.eigh(asarray([[2.0, 0.0], [0.0, 1.0]], dtype=float32))
    >>> values
    PArray([1., 2.], dtype=float32)
    >>> vectors.shape
    (2, 2)
    """
    return EighResult(*_eigh(square(x, "eigh")))


@of_square(
    takes="Only the lower triangle is read.",
    kind="PArray, shape (..., M)",
    result="In ascending order, of the dtype that ``eigh`` gives.",
)
def eigvalsh(x: AnyArray, /) -> PArray:
    """Return the eigenvalues of Hermitian matrices.

    Examples
    --------
    >>> linalg.eigvalsh(asarray([[2.0, 0.0], [0.0, 1.0]]))
    PArray([1., 2.], dtype=float64)
    """
    return _eigvalsh(square(x, "eigvalsh"))
