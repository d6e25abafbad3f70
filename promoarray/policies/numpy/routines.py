"""The dtypes in which numpy.linalg and numpy.fft compute.

Sources: NumPy 2.4, numpy/linalg/_linalg.py (``_commonType``) and numpy/fft/_pocketfft.py.
Recorded: conformance/golden/numpy2.txt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INEXACT, DType
from promoarray.operations import Family
from promoarray.promotion.linalg_rules import LAPACK, linear, spectrum
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.type_rules import TypeRule
from promoarray.promotion.type_steps import component

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike


def in_lapack(dtype: DType) -> DType | None:
    """The dtype in which numpy.linalg computes: float64 for all that is no float of NumPy's."""
    if dtype in LAPACK:
        return dtype
    return None if dtype in (dt.float16, dt.complex32) else dt.float64


def factored(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let every operand enter as what numpy.linalg makes of it by itself."""
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    found = [in_lapack(policy.strong(dtype)) for dtype in entered]
    if None in found:
        return Refusal("numpy.linalg has no routine for float16 and complex32")
    return tuple(filter(None, found))


def in_norms(dtype: DType) -> DType:
    """The dtype in which norms are computed: as ``in_lapack``, but float16 stays."""
    return in_lapack(dtype) or dtype


def transformed(dtype: DType) -> DType | None:
    """The dtype in which numpy.fft computes: float64 for bools and integers."""
    if dtype.kind not in INEXACT:
        return dt.float64
    return None if dtype is dt.complex32 else dtype


def spectral(dtype: DType) -> DType | None:
    """The complex dtype in which numpy.fft computes what has a complex intermediate."""
    found = transformed(dtype)
    return found and spectrum(found)


_LAPACK_NOTE = "NumPy's float32, float64 and complex stay; all else computes in float64"
_FFT_NOTE = "bools and integers are transformed in float64"
_fft = TypeRule(compute=transformed, note=_FFT_NOTE)

ROUTINES: dict[str | Family, OperationRule] = {
    **linear(
        TypeRule(compute=in_lapack, why="numpy.linalg has no routine for this", note=_LAPACK_NOTE),
        index=dt.int64,
        norms=TypeRule(compute=in_norms, note=_LAPACK_NOTE),
        fft=_fft,
    ),
    "solve": TypeRule(
        operand_types=factored, why="numpy.linalg has no routine for this", note=_LAPACK_NOTE
    ),
    "irfftn": TypeRule(compute=spectral, result=component, note=_FFT_NOTE),
}
