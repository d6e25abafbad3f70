"""jax.lax: the functions beneath jax.numpy, which promote nothing.

A weak type counts as its default dtype and must match as such. Only ``dot`` takes mixtures, by
XLA's rule of the higher precision, and ``pow`` integer exponents. What lax does not have
(floor_divide, the logical functions, mean and such) is refused.

Sources: "Design of Type Promotion Semantics for JAX" (JEP 9407), appendix; jax/_src/lax/lax.py.
Recorded: conformance/golden/jax_lax.txt, 0.10.2 with x64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, REALS, DType, Kind
from promoarray.operations import Family
from promoarray.policies.jax.casts import CASTS_OF_LAX
from promoarray.policies.jax.jnp import JNP
from promoarray.policies.jax.operations import TINY, floating, higher_precision, spectral
from promoarray.promotion.linalg_rules import spectrum
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.scalars import WIDE
from promoarray.promotion.source import Source
from promoarray.promotion.type_rules import Arrays, TypeRule, refuse, same, to_bool
from promoarray.promotion.type_steps import always, component

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike


def promote(a: DType, b: DType) -> DType | None:
    """Promote nothing: a weak type is its default dtype, and must match as such."""
    if WIDE.get(a, a) is not WIDE.get(b, b):
        return None
    return b if a.weak else a


def dot(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Answer the operand of higher precision: the one mixture lax does take."""
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    common = higher_precision(*map(policy.strong, entered))
    if common is None:
        return Refusal("neither dtype has the higher precision (lax.dot_general)")
    weak = all(dtype.weak for dtype in entered)
    result = max(entered, key=lambda d: d.kind.category) if weak else common
    return policy.make_plan(name, result, result, len(operands))


def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Take a float or complex base with an exponent of its dtype or of any integer dtype."""
    entered = policy.operand_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    x, y = entered
    if x.kind not in INEXACT:
        return Refusal("lax.pow needs a float or complex base")
    if y.kind in INTEGERS:
        result: DType | None = x if y.weak else policy.strong(x)
    else:
        result = policy.promote(x, y)
    if result is None:
        return Refusal(policy.refusal)
    return policy.make_plan(name, result, result, 2)


def _as_complex(dtype: DType) -> DType | None:
    """The complex dtype that lax.conj makes of a float; none of the half precisions."""
    return None if dtype in (dt.float16, dt.bfloat16) else dtype.complexified


_FLOATS = frozenset({Kind.FLOAT})
_COMPLEX = frozenset({Kind.COMPLEX})
_numbers = TypeRule(admit=NUMBERS, why="lax takes bools in bitwise functions only")
_inexact = TypeRule(admit=INEXACT, why="lax does not convert integers to floats")
_floats = TypeRule(admit=_FLOATS, why="this function of lax takes floats only")

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: _numbers,
    Family.DIVIDE: TypeRule(admit=NUMBERS, note="lax.div of integers is C's division"),
    "remainder": TypeRule(admit=REALS, note="lax.rem is C's remainder"),
    Family.POW: power,
    Family.EQUALITY: TypeRule(result=to_bool),
    Family.ORDER: TypeRule(admit=ORDERED, result=to_bool),
    Family.BITWISE: TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(admit=INTEGERS),
    "maximum": TypeRule(),
    "minimum": TypeRule(),
    "atan2": _inexact,
    "nextafter": _floats,
    Family.WHERE: TypeRule(),
    Family.MATMUL: dot,
    "outer": refuse("jax.lax has no outer product of vectors"),
    "cross": refuse("jax.lax has no cross product"),
    "matrix_power": refuse("jax.lax has no power of matrices"),
    "vecdot": refuse("jax.lax has no vecdot; lax.dot conjugates nothing"),
    "cholesky": TypeRule(compute=floating),
    "eigh": TypeRule(compute=floating, result=component, extra_results=(same,)),
    "eig": TypeRule(admit=INEXACT, result=spectrum, extra_results=(spectrum,)),
    "qr": TypeRule(admit=INEXACT, extra_results=(same,)),
    "svd": TypeRule(admit=INEXACT, extra_results=(component, same)),
    **dict.fromkeys(("fft", "ifft"), TypeRule(compute=lambda d: spectral(WIDE.get(d, d)))),
    "rfft": JNP.operations[Family.RFFT],
    "irfft": JNP.operations[Family.IRFFT],
    Family.SORT: TypeRule(),
    Family.MOVE: TypeRule(),
    "concat": TypeRule(),
    Family.FLOAT_UNARY: _inexact,
    "log2": refuse("jax.lax has no log2"),
    "log10": refuse("jax.lax has no log10"),
    "negative": _numbers,
    "sign": _numbers,
    "square": _numbers,
    "abs": TypeRule(
        admit=INEXACT | {Kind.INT},
        compute=lambda d: None if d in TINY else d,
        result=component,
        why="lax.abs takes signed numbers only",
    ),
    "floor": _floats,
    "ceil": _floats,
    "round": _floats,
    "isfinite": TypeRule(admit=_FLOATS, result=to_bool),
    "conj": TypeRule(compute=_as_complex, why="lax.conj does not take integers"),
    "real": TypeRule(admit=_COMPLEX, result=component),
    "imag": TypeRule(admit=_COMPLEX, result=component),
    Family.SUM: TypeRule(admit=NUMBERS, note="lax does not widen"),
    Family.EXTREME: TypeRule(),
    Family.TRUTH: TypeRule(admit=frozenset({Kind.BOOL})),
    Family.POSITION: TypeRule(result=always(dt.int32)),
}
"""What jax.lax has. The rest, floor_divide, the logical functions, mean and such, it has not."""

LAX = JNP.derive(
    "jax@lax",
    kernels={
        "multiply": ("xla_multiply",),
        "divide": ("xla_divide", "xla_complex_divide"),
        "square": ("xla_square",),
        "remainder": ("xla_remainder",),
        "pow": ("plain_pow",),
        "sign": ("sign_keeping_zero",),
        "maximum": ("signed_maximum",),
        "minimum": ("signed_minimum",),
    },
    title="jax.lax",
    principle="No promotion: operands are of one dtype, and Python scalars of their default dtype.",
    promote=promote,
    answers=None,
    cast=CASTS_OF_LAX,
    operations=OPERATIONS,
    signatures={Family.WHERE: Arrays.ALL},
    refusal="jax.lax promotes nothing: operands must be of one dtype, Python scalars of their"
    " default dtype",
    sources=(
        Source("Design of Type Promotion Semantics for JAX (JEP 9407)", "Appendix: lax", "0.10.2"),
        Source("jax-ml/jax, jax/_src/lax/lax.py", "naryop_dtype_rule", "0.10.2"),
    ),
    notes=("The functions of jax.lax with x64, beneath jax.numpy; no promotion at all.",),
)
