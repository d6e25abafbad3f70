"""What transforms make of codes, in the kernels: against the definition, which is Python's.

Every transform that a rule or a quirk of a policy has, with every pair of dtypes it is about, by
the loops of each x86-64 level.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from cast_cases import cast_codes, random_codes
from cast_oracle import codes_of

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends.numpy import cast_transforms
from promoarray.backends.numpy.cast import caster, short_caster
from promoarray.backends.numpy.cast_transforms import transformed
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import (
    DEFAULT,
    CastingKernel,
    CastMode,
    cast,
    dtype_args,
    levels,
    use_level,
)
from promoarray.kernels.cast_mode import Way
from promoarray.policies import as_policy
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.cast_transforms import Between, Flushed, Through

DTYPES = [d for d in CONCRETE if d is not dt.string]
Case = tuple[DType, DType, CastMode, tuple]


@cache
def cases() -> list[Case]:
    """Every cast that has transforms, once."""
    found: dict[Case, None] = {}
    for name in pa.list_policies():
        rule = as_policy(name).cast
        for one in (rule, *(rule.with_quirks(quirk.name) for quirk in rule.quirks)):
            found |= dict.fromkeys(transforming(one))
    return list(found)


@cache
def kinds_of_cases() -> list[Case]:
    """Of every pair of dtypes one cast with each kind of adjustment.

    What transforms make of each code is compared for all casts; what a cast of many elements or of
    few does beside that hangs on the kind alone.
    """
    found = {}
    for source, target, mode, transforms in cases():
        adjustment = cast_transforms.adjustment_of(source, target, mode, transforms)
        kind = adjustment if isinstance(adjustment, int) else type(adjustment)
        found[source, target, kind] = source, target, mode, transforms
    return list(found.values())


def transforming(rule: CastRule) -> Iterator[Case]:
    about = [case for quirk in rule.quirks for case in quirk.cases if quirk.name in rule.on]
    if not any(case.transform for case in (*rule.cases, *about)):
        return
    for values in product(*(knob.choices for knob in rule.knobs.values())):
        settings = dict(zip(rule.knobs, values, strict=True))
        for source, target in product(DTYPES, DTYPES):
            plan = rule.plan(source, target, settings)
            if plan.transforms and source is not target:
                yield source, target, *plan


@cache
def codes(dtype: DType) -> np.ndarray:
    """All codes of 8 bits and fewer, and of wider ones those beside every power of two."""
    if dtype.bits <= 8:
        return np.resize(np.arange(256), 700).astype(codes_of(dtype))
    if dtype.bits == 16:
        return np.append(np.arange(0, 1 << 16, 31), [0x7C00, 0x7C01, 0xFC00]).astype(np.uint16)
    if dtype.kind is not Kind.FLOAT:
        powers = (1 << np.arange(dtype.bits, dtype=np.uint64)).astype(codes_of(dtype))
        return np.concatenate([powers - 1, powers, powers + 1, -powers, random_codes(dtype, 300)])
    exponents = np.exp2(np.arange(-160.0 if dtype is dt.float64 else -149.0, 128))
    steps = [1, 1.25, 1.5, 1.8125, 1.875, 1 + 2**-23, 2 - 2**-23]
    values = np.append(np.outer(exponents, steps), [0, np.inf, 464, 480, 61440, 65504, 65520])
    values = np.concatenate([values, np.arange(0.0, 9, 0.25)])
    around = values.astype(dtype.storage).view(codes_of(dtype))
    around = np.concatenate([around, around + 1, around - 1, random_codes(dtype, 300)])
    nan = np.array([np.nan], dtype.storage).view(around.dtype)
    around = np.concatenate([around, nan, nan + 1])
    return np.concatenate([around, around ^ around.dtype.type(1 << dtype.bits - 1)])


def numbers(dtype: DType) -> np.ndarray:
    part = codes(dtype.part)
    if dtype.kind is not Kind.COMPLEX:
        return part.view(dtype.storage)
    return np.stack([part, part[::-1]], axis=-1).view(dtype.part.storage).view(dtype.storage)[:, 0]


def by_definition(x: np.ndarray, source: DType, target: DType, mode: CastMode, transforms: tuple):
    plain = np.empty(x.shape, target.storage)
    cast(x, plain, dtype_args(source), dtype_args(target), mode)
    return transformed(transforms, x, source, target, plain)


@pytest.fixture
def _level_as_before() -> Iterator[None]:
    before = use_level(levels()[-1])
    yield
    use_level(before)


@pytest.mark.usefixtures("_level_as_before")
def test_every_transform_of_every_policy_is_made_as_it_is_defined():
    """By the loops of every level, as the definition takes longer than they do."""
    wrong = []
    with np.errstate(all="ignore"):
        for source, target, mode, transforms in cases():
            x = numbers(source)
            given = x
            if source.bits < 8:  # bits above a narrow code are ignored
                given = (x.view(np.uint8) & ((1 << source.bits) - 1)).view(x.dtype)
            want = by_definition(given, source, target, mode, transforms)
            for level in levels():
                use_level(level)
                got = caster(source, target, mode, transforms)(x)
                if got.dtype != target.storage or got.tobytes() != want.tobytes():
                    wrong.append(f"{source} to {target} by {transforms}, level {level}")
    assert not wrong, (len(wrong), wrong[:10])


def test_what_they_change_of_16_bits_is_changed_wherever_it_lies(level):
    """All codes: a few stretches are replaced, the rest has a loop of its own, or a table."""
    wrong, ways = [], set()
    with np.errstate(all="ignore"):
        for source, target, mode, transforms in cases():
            if source.bits != 16 or Kind.COMPLEX in (source.kind, target.kind):
                continue
            x = np.arange(1 << 16, dtype=np.uint16).view(source.storage)
            want = by_definition(x, source, target, mode, transforms)
            got = caster(source, target, mode, transforms)(x)
            if got.tobytes() != want.tobytes():
                wrong.append(f"{source} to {target} by {transforms}")
            ways.add(type(cast_transforms.adjustment_of(source, target, mode, transforms)))
    assert not wrong, (len(wrong), wrong[:10])
    assert ways == {bytes, int, tuple}


def tables(word: str) -> Iterator[np.ndarray]:
    """Yield results for 256 codes: any, and those of which one half tells the other, or nearly."""
    rng = np.random.default_rng(0)
    any_codes = rng.integers(0, 1 << 64, 256, np.uint64, endpoint=False).astype(word)
    low, binades = any_codes[:128], np.arange(256).astype(word) * np.asarray(3, word)
    flipped = low ^ np.asarray(0x80, word)
    backwards = np.concatenate([low, any_codes[200:201], flipped[:0:-1]])
    for table in (
        any_codes,
        binades,
        np.zeros(256, word),
        np.concatenate([low, flipped]),
        np.concatenate([low, -low]),
        backwards,
        np.concatenate([binades[:128], -binades[:128]]),
        np.concatenate([binades[:128], binades[:128] ^ np.asarray(1, word)]),
    ):
        yield table
        for code in (0, 128, 129, 252, 255):
            other = table.copy()
            other[code] += np.asarray(77, word)
            yield other


@pytest.mark.parametrize("target", [dt.uint8, dt.uint16, dt.uint32, dt.uint64], ids=str)
def test_tables_of_8_bits_may_hold_anything(level, target):
    x = np.random.default_rng(1).permutation(np.arange(1000) % 256).astype(np.uint8)
    out = np.empty(x.size, target.storage)
    rows = dtype_args(dt.uint8), dtype_args(target), DEFAULT
    for table in tables(target.storage.str):
        cast(x, out, *rows, True, table.tobytes())
        assert np.array_equal(out, table[x])


def test_short_buffers_are_adjusted_between_casts():
    """But for complex numbers that become bools, of which two parts make one, and for two casts."""
    wrong, kinds = [], set()
    with np.errstate(all="ignore"):
        for source, target, mode, transforms in kinds_of_cases():
            short = short_caster(source, target, mode, transforms)
            if short is None:
                if not isinstance(transforms[0], Through):
                    assert source.kind is Kind.COMPLEX
                    assert target is dt.bool
                continue
            x = numbers(source)
            want = caster(source, target, mode, transforms)(x)
            got = np.concatenate([short(x[at : at + 200]) for at in range(0, x.size, 200)])
            if got.tobytes() != want.tobytes():
                wrong.append(f"{source} to {target} by {transforms}")
            kinds.add(type(cast_transforms.adjustment_of(source, target, mode, transforms)))
    assert not wrong, (len(wrong), wrong[:10])
    assert kinds == {bytes, int, tuple}


def test_an_adjustment_that_no_kernel_makes_is_refused():
    rows = (dtype_args(dt.float32), *(dtype_args(dt.int8),) * 4)
    rest = (dt.int8.storage,), dt.int8.storage, None
    for adjustment in (b"", 77, ((0, 1, 2),) * 9):
        with pytest.raises(ValueError, match="adjustment"):
            CastingKernel(None, rows, ((DEFAULT, adjustment), DEFAULT, DEFAULT), *rest)


def test_an_adjustment_that_was_refused_is_refused_again():
    """Casts are kept for all kernels: one that could not be made is none that has nothing to do."""
    rows = (dtype_args(dt.bool), *(dtype_args(dt.int2),) * 4)
    modes = (DEFAULT, Way.TO_NEAREST_INTEGER), DEFAULT, DEFAULT
    for _ in range(2):
        with pytest.raises(ValueError, match="no loop adjusts"):
            CastingKernel(None, rows, modes, (dt.int2.storage,), dt.int2.storage, None)


def test_all_of_them_are_made_by_the_kernels():
    """The definition is slow: no shipped policy needs it but to prepare."""

    def never(*arguments: object) -> None:
        pytest.fail(f"{arguments} goes by blocks")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cast_transforms, "_by_blocks", never)
        for source, target, mode, transforms in cases():
            caster(source, target, mode, transforms)(numbers(source)[:3])


@pytest.mark.parametrize("order", ["C", "F", "every other", "0-d", "empty", "byte-swapped"])
@pytest.mark.parametrize(
    ("source", "target", "transform"),
    [
        (dt.float32, dt.float8_e5m2, Between(61440.0, 0x7C, high=65536.0)),
        (dt.float16, dt.float8_e5m2, Between(61440.0, 0x7C, high=65536.0)),
        (dt.complex64, dt.float8_e5m2, Between(61440.0, 0x7C, high=65536.0)),
        (dt.complex128, dt.complex64, Flushed(2.0**-126)),
        (dt.float64, dt.complex64, Flushed(2.0**-126)),
        (dt.float32, dt.float16, lambda given, source, target, out: out ^ np.uint16(1)),
        (dt.bfloat16, dt.float16, lambda given, source, target, out: out ^ np.uint16(1)),
    ],
    ids=lambda given: str(given) if isinstance(given, DType) else type(given).__name__,
)
def test_transforms_are_made_in_every_layout(order, source, target, transform):
    x = np.linspace(-65000, 65000, 9216).astype(source.storage).reshape(96, 96)
    layouts = {
        "C": x,
        "F": np.asfortranarray(x),
        "every other": x[::-2, ::2],
        "0-d": x[3, 4],
        "empty": x[:0],
        "byte-swapped": x.astype(x.dtype.newbyteorder()),
    }
    given = np.asarray(layouts[order])
    plain = np.ascontiguousarray(given).astype(source.storage).reshape(given.shape)
    want = by_definition(plain, source, target, DEFAULT, (transform,))
    got = caster(source, target, DEFAULT, (transform,))(given)
    assert got.shape == given.shape
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("source", "target", "adjustment", "match"),
    [
        (dt.float16, dt.int8, b"", "adjustment has 0 bytes, which is no table of the pair"),
        (dt.float32, dt.int8, bytes(256), "adjustment has 256 bytes"),
        (dt.int8, dt.int16, bytes(256), "adjustment has 256 bytes"),
        (dt.float32, dt.int8, 9, "adjustment is 9, not from 1 to 5"),
        (dt.float32, dt.int8, -1, "adjustment is -1, not from 1 to 5"),
        (dt.float32, dt.int8, ((0, 1, 2),) * 9, "has 9 replacements, and there is room for 8"),
        *((dt.float32, dt.int8, way, "no loop adjusts a cast of these types so") for way in Way),
        (dt.int8, dt.float16, Way.TOWARDS_ZERO, "no loop adjusts a cast of these types so"),
    ],
)
def test_wrong_adjustments_are_refused(source, target, adjustment, match):
    x, out = np.zeros(5, source.storage), np.full(5, 85, codes_of(target))
    with pytest.raises(ValueError, match=match):
        cast(x, out, dtype_args(source), dtype_args(target), DEFAULT, True, adjustment)
    assert np.all(out == 85)


@pytest.mark.parametrize("given", [((0, 1),), ((0, 1, -2),), "abc"])
def test_adjustments_of_other_types_are_refused(given):
    x, out = np.zeros(5, np.float32), np.zeros(5, np.int8)
    with pytest.raises((TypeError, RuntimeError, OverflowError)):
        cast(x, out, dtype_args(dt.float32), dtype_args(dt.int8), DEFAULT, True, given)


def test_a_later_replacement_comes_after_an_earlier():
    x = np.arange(600, dtype=np.uint16)
    out = np.empty(600, np.uint8)
    rows = dtype_args(dt.uint16), dtype_args(dt.uint8), DEFAULT
    cast(x, out, *rows, True, ((10, 500, 7), (20, 30, 8)))
    want = cast_codes(x, dt.uint16, dt.uint8)
    want[10:501], want[20:31] = 7, 8
    assert np.array_equal(out, want)


def test_many_elements_are_adjusted_as_few_are():
    """At level 1 what takes many steps is looked up where there are many elements."""
    before, wrong = use_level(1), []
    try:
        for source, target, mode, transforms in kinds_of_cases():
            looked_up = target.bits <= (8 if source.bits <= 8 else 16)
            if Kind.COMPLEX in (source.kind, target.kind) or not looked_up:
                continue
            x = numbers(source)
            run = caster(source, target, mode, transforms)
            at = np.resize(np.arange(x.size), (1 << 18) + 3)
            if run(x[at]).tobytes() != run(x)[at].tobytes():
                wrong.append(f"{source} to {target} by {transforms}")
    finally:
        use_level(before)
    assert not wrong, (len(wrong), wrong[:10])
