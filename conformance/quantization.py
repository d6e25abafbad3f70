"""Compare promoarray's quantization with what the frameworks answered; print what differs.

    python conformance/quantization.py [GOLDEN ...]      e.g. torch onnxruntime; all without a name

Each case is a line of ``CASES``; its numbers follow from the line, so that a golden file holds only
answers (``oracles/quantization.py`` asks). Among them are ties, zeros of both signs, Inf, NaN
and what lies far beyond every target. Exit status 1 if one differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

import promoarray as pa
from promoarray.dtypes import BY_CODE, INTEGERS, DType
from promoarray.promotion.scalars import bounds, largest

GOLDEN = Path(__file__).resolve().parent / "golden" / "quantization"

CASES = {
    "torch": """
        torch@2.13 | quantize | f32 | f32 | u8 i8 i32 | one axis0 axis1
        torch@2.13 | dequantize | u8 i8 i32 | f32 | f32 | one axis0 axis1
        torch@2.13 | dynamic_quantize | f32 | f32 | u8 i8 | mixed positive negative nothing
        torch@2.13 | fake_quantize | f32 f16 bf16 f64 | f32 | i4 u8 i8 | one axis0 axis1
    """,
    "tensorflow": """
        tensorflow | quantize | f32 | f32 | u8 i8 i32 | one axis0 axis1
        tensorflow | dequantize | u8 i8 i32 | f32 | f32 | one axis0 axis1
        tensorflow | fake_quantize | f32 | f32 | u4 u8 u16 | range range1
    """,
    "onnxruntime": """
        onnx@10 | quantize | f32 | f32 | u8 i8 | one
        onnx@13 | quantize | f32 | f32 | u8 i8 | axis0 axis1
        onnx@19 | quantize | f32 | f32 | u8 i8 f8_e4m3fn f8_e5m2 | one
        FNUZ | quantize | f32 | f32 | f8_e4m3fnuz f8_e5m2fnuz | one
        onnx@21 | quantize | f32 | f32 | u8 i8 u16 i16 u4 i4 | one axis0 axis1 block
        FLOAT16 | quantize | f16 | f16 | u8 i8 u16 i16 u4 i4 | one axis0 axis1 block
        FLOAT16 | quantize | f16 | f16 | f8_e4m3fn f8_e5m2 | one
        onnx@10 | dequantize | u8 i8 i32 | f32 | f32 | one
        onnx@21 | dequantize | u8 i8 u16 i16 u4 i4 | f32 f16 | same | one axis1 block
        onnx@11 | dynamic_quantize | f32 | f32 | u8 | mixed positive negative
    """,
    "onnx_reference": """
        INT32 | quantize | f32 f16 | same | u8 i8 u16 i16 u4 i4 u2 i2 | one axis0 axis1 block
        onnx@28 | quantize | f32 f16 | same | f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz | one block
        onnx@28 | quantize | f32 f16 | same | f6_e2m3fn f6_e3m2fn | one block
        FLOAT4 | quantize | f32 f16 | same | f4_e2m1fn | one block
        INT32 | quantize | f32 f16 | f32 f16 | i8 f8_e4m3fn | precision
        INT32 | quantize | f32 f16 | f8_e8m0fnu | i8 f8_e4m3fn | one block
        FLOAT4 | quantize | f32 f16 | f8_e8m0fnu | f4_e2m1fn | one block
        onnx@28 | dequantize | i8 f8_e4m3fn f4_e2m1fn | f8_e8m0fnu | f32 f16 | one block
        onnx@28 | dynamic_quantize | f32 | f32 | u8 | mixed positive negative
        onnx@28 | dequantize | u8 i8 u16 i16 u4 i4 u2 i2 | f32 f16 | same | one axis1 block
        onnx@28 | dequantize | f8_e4m3fn f8_e5m2 f4_e2m1fn f6_e2m3fn | f32 f16 | same | one block
    """,
}
"""For each golden file: policy, function, dtypes of x, of the scale and of the target (of the
result), how scales lie: one, along an axis, one a block, one with float16 as precision, a range."""

QUIRKY = {
    "FNUZ": "onnx@19+infinity-to-fnuz-saturates",
    "FLOAT16": "onnx@21+quantizes-float16-in-float32",
    "INT32": "onnx@28+quantizes-through-int32",
    "FLOAT4": "onnx@28+float4-nan-is-minus-zero",
}
"""Where an implementation is not what the text says, by the quirk."""

SHAPE, BLOCK = (6, 16), 4


class Case(NamedTuple):
    """One question; the numbers are NumPy's, in dtypes that hold them exactly."""

    policy: str
    function: str
    x: Any
    scale: Any
    zero_point: Any
    source: DType
    scale_dtype: DType
    target: DType
    axis: int | None
    block: int | None
    precision: DType | None
    limits: tuple[int, int] | None
    range: tuple[Any, Any] | None

    @property
    def options(self) -> dict[str, Any]:
        """What promoarray's function is called with."""
        found = {"dtype": self.target, "axis": self.axis, "block_size": self.block}
        found |= {"precision": self.precision}
        return {name: value for name, value in found.items() if value is not None}


