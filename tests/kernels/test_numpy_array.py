"""Kernels read arrays by NumPy's own fields, and make them by a function of its C API."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promoarray import dtypes as dt
from promoarray import kernels

Buffer = np.ndarray[Any, Any]


class Labelled(np.ndarray[Any, Any]):
    """What kernels look at by the buffer protocol."""


def doubled() -> kernels.CastingKernel:
    """Float32 as float64: None is answered where the array is not in rows."""
    rows = (kernels.dtype_args(dt.float32), *(kernels.dtype_args(dt.float64),) * 4)
    storages = (dt.float64.storage,), dt.float64.storage
    return kernels.CastingKernel(None, rows, (kernels.DEFAULT,) * 3, *storages, None)


def not_aligned(x: Buffer) -> Buffer:
    memory = np.zeros(x.nbytes + 1, np.uint8)
    memory[1:] = x.reshape(-1).view(np.uint8)
    return memory[1:].view(x.dtype).reshape(x.shape)


def closed(x: Buffer) -> Buffer:
    out = x.copy()
    out.setflags(write=False)
    return out


ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
FITTING = [ROWS, closed(ROWS), ROWS[:1], ROWS[:0], ROWS[:, :, None], ROWS[1:, :1].T]
FITTING += [np.array(2.5, np.float32)]
OTHERS = [
    ROWS.T,
    ROWS[:, ::2],
    ROWS[::-1],
    not_aligned(ROWS),
    ROWS.astype(np.float64),
    ROWS.astype(np.float16),
]


@pytest.mark.parametrize("as_class", [np.ndarray, Labelled])
def test_arrays_are_taken_by_what_they_are_whichever_way_they_are_read(as_class: type) -> None:
    kernel = doubled()
    for x in FITTING:
        out = kernel(x.view(as_class))
        assert type(out) is np.ndarray
        assert (out.dtype, out.shape) == (np.float64, x.shape)
        assert out.flags.c_contiguous
        assert out.flags.writeable
        np.testing.assert_array_equal(out, x)
    assert [kernel(x.view(as_class)) for x in OTHERS] == [None] * len(OTHERS)
    assert [kernel(x) for x in (b"four", 2.5, None)] == [None] * 3


PROGRAM = """
import ml_dtypes, sys
import numpy._core._multiarray_umath as multiarray
if "without" in sys.argv:
    del multiarray._ARRAY_API
import promoarray as pa
x = pa.asarray([2, 1], dtype=pa.bfloat16)
print(x + x, pa.sort(x), pa.sum(x), x + 0.5, pa.cumulative_sum(x), pa.unique_counts(x).counts)
"""


def test_arrays_are_made_by_numpy_empty_where_there_is_no_c_api(tmp_path: Path) -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, api],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,  # where the source, without what is compiled, does not lie
        ).stdout
        for api in ("with", "without")
    }
    assert len(answers) == 1, answers
