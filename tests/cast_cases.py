"""What the tests of the cast kernels share: modes that hold every choice, codes, and the call."""

from __future__ import annotations

import numpy as np
from cast_oracle import codes_of

from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import (
    DEFAULT,
    Beyond,
    CastMode,
    NanWithout,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
    cast,
    dtype_args,
)

LARGEST, INF, NAN = Beyond.LARGEST, Beyond.INF, Beyond.NAN
REAL = [d for d in CONCRETE if d.kind is not Kind.COMPLEX]


# Every member of every choice stands in some mode; the first three are the busiest.
RULES = {
    "default": DEFAULT,
    "onnx, saturate": CastMode(LARGEST, LARGEST, nan_without=NanWithout.LARGEST),
    "jax": CastMode(to_integer=ToInteger.SATURATE, scale_rounding=ScaleRounding(3)),
    "onnx 19, fnuz": CastMode(LARGEST, NAN, nan_without=NanWithout.ZERO, to_integer=ToInteger.X86),
    "torch": CastMode(LARGEST, INF, False, to_integer=ToInteger.TORCH, via_float32=True),
    "aclnn": CastMode(INF, LARGEST, to_integer=ToInteger.ACLNN, scale_negative=ScaleNegative(2)),
    "nan": CastMode(NAN, NAN, False, NanWithout.LARGEST, scale_zero=ScaleZero.SMALLEST),
    "torch, cuda": CastMode(NAN, LARGEST, to_integer=ToInteger.TORCH_CUDA),
    "numpy, arm": CastMode(to_integer=ToInteger.ARM64, keep_nan_sign=False),
    "arm, scalars": CastMode(INF, NAN, to_integer=ToInteger.ARM64_SCALAR, via_float32=True),
    "strict, via": CastMode(
        NAN, INF, to_integer=ToInteger.TENSORFLOW, scale_strict=True, via_float32=True
    ),
}


def cast_codes(
    codes: np.ndarray, source: DType, target: DType, mode: CastMode = DEFAULT, tuned: bool = True
) -> np.ndarray:
    out = np.empty(codes.shape, codes_of(target))
    cast(codes, out, dtype_args(source), dtype_args(target), mode, tuned)
    return out


def random_codes(dtype: DType, n: int) -> np.ndarray:
    """Codes at random: all bits, then floats near 1 and small integers."""
    rng = np.random.default_rng(dtype.bits)
    codes = rng.integers(0, 1 << min(dtype.bits, 63), n, np.uint64).astype(codes_of(dtype))
    if dtype.kind is Kind.FLOAT and dtype.bits >= 32:
        near = rng.standard_normal(n // 2) * np.exp2(rng.integers(-40, 40, n // 2))
        codes[: n // 2] = near.astype(dtype.storage).view(codes.dtype)
    elif dtype.bits >= 16:
        codes[: n // 2] = rng.integers(0, 600, n // 2)
    return codes


def same_numbers(got: np.ndarray, want: np.ndarray, dtype: DType) -> bool:
    """All bits the same, but for NaN: which of two an operation gives is the machine's affair."""
    if dtype.kind is not Kind.FLOAT:
        return np.array_equal(got, want)
    codes = np.dtype(f"u{dtype.storage.itemsize}")
    with np.errstate(invalid="ignore"):  # a signalling NaN, in the test
        nan, found = np.isnan(want.astype(np.float64)), np.isnan(got.astype(np.float64))
    return np.array_equal(found, nan) and np.array_equal(
        np.ascontiguousarray(got).view(codes)[~nan], np.ascontiguousarray(want).view(codes)[~nan]
    )
