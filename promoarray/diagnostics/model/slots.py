"""State of the policies for one array: beside the run's dtype what each policy has instead; and
operands of the run as each of them sees them.

After a refusal a policy goes on with what the edit there gives, the run's dtype. Whether there is
such an edit is known only when every pass through the line is; so the state remembers the refusals
that it hangs on, and where one of them has no edit, it is unknown (``divergence.unedited``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from promoarray import dtypes as dt
from promoarray.core.array_base import type_of
from promoarray.core.events import OperationEvent, RefusalEvent
from promoarray.core.operands import as_looked_on, looked_on
from promoarray.core.read_dtype import read_dtype
from promoarray.dtypes import WEAK, WEAK_TYPES, DType
from promoarray.promotion.cast_losses import gravity, loss
from promoarray.promotion.plan import Decision, Operand, Rank, Refusal
from promoarray.promotion.policy import Policy


class RefusedOperation(NamedTuple):
    """An operation that a policy refuses, wherever it stands."""

    name: str
    operands: tuple[str, ...]  # their dtypes in the run


Pending = Mapping[str, frozenset[RefusedOperation]]
"""From the names of policies to the refusals that their state hangs on."""

NOT_PENDING: Pending = {}


class ShadowDTypes:
    """A type slot's record: the run's dtype, what each shadow policy has instead that has another,
    and the refusals that a policy's dtype hangs on. ``record`` makes one object of all that are
    alike, so that they are told by identity."""

    __slots__ = ("__weakref__", "answers", "dtype", "pending")

    def __init__(
        self, dtype: DType, answers: dict[str, DType], pending: Pending = NOT_PENDING
    ) -> None:
        self.dtype, self.answers, self.pending = dtype, answers, pending

    def __reduce__(self) -> tuple[Any, ...]:
        # With a lazy array, to where it is computed.
        return record, (self.dtype, self.answers, self.pending)

    def read(self, dtype: DType) -> DType:
        """Return what a program reads as the dtype of an array that is stored in ``dtype``."""
        return read_dtype(dtype, self.answers)


def record(
    dtype: DType, kept: dict[str, DType], pending: Pending = NOT_PENDING
) -> DType | ShadowDTypes:
    """Return what a type slot bears: the dtype itself where no policy has another."""
    differing = {name: each for name, each in kept.items() if each is not dtype}
    if not differing and not pending:
        return dtype
    key = dtype, *differing.items(), *pending.items()
    made = _RECORDS.get(key)
    return made or _RECORDS.setdefault(key, ShadowDTypes(dtype, differing, pending))


def pending_of(operands: tuple[Any, ...]) -> dict[str, frozenset[RefusedOperation]]:
    """Return the refusals that the operands' states hang on, by policy."""
    found: dict[str, frozenset[RefusedOperation]] = {}
    for x in operands:
        if type(x) not in WEAK and type(x._type) is ShadowDTypes:
            for policy, refusals in x._type.pending.items():
                found[policy] = found.get(policy, frozenset()) | refusals
    return found


_RECORDS: WeakValueDictionary[tuple[object, ...], ShadowDTypes] = WeakValueDictionary()
"""Those in use: the names of policies that are gone are kept no longer."""


# -- operands as a policy sees them ----------------------------------------------------------------


def as_given(policy: Policy, x: Any, dtype: DType | None = None) -> Operand:
    """An operand as a policy sees it: of the run, or of another dtype that it has given it."""
    if type(x) in WEAK:
        return as_looked_on(x, policy)
    flat = not x._buffer.ndim
    value = looked_on(x) if flat and policy.by_value is not None else None
    seen = _as_made(policy, dtype or type_of(x._type))
    return Operand(seen, Rank.ZERO_D if flat else Rank.ARRAY, value)


def as_seen_by(policy: Policy, x: Any) -> Operand:
    """An operand with the type that a policy has given it so far."""
    label = None if type(x) in WEAK else x._type
    given = label.answers.get(policy.name) if type(label) is ShadowDTypes else None
    return as_given(policy, x, given)


def as_held(policy: Policy, x: Any) -> Operand:
    """An operand of the run as a policy sees it; as it goes on with it where it lacks the dtype."""
    given = as_given(policy, x)
    return as_seen_by(policy, x) if lacks(policy, given.type) else given


