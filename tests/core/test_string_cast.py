"""Strings: against what onnx.reference and onnxruntime answered, and against exact fractions."""

from __future__ import annotations

import json
import math
import pickle
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from check import GOLDEN
from hypothesis import example, given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import string_cast
from promoarray.dtypes import BY_NAME, CONCRETE, DType, Kind
from promoarray.promotion.scalars import bounds

RECORDED = json.loads((GOLDEN / "strings.json").read_text(encoding="utf-8"))
FLOATS = [d for d in CONCRETE if d.kind is Kind.FLOAT]
INTEGERS = [d for d in CONCRETE if d.kind in (Kind.INT, Kind.UINT)]
SMALL = [d for d in FLOATS if d.bits <= 16]
NEAREST = [d for d in FLOATS if d is not dt.float8_e8m0fnu]
"""e8m0 is rounded as the policy's round_mode says."""


def texts(*values: str) -> Any:
    return np.array(values, dt.string.storage)


def number(value: Any) -> float:
    return float(np.asarray(value).astype(np.float64))


def same(a: Any, b: Any) -> bool:
    """Equal, with the sign of zero; one NaN is as good as another."""
    if any(isinstance(x, str) and x in ("error", "-") for x in (a, b)):
        return bool(a == b)
    a, b = float(a), float(b)
    return (math.isnan(a) and math.isnan(b)) or (a, math.copysign(1, a)) == (b, math.copysign(1, b))


# --- the oracle: a text's exact value, and rounding in fractions ---------------------------------


def meaning(text: str) -> Fraction | float | None:
    """What the document says a text is; None if it is no number."""
    text = text.strip()
    special = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf}
    special |= {"INFINITY": math.inf, "+INFINITY": math.inf, "-INFINITY": -math.inf}
    special |= {"NAN": math.nan, "+NAN": math.nan, "-NAN": math.nan}
    if text.upper() in special:
        return special[text.upper()]
    if not set(text) <= set("0123456789+-.eE"):
        return None
    try:
        return Fraction(text)
    except ValueError:
        return None


def in_float(exact: Fraction, dtype: DType) -> float:
    """The nearest value of a float format, ties to even, as if there were no largest one."""
    layout = dtype.format
    assert layout is not None
    if not exact:
        return 0.0
    top = abs(exact).numerator.bit_length() - abs(exact).denominator.bit_length()
    top -= Fraction(2) ** top > abs(exact)
    gap = Fraction(2) ** (max(top, 1 - layout.bias) - layout.mantissa)
    return as_float64(round(exact / gap) * gap)


def as_float64(exact: Fraction) -> float:
    """The nearest float64, but zero only for zero."""
    try:
        return float(exact) or (math.ulp(0.0) if exact else 0.0)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def not_below(exact: Fraction) -> float:
    """A float64 that e8m0, which ONNX rounds up, cannot tell from the number."""
    near = as_float64(exact)
    return math.nextafter(near, math.inf) if math.isfinite(near) and near < exact else near


def answer(text: str, dtype: DType) -> Any:
    """What promoarray shall answer; what is out of a float's range, the cast of float64 decides."""
    exact = meaning(text)
    if exact is None or (dtype.kind in (Kind.INT, Kind.UINT) and not isinstance(exact, Fraction)):
        return "error"
    if dtype is dt.bool:
        return exact != 0
    if dtype.kind is not Kind.FLOAT:
        whole, (low, high) = math.trunc(exact), bounds(dtype)
        return whole if low <= whole <= high else "error"
    negative = text.strip().startswith("-")
    if isinstance(exact, Fraction):
        exact = not_below(exact) if dtype not in NEAREST else in_float(exact, dtype)
        if math.isinf(exact) and dtype is not dt.float64:  # large, but not infinite
            exact = math.copysign(sys.float_info.max, exact)
    exact = math.copysign(exact, -1.0 if negative else 1.0)
    with pa.policy("onnx"):
        return number(pa.asarray(exact, dtype=pa.float64).astype(dtype))


def cast(text: str, dtype: DType) -> Any:
    try:
        with pa.policy("onnx"):
            out = pa.asarray(text).astype(dtype)
    except (ValueError, OverflowError):
        return "error"
    assert out.dtype is dtype
    return out.item()


# --- text to number ------------------------------------------------------------------------------

