"""Every cast, against exact arithmetic that is not the kernels' (cast_oracle.py).

Sources of 16 bits and fewer are searched whole; wider ones at and beside every tie and boundary.
The definition in cast.h and the fast loops are two implementations: both are compared. What
frameworks really gave is in promotion/test_cast_rules.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from cast_cases import REAL, RULES, cast_codes, random_codes
from cast_oracle import (
    PARTS,
    beyond,
    codes_of,
    every_code,
    expected,
    magnitudes,
    nearest_code,
    value_of_code,
    values_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sampled import turns

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.backends.numpy.cast import widens
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import (
    DEFAULT,
    Beyond,
    CastMode,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    cast,
    dtype_args,
    use_level,
)

FLOATS = [d for d in REAL if d.kind is Kind.FLOAT]
INTEGERS = [d for d in REAL if d.kind in (Kind.INT, Kind.UINT)]
SMALL_FLOATS = [d for d in FLOATS if d.bits <= 16]
FEW_BITS = [d for d in REAL if d.bits <= 8]
HALVES = [d for d in REAL if d.bits == 16]

LARGEST, INF, NAN = Beyond.LARGEST, Beyond.INF, Beyond.NAN
every_rule = pytest.mark.parametrize("mode", RULES.values(), ids=RULES)


def differences(codes, got, want, source, target) -> list[str]:
    return [
        f"{source} {codes[i]:#x} to {target} is {got[i]:#x}, expected {want[i]:#x}"
        for i in np.flatnonzero(got != want)[:4]
    ]


def check(codes: np.ndarray, source: DType, target: DType, mode: CastMode) -> list[str]:
    want = expected(codes, source, target, mode)
    got = cast_codes(codes, source, target, mode)
    return differences(codes, got, want, source, target)


# --- Whole types --------------------------------------------------------------------------------


@every_rule
def test_all_codes_of_8_bits_and_fewer_to_every_type(mode):
    wrong = []
    for source, target in product(FEW_BITS, REAL):
        # Bits above the type's width are not looked at; enough codes for a table, too.
        codes = np.tile(np.arange(256, dtype=np.uint8), 3)
        wrong += check(codes, source, target, mode)
        wrong += check(codes[:100], source, target, mode)
    assert not wrong


@every_rule
@pytest.mark.parametrize(
    "source",
    [d if d.format else pytest.param(d, marks=pytest.mark.slow) for d in HALVES],
    ids=str,
)
def test_all_codes_of_16_bits_to_every_type(source, mode):
    codes = every_code(source)
    assert not [text for target in REAL for text in check(codes, source, target, mode)]


MANY = 1 << 18
"""Elements that are worth a table of the results for all codes of 16 bits, or all pairs of 8."""


@pytest.mark.parametrize("source", REAL, ids=str)
def test_many_elements_are_cast_as_few_are(source):
    """At level 1 what takes many steps is looked up where there are many elements."""
    before = use_level(1)
    wrong = []
    try:
        for turn, target in enumerate(FEW_BITS + SMALL_FLOATS if source.bits > 16 else REAL):
            codes = some_codes(source, target)
            at = np.resize(in_pairs(codes.size), max(MANY, codes.size) + 3)
            # Targets take turns with the rules: a table is made by what casts a few.
            modes = RULES["default"], RULES["torch"], RULES["nan"]
            for mode in turns(modes, 3, turn + REAL.index(source)):
                want = cast_codes(codes, source, target, mode, tuned=False)
                got = cast_codes(codes[at], source, target, mode)
                wrong += differences(codes[at], got, want[at], source, target)
    finally:
        use_level(before)
    assert not wrong


def in_pairs(count: int) -> np.ndarray:
    """Numbers below that, each beside each: of 8 bits two codes are looked up at once."""
    numbers = np.arange(count)
    return np.stack(np.meshgrid(numbers, numbers), -1).ravel() if count <= 256 else numbers


def some_codes(source: DType, target: DType) -> np.ndarray:
    """All there are, or where casts differ."""
    if source.bits <= 16:
        return every_code(source)
    if source.kind is Kind.FLOAT and target.kind is Kind.FLOAT:
        return np.append(edges(source, target), random_codes(source, 1000))
    return random_codes(source, 10_000)


@pytest.mark.slow
def test_every_rule_for_scales_from_all_16_bit_floats():
    scale = dt.float8_e8m0fnu
    choices = (Beyond, Beyond, ScaleRounding, ScaleNegative, ScaleZero, (False, True))
    wrong = []
    for overflow, infinity, way, negative, zero, strict in product(*choices):
        mode = CastMode(
            overflow,
            infinity,
            scale_rounding=way,
            scale_negative=negative,
            scale_zero=zero,
            scale_strict=strict,
        )
        for source in (dt.bfloat16, dt.float16):
            codes = np.unique(every_code(source) & 0xFFC0)  # all exponents, some fractions
            wrong += check(codes, source, scale, mode)
            wide = values_of(codes, source)
            for source_wide in (dt.float32, dt.float64):
                copies = wide.astype(source_wide.storage).view(codes_of(source_wide))
                wrong += check(copies[::16], source_wide, scale, mode)
    assert not wrong


def test_every_rule_for_scales_where_they_end():
    choices = (Beyond, Beyond, ScaleRounding, ScaleNegative, ScaleZero, (False, True))
    ends = [0.0, 2.0**-149, 2.0**-127, 1.5 * 2.0**-127, 2.0**-126, 1.0, 1.5, 2.0**127]
    values = np.array([*ends, 1.25 * 2.0**127, 1.75 * 2.0**127, np.inf, np.nan], np.float32)
    codes = np.concatenate([values, -values]).view(np.uint32)
    wrong = []
    for overflow, infinity, way, negative, zero, strict in product(*choices):
        mode = CastMode(
            overflow,
            infinity,
            scale_rounding=way,
            scale_negative=negative,
            scale_zero=zero,
            scale_strict=strict,
        )
        case = (codes, dt.float32, dt.float8_e8m0fnu, mode)
        got, want = cast_codes(*case), cast_codes(*case, tuned=False)
        wrong += differences(codes, got, want, dt.float32, dt.float8_e8m0fnu)
    assert not wrong


# --- Wide sources -------------------------------------------------------------------------------


@cache
def ties(target: DType) -> list[Fraction]:
    """What lies between neighbours of a type, its values, and where its range ends."""
    if target.kind is Kind.FLOAT and target.bits <= 16:
        layout = target.format
        values = [*magnitudes(layout), beyond(layout)]
        values = values[:: max(1, len(values) // 600)] + values[-3:]
        return sorted({*values, *((a + b) / 2 for a, b in pairwise(values))})
    if target.kind is Kind.FLOAT:
        ends = [Fraction(2) ** k for k in (-1075, -1022, -150, -149, -127, -126, -1, 0, 24, 127)]
        steps = [
            Fraction(1),
            1 + Fraction(1, 2**24),
            1 + Fraction(3, 2**24),
            2 - Fraction(1, 2**24),
        ]
        return sorted(end * step for end in ends for step in steps)
    ends = [Fraction(2) ** k for k in (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 53, 62, 63, 64, 65, 90)]
    return sorted(
        end + step for end in ends for step in (-1, Fraction(-1, 2), 0, Fraction(1, 2), 1)
    )


def beside(points: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        up, down = np.nextafter(points, np.inf), np.nextafter(points, -np.inf)
    points = np.concatenate([points, up, down])
    return np.concatenate([points, -points])


@cache
def edges(source: DType, target: DType) -> np.ndarray:
    """Codes of a wide float at and beside the ties of a target, with all there is of specials."""
    kind = f"f{source.bits // 8}"
    with np.errstate(all="ignore"):
        points = np.array([float(t) for t in ties(target)]).astype(kind)
        near = beside(points)
        # A float64 beside a float32 beside a tie: to meet a rounding that is done twice.
        closer = beside(near.astype(np.float32).astype(kind)) if kind == "f8" else near[:0]
    special = np.array([0, np.inf, np.finfo(kind).tiny, np.finfo(kind).smallest_subnormal], kind)
    special = np.concatenate([special, [np.finfo(kind).max, 1, 1.5, 2.0**127, 1.75]]).astype(kind)
    codes = np.concatenate([near, closer, special, -special]).view(codes_of(source))
    exponent_bits = np.uint64((1 << source.format.exponent) - 1 << source.format.mantissa)
    nans = np.array([1, 5, 1 << source.format.mantissa - 1], np.uint64) | exponent_bits
    nans = np.concatenate([nans, nans | np.uint64(1 << source.bits - 1)]).astype(codes.dtype)
    return np.concatenate([codes, nans])


@every_rule
@pytest.mark.parametrize("source", [dt.float32, dt.float64], ids=str)
def test_wide_floats_at_and_beside_every_tie_and_boundary(source, mode):
    wrong = []
    for target in REAL:
        wrong += check(edges(source, target), source, target, mode)
    assert not wrong


@every_rule
@pytest.mark.parametrize("source", [d for d in INTEGERS if d.bits >= 32], ids=str)
def test_wide_integers_at_and_beside_every_tie_and_boundary(source, mode):
    low = -(1 << source.bits - 1) if source.kind is Kind.INT else 0
    high = (1 << source.bits - (source.kind is Kind.INT)) - 1
    wrong = []
    for target in REAL:
        points = {round(t) for t in ties(target) if t <= 1 << 64}
        if target.kind is Kind.FLOAT:  # ties of numbers too large for the format's own list
            points |= {(2 * k + 1) << n for n in range(6, 56, 7) for k in range(120, 140)}
        points = sorted(points)[:: max(1, len(points) // 250)]
        numbers = {s * p + d for p in points for s in (1, -1) for d in (-1, 0, 1)} | {low, high}
        numbers = [n & (1 << source.bits) - 1 for n in sorted(numbers) if low <= n <= high]
        wrong += check(np.array(numbers, codes_of(source)), source, target, mode)
    assert not wrong


# --- The definition and the loops ---------------------------------------------------------------


@every_rule
def test_the_loops_give_what_the_definition_gives(mode):
    wrong = []
    for source, target in product(REAL, REAL):
        codes = random_codes(source, 1500)
        got = cast_codes(codes, source, target, mode)
        want = cast_codes(codes, source, target, mode, tuned=False)
        wrong += differences(codes, got, want, source, target)
    assert not wrong


@pytest.mark.parametrize("source", [*HALVES, dt.float32], ids=str)
def test_registers_end_where_the_elements_do(source, level):
    """Up to 64 elements are cast at a time, and what is left of those by itself."""
    codes = random_codes(source, 140)
    wrong = []
    for target in REAL:
        want = cast_codes(codes, source, target, tuned=False)
        for n in range(codes.size):
            got = cast_codes(codes[:n], source, target)
            wrong += differences(codes, got, want[:n], source, target)
    assert not wrong


@pytest.mark.parametrize("wide", [*FLOATS, *INTEGERS], ids=str)
def test_there_and_back_is_the_identity_for_all_that_the_other_type_holds(wide):
    small = every_code(dt.int8)
    for narrow in REAL:
        codes = (
            every_code(narrow)[: 2 if narrow is dt.bool else None]
            if narrow.bits <= 8
            else (np.concatenate([random_codes(narrow, 800), cast_codes(small, dt.int8, narrow)]))
        )
        values = values_of(codes, narrow).tolist()
        there = cast_codes(codes, narrow, wide)
        same = np.array([holds(wide, v) for v in values])
        assert same.any()
        assert np.array_equal(cast_codes(there, wide, narrow)[same], codes[same]), narrow


def holds(dtype: DType, value: float | int) -> bool:
    """Whether a value is one of the dtype's own."""
    if value != value or abs(value) == np.inf:
        return False
    layout = dtype.format
    if value == 0:
        minus = np.signbit(float(value))
        return (layout is None or layout.signed) and not (
            minus and (layout is None or not layout.negative_zero)
        )
    if layout is None:
        low = -(1 << dtype.bits - 1) if dtype.kind is Kind.INT else 0
        high = (1 << dtype.bits - (dtype.kind is Kind.INT)) - 1
        return value == int(value) and low <= int(value) <= high
    if value < 0 and not layout.signed:
        return False
    exact = abs(Fraction(value))
    code = nearest_code(exact, layout) if layout.signed else round(math.log2(exact)) + layout.bias
    return 0 <= code <= layout.largest and value_of_code(layout, code) == exact


