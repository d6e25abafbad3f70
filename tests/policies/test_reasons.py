"""Every reason of every refusal is true of the operands that it is said of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import pytest
from sampled import turns

from promoarray import dtypes as dt
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK_TYPES, DType, Kind
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import Operand, Plan, Policy, Rank, Refusal, as_policy
from promoarray.promotion.cast_losses import loss

POLICIES = (
    *("numpy@2", "numpy@1", "jax@x64", "jax@x32", "jax@strict", "jax@lax", "torch@2.13"),
    "torch_npu@2.13",
    *("tensorflow", "tensorflow@all", "tensorflow@safe", "paddle", "paddle@3.3", "paddle@2.6"),
    *("aclnn@8.0", "aclnn@8.5", "onnx@25", "onnx@13", "onnx@7", "mindspore@2.10", "array_api"),
)
SOME = (
    *(dt.bool, dt.uint8, dt.uint16, dt.int8, dt.int32, dt.int64, dt.int4),
    *(dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.float8_e4m3fn),
    *(dt.complex32, dt.complex64, dt.complex128),
)
Operands = tuple[Operand, ...]


class Case:
    """A refusal, and what the claims below ask of it."""

    def __init__(
        self, policy: Policy, name: str, operands: Operands, refusal: Refusal, *, form: Form
    ) -> None:
        self.policy, self.name, self.operands, self.why = policy, name, operands, refusal.why
        self.form = form
        self.types = [policy.strong(operand.type) for operand in operands]
        self.common = refusal.common
        self.arrays = [o.type for o in operands if o.rank is not Rank.SCALAR]
        self.scalars = [o.type for o in operands if o.rank is Rank.SCALAR]

    def passes(self, dtype: DType) -> bool:
        """Whether the operation takes arrays of this dtype."""
        operands = (Operand(dtype),) * len(self.operands)
        return isinstance(self.policy.plan(self.name, operands, self.form), Plan)

    def no_dtype_passes(self, kind: Kind) -> bool:
        return not any(self.passes(d) for d in self.policy.dtypes if d.kind is kind)

    def some(self, test: Callable[[DType], bool]) -> bool:
        """Whether an operand, or the common dtype, is such."""
        return any(map(test, filter(None, (*self.types, self.common))))

    def does_not_promote(self) -> bool:
        """Whether the policy has no common dtype, whatever the operation."""
        return isinstance(self.policy.result_type(self.operands), Refusal)


KIND = {kind.words: kind for kind in Kind}
WORDS: dict[str, Callable[[DType], bool]] = {
    **{name: lambda d, own=dtype: d is own for name, dtype in BY_NAME.items()},
    "bool": lambda d: d is dt.bool,
    "bools": lambda d: d is dt.bool,
    "integers": lambda d: d.kind in INTEGERS,
    "signed integers": lambda d: d.kind is Kind.INT,
    "floats": lambda d: d.kind is Kind.FLOAT,
    "complex": lambda d: d.kind is Kind.COMPLEX,
}
_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
LIST = rf"((?:(?:{_WORD})(?:, | and | nor )?)+)"


@cache
def is_of(listed: str) -> Callable[[DType], bool]:
    """Whether a dtype is in a list, such as "uint8, signed integers and float16"."""
    tests = [WORDS[word] for word in re.findall(_WORD, listed)]
    return lambda dtype: any(test(dtype) for test in tests)


def wide_unsigned(dtype: DType) -> bool:
    return dtype.kind is Kind.UINT and dtype.bits > 8


def narrow(dtype: DType) -> bool:
    """2- and 4-bit integers, floats of 8 bits and fewer."""
    return dtype.bits < (9 if dtype.kind is Kind.FLOAT else 8)


def no_holder(case: Case) -> bool:
    """Whether neither dtype holds the other's values, or one of them is narrow."""
    a, b = case.types
    return any(map(narrow, case.types)) or bool(case.scalars) or bool(loss(a, b) and loss(b, a))


def is_bool(dtype: DType) -> bool:
    return dtype is dt.bool


def is_complex(dtype: DType) -> bool:
    return dtype.kind is Kind.COMPLEX


def differ(case: Case) -> bool:
    return len(set(case.types)) > 1 or bool(case.scalars)


def scalars_only(case: Case) -> bool:
    return bool(case.scalars)


def one_is_higher(case: Case) -> bool:
    return max(d.kind.category for d in case.scalars) > case.arrays[0].kind.category


def not_a_float(dtype: DType) -> bool:
    return dtype.kind not in (Kind.FLOAT, Kind.COMPLEX)


