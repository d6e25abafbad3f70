"""What the kernels for a GPU are tested with: every cast any policy makes, and patterns of bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.cast_transforms import transformed
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import DEFAULT, CastMode, cast, dtype_args
from promoarray.kernels.cuda.kernel_source import cast_kernel, relevant
from promoarray.kernels.cuda.symbolic import CodeTransform
from promoarray.promotion.cast_rules import CastPlan, CastRule
from promoarray.promotion.registry import as_policy, list_policies

PATTERNS = 1 << 16
"""How many patterns each cast is tried on; all there are of sources of 16 bits and fewer."""

FUSED_PATTERNS = 1 << 15


@cache
def cast_rules() -> list[CastRule]:
    """The cast rules of all policies that differ."""
    found: list[CastRule] = []
    for rule in (as_policy(name).cast for name in list_policies()):
        parts = rule.mode, rule.cases, rule.quirks, rule.knobs
        if parts not in [(r.mode, r.cases, r.quirks, r.knobs) for r in found]:
            found.append(rule)
    return found


def _asked(source: DType, target: DType) -> Iterator[CastPlan]:
    """How policies cast a pair: under each setting, with each quirk that is about it, with all."""
    for rule in cast_rules():
        about = tuple(
            quirk.name
            for quirk in rule.quirks
            if any(source in case.of and target in case.to for case in quirk.cases)
        )
        for on in dict.fromkeys([(), *((name,) for name in about), about]):
            for settings in _settings(rule):
                yield _with(rule, on).plan(source, target, settings)


@cache
def _with(rule: CastRule, quirks: tuple[str, ...]) -> CastRule:
    return rule.with_quirks(*quirks)


def _settings(rule: CastRule) -> list[Mapping[str, object] | None]:
    if not rule.knobs:
        return [None]
    choices = product(*(knob.choices for knob in rule.knobs.values()))
    return [dict(zip(rule.knobs, chosen, strict=True)) for chosen in choices]


Transforms = tuple[CodeTransform, ...]


@cache
def ways(source: DType, target: DType) -> tuple[tuple[CastMode, Transforms], ...]:
    """The modes and transforms whose kernels differ for a pair; the first is the default."""
    found: dict[str, tuple[CastMode, Transforms]] = {}
    for mode, transforms in dict.fromkeys(((DEFAULT, ()), *_asked(source, target))):
        way = relevant(source, target, mode), transforms
        found.setdefault(cast_kernel(source, target, *way).name, way)
    return tuple(found.values())


def pairs(source: DType) -> list[tuple[DType, CastMode, Transforms]]:
    """Every target of a source, with every mode and its transforms."""
    targets = [target for target in CONCRETE if target is not source]
    return [(target, *way) for target in targets for way in ways(source, target)]


GROUPS = [CONCRETE[i::8] for i in range(8)]
"""The sources in groups whose kernels are compiled as one text: CuPy's headers take a while."""


def group_name(group: tuple[DType, ...]) -> str:
    """What a test of a group is called."""
    return "+".join(source.code for source in group)


# --- Patterns ------------------------------------------------------------------------------------


