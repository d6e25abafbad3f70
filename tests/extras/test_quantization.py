"""Quantization: against exact fractions, and against what frameworks answered."""

from __future__ import annotations

import sys
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import BY_CODE, INTEGERS, DType
from promoarray.functions.data_types import value_of
from promoarray.policies import as_policy
from promoarray.promotion.scalars import bounds

CONFORMANCE = Path(__file__).parents[2] / "conformance"
sys.path.insert(0, str(CONFORMANCE))
import quantization  # noqa: E402
import tables  # noqa: E402

# -- exact fractions ------------------------------------------------------------------------------


def rounded(value: Fraction, digits: int, least: int) -> Fraction:
    """To ``digits`` binary digits, ties to even, of which none is below 2**least."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    return round(value / unit) * unit


FLOAT32 = (24, -149)
FLOAT16 = (11, -24)


class Values:
    """The values of a narrow float from 0 up, in the order of their codes."""

    def __init__(self, dtype: DType) -> None:
        layout = dtype.format
        assert layout is not None
        codes = range(layout.largest + 1)
        self.values = [Fraction(value_of(layout, code)) for code in codes]

    def nearest(self, value: Fraction) -> Fraction:
        """The nearest, of two the one of an even code; the largest for all above."""
        at = bisect_left(self.values, abs(value))
        if at == len(self.values):
            found = self.values[-1]
        else:
            near = [n for n in (at - 1, at) if n >= 0]
            found = self.values[min(near, key=lambda n: (abs(abs(value) - self.values[n]), n % 2))]
        return found if value > 0 else -found


def model(x: float, scale: float, zero: int, target: DType, single: tuple[int, int]) -> Fraction:
    quotient = rounded(Fraction(x) / Fraction(scale), *single)
    if target.kind in INTEGERS:
        low, high = bounds(target)
        return Fraction(min(max(round(quotient) + zero, low), high))
    return VALUES[target].nearest(quotient)


FORMATS = "f4_e2m1fn f6_e2m3fn f6_e3m2fn f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz"
WHOLE = "i2 u2 i4 u4 i8 u8 i16 u16"
TARGETS = [BY_CODE[code] for code in f"{WHOLE} {FORMATS}".split()]
VALUES = {target: Values(target) for target in TARGETS if target.kind not in INTEGERS}


def borders(target: DType) -> list[Fraction]:
    """Every value of a dtype (of 16 bits some), every middle of two, and what lies beyond."""
    if target.kind in INTEGERS:
        low, high = bounds(target)
        step = max(1, (high - low) // 256)
        whole = [Fraction(n) for n in (*range(low - 2, high + 3, step), low, high)]
        return [n + half for n in whole for half in (Fraction(0), Fraction(1, 2))]
    values = VALUES[target].values
    both = [*values, *((a + b) / 2 for a, b in pairwise(values))]
    gap = values[-1] - values[-2]
    both += [values[-1] + gap / 2, values[-1] + gap, 2 * values[-1]]
    return [sign * value for value in both for sign in (1, -1)]


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("scale", [1.0, 0.25, 3.0, 0.1])
def test_every_value_and_every_middle(target: DType, scale: float) -> None:
    step = np.float32(scale)
    exact = np.asarray(
        [float(each * Fraction(float(step))) for each in borders(target)], np.float32
    )
    near = np.concatenate([exact, np.nextafter(exact, np.inf), np.nextafter(exact, -np.inf)])
    x = near[np.isfinite(near)]
    zero = 1 if target.kind in INTEGERS else None
    with pa.policy("onnx@28"):
        made = pa.quantize(pa.asarray(x), pa.asarray(step), zero, dtype=target)
        back = made.astype(pa.float64) if target.kind not in INTEGERS else made
    wanted = [model(float(v), float(step), zero or 0, target, FLOAT32) for v in x]
    differ = [
        (float(v), float(a), float(b))
        for v, a, b in zip(x, np.asarray(back).tolist(), wanted, strict=True)
        if Fraction(a) != b
    ]
    assert not differ[:5]


def test_every_float16_in_its_own_precision() -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = x[np.isfinite(x)][::5]
    scale = np.float16(0.1)
    with pa.policy("onnx@21"):
        made = np.asarray(pa.quantize(pa.asarray(x), pa.asarray(scale), 3, dtype=pa.int8))
    wanted = [int(model(float(v), float(scale), 3, pa.int8, FLOAT16)) for v in x]
    assert [(v, a, b) for v, a, b in zip(x, made, wanted, strict=True) if a != b][:5] == []


@pytest.mark.parametrize("code", ["f8_e4m3fn", "f4_e2m1fn", "i8", "u4"])
def test_dequantize_is_exact_in_float32(code: str) -> None:
    dtype = BY_CODE[code]
    q = pa.asarray(np.arange(1 << dtype.bits, dtype=np.uint8).astype(np.int64))
    q = q.astype(dtype) if dtype.kind in INTEGERS else q.astype(pa.uint8).view(dtype)
    zero = 3 if dtype.kind in INTEGERS else None
    made = np.asarray(pa.dequantize(q, pa.asarray(np.float32(0.1)), zero))
    scale = Fraction(float(np.float32(0.1)))
    values = np.asarray(q.astype(pa.float64)).tolist()
    for value, out in zip(values, made.tolist(), strict=True):
        if value == value:
            assert Fraction(out) == rounded((Fraction(value) - (zero or 0)) * scale, *FLOAT32)
        else:
            assert out != out


# -- what frameworks answered ---------------------------------------------------------------------


@pytest.mark.parametrize("golden", sorted(path.stem for path in quantization.GOLDEN.iterdir()))
def test_as_frameworks_answered(golden: str) -> None:
    assert [*quantization.compare(golden)] == []


def test_types_by_opset_are_those_of_the_schemas() -> None:
    sections = tables.read(CONFORMANCE / "golden" / "onnx.txt")[1]
    different = []
    for opset in range(10, 29):
        rule = as_policy(f"onnx@{opset}").quantization
        for name, ours in (("Quantize", rule.targets), ("Dequantize", rule.targets | {pa.int32})):
            types = sections[f"types/{name}Linear"]
            signature = sections[f"signature/{name}Linear"]
            since = max(int(row) for row, _ in signature if int(row) <= opset)
            named = signature[str(since), "y" if name == "Quantize" else "x"]
            schema = {
                BY_CODE[code]
                for (row, code), cell in types.items()
                if row == f"{since}/{named}" and cell == code
            }
            if schema != ours:
                different.append((opset, name, schema ^ ours))
    assert not different


# -- what a user relies on ------------------------------------------------------------------------

INF, NAN = float("inf"), float("nan")


def f32(*values: float) -> pa.PArray:
    return pa.asarray([*values], dtype=pa.float32)


def i64(*values: int) -> pa.PArray:
    return pa.asarray([*values], dtype=pa.int64)


@pytest.mark.parametrize(
    ("policy", "dtype", "wanted"),
    [
        ("onnx@28", pa.uint8, [0, 255, 0, 2, 3]),
        ("onnx@28", pa.int8, [-128, 127, -128, 2, 3]),
        ("torch", pa.uint8, [255, 255, 0, 2, 2]),
        ("torch", pa.int8, [127, 127, -128, 2, 2]),
        ("numpy", pa.int8, [-128, 127, -128, 2, 3]),
    ],
)
def test_nan_infinities_and_halves_beside_a_zero_point(
    policy: str, dtype: DType, wanted: list[int]
) -> None:
    with pa.policy(policy):
        made = pa.quantize(f32(NAN, INF, -INF, 0.75, 1.5), 1.0, 1, dtype=dtype)
    assert np.asarray(made).tolist() == wanted


@pytest.mark.parametrize(
    ("policy", "dtype", "saturate", "wanted"),
    [
        ("onnx@19", pa.float8_e4m3fn, True, [448.0, 448.0, NAN]),
        ("onnx@19", pa.float8_e4m3fn, False, [NAN, NAN, NAN]),
        ("onnx@28", pa.float8_e5m2, True, [57344.0, 57344.0, NAN]),
        ("onnx@28", pa.float8_e5m2, False, [INF, INF, NAN]),
        ("onnx@23", pa.float8_e5m2fnuz, True, [57344.0, NAN, NAN]),
        ("onnx@24", pa.float8_e5m2fnuz, True, [57344.0, 57344.0, NAN]),
        ("onnx@23", pa.float4_e2m1fn, True, [6.0, 6.0, 6.0]),
        ("onnx@23+float4-nan-is-minus-zero", pa.float4_e2m1fn, True, [6.0, 6.0, -0.0]),
        ("jax", pa.float8_e4m3fn, True, [448.0, 448.0, NAN]),
        ("jax", pa.float8_e4m3fn, False, [NAN, NAN, NAN]),
    ],
)
def test_what_a_narrow_float_cannot_hold(
    policy: str, dtype: DType, saturate: bool, wanted: list[float]
) -> None:
    with pa.policy(policy):
        made = pa.quantize(f32(1e9, INF, NAN), 1.0, dtype=dtype, saturate=saturate)
    np.testing.assert_array_equal(np.asarray(made.astype(pa.float32)), np.float32(wanted))


def test_scales_along_an_axis_and_in_blocks_with_a_short_one() -> None:
    x = pa.asarray(np.arange(10, dtype=np.float32).reshape(2, 5))
    along = pa.quantize(x, f32(1.0, 5.0), pa.asarray([0, 1], dtype=pa.int8), axis=0)
    assert along.dtype is pa.int8
    assert np.asarray(along).tolist() == [[0, 1, 2, 3, 4], [2, 2, 2, 3, 3]]
    blocks = pa.reshape(f32(1.0, 2.0, 0.5, 1.0, 1.0, 3.0), (2, 3))
    made = pa.quantize(x, blocks, axis=1, block_size=2, dtype=pa.uint4)
    assert np.asarray(made).astype(int).tolist() == [[0, 1, 1, 2, 8], [5, 6, 7, 8, 3]]
    back = pa.dequantize(made, blocks, axis=1, block_size=2)
    assert np.asarray(back).tolist() == [[0, 1, 2, 4, 4], [5, 6, 7, 8, 9]]


def test_the_precision_of_the_division_is_that_of_the_scale_or_as_asked() -> None:
    # github.com/microsoft/onnxruntime/issues/18576: 2.5 / 0.1 in float16
    x = pa.asarray([2.5, 3.5, -2.5, 0.05, 0.25], dtype=pa.float16)
    with pa.policy("onnx@23"):
        scale = pa.asarray(0.1, dtype=pa.float16)
        assert np.asarray(pa.quantize(x, scale, dtype=pa.int8)).tolist() == [25, 35, -25, 0, 2]
        wide = pa.quantize(x, scale, dtype=pa.int8, precision=pa.float32)
        assert np.asarray(wide).tolist() == [25, 35, -25, 0, 3]


def test_fake_quantize_is_one_after_the_other() -> None:
    x = f32(*np.linspace(-3, 3, 50))
    q = pa.quantize(x, 0.07, 3, dtype=pa.int4)
    made = pa.fake_quantize(x, 0.07, 3, dtype=pa.int4)
    assert bool((made == pa.dequantize(q, f32(0.07), 3)).all())


def test_blocks_of_mx_have_the_power_of_two_that_the_format_asks_for() -> None:
    x = pa.asarray(np.concatenate([np.linspace(-7, 7, 32), np.full(8, 0.03)]), dtype=pa.float32)
    values, scale, zero_point = pa.dynamic_quantize(x, dtype=pa.float4_e2m1fn)
    assert (scale.dtype, zero_point) == (pa.float8_e8m0fnu, None)
    # OCP MX 1.0, 6.3: 2**(floor(log2(7)) - 2) and 2**(floor(log2(0.03)) - 2)
    assert np.asarray(scale.astype(pa.float32)).tolist() == [1.0, 2.0**-8]
    assert float(values[31].astype(pa.float32)) == 6.0
    back = pa.dequantize(values, scale, block_size=32, dtype=pa.float32)
    assert float(back[-1]) == 6 * 2.0**-8  # 0.03 * 2**8 is 7.68, and saturates


@pytest.mark.parametrize("policy", ["numpy", "onnx@11", "torch"])
def test_the_range_of_a_dynamic_scale_takes_in_zero(policy: str) -> None:
    with pa.policy(policy):
        values, scale, zero_point = pa.dynamic_quantize(f32(1.0, 3.0))
        nothing = pa.dynamic_quantize(f32(0.0, 0.0))
    assert (int(zero_point), np.asarray(values).tolist()) == (0, [85, 255])
    assert float(scale) == np.float32(3) / np.float32(255)
    assert np.asarray(nothing.values).tolist() == [0, 0]


ERRORS = [
    ("numpy", lambda: pa.quantize([1.0], 1.0), TypeError, "takes an array"),
    ("numpy", lambda: pa.quantize(f32(1), "1"), TypeError, "an array or a float as scale"),
    ("numpy", lambda: pa.quantize(f32(1), 1.0, 300), ValueError, "from 0 to 255, not at 300"),
    ("torch", lambda: pa.quantize(f32(1), 1.0, i64(300), dtype=pa.int8), ValueError, "not at 300"),
    (
        "numpy",
        lambda: pa.dequantize(pa.astype(i64(1), pa.uint8), 1.0, i64(-1)),
        ValueError,
        "0 to 255, not at -1",
    ),
    (
        "numpy",
        lambda: pa.quantize(f32(1), 1.0, 1000, dtype=pa.float8_e4m3fn),
        ValueError,
        "from -448 to 448, not at 1000",
    ),
    (
        "numpy",
        lambda: pa.fake_quantize(f32(1), 1.0, i64(9), dtype=pa.int8, limits=(-8, 7)),
        ValueError,
        "from -8 to 7, not at 9",
    ),
    (
        "torch",
        lambda: pa.fake_quantize(f32(1), 1.0, dtype=pa.int8, limits=(-200, 7)),
        ValueError,
        "integers of int8, from -128 to 127",
    ),
    (
        "torch",
        lambda: pa.fake_quantize(f32(1), 1.0),
        TypeError,
        "torch.fake_.* dtype=, one of int2",
    ),
    (
        "tensorflow",
        lambda: pa.fake_quantize(i64(1), 1.0, dtype=pa.int8),
        pa.PromotionError,
        "fake_quant_with_min_max_vars takes float32 as x",
    ),
    ("numpy", lambda: pa.quantize(f32(1), 10**400), OverflowError, "scale is int of 1329 bits"),
    (
        "onnx@21",
        lambda: pa.quantize(f32(1), 1.0, i64(3), dtype=pa.int8),
        pa.PromotionError,
        "zero_point must be of int8",
    ),
    (
        "numpy",
        lambda: pa.quantize(f32(1), 1.0, dtype=pa.int64),
        pa.PromotionError,
        "dtype, not int64",
    ),
    ("numpy", lambda: pa.quantize(f32(1, 2), f32(1, 2, 3)), ValueError, r"scales .* shape \(2,\)"),
    ("numpy", lambda: pa.quantize(f32(1), 1.0, limits=(5, 3)), ValueError, "the lower one first"),
    ("onnx@13", lambda: pa.quantize(f32(1), 1.0, saturate=True), TypeError, "onnx@19 and later"),
    (
        "onnx@13",
        lambda: pa.quantize(f32(1), 1.0, dtype=pa.int4),
        pa.PromotionError,
        "int8 or uint8",
    ),
    (
        "onnx@9",
        lambda: pa.quantize(f32(1), 1.0),
        pa.PromotionError,
        "before opset 10 takes nothing",
    ),
    ("onnx@21", lambda: pa.quantize(f32(1), np.float16(1)), pa.PromotionError, "of one type"),
    ("torch", lambda: pa.quantize(f32(1), 1.0), TypeError, "write dtype=, one of int8, uint8"),
    ("torch", lambda: pa.quantize(f32(1, 2), f32(1, 2), dtype=pa.int8), TypeError, "write axis="),
    (
        "torch",
        lambda: pa.dynamic_quantize(f32(1), dtype=pa.float4_e2m1fn),
        pa.PromotionError,
        "int8",
    ),
    ("numpy", lambda: pa.dynamic_quantize(f32(), dtype=pa.int8), ValueError, "without elements"),
]


@pytest.mark.parametrize(("policy", "ask", "error", "words"), ERRORS)
def test_errors_say_what_to_write(policy: str, ask: Any, error: Any, words: str) -> None:
    with pa.policy(policy), pytest.raises(error, match=words):
        ask()


@pytest.mark.parametrize(
    ("quirk", "x", "scale", "plain", "strange"),
    [
        ("quantizes-float16-in-float32", 0.25, 0.1, 2, 3),
        ("quantizes-through-int32", 3e4, 1e-6, 127, -128),
    ],
)
def test_quirks_of_the_two_implementations(
    quirk: str, x: float, scale: float, plain: int, strange: int
) -> None:
    given = [pa.asarray(each, dtype=pa.float16) for each in (x, scale)]
    for name, wanted in (("onnx@21", plain), (f"onnx@21+{quirk}", strange)):
        with pa.policy(name):
            assert int(pa.quantize(*given, dtype=pa.int8)) == wanted


@pytest.mark.parametrize("policy", ["numpy", "torch"])
def test_limits_alone_are_of_any_integers(policy: str) -> None:
    with pa.policy(policy):
        assert pa.fake_quantize(f32(500, -9), 0.5, limits=(-8, 900)).tolist() == [450, -4]


@pytest.mark.parametrize("dtype", [pa.float16, pa.float32, pa.float64])
def test_either_end_of_a_range_may_be_the_array(dtype: DType) -> None:
    low, high = (pa.asarray(x, dtype=dtype) for x in (-6.1, 6.0))
    wanted = [float(x) for x in pa.quantization_parameters(low, high)]
    for ends in ((low, 6.0), (-6.1, high)):
        assert [float(x) for x in pa.quantization_parameters(*ends)] == wanted


def test_tensorflow_divides_by_the_scale_of_a_range() -> None:
    # tensorflow-cpu 2.21.0, fake_quant_with_min_max_vars of 16 bits: a product is one step off
    low, high = f32(-1.6890023946762085), f32(0.9508363604545593)
    with pa.policy("tensorflow"):
        scale, zero = pa.quantization_parameters(low, high, dtype=pa.uint16)
        made = pa.fake_quantize(f32(-1.0011327266693115), scale, zero, dtype=pa.uint16)
        assert bool((made == scale * -24854.0).all())


def test_a_namespace_has_them_among_its_extras() -> None:
    xp = pa.namespace("torch")
    made = xp.extras.quantize(xp.asarray([0.5], dtype=xp.float32), 1.0, 1, dtype=xp.uint8)
    assert type(made) is not pa.PArray
    assert int(made[0]) == 2


def test_policies_are_asked_for_their_values() -> None:
    with pa.policy("onnx@21"), pa.shadow("torch", "onnx@13", "jax") as report:
        pa.quantize(f32(0.5, 1.0), 1.0, 1, dtype=pa.uint8)
    (change,) = report.value_changes
    (difference,) = change.differences.values()
    assert (difference.policies, difference.elements) == (("torch@2.13",), 1)
    assert difference.example == ((0,), "0.5", "1", "2")
    assert {call.policy for call in report.signatures} == {"jax@x64"}


def test_lazy_arrays_have_the_same_bits() -> None:
    pytest.importorskip("dask.array")
    x = f32(*np.linspace(-300, 300, 40))
    lazy = x.to_device("dask").rechunk(16)
    for ask in (
        lambda v: pa.quantize(v, 1.5, 3, dtype=pa.int8),
        lambda v: pa.dequantize(pa.quantize(v, 1.5, dtype=pa.float8_e4m3fn), 0.5),
        lambda v: pa.fake_quantize(v, 1.5, 3, dtype=pa.int4),
        lambda v: pa.dynamic_quantize(v).values,
    ):
        assert bool((ask(lazy).compute() == ask(x)).all())


def test_every_policy_is_asked_for_its_scales() -> None:
    with pa.shadow("tensorflow", "onnx@25") as report:
        pa.extras.quantization_parameters(0.5, 6.0)
    (change,) = report.value_changes
    assert [*change.differences] == [("tensorflow",)]
    with pa.shadow("torch", "jax") as report:
        pa.extras.dynamic_quantize(pa.asarray([0.5, 1.0], dtype=pa.float16))
    refused = {
        policy
        for place in report.divergences
        for policy, answer in place.answers.items()
        if place.name == "dynamic_quantize" and answer.dtype is None
    }
    assert refused == {"torch@2.13"}
