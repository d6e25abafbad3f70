"""The casts that make a refused operation pass: which operands, and to what.

Tried are casts of one operand, and of all arrays to one dtype, in the policy's own dtypes. The
one that is proposed keeps every value where any does, and else the most of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.cast_losses import Lost, gravity, loss
from promoarray.promotion.plan import Operand, Plan, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.type_rules import TypeRule

Casts = tuple[dict[int, DType], Plan]
"""From the operands that are cast to what they become, and the plan then."""

Operands = tuple[Operand, ...]

Lossy = tuple[int, float]
"""How grave a loss is, and how many bits of values not only rounded."""

Tried = list[list[tuple[dict[int, DType], Operands]]]
"""Casts and the operands then, those together that lose as much, the least first."""

MANY = 16
"""Of more operands than these, those that are alike are cast together."""

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
    return policy.once(_cached)(name, operands, form, OPERATIONS[name].family in ON_BITS)


def accepted_casts(
    policy: Policy, name: str, operands: Operands, form: Form = Form.OPERATOR
) -> Casts | None:
    """Find casts that make a refused operation pass, and the plan then: those an error proposes,
    else lossy ones."""
    if len(operands) <= MANY:
        proposed = proposed_casts(policy, name, operands, form)
        return proposed or policy.once(_cached)(name, operands, form, True)
    alike = dict.fromkeys(operands)  # to try each of thousands would take as long as their square
    found = accepted_casts(policy, name, tuple(alike)[:MANY], form)
    if found is None:
        return None
    to = dict(zip(alike, map(found[0].get, range(MANY)), strict=False))
    casts = {i: cast for i, operand in enumerate(operands) if (cast := to.get(operand))}
    plan = policy.plan(name, _cast(operands, casts), form)
    return (casts, plan) if isinstance(plan, Plan) else None


def _cached(policy: Policy) -> Callable[[str, Operands, Form, bool], Casts | None]:
    """A policy's own cache of ``_best``: one for all would keep policies nobody has any more."""
    by_loss = lru_cache(maxsize=1 << 12)(
        partial(_by_loss, policy, cache(partial(_admitted, policy)))
    )
    first: dict[tuple[Any, ...], str] = {}
    by_rule = not policy.needs_kernels and policy.by_value is None

    @lru_cache(maxsize=1 << 12)
    def tried(operands: Operands, free: bool) -> Tried:
        of_arrays = tuple([(o.type, o.rank is not Rank.SCALAR) for o in operands])
        return [[(c, _cast(operands, c)) for c in alike] for alike in by_loss(of_arrays, free)]

    @lru_cache(maxsize=1 << 12)
    def best(name: str, operands: Operands, form: Form, free: bool) -> Casts | None:
        return _best(policy, name, operands, form, tried(operands, free))

    def best_of_like(name: str, operands: Operands, form: Form, free: bool) -> Casts | None:
        """Find them once for operations of one rule, which do not look at their names."""
        rule = policy.rule(name, operands, form)
        if not by_rule or form is Form.INPLACE or not isinstance(rule, TypeRule):
            return best(name, operands, form, free)
        like = first.setdefault((id(rule), form, OPERATIONS[name].family in FRACTIONS), name)
        if like == name or policy.rule(like, operands, form) is not rule:
            return best(name, operands, form, free)
        found = best(like, operands, form, free)
        plan = found and policy.plan(name, _cast(operands, found[0]), form)
        return (found[0], plan) if found and isinstance(plan, Plan) else None

    return best_of_like


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


def _by_loss(
    policy: Policy,
    admitted: Callable[[DType, bool], dict[DType, Lossy]],
    operands: tuple[tuple[DType, bool], ...],
    free: bool,
) -> list[list[dict[int, DType]]]:
    """The casts to try of dtypes, of which some are arrays', those together that lose as much, the
    least first: of one array, and of all to one dtype.

    ``free``: they may change the sort of number.
    """
    imaginary = any(_held(policy, policy.strong(d)).kind is Kind.COMPLEX for d, _ in operands)
    arrays = {i: admitted(dtype, free) for i, (dtype, is_array) in enumerate(operands) if is_array}
    by_loss: dict[tuple[float, ...], list[dict[int, DType]]] = defaultdict(list)
    for target in policy.once(_targets):
        new = not imaginary and target.kind is Kind.COMPLEX
        changed = {i: to.get(target) for i, to in arrays.items() if operands[i][0] is not target}
        for i, lost in changed.items():
            if lost:
                by_loss[new, *_gravest([lost])].append({i: target})
        every = [lost for lost in changed.values() if lost]
        if 1 < len(changed) == len(every):
            by_loss[new, *_gravest(every)].append(dict.fromkeys(changed, target))
    return [by_loss[lost] for lost in sorted(by_loss)]


