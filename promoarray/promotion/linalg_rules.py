"""Rules of linear algebra, Fourier transforms, sets and sorting, where frameworks agree.

What a result is follows from mathematics: the eigenvalues of a Hermitian matrix are real, those of
any other complex. So a policy says only which dtypes such functions take, what they compute in, and
what an index is; it names the functions that stand apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.operations import Family
from promoarray.promotion.type_rules import TypeMap, TypeRule, same, to_bool
from promoarray.promotion.type_steps import always, component

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule

LAPACK = frozenset({dt.float32, dt.float64, dt.complex64, dt.complex128})
"""The dtypes that LAPACK and its like have routines for."""

AS_COMPLEX = "real results of a complex matrix have its complex dtype"
"""A note where singular values and the like of complex matrices are complex."""


def spectrum(dtype: DType) -> DType:
    """Answer the complex dtype of eigenvalues and transforms; complex64 for all narrow dtypes."""
    found = None if dtype is dt.float16 else dtype.complexified
    return found or dt.complex64


def linear(
    floats: TypeRule,
    *,
    index: DType,
    norms: TypeRule | None = None,
    fft: TypeRule | None = None,
    rfft: TypeRule | None = None,
    irfft: TypeRule | None = None,
) -> dict[str | Family, OperationRule]:
    """Return the rules of these chapters: ``floats`` is what linear algebra takes and computes in,
    ``index`` the dtype of indices, counts and ranks.

    Norms and Fourier transforms have rules of their own, or go by ``floats``; transforms of real
    numbers, and those that end in them, too, or go by ``fft``, the former without complex numbers.
    """
    norms, fft = norms or floats, fft or floats
    if rfft is None:
        rfft = replace(fft, admit=_real(fft.admit), why="")
    real, indices = replace(floats, result=component), always(index)
    pairs = replace(floats, result=spectrum)
    return {
        Family.LINALG: floats,
        "matrix_rank": replace(floats, result=indices),
        "qr": replace(floats, extra_results=(same,)),
        "slogdet": replace(floats, extra_results=(component,)),
        "svd": replace(floats, extra_results=(component, same)),
        "svdvals": real,
        "eigh": replace(real, extra_results=(same,)),
        "eigvalsh": real,
        "eig": replace(pairs, extra_results=(spectrum,)),
        "eigvals": pairs,
        Family.NORM: replace(norms, result=component),
        Family.FFT: replace(fft, result=spectrum),
        Family.RFFT: replace(rfft, result=spectrum),
        Family.IRFFT: replace(irfft or fft, result=component),
        Family.SORT: TypeRule(),
        Family.INDEX: TypeRule(result=indices, note=f"indices are {index.name}"),
        **uniques(TypeRule(), indices),
        Family.ISIN: TypeRule(result=to_bool, note="the operands promote, the result is bool"),
        Family.MOVE: TypeRule(),
    }


def uniques(values: TypeRule, index: TypeMap) -> dict[str | Family, OperationRule]:
    """Return the rules of the unique_ functions: their values, then indices and counts."""
    found = {"unique_counts": 1, "unique_inverse": 1, "unique_all": 3}
    rules: dict[str | Family, OperationRule] = {
        name: replace(values, extra_results=(index,) * count) for name, count in found.items()
    }
    return {Family.UNIQUE: values, **rules}


def _real(admit: frozenset[Kind | DType] | None) -> frozenset[Kind | DType]:
    """What is admitted without the complex dtypes."""
    every: frozenset[Kind | DType] = frozenset(Kind) if admit is None else admit
    return frozenset(
        each
        for each in every
        if (each if isinstance(each, Kind) else each.kind) is not Kind.COMPLEX
    )
