"""Kernels by name whose values are one framework's own, and what is different about them.

A policy names them in ``Policy.kernels`` for the operations where its framework does not compute
what NumPy does; ``backends.variants`` computes them, ``ranges`` those of ``arange`` and
``linspace``, and ``explain`` prints the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from promoarray.dtypes import BITS, INEXACT, INTEGERS, REALS, Kind


class Variant(NamedTuple):
    """A kernel in place of the standard one.

    Attributes
    ----------
    kinds : frozenset of Kind
        What it is for; of other kinds the standard kernel computes.
    sentence : str
        What a user should know about it.
    of_one_shape : str
        The standard kernel, if it gives the same values of operands that have one shape.
    """

    kinds: frozenset[Kind]
    sentence: str
    of_one_shape: str = ""


_FLOATS = frozenset({Kind.FLOAT})
_COMPLEX = frozenset({Kind.COMPLEX})

VARIANTS: Mapping[str, Variant] = {
    "checked_floor_divide": Variant(INTEGERS, "an integer divided by zero is a ZeroDivisionError"),
    "checked_remainder": Variant(INTEGERS, "an integer modulo zero is a ZeroDivisionError"),
    "remainder_keeping_zero": Variant(_FLOATS, "a remainder of zero has the sign of x1"),
    "checked_divide": Variant(
        frozenset({Kind.BOOL}), "a bool divided by False is a ZeroDivisionError"
    ),
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
    "plain_pow": Variant(_FLOATS, "the power 0.5 of -inf is inf, of -0.0 it is 0.0"),
    "whole_shortcut_pow": Variant(
        frozenset(INEXACT),
        "x ** -1 is the reciprocal and x ** 2 the square",
    ),
    "root_shortcut_pow": Variant(
        frozenset(INEXACT), "x ** 0.5 is the square root, which is NaN of -inf and -0.0 of -0.0"
    ),
    "shortcut_pow": Variant(
        frozenset(INEXACT),
        "x ** -1 is the reciprocal, x ** 2 the square, x ** 0.5 the root, NaN of -inf",
    ),
    "multiplied_pow": Variant(
        frozenset(INEXACT),
        "one exponent of -2, -1, 0, 1, 2, 3 counts factors, and one of 0.5 or -0.5 is the root, "
        "which is NaN of -inf",
    ),
    "argmax_without_nan": Variant(_FLOATS, "NaN is skipped"),
    "argmin_without_nan": Variant(_FLOATS, "NaN is skipped"),
    "integer_pow": Variant(
        frozenset(INEXACT), "one integer exponent counts multiplications, each of which rounds"
    ),
    "polar_pow": Variant(
        _COMPLEX, "x ** y of |x| and the angle of x; 1 ** y and x ** 0 are 1, NaN or not"
    ),
    "reciprocal_divide": Variant(
        _FLOATS,
        "x1 is multiplied by 1 / x2 where x2 has fewer elements than the result",
        of_one_shape="divide",
    ),
    "first_selects": Variant(
        frozenset(INEXACT), "bools of all elements select x2 or 0: False * NaN is 0"
    ),
    "second_selects": Variant(
        frozenset(INEXACT), "bools of all elements select x1 or 0: NaN * False is 0"
    ),
    "selected_reciprocal": Variant(
        _FLOATS,
        "bools select 1 / x2 or 0 where x2 has fewer elements than the result: False / -2 is 0",
        of_one_shape="divide",
    ),
    "float_divmod": Variant(
        _FLOATS,
        "x1 without the remainder is divided by x2, and the quotient rounded to an integer",
    ),
    **dict.fromkeys(
        ("lexical_greater", "lexical_greater_equal", "lexical_less", "lexical_less_equal"),
        Variant(_COMPLEX, "real parts compare, and imaginary ones where they are equal"),
    ),
    "lexical_maximum": Variant(_COMPLEX, "x1 if it is greater, else x2: a NaN in x1 is lost"),
    "lexical_minimum": Variant(_COMPLEX, "x1 if it is less, else x2: a NaN in x1 is lost"),
    "wrapped_logaddexp": Variant(_COMPLEX, "the imaginary part lies between -pi and pi"),
    "real_all": Variant(_COMPLEX, "a number counts as true if its real part is not 0"),
    "real_any": Variant(_COMPLEX, "a number counts as true if its real part is not 0"),
    "nan_divide": Variant(
        _COMPLEX,
        "both parts of what is divided by zero are NaN; of two products one is not rounded",
    ),
    **dict.fromkeys(
        ("plain_multiply", "plain_square"),
        Variant(_COMPLEX, "every product of two parts is rounded"),
    ),
    **dict.fromkeys(
        ("add_scaled", "subtract_scaled"),
        Variant(
            _COMPLEX,
            "x2 is multiplied by the complex number 1, which makes a NaN of the part beside an "
            "infinity or a NaN",
        ),
    ),
    **dict.fromkeys(
        ("scaled_add", "scaled_subtract"),
        Variant(
            _COMPLEX,
            "beside a Python int or float x is multiplied by the complex number 1, which makes a "
            "NaN of the part beside an infinity or a NaN",
        ),
    ),
    "nan_reciprocal": Variant(
        _COMPLEX, "both parts of the reciprocal of zero are NaN; that of an infinity has no signs"
    ),
    **dict.fromkeys(
        ("log_pow", "shortcut_log_pow"),
        Variant(_COMPLEX, "exp(y * log(x)), whose every step rounds"),
    ),
    **dict.fromkeys(
        ("fused_divide", "fused_reciprocal", "xla_multiply"),
        Variant(_COMPLEX, "of a sum of two products of parts one is not rounded"),
    ),
    "xla_square": Variant(_COMPLEX, "the real part is (a - b) * (a + b) of the parts a and b"),
    **dict.fromkeys(
        ("xla_complex_divide", "xla_reciprocal"),
        Variant(
            _COMPLEX,
            "of a sum of two products of parts one is not rounded; divided by zero a number is "
            "infinite, divided by an infinity zero",
        ),
    ),
    "scaled": Variant(
        INEXACT, "a product with a Python int or float is x * scalar + 0: a zero is positive"
    ),
    "scaled_negative": Variant(INEXACT, "-x is x * -1 + 0: a zero is positive"),
    "round_half_away": Variant(_FLOATS, "halves are rounded away from zero"),
    "scaled_by_reciprocal": Variant(
        _FLOATS,
        "divided by a Python int or float is x * (1 / scalar) + 0, so a zero is positive",
    ),
    "exact_integer_mean": Variant(INTEGERS, "the quotient of the sum loses its fraction"),
    "var_around_integer": Variant(INTEGERS, "the mean loses its fraction"),
    "std_around_integer": Variant(INTEGERS, "the mean loses its fraction"),
    "single_atan2": Variant(
        frozenset({Kind.BOOL, *INTEGERS}), "angles of integers have the precision of float32"
    ),
    "hypot_of_squares": Variant(
        frozenset({*INTEGERS, *INEXACT}), "the root of x1 * x1 + x2 * x2, which may overflow"
    ),
    "integer_var": Variant(
        INTEGERS,
        "the mean, of float32, loses its fraction, squares are summed in the dtype, and the "
        "quotient loses its fraction again",
    ),
    "integer_std": Variant(INTEGERS, "the square root of the variance without its fraction"),
    "sign_without_nan": Variant(_FLOATS, "the sign of NaN is 0"),
    "sign_keeping_zero": Variant(_FLOATS, "a zero keeps its sign"),
    **dict.fromkeys(("signed_maximum", "signed_minimum"), Variant(_FLOATS, "-0.0 is below 0.0")),
    "sign_of_order": Variant(
        _COMPLEX, "1, 0 or -1 as x is above, at or below zero by its real, then imaginary part"
    ),
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
        BITS,
        "the first two values are stored, without fractions, and the others go on by their "
        "difference, of which the low bits are kept; of bools there are two values at most",
    ),
    "arange_of_integers": Variant(INTEGERS, "start and step lose their fractions, the count not"),
    "arange_counting": Variant(
        INTEGERS, "start, stop and step lose their fractions, then the integers are counted"
    ),
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
