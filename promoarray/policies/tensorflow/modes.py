"""TensorFlow's modes ``all`` and ``safe``: a lattice for some operations, else the legacy rule.

`tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=...)` sets them:

* ``all``: JAX's lattice with weak types. The binary operations that follow it are listed at the
  end of tensorflow/python/ops/weak_tensor_ops.py; the others keep the legacy rule, so that under
  it ``int8 + int16`` is int16 and ``int8 < int16`` is refused.
* ``safe``: the cells of it that lose nothing: one operand must hold every value of the other.

A function of one weak tensor returns a weak one if weak_tensor_ops.py lists it, else a tensor of
the dtype in memory.

Sources: the guide "TF-NumPy type promotion"; _BINARY_DTYPE_RES_HALF in
tensorflow/python/framework/flexible_dtypes.py. Recorded:
conformance/golden/tf_all.txt and tf_safe.txt, 2.21.0 on CPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType
from promoarray.operations import Family, operation
from promoarray.policies.tensorflow.legacy import (
    FROM_BOOL,
    LEGACY,
    LISTED,
    OPERATIONS,
    PRODUCTS,
    STORED,
    WEAK,
    arithmetic,
    bitwise,
    bools,
    fits,
    integers,
    legacy,
    mask,
    same_dtype,
    settled,
)
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy_like import OperationRule, PolicyLike
from promoarray.promotion.rules import Lattice
from promoarray.promotion.scalars import Scalars, shown
from promoarray.promotion.signatures import Arrays, with_arrays
from promoarray.promotion.source import Source
from promoarray.promotion.type_rules import TypeRule, to_bool
from promoarray.promotion.type_steps import supported_types, with_bools

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


def fits_int32(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int32: the modes make an int32 of every Python int first."""
    if type(value) is int and not -(1 << 31) <= value < 1 << 31:
        given = f"Python int {shown(value)}"
        raise OverflowError(f"{given} is too large for int32, which a scalar is here")
    return fits(value, dtype)


def stays_weak(rule: TypeRule) -> TypeRule:
    """Take a weak tensor where the dtype it holds is admitted; what comes out is weak, too."""
    weak = {dtype for dtype in WEAK if rule.admits(STORED[dtype])}
    return rule if rule.admit is None else replace(rule, admit=rule.admit | weak)


def settled_types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count operands as their own types, but a lone weak tensor as the dtype it holds."""
    types = supported_types(policy, operands)
    if isinstance(types, Refusal) or len(types) > 1:
        return types
    return (settled(*types),)


def settles(rule: TypeRule) -> TypeRule:
    """Take a weak tensor as one of the dtype it holds."""
    return replace(rule, operand_types=settled_types)


# Of _TF_UNARY_APIS_* in weak_tensor_ops.py; the others are not listed there.
_STAY_WEAK = {
    *(Family.FLOAT_UNARY, Family.SIGN, Family.ROUND, Family.COMPLEX),
    *(Family.SUM, Family.MEAN, Family.EXTREME),
}
_SETTLE = {
    *(Family.LINALG, Family.NORM, Family.FFT, Family.RFFT, Family.IRFFT),
    *(Family.SORT, Family.INDEX, Family.POSITION, Family.UNIQUE, Family.TEST),
}


def _of_one_tensor() -> dict[str | Family, OperationRule]:
    rules: dict[str | Family, OperationRule] = {}
    for key, rule in OPERATIONS.items():
        family = key if isinstance(key, Family) else operation(key).family
        if isinstance(rule, TypeRule) and family in _STAY_WEAK | _SETTLE:
            rules[key] = (stays_weak if family in _STAY_WEAK else settles)(rule)
    sums, moves = OPERATIONS[Family.SUM], OPERATIONS[Family.MOVE]
    assert isinstance(sums, TypeRule)
    assert isinstance(moves, TypeRule)
    return {
        **rules,
        **dict.fromkeys(("cumulative_sum", "cumulative_prod"), settles(sums)),
        **dict.fromkeys(("fftshift", "ifftshift"), settles(moves)),
    }


# LEGACY's operations follow the lattice unless they name `legacy`; equal does, not_equal does not.
MODE_OPERATIONS: dict[str | Family, OperationRule] = {
    **OPERATIONS,
    **_of_one_tensor(),
    "multiply": mask,
    "not_equal": TypeRule(promote=legacy, result=to_bool),
    Family.BITWISE: with_arrays(Arrays.FIRST, bitwise),
    "bitwise_invert": integers,
    Family.LOGICAL: TypeRule(promote=lambda a, b: dt.bool, result=to_bool),
    "logical_not": bools,
    Family.WHERE: TypeRule(operand_types=with_bools, result=settled),
    Family.CONCAT: TypeRule(operand_types=with_bools, result=settled),
    Family.MATMUL: TypeRule(admit=PRODUCTS, why=LISTED),
}
MODE_FUNCTIONS: dict[str | Family, OperationRule] = {
    "multiply": arithmetic,
    Family.LOGICAL: bools,
    Family.BITWISE: integers,
    "bitwise_invert": integers,
    Family.WHERE: same_dtype,
    Family.CONCAT: same_dtype,
}

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
        refusal="the lattice of TF-NumPy type promotion has no common dtype for them",
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
    refusal="mode safe promotes only where one of the two dtypes holds all values of the other, and"
    " the 2- and 4-bit integers and floats of 8 bits and fewer with nothing",
    sources=(Source("TensorFlow guide, TF-NumPy type promotion", "Mode SAFE", "2.21"),),
)
