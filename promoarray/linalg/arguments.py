"""Operands of linear algebra, matrices, square ones and tolerances: checks, and docstrings."""

from __future__ import annotations

from functools import partial
from typing import Any

from promoarray.core.operands import as_array, require_one_namespace
from promoarray.functions._docs import template
from promoarray.functions.data_types import astype
from promoarray.parray import AnyArray, PArray

_TEXT = """
    Parameters
    ----------
    {x}
        {takes}
    {option}

    Returns
    -------
    {kind}
        {result}

    Raises
    ------
    PromotionError
        {refuses}
    ValueError
        {invalid}
    """

of_matrices = template(
    _TEXT,
    x="x : array, shape (..., M, N)",
    takes="",
    option="",
    kind="PArray",
    refuses="If the policy does not factor matrices of the dtype.",
    invalid="If there are fewer than two axes.",
)
of_square = partial(
    of_matrices,
    x="x : array, shape (..., M, M)",
    takes="Float or complex matrices; NumPy and JAX take integers too.",
    invalid="If a matrix is not square.",
)

RTOL = """
    rtol : float or array, shape (...), optional
        Singular values below ``rtol`` times the largest count as 0. Default: the machine epsilon
        times ``max(M, N)``, under every policy.
    """


def matrices(x: AnyArray, name: str) -> PArray:
    """A stack of matrices, or a ValueError."""
    array = as_array(x, name)
    if array.ndim < 2:
        raise ValueError(f"{name} takes matrices, not an array of shape {array.shape}")
    return array


def square(x: AnyArray, name: str) -> PArray:
    """A stack of square matrices, or a ValueError."""
    array = matrices(x, name)
    if array.shape[-1] != array.shape[-2]:
        raise ValueError(f"{name} takes square matrices, not an array of shape {array.shape}")
    return array


def tolerance(rtol: Any, x: PArray) -> Any:
    """A tolerance for ``x`` as kernels take it: Python's number, or the buffer of an array."""
    if not isinstance(rtol, PArray):
        return rtol
    require_one_namespace(x, rtol)
    wide = astype(rtol, "float64", copy=False)
    return wide._buffer