def adopted(policy: Policy, operand: Operand, *, weak: bool = False) -> Operand:
    """An operand of the run as a policy would have made it in the first place.

    ``weak`` has an array weakly typed that the policy holds so.
    """
    value = operand.value if policy.by_value else None
    if operand.rank is Rank.SCALAR:
        return Operand(operand.type, operand.rank, value)
    dtype = WEAK_TYPES[operand.type.kind.category] if weak else operand.type
    return Operand(_as_made(policy, dtype), operand.rank, value)


def _as_made(policy: Policy, dtype: DType) -> DType:
    dtype = policy.canonical.get(dtype, dtype)
    return dtype if policy.weak_arrays else policy.strong(dtype)


# -- dtypes that a policy never holds ----------------------------------------------------------


def lacks(policy: Policy, dtype: DType) -> bool:
    """Whether a policy's framework has no such dtype, so that it has to be written otherwise."""
    return not policy.once(_knows, dtype)


def has(policy: Policy, dtype: DType) -> bool:
    """Whether a policy's framework has a dtype of this very name."""
    return policy.once(_has, dtype)


def _has(policy: Policy, dtype: DType) -> bool:
    return dtype in policy.dtypes


def _knows(policy: Policy, dtype: DType) -> bool:
    return dtype.weak or dtype is dt.string or dtype in policy.canonical or has(policy, dtype)


def held(policy: Policy, dtype: DType) -> DType:
    """Return the dtype that a policy goes on with where a program asks for another.

    What the policy makes of it, and of a dtype that the framework lacks the one that loses least.
    """
    dtype = policy.canonical.get(dtype, dtype)
    return policy.once(_nearest, dtype) if lacks(policy, dtype) else dtype


def _nearest(policy: Policy, dtype: DType) -> DType:
    def cost(other: DType) -> tuple[object, ...]:
        climbs = abs(other.kind.category - dtype.kind.category)
        exponent = other.part.format.exponent if other.part.format else 0
        return climbs, gravity(dtype, other), other.kind is not dtype.kind, other.bits, exponent

    others = (policy.canonical.get(d, d) for d in policy.dtypes if d is not dt.string)
    return min(others, key=cost, default=dtype)


def why_lacking(policy: Policy, dtype: DType) -> str:
    """Say that a policy's framework lacks a dtype, and what to write."""
    other = held(policy, dtype)
    lost = loss(dtype, other)
    write = f"{other.name} ({lost})" if lost else f"{other.name}, which holds all its values"
    return f"{policy.title} has no {dtype.name}; write {write}"


# -- asking ------------------------------------------------------------------------------------


def ask(
    policy: Policy, event: OperationEvent | RefusalEvent, seen: tuple[Operand, ...]
) -> Decision | Refusal:
    """Return what a policy does with an operation of the run, on operands as it sees them."""
    asked = event.operands, event.form
    decided = policy.carried_out(event.name, seen, *asked, options=event.options)
    home = event.policy
    if policy is home or policy.framework != home.framework or isinstance(event, RefusalEvent):
        return decided
    # Where the framework did otherwise than its own policy says, as a step that stands for a part
    # of something greater may, it does so in every edition and on every device.
    own = home.decide(event.name, event.seen, *asked, options=event.options)
    if isinstance(decided, Refusal) or isinstance(own, Refusal):
        return decided
    if own.plan.result is event.plan.result or decided.plan.result is not own.plan.result:
        return decided
    return decided._replace(plan=decided.plan._replace(result=event.plan.result))


def result_of(
    decided: Decision | Refusal, which: int = 0, made: DType | None = None
) -> DType | Refusal:
    """Return the dtype of one of the results.

    Where the policy has fewer, as of the indices beside values, it is what the run ``made``.
    """
    if isinstance(decided, Refusal):
        return decided
    results = decided.plan.result, *decided.plan.extra_results
    return made if made is not None and which >= len(results) else results[which]


def not_stored(policy: Policy, seen: tuple[Operand, ...], value: Any) -> str:
    """Return why a policy does not write a value into an array, as it sees both; "" if it does."""
    dtype = policy.strong(seen[0].type)
    if type(value) not in WEAK:
        return policy.assigns(policy.strong(seen[1].type), dtype) or ""
    try:
        policy.assigning(value, dtype)
    except (TypeError, OverflowError, ValueError) as error:
        return str(error)
    return ""