# Where both implementations answer alike, and promoarray otherwise: what the text is, and why.
SHARED_ACCIDENTS = {
    "1e": "a number and garbage is no number: both take a bool's text for its first digits",
    "1_000": "likewise",
    "1.0f": "likewise",
    "1,5": "likewise",
    "1-": "likewise",
    ".5": "a fraction is cut off as that of '100.5' is; both refuse it for want of a whole part",
    "+.5": "likewise",
    "-.5": "likewise",
}


# How e8m0 rounds, and what it makes of negatives, is the cast rule's, whatever the source.
@pytest.mark.parametrize("name", [n for n in RECORDED["read"]["1"] if n != "float8_e8m0fnu"])
def test_reading_is_what_the_implementations_agree_on(name: str) -> None:
    dtype, different = BY_NAME[name], []
    for text, row in RECORDED["read"].items():
        reference, ort = row[name]
        if same(reference, ort) and reference != "-" and text not in SHARED_ACCIDENTS:
            ours = cast(text, dtype)
            if not same(ours, reference):
                different.append((text, ours, reference))
    assert different == []


@pytest.mark.parametrize("name", RECORDED["read"]["1"])
def test_reading_where_only_onnxruntime_answers(name: str) -> None:
    dtype, different = BY_NAME[name], []
    if dtype not in NEAREST:
        return  # it wraps what is out of range, and reads "1e5" as 1
    largest = pa.finfo(dtype).max
    for text, row in RECORDED["read"].items():
        exact, (reference, ort) = meaning(text), row[name]
        if reference == "-" and ort not in ("-", "error") and exact is not None:
            ours = cast(text, dtype)
            if abs(exact) <= largest and not same(ours, ort):
                different.append((text, ours, ort))
    assert different == []


@pytest.mark.parametrize("dtype", [dt.bool, *FLOATS, *INTEGERS], ids=str)
def test_reading_every_recorded_text(dtype: DType) -> None:
    if dtype.name not in RECORDED["read"]["1"]:
        pytest.skip("ONNX 25 does not cast to it")
    different = [
        (text, cast(text, dtype), answer(text, dtype))
        for text in RECORDED["read"]
        if not same(cast(text, dtype), answer(text, dtype))
    ]
    assert different == []


signs = st.sampled_from(["", "+", "-"])
digits = st.text("0123456789", min_size=1, max_size=30)
exponents = st.one_of(st.just(""), st.integers(-60, 60).map("e{}".format))
numbers = st.builds("{}{}.{}{}".format, signs, digits, digits, exponents)


@st.composite
def beside_midpoints(draw: st.DrawFn) -> tuple[str, DType]:
    """A text that lies at a tie of a format, or beside it by less than any float64 can tell."""
    dtype = draw(st.sampled_from(NEAREST))
    layout = dtype.format
    assert layout is not None
    step = draw(st.integers(0, 2 << layout.mantissa))
    top = draw(st.integers(1 - layout.bias, math.frexp(pa.finfo(dtype).max)[1] - 1))
    exact = Fraction(2 * step + 1) * Fraction(2) ** (top - layout.mantissa - 1)
    exact = exact if exact < Fraction(pa.finfo(dtype).max) else Fraction(3, 2)
    shift = draw(st.sampled_from([0, 1, -1])) * Fraction(10) ** (-1100)
    return plain(exact + shift), dtype


def plain(exact: Fraction) -> str:
    """A dyadic or decimal fraction with every digit it has."""
    places = max(exact.denominator.bit_length(), 1)
    scaled = exact * Fraction(10) ** places
    assert scaled.denominator == 1
    whole = str(scaled.numerator).zfill(places + 1)
    return f"{whole[:-places]}.{whole[-places:]}"


@given(beside_midpoints())
def test_rounding_happens_once(case: tuple[str, DType]) -> None:
    text, dtype = case
    exact = Fraction(Decimal(text))
    assert number(string_cast.read(texts(text), dtype)[0]) == in_float(exact, dtype)


@given(numbers, st.sampled_from(NEAREST))
@example("1e-400", dt.float32)
@example("7.0064923216240854e-46", dt.float32)  # just above half of the least float32
def test_rounding_is_that_of_fractions(text: str, dtype: DType) -> None:
    nearest = in_float(Fraction(text), dtype)
    if abs(nearest) <= pa.finfo(dtype).max:
        assert number(string_cast.read(texts(text), dtype)[0]) == nearest