def cases(golden: str) -> Iterator[tuple[str, Case]]:
    """The questions of a golden file, by name."""
    for line in CASES[golden].strip().splitlines():
        policy, function, sources, scales, targets, ways = map(str.strip, line.split("|"))
        for source in sources.split():
            for scale in scales.split():
                for target in targets.split():
                    for way in ways.split():
                        by = source if scale == "same" and function == "quantize" else scale
                        to = by if target == "same" else target
                        words = policy, function, source, by, to, way
                        yield " ".join(words), _case(words)


def _case(words: tuple[str, ...]) -> Case:
    policy, function, source, by, target, way = words
    policy = QUIRKY.get(policy, policy)
    random = np.random.default_rng(crc32(" ".join(words).encode()))
    quantized = BY_CODE[source if function == "dequantize" else target]
    whole = quantized.kind in INTEGERS
    low, high = bounds(quantized) if whole else (-largest(quantized), largest(quantized))
    axis, block, shape = None, None, ()
    if way[-1] in "01":
        axis = int(way[-1])
        shape = SHAPE[axis : axis + 1]
    elif way == "block":
        axis, block, shape = 1, BLOCK, (SHAPE[0], SHAPE[1] // BLOCK)
    scale = _held(random.uniform(0.01, 1.0, shape), by)
    zero = random.integers(max(low, -100), min(high, 100) + 1, shape) if whole else None
    zero = None if BY_CODE[source].bits == 32 and function == "dequantize" else zero
    if function == "dequantize":
        x = random.integers(low, high + 1, SHAPE) if whole else random.uniform(low, high, SHAPE)
    else:
        x = _numbers(random, scale, axis, block, (low, high), function != "dynamic_quantize")
    x = x * {"positive": np.sign(x), "negative": -np.sign(x), "nothing": 0.0}.get(way, 1)
    x = _held(x, source)
    precision = BY_CODE["f16"] if way == "precision" else None
    limits = bounds(BY_CODE[target]) if function == "fake_quantize" else None
    ends = None
    if way.startswith("range"):
        ends = tuple(_held(sign * scale * high * random.random(shape), by) for sign in (-1, 1))
    dtypes = BY_CODE[source], BY_CODE[by], BY_CODE[target]
    return Case(policy, function, x, scale, zero, *dtypes, axis, block, precision, limits, ends)


def _numbers(
    random: Any, scale: Any, axis: int | None, block: int | None, ends: Any, special: bool
) -> Any:
    """Multiples of half a scale, most of them within the target, and others."""
    by = np.repeat(scale, block, axis=axis) if block else scale
    if axis is not None and not block:
        by = np.expand_dims(by, 1 - axis)
    span = min(max(map(abs, ends)) * 1.25, 1e4)
    halves = random.integers(-int(2 * span), int(2 * span) + 1, SHAPE) / 2
    found = np.where(random.random(SHAPE) < 0.7, halves, random.normal(0, span / 2, SHAPE)) * by
    if special:
        odd = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e10, -1e10, 3e38, -3e38, 1e-40, 2.0**63, 5e4]
        places = random.permutation(SHAPE[0] * SHAPE[1])[: len(odd)]
        found.ravel()[places] = odd
    return found


