"""Which operations are graphs of their own, and where those are made; all others are elementwise.

A graph function takes the kernel's name, Dask arrays of codes that all hold ``compute``, that
dtype, and the kernel's options; it gives a Dask array of codes and the dtype it holds for each
result. It promotes and casts nothing, and computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_TEXT = """
joining     concat stack diff
reductions  sum prod trace mean std var max min all any argmax argmin
reductions  real_all real_any argmax_without_nan argmin_without_nan exact_integer_mean
reductions  var_around_integer std_around_integer integer_var integer_std truncated_mean
reductions  mean_or_zero max_or_lowest min_or_highest vector_norm
cumulative  cumulative_sum cumulative_prod
products    matmul vecdot tensordot outer cross matrix_power
ordering    sort argsort searchsorted unique_values unique_counts unique_inverse unique_all isin
whole       cholesky det inv pinv qr slogdet svd svdvals eig eigvals eigh eigvalsh matrix_rank
whole       solve matrix_norm
whole       fft ifft fftn ifftn rfft rfftn ihfft irfft irfftn hfft
joining     diagonal fftshift ifftshift
"""

ROOMS = {
    name: room
    for line in _TEXT.strip().splitlines()
    for room, *names in [line.split()]
    for name in names
}
"""The module of this package whose ``GRAPHS`` has an operation."""


def graph_of(kernel: str) -> Callable[..., Any] | None:
    """The graph function of a kernel; None where it is elementwise."""
    room = ROOMS.get(kernel)
    if room is None:
        return None
    found: Callable[..., Any] = import_module(f"{__package__}.{room}").GRAPHS[kernel]
    return found