# --- Complex numbers ----------------------------------------------------------------------------


def parts_of(codes: np.ndarray, dtype: DType) -> np.ndarray:
    return codes.view(codes_of(PARTS[dtype])).reshape(-1, 2)


@pytest.mark.parametrize("source", PARTS, ids=str)
@pytest.mark.parametrize("n", [3, 700, 5000])
def test_complex_sources_are_cast_part_by_part(source, n):
    part = PARTS[source]
    pairs = random_codes(part, 2 * n).reshape(n, 2)
    pairs[: n // 3, 1] = 0
    pairs[: n // 4, 0] = 1 << part.bits - 1  # -0
    whole = pairs.view(source.storage)[:, 0]
    for target in CONCRETE:
        out = np.empty(n, target.storage)
        cast(whole, out, dtype_args(source), dtype_args(target), DEFAULT)
        if target.kind is Kind.COMPLEX:
            want = expected(pairs.reshape(-1), part, PARTS[target], DEFAULT)
            assert np.array_equal(parts_of(out, target).reshape(-1), want), target
        elif target is dt.bool:
            want = [expected(pairs[:, i].copy(), part, target, DEFAULT) for i in (0, 1)]
            assert np.array_equal(out.view(np.uint8), want[0] | want[1])
        else:
            want = expected(pairs[:, 0].copy(), part, target, DEFAULT)
            assert np.array_equal(out.view(codes_of(target)), want), target


@pytest.mark.parametrize("target", PARTS, ids=str)
def test_real_sources_get_a_zero_as_imaginary_part(target):
    for source, n in product(REAL, (3, 5000)):
        codes = random_codes(source, n)
        out = np.empty(n, target.storage)
        cast(codes, out, dtype_args(source), dtype_args(target), DEFAULT)
        real, imaginary = parts_of(out, target).T
        assert np.array_equal(real, expected(codes, source, PARTS[target], DEFAULT)), source
        assert not imaginary.any()


# --- Layouts ------------------------------------------------------------------------------------


@st.composite
def layouts(draw: st.DrawFn) -> tuple[DType, DType, np.ndarray]:
    """A source type, a target type and an array of any layout."""
    source, target = draw(st.sampled_from(CONCRETE)), draw(st.sampled_from(CONCRETE))
    shape = draw(st.lists(st.integers(0, 7), max_size=4))
    if draw(st.booleans()):
        shape = [*shape, draw(st.integers(200, 600))]
    size = source.storage.itemsize
    count = int(np.prod([2 * n + 1 for n in shape]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    offset = draw(st.sampled_from([0, 0, 1, 3]))  # unaligned
    memory = rng.integers(0, 256, count * size + offset, np.uint8)[offset:]
    array = memory.view(source.storage).reshape([2 * n + 1 for n in shape])
    index = []
    for n in shape:
        start, step = draw(st.integers(0, 1)), draw(st.sampled_from([1, 1, 2, -1, -2]))
        axis = slice(start, start + n) if abs(step) == 1 else slice(start, start + 2 * n, 2)
        index.append((axis, slice(None, None, -1) if step < 0 else slice(None)))
    for axis, pair in enumerate(index):
        for one in pair:
            array = array[(slice(None),) * axis + (one,)]
    if draw(st.booleans()) and array.ndim:
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    if draw(st.integers(0, 4)) == 0:
        array = np.broadcast_to(array, (draw(st.integers(0, 3)), *array.shape))
    if draw(st.booleans()):
        array = array.view(source.storage.newbyteorder())
    array.flags.writeable = False
    return source, target, array


@given(layouts())
@settings(deadline=None, max_examples=300)
def test_the_layout_does_not_matter(case):
    source, target, array = case
    plain = np.empty(array.shape, source.storage)
    raw = array.view(array.dtype.newbyteorder("=")) if not array.dtype.isnative else array
    plain.view(f"V{array.itemsize}")[...] = raw.view(f"V{array.itemsize}")
    if not array.dtype.isnative:
        width = codes_of(PARTS.get(source, source)).itemsize
        pieces = plain.reshape(-1).view(f"u{width}")
        pieces[...] = pieces.byteswap()
    got, want = np.empty(array.shape, target.storage), np.empty(array.shape, target.storage)
    cast(array, got, dtype_args(source), dtype_args(target), DEFAULT)
    cast(plain, want, dtype_args(source), dtype_args(target), DEFAULT)
    assert got.tobytes() == want.tobytes()


@given(layouts())
@settings(deadline=None, max_examples=100)
def test_the_backend_keeps_shape_and_order(case):
    source, target, array = case
    native = array.astype(array.dtype.newbyteorder("=")) if not array.dtype.isnative else array
    before = native.tobytes()
    out = backend.cast(native, source, target)
    assert out.shape == native.shape
    assert out.dtype == target.storage
    if source is not target and not widens(source, target):
        want = np.empty(native.shape, target.storage)
        cast(native, want, dtype_args(source), dtype_args(target), DEFAULT)
        assert out.tobytes() == want.tobytes()
        assert out.strides == np.empty_like(native, target.storage).strides
    assert native.tobytes() == before


@pytest.mark.parametrize("n", [2047, 2048, 2049, 4095, 4096, 4097, 10_000])
def test_blocks_join_without_a_seam(n):
    values = np.arange(3 * n, dtype=np.int32)
    for view in (values[::3], values[::-1][:n], values.reshape(n, 3)[:, 1]):
        for target in (dt.int8, dt.float16, dt.float64, dt.complex64, dt.bool):
            out = np.empty(view.shape, target.storage)
            cast(view, out, dtype_args(dt.int32), dtype_args(target), DEFAULT)
            with np.errstate(over="ignore"):
                assert np.array_equal(out, view.astype(target.storage))


@pytest.mark.slow
def test_more_than_2_to_the_31_elements():
    n = (1 << 31) + 12_345
    out = np.empty(n, np.uint8)
    cast(
        np.broadcast_to(np.float16(3.7), (n,)),
        out,
        dtype_args(dt.float16),
        dtype_args(dt.uint8),
        DEFAULT,
    )
    assert out[0] == out[-1] == 3
    assert np.all(out[:: 1 << 12] == 3)
    out[-3:] = [1, 7, 200]
    signs = np.empty(n, np.bool)
    cast(out, signs, dtype_args(dt.int8), dtype_args(dt.bool), DEFAULT)
    assert signs[-1]
    assert signs[1 << 31]
    del signs  # 2 GiB
    codes = np.empty(n, np.uint8)
    cast(out, codes, dtype_args(dt.uint8), dtype_args(dt.float8_e5m2), DEFAULT)
    assert codes[-3:].tolist() == [0x3C, 0x47, 0x5A]


def test_a_sign_alone_is_false_unless_it_is_nan(level):
    codes = np.arange(256, dtype=np.uint8)
    out = np.empty(256, bool)
    for nan, false in ((135, [0, 128]), (128, [0])):
        row = (3, 8, 4, 3, 8, 127, -1, nan, False, True)
        cast(codes, out, row, dtype_args(dt.bool), DEFAULT)
        assert np.flatnonzero(~out).tolist() == false, nan
