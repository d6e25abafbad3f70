"""Kernels by name whose values are one framework's own, and what is different about them.

A policy names them in ``Policy.kernels`` for the operations where its framework does not compute
what NumPy does; ``kernels.portable`` computes them, ``functions.ranges`` those of ``arange`` and
``linspace``, and ``explain`` prints the sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from promoarray.dtypes import BITS, INEXACT, INTEGERS, REALS, Kind


class Variant(NamedTuple):
    """A kernel in place of the standard one."""

    kinds: frozenset[Kind]  # what it is for; of other kinds the standard kernel computes
    sentence: str  # what a user should know about it


_KINDS = {
    "bools": frozenset({Kind.BOOL}),
    "signed": frozenset({Kind.INT}),
    "integers": frozenset(INTEGERS),
    "bits": frozenset(BITS),
    "floats": frozenset({Kind.FLOAT}),
    "reals": frozenset(REALS),
    "complex": frozenset({Kind.COMPLEX}),
    "inexact": frozenset(INEXACT),
    "numbers": frozenset({*INTEGERS, *INEXACT}),
}

_TABLE = """
checked_floor_divide | integers | an integer divided by zero is a ZeroDivisionError
checked_remainder checked_fmod | integers | an integer modulo zero is a ZeroDivisionError
remainder_or_itself | integers | an integer modulo zero is itself
remainder_keeping_zero | floats | a remainder of zero has the sign of x1
checked_divide | bools | a bool divided by False is a ZeroDivisionError
checked_clip | reals | a lower bound above the upper one is a ValueError
floor_of_quotient | floats | floor(x1 / x2), whose quotient is rounded first
times_reciprocal | floats | x1 is multiplied by 1 / x2, which rounds first
floor_of_product | floats | floor(x1 * (1 / x2))
remainder_of_product | floats | x1 - floor(x1 * (1 / x2)) * x2
floor_of_exact_quotient | floats | the floor of the quotient in float64; divided by zero it is a
    ZeroDivisionError
remainder_of_quotient | floats | x1 - floor(x1 / x2) * x2, in float64
low_bound_last | reals | where the lower bound is above the upper one, it holds for every element
clip_beyond | floats | a zero that equals a bound keeps its sign
clip_up_to | floats | a zero that equals a bound takes its sign
clip_signed_zeros signed_maximum signed_minimum | floats | -0.0 is below 0.0
left_shift_within right_shift_within | integers | a count beyond the bits is brought into 0 to bits
    - 1
masked_left_shift masked_right_shift | integers | of a count the low five bits are left, six for
    64-bit integers
zero_reciprocal_pow | integers | an integer to a negative power is 0
reciprocal_pow | signed | an integer to a negative power is its reciprocal without the fraction: 1
    and -1 stay, all else is 0
double_pow | integers | integers are raised in float64: what lies beyond the dtype, and 0 to a
    negative power, is the smallest int32 or int64, in narrower dtypes 0
positive_double_pow | integers | integers are raised in float64: what lies beyond the dtype is the
    smallest int32 or int64; a negative power is a ValueError
double_reciprocal_pow | integers | integers are raised in float64: what lies beyond the dtype is the
    smallest int32 or int64; a negative power is the reciprocal without the fraction, of 0 it is 0
six_bit_pow | integers | of an array of exponents only the low six bits count: x ** -1 is x ** 63,
    whose low bits are kept
plain_pow | floats | the power 0.5 of -inf is inf, of -0.0 it is 0.0
whole_shortcut_pow | inexact | x ** -1 is the reciprocal and x ** 2 the square
root_shortcut_pow | inexact | x ** 0.5 is the square root, which is NaN of -inf and -0.0 of -0.0
shortcut_pow | inexact | x ** -1 is the reciprocal, x ** 2 the square, x ** 0.5 the root, NaN of
    -inf
multiplied_pow | inexact | one exponent of -2, -1, 0, 1, 2, 3 counts factors, and one of 0.5 or -0.5
    is the root, which is NaN of -inf
argmax_without_nan argmin_without_nan | floats | NaN is skipped
integer_pow | inexact | one integer exponent counts multiplications, each of which rounds
polar_pow | complex | x ** y of |x| and the angle of x; 1 ** y and x ** 0 are 1, NaN or not
reciprocal_divide | floats | x1 is multiplied by 1 / x2 where x2 has fewer elements than the result
first_selects | inexact | bools of all elements select x2 or 0: False * NaN is 0
second_selects | inexact | bools of all elements select x1 or 0: NaN * False is 0
selected_reciprocal | floats | bools select 1 / x2 or 0 where x2 has fewer elements than the result:
    False / -2 is 0
