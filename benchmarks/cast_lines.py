"""What casts.py measures: every ordered pair, every rule of every policy, and every quirk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import DEFAULT, CastMode
from promoarray.kernels.cuda.element import relevant
from promoarray.policies import as_policy
from promoarray.promotion.cast_rules import CastPlan, CastRule

DTYPES = [dtype for dtype in dt.CONCRETE if dtype is not dt.string]
PAIRS = [(a, b) for a, b in product(DTYPES, DTYPES) if a is not b]


class Line(NamedTuple):
    """One cast to measure, and who asks for it."""

    name: str
    source: DType
    target: DType
    mode: CastMode = DEFAULT
    transforms: tuple[Any, ...] = ()


def pairs() -> list[Line]:
    """List every ordered pair of two dtypes, by the default rule."""
    return [Line(f"{source} to {target}", source, target) for source, target in PAIRS]


def rules() -> list[Line]:
    """List what policies do otherwise than by default; what several do alike is there once."""
    found: dict[Any, Line] = {}
    for name in pa.list_policies():
        rule = as_policy(name).cast
        for settings, source, target in _asked(rule):
            plan = rule.plan(source, target, settings)
            mode = relevant(source, target, plan.mode)
            if mode != DEFAULT or plan.transforms:
                said = "".join(f", {key}={value}" for key, value in settings.items())
                line = Line(f"{source} to {target}: {name}{said}", source, target, *plan)
                found.setdefault((source, target, mode, plan.transforms), line)
    return list(found.values())


def quirks() -> list[Line]:
    """List what quirks make otherwise than the same policy without."""
    found: dict[Any, Line] = {}
    for name in pa.list_policies():
        rule = as_policy(name).cast
        for quirk in rule.quirks:
            changed = rule.with_quirks(quirk.name)
            for settings, source, target in _asked(rule):
                plan = changed.plan(source, target, settings)
                if plan != rule.plan(source, target, settings):
                    line = Line(f"{source} to {target}: {quirk.name}", source, target, *plan)
                    key = CastPlan(relevant(source, target, plan.mode), plan.transforms)
                    found.setdefault((quirk.name, source, target, key), line)
    return list(found.values())


def _asked(rule: CastRule) -> Iterator[tuple[dict[str, object], DType, DType]]:
    """Every setting of the knobs with every pair."""
    for values in product(*(knob.choices for knob in rule.knobs.values())):
        settings = dict(zip(rule.knobs, values, strict=True))
        for source, target in PAIRS:
            yield settings, source, target


FAMILIES = {
    "bool": "b1",
    "int 2, 4": "i2 u2 i4 u4",
    "int 8": "i8 u8",
    "int 16-64": "i16 u16 i32 u32 i64 u64",
    "float 4-8": "",  # all that are left
    "float 16": "f16 bf16",
    "float 32, 64": "f32 f64",
    "complex": "c32 c64 c128",
}


def family(dtype: DType) -> str:
    """Name the family of a dtype."""
    return next((f for f, codes in FAMILIES.items() if dtype.code in codes.split()), "float 4-8")


def sample(dtype: DType, n: int) -> np.ndarray[Any, Any]:
    """Numbers around 1 of either sign, or any integers of the type."""
    rng = np.random.default_rng(0)
    if dtype.kind is Kind.COMPLEX:
        return sample(dtype.part, 2 * n).view(dtype.storage)
    if dtype.kind is Kind.FLOAT:
        with np.errstate(all="ignore"):
            values = rng.standard_normal(n, np.float32) * 4
            return (values if dtype.format and dtype.format.signed else np.abs(values)).astype(
                dtype.storage
            )
    if dtype.kind is Kind.BOOL:
        return rng.integers(0, 2, n, np.uint8).view(np.bool_)
    if dtype.bits <= 8:
        bits = rng.integers(0, 1 << dtype.bits, n, np.uint8)
        return bits.view(dtype.storage)
    spread = rng.integers(0, 256, n) << rng.integers(0, dtype.bits - 10, n)
    return spread.astype(dtype.storage)
