"""Paddle: tensors promote only among floats or with a complex one, scalars and 0-d tensors more.

Two layers, as in ``paddle/phi/common/type_promotion.h`` of 3.x: a lookup of every pair (``LOOKUP``,
the same in 2.6 and 3.3), and a gate before it that lets through what the document "Introduction to
Data Type Promotion" tabulates (``TENSORS``). A Python scalar or, since 3.0, one 0-d tensor passes
the gate: it keeps the tensor's dtype if its kind is no higher, else the lookup answers.

Editions: ``paddle`` is the document, its printed errors corrected; on 0-d tensors, where it is
silent, it does as 3.3. What the wheels do, ``paddle@3.3`` and ``paddle@2.6``, is in
``wheel_3_3.py`` and ``wheel_2_6.py``, and in ``wheels.py`` what both do.

What the document contradicts itself in, and how it is settled:

* row c64, columns f64 and i64 print c64 and c128; their mirrors, the sample code and 3.3 say c128
  and c64 (corrected upstream by PaddlePaddle/docs#6830).
* ``-`` on the diagonal of bool and the integers means that nothing is promoted, not that
  ``int32 + int32`` raises. So does ``-`` in the list of APIs: there operands must already agree.
* "otherwise the result follows the Tensor-to-Tensor rules" would refuse ``int64 + 1.0``, which the
  Tensor-to-Scalar table gives as f32: it is the lookup with the scalar's default dtype.
* a comment of the sample gives float16 for that sum; the table and 3.3 give float32.
* "As of Paddle version 2.6": the published 2.6.2 does none of this (``paddle@2.6``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INTEGERS, NUMBERS, ORDERED, DType, Kind
from promoarray.operations import Family
from promoarray.policies.paddle.casts import PADDLE
from promoarray.policies.paddle.foreign import FOREIGN
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.linalg_rules import AS_COMPLEX, LAPACK, linear
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import CONVERSIONS, Policy
from promoarray.promotion.ranks import ArraysFirst
from promoarray.promotion.rules import Table
from promoarray.promotion.scalars import (
    NARROW,
    Scalars,
    not_negative,
    of_int64,
    passing,
    shown,
    wrap,
)
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule, integers_by_scalar, refuse, same, to_bool
from promoarray.promotion.type_steps import NO_ORDER, agreed, always, component, exact_to, first_of

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

# Introduction to Data Type Promotion, Tensor-to-Tensor, in its order; corrected as said above.
TENSORS = Table("""
         bf16  f16   f32   f64   b1    u8    i8    i16   i32   i64   c64   c128
    bf16 bf16  f32   f32   f64   -     -     -     -     -     -     c64   c128
    f16  f32   f16   f32   f64   -     -     -     -     -     -     c64   c128
    f32  f32   f32   f32   f64   -     -     -     -     -     -     c64   c128
    f64  f64   f64   f64   f64   -     -     -     -     -     -     c128  c128
    b1   -     -     -     -     b1    -     -     -     -     -     c64   c128
    u8   -     -     -     -     -     u8    -     -     -     -     c64   c128
    i8   -     -     -     -     -     -     i8    -     -     -     c64   c128
    i16  -     -     -     -     -     -     -     i16   -     -     c64   c128
    i32  -     -     -     -     -     -     -     -     i32   -     c64   c128
    i64  -     -     -     -     -     -     -     -     -     i64   c64   c128
    c64  c64   c64   c64   c128  c64   c64   c64   c64   c64   c64   c64   c128
    c128 c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
