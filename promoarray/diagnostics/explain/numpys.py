"""NumPy's operands in a question: what each policy sees of them (``Policy.foreign``)."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.core.array_base import storage_dtype
from promoarray.core.operands import number_of, refused_why
from promoarray.dtypes import WEAK
from promoarray.operations import Form
from promoarray.promotion.foreign import Entry, Given
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


class NumPyScalar(Operand):
    """A scalar of NumPy's, with its value."""


class NumPyArray(Operand):
    """An array of NumPy's."""


class Entered(NamedTuple):
    """The operands as they enter, the policy that decides, and why it takes none of them."""

    operands: tuple[Any, ...]
    policy: Policy
    refusal: Refusal | None = None


def enter(policy: Policy, name: str, form: Form, operands: tuple[Any, ...]) -> Entered:
    """Return what a policy sees of operands, some of which are NumPy's."""
    theirs = NumPyScalar, NumPyArray
    if policy.foreign is None or not any(isinstance(x, theirs) for x in operands):
        return Entered(operands, policy)
    own = next(
        (i for i, x in enumerate(operands) if type(x) not in WEAK and not isinstance(x, theirs)),
        None,
    )
    if own is None:
        return Entered(operands, policy)
    beside = operands[own]
    target = beside.type if isinstance(beside, Operand) else storage_dtype(beside)
    entered = []
    for i, x in enumerate(operands):
        if not isinstance(x, theirs):
            entered.append(x)
            continue
        kind = Given.ARRAY if x.rank is Rank.ARRAY else Given.ZERO_D
        kind = Given.SCALAR if isinstance(x, NumPyScalar) else kind
        way = policy.foreign.entry(kind, x.type, target, name, form, i < own)
        if way is Entry.REFUSED:
            return Entered(operands, policy, Refusal(refused_why(policy, x.rank, x.type)))
        if way is Entry.NUMPY:
            return Entered(operands, as_policy("numpy"))
        as_array = x if way is Entry.ARRAY else x._replace(type=target)
        made = way not in (Entry.ARRAY, Entry.TARGET)
        entered.append(number_of(way, x.value) if made else as_array)
    return Entered((*entered,), policy)
