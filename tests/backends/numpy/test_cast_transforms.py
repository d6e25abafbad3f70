"""What transforms make of codes: every one that a rule or a quirk of a policy has, with every pair
of dtypes it is about, and in every layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from cast_cases import random_codes
from cast_oracle import codes_of

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends.numpy.cast import caster
from promoarray.backends.numpy.cast_transforms import transformed
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import DEFAULT, CastMode, cast, dtype_args
from promoarray.policies import as_policy
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.cast_transforms import Between, Flushed

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


def test_every_transform_of_every_policy_is_made_as_it_is_defined() -> None:
    """Where it is another cast, or the real parts' alone, too."""
    wrong = []
    with np.errstate(all="ignore"):
        for source, target, mode, transforms in cases():
            x = numbers(source)
            if source.bits < 8:  # bits above a narrow code are ignored
                x = (x.view(np.uint8) & ((1 << source.bits) - 1)).view(x.dtype)
            with np.errstate(all="raise"):  # a cast tells of nothing
                got = caster(source, target, mode, transforms)(x)
            want = by_definition(x, source, target, mode, transforms)
            if got.dtype != target.storage or got.tobytes() != want.tobytes():
                wrong.append(f"{source} to {target} by {transforms}")
    assert not wrong, (len(wrong), wrong[:10])


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
