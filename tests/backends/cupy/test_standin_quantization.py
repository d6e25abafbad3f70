"""Quantization on a GPU, on a machine that has none (``test_standin_operations.py``)."""

from __future__ import annotations

import numpy as np
import pytest
from here_and_there import GPU, same

import promoarray as pa

X = np.float32([[0.5, 1.5, 2.5, 300.0, np.nan], [-0.5, -1.5, np.inf, -np.inf, -0.0]])


@pytest.mark.parametrize(
    ("policy", "dtype"),
    [
        pytest.param("numpy", pa.int4, marks=pytest.mark.slow),
        ("onnx@28", pa.float8_e4m3fn),
        ("onnx@28", pa.float4_e2m1fn),
        ("torch", pa.uint8),
        pytest.param("tensorflow", pa.int8, marks=pytest.mark.slow),
    ],
)
def test_a_gpu_quantizes_as_the_cpu(policy: str, dtype: pa.dtypes.DType) -> None:
    x, scale = pa.asarray(X), pa.asarray(np.float32([0.5, 3.0]))
    zero = None if dtype.format else 1
    with pa.policy(policy):
        for by, axis in ((1.5, None), (scale, 0)):
            there = by if axis is None else by.to_device(GPU)
            given = zero if axis is None else None
            made = pa.quantize(x, by, given, dtype=dtype, axis=axis)
            same(made, pa.quantize(x.to_device(GPU), there, given, dtype=dtype, axis=axis))
            if policy == "numpy" or (dtype.bits == 8 and not dtype.format):
                there = made.to_device(GPU)
                same(pa.dequantize(made, 0.5, zero), pa.dequantize(there, 0.5, zero))
                faked = pa.fake_quantize(x, 0.5, zero, dtype=dtype)
                same(faked, pa.fake_quantize(x.to_device(GPU), 0.5, zero, dtype=dtype))


@pytest.mark.slow
def test_scales_are_found_on_a_gpu() -> None:
    x = pa.asarray(np.nan_to_num(X, posinf=9, neginf=-9))
    for dtype in (pa.uint8, pa.float4_e2m1fn):
        made, there = (pa.dynamic_quantize(a, dtype=dtype) for a in (x, x.to_device(GPU)))
        for a, b in zip(made, there, strict=True):
            assert (a is None) is (b is None)
            if a is not None:
                same(a, b)
