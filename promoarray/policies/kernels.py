"""Kernels by name whose values are one framework's own, and what is different about them.

A policy names them in ``Policy.kernels`` for the operations where its framework does not compute
what NumPy does; ``backends.variants`` computes them, ``explain`` prints the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from promoarray.dtypes import Kind
from promoarray.policies.plans import INTEGERS, REALS


@dataclass(frozen=True, slots=True)
class Variant:
    """A kernel in place of the usual one.

    Attributes
    ----------
    kinds : frozenset of Kind
        What it is for; of other kinds the usual kernel computes.
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
    "checked_clip": Variant(REALS, "a lower bound above the upper one is a ValueError"),
    "floor_of_quotient": Variant(_FLOATS, "floor(x1 / x2), whose quotient is rounded first"),
    "low_bound_last": Variant(
        REALS, "where the lower bound is above the upper one, it holds for every element"
    ),
    "left_shift_within": Variant(INTEGERS, "a count beyond the bits is brought into 0 to bits - 1"),
    "right_shift_within": Variant(
        INTEGERS, "a count beyond the bits is brought into 0 to bits - 1"
    ),
    "reciprocal_pow": Variant(
        frozenset({Kind.INT}),
        "an integer to a negative power is its reciprocal without the fraction: 1 and -1 stay, all "
        "else is 0",
    ),
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
    "standard_floor_divide": Variant(
        _FLOATS,
        "an infinity divided by a finite number is infinite, a finite number by an infinity a zero "
        "of the sign of the quotient",
    ),
    "standard_expm1": Variant(_COMPLEX, "infinities and NaN as the standard's special cases"),
    "standard_tanh": Variant(
        _COMPLEX, "of an infinite real part 1 or -1, and a zero of the sign of the imaginary part"
    ),
}
"""From a kernel's name to what it is."""
