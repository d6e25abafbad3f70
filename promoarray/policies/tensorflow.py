"""TensorFlow: nothing promotes but Python scalars; or, in two modes, a lattice for some operations.

The legacy rule is asymmetric. A Python scalar becomes the dtype of the tensor it meets, if it may;
two tensors must agree already. Functions such as `tf.add` settle a scalar on the left first, on
int32, float32 or complex128, so ``tf.add(1, x)`` takes an int32 ``x`` alone; ``1 + x`` does not.

`tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=...)` has the modes:

* ``all``: JAX's lattice with weak types. The binary operations that follow it are listed at the
  end of tensorflow/python/ops/weak_tensor_ops.py; the others keep the legacy rule, so that under
  it ``int8 + int16`` is int16 and ``int8 < int16`` is refused.
* ``safe``: the cells of it that lose nothing: one operand must hold every value of the other.

Sources: the guide "TF-NumPy type promotion"; _BINARY_DTYPE_RES_HALF in
tensorflow/python/framework/flexible_dtypes.py; the type lists of the operators in
tensorflow/core/ops. Recorded: conformance/golden/tf_*.txt, 2.21.0 on CPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.operations import Family
from promoarray.promotion import cast_quirks
from promoarray.promotion.linalg_rules import LAPACK, complexified, linear
from promoarray.promotion.plan import INTEGERS, Operand, Plan, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.policy_like import OperationRule
from promoarray.promotion.rules import Lattice
from promoarray.promotion.scalars import Scalars, in_range, shown, wrap
from promoarray.promotion.source import Source
from promoarray.promotion.type_rules import TypeRule, same, to_bool
from promoarray.promotion.type_steps import always, component, supported_types, with_arrays

DEFAULTS = {
    dt.weak_bool: dt.bool,
    dt.weak_int: dt.int32,
    dt.weak_float: dt.float32,
    dt.weak_complex: dt.complex128,
}
"""What `tf.convert_to_tensor` makes of a Python scalar on its own."""

STORED = {**DEFAULTS, dt.weak_float: dt.float64}
"""What weak tensors hold: int8 + 1.5 is a weak float64, if bool + 1.5 a weak float32."""

FLOATS = frozenset({dt.bfloat16, dt.float16, dt.float32, dt.float64})
COMPLEX = frozenset({dt.complex64, dt.complex128})
SIGNED = frozenset({dt.int8, dt.int16, dt.int32, dt.int64})
UNSIGNED = frozenset({dt.uint8, dt.uint16, dt.uint32, dt.uint64})

FROM_BOOL = frozenset(
    {dt.bool, dt.int32, dt.int64, dt.uint64, dt.float16, dt.float32, dt.float64, dt.complex128}
)
"""What a Python bool converts to (python/eager/pywrap_tensor_conversion.cc); odd, but so it is."""

DTYPES = (
    *(dt.bool, dt.uint8, dt.uint16, dt.uint32, dt.uint64),
    *(dt.int8, dt.int16, dt.int32, dt.int64),
    *(dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.complex64, dt.complex128),
    *(dt.int2, dt.int4, dt.uint2, dt.uint4, dt.float4_e2m1fn),
    *(dt.float8_e4m3b11fnuz, dt.float8_e4m3fn, dt.float8_e4m3fnuz),
    *(dt.float8_e5m2, dt.float8_e5m2fnuz),
)


def converts(scalar: DType, dtype: DType) -> bool:
    """Whether a Python scalar may become a tensor of this dtype."""
    if scalar is dt.weak_bool:
        return dtype in FROM_BOOL
    return dtype is not dt.bool and scalar.kind.category <= dtype.kind.category


def legacy(a: DType, b: DType) -> DType | None:
    """Common dtype by the legacy rule; of two scalars the left one decides."""
    if a.weak and b.weak:
        a = DEFAULTS[a]
    if a.weak:
        a, b = b, a
    return a if a is b or (b.weak and converts(b, a)) else None


# _BINARY_DTYPE_RES_HALF: its cells are the joins of this lattice (JAX's, but for the narrow types).
ALL = Lattice("""
b1   -> i*
i*   -> u8 i8
u8   -> i16 u16
u16  -> i32 u32
u32  -> i64 u64
u64  -> f*
i8   -> i16
i16  -> i32
i32  -> i64
i64  -> f*
f*   -> bf16 f16 c*
bf16 -> f32
f16  -> f32
f32  -> f64 c64
f64  -> c128
c*   -> c64
c64  -> c128
""")

# What holds every value of what: the cells upstream marks SAFE.
HOLDS = Lattice("""
b1   -> i* f* c*
i*   -> u8 i8
u8   -> i16 u16 f16 bf16
u16  -> i32 u32 f32
u32  -> i64 u64 f64
i8   -> i16 f16 bf16
i16  -> i32 f32
i32  -> i64 f64
f*   -> bf16 f16
bf16 -> f32
f16  -> f32
f32  -> f64 c64
f64  -> c128
c*   -> c64
c64  -> c128
""")


def promote_all(a: DType, b: DType) -> DType | None:
    """Common dtype in mode ``all``; a Python bool is bool, if it converts to the result at all."""
    if dt.weak_bool in (a, b):
        other = b if a is dt.weak_bool else a
        return other if other.weak or other in FROM_BOOL else None
    return ALL(a, b)


def promote_safe(a: DType, b: DType) -> DType | None:
    """Common dtype in mode ``safe``: one of the two, and only if it holds the other."""
    if dt.weak_bool in (a, b) or (a.weak and b.weak):
        return promote_all(a, b)
    if dt.weak_complex in (a, b):  # a complex128 that is weak: wider than it stands in the lattice
        other = b if a is dt.weak_complex else a
        if other is dt.float64 or (other.kind in INTEGERS and 0 < other.bits <= 32):
            return ALL(a, b)
    return b if b in HOLDS.above(a) else a if a in HOLDS.above(b) else None


def left_settles(policy: Policy, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter a Python scalar on the left as the dtype it has on its own."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    left, *rest = entered
    return (DEFAULTS.get(left, left), *rest)


def mask(policy: Policy, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply; one bool tensor makes logical_and of it (`_mul_dispatch`), even of float * bool."""
    if any(operand.type is dt.bool for operand in operands):
        return policy.make_plan(name, dt.bool, dt.bool, 2)
    return _arithmetic(policy, name, operands)