@given(numbers, st.sampled_from(INTEGERS))
def test_integers_are_cut_off_and_must_fit(text: str, dtype: DType) -> None:
    whole, (low, high) = math.trunc(Fraction(text)), bounds(dtype)
    if low <= whole <= high:
        assert int(string_cast.read(texts(text), dtype)[0]) == whole
    else:
        with pytest.raises(OverflowError, match="out of the range"):
            string_cast.read(texts(text), dtype)


def test_beyond_every_float_is_infinite_and_below_is_zero() -> None:
    values = string_cast.read(texts("1e400", "-1e400", "1e-400", "-1e-400"), dt.float64)
    assert list(map(str, values)) == ["inf", "-inf", "0.0", "-0.0"]
    huge = f"1e{'9' * 50}"
    assert string_cast.read(texts(huge, f"-1e-{'9' * 50}"), dt.float32).tolist() == [math.inf, -0.0]
    assert string_cast.read(texts("1" + "0" * 5000 + "e-5000"), dt.int8).tolist() == [1]
    with pytest.raises(OverflowError, match="out of the range of int8"):
        string_cast.read(texts(huge), dt.int8)


def test_whole_integers_are_exact_to_their_ends() -> None:
    for dtype in INTEGERS:
        for end in bounds(dtype):
            assert int(string_cast.read(texts(f"{end}.99"), dtype)[0]) == end
            beyond = end + (1 if end > 0 else -1)
            with pytest.raises(OverflowError, match=dtype.name):
                string_cast.read(texts(f"{beyond}"), dtype)


@pytest.mark.parametrize(
    "text",
    ["", " ", "Hello World!", "0x10", "0b1", "1_000", "1e", "e5", "1,5", "1.0f", "--1", "+-INF",
     "nan(1)", "true", "False", "yes", "١٢", "1 2", "½", ".", "+", "1e5.0", "ınf", "1\0"],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [dt.bool, dt.float64, dt.bfloat16, dt.int8], ids=str)
def test_what_is_no_number_is_named_with_its_place(text: str, dtype: DType) -> None:
    array = pa.asarray([["1", "2"], ["3", text]])
    with pa.policy("onnx"), pytest.raises(ValueError, match="is not a number") as caught:
        array.astype(dtype)
    assert repr(text) in str(caught.value)
    assert "at [1, 1]" in str(caught.value)


def test_a_long_text_that_is_no_number_is_refused_quickly_and_shortened() -> None:
    with pytest.raises(ValueError, match=r"'1111.*\.\.\. is not a number") as caught:
        string_cast.read(texts("1" * 1_000_000 + "x")[0:1].reshape(()), dt.float32)
    assert len(str(caught.value)) < 300


def test_infinity_and_nan_are_no_integers() -> None:
    for text in ("INF", "-inf", "NaN"):
        with pytest.raises(ValueError, match="not an integer"):
            string_cast.read(texts(text), dt.int32)


def test_missing_texts_are_no_numbers() -> None:
    missing = np.array(["1", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(ValueError, match=r"None at \[1\] is not a number"):
        string_cast.read(missing, dt.float32)


# --- number to text ------------------------------------------------------------------------------


# Both write these float32 with exponents, which the document's "plain" does not say.
PLAIN_FROM_1E8 = {"123456792.0", "100000000.0", "10000000000.0"}


@pytest.mark.parametrize("name", RECORDED["written"])
def test_writing_is_what_the_implementations_agree_on(name: str) -> None:
    dtype, different = BY_NAME[name], []
    for value, (reference, ort) in RECORDED["written"][name].items():
        if reference == ort and ort not in ("-", "error") and value not in PLAIN_FROM_1E8:
            with pa.policy("onnx"):
                given = value == "True" if dtype is dt.bool else float(value)
                given = int(value) if dtype in INTEGERS else given
                ours = pa.asarray(given, dtype=dtype).astype(pa.string).item()
            if ours != ort:
                different.append((value, ours, ort))
    assert different == []


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, dt.float32, "0.1"),
        (0.1, dt.bfloat16, "0.1"),
        (1 / 3, dt.float64, "0.3333333333333333"),
        (1 / 3, dt.float16, "0.3333"),
        (314.15926, dt.float64, "314.15926"),
        (1.0, dt.float32, "1"),
        (-0.0, dt.float32, "-0"),
        (65504.0, dt.float16, "65504"),
        (448.0, dt.float8_e4m3fn, "448"),
        (123456789.0, dt.float32, "123456792"),
        (1e15, dt.float64, "1000000000000000"),
        (1e16, dt.float64, "1e+16"),
        (1e-4, dt.float64, "0.0001"),
        (1e-5, dt.float32, "1e-05"),
        (1.5e300, dt.float64, "1.5e+300"),
        (5e-324, dt.float64, "5e-324"),
        (2.0**-127, dt.float8_e8m0fnu, str(Decimal(2.0**-127)).lower()),
        (math.inf, dt.float32, "INF"),
        (-math.inf, dt.float8_e5m2, "-INF"),
        (math.nan, dt.float8_e4m3fn, "NaN"),
        (True, dt.bool, "1"),
        (False, dt.bool, "0"),
        (-8, dt.int4, "-8"),
        (2**64 - 1, dt.uint64, "18446744073709551615"),
    ],
)
def test_writing(value: Any, dtype: DType, text: str) -> None:
    with pa.policy("numpy"):
        array = pa.asarray(value, dtype=dtype)
    assert string_cast.written(np.asarray(array), dtype).item() == text


