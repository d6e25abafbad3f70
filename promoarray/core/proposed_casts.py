"""The casts that make a refused operation pass: which operands, and to what.

Tried are casts of one operand, and of all arrays to one dtype, in the policy's own dtypes. The
one that is proposed keeps every value where any does, and else the most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.cast_losses import Lost, gravity, loss
from promoarray.promotion.plan import Operand, Plan, Rank
from promoarray.promotion.policy import Policy

Casts = tuple[dict[int, DType], Plan]
"""From the operands that are cast to what they become, and the plan then."""

Operands = tuple[Operand, ...]

MANY = 16
"""Of more operands than these, those that are alike are cast together."""

At = tuple[int, ...]
"""Which operands are cast."""

Candidates = list[list[tuple[At, DType]]]
"""Which operands are cast, and to what: those together that lose as much."""

Opened = tuple[Operand | Rank, ...]
"""Operands, and of those that are cast only the rank."""

_ON_BITS = (Family.BITWISE, Family.SHIFT, Family.LOGICAL)
"""Operations on bits and truth, for which floats have to become something else."""


_FRACTIONS = (Family.DIVIDE, Family.MEAN, Family.FLOAT_UNARY, Family.FLOAT_BINARY, Family.NORM)
"""Operations whose results have fractions, which integers would lose."""


def proposed_casts(
    policy: Policy, name: str, operands: Operands, form: Form = Form.OPERATOR
) -> Casts | None:
    """Find the casts that an error proposes; they keep the sort of number.

    Of those that make the operation pass, the best

    1. makes nothing complex where no operand is,
    2. keeps every value of the operands cast; else it rounds some; else it keeps the most,
    3. does so on the way to what the operation computes in, too,
    4. gives no integers where the operation has fractions, as a mean,
    5. changes the kind of number least,
    6. is to the dtype of another operand, or to the default of the new kind of number,
    7. casts the fewest operands,
    8. is to a dtype of whole bytes: the narrower ones are often stored and packed, no more,
    9. rounds least,
    10. is to the smallest dtype.
    """
    return _best(policy, name, operands, form, free=OPERATIONS[name].family in _ON_BITS)


def accepted_casts(
    policy: Policy, name: str, operands: Operands, form: Form = Form.OPERATOR
) -> Casts | None:
    """Find casts that make a refused operation pass: those an error proposes, else lossy ones.

    Returns
    -------
    tuple of (dict, Plan), or None
        From each operand that is cast to its new dtype, and the plan then.
    """
    if len(operands) <= MANY:
        return policy.once(_accepted)(name, operands, form)
    alike = dict.fromkeys(operands)  # to try each of thousands would take as long as their square
    found = policy.once(_accepted)(name, tuple(alike)[:MANY], form)
    if found is None:
        return None
    to = dict(zip(alike, map(found[0].get, range(MANY)), strict=False))
    casts = {i: cast for i, operand in enumerate(operands) if (cast := to.get(operand))}
    plan = policy.plan(name, _cast(operands, casts), form)
    return (casts, plan) if isinstance(plan, Plan) else None


def _accepted(policy: Policy) -> Callable[[str, Operands, Form], Casts | None]:
    """A policy's own cache: one for all would keep policies that nobody has any more."""

    @lru_cache(maxsize=1024)
    def accepted(name: str, operands: Operands, form: Form) -> Casts | None:
        proposed = proposed_casts(policy, name, operands, form)
        return proposed or _best(policy, name, operands, form, free=True)

    return accepted


def remarks(policy: Policy, types: Sequence[DType], casts: Mapping[int, DType]) -> str:
    """Say what the casts lose, and which no source defines; else "".

    Such as "int64 to float32: keeps integers up to 2**24, larger ones are rounded".
    """
    pairs = dict.fromkeys((policy.strong(types[i]), to) for i, to in casts.items())
    said = {
        f"{a.name} to {b.name}": filter(None, (loss(a, b), policy.cast.borrowed(a, b).rstrip(".")))
        for a, b in pairs
    }
    return "; ".join(
        f"{cast}: {text}" for cast, parts in said.items() if (text := "; ".join(parts))
    )


def _best(policy: Policy, name: str, operands: Operands, form: Form, *, free: bool) -> Casts | None:
    types = tuple(operand.type for operand in operands)
    arrays = tuple(i for i, operand in enumerate(operands) if operand.rank is not Rank.SCALAR)
    fractions = OPERATIONS[name].family in _FRACTIONS
    cost = partial(policy.once(_costs), fractions, types, arrays)
    plans: dict[At, _Plans] = {}
    for alike in policy.once(_candidates)(types, arrays, free):
        found = []
        for at, to in alike:
            if at not in plans:
                opened = tuple(o.rank if i in at else o for i, o in enumerate(operands))
                plans[at] = policy.once(_opened)(name, opened, form)
            plan = plans[at][to]
            if plan is not None:
                found.append((at, to, plan))
        if found:  # what follows loses more, whatever its plan
            at, to, plan = min(found, key=lambda each: cost(*each)) if found[1:] else found[0]
            return dict.fromkeys(at, to), plan
    return None


