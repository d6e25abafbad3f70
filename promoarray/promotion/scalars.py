"""Python scalars: what they become alone, and on their way into the dtype a plan gives them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

import ml_dtypes

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.operations import Family, operation

Fit = Callable[[Any, DType], Any]
"""From a Python number and the dtype it is on its way to, to what is cast to that dtype."""

WIDE = {
    dt.weak_bool: dt.bool,
    dt.weak_int: dt.int64,
    dt.weak_float: dt.float64,
    dt.weak_complex: dt.complex128,
}
"""Defaults of NumPy and of JAX with x64: what Python itself computes in."""

NARROW = {**WIDE, dt.weak_float: dt.float32, dt.weak_complex: dt.complex64}
"""Defaults of PyTorch, Paddle and aclnn: int64, but float32 and complex64."""


class Passing(NamedTuple):
    """The numbers that a rule has nothing to say about, so that compiled code need not ask it."""

    # ``low``, ``high``: ints between these stay as they are wherever the dtype holds them. So do
    # floats on their way to integer dtypes, but for the fraction, which the cast drops.
    low: int = -(1 << 63)
    high: int = (1 << 63) - 1
    # What floats are rounded to before they are cast: float64, as they are, or float32.
    floats: DType = dt.float64
    # Whether finite numbers beyond the largest of a float or complex dtype are for the rule.
    within: bool = False
    # What floats are rounded to on their way to integers of fewer than 64 bits, if that is not what
    # ``floats`` says.
    narrow: DType | None = None


def passing(*ends: Any, **fields: Any) -> Callable[[Fit], Fit]:
    """Say of a rule which numbers pass it, by the fields of ``Passing``."""

    def said(rule: Fit) -> Fit:
        vars(rule)["passing"] = Passing(*ends, **fields)
        return rule

    return said


def passing_of(rule: Fit) -> Passing | None:
    """What passes a rule; None of one that has to be asked of every number."""
    return getattr(rule, "passing", None)


@passing()
def wrap(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int, as a C cast does."""
    if type(value) is not int or dtype.kind not in INTEGERS:
        return value
    low = value & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if dtype.kind is Kind.INT and low >> dtype.bits - 1 else low


def within_int64(value: Any) -> bool:
    """Whether a Python number is no int, or one that int64 holds."""
    return type(value) is not int or -(1 << 63) <= value < 1 << 63


def within_64_bits(value: Any) -> bool:
    """Whether a Python number is no int, or one that int64 or uint64 holds."""
    return type(value) is not int or -(1 << 63) <= value < 1 << 64


def of_int64(value: Any) -> Any:
    """Return a Python number; raise OverflowError for an int that no int64 holds."""
    if not within_int64(value):
        raise out_of_range(value, dt.int64)
    return value