CLAIMS: tuple[tuple[str, Callable[..., bool]], ...] = (
    # of dtypes
    (rf" has no ({'|'.join(BY_NAME)})$", lambda c, name: BY_NAME[name] not in c.policy.dtypes),
    (rf"not defined for ({'|'.join(KIND)}) dtypes", lambda c, kind: c.no_dtype_passes(KIND[kind])),
    (rf"not defined for ({'|'.join(BY_NAME)})$", lambda c, name: not c.passes(BY_NAME[name])),
    (rf"(?<!not) takes? {LIST}$", lambda c, said: not is_of(said)(c.common)),
    (rf" takes neither {LIST}$", lambda c, said: c.some(is_of(said))),
    (r"complex numbers have no order", lambda c: is_complex(c.common)),
    (r"Logic Rule", lambda c: c.some(is_complex)),
    (r"bools and integers have no mean", lambda c: not_a_float(c.common)),
    (r"not convert integers .* 8 bits", lambda c: not_a_float(c.common) or narrow(c.common)),
    (r"not convert integers to floats$", lambda c: not_a_float(c.common)),
    (r"takes floats and conv", lambda c: c.common.kind is not Kind.FLOAT),
    (r"takes floats and complex", lambda c: not_a_float(c.common)),
    (r"NumPy|JAX", lambda c: not re.search(r"subtract|\bsign\b|round", c.why) or c.some(is_bool)),
    # of pairs
    (r"(?<!of )one dtype|one type$|promotes nothing|promote nothing", differ),
    (r"no implicit promotion path", lambda c: c.some(narrow)),
    (r"uint64, uint2 and uint4", lambda c: c.some(lambda d: wide_unsigned(d) or narrow(d))),
    (r"uint32 and uint64 (go|tensors)|u32 and u64 go", lambda c, _: c.some(wide_unsigned)),
    (r"casts safely|undefined|promotes equal dtypes|no common dtype", Case.does_not_promote),
    (r"between floating-point|^tensors promote|tensors must have the same", Case.does_not_promote),
    (r"holds all values", no_holder),
    (r"float tensors among each other", lambda c: any(d.kind is not Kind.FLOAT for d in c.types)),
    (r"a complex tensor", lambda c: any(map(is_complex, c.arrays))),
    (r"does not narrow|higher precision", lambda c: c.types[0] is not c.types[1]),
    # of Python scalars
    (r"^the Python scalar|no Python|on the right|only bool Python|only a Python", scalars_only),
    (r"a Python scalar of a higher|scalar is of a higher kind", one_is_higher),
)
"""What a reason claims, and how it is seen to be true."""


def refusals(policy: Policy, dtypes: tuple[DType, ...], *, form: Form) -> Iterator[Case]:
    held = [Operand(d) for d in dtypes]
    scalars = [Operand(d, Rank.SCALAR) for d in WEAK_TYPES]
    pairs = [*product(held, held), *product(held, scalars), *product(scalars, held)]
    for turn, (name, row) in enumerate(OPERATIONS.items()):
        # Of all dtypes the operations take turns with the pairs: families have reasons in common.
        some = pairs if dtypes is SOME else turns(pairs, 3, turn + (form is Form.FUNCTION))
        for operands in [(x,) for x in held] if row.arity == 1 else some:
            plan = policy.plan(name, operands, form)
            if isinstance(plan, Refusal):
                yield Case(policy, name, operands, plan, form=form)


@cache
def claims_of(why: str) -> list[tuple[tuple[str, ...], Callable[..., bool]]]:
    """What a reason claims: the words that each claim is about, and its test."""
    claims = [(re.search(pattern, why), test) for pattern, test in CLAIMS]
    return [(match.groups(), test) for match, test in claims if match]


def untrue(case: Case) -> str:
    """What is wrong with a reason; "" if nothing is."""
    if "weak" not in case.why and all(test(case, *said) for said, test in claims_of(case.why)):
        return ""
    return f"{case.policy.name} {case.name}({', '.join(map(str, case.operands))}): {case.why}"


@pytest.mark.parametrize("policy", POLICIES)
def test_reasons_are_true(policy: str) -> None:
    rules = as_policy(policy)
    wrong = [*filter(None, map(untrue, refusals(rules, SOME, form=Form.OPERATOR)))]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])


@pytest.mark.slow
@pytest.mark.parametrize("form", [Form.OPERATOR, Form.FUNCTION], ids=["operator", "function"])
@pytest.mark.parametrize("policy", POLICIES)
def test_reasons_are_true_of_all_dtypes(policy: str, form: Form) -> None:
    rules = as_policy(policy)
    dtypes = tuple(d for d in rules.dtypes if d is not dt.string)
    wrong = [*filter(None, map(untrue, refusals(rules, dtypes, form=form)))]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])
