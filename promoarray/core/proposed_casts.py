"""The casts that make a refused operation pass: which operands, and to what.

Tried are casts of one operand, and of all arrays to one dtype, in the policy's own dtypes. The
one that is proposed keeps every value where any does, and else the most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    by_loss = lru_cache(maxsize=1 << 12)(partial(_by_loss, policy))
    first: dict[tuple[Any, ...], str] = {}
    by_rule = not policy.needs_kernels and policy.by_value is None

    @lru_cache(maxsize=1 << 12)
    def best(name: str, operands: Operands, form: Form, free: bool) -> Casts | None:
        of_arrays = tuple([(o.type, o.rank is not Rank.SCALAR) for o in operands])
        return _best(policy, name, operands, form, by_loss(of_arrays, free))

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
    policy: Policy, operands: tuple[tuple[DType, bool], ...], free: bool
) -> list[list[dict[int, DType]]]:
    """The casts to try of dtypes, of which some are arrays', those together that lose as much, the
    least first; ``free``: they may change the sort of number."""
    sources = [_held(policy, policy.strong(dtype)) for dtype, _ in operands]
    imaginary = any(dtype.kind is Kind.COMPLEX for dtype in sources)
    by_loss: dict[tuple[float, ...], list[dict[int, DType]]] = {}
    for casts in _tried(policy, operands):
        if all(_admits(policy, operands[i][0], to, free) for i, to in casts.items()):
            new = not imaginary and any(to.kind is Kind.COMPLEX for to in casts.values())
            lost = new, *_gravest([gravity(sources[i], to) for i, to in casts.items()])
            by_loss.setdefault(lost, []).append(casts)
    return [by_loss[lost] for lost in sorted(by_loss)]


def _best(
    policy: Policy, name: str, operands: Operands, form: Form, by_loss: list[list[dict[int, DType]]]
) -> Casts | None:
    """The best casts that make an operation pass."""
    sources = [_held(policy, policy.strong(operand.type)) for operand in operands]
    fractions = OPERATIONS[name].family in FRACTIONS
    for alike in by_loss:
        plans = [(casts, policy.plan(name, _cast(operands, casts), form)) for casts in alike]
        found = [(casts, plan) for casts, plan in plans if isinstance(plan, Plan)]
        if found:  # what follows loses more, whatever its plan
            return min(found, key=lambda each: _cost(policy, operands, sources, each, fractions))
    return None


def _held(policy: Policy, dtype: DType) -> DType:
    return policy.canonical.get(dtype, dtype)


def _tried(policy: Policy, operands: tuple[tuple[DType, bool], ...]) -> Iterator[dict[int, DType]]:
    """Casts of one array, and of all of them to one dtype."""
    arrays = [i for i, (_, is_array) in enumerate(operands) if is_array]
    for target in dict.fromkeys(_held(policy, dtype) for dtype in policy.dtypes):
        every = {i: target for i in arrays if operands[i][0] is not target}
        if target is not dt.string:
            yield from ({i: target} for i in every)
            if len(every) > 1:
                yield every


def _admits(policy: Policy, source: DType, target: DType, free: bool) -> bool:
    """Whether ``astype`` makes the cast, and it keeps the sort of number or is ``free`` not to."""
    kept = free or target.kind.category >= source.kind.category
    return kept and policy.cast.makes(policy.strong(source), target)


def _cast(operands: Operands, casts: Mapping[int, DType]) -> Operands:
    return tuple([_operand(casts[i], o.rank) if i in casts else o for i, o in enumerate(operands)])


_operand = cache(Operand)


def _cost(
    policy: Policy, operands: Operands, sources: list[DType], found: Casts, fractions: bool
) -> tuple[float, ...]:
    """What is worse about casts than about others that lose as much, the gravest first.

    See ``proposed_casts``; ``fractions`` tells whether the operation has any.
    """
    casts, plan = found
    on_the_way = [
        gravity(casts.get(i, sources[i]), plan.inputs[i])
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


def _gravest(lost: list[tuple[Lost, float]]) -> tuple[float, ...]:
    """The gravest loss there is, all of them, and of values not only rounded, how many bits."""
    levels = [level for level, _ in lost]
    bits = sum(bits for level, bits in lost if level is Lost.VALUES)
    return max(levels, default=Lost.NOTHING), sum(levels), bits
