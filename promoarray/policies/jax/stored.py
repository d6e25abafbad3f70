"""Rules of jax.numpy for Python numbers that are stored, and for ``x.at[key].set``.

``full`` and ``full_like`` convert a scalar (``lax._convert_element_type``): ints keep their low
bits, floats saturate. ``asarray`` leaves it to NumPy, which refuses what does not fit. An
assignment promotes both sides first and then casts the result to the dtype of ``x``.

Source: jax/_src/lax/lax.py, jax/_src/ops/scatter.py, jax/_src/numpy/array_constructors.py, 0.10.2.
"""

from __future__ import annotations

import cmath
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.policies.jax.operations import TINY
from promoarray.promotion.rules import PromotionRule
from promoarray.promotion.scalars import (
    Fit,
    bounds,
    in_range,
    out_of_range,
    passing,
    within_64_bits,
    wrap,
)
from promoarray.promotion.stored import Stored, held

REFUSAL = (
    "there is no implicit promotion path: nothing leads out of the 2- and 4-bit integers and the"
    " floats of 8 bits and fewer (Design of Type Promotion Semantics for JAX)"
)


def low_bits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int of at most 64; NumPy has no array of a longer one."""
    if dtype.kind in INTEGERS and not within_64_bits(value):
        raise out_of_range(value, dtype)
    return wrap(value, dtype)


def converted(value: Any, dtype: DType) -> Any:
    """Convert a scalar; a complex one becomes an integer only where it is not finite."""
    if type(value) is complex and dtype.kind not in (Kind.COMPLEX, Kind.BOOL):
        if dtype.kind not in INTEGERS or cmath.isfinite(value):
            raise TypeError(f"a complex number does not become {dtype.name}; take x.real first")
        return value.real
    return low_bits(value, dtype)


def real_part(value: Any, dtype: DType) -> Any:
    """Drop the imaginary part where the dtype has none, even of bools."""
    dropped = type(value) is complex and dtype.kind is not Kind.COMPLEX
    return value.real if dropped else value


def ranged(value: Any, dtype: DType) -> Any:
    """Count as XLA's iota does: ints wrap, and floats saturate."""
    if type(value) is float and dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        return int(min(max(value, low), high))
    return value


def no_bools(values: tuple[Any, ...], dtype: DType) -> None:
    """Refuse to count in bools, which XLA's iota has not."""
    if dtype is dt.bool:
        raise TypeError("arange makes no bools: XLA counts in numbers (iota)")


def between(values: tuple[Any, ...]) -> DType | None:
    """Make a line from bool to bool of float32, as every division of bools does."""
    return dt.float32 if all(type(value) is bool for value in values) else None


def given(value: Any, dtype: DType) -> Any:
    """Hold a value as NumPy does; of an int64 ml_dtypes makes 2 and 4 bits."""
    if type(value) is int and dtype in TINY:
        return wrap(in_range(value, dt.int64), dtype)
    return held(value, dtype)


def assigned(promote: PromotionRule, default: DType) -> Fit:
    """Make the rule of ``x.at[key].set(number)``: the number is an array of its default first."""

    @passing(*bounds(default))
    def fit(value: Any, dtype: DType) -> Any:
        if type(value) is not bool and promote(dtype, WEAK[type(value)]) is None:
            raise TypeError(REFUSAL)
        if type(value) is int:
            low, high = bounds(dtype) if dtype.kind in INTEGERS else bounds(default)
            if not low <= value <= high:
                in_range(value, default)
        return low_bits(real_part(value, dtype), dtype)

    return fit


def promoted(promote: PromotionRule, source: DType, target: DType) -> str | None:
    """Refuse to assign an array whose dtype does not promote with the target's."""
    return REFUSAL if promote(source, target) is None else None


def stored(promote: PromotionRule, default: DType) -> Stored:
    """The rules of one promotion rule and the default dtype of ints."""
    return Stored(
        fit=converted,
        fit_by={
            "asarray": given,
            "arange": ranged,
            "linspace": real_part,
            "setitem": assigned(promote, default),
        },
        dtype_by={"linspace": between},
        check_by={"arange": no_bools},
        promotes=frozenset({"arange", "linspace"}),
    )