def _admitted(policy: Policy, source: DType, free: bool) -> dict[DType, Lossy]:
    """The dtypes that ``astype`` makes of one, and what that loses.

    They keep the sort of number unless they are ``free`` not to.
    """
    strong = policy.strong(source)
    return {
        target: _lost(_held(policy, strong), target)
        for target in policy.once(_targets)
        if (free or target.kind.category >= source.kind.category)
        and policy.cast.makes(strong, target)
    }


def _best(policy: Policy, name: str, operands: Operands, form: Form, tried: Tried) -> Casts | None:
    """The best casts that make an operation pass."""
    sources = [_held(policy, policy.strong(operand.type)) for operand in operands]
    fractions = OPERATIONS[name].family in FRACTIONS
    for alike in tried:
        plans = [(casts, policy.plan(name, then, form)) for casts, then in alike]
        found = [(casts, plan) for casts, plan in plans if isinstance(plan, Plan)]
        if found:  # what follows loses more, whatever its plan
            cost = partial(_cost, policy, operands, sources, fractions=fractions)
            return min(found, key=cost) if len(found) > 1 else found[0]
    return None


def _targets(policy: Policy) -> tuple[DType, ...]:
    targets = dict.fromkeys(_held(policy, dtype) for dtype in policy.dtypes)
    return tuple(target for target in targets if target is not dt.string)


def _held(policy: Policy, dtype: DType) -> DType:
    return policy.canonical.get(dtype, dtype)


def _cast(operands: Operands, casts: Mapping[int, DType]) -> Operands:
    return tuple([_operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(operands)])


_operand = cache(Operand)


def _cost(
    policy: Policy, operands: Operands, sources: list[DType], found: Casts, *, fractions: bool
) -> tuple[float, ...]:
    """What is worse about casts than about others that lose as much, the gravest first.

    See ``proposed_casts``; ``fractions`` tells whether the operation has any.
    """
    casts, plan = found
    on_the_way = [
        _lost(casts.get(i, sources[i]), plan.inputs[i])
        for i, operand in enumerate(operands)
        if operand.rank is not Rank.SCALAR and plan.inputs[i].kind is not Kind.BOOL
    ]
    to = next(iter(casts.values()))
    raised = [to.kind.category - sources[i].kind.category for i in casts]
    usual = {policy.strong(weak) for weak in dt.WEAK_TYPES} if any(raised) else set()
    sizes = [each.bits for each in plan.inputs] + [to.bits] * len(casts)
    exponent = to.part.format.exponent if to.part.format else 0
    return (
        *_gravest(on_the_way),
        fractions and plan.result.kind in INTEGERS,
        sum(map(abs, raised)),
        sum([to not in usual and to not in sources[:i] + sources[i + 1 :] for i in casts]),
        len(casts),
        to.kind in (*INTEGERS, Kind.FLOAT) and to.bits < 8,
        sum([gravity(sources[i], to)[1] for i in casts]),
        max(sizes),
        sum(sizes),
        len(casts) * exponent,
    )


def _gravest(lost: list[Lossy]) -> tuple[int, int, float]:
    """The gravest loss there is, all of them, and how many bits of values."""
    if len(lost) == 1:  # as most often
        ((level, bits),) = lost
        return level, level, bits
    levels = [level for level, _ in lost]
    return max(levels, default=0), sum(levels), sum([bits for _, bits in lost])


@cache
def _lost(source: DType, target: DType) -> Lossy:
    level, bits = gravity(source, target)
    return int(level), bits if level is Lost.VALUES else 0.0
