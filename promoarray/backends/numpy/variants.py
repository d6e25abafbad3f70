"""The kernels that single policies have in place of the standard ones, over NumPy buffers.

Most are those of ``kernels.portable``. What stands here is loaded when a policy first asks for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.backends.numpy import clips, complex_loops, means
from promoarray.kernels.portable import statistics, variants, xla

Buffer = np.ndarray[Any, Any]


def _extreme_or_end(ufunc: np.ufunc, end: int) -> Callable[..., Any]:
    """An extreme, or the end of the dtype: as ``np.max`` with an initial value does, without the
    time that it takes to get here."""
    reduce: Any = ufunc.reduce

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(x, axis, None, None, keepdims, statistics.ends(x.dtype)[end])

    return run


def _without_nan(name: str, others: Callable[..., Any]) -> Callable[..., Any]:
    """A position that skips NaN, where there is any."""

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        if np.logical_or.reduce(np.isnan(x), None):
            return others(x, axis=axis, keepdims=keepdims)
        return getattr(x, name)(axis=axis, keepdims=keepdims)

    return run


def _truth_of_real(ufunc: np.ufunc) -> Callable[..., Any]:
    """Whether all or any real parts are not zero."""
    reduce: Any = ufunc.reduce

    def run(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is None and not keepdims:
            return reduce(x.real, None, None, None, True).reshape(())
        return reduce(x.real, axis, None, None, keepdims)

    return run


KERNELS = variants.of(np)
KERNELS |= {
    "checked_clip": clips.checked,
    "exact_integer_mean": means.mean_towards_zero(KERNELS["exact_integer_mean"], lambda own: own),
    "truncated_mean": means.mean_towards_zero(KERNELS["truncated_mean"], means.widest),
    "mean_or_zero": means.mean_or_zero,
    "real_all": _truth_of_real(np.logical_and),
    "real_any": _truth_of_real(np.logical_or),
    "max_or_lowest": _extreme_or_end(np.maximum, 0),
    "min_or_highest": _extreme_or_end(np.minimum, 1),
    "argmax_without_nan": _without_nan("argmax", KERNELS["argmax_without_nan"]),
    "argmin_without_nan": _without_nan("argmin", KERNELS["argmin_without_nan"]),
    "polar_pow": complex_loops.polar_pow,
    "log_pow": complex_loops.log_pow,
    "nearest_remainder": complex_loops.nearest_remainder,
    "shortcut_log_pow": complex_loops.shortcut_log_pow,
    "multiplied_pow": complex_loops.multiplied_pow(KERNELS),
}

ALONG_AXES = frozenset(kernel.__name__ for kernel in statistics.KERNELS) | {"real_all", "real_any"}

ELEMENTWISE = KERNELS.keys() - ALONG_AXES - xla.ASKING_SHAPES - {"integer_pow"}
"""Those that compute each element by itself, whatever lies around it."""
