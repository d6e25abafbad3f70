"""Lazy arrays whose blocks lie on a GPU: what both the stand-in and a GPU are asked."""

from __future__ import annotations

from typing import Any

import device_cases as cases
import numpy as np
from sampled import turns

import promoarray as pa

ASKED = {
    "the values": lambda x: x,
    "a sum with a scalar": lambda x: x + 1.5,
    "a product with a part": lambda x: x * x[:1],
    "a comparison": lambda x: x < 1,
    "a choice": lambda x: pa.where(x > 0, x, -1.0),
    "a cast there and back": lambda x: x.astype(pa.float8_e5m2).astype(pa.float32),
    "a root": lambda x: pa.sqrt(pa.abs(x)),
    "a reshape": lambda x: pa.reshape(x, (6, 4)),
    "an index": lambda x: x[1:, 2],
    "two after another": lambda x: pa.concat([x, x]),
    "a sum of all": pa.sum,
    "sums of integers": lambda x: pa.sum(x.astype(pa.int32), axis=0),
    "largest": lambda x: pa.max(x, axis=0),
    "where the smallest is": lambda x: pa.argmin(x, axis=1),
    "a mean": lambda x: pa.mean(x, axis=1),
    "a product of matrices": lambda x: x @ x.T,
}


def wrong(cupy: Any) -> list[str]:
    """What comes out otherwise than on the CPU, or not as blocks of CuPy's.

    The values are whole numbers, whose sums are exact.
    """
    import dask
    import dask.array as da

    values = np.arange(-12, 12, dtype=np.float32).reshape(4, 6)
    found = []
    for turn, dtype in enumerate((pa.float32, pa.bfloat16)):
        here = pa.asarray(values, dtype=dtype)
        for title, run in turns(ASKED.items(), 2, turn):  # how blocks are made hangs on no dtype
            blocks = da.from_array(cupy.asarray(values), chunks=(2, 3), asarray=False)
            there = run(pa.asarray(blocks).astype(dtype))
            with dask.config.set(scheduler="synchronous"):
                made, got = there._buffer.array.compute(), there.to_device("cpu")
            if not isinstance(made, cupy.ndarray):
                found.append(f"{title} of {dtype}: blocks of {type(made)}")
            apart = cases.different(run(here), got)
            found += [f"{title} of {dtype}: {apart}"] if apart else []
    return found
