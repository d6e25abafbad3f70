"""``xp`` of Dask's back end: the few functions that are asked for outside of operations.

Ranges are NumPy's arrays, which whoever asked puts into chunks: each value hangs on the whole of
the range, by a rule of NumPy's own.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
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
    return tuple(Buffer(index) for index in da.nonzero(x.array))


def ones(shape: Any, *, dtype: Any, device: str | None = None) -> Buffer:
    """A mask that is all True, of which ``tril`` and ``triu`` keep a part."""
    return Buffer(da.ones(shape, dtype=dtype))


def _in_memory(name: str, chapter: str = "") -> Any:
    """NumPy's function, without the device."""

    def run(*args: Any, device: str | None = None, **options: Any) -> Any:
        library = numpy_backend.xp
        return getattr(getattr(library, chapter) if chapter else library, name)(*args, **options)

    return run


xp = SimpleNamespace(
    __name__="dask.array",
    bool=np.bool,
    int64=np.int64,
    arange=_in_memory("arange"),
    linspace=_in_memory("linspace"),
    eye=_in_memory("eye"),
    floor=np.floor,
    fft=SimpleNamespace(
        fftfreq=_in_memory("fftfreq", "fft"), rfftfreq=_in_memory("rfftfreq", "fft")
    ),
    ones=ones,
    tril=lambda mask, *, k=0: Buffer(da.tri(*mask.shape, k=k, dtype=bool)),
    triu=lambda mask, *, k=0: Buffer(~da.tri(*mask.shape, k=k - 1, dtype=bool)),
    count_nonzero=count_nonzero,
    nonzero=nonzero,
)
"""What other rooms ask for."""
