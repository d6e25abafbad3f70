"""TensorFlow's modes ``all`` and ``safe``: a lattice for some operations, else the legacy rule.

`tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=...)` sets them:

* ``all``: JAX's lattice with weak types. The binary operations that follow it are listed at the
  end of tensorflow/python/ops/weak_tensor_ops.py; the others keep the legacy rule, so that under
  it ``int8 + int16`` is int16 and ``int8 < int16`` is refused. Of `where`, `concat`, `stack` and
  the logical functions those of `tf.experimental.numpy` are meant, which follow it, too.
* ``safe``: the cells of it that lose nothing: one operand must hold every value of the other.

A function of one weak tensor returns a weak one if weak_tensor_ops.py lists it, else a tensor of
the dtype in memory.

Sources: the guide "TF-NumPy type promotion"; _BINARY_DTYPE_RES_HALF in
tensorflow/python/framework/flexible_dtypes.py. Recorded:
conformance/golden/tf_all.txt and tf_safe.txt, 2.21.0 on CPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType
from promoarray.operations import Family
from promoarray.policies.tensorflow.foreign import FOREIGN_IN_MODES
from promoarray.policies.tensorflow.legacy import (
    LEGACY,
    LISTED,
    OPERATIONS,
    PRODUCTS,
    WEAK,
    arithmetic,
    bitwise,
    bools,
    integers,
    legacy,
    mask,
    settled,
)
from promoarray.policies.tensorflow.scalars import (
    FROM_BOOL,
    HELD,
    MODES_STORED,
    fits,
    fits_alone,
    fits_int32,
)
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.rules import Lattice
from promoarray.promotion.scalars import Scalars
from promoarray.promotion.source import Source
from promoarray.promotion.type_rules import Arrays, TypeRule, to_bool, with_arrays
from promoarray.promotion.type_steps import supported_types, with_bools

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

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


def clipped(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Clip: `minimum` with the upper bound, then `maximum` with the lower one."""
    x, *bounds = operands
    for bound in reversed(bounds):
        step = policy.plan("minimum", (x, bound))
        if isinstance(step, Refusal):
            return step
        x = Operand(step.result)
    return policy.make_plan(name, x.type, x.type, len(operands))


def bool_settles(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter a Python bool that meets no tensor as a bool: no tensor of bools is weak."""
    entered = supported_types(policy, operands)
    return (dt.bool,) if entered == (dt.weak_bool,) else entered


def held(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count a weakly typed tensor as what it holds, and so a number alone; others stay weak."""
    types = supported_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    meets = len(types) > 1
    ranked = zip(types, operands, strict=True)
    return tuple(t if meets and o.rank is Rank.SCALAR else HELD.get(t, t) for t, o in ranked)


def strong(rule: OperationRule) -> OperationRule:
    """Make the rule of a function that knows of no weak tensors: it answers strong ones."""
    return replace(rule, operand_types=held) if isinstance(rule, TypeRule) else rule


def weak(rule: OperationRule) -> OperationRule:
    """Make the rule of a function that answers a weak tensor with a weak one."""
    if not isinstance(rule, TypeRule) or rule.admit is None:
        return rule
    return replace(rule, admit=rule.admit | {w for w, dtype in HELD.items() if rule.admits(dtype)})


# Those patched in weak_tensor_ops.py; LEGACY's other operations, but `equal`, know no weak tensors.
_PROMOTING = frozenset(
    {
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.POW, Family.EQUALITY),
        *(Family.EXTREMUM, Family.MATMUL),
    }
)
_WEAK = frozenset(
    {
        *(Family.FLOAT_UNARY, Family.SIGN, Family.ROUND, Family.TEST, Family.COMPLEX, Family.SUM),
        *(Family.MEAN, Family.EXTREME, "mean", "abs", "positive", "square", "round"),
        *("real", "imag", Family.MOVE),
    }
)
MODE_OPERATIONS: dict[str | Family, OperationRule] = {
    **{
        key: rule if key in _PROMOTING else weak(rule) if key in _WEAK else strong(rule)
        for key, rule in OPERATIONS.items()
    },
    **dict.fromkeys(("fftshift", "ifftshift"), strong(OPERATIONS[Family.MOVE])),
    "multiply": mask,
    "not_equal": strong(TypeRule(promote=legacy, result=to_bool)),
    "cumulative_sum": strong(OPERATIONS[Family.SUM]),
    "cumulative_prod": strong(OPERATIONS[Family.SUM]),
    Family.BITWISE: with_arrays(Arrays.FIRST, strong(bitwise)),
    "bitwise_invert": weak(bitwise),
    Family.LOGICAL: TypeRule(promote=lambda a, b: dt.bool, result=to_bool),
    "logical_not": strong(bools),
    Family.WHERE: TypeRule(operand_types=with_bools, result=settled),
    Family.CONCAT: TypeRule(operand_types=with_bools, result=settled),
    Family.CLIP: clipped,
    Family.MATMUL: TypeRule(admit=PRODUCTS | WEAK, why=LISTED),
}
MODE_FUNCTIONS: dict[str | Family, OperationRule] = {
    "multiply": arithmetic,
    Family.BITWISE: strong(integers),
    "bitwise_invert": strong(integers),
}
_NOT_PATCHED = (Family.ORDER, Family.BITWISE, Family.SHIFT, Family.FLOAT_BINARY, "not_equal")

MODES = {
    "all": LEGACY.derive(
        "tensorflow@all",
        title="TensorFlow with NumPy behaviour, mode all",
        principle=(
            "JAX's lattice, weak types included, for arithmetic, equal, where and concat; the "
            "others promote nothing."
        ),
        foreign=FOREIGN_IN_MODES,
        promote=promote_all,
        operations=MODE_OPERATIONS,
        functions=MODE_FUNCTIONS,
        operand_types=bool_settles,
        scalars=Scalars(
            fit=fits_int32, fit_family=dict.fromkeys(_NOT_PATCHED, fits), fit_alone=fits_alone
        ),
        defaults=HELD,
        stored=MODES_STORED,
        refuses={"take": LEGACY.refuses["take"]},
        weak_arrays=True,
        refusal="the lattice of TF-NumPy type promotion has no common dtype for them",
        sources=(
            Source("TensorFlow guide, TF-NumPy type promotion", "Mode ALL", "2.21"),
            Source("tensorflow/python/framework/flexible_dtypes.py", "", "2.21.0"),
        ),
    )
}
MODES["safe"] = MODES["all"].derive(
    "tensorflow@safe",
    title="TensorFlow with NumPy behaviour, mode safe",
    principle=(
        "The cells of JAX's lattice that lose no precision, for arithmetic, equal, where and "
        "concat; the others promote nothing."
    ),
    promote=promote_safe,
    refusal="mode safe promotes only where one of the two dtypes holds all values of the other, and"
    " the 2- and 4-bit integers and floats of 8 bits and fewer with nothing",
    sources=(Source("TensorFlow guide, TF-NumPy type promotion", "Mode SAFE", "2.21"),),
)
