"""JAX: a lattice in which Python scalars are weak types, so that they seldom change a dtype.

``i* f* c*`` are weak: a Python scalar is one, and so is an array made of nothing else, until it
meets an array. The result is the least upper bound in a lattice; nothing leads out of the 2- and
4-bit integers and the floats of 8 bits and fewer, so mixing those is an error, not a guess.

Sources: "Design of Type Promotion Semantics for JAX" (JEP 9407), the lattice and its appendix;
``_type_promotion_lattice`` in jax/_src/dtypes.py. Recorded: conformance/golden/jax_*.txt, 0.10.2.
``jax@lax``, which promotes nothing, is in ``lax.py``. ``jax.numpy.can_cast`` is NumPy's own, so it
is taken from there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType
from promoarray.policies.jax.casts import CASTS
from promoarray.policies.jax.operations import operations
from promoarray.policies.jax.stored import REFUSAL, promoted, stored
from promoarray.policies.numpy.numpy_2 import can_cast
from promoarray.promotion.answers import Answers
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.rules import Lattice
from promoarray.promotion.scalars import (
    WIDE,
    Fit,
    Scalars,
    bounds,
    not_negative,
    passing,
    shown,
    wrap,
)
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_steps import with_bools

# `_type_promotion_lattice(strict=False)`, in upstream's order. Without x64 the one edge that makes
# 64 bits of 32, u32 -> i64, is u32 -> i32.
_LATTICE = """
b1 -> i*
i* -> u8 u2 u4 i8 i2 i4
u2 ->
u4 ->
u8 -> i16 u16
u16 -> i32 u32
u32 -> {signed} u64
u64 -> f*
i2 ->
i4 ->
i8 -> i16
i16 -> i32
i32 -> i64
i64 -> f*
f* -> f4_e2m1fn f6_e2m3fn f6_e3m2fn f8_e3m4 f8_e4m3 f8_e8m0fnu bf16 f16 c*
f* -> f8_e4m3b11fnuz f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz
bf16 -> f32
f16 -> f32
f32 -> f64 c64
f64 -> c128
c* -> c64
c64 -> c128
"""
LATTICE = Lattice(_LATTICE.format(signed="i64"))
LATTICE_X32 = Lattice(_LATTICE.format(signed="i32"))

# `_type_promotion_lattice(strict=True)`: a scalar joins any dtype of its kind or a higher one.
STRICT = Lattice("""
b1 ->
i* -> f* u8 u2 u4 u16 u32 u64 i2 i4 i8 i16 i32 i64
f* -> f4_e2m1fn f6_e2m3fn f6_e3m2fn f8_e3m4 f8_e4m3 f8_e8m0fnu bf16 f16 f32 f64 c*
f* -> f8_e4m3b11fnuz f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz
c* -> c64 c128
""")

DTYPES = tuple(d for d in LATTICE.dtypes if not d.weak)
NARROWED = {
    dt.int64: dt.int32,
    dt.uint64: dt.uint32,
    dt.float64: dt.float32,
    dt.complex128: dt.complex64,
}
"""What arrays are without x64."""

X32 = {weak: NARROWED.get(strong, strong) for weak, strong in WIDE.items()}


def _fits(widest: DType) -> Callable[[Any, DType], Any]:
    low, high = bounds(widest)

    @passing(low, high)
    def fit(value: Any, dtype: DType) -> Any:
        if type(value) is int and not low <= value <= high:
            given = f"Python int {shown(value)}"
            raise OverflowError(f"{given} does not fit {widest}, JAX's default for ints")
        return wrap(value, dtype)

    return fit


_JEP = Source("Design of Type Promotion Semantics for JAX (JEP 9407)", "Appendix: jnp", "0.10.2")
_LATTICE_SOURCE = Source("jax-ml/jax, jax/_src/dtypes.py", "_type_promotion_lattice", "0.10.2")


def exponent(fit: Fit) -> Fit:
    """Let an int of any size count multiplications, whose low bits repeat."""

    @passing()
    def rule(value: Any, dtype: DType) -> Any:
        if type(value) is not int:
            return fit(value, dtype)
        _, high = bounds(dtype) if dtype.kind in INTEGERS else (0, value)
        cycle = 1 << dtype.bits - 2
        return value if value <= high else dtype.bits + (value - dtype.bits) % cycle

    return rule


def _scalars(widest: DType) -> Scalars:
    fit = _fits(widest)
    return Scalars(fit=fit, fit_exponent=not_negative(exponent(fit)))


JNP = Policy(
    name="jax@x64",
    title="JAX with x64",
    principle=(
        "The least dtype above both operands in the lattice; Python scalars, and what is made "
        "of nothing else, are weakly typed and lie below the array dtypes of their kind."
    ),
    promote=LATTICE,
    dtypes=DTYPES,
    operations=operations(WIDE),
    operand_types=with_bools,
    scalars=_scalars(dt.int64),
    kernels={
        "multiply": ("xla_multiply",),
        "divide": ("xla_complex_divide",),
        "reciprocal": ("xla_reciprocal",),
        "square": ("xla_square",),
        "floor_divide": ("xla_floor_divide", "float_divmod"),
        "remainder": ("remainder_keeping_zero",),
        **{
            name: (f"lexical_{name}",)
            for name in ("greater", "greater_equal", "less", "less_equal")
        },
        "sign": ("sign_keeping_zero", "sign_of_parts_keeping_zero"),
        "atan2": ("rounded_atan2",),
        **{
            name: (f"one_term_{name}",)
            for name in ("sum", "mean", "cumulative_sum", "vecdot", "matmul", "tensordot")
        },
        "max": ("signed_max",),
        "min": ("signed_min",),
        "maximum": ("signed_maximum", "lexical_maximum"),
        "minimum": ("signed_minimum", "lexical_minimum"),
        "std": ("known_std",),
        "var": ("known_var",),
        "expm1": ("standard_expm1",),
        "logaddexp": ("wrapped_logaddexp",),
        "all": ("real_all",),
        "any": ("real_any",),
        "pow": ("six_bit_pow", "plain_pow", "polar_pow"),
        "clip": ("clip_signed_zeros",),
        "arange": ("arange_of_integers", "arange_by_products"),
        "linspace": ("line_between",),
    },
    defaults=WIDE,
    weak_arrays=True,
    ranked=frozenset({"pow", "hypot", "logaddexp"}),
    stored=stored(LATTICE, dt.int64),
    assigns=partial(promoted, LATTICE),
    meets=LATTICE,
    answers=Answers(__file__, "functions_x64.txt", "jax@x64"),
    cast=CASTS,
    can_cast=can_cast,
    refusal=REFUSAL,
    sources=(_JEP, _LATTICE_SOURCE),
    notes=(
        Note(
            "A Python scalar is weakly typed, and so is what is made of nothing else.",
            ranks=[Rank.SCALAR],
        ),
    ),
)


POLICIES = {
    "x64": JNP,
    "x32": JNP.derive(
        "jax@x32",
        title="JAX without x64",
        principle="The lattice of JAX, whose 64-bit dtypes are 32-bit ones.",
        promote=LATTICE_X32,
        dtypes=tuple(d for d in DTYPES if d not in NARROWED),
        operations=operations(X32),
        scalars=_scalars(dt.int32),
        defaults=X32,
        stored=stored(LATTICE_X32, dt.int32),
        assigns=partial(promoted, LATTICE_X32),
        meets=LATTICE_X32,
        canonical=NARROWED,
        answers=Answers(__file__, "functions_x32.txt", "jax@x32"),
        notes=(*JNP.notes, "JAX as installed: 64-bit dtypes become 32-bit ones."),
    ),
    "strict": JNP.derive(
        "jax@strict",
        title="JAX with strict promotion",
        principle="Equal dtypes only, or a Python scalar with an array of its or a higher kind.",
        promote=STRICT,
        stored=stored(STRICT, dt.int64),
        assigns=partial(promoted, STRICT),
        meets=STRICT,
        refusal="strict promotion (jax_numpy_dtype_promotion='strict') promotes equal dtypes only,"
        " and Python ints, floats and complex with arrays of their kind or a higher one; a Python"
        " bool is as an array of bool",
        notes=("jax_numpy_dtype_promotion='strict', with x64.",),
    ),
}