""")

# promoteTypes in paddle/phi/common/type_promotion.h, in its order; 2.6.2 to 3.3.1 have the same.
LOOKUP = Table("""
         u8    i8    i16   i32   i64   f16   f32   f64   c64   c128  b1    bf16
    u8   u8    i16   i16   i32   i64   f16   f32   f64   c64   c128  u8    bf16
    i8   i16   i8    i16   i32   i64   f16   f32   f64   c64   c128  i8    bf16
    i16  i16   i16   i16   i32   i64   f16   f32   f64   c64   c128  i16   bf16
    i32  i32   i32   i32   i32   i64   f16   f32   f64   c64   c128  i32   bf16
    i64  i64   i64   i64   i64   i64   f16   f32   f64   c64   c128  i64   bf16
    f16  f16   f16   f16   f16   f16   f16   f32   f64   c64   c128  f16   f32
    f32  f32   f32   f32   f32   f32   f32   f32   f64   c64   c128  f32   f32
    f64  f64   f64   f64   f64   f64   f64   f64   f64   c128  c128  f64   f64
    c64  c64   c64   c64   c64   c64   c64   c64   c128  c64   c128  c64   c64
    c128 c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
    b1   u8    i8    i16   i32   i64   f16   f32   f64   c64   c128  b1    bf16
    bf16 bf16  bf16  bf16  bf16  bf16  f32   f32   f64   c64   c128  bf16  bf16
""")

# Paddle 3 names these dtypes too, but promotes none of them ("Invalid enum data type").
NAMES_ONLY = (dt.uint16, dt.uint32, dt.uint64, dt.float8_e4m3fn, dt.float8_e5m2)

REFUSAL = (
    "tensors promote only between floating-point dtypes, or with a complex one"
    " (Introduction to Data Type Promotion, Tensor-to-Tensor)"
)
UNLISTED = (
    "the tensors must have one dtype: the document's list of APIs that promote does not name this"
    " one (The Scope of Type Promotion)"
)
NO_SCALAR = "the Python scalar is of a higher kind than the tensor whose dtype it has to take"
_BITWISE_LISTED = (
    "the tensors must have one dtype: the document's list of APIs has '-' under Tensor-to-Tensor"
    " for the bitwise ones (The Scope of Type Promotion)"
)


def rises(common: DType, scalar: DType) -> DType | None:
    """Let a scalar through the gate: it counts only if its kind is higher than the tensor's."""
    if scalar.kind.category <= common.kind.category:
        return common
    if common in NAMES_ONLY and scalar.kind is Kind.FLOAT:
        return common  # not among the integers that the operators know to make float32
    return LOOKUP(common, NARROW[scalar])


def stays(common: DType, scalar: DType) -> DType | None:
    """Promote nothing: a scalar becomes the tensor's dtype or is refused."""
    return common if scalar.kind.category <= common.kind.category else None


def zero_d(common: DType, other: DType) -> DType | None:
    """Let a 0-d tensor through the gate, as a scalar; a dtype that Paddle only names stays out."""
    if common is not other and not {common, other} <= set(LOOKUP.dtypes):
        return None
    same_kind = common.kind.category == other.kind.category
    return common if same_kind else LOOKUP(common, other)


OPEN = ArraysFirst(TENSORS, scalar=rises, zero_d=zero_d, zero_ds=LOOKUP)
"""The operators that know 0-d tensors (``support_promotion_ops`` upstream)."""
WIDENING = replace(OPEN, zero_d=LOOKUP)
"""floor_divide: a 0-d tensor opens the gate but counts in full."""
SHUT = ArraysFirst(TENSORS, scalar=stays, why_scalar=NO_SCALAR)
"""Functions for which a 0-d tensor is a tensor, and that take no scalars to promote."""
AGREED = ArraysFirst(agreed, scalar=stays, why=UNLISTED, why_scalar=NO_SCALAR)
"""Functions that promote nothing."""


