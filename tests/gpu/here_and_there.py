"""The same program on "cpu" and on "cuda:0", and how their answers are compared.

Importing it skips the module where there is no compiler for the kernels' texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import device_cases as cases
import pytest
from cupy_standin import compiler as standin_compiler

import promoarray as pa
from promoarray.dtypes import CONCRETE, Kind

if standin_compiler.COMPILER is None:
    pytest.skip("g++, which compiles the kernels' texts, is not installed", allow_module_level=True)

GPU = "cuda:0"
FLOATS8 = tuple(d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits == 8)


def compiled_together(function: Callable[..., Any], *args: Any) -> Any:
    """Run what launches many kernels: first to learn which, then with all of them compiled."""
    with standin_compiler.collecting():
        function(*args)
    return function(*args)


def on_gpu(values: Any, dtype: Any = None) -> Any:
    return pa.asarray(values, dtype=dtype, device=GPU)


def same(want: Any, got: Any) -> None:
    """The answers of the CPU and of the GPU, bit by bit."""
    assert got.device.startswith("cuda")
    wrong = cases.different(want, got)
    assert not wrong, wrong
