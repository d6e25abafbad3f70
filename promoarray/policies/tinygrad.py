"""tinygrad 0.14: JAX's lattice with 32-bit defaults, without complex numbers.

Recorded: conformance/golden/tinygrad.txt, 0.14.0; values with ``DEV=PYTHON``. tinygrad keeps what
numbers alone have made weak (``dtypes.weakint``) until it is realized; here it is of its default
dtype at once.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.operations import Family
from promoarray.policies._narrow_jax import DEFAULTS, DTYPES, PRINCIPLE, promote, summed
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule
from promoarray.promotion.default_rules import operations
from promoarray.promotion.foreign import WRITTEN, Entry, Foreign, Given, case
from promoarray.promotion.plan import Decomposition, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import CONVERSIONS, Policy
from promoarray.promotion.policy_like import OperationRule, PolicyLike
from promoarray.promotion.scalars import Scalars, exactly, wrap
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import Stored, any_array
from promoarray.promotion.type_rules import TypeRule, in_own_dtype, refuse, to_bool
from promoarray.promotion.type_steps import always, exact_to, with_bools


def _real(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count operands as their own types; a complex Python number has none."""
    if any(operand.type is dt.weak_complex for operand in operands):
        return Refusal("tinygrad has no complex numbers")
    return with_bools(policy, operands)


def _same(result: DType, target: DType) -> bool:
    return result is target


def _numbers(dtype: DType) -> DType:
    """Bools divide as float32."""
    return dt.float32 if dtype is dt.bool else dtype


def _whole(dtype: DType) -> DType:
    """The floor of a bool is an int32."""
    return dt.int32 if dtype is dt.bool else dtype


def _rounded(dtype: DType) -> DType:
    return dt.float32 if dtype.kind in BITS else dtype


def _shift(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Shift integers; a Python int that is shifted is an int32 whatever shifts it."""
    first, second = operands
    if first.rank is Rank.SCALAR and first.type is dt.weak_int and second.type.kind in BITS:
        return policy.make_plan(name, dt.int32, dt.int32, 2)
    return _SHIFT(policy, name, operands)


_OF_PRODUCT = {
    "divide": "times_reciprocal",
    "floor_divide": "floor_of_product",
    "remainder": "remainder_of_product",
}


def _quotient(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Divide by the reciprocal of a Python number, or of an array without axes."""
    by_number = operands[-1].rank is not Rank.ARRAY and computed.kind is Kind.FLOAT
    return _OF_PRODUCT[name] if by_number else ""


def _of_bools(operands: tuple[Operand, ...]) -> Decomposition | None:
    """x - y is x + -y, and -y of a bool is not y."""
    bools = all(operand.type.kind is Kind.BOOL for operand in operands)
    return Decomposition("negative", 1, "add") if bools else None


def _negated(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    return "logical_not" if computed is dt.bool else ""


_NO_COMPLEX = refuse("tinygrad has no complex numbers")
_PLAIN, _SHIFT = TypeRule(), TypeRule(admit=INTEGERS)
_sum = TypeRule(compute=summed, note="narrow integers are summed in 32 bits of their kind")

_OPERATIONS: dict[str | Family, OperationRule] = {
    **operations(DEFAULTS),
    "subtract": TypeRule(decomposition=_of_bools),
    "divide": in_own_dtype(TypeRule(compute=exact_to(dt.float32), kernel=_quotient)),
    "floor_divide": in_own_dtype(
        TypeRule(compute=_numbers, kernel=_quotient, note="bools divide as float32")
    ),
    "remainder": in_own_dtype(
        TypeRule(compute=_numbers, kernel=_quotient, note="bools divide as float32")
    ),
    Family.POW: _PLAIN,
    Family.BITWISE: TypeRule(admit=BITS),
    Family.SHIFT: _shift,
    "copysign": _PLAIN,
    Family.MATMUL: _PLAIN,
    **dict.fromkeys(("eig", "eigvals", Family.FFT, Family.RFFT, Family.IRFFT), _NO_COMPLEX),
    Family.SIGN: _PLAIN,
    "abs": _PLAIN,
    "negative": TypeRule(kernel=_negated, note="-x of a bool is not x"),
    Family.ROUND: _PLAIN,
    "floor": TypeRule(compute=_whole),
    "ceil": TypeRule(compute=_whole),
    "round": TypeRule(compute=_rounded, note="integers are rounded as float32"),
    Family.SUM: _sum,
    "prod": TypeRule(note="a product keeps the dtype, in which it wraps"),
    "cumulative_prod": _PLAIN,
    "mean": TypeRule(compute=summed, result=exact_to(dt.float32)),
    Family.TEST: TypeRule(result=to_bool),
    Family.POSITION: TypeRule(result=always(dt.int32)),
}

FOREIGN = Foreign(
    "tinygrad",
    (
        case(Entry.NUMPY, forms=WRITTEN, first=True),  # NumPy's own operator comes first
        case(Entry.FLOAT, Given.SCALAR, "f64"),
        case(Entry.REFUSED),
    ),
)
"""NumPy's scalars and arrays are refused, but for float64, which derives from Python's."""

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    sources=(Source("tinygrad.Tensor.cast", "C's casts by DEV=CPU; not asked", "0.14.0"),),
    notes=(
        Note(
            "What a float becomes in an integer that cannot hold it is left to the device; here it"
            " is what x86-64 gives.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
    ),
)

TINYGRAD = Policy(
    name="tinygrad@0.14",
    title="tinygrad 0.14",
    principle=PRINCIPLE,
    promote=promote,
    dtypes=tuple(dtype for dtype in DTYPES if dtype.kind is not Kind.COMPLEX),
    operations=_OPERATIONS,
    operand_types=_real,
    scalars=Scalars(fit=wrap, fit_compared=exactly),
    ranked=frozenset({*_OF_PRODUCT}),
    kernels={
        "floor_divide": ("floor_of_quotient",),
        "pow": ("zero_reciprocal_pow",),
        "mean": ("mean_of_wrapped_sum",),
    },
    defaults=DEFAULTS,
    foreign=FOREIGN,
    one_element=CONVERSIONS,
    inplace=_same,
    stored=Stored(fit=wrap),
    assigns=any_array,
    cast=CASTS,
    refusal="tinygrad has no complex numbers",
    sources=(Source("tinygrad/tinygrad, tinygrad/dtype.py", "promo_lattice", "0.14.0"),),
    notes=(
        "An operator in place never changes the dtype of its target; %= is none in tinygrad, which"
        " binds the name anew.",
    ),
)

EDITIONS = ("0.14",)


def edition(edition: str) -> Policy:
    """tinygrad ``0.14``."""
    return TINYGRAD
