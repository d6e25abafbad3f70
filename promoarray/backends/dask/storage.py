"""What blocks hold: NumPy's own dtypes as themselves, every other as codes.

A code is an unsigned integer of the dtype's width. All that moves blocks (slicing, rechunking, the
wire, spilling, zarr) meets no dtype it could get wrong so: ``distributed`` cannot read back the
float8_e5m2 that it sent, zarr has no bfloat16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.dtypes import DType


def storage(dtype: DType) -> Any:
    """The NumPy dtype of the blocks that hold a dtype."""
    if dtype is dt.string:
        raise TypeError("a Dask array holds no strings; write x.to_device('cpu')")
    return dtype.storage if dtype in dt.NATIVE else np.dtype(f"u{dtype.storage.itemsize}")


def usual_chunks(shape: tuple[Any, ...]) -> Any:
    """Chunks of Dask's usual size; it divides by their elements, so there have to be some."""
    return -1 if 0 in shape else "auto"


def opened(block: Any, dtype: DType) -> Any:
    """A block as the back end of its library holds the dtype; no copy."""
    if isinstance(block, np.generic):  # what some of Dask's own functions leave of no axes
        block = np.asarray(block)
    held = backend_of(block).storage(dtype)
    return block if block.dtype == held else block.view(held)


def closed(block: Any, dtype: DType) -> Any:
    """What a back end made, as a block; no copy."""
    held = storage(dtype)
    return block if block.dtype == held else block.view(held)
