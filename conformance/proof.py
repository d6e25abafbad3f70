"""Proof of a refused test: the policy is asked again.

The plugins put a failure of a suite down as refused only if it is a refusal, or a result dtype,
that the policy gives for such operands here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

from promoarray import PromotionError, finfo
from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind, as_dtype
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.policies import Operand, Plan, Policy, Rank, Refusal
from promoarray.promotion.scalars import bounds

STANDARD = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float32", "float64", "complex64", "complex128"),
)
"""The dtypes of the standard, which are all the suite knows."""


class OtherResult(AssertionError):
    """A result dtype that is not the suite's, with what was asked."""

    def __init__(
        self, message: str, function: str, form: Form, given: Sequence[Any], result: Any
    ) -> None:
        super().__init__(message)
        self.function, self.form, self.given, self.result = function, form, given, result


ANOTHER = "{}: another result dtype"


def answers(
    policy: Policy, name: str, form: Form, dtypes: Sequence[DType]
) -> dict[tuple[Operand, ...], Any]:
    """What the policy answers for operands of these dtypes, arrays and 0-d arrays.

    An operand that is missing is an array of the first one's dtype or a Python scalar of its kind,
    on either side.
    """
    missing = max(_arity(name) - len(dtypes), 0) if name in OPERATIONS else 0
    given = [[Operand(dtype), *_zero_d(policy, dtype)] for dtype in dtypes]
    beside = [[Operand(dtypes[0]), *_scalars(policy, WEAK[dtypes[0].kind])]] * missing
    found = {}
    for operands in (*product(*given, *beside), *product(*beside, *given)):
        plan: Any = policy.result_type(operands)
        if name in OPERATIONS:
            plan = policy.plan(name, operands, form)
        result = plan.result if isinstance(plan, Plan) else plan
        found[operands] = result if isinstance(result, Refusal) else policy.strong(result)
    return found


def _arity(name: str) -> int:
    """How many operands an operation has, each bound of ``clip`` one of them."""
    return 3 if OPERATIONS[name].family is Family.CLIP else OPERATIONS[name].arity


WEAK = {
    Kind.BOOL: dt.weak_bool,
    Kind.INT: dt.weak_int,
    Kind.UINT: dt.weak_int,
    Kind.FLOAT: dt.weak_float,
    Kind.COMPLEX: dt.weak_complex,
}
"""The Python scalars that the suite draws beside arrays of a kind."""


def _zero_d(policy: Policy, dtype: DType) -> list[Operand]:
    return [Operand(dtype, Rank.ZERO_D, value) for value in _values(policy, dtype)]


def _scalars(policy: Policy, weak: DType) -> list[Operand]:
    return [Operand(weak, Rank.SCALAR, value) for value in _values(policy, weak)]


def _values(policy: Policy, dtype: DType) -> list[Any]:
    """For a policy that looks at values, one for each dtype that a value may count as."""
    if policy.by_value is None:
        return [None]
    if dtype.kind is Kind.BOOL:
        return [True]
    if dtype.kind in INTEGERS:
        every = [edge for n in (7, 8, 15, 16, 31, 32, 63, 64) for edge in (2**n - 1, -(2**n))]
        low, high = (-(2**63), 2**64 - 1) if dtype.weak else bounds(dtype)
        return [value for value in every if low <= value <= high]
    number = complex if dtype.kind is Kind.COMPLEX else float
    largest = finfo(dt.float64 if dtype.weak else dtype).max
    return [number(value) for value in (1.0, 1e5, 1e39) if value <= largest]


def other_result(policy: Policy, error: OtherResult) -> str:
    """Why the policy gives another result dtype than the suite's; "" if it does not."""
    found = answers(policy, error.function, error.form, [*map(as_dtype, error.given)])
    result = as_dtype(error.result)
    arrays = {answer for operands, answer in found.items() if _all_arrays(operands)}
    if result in arrays:
        return ANOTHER.format(error.function)
    if policy.ranks and result in found.values():
        counts = "for less than an array" if policy.by_value is None else "by its value"
        return f"{error.function}: a 0-d array counts {counts}"
    return ""


def _all_arrays(operands: tuple[Operand, ...]) -> bool:
    return all(operand.rank is Rank.ARRAY for operand in operands)


def summed(name: str) -> bool:
    """Whether a function sums, whose ``dtype`` may have been asked for."""
    return name in OPERATIONS and OPERATIONS[name].family is Family.SUM


def refuses(error: PromotionError) -> bool:
    """Ask the policy again what the error says it refused."""
    policy, name, operands = error.policy, error.operation, error.operands
    if policy is None:
        return False
    if name == "astype":
        return bool(policy.cast.refuses(*(operand.type for operand in operands)))
    try:
        return isinstance(policy.plan(name, operands, Form(error.form)), Refusal)
    except ValueError:  # no operation, but a question such as result_type
        return isinstance(policy.result_type(operands), Refusal)


def reason(error: PromotionError) -> str:
    """The operation and the policy's words, without the dtypes that happened to be drawn."""
    said = re.sub(r" has no [a-z]+\d+$", " has not every dtype", error.reason)
    return f"{error.operation}: {said.partition(' (here ')[0]}"