@passing()
def low_bits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int64, as comparisons do; refuse what is beyond."""
    return wrap(of_int64(value), dtype)


def through(single: bool) -> Callable[[Any, DType], Any]:
    """Make the cast of a scalar: through a C double (or float), then as x86 makes it an integer.

    What does not fit gives the smallest int32 (int64 for int64), of which 8- and 16-bit dtypes keep
    the low bits. So int64 tensors lose the low bits of large ints, as they do in Paddle.
    """

    exact = (
        1 << 24 if single else (1 << 31) - 1
    )  # a uint32 may be beyond the int32 that it comes from

    @passing(-exact, exact, floats=dt.float32 if single else dt.float64)
    def fit(value: Any, dtype: DType) -> Any:
        if isinstance(value, complex) or dtype.kind is Kind.BOOL:
            return value
        try:
            number = float(value)
        except OverflowError:
            raise OverflowError(f"Python int {shown(value)} does not fit a C double") from None
        if single:
            with np.errstate(over="ignore"):
                number = float(np.float32(number))
        if dtype.kind not in INTEGERS:
            return number
        top = 1 << (dtype.bits if dtype.bits == 64 else 32) - 1
        return wrap(int(number) if -top <= number < top else -top, dtype)

    return fit


def summed(dtype: DType) -> DType:
    """What a sum is in: int64 for bool and int32, and the other integers as they are."""
    return dt.int64 if dtype in (dt.bool, dt.int32) else dtype


_tested = TypeRule(operand_types=OPEN, result=to_bool)


def _logic(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Keep complex out of promotion, as the Logic Rule says; it stays where nothing is promoted."""
    plan = _tested(policy, name, operands)
    tensors = [o.type for o in operands if o.rank is not Rank.SCALAR]
    if isinstance(plan, Plan) and any(
        common.kind is Kind.COMPLEX and common is not tensor
        for common in plan.inputs
        for tensor in tensors
    ):
        return Refusal(
            "calculations with complex dtypes are outside the promotion of logic (Logic Rule)"
        )
    return plan


_FACTORED = "linear algebra takes float32, float64 and complex tensors of one dtype"
_SUM_NOTE = "bool and int32 are summed in int64"

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    Family.DIVIDE: TypeRule(
        compute=exact_to(dt.float32),
        note="The Divide Rule: never smaller than float, so integers give float32.",
    ),
    Family.FLOOR_DIVIDE: TypeRule(),
    "fmod": refuse("Paddle has no fmod"),
    "floor_divide": TypeRule(operand_types=WIDENING, admit=ORDERED),
    Family.POW: TypeRule(kernel=integers_by_scalar),
    Family.EQUALITY: _logic,
    Family.ORDER: TypeRule(result=to_bool, admit=ORDERED, why="The Logic Rule excludes complex"),
    Family.LOGICAL: _logic,
    Family.BITWISE: TypeRule(
        operand_types=ArraysFirst(agreed, scalar=rises, why=_BITWISE_LISTED), admit=BITS
    ),
    Family.SHIFT: TypeRule(operand_types=AGREED, admit=INTEGERS),
    Family.EXTREMUM: TypeRule(operand_types=SHUT, admit=ORDERED, why=NO_ORDER),
    Family.FLOAT_BINARY: TypeRule(operand_types=SHUT, admit=frozenset({Kind.FLOAT})),
    "atan2": TypeRule(operand_types=SHUT, admit=ORDERED, compute=exact_to(dt.float64)),
    "hypot": TypeRule(compute=exact_to(dt.float32), note="Composed of square, + and sqrt."),
    "copysign": TypeRule(admit=ORDERED),
    "logaddexp": TypeRule(operand_types=SHUT, admit=ORDERED, compute=exact_to(dt.float32)),
    Family.WHERE: TypeRule(operand_types=ArraysFirst(TENSORS, scalar=rises)),
    Family.CLIP: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.MATMUL: TypeRule(operand_types=AGREED),
    **dict.fromkeys(("outer", "cross"), TypeRule()),
    "vecdot": TypeRule(compute=summed, note=_SUM_NOTE),
    **linear(
        TypeRule(operand_types=AGREED, admit=LAPACK, why=_FACTORED),
        index=dt.int64,
        fft=TypeRule(
            admit=LAPACK | INTEGERS,
            compute=exact_to(dt.float32),
            why="paddle.fft takes integers, float32, float64 and complex",
            note="integers are transformed in float32",
        ),
        irfft=TypeRule(
            admit=LAPACK, why="a transform to real numbers takes float32, float64 and complex"
        ),
    ),
    "matrix_power": TypeRule(admit=LAPACK, why=_FACTORED),
    "matrix_norm": TypeRule(admit=LAPACK, why=_FACTORED, note=AS_COMPLEX),
    "slogdet": TypeRule(admit=LAPACK, extra_results=(same,), why=_FACTORED, note=AS_COMPLEX),
    Family.SORT: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.INDEX: TypeRule(admit=ORDERED, result=always(dt.int64), why=NO_ORDER),
    Family.CONCAT: TypeRule(operand_types=AGREED),
    Family.LOSS: TypeRule(operand_types=SHUT),
    "l1_loss": TypeRule(operand_types=SHUT, result=component),
    "mse_loss": TypeRule(),
    Family.FLOAT_UNARY: TypeRule(admit=NUMBERS, compute=exact_to(dt.float32)),
    Family.SIGN: TypeRule(),
    "abs": TypeRule(result=component),
    "positive": TypeRule(admit=NUMBERS),
    Family.ROUND: TypeRule(admit=ORDERED),
    "round": TypeRule(),
    Family.TEST: TypeRule(result=to_bool),
    "signbit": TypeRule(admit=ORDERED, result=to_bool),
    Family.COMPLEX: TypeRule(result=component),
    "conj": TypeRule(),
    Family.SUM: TypeRule(),
    "sum": TypeRule(compute=summed, note=_SUM_NOTE),
    "cumulative_sum": TypeRule(compute=exact_to(dt.int64)),
    Family.MEAN: TypeRule(admit=ORDERED, note="An integer mean stays an integer."),
    "mean": TypeRule(note="An integer mean stays an integer."),
    "std": TypeRule(admit=ORDERED, compute=exact_to(dt.float32)),
    Family.EXTREME: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.TRUTH: TypeRule(result=to_bool),
    Family.POSITION: TypeRule(admit=ORDERED, result=always(dt.int64), why=NO_ORDER),
}