@cache
def patterns(dtype: DType, count: int = PATTERNS, seed: int = 0) -> np.ndarray:
    """Codes in the dtype's storage: all of them where there are few enough, else ties, neighbours
    of powers of two, specials and any bits at all, half of them with exponents near 1.
    """
    rng = np.random.default_rng([dtype.bits, CONCRETE.index(dtype), seed])
    part = dtype.part if dtype.kind is Kind.COMPLEX else None
    if part is not None:
        both = [patterns(part, count, seed=seed + 1 + i) for i in (0, 1)]
        codes = np.stack([_cycled(b, count, rng) for b in both], axis=1)
        codes[: count // 8, 1] = 0
        found = np.ascontiguousarray(codes).view(np.uint8).view(dtype.storage)[:, 0]
    elif dtype.bits <= 16:
        every = np.arange(1 << 8 * dtype.storage.itemsize, dtype=np.uint64)
        found = every.astype(f"u{dtype.storage.itemsize}").view(dtype.storage)
    else:
        found = _wide(dtype, count, rng).view(dtype.storage)
    found.flags.writeable = False
    return found


def _cycled(codes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """As many as wanted, in any order."""
    return rng.permutation(np.resize(codes.view(f"u{codes.itemsize}"), count))


def operand(dtype: DType, count: int, seed: int) -> np.ndarray:
    """Patterns for an operand, in an order of its own; half of them numbers of everyday size."""
    rng = np.random.default_rng([count, seed])
    if dtype is dt.bool:
        return rng.integers(0, 2, count, np.uint8).view(dtype.storage)
    codes = patterns(dtype, count, seed=seed)
    part = dtype.part
    one = part is dtype
    found = _cycled(codes, count, rng).view(dtype.storage) if one else codes.copy()
    size = found.size * (1 + (part is not dtype)) // 2
    usual = rng.standard_normal(size) * np.exp2(rng.integers(-6, 12, size))
    if dtype.kind is Kind.UINT:
        usual = np.abs(usual)
    usual = np.concatenate([np.array([0, 0, 1, 2, 3]), usual])[:size]
    source = np.trunc(usual) if dtype.kind in (Kind.INT, Kind.UINT) else usual
    into = np.empty(size, part.storage)
    cast(source, into, dtype_args(dt.float64), dtype_args(part), DEFAULT)
    found.view(part.storage)[: into.size] = into
    return found


def _wide(dtype: DType, count: int, rng: np.random.Generator) -> np.ndarray:
    bits = dtype.bits
    codes = rng.integers(0, 1 << 64, count, np.uint64, endpoint=False) >> np.uint64(64 - bits)
    if dtype.kind is Kind.FLOAT:
        codes = _ties(codes, dtype, rng)
    else:
        codes = codes >> rng.integers(0, bits, count, np.uint64)  # of every length
        at = rng.integers(0, bits, count, np.uint64)
        near = (np.uint64(1) << at) + rng.integers(0, 3, count, np.uint64) - np.uint64(1)
        codes = np.where(rng.integers(0, 4, count) == 0, near, codes)
        codes = np.where(rng.integers(0, 2, count) == 0, np.uint64(0) - codes, codes)
    return codes.astype(f"u{bits // 8}")


def _ties(codes: np.ndarray, dtype: DType, rng: np.random.Generator) -> np.ndarray:
    """Turn three quarters of random codes into numbers at and beside ties of shorter formats."""
    layout = dtype.format
    assert layout is not None
    count, mantissa = codes.size, np.uint64(layout.mantissa)
    one = np.uint64(1)
    # 1. Exponents near 1, within the range of float32, or any, with many subnormals.
    sign = codes >> np.uint64(dtype.bits - 1) << np.uint64(dtype.bits - 1)
    reach = np.array([20, 20, 155, 1.1 * layout.bias])[rng.integers(0, 4, count)]
    exponent = layout.bias + (rng.random(count) * 2 - 1) * reach
    exponent = np.clip(exponent, 0, (1 << layout.exponent) - 2).astype(np.uint64)
    # 2. A few leading bits, then a half, give or take one.
    lost = rng.integers(1, layout.mantissa, count).astype(np.uint64)
    fraction = codes & ((one << mantissa) - one)
    fraction = fraction >> lost << lost
    fraction = np.where(rng.integers(0, 4, count) > 0, fraction | one << (lost - one), fraction)
    made = sign | exponent << mantissa | fraction
    made = made + rng.integers(0, 3, count).astype(np.uint64) - one
    found = np.where(rng.integers(0, 4, count) > 0, made, codes)
    # 3. Zeros, the ends, Inf, NaN of both signs.
    inf, nan = layout.inf, layout.nan
    assert inf is not None
    assert nan is not None
    special = np.array([0, 1, 2, layout.largest, inf, nan, inf + 1, nan + 5], np.uint64)
    special = np.concatenate([special, special | one << np.uint64(dtype.bits - 1)])
    found[: special.size] = special
    return found


def expected(
    codes: np.ndarray, source: DType, target: DType, mode: CastMode, transforms: Transforms = ()
) -> np.ndarray:
    """What the CPU gives: the extension's kernel, and NumPy's functions for transforms."""
    out = np.empty(codes.shape, target.storage)
    cast(codes, out, dtype_args(source), dtype_args(target), mode)
    return transformed(transforms, codes, source, target, out) if transforms else out


def differences(given: np.ndarray, got: np.ndarray, want: np.ndarray, what: str) -> list[str]:
    """Up to three lines about elements whose bits differ."""
    bits = [x.reshape(-1, 1).view(np.uint8).reshape(x.size, -1) for x in (got, want)]
    wrong = np.flatnonzero((bits[0] != bits[1]).any(axis=1))
    return [
        f"{what}: {_hexed(given[i])} is {_hexed(got[i])}, not {_hexed(want[i])}"
        f" ({wrong.size} of {got.size})"
        for i in wrong[:3]
    ]


def _hexed(value: np.generic) -> str:
    return np.asarray(value).tobytes()[::-1].hex()