@cache
def bounds(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest value of an integer dtype."""
    if dtype.kind is Kind.INT:
        return -(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1
    return 0, (1 << dtype.bits) - 1


@cache
def largest(dtype: DType) -> float:
    """The largest finite number of a float dtype."""
    return float(ml_dtypes.finfo(dtype.storage).max)  # type: ignore[no-untyped-call]


def shown(value: int) -> str:
    """Write an int out, or only tell its size: Python refuses to print the very long ones."""
    return str(value) if value.bit_length() <= 128 else f"of {value.bit_length()} bits"


def worded(value: Any) -> str:
    """Write a Python scalar as it is typed, but of a very long int only the size."""
    is_long = type(value) is int and value.bit_length() > 128
    return f"int {shown(value)}" if is_long else repr(value)


def out_of_range(value: int, dtype: DType) -> OverflowError:
    """Return the error for an int that a dtype cannot hold."""
    low, high = bounds(dtype)
    kind = dtype.kind if value >= 0 else Kind.INT  # an unsigned array stays one where it can
    both = holder_of(value, low, high, first=kind)
    holder = both or holder_of(value)
    advice = "No integer dtype holds it: write it as a float"
    if holder is not None:
        first = f", or cast the array to {holder.name} first" if both else ""
        advice = f"Write pa.asarray({shown(value)}, dtype=pa.{holder.name}){first}"
    return OverflowError(
        f"Python int {shown(value)} does not fit {dtype.name}, whose range is {low} to {high}. "
        + advice
    )


def holder_of(*values: int, first: Kind = Kind.INT) -> DType | None:
    """The smallest integer dtype of 8 bits and more that holds all these.

    Of two of a size that of the kind ``first``; None if there is none.
    """
    every = (dt.int8, dt.uint8, dt.int16, dt.uint16, dt.int32, dt.uint32, dt.int64, dt.uint64)
    for dtype in sorted(every, key=lambda each: (each.bits, each.kind is not first)):
        low, high = bounds(dtype)
        if low <= min(values) and max(values) <= high:
            return dtype
    return None


def truncated(value: Any, dtype: DType) -> Any:
    """Return a value that is to be stored; refuse a float that the dtype has no integer for.

    Raises ValueError for NaN, as ``int(nan)`` does; OverflowError for infinities and what lies
    beyond the dtype once the fraction is dropped.
    """
    if type(value) is float and dtype.kind in INTEGERS:
        if math.isnan(value):
            raise ValueError(f"NaN cannot be stored as {dtype.name}, which has integers only")
        low, high = bounds(dtype)
        if not low - 1 < value < high + 1:
            raise OverflowError(
                f"Python float {value!r} does not fit {dtype.name}, whose range is {low} to {high}"
            )
    return value


def no_float(value: int, dtype: DType) -> OverflowError:
    """Return the error for an int beyond every float, on its way to a dtype not of integers."""
    size = f"Python int of {value.bit_length()} bits"
    return OverflowError(f"{size} does not fit {dtype.name}, nor any float")


def held_by_floats(value: Any, dtype: DType) -> Any:
    """Return a value that fits; raise OverflowError for an int beyond every float, as Python does.

    Integer dtypes have refused or wrapped such a one by a policy's rule.
    """
    if type(value) is int and dtype.kind not in INTEGERS:
        try:
            float(value)
        except OverflowError:
            raise no_float(value, dtype) from None
    return value


@passing()
def in_range(value: Any, dtype: DType) -> Any:
    """Return a value that fits; raise OverflowError for an int that does not (NEP 50)."""
    if type(value) is int and dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        if not low <= value <= high:
            raise out_of_range(value, dtype)
    return value


@passing()
def exactly(value: Any, dtype: DType) -> Any:
    """Let an int beyond every value of a dtype compare as an infinity (NumPy 2)."""
    if type(value) is int and dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        return value if low <= value <= high else math.inf if value > 0 else -math.inf
    return value


def not_clipping(value: Any, dtype: DType, *, upper: bool, of: DType) -> Any:
    """Let an int bound at which, or before which, the integers clipped end be none (NumPy 2).

    So ``clip(x, -1, 300)`` of uint8 clips nothing, nor does 255 in ``clip(x, low, 255)``, whatever
    is in ``low``.
    """
    if type(value) is int and of.kind in INTEGERS and not of.weak:
        end = bounds(of)[upper]
        if value >= end if upper else value <= end:
            if dtype.kind in INTEGERS:
                return bounds(dtype)[upper]
            if dtype.format is None or dtype.format.inf is not None:
                return math.inf if upper else -math.inf
    return in_range(value, dtype)


def not_negative(fit: Fit, wraps: bool = False) -> Fit:
    """Refuse an exponent of integers that is negative, or becomes so, and fit the others.

    Where ``fit`` wraps, what the dtype cannot hold is refused, too: its low bits would decide.
    """

    def rule(value: Any, dtype: DType) -> Any:
        if dtype.kind not in INTEGERS or type(value) is complex:
            return fit(value, dtype)
        fitted = fit(value, dtype) if value >= 0 else value
        if fitted >= 0 and not (wraps and value > bounds(dtype)[1]):
            return fitted
        became = "" if fitted == value else f", which becomes {fitted} as {dtype.name}"
        least = "no number below 0" + (" and none that the dtype cannot hold" if wraps else "")
        raise ValueError(
            f"an integer to the power {worded(value)}{became}: this framework takes {least} as the "
            "exponent of integers; write a float exponent or a float array"
        )

    passes = passing_of(fit)
    return passing(**passes._replace(low=0)._asdict())(rule) if passes else rule


class Scalars(NamedTuple):
    """What happens to a Python scalar on its way into the dtype the plan gives it."""

    # From (value, dtype) to a Python value the dtype can hold; OverflowError refuses.
    fit: Fit = in_range
    # As ``fit``, for a scalar that is compared with; None where ``fit`` is for it too. It may
    # answer an infinity for an int beyond the dtype.
    fit_compared: Fit | None = None
    # As ``fit``, for operations and families of them that have a rule of their own.
    fit_family: Mapping[str | Family, Fit] = MappingProxyType({})
    fit_alone: Fit | None = None  # as ``fit``, for the first of operands none of which is an array
    fit_exponent: Fit | None = None  # as ``fit``, for an exponent; ValueError refuses
    # As ``fit``, for a bound of ``clip``; ``upper=`` says which one it is, ``of=`` what is clipped.
    fit_bound: Callable[..., Any] | None = None

    def rule(
        self,
        name: str,
        index: int,
        dtype: DType,
        *,
        first: DType | None = None,
        low: bool = True,
        alone: bool = False,
    ) -> Fit:
        """The rule that an operation goes by for the operand that becomes a dtype.

        ``first`` is what the first operand is, ``low`` whether ``clip`` has a lower bound, which
        comes before the upper one, and ``alone`` whether all values are Python scalars.
        """
        family, usual = operation(name).family, self.fit
        # What `where` chooses from meets the mask, which is an array and none of its values.
        if alone and index == 0 and self.fit_alone and family is not Family.WHERE:
            return self.fit_alone
        if family in COMPARED:
            usual = self.fit_compared or usual
        elif family is Family.CLIP:
            if index and self.fit_bound is not None:
                return partial(self.fit_bound, upper=index == 2 or not low, of=first or dtype)
        elif family is Family.POW and index == 1 and self.fit_exponent:
            return self.fit_exponent
        own = self.fit_family
        return own.get(name, own.get(family, usual)) if own else usual


COMPARED = frozenset({Family.EQUALITY, Family.ORDER, Family.ISIN})
"""Operations that compare."""