def codes(dtype: DType) -> Any:
    word = np.uint8 if dtype.bits <= 8 else np.uint16
    return np.arange(1 << dtype.bits, dtype=word).view(dtype.storage)


@pytest.mark.parametrize(
    "dtype",
    # Its numbers have more digits than those of the others together.
    [pytest.param(d, marks=pytest.mark.slow) if d is dt.bfloat16 else d for d in SMALL],
    ids=str,
)
def test_every_value_reads_back(dtype: DType) -> None:
    values = codes(dtype)
    back = string_cast.read(string_cast.written(values, dtype), dtype)
    wide, again = values.astype(np.float32), back.astype(np.float32)
    assert np.all((wide == again) & (np.signbit(wide) == np.signbit(again)) | np.isnan(wide))
    assert np.array_equal(np.isnan(wide), np.isnan(again))


@given(st.lists(st.floats(width=32), max_size=5))
def test_float32_reads_back(values: list[float]) -> None:
    array = np.array(values, np.float32)
    back = string_cast.read(string_cast.written(array, dt.float32), dt.float32)
    number = ~np.isnan(array)
    assert np.array_equal(np.isnan(back), ~number)
    assert back[number].tobytes() == array[number].tobytes()


@given(st.floats())
def test_float64_reads_back(value: float) -> None:
    back = string_cast.read(string_cast.written(np.array(value), dt.float64), dt.float64)
    assert same(back.item(), value)


@given(st.data())
def test_integers_read_back(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(INTEGERS))
    values = data.draw(st.lists(st.integers(*bounds(dtype)), max_size=4))
    array = np.array(values, np.int8 if dtype.bits < 8 else dtype.storage).astype(dtype.storage)
    assert np.array_equal(string_cast.read(string_cast.written(array, dtype), dtype), array)


@pytest.mark.parametrize("dtype", [d for d in NEAREST if d.bits <= 8], ids=str)
def test_no_shorter_text_reads_back(dtype: DType) -> None:
    for value in codes(dtype).astype(np.float64).tolist():
        if not math.isfinite(value) or value == int(value):
            continue
        exact, text = (
            Fraction(value),
            string_cast.written(np.array(value, dtype.storage), dtype).item(),
        )
        count = len(text.partition("e")[0].lstrip("-0.").replace(".", ""))
        if count == 1:
            continue
        unit = Fraction(10) ** (Decimal(value).adjusted() - count + 2)
        for shorter in (math.floor(exact / unit) * unit, math.ceil(exact / unit) * unit):
            assert in_float(shorter, dtype) != value


# --- arrays of strings ---------------------------------------------------------------------------


def test_arrays_of_strings_are_made_and_moved_under_any_policy() -> None:
    for policy in ("numpy", "torch", "onnx@8"):
        with pa.policy(policy):
            a = pa.asarray([["a", "bb"], ["", "é"]])
            assert a.dtype is pa.string
            assert a.shape == (2, 2)
            assert a[1].tolist() == ["", "é"]
            assert a[0, 1].item() == "bb"
            assert pa.reshape(a, (4,)).tolist() == ["a", "bb", "", "é"]
            assert a.astype(pa.string).tolist() == a.tolist()
            assert pa.asarray("x").shape == ()
            assert pa.asarray(np.array(["x", "yy"])).tolist() == ["x", "yy"]
            assert pa.asarray([], dtype=pa.string).shape == (0,)
            assert pickle.loads(pickle.dumps(a)).tolist() == a.tolist()
            assert repr(pa.asarray(["x"], dtype=pa.string)) == "PArray(['x'], dtype=string)"


