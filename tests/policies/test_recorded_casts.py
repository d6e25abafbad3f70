"""The bits that frameworks gave for casts, and the rule that gives the same ones.

conformance/golden/casts.npz holds them, with their origin in its ``note``. NaN is compared as a
class: which of its codes comes depends on whether a framework took a vector path. What no rule
gives is listed below with its reason.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cast_oracle import codes_of, every_code

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import (
    DEFAULT,
    Beyond,
    CastMode,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
    cast,
    dtype_args,
)

GOLDEN = Path(__file__).resolve().parents[2] / "conformance" / "golden" / "casts.npz"
LARGEST, INF, NAN = Beyond.LARGEST, Beyond.INF, Beyond.NAN
FNUZ = (dt.float8_e4m3fnuz, dt.float8_e5m2fnuz)
NAN_TO_ZERO = (*FNUZ, dt.float8_e8m0fnu)  # whose NaN PyTorch makes 0


@cache
def golden() -> dict[str, np.ndarray]:
    with np.load(GOLDEN) as file:
        return dict(file)


@cache
def index() -> dict[str, dict[str, dict[str, list[str]]]]:
    return json.loads(str(golden()["index"]))


def inputs(source: DType) -> np.ndarray:
    found = golden().get(f"in_{source.name}")
    return (
        (every_code(source) if source is not dt.bool else every_code(source)[:2])
        if found is None
        else found
    )


# --- What each one does -------------------------------------------------------------------------


def ml_dtypes_rule(source: DType, target: DType, mode: str) -> CastMode:
    return DEFAULT._replace(
        via_float32=target is not dt.float16 or source.kind is not Kind.FLOAT,
        scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP,
    )


def jax_rule(source: DType, target: DType, mode: str) -> CastMode:
    return DEFAULT._replace(
        to_integer=ToInteger.SATURATE,
        via_float32=target.bits == 16 or source.kind is not Kind.FLOAT,
        scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP,
        keep_nan_sign=target is not dt.float4_e2m1fn,
    )


def torch_rule(source: DType, target: DType, mode: str) -> CastMode:
    saturates = target is dt.float8_e4m3fn
    return CastMode(
        overflow=LARGEST if saturates else INF,
        infinity=LARGEST if saturates else INF,
        to_integer=ToInteger.NUMPY if source in NAN_TO_ZERO else ToInteger.TORCH,
        scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP,
        scale_negative=ScaleNegative.ABSOLUTE,
        scale_zero=ScaleZero.SMALLEST,
        via_float32=True,
    )


def saturating(mode: str) -> dict[str, Beyond]:
    return {"overflow": LARGEST, "infinity": LARGEST} if mode.startswith("s1") else {}


def onnx_reference_rule(source: DType, target: DType, mode: str) -> CastMode:
    rule = ml_dtypes_rule(source, target, mode)._replace(**saturating(mode))
    if target is not dt.float8_e8m0fnu:
        return rule
    way = mode.partition("_")[2].upper()
    return rule._replace(
        infinity=NAN,
        scale_rounding=ScaleRounding[way.replace("NEAREST", "NEAREST_BUT_LOWEST_UP")],
        scale_negative=ScaleNegative.ABSOLUTE,
        scale_zero=ScaleZero.SMALLEST,
    )


def onnxruntime_rule(source: DType, target: DType, mode: str) -> CastMode:
    rule = CastMode(**saturating(mode), to_integer=ToInteger.X86, via_float32=True)
    if source is dt.float8_e8m0fnu:
        rule = rule._replace(to_integer=ToInteger.NUMPY)
    if target is not dt.float8_e8m0fnu:
        return rule
    rule = rule._replace(scale_rounding=ScaleRounding[mode.partition("_")[2].upper()])
    if mode.startswith("s0"):
        return rule._replace(scale_strict=True)
    return rule._replace(scale_negative=ScaleNegative.SMALLEST, scale_zero=ScaleZero.SMALLEST)


def specified_rule(source: DType, target: DType, mode: str) -> CastMode:
    rule = CastMode(**saturating(mode))
    if mode == "s1@19..23" and target in FNUZ:
        return rule._replace(infinity=NAN)
    if mode == "s1_up":
        return rule._replace(scale_rounding=ScaleRounding.UP, scale_zero=ScaleZero.SMALLEST)
    return rule._replace(scale_strict=mode == "s0_nearest")


RULES = {
    "mldtypes": ml_dtypes_rule,
    "jax": jax_rule,
    "torch": torch_rule,
    "onnxref": onnx_reference_rule,
    "ort": onnxruntime_rule,
    "spec": specified_rule,
}

# --- What no rule gives -------------------------------------------------------------------------


def value(source: DType, codes: np.ndarray) -> np.ndarray:
    """Values as float64, near enough to tell ranges."""
    return codes.view(source.storage).astype(np.float64)


@np.errstate(all="ignore")
def left_out(who: str, source: DType, target: DType, mode: str, codes: np.ndarray) -> np.ndarray:
    """Inputs for which the framework is not followed, each for the reason above it."""
    out = np.zeros(codes.shape, bool)
    if source.kind is not Kind.FLOAT and source.kind not in (Kind.INT, Kind.UINT):
        return out
    x = value(source, codes)
    if who == "jax":
        # XLA on a CPU flushes the subnormals of float32 and float64.
        if source.bits >= 32 or target.bits >= 32:
            out |= np.abs(x) < 2.0**-126
        if source is dt.float64 and target is dt.bool:
            out |= np.abs(x) < 2.0**-1022
        # 6, the largest float4, is taken for an infinity on the way to integers.
        if source is dt.float4_e2m1fn and target.format is None:
            out |= np.abs(x) == 6
        # From float64 a scale is out of range before it is rounded.
        if source is dt.float64 and target is dt.float8_e8m0fnu:
            out |= x > 2.0**127
    if who == "ort":
        # Just beyond the range, NaN should be Inf, and the largest value NaN.
        if mode == "s0" and target is dt.float8_e4m3fn:
            out |= (np.abs(x) >= 464) & (np.abs(x) < 512)
        if mode == "s0" and target is dt.float8_e5m2:
            out |= (np.float32(np.abs(x)) >= 61440) & (np.abs(x) <= 65536)
        # -0 of these two is true.
        if target is dt.bool and source in (dt.float8_e4m3fn, dt.float8_e5m2):
            out |= (x == 0) & np.signbit(x)
        if target is dt.bool and source is dt.float8_e8m0fnu:
            out |= codes == 0  # 2**-127 is false
        # To 2 and 4 bits it rounds, half away from zero.
        if target.bits < 8 and source.kind is Kind.FLOAT and target.kind is not Kind.FLOAT:
            out |= np.trunc(x) != x
    if who in ("mldtypes", "onnxref") and source is dt.float64 and target.bits < 8:
        # Where int32 ends, ml_dtypes' 2- and 4-bit integers have something else in between.
        out |= (x > 2.0**31 - 1) & (x < 2.0**31)
    if who == "onnxref" and mode.endswith("_up"):
        # Not only what is above 2**-127, but it and all below go to 2**-126.
        out |= np.abs(x) <= 2.0**-127
    if who == "spec" and target is dt.float8_e4m3fn and mode == "s0":
        # "[x] < -FLT_MAX" is NaN there; every implementation gives -NaN, and this one too.
        out |= x < 0
    return out


# --- The comparison -----------------------------------------------------------------------------


def is_nan(dtype: DType, codes: np.ndarray) -> np.ndarray:
    layout = dtype.format
    if layout is None or layout.nan is None:
        return np.zeros(codes.shape, bool)
    if not (layout.signed and layout.negative_zero):
        return codes == layout.nan
    magnitude = codes & codes.dtype.type((1 << layout.exponent + layout.mantissa) - 1)
    return (magnitude > layout.largest) & (magnitude != layout.inf)


def agrees(target: DType, got: np.ndarray, want: np.ndarray, who: str) -> np.ndarray:
    nan = is_nan(target, got)
    if who != "spec":
        want = want.view(codes_of(target)) if want.dtype != codes_of(target) else want
        return (got == want) | (nan & is_nan(target, want))
    negative = (got >> (target.bits - 1)).astype(bool)
    one_nan = not target.format.negative_zero
    return (
        (got == want)
        | (want == 0xFFFF)
        | ((want == 0xFFFE) & nan)
        | ((want == 0xFFFD) & nan & (negative | one_nan))
        | ((want == 0xFFFC) & nan & (~negative | one_nan))
    )


@pytest.mark.parametrize("pair", index(), ids=str)
def test_the_rule_of_each_framework_gives_the_bits_it_gave(pair):
    source, target = map(dt.as_dtype, pair.split("|"))
    codes = inputs(source)
    wrong = []
    for mode, entries in index()[pair].items():
        for entry, names in entries.items():
            for who in sorted({name.partition("@")[0] for name in names}):
                got = np.empty(codes.shape, codes_of(target))
                rule = RULES[who](source, target, mode)
                cast(codes, got, dtype_args(source), dtype_args(target), rule)
                want = golden()[entry]
                same = agrees(target, got, want, who) | left_out(who, source, target, mode, codes)
                wrong += [
                    f"{who} {mode} {codes[i]:#x}: {got[i]:#x}, recorded {want[i]:#x}"
                    for i in np.flatnonzero(~same)[:3]
                ]
    assert not wrong


def test_the_file_says_where_it_comes_from():
    assert "torch 2.13.0" in str(golden()["note"])
    assert GOLDEN.stat().st_size < 2_000_000
