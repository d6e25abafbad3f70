"""Casts in two steps that give the same values under policies whose casts differ.

A float beyond an integer's range becomes what the framework makes of it: its low bits, the nearest
integer, or something else. By way of int64 the low bits come out under all of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from promoarray.backends import backend_of
from promoarray.core import host
from promoarray.core.array_base import Array
from promoarray.diagnostics.model.values import differs
from promoarray.dtypes import BY_CODE, DType
from promoarray.promotion.cast_losses import gravity
from promoarray.promotion.policy import Policy

BY_WAY_OF = tuple(BY_CODE[code] for code in ("i64", "i32", "i16", "f64", "f32", "bf16", "f16"))


def routes(
    run: Policy, policies: tuple[Policy, ...], array: Array, source: DType, target: DType
) -> tuple[DType, ...]:
    """Return the dtypes by way of which every policy makes the run's values of an array."""
    buffer = array._buffer
    wanted = _values(_cast(run, buffer, source, target), target)
    least = sorted(BY_WAY_OF, key=lambda dtype: gravity(source, dtype))
    return tuple(
        way
        for way in least
        if way not in (source, target)
        and all(_gives(p, buffer, (source, way, target), wanted) for p in (run, *policies))
    )


def _gives(policy: Policy, buffer: Any, steps: tuple[DType, ...], wanted: Any) -> bool:
    for source, target in pairwise(steps):
        if target not in policy.dtypes or policy.cast.refuses(source, target) is not None:
            return False
        buffer = _cast(policy, buffer, source, target)
    return not differs(_values(buffer, steps[-1]), wanted).any()


def _cast(policy: Policy, buffer: Any, source: DType, target: DType) -> Any:
    return backend_of(buffer).cast(buffer, source, target, *policy.cast.plan(source, target))


def _values(buffer: Any, dtype: DType) -> Any:
    return host.decoded(backend_of(buffer).to_numpy(buffer, dtype), dtype)