float_divmod | floats | x1 without the remainder is divided by x2, and the quotient rounded to an
    integer
lexical_greater lexical_greater_equal lexical_less lexical_less_equal | complex | real parts
    compare, and imaginary ones where they are equal
lexical_maximum | complex | x1 if it is greater, else x2: a NaN in x1 is lost
lexical_minimum | complex | x1 if it is less, else x2: a NaN in x1 is lost
hypot_of_sizes | complex | the sides are the absolute values, and the result is real
wrapped_logaddexp | complex | the imaginary part lies between -pi and pi
real_all real_any | complex | a number counts as true if its real part is not 0
nan_divide | complex | both parts of what is divided by zero are NaN; of two products one is not
    rounded
plain_multiply plain_square | complex | every product of two parts is rounded
add_scaled subtract_scaled | complex | x2 is multiplied by the complex number 1, which makes a NaN
    of the part beside an infinity or a NaN
scaled_add scaled_subtract | complex | beside a Python int or float x is multiplied by the complex
    number 1, which makes a NaN of the part beside an infinity or a NaN
nan_reciprocal | complex | both parts of the reciprocal of zero are NaN; that of an infinity has no
    signs
log_pow shortcut_log_pow | complex | exp(y * log(x)), whose every step rounds
fused_divide fused_reciprocal xla_multiply | complex | of a sum of two products of parts one is not
    rounded
xla_square | complex | the real part is (a - b) * (a + b) of the parts a and b
xla_complex_divide xla_reciprocal | complex | of a sum of two products of parts one is not rounded;
    divided by zero a number is infinite, divided by an infinity zero
scaled | inexact | a product with a Python int or float is x * scalar + 0: a zero is positive
scaled_negative | inexact | -x is x * -1 + 0: a zero is positive
round_half_away | floats | halves are rounded away from zero
round_up_to_zero | floats | a negative number that rounds to zero is 0.0
scaled_by_reciprocal | floats | divided by a Python int or float is x * (1 / scalar) + 0, so a zero
    is positive
exact_integer_mean | integers | the quotient of the sum loses its fraction
var_around_integer std_around_integer | integers | the mean loses its fraction
single_atan2 | bits | angles of integers have the precision of float32
rounded_atan2 | floats | an angle of float32 is rounded once
hypot_of_squares | numbers | the root of x1 * x1 + x2 * x2, which may overflow
known_var known_std | inexact | with a correction of as many as there are, or more, they are NaN
integer_var | integers | the mean, of float32, loses its fraction, squares are summed in the dtype,
    and the quotient loses its fraction again
integer_std | integers | the square root of the variance without its fraction
sign_without_nan | floats | the sign of NaN is 0
sign_keeping_zero | floats | a zero keeps its sign
second_maximum | floats | x1 if it is greater, else x2: a NaN in x1 is lost
second_minimum | floats | x1 if it is less, else x2: a NaN in x1 is lost
sign_of_parts | complex | both parts are divided by the modulus, of an infinity to NaN
sign_of_parts_keeping_zero | complex | both parts are divided by the modulus, of an infinity to NaN;
    a zero is itself
sign_of_quotient | complex | the number is divided by its modulus as by a complex number, which
    makes both parts of an infinity NaN
sign_of_order | complex | 1, 0 or -1 as x is above, at or below zero by its real, then imaginary
    part
truncated_divide | integers | integers divide towards zero; divided by zero they are a
    ZeroDivisionError
saturating_divide | integers | integers divide towards zero, and what is beyond them is the largest;
    divided by zero they are a ZeroDivisionError
xla_divide | integers | integers divide towards zero; divided by zero they are -1, all bits set
xla_remainder | reals | the result has the sign of x1; an integer modulo zero is itself
xla_floor_divide | integers | the floor of XLA's division, which makes -1, all bits set, of x // 0:
    the floor of that is -2 for a signed x but 0
saturating_floor_divide | integers | divided by zero an integer is the largest of its dtype, a
    negative one the smallest, and 0 is 0
finite_add finite_subtract finite_multiply finite_divide | floats | what is infinite is the largest
    number, with its sign