CHECKED = {
    "floor_divide": ("checked_floor_divide",),
    "remainder": ("checked_remainder", "nearest_remainder"),
    "clip": ("checked_clip",),
    "linspace": ("linspace_of_integers",),
}
"""What every Paddle refuses by value."""

OF_WHEELS = {
    **CHECKED,
    "remainder": ("checked_remainder", "nearest_remainder", "remainder_keeping_zero"),
    "multiply": ("scaled",),
    "negative": ("scaled_negative",),
    "argmax": ("argmax_without_nan",),
    "argmin": ("argmin_without_nan",),
    "atan2": ("single_atan2",),
    "hypot": ("hypot_of_squares",),
    "arange": ("arange_counting",),
    "expm1": ("standard_expm1",),
}
"""What the wheels compute in their own way, of which the document says nothing."""

DOCUMENT = Policy(
    name="paddle",
    title="Paddle's document on type promotion",
    principle=(
        "Tensors promote among floats and with complex, integers only with themselves; a Python "
        "scalar keeps the tensor's dtype unless its kind is higher, and then counts as int64, "
        "float32 or complex64."
    ),
    promote=TENSORS,
    dtypes=TENSORS.dtypes,
    foreign=FOREIGN,
    operations=OPERATIONS,
    operand_types=OPEN,
    ranks=True,
    one_element=CONVERSIONS | {"setitem"},
    scalars=Scalars(
        fit=through(single=False),
        fit_compared=low_bits,
        fit_exponent=not_negative(
            through(single=False), wraps=True
        ),  # 3.3.1 never comes back from one
    ),
    kernels={**CHECKED, "pow": ("double_reciprocal_pow", "plain_pow")},
    fixed={"histogram": dt.int64, "density": dt.float32, "weights": dt.float64},
    refuses={"quantile": first_of(dt.float32, dt.float64)},
    defaults=NARROW,
    cast=PADDLE,
    refusal=REFUSAL,
    sources=(
        Source(
            "Introduction to Data Type Promotion", "Type Promotion Rules", "Paddle documentation"
        ),
        Source("paddle/phi/common/type_promotion.h", "0-d tensors", "paddlepaddle 3.3.1"),
    ),
    notes=(
        Note(
            "The document prints c64 and c128 for c64 with f64 and i64; mended to c128 and c64.",
            dtypes("c64 c128 f64 i64"),
        ),
        Note(
            "The document says nothing of 0-d tensors: they do as in paddle@3.3.",
            ranks=[Rank.ZERO_D],
        ),
    ),
)
