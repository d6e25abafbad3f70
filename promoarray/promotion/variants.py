"""Kernels by name whose values are one framework's own, and what is different about them.

A policy names them in ``Policy.kernels`` for the operations where its framework does not compute
what NumPy does; ``backends.variants`` computes them, ``ranges`` those of ``arange`` and
``linspace``, and ``explain`` prints the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from promoarray.dtypes import INEXACT, INTEGERS, REALS, Kind


class Variant(NamedTuple):
    """A kernel in place of the standard one.

    Attributes
    ----------
    kinds : frozenset of Kind
        What it is for; of other kinds the standard kernel computes.
    sentence : str
        What a user should know about it.
    """

    kinds: frozenset[Kind]
    sentence: str


_FLOATS = frozenset({Kind.FLOAT})
_COMPLEX = frozenset({Kind.COMPLEX})

VARIANTS: Mapping[str, Variant] = {
    "checked_floor_divide": Variant(INTEGERS, "an integer divided by zero is a ZeroDivisionError"),
    "checked_remainder": Variant(INTEGERS, "an integer modulo zero is a ZeroDivisionError"),
    "remainder_keeping_zero": Variant(_FLOATS, "a remainder of zero has the sign of x1"),
    "checked_clip": Variant(REALS, "a lower bound above the upper one is a ValueError"),
    "floor_of_quotient": Variant(_FLOATS, "floor(x1 / x2), whose quotient is rounded first"),
    "remainder_of_quotient": Variant(_FLOATS, "x1 - floor(x1 / x2) * x2, in float64"),
    "low_bound_last": Variant(
        REALS, "where the lower bound is above the upper one, it holds for every element"
    ),
    "clip_beyond": Variant(_FLOATS, "a zero that equals a bound keeps its sign"),
    "clip_up_to": Variant(_FLOATS, "a zero that equals a bound takes its sign"),
    "clip_signed_zeros": Variant(_FLOATS, "-0.0 is below 0.0"),
    "left_shift_within": Variant(INTEGERS, "a count beyond the bits is brought into 0 to bits - 1"),
    "right_shift_within": Variant(
        INTEGERS, "a count beyond the bits is brought into 0 to bits - 1"
    ),
    "reciprocal_pow": Variant(
        frozenset({Kind.INT}),
        "an integer to a negative power is its reciprocal without the fraction: 1 and -1 stay, all "
        "else is 0",
    ),
    "double_pow": Variant(
        INTEGERS,
        "integers are raised in float64: what lies beyond the dtype, and 0 to a negative power, is "
        "the smallest int32 or int64, in narrower dtypes 0",
    ),
    "double_reciprocal_pow": Variant(
        INTEGERS,
        "integers are raised in float64: what lies beyond the dtype is the smallest int32 or "
        "int64; a negative power is the reciprocal without the fraction, of 0 it is 0",
    ),
    "six_bit_pow": Variant(
        INTEGERS,
        "of an array of exponents only the low six bits count: x ** -1 is x ** 63, whose low bits "
        "are kept",
    ),
    "argmax_without_nan": Variant(_FLOATS, "NaN is skipped"),
    "argmin_without_nan": Variant(_FLOATS, "NaN is skipped"),
    "sign_without_nan": Variant(_FLOATS, "the sign of NaN is 0"),
    "truncated_divide": Variant(
        INTEGERS, "integers divide towards zero; divided by zero they are a ZeroDivisionError"
    ),
    "xla_divide": Variant(
        INTEGERS, "integers divide towards zero; divided by zero they are -1, all bits set"
    ),
    "xla_remainder": Variant(
        REALS, "the result has the sign of x1; an integer modulo zero is itself"
    ),
    "xla_floor_divide": Variant(
        INTEGERS,
        "the floor of XLA's division, which makes -1, all bits set, of x // 0: the floor "
        "of that is -2 for a signed x but 0",
    ),
    "saturating_floor_divide": Variant(
        INTEGERS,
        "divided by zero an integer is the largest of its dtype, a negative one the smallest, and "
        "0 is 0",
    ),
    "nan_remainder": Variant(
        INTEGERS,
        "an integer modulo zero is what x86 makes of NaN: the smallest int32 or int64, in narrower "
        "dtypes 0",
    ),
    "standard_floor_divide": Variant(
        _FLOATS,
        "an infinity divided by a finite number is infinite, a finite number by an infinity a zero "
        "of the sign of the quotient",
    ),
    "real_floor_divide": Variant(
        _COMPLEX, "the floor of the real part of the quotient; of what is divided by zero 0"
    ),
    "real_floor_remainder": Variant(
        _COMPLEX, "x1 - n * x2, n the floor of the real part of the quotient"
    ),
    "nearest_remainder": Variant(
        _COMPLEX,
        "x1 - n * x2, n the quotient with both parts rounded to nearest, halves away from zero",
    ),
    "truncated_mean": Variant(
        INTEGERS, "the mean of integers is without its fraction, and of no elements 0"
    ),
    "mean_or_zero": Variant(_COMPLEX, "the mean of no elements is 0"),
    "max_or_lowest": Variant(
        REALS, "the largest of no elements is the lowest number, -inf of floats"
    ),
    "min_or_highest": Variant(
        REALS, "the smallest of no elements is the highest number, inf of floats"
    ),
    "arange_in_dtype": Variant(
        frozenset(INEXACT), "the dtype itself adds up the steps, and every sum is rounded"
    ),
    "arange_by_difference": Variant(
        INTEGERS, "the step is that from the first value to the second, both without fractions"
    ),
    "arange_of_integers": Variant(INTEGERS, "start and step lose their fractions, the count not"),
    "arange_counting_int64": Variant(
        INTEGERS,
        "start and step lose their fractions, the count not; but in int64 stop loses its, too, and "
        "the integers are counted",
    ),
    "linspace_of_integers": Variant(
        INTEGERS,
        "the ends lose their fractions first, then what lies between them, counted from the nearer"
        " end",
    ),
    "linspace_towards_zero": Variant(INTEGERS, "the values lose their fractions"),
    "standard_expm1": Variant(_COMPLEX, "infinities and NaN as the standard's special cases"),
    "standard_tanh": Variant(
        _COMPLEX, "of an infinite real part 1 or -1, and a zero of the sign of the imaginary part"
    ),
}
"""From a kernel's name to what it is."""
