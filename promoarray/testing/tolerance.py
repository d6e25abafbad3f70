"""How closely two results in a dtype may be expected to agree."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.dtypes import as_dtype
from promoarray.functions.data_types import finfo

DIGITS = 0.75
"""The share of a float's digits that must agree."""

MOST = 0.5
"""No ``rtol`` is more: of the narrowest floats, which have no digits to share, half the number."""


class Tolerance(NamedTuple):
    """How far apart two numbers may lie: ``|actual - desired| <= atol + rtol * |desired|``.

    Attributes
    ----------
    rtol, atol : float
    """

    rtol: float
    atol: float


def tolerance(dtype: Any) -> Tolerance:
    """Return the tolerance by which results in a dtype are compared where none is given.

    Parameters
    ----------
    dtype : dtype_like

    Returns
    -------
    Tolerance
        Of a float three quarters of its digits count: ``rtol`` is ``eps ** 0.75``, at most a half,
        and ``atol`` the same share of the smallest normal number, below which no float is more
        precise. Of a complex dtype that of its parts. Integers and bools are compared exactly.

    Examples
    --------
    >>> import promoarray as pa
    >>> for dtype in (pa.float64, pa.float32, pa.bfloat16, pa.float8_e4m3fn, pa.int8):
    ...     print(f"{dtype.name:14} {pa.testing.tolerance(dtype).rtol:.2g}")
    float64        1.8e-12
    float32        6.4e-06
    bfloat16       0.026
    float8_e4m3fn  0.21
    int8           0
    """
    row = as_dtype(dtype)
    if row.part.format is None:
        return Tolerance(0.0, 0.0)
    limits = finfo(row)
    rtol = min(float(limits.eps) ** DIGITS, MOST)
    return Tolerance(rtol, rtol * float(limits.smallest_normal))
