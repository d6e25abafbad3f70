"""Extension "linear algebra functions", ``pa.linalg``.

Four of its names are in the main namespace too. Narrow floats are computed in float32 and rounded
once. Factorizations take float32, float64 and their complex dtypes in every framework; policies
differ in the others. NumPy computes integers, and what it does not know as floats, in float64 and
has no float16; JAX makes integers floats and keeps the narrow floats; PyTorch, Paddle, TensorFlow
and the standard refuse integers.
"""

from __future__ import annotations

from typing import Any

from promoarray.errors import end_at_callers
from promoarray.functions.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from promoarray.linalg.decompositions import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from promoarray.linalg.norms import matrix_norm, matrix_rank, vector_norm
from promoarray.linalg.norms import norm as norm  # NumPy's, no name of the standard
from promoarray.linalg.products import cross, diagonal, matrix_power, outer, trace
from promoarray.linalg.systems import det, inv, pinv, slogdet, solve
from promoarray.other_names import missing

__all__ = ["cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv"]
__all__ += ["matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer"]
__all__ += ["pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot"]
__all__ += ["vector_norm"]

end_at_callers(globals(), [*__all__, "norm"])


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)