saturating_add saturating_subtract saturating_multiply saturating_negative saturating_abs | integers
    | integers of 8 bits saturate
times_power_of_two | integers | x1 times the int32 that 2**x2 is, which beyond 2**30 is -2**31;
    8 bits saturate
over_power_of_two | integers | x1 over the int32 that 2**x2 is, in float32 and without the fraction
int8_divide int8_remainder | floats | what is no int8 saturates; divided by zero it is -128
infinite_exp | floats | of NaN it is infinite
not_less_equal not_less | floats | true beside NaN
nan_last_less nan_last_less_equal nan_last_greater nan_last_greater_equal nan_last_equal
    nan_last_not_equal | floats | NaN equals itself and is greater than every number
nan_remainder | integers | an integer modulo zero is what x86 makes of NaN: the smallest int32 or
    int64, in narrower dtypes 0
standard_floor_divide | floats | an infinity divided by a finite number is infinite, a finite number
    by an infinity a zero of the sign of the quotient
real_floor_divide | complex | the floor of the real part of the quotient; of what is divided by zero
    0
real_floor_remainder | complex | x1 - n * x2, n the floor of the real part of the quotient
nearest_remainder | complex | x1 - n * x2, n the quotient with both parts rounded to nearest, halves
    away from zero
truncated_mean | integers | the mean of integers is without its fraction, and of no elements 0
mean_of_wrapped_sum | integers | the sum of integers wraps before it is divided, in float32
one_term_sum one_term_mean | inexact | of one term it is that term, -0.0 too
one_term_matmul one_term_tensordot one_term_vecdot | inexact | a product of one term is that term,
    -0.0 too
one_term_cumulative_sum | inexact | of several terms a sum begins with 0.0, so that none is -0.0
blas_matmul blas_tensordot | inexact | between several rows and columns a product of one term is
    that term, -0.0 too; a sum begins with 0.0
cumulative_sum_from_zero | inexact | the first sum is 0.0 plus the first term, so that none is -0.0
signed_max signed_min | floats | -0.0 is below 0.0
mean_or_zero | complex | the mean of no elements is 0
max_or_lowest | reals | the largest of no elements is the lowest number, -inf of floats
min_or_highest | reals | the smallest of no elements is the highest number, inf of floats
arange_in_dtype | inexact | the dtype itself adds up the steps, and every sum is rounded
arange_by_difference | bits | the first two values are stored, without fractions, and the
    others go on by their difference, of which the low bits are kept; of bools there are two values
    at most
arange_of_integers | integers | start and step lose their fractions, the count not
arange_counting | integers | start, stop and step lose their fractions, then the integers are
    counted
arange_counting_int64 | integers | start and step lose their fractions, the count not; but in int64
    stop loses its, too, and the integers are counted
arange_by_vectors | floats | a number of the range is the first of its vector of 32 bytes plus steps
arange_by_steps | floats | every number of the range is the one before it plus the step
arange_by_products | floats | a number of the range is start + n * step in the dtype itself
arange_by_rounded_products | floats | a number of the range is start + n * step, each rounded to the
    dtype, in which they are counted as well
line_by_products | floats | a number of a line is start + n * step in the dtype itself
line_from_both_ends | floats | each half of a line is counted from its own end, in the dtype itself
fused_line_from_both_ends | floats | each half of a line is counted from its own end, in the dtype
    itself; of float32 and float64 no product is rounded
line_between | numbers | a number of a line is start * (1 - t) + stop * t in the dtype itself, of
    integers in the one that they are divided in
linspace_of_integers | integers | the ends lose their fractions first, then what lies between them,
    counted from the nearer end
linspace_towards_zero | integers | the values lose their fractions
standard_expm1 | complex | infinities and NaN as the standard's special cases
standard_tanh | complex | of an infinite real part 1 or -1, and a zero of the sign of the imaginary
    part
"""
"""A line a kernel, or several that differ alike: their names, the kinds of dtypes, the sentence."""


def _read(table: str) -> Iterator[tuple[str, Variant]]:
    for line in table.strip().replace("\n    ", " ").splitlines():
        names, kinds, sentence = line.split(" | ")
        yield from dict.fromkeys(names.split(), Variant(_KINDS[kinds], sentence)).items()


VARIANTS = dict(_read(_TABLE))
"""From a kernel's name to what it is."""
