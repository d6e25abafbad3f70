"""The casts that make a refused operation pass: which operands, and to what.

Tried are casts of one operand, and of all arrays to one dtype, in the policy's own dtypes. The
one that is proposed keeps every value where any does, and else the most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

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

Candidates = list[list[tuple[dict[int, DType], Operands]]]
"""Casts and the operands they make, those together that lose as much."""

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
    8. rounds least,
    9. is to the smallest dtype.
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


def remarks(policy: Policy, operands: Operands, casts: Mapping[int, DType]) -> str:
    """Say what the casts lose, and which no source defines; else "".

    Such as "int64 to float32: keeps integers up to 2**24, larger ones are rounded".
    """
    pairs = dict.fromkeys((policy.strong(operands[i].type), to) for i, to in casts.items())
    said = {
        f"{a.name} to {b.name}": filter(None, (loss(a, b), policy.cast.borrowed(a, b).rstrip(".")))
        for a, b in pairs
    }
    return "; ".join(
        f"{cast}: {text}" for cast, parts in said.items() if (text := "; ".join(parts))
    )


def _best(policy: Policy, name: str, operands: Operands, form: Form, *, free: bool) -> Casts | None:
    for alike in _candidates(policy, operands, free):
        plans = ((casts, policy.plan(name, made, form)) for casts, made in alike)
        found = [(casts, plan) for casts, plan in plans if isinstance(plan, Plan)]
        if found:  # what follows loses more, whatever its plan
            return min(found, key=lambda each: _cost(policy, name, operands, *each))
    return None


def _candidates(policy: Policy, operands: Operands, free: bool) -> Candidates:
    """The casts that may be proposed and the operands they make, by what they lose, least first."""
    return policy.once(_kept_candidates)(operands, free)


def _kept_candidates(policy: Policy) -> Callable[[Operands, bool], Candidates]:
    """A policy's own cache, as of ``_accepted``."""

    @lru_cache(maxsize=1024)
    def candidates(operands: Operands, free: bool) -> Candidates:
        sources = _sources(policy, operands)
        by_loss: dict[tuple[float, ...], list[tuple[dict[int, DType], Operands]]] = {}
        for casts in _tried(policy, operands):
            if all(_admits(policy, operands[i].type, to, free=free) for i, to in casts.items()):
                lost = _lost(sources, casts)
                by_loss.setdefault(lost, []).append((casts, _cast(operands, casts)))
        return [by_loss[lost] for lost in sorted(by_loss)]

    return candidates


def _tried(policy: Policy, operands: Operands) -> Iterator[dict[int, DType]]:
    """Casts of one array, and of all of them to one dtype."""
    arrays = [i for i, operand in enumerate(operands) if operand.rank is not Rank.SCALAR]
    targets = dict.fromkeys(policy.canonical.get(d, d) for d in policy.dtypes)
    for target in targets:
        every = {i: target for i in arrays if operands[i].type is not target}
        if target is not dt.string and every:
            yield from ({i: target} for i in every)
            if len(every) > 1:
                yield every


def _admits(policy: Policy, source: DType, target: DType, *, free: bool) -> bool:
    """Whether ``astype`` makes the cast, and it keeps the sort of number or is ``free`` not to."""
    kept = free or target.kind.category >= source.kind.category
    return kept and policy.cast.refuses(policy.strong(source), target) is None


def _cast(operands: Operands, casts: dict[int, DType]) -> Operands:
    return tuple(Operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(operands))


def _sources(policy: Policy, operands: Operands) -> list[DType]:
    """The dtypes of the operands, as the policy would hold them."""
    strong = (policy.strong(operand.type) for operand in operands)
    return [policy.canonical.get(d, d) for d in strong]


def _lost(sources: list[DType], casts: dict[int, DType]) -> tuple[float, ...]:
    """What casts lose, the gravest first: what is worst about them, whatever the plan is then."""
    return _lost_by(tuple((sources[i], to) for i, to in casts.items()), _complex(sources))


@lru_cache(maxsize=1 << 16)
def _lost_by(casts: tuple[tuple[DType, DType], ...], imaginary: bool) -> tuple[float, ...]:
    new = not imaginary and _complex(to for _, to in casts)
    return (new, *_gravest([gravity(source, to) for source, to in casts]))


def _cost(
    policy: Policy, name: str, operands: Operands, casts: dict[int, DType], plan: Plan
) -> tuple[float, ...]:
    """What is worse about casts than about others, the gravest first; see ``proposed_casts``."""
    sources = _sources(policy, operands)
    held = [casts.get(i, source) for i, source in enumerate(sources)]
    on_the_way = [
        gravity(dtype, to)
        for operand, dtype, to in zip(operands, held, plan.inputs, strict=True)
        if operand.rank is not Rank.SCALAR and to.kind is not Kind.BOOL
    ]
    raised = [to.kind.category - sources[i].kind.category for i, to in casts.items()]
    usual = {policy.strong(weak) for weak in dt.WEAK_TYPES} if any(raised) else set()
    sizes = [to.bits for to in (*plan.inputs, *casts.values())]
    return (
        *_lost(sources, casts),
        *_gravest(on_the_way),
        plan.result.kind in INTEGERS and OPERATIONS[name].family in _FRACTIONS,
        sum(map(abs, raised)),
        sum(to not in usual | _others(sources, i) for i, to in casts.items()),
        len(casts),
        sum(gravity(sources[i], to)[1] for i, to in casts.items()),
        max(sizes),
        sum(sizes),
        sum(to.part.format.exponent for to in casts.values() if to.part.format),
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