def _candidates(policy: Policy) -> Callable[[tuple[DType, ...], At, bool], Candidates]:
    """The casts that may be proposed, by what they lose, least first.

    A policy's own cache, as of ``_accepted``, for all operations and ranks: what is cast are
    arrays of some dtypes.
    """

    @lru_cache(maxsize=1024)
    def candidates(types: tuple[DType, ...], arrays: At, free: bool) -> Candidates:
        sources = [policy.canonical.get(d, d) for d in map(policy.strong, types)]
        imaginary = _complex(sources)
        by_loss: dict[tuple[float, ...], list[tuple[At, DType]]] = {}
        for at, to in _tried(policy, types, arrays):
            if all(admits(types[i], to, free) for i in at):
                lost = _lost(tuple(sources[i] for i in at), to, imaginary)
                by_loss.setdefault(lost, []).append((at, to))
        return [by_loss[lost] for lost in sorted(by_loss)]

    admits = lru_cache(maxsize=1 << 12)(partial(_admits, policy))
    return candidates


def _tried(policy: Policy, types: tuple[DType, ...], arrays: At) -> Iterator[tuple[At, DType]]:
    """Casts of one array, and of all of them to one dtype."""
    targets = dict.fromkeys(policy.canonical.get(d, d) for d in policy.dtypes)
    for target in targets:
        every = tuple(i for i in arrays if types[i] is not target)
        if target is not dt.string and every:
            yield from (((i,), target) for i in every)
            if len(every) > 1:
                yield every, target


def _admits(policy: Policy, source: DType, target: DType, free: bool) -> bool:
    """Whether ``astype`` makes the cast, and it keeps the sort of number or is ``free`` not to."""
    kept = free or target.kind.category >= source.kind.category
    return kept and policy.cast.refuses(policy.strong(source), target) is None


class _Plans(dict[DType, "Plan | None"]):
    """The plans of one operation when some operands have become a dtype; None if it is refused.

    What they were before does not matter, so a few of these serve all pairs of dtypes.
    """

    def __init__(self, policy: Policy, name: str, opened: Opened, form: Form) -> None:
        super().__init__()
        self._asked = policy, name, opened, form

    def __missing__(self, to: DType) -> Plan | None:
        policy, name, opened, form = self._asked
        made = tuple(Operand(to, o) if isinstance(o, Rank) else o for o in opened)
        plan = policy.plan(name, made, form)
        return self.setdefault(to, plan if isinstance(plan, Plan) else None)


def _opened(policy: Policy) -> Callable[[str, Opened, Form], _Plans]:
    """A policy's own cache, as of ``_accepted``."""
    return lru_cache(maxsize=1 << 14)(partial(_Plans, policy))


def _cast(operands: Operands, casts: dict[int, DType]) -> Operands:
    return tuple(Operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(operands))


@lru_cache(maxsize=1 << 16)
def _lost(sources: tuple[DType, ...], to: DType, imaginary: bool) -> tuple[float, ...]:
    """What casts lose, the gravest first: what is worst about them, whatever the plan is then."""
    new = not imaginary and to.kind is Kind.COMPLEX
    return (new, *_gravest([gravity(source, to) for source in sources]))


def _costs(policy: Policy) -> Callable[..., tuple[float, ...]]:
    """A policy's own cache, as of ``_accepted``: many operations make the same plan."""
    return lru_cache(maxsize=1 << 14)(partial(_cost, policy))


def _cost(
    policy: Policy,
    fractions: bool,
    types: tuple[DType, ...],
    arrays: At,
    at: At,
    to: DType,
    plan: Plan,
) -> tuple[float, ...]:
    """What is worse about casts than about others that lose as much, the gravest first.

    See ``proposed_casts``; ``fractions`` tells whether the operation has any.
    """
    sources = [policy.canonical.get(d, d) for d in map(policy.strong, types)]
    on_the_way = [
        gravity(to if i in at else sources[i], plan.inputs[i])
        for i in arrays
        if plan.inputs[i].kind is not Kind.BOOL
    ]
    raised = [to.kind.category - sources[i].kind.category for i in at]
    usual = {policy.strong(weak) for weak in dt.WEAK_TYPES} if any(raised) else set()
    sizes = [*(each.bits for each in plan.inputs), *(to.bits for _ in at)]
    exponent = to.part.format.exponent if to.part.format else 0
    return (
        *_gravest(on_the_way),
        fractions and plan.result.kind in INTEGERS,
        sum(map(abs, raised)),
        sum(to not in usual | _others(sources, i) for i in at),
        len(at),
        to.kind in (*INTEGERS, Kind.FLOAT) and to.bits < 8,
        sum(gravity(sources[i], to)[1] for i in at),
        max(sizes),
        sum(sizes),
        len(at) * exponent,
    )


def _gravest(lost: list[tuple[Lost, float]]) -> tuple[float, ...]:
    """The gravest loss there is, all of them, and of values not only rounded, how many bits."""
    levels = [level for level, _ in lost]
    bits = sum(bits for level, bits in lost if level is Lost.VALUES)
    return max(levels, default=Lost.NOTHING), sum(levels), bits


def _complex(dtypes: Iterable[DType]) -> bool:
    return any(dtype.kind is Kind.COMPLEX for dtype in dtypes)


def _others(dtypes: list[DType], index: int) -> set[DType]:
    return {dtype for i, dtype in enumerate(dtypes) if i != index}