def legacy_mask(policy: Policy, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Multiply as `mask`; a scalar on the left must become bool first, which a number does not."""
    return (_arithmetic if operands[0].type in _WEAK else mask)(policy, name, operands)


def bool_is_bool(policy: Policy, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter a Python bool as bool, which casts to anything, where nothing is converted."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    return tuple(dt.bool if dtype is dt.weak_bool else dtype for dtype in entered)


def product(a: DType, b: DType) -> DType | None:
    """Common dtype of a matrix product: bfloat16 may meet float32 (BatchMatMulV3)."""
    return dt.float32 if {a, b} == {dt.bfloat16, dt.float32} else legacy(a, b)


def settled(dtype: DType) -> DType:
    """Make a weak dtype what it is in memory, for operations whose result is never weak."""
    return STORED.get(dtype, dtype)


def quotient(dtype: DType) -> DType:
    """Divide integers in float32 up to 16 bits, in float64 above."""
    if dtype is dt.weak_int:
        return dt.weak_float
    if dtype.kind not in INTEGERS:
        return dtype
    return dt.float32 if dtype.bits <= 16 else dt.float64


_THROUGH_INT64 = frozenset({dt.bfloat16, dt.complex64})


def fits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int64; refuse what is beyond, and what uint64 cannot hold."""
    # bfloat16 and complex64 take their ints through an int64 as well, the other floats do not.
    if type(value) is not int or not (dtype.kind in INTEGERS or dtype in _THROUGH_INT64):
        return value
    if dtype is dt.uint64:
        return in_range(value, dtype)
    if not -(1 << 63) <= value < 1 << 63:
        given = f"Python int {shown(value)}"
        raise OverflowError(f"{given} is out of range for a TensorFlow scalar (int64)")
    return wrap(value, dtype)


def fits_int32(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int32: the modes make an int32 of every Python int first."""
    if type(value) is int and not -(1 << 31) <= value < 1 << 31:
        given = f"Python int {shown(value)}"
        raise OverflowError(f"{given} is too large for int32, which a scalar is here")
    return fits(value, dtype)


_WEAK = frozenset({dt.weak_int, dt.weak_float, dt.weak_complex})
_REALS = SIGNED | UNSIGNED | FLOATS
_NUMBERS = _REALS | COMPLEX
_INEXACT = FLOATS | COMPLEX
_LISTED = "the operator's list of types has no such dtype"

_PRODUCTS = _NUMBERS - {dt.int8, dt.int16} | {dt.weak_float}

_arithmetic = TypeRule(admit=_NUMBERS | _WEAK, why=_LISTED)
_order = TypeRule(promote=legacy, admit=_REALS, result=to_bool, why=_LISTED)
_integers = TypeRule(promote=legacy, admit=SIGNED | UNSIGNED, why=_LISTED)
_bitwise = TypeRule(promote=legacy, admit=SIGNED | UNSIGNED | {dt.bool}, why=_LISTED)
_extremum = TypeRule(admit=_REALS | _WEAK - {dt.weak_complex}, result=settled, why=_LISTED)
_floats = TypeRule(promote=legacy, admit=FLOATS, why=_LISTED)
_FACTORED = frozenset({dt.float16, *LAPACK})
_REAL_FACTORED = _FACTORED - COMPLEX
_AS_COMPLEX = "what is real of a complex matrix is given in its dtype"
_sorted = TypeRule(admit=_REALS, why=_LISTED)
_bools = TypeRule(promote=legacy, admit=frozenset({dt.bool}), result=to_bool, why=_LISTED)
_any = TypeRule(promote=legacy)

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: _arithmetic,
    "multiply": legacy_mask,
    Family.DIVIDE: TypeRule(
        admit=_NUMBERS | _WEAK,
        compute=quotient,
        why=_LISTED,
        note="integers up to 16 bits divide in float32, wider ones in float64",
    ),
    Family.FLOOR_DIVIDE: TypeRule(admit=_REALS | _WEAK - {dt.weak_complex}, why=_LISTED),
    Family.POW: TypeRule(admit=_NUMBERS - UNSIGNED | _WEAK, why=_LISTED),
    Family.EQUALITY: TypeRule(result=to_bool),
    Family.ORDER: _order,
    Family.LOGICAL: _bools,
    Family.BITWISE: _bitwise,
    "bitwise_invert": _bitwise,
    Family.SHIFT: _integers,
    Family.EXTREMUM: _extremum,
    Family.FLOAT_BINARY: _floats,
    "nextafter": TypeRule(promote=legacy, admit=frozenset({dt.float32, dt.float64}), why=_LISTED),
    Family.WHERE: _any,
    Family.CLIP: _extremum,
    Family.MATMUL: TypeRule(promote=product, admit=_PRODUCTS, why=_LISTED),
    "cross": TypeRule(promote=legacy, admit=_REALS, why=_LISTED),
    **linear(
        TypeRule(promote=legacy, admit=_FACTORED, why=_LISTED),
        index=dt.int32,
        fft=TypeRule(admit=COMPLEX, why=_LISTED),
        rfft=TypeRule(admit=frozenset({dt.float32, dt.float64}), why=_LISTED),
    ),
    "eig": TypeRule(admit=LAPACK, result=complexified, extra_results=(complexified,), why=_LISTED),
    "eigvals": TypeRule(admit=LAPACK, result=complexified, why=_LISTED),
    "eigh": TypeRule(admit=_FACTORED, extra_results=(same,), why=_LISTED, note=_AS_COMPLEX),
    "eigvalsh": TypeRule(admit=_FACTORED, why=_LISTED, note=_AS_COMPLEX),
    "slogdet": TypeRule(admit=_FACTORED, extra_results=(same,), why=_LISTED, note=_AS_COMPLEX),
    "pinv": TypeRule(admit=_REAL_FACTORED, why=_LISTED),
    "matrix_rank": TypeRule(admit=_REAL_FACTORED, result=always(dt.int32), why=_LISTED),
    Family.NORM: TypeRule(
        admit=_INEXACT, why=_LISTED, note="the norm of complex tensors is complex"
    ),
    Family.SORT: _sorted,
    Family.INDEX: replace(_sorted, result=always(dt.int32)),
    Family.CONCAT: _any,
    Family.LOSS: _floats,
    Family.FLOAT_UNARY: TypeRule(admit=_INEXACT, why="integers are not turned into floats"),
    Family.SIGN: TypeRule(admit=_NUMBERS - UNSIGNED, why=_LISTED),
    "abs": TypeRule(admit=_NUMBERS - UNSIGNED, result=component, why=_LISTED),
    "positive": TypeRule(),
    "square": TypeRule(admit=_NUMBERS, why=_LISTED),
    Family.ROUND: TypeRule(admit=FLOATS, why=_LISTED),
    "round": TypeRule(admit=frozenset({Kind.INT, Kind.UINT, *FLOATS}), why=_LISTED),
    Family.TEST: TypeRule(admit=FLOATS, result=to_bool, why=_LISTED),
    Family.COMPLEX: TypeRule(admit=frozenset(DTYPES) - {dt.bool}, why=_LISTED),
    "real": TypeRule(admit=_NUMBERS, result=component, why=_LISTED),
    "imag": TypeRule(result=component),
    Family.SUM: TypeRule(admit=_NUMBERS, why=_LISTED),
    "mean": TypeRule(admit=_NUMBERS, why=_LISTED, note="the mean of integers is an integer"),
    Family.MEAN: TypeRule(admit=_INEXACT, result=component, why="integers have no std"),
    Family.EXTREME: TypeRule(admit=_REALS, why=_LISTED),
    Family.TRUTH: _bools,
    Family.POSITION: TypeRule(admit=_REALS | {dt.bool}, result=always(dt.int64), why=_LISTED),
}

FUNCTIONS: dict[str | Family, OperationRule] = {
    "add": TypeRule(operand_types=left_settles, admit=_NUMBERS, why=_LISTED),
    "multiply": _arithmetic,
    Family.BITWISE: _integers,
    "bitwise_invert": _integers,
}

# The operations that follow the lattice, of those above; equal does and not_equal does not.
MODE_OPERATIONS: dict[str | Family, OperationRule] = {
    **OPERATIONS,
    "multiply": mask,
    "not_equal": TypeRule(promote=legacy, result=to_bool),
    Family.BITWISE: with_arrays("first", _bitwise),
    "bitwise_invert": _integers,
    Family.LOGICAL: TypeRule(promote=lambda a, b: dt.bool, result=to_bool),
    "logical_not": _bools,
    Family.WHERE: TypeRule(operand_types=bool_is_bool, result=settled),
    Family.CONCAT: TypeRule(operand_types=bool_is_bool, result=settled),
    Family.MATMUL: TypeRule(admit=_PRODUCTS, why=_LISTED),
}
MODE_FUNCTIONS: dict[str | Family, OperationRule] = {
    "multiply": _arithmetic,
    Family.LOGICAL: _bools,
    Family.BITWISE: _integers,
    "bitwise_invert": _integers,
    Family.WHERE: _any,
    Family.CONCAT: _any,
}

LEGACY = Policy(
    name="tensorflow",
    title="TensorFlow",
    principle=(
        "No promotion between tensors; a Python scalar becomes what the tensor it meets is, if "
        "the operator converts that side."
    ),
    promote=legacy,
    dtypes=DTYPES,
    operations=OPERATIONS,
    functions=FUNCTIONS,
    operand_types=supported_types,
    scalars=Scalars(fit=fits),
    kernels={
        "floor_divide": ("checked_floor_divide", "floor_of_quotient"),
        "remainder": ("checked_remainder",),
        "clip": ("low_bound_last",),
        "bitwise_left_shift": ("left_shift_within",),
        "bitwise_right_shift": ("right_shift_within",),
    },
    defaults=DEFAULTS,
    cast=cast_quirks.TENSORFLOW,
    refusal="tensors must have the same dtype; only a Python scalar becomes that of its tensor",
    sources=(
        Source("TensorFlow API, tf.Tensor and tf.convert_to_tensor", "", "2.21"),
        Source("tensorflow/tensorflow, tensorflow/core/ops", "type lists", "2.21.0"),
    ),
)

MODES = {
    "all": LEGACY.derive(
        "tensorflow@all",
        title="TensorFlow with NumPy behaviour, mode all",
        principle="JAX's lattice, weak types included, for operators; functions promote nothing.",
        promote=promote_all,
        operations=MODE_OPERATIONS,
        functions=MODE_FUNCTIONS,
        scalars=Scalars(fit=fits_int32, fit_compared=fits),
        defaults=STORED,
        weak_arrays=True,
        refusal="the lattice of TF-NumPy type promotion joins no such dtypes",
        sources=(
            Source("TensorFlow guide, TF-NumPy type promotion", "Mode ALL", "2.21"),
            Source("tensorflow/python/framework/flexible_dtypes.py", "", "2.21.0"),
        ),
    ),
}
MODES["safe"] = MODES["all"].derive(
    "tensorflow@safe",
    title="TensorFlow with NumPy behaviour, mode safe",
    principle=(
        "The cells of JAX's lattice that lose no precision, for operators; functions promote "
        "nothing."
    ),
    promote=promote_safe,
    refusal="mode safe promotes only where one of the two dtypes holds all values of the other",
    sources=(Source("TensorFlow guide, TF-NumPy type promotion", "Mode SAFE", "2.21"),),
)


def edition(edition: str) -> Policy:
    """TensorFlow's legacy rule (``""``), or mode ``all`` or ``safe``."""
    return MODES.get(edition, LEGACY)
