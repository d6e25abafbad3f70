"""The casts that make a refused operation pass: which operands, and to what.

Tried are casts of one operand, and of all arrays to one dtype, in the policy's own dtypes. The
one that is proposed keeps every value where any does, and else the most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

Opened = tuple[Operand | Rank, ...]
"""Operands, and of those that are cast only the rank."""

ON_BITS = (Family.BITWISE, Family.SHIFT, Family.LOGICAL)
"""Operations on bits and truth, for which floats have to become something else."""


FRACTIONS = (Family.DIVIDE, Family.MEAN, Family.FLOAT_UNARY, Family.FLOAT_BINARY, Family.NORM)
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
    return _best(policy, name, operands, form, free=OPERATIONS[name].family in ON_BITS)


PAIRS = 1 << 12
"""All pairs of dtypes that a policy may hold: what is asked of each in turn is all remembered."""


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

    @lru_cache(maxsize=PAIRS)
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
    candidates, opened = policy.once(_asked)(operands, free)
    plans_of = policy.once(_plans)
    plans = tuple([plans_of(name, each, form) for each in opened])
    fractions = OPERATIONS[name].family in FRACTIONS
    found = policy.once(_chosen)(candidates, fractions, plans)
    return found and (dict.fromkeys(*found[:2]), found[2])


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """The casts of arrays that may be proposed; made once for each case.

    Attributes
    ----------
    types : tuple of DType
        What the operands are.
    arrays : tuple of int
        Which of them may be cast.
    ways : tuple of tuple
        Which are cast, in all ways that occur.
    by_loss : list of list
        The number of a way and what its operands become, by what that loses, least first.
    """

    types: tuple[DType, ...]
    arrays: At
    ways: tuple[At, ...]
    by_loss: list[list[tuple[int, DType]]]


# What follows are a policy's own caches, as ``_accepted``.


def _asked(policy: Policy) -> Callable[[Operands, bool], tuple[_Candidates, list[Opened]]]:
    """The candidates for some operands, and these with what is cast opened in each way."""

    @lru_cache(maxsize=1 << 12)
    def asked(operands: Operands, free: bool) -> tuple[_Candidates, list[Opened]]:
        types = tuple(operand.type for operand in operands)
        arrays = tuple(i for i, o in enumerate(operands) if o.rank is not Rank.SCALAR)
        candidates = policy.once(_candidates)(types, arrays, free)
        opened = [
            tuple(o.rank if i in at else o for i, o in enumerate(operands))
            for at in candidates.ways
        ]
        return candidates, opened

    return asked


def _candidates(policy: Policy) -> Callable[[tuple[DType, ...], At, bool], _Candidates]:
    """The candidates for all operations and ranks: what is cast are arrays of some dtypes."""

    @lru_cache(maxsize=PAIRS)
    def candidates(types: tuple[DType, ...], arrays: At, free: bool) -> _Candidates:
        sources = policy.once(_sources)(types)
        imaginary = _complex(sources)
        ways: dict[At, int] = {}
        by_loss: dict[tuple[float, ...], list[tuple[int, DType]]] = {}
        for at, to in _tried(policy, types, arrays):
            if all(admits(types[i], to, free) for i in at):
                lost = _lost(tuple([sources[i] for i in at]), to, imaginary)
                way = ways.setdefault(at, len(ways))
                by_loss.setdefault(lost, []).append((way, to))
        return _Candidates(types, arrays, tuple(ways), [by_loss[lost] for lost in sorted(by_loss)])

    admits = lru_cache(maxsize=1 << 12)(partial(_admits, policy))
    return candidates


def _chosen(policy: Policy) -> Callable[..., tuple[At, DType, Plan] | None]:
    """The best of the candidates by the plans that they lead to, which many operations share."""

    @lru_cache(maxsize=1 << 14)
    def chosen(
        candidates: _Candidates, fractions: bool, plans: tuple[_Plans, ...]
    ) -> tuple[At, DType, Plan] | None:
        for alike in candidates.by_loss:
            found = [
                (candidates.ways[way], to, plan)
                for way, to in alike
                if (plan := plans[way].by_dtype[to]) is not None
            ]
            if found:  # what follows loses more, whatever its plan
                asked = fractions, candidates.types, candidates.arrays
                cost = partial(policy.once(_costs), *asked)
                return min(found, key=lambda each: cost(*each)) if found[1:] else found[0]
        return None

    return chosen


def _sources(policy: Policy) -> Callable[[tuple[DType, ...]], list[DType]]:
    """What arrays of some types are before any cast."""

    @lru_cache(maxsize=PAIRS)
    def sources(types: tuple[DType, ...]) -> list[DType]:
        return [policy.canonical.get(d, d) for d in map(policy.strong, types)]

    return sources


def _tried(policy: Policy, types: tuple[DType, ...], arrays: At) -> Iterator[tuple[At, DType]]:
    """Casts of one array, and of all of them to one dtype."""
    for target in policy.once(_targets):
        every = tuple([i for i in arrays if types[i] is not target])
        if every:
            yield from (((i,), target) for i in every)
            if len(every) > 1:
                yield every, target


def _targets(policy: Policy) -> list[DType]:
    """What arrays may be cast to."""
    held = dict.fromkeys(policy.canonical.get(d, d) for d in policy.dtypes)
    return [dtype for dtype in held if dtype is not dt.string]


def _admits(policy: Policy, source: DType, target: DType, free: bool) -> bool:
    """Whether ``astype`` makes the cast, and it keeps the sort of number or is ``free`` not to."""
    kept = free or target.kind.category >= source.kind.category
    return kept and policy.cast.refuses(policy.strong(source), target) is None


@dataclass(frozen=True, slots=True, eq=False)
class _Plans:
    """The plan of an operation when some operands have become a dtype, None where refused.

    Those that are alike are one object.
    """

    by_dtype: dict[DType, Plan | None]


def _plans(policy: Policy) -> Callable[[str, Opened, Form], _Plans]:
    """The plans for every dtype that what is opened may become.

    What it was before does not matter, so a few of these serve all pairs of dtypes.
    """

    @lru_cache(maxsize=1 << 14)
    def plans(name: str, opened: Opened, form: Form) -> _Plans:
        made = {to: policy.plan(name, _closed(opened, to), form) for to in policy.once(_targets)}
        given = {to: plan if isinstance(plan, Plan) else None for to, plan in made.items()}
        return known.setdefault(tuple(given.values()), _Plans(given))

    known: dict[tuple[Plan | None, ...], _Plans] = {}
    return plans


def _closed(opened: Opened, to: DType) -> Operands:
    return tuple([Operand(to, o) if isinstance(o, Rank) else o for o in opened])


def _cast(operands: Operands, casts: dict[int, DType]) -> Operands:
    return tuple(Operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(operands))


@lru_cache(maxsize=1 << 16)
def _lost(sources: tuple[DType, ...], to: DType, imaginary: bool) -> tuple[float, ...]:
    """What casts lose, the gravest first: what is worst about them, whatever the plan is then."""
    new = not imaginary and to.kind is Kind.COMPLEX
    return (new, *_gravest([gravity(source, to) for source in sources]))


def _costs(policy: Policy) -> Callable[..., tuple[float, ...]]:
    """What casts cost, whatever the others are that are proposed beside them."""
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
    sources = policy.once(_sources)(types)
    on_the_way = [
        gravity(to if i in at else sources[i], plan.inputs[i])
        for i in arrays
        if plan.inputs[i].kind is not Kind.BOOL
    ]
    raised = [to.kind.category - sources[i].kind.category for i in at]
    usual = {policy.strong(weak) for weak in dt.WEAK_TYPES} if any(raised) else set()
    sizes = [each.bits for each in plan.inputs] + [to.bits] * len(at)
    exponent = to.part.format.exponent if to.part.format else 0
    return (
        *_gravest(on_the_way),
        fractions and plan.result.kind in INTEGERS,
        sum(map(abs, raised)),
        sum([to not in usual and to not in _others(sources, i) for i in at]),
        len(at),
        to.kind in (*INTEGERS, Kind.FLOAT) and to.bits < 8,
        sum([gravity(sources[i], to)[1] for i in at]),
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


def _others(dtypes: list[DType], index: int) -> list[DType]:
    return dtypes[:index] + dtypes[index + 1 :]
