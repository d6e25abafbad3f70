"""``xp`` of Dask's back end: the few functions that are asked for outside of operations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.dask import ranges
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import cast_on_blocks, each
from promoarray.backends.dask.buffer import Buffer
from promoarray.backends.dask.call import graph_of
from promoarray.kernels.cast_mode import DEFAULT


def count_nonzero(x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Buffer:
    """How many are True, in int64."""
    as_numbers = BlockExecutable(cast_on_blocks, dt.bool, dt.int64, DEFAULT, ())
    numbers = each(as_numbers, (x.array,), dt.int64, "count_nonzero")
    graph = graph_of("sum")
    assert graph is not None
    if not x.ndim:
        axis = None
    ((out, _),) = graph("sum", (numbers,), dt.int64, axis=axis, keepdims=keepdims)
    return Buffer(out)


def nonzero(x: Buffer) -> tuple[Buffer, ...]:
    """Where it is True: of lengths that are not known before it is computed."""
    if 0 in x.shape:  # which Dask's own cannot always
        return tuple(Buffer(da.zeros(0, dtype=np.int64)) for _ in x.shape)
    return tuple(Buffer(index) for index in da.nonzero(x.array))


xp = SimpleNamespace(
    __name__="dask.array",
    bool=np.bool,
    int64=np.int64,
    arange=ranges.arange,
    linspace=ranges.linspace,
    eye=ranges.eye,
    floor=np.floor,
    fft=SimpleNamespace(fftfreq=ranges.fftfreq, rfftfreq=ranges.rfftfreq),
    tril=lambda x, *, k=0: Buffer(ranges.offsets(x.array.chunks[-2:]) <= k),
    triu=lambda x, *, k=0: Buffer(ranges.offsets(x.array.chunks[-2:]) >= k),
    count_nonzero=count_nonzero,
    nonzero=nonzero,
)
"""What other rooms ask for."""