def _held(values: Any, code: str) -> Any:
    """Values as a dtype holds them, in float64, or int64."""
    dtype = BY_CODE[code]
    with np.errstate(all="ignore"):
        if dtype.kind in INTEGERS:
            return np.clip(values, *bounds(dtype)).astype(np.int64)
        if code == "f64":
            return np.asarray(values)
        return np.asarray(values, np.float32).astype(dtype.storage).astype(np.float64)


def ours(case: Case) -> Any:
    """What promoarray makes of a case, as codes."""
    x = pa.asarray(case.x).astype(case.source)
    scale = pa.asarray(case.scale).astype(case.scale_dtype)
    with pa.policy(case.policy):
        zero = case.zero_point
        if zero is not None:
            to = case.source if case.function == "dequantize" else case.target
            zero = pa.asarray(np.asarray(zero)).astype(to)
        if case.range is not None:
            ends = (pa.asarray(end).astype(pa.float32) for end in case.range)
            scale, zero = pa.quantization_parameters(*ends, dtype=case.target)
        if case.function == "dynamic_quantize":
            return together(*map(np.asarray, pa.dynamic_quantize(x, dtype=case.target)))
        made = getattr(pa, case.function)(x, scale, zero, **case.options)
    return codes(np.asarray(made._buffer))


def together(*arrays: Any) -> Any:
    """The bytes of several arrays, one after the other."""
    return np.concatenate([np.ravel(each).view(np.uint8) for each in arrays])


def codes(values: Any) -> Any:
    """Values as unsigned integers; every NaN as one."""
    with np.errstate(all="ignore"):
        nan = np.isnan(values.astype(np.float64)) if values.dtype.kind not in "iu" else None
    found = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").copy()
    if nan is not None:
        found[nan] = np.iinfo(found.dtype).max
    return found


def compare(golden: str) -> Iterator[str]:
    """What differs, a line a case."""
    lines = (GOLDEN / f"{golden}.txt").read_text(encoding="utf-8").splitlines()
    recorded = dict(line.split(" = ") for line in lines if not line.startswith("#"))
    asked = dict(cases(golden))
    if missing := asked.keys() ^ recorded.keys():
        yield f"not asked and recorded alike: {sorted(missing)}"
    for name in asked.keys() & recorded.keys():
        if recorded[name] == "-":
            continue
        made, want = ours(asked[name]), bytes.fromhex(recorded[name])
        if len(want) != made.nbytes:
            yield f"{name}: {made.nbytes} bytes for {len(want)}"
            continue
        differs = made != np.frombuffer(want, made.dtype).reshape(made.shape)
        if differs.any():
            at = np.unravel_index(np.argmax(differs), made.shape)
            given = asked[name].x if made.ndim > 1 else differs
            first = f"{given[at]!r} at {tuple(map(int, at))}, is {made[at]:#x}"
            yield f"{name}: {np.count_nonzero(differs)} differ, the first, {first}"


def main(names: list[str]) -> int:
    """Run the command; returns its exit status."""
    found = [f"{golden}: {line}" for golden in names or CASES for line in compare(golden)]
    print(*found, sep="\n")
    asked = {golden: len(dict(cases(golden))) for golden in names or CASES}
    print(f"{sum(asked.values()) - len(found)} of {sum(asked.values())} cases agree")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
