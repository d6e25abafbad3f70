"""Linear algebra and Fourier transforms whose operands NumPy takes as they are held, and answers in
the dtypes of the results: without the layers between an operation and NumPy's function, which take
longer than a small matrix does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from promoarray.backends.numpy import told
from promoarray.dtypes import NATIVE, DType, Kind
from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]


def linalg_kernel(
    name: str, held: tuple[DType, ...], plan: Plan
) -> Callable[..., Buffer | tuple[Buffer, ...] | None] | None:
    """What does all of a plan; None where operands are cast, or NumPy has no such function of them.

    It answers None where there is something to tell of, and where a result is to be cast or is an
    operand itself: all of that ``compile.Compiled`` does.
    """
    common = plan.compute or plan.inputs[0]
    if {*held, *plan.inputs} != {common} or not _is_known(common):
        return None
    from promoarray.backends.numpy.array_api import xp
    from promoarray.kernels.portable import linalg

    kernel = linalg.MOVES.get(name) or linalg.KERNELS[name]
    storages = [each.storage for each in (plan.result, *plan.extra_results)]
    several = len(storages) > 1
    answers_otherwise = False  # once NumPy did, it always does

    @told.telling
    def run(*buffers: Buffer, **options: Any) -> Buffer | tuple[Buffer, ...] | None:
        nonlocal answers_otherwise
        if answers_otherwise or not told.is_logged():
            return None
        try:
            out = kernel(xp, *buffers, **options)
        except LinAlgError:
            return None
        results = tuple(map(np.asarray, out if several else (out,)))
        answers_otherwise = [each.dtype for each in results] != storages
        if answers_otherwise or results[0] is buffers[0]:
            return None
        return results if several else results[0]

    return run


def _is_known(dtype: DType) -> bool:
    """Whether NumPy's functions compute in the dtype."""
    return dtype in NATIVE and dtype.kind in (Kind.FLOAT, Kind.COMPLEX) and dtype.bits > 16