def test_equality_and_concat_are_of_the_opsets_that_have_them() -> None:
    a, b = pa.asarray(["a", "b"]), pa.asarray(["a", "c"])
    with pa.policy("onnx@19"):
        assert (a == b).tolist() == [True, False]
        assert (a != b).tolist() == [False, True]
    with pa.policy("onnx"):
        assert pa.concat([a, b]).tolist() == ["a", "b", "a", "c"]
        assert pa.where(a == b, a, b).tolist() == ["a", "c"]
    for policy in ("onnx@18", "numpy", "jax"):
        with pa.policy(policy), pytest.raises(pa.PromotionError, match="string"):
            a == b  # noqa: B015


def test_casts_of_strings_are_onnx_from_opset_9_on() -> None:
    a, x = pa.asarray(["1.5", "-2"]), pa.asarray([1.5])
    for policy in ("onnx@8", "numpy", "torch", "paddle", "jax", "array_api"):
        with pa.policy(policy):
            for attempt in (lambda: a.astype(pa.float32), lambda: x.astype(pa.string)):
                says = r"casts no strings .* from opset 9|no string; .* from opset 9 on"
                with pytest.raises(pa.PromotionError, match=says) as caught:
                    attempt()
                error = caught.value
                assert (error.policy, error.operation) == (pa.get_policy(), "astype")
                assert {operand.type for operand in error.operands} >= {pa.dtypes.string}
                assert error.reason in str(error)
    with pa.policy("onnx@9"):
        assert a.astype(pa.float32).tolist() == [1.5, -2]
        assert a.astype(pa.int32).tolist() == [1, -2]
        with pytest.raises(pa.PromotionError, match=r"no bfloat16; .* from opset 13 on"):
            a.astype(pa.bfloat16)
        with pytest.raises(pa.PromotionError, match="no complex64, in any opset"):
            a.astype(pa.complex64)
    xp = pa.namespace("onnx")
    assert xp.asarray(["0.1"]).astype(xp.float32).tolist() == [np.float32(0.1)]


def test_nothing_becomes_a_string_or_of_one_by_accident() -> None:
    a, x = pa.asarray(["1.5", "-2"]), pa.asarray([1.5, 2.5])
    for attempt in (
        lambda: pa.asarray(["1.5"], dtype=pa.float32),
        lambda: pa.asarray([1.5], dtype=pa.string),
        lambda: pa.asarray(x, dtype=pa.string),
        lambda: float(a[0]),
        lambda: bool(a[0]),
        lambda: a + a,
        lambda: x.__setitem__(0, a[0]),
        lambda: a.__setitem__(0, 1.5),
    ):
        with pytest.raises(TypeError, match="string"):
            attempt()
    assert a.tolist() == ["1.5", "-2"]
    assert x.tolist() == [1.5, 2.5]


def test_writing_into_an_array_casts_as_astype_or_writes_nothing() -> None:
    a, x = pa.asarray(["1.5", "-2"]), pa.asarray([0.5, 2.5])
    with pa.policy("onnx"):
        a[0] = pa.asarray("new")
        x[...] = pa.asarray(["3", "4e1"])
        with pytest.raises(ValueError, match="'new' at"):
            x[...] = a
    assert a.tolist() == ["new", "-2"]
    assert x.tolist() == [3.0, 40.0]


@pytest.mark.parametrize(
    "target", [pa.float8_e4m3fn, pa.float8_e5m2fnuz, pa.float4_e2m1fn], ids=str
)
def test_strings_are_cast_by_one_rule_wherever_they_come_from(target: pa.DType) -> None:
    texts = ["1e9", "-inf", "nan", "0", "-3.3"]
    with pa.policy("onnx"):
        words, into = pa.asarray(texts), pa.zeros(5, dtype=target)
        expected = pa.astype(words, target)
        into[...] = words
        for got in (into, pa.asarray(words, dtype=target)):
            assert np.array_equal(
                np.asarray(got.view(pa.uint8)), np.asarray(expected.view(pa.uint8))
            )
