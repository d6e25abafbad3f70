"""The casts after which several policies answer what the run answered.

They write down what the run's policy did unasked: the fewest operands are cast to what they became
in the run, so that the run itself computes the same as before. Where that does not do, the casts
that a refusal proposes are written, and the result is cast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from promoarray.core.array_base import type_of
from promoarray.core.events import OperationEvent
from promoarray.core.operands import as_looked_on, looked_on
from promoarray.core.proposed_casts import accepted_casts
from promoarray.core.recovery import accepted_for_value
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.diagnostics.shadow.held import has
from promoarray.dtypes import BY_CODE, INTEGERS, WEAK, DType, Kind
from promoarray.once import once
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.cast_losses import gravity, loss
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy

Operands = tuple[Operand, ...]


class Asked(NamedTuple):
    """An operation of the run, without its data.

    Attributes
    ----------
    name : str
    form : Form
    operands : tuple of Operand
        As the run had them; scalars and 0-d arrays with their values.
    inputs : tuple of DType
        What the run made of them.
    wanted : DType
        What the run answered.
    """

    name: str
    form: Form
    operands: Operands
    inputs: tuple[DType, ...]
    wanted: DType

    @property
    def scalars(self) -> tuple[int, ...]:
        """The operands that are Python scalars, which become arrays where they are cast."""
        return tuple(i for i, o in enumerate(self.operands) if o.rank is Rank.SCALAR)


def fix_of(
    policy: Policy, event: OperationEvent, wanted: DType, weak: Operands | None = None
) -> Fix | None:
    """Find the edit after which a policy answers what the run answered.

    The operands are those of the run, which they are after the edits of the lines before.

    Parameters
    ----------
    policy : Policy
    event : OperationEvent
        What the run did.
    wanted : DType
        What the run answered.
    weak : tuple of Operand, optional
        The operands as the policy sees them, where they are weak there and not in the run.

    Returns
    -------
    Fix or None
        None if there is no such edit, or none is needed once the lines before are edited.
    """
    seen = weak or tuple(as_given(policy, x) for x in event.operands)
    decided = policy.decide(event.name, seen, event.operands, event.form, options=event.options)
    if not isinstance(decided, Refusal) and policy.strong(decided.plan.result) is wanted:
        return None
    by_value = isinstance(decided, Refusal) and decided.error is not None
    if by_value and event.form is not Form.INPLACE:  # whose target stays what it is
        return _fix_for_value(policy, event, wanted, seen)
    asked = _asked(policy, event, wanted, weak)
    return next(common_fixes(event.policy, (policy,), asked), None)


def shared_fix(
    policies: Sequence[Policy], event: OperationEvent, wanted: DType, fixes: Iterable[Fix]
) -> Fix | None:
    """Return the first of some edits that is right under all policies; None if none is."""
    every = [(policy, _asked(policy, event, wanted)) for policy in policies]
    serving = (
        fix for fix in fixes if all(holds(event.policy, (p,), asked, fix) for p, asked in every)
    )
    return next(serving, None)


def _asked(
    policy: Policy, event: OperationEvent, wanted: DType, weak: Operands | None = None
) -> Asked:
    operands = weak or tuple(as_looked_on(x, policy) for x in event.operands)
    return Asked(event.name, event.form, operands, event.plan.inputs, wanted)


def _fix_for_value(
    policy: Policy, event: OperationEvent, wanted: DType, seen: Operands
) -> Fix | None:
    """Find the cast of the arrays after which a Python scalar fits; that of a scalar is no edit."""
    asked = event.operands, event.form, event.options
    found = accepted_for_value(policy, event.name, seen, *asked)
    if found is None:
        return None
    casts, plan = found
    given = _cast_to(event.seen, casts)
    run = event.policy.decide(event.name, given, event.operands, event.form, options=event.options)
    if isinstance(run, Refusal):
        return None
    fix = Fix(tuple(casts.items()))
    answers = {
        policy: policy.strong(plan.result),
        event.policy: event.policy.strong(run.plan.result),
    }
    if all(answer is wanted for answer in answers.values()):
        return fix
    able = all(_can_become(p, answer, wanted) for p, answer in answers.items())
    return fix._replace(result=wanted) if able else None


def common_fixes(
    run: Policy, policies: Sequence[Policy], asked: Asked, *, alike: bool = False
) -> Iterator[Fix]:
    """Yield the edits after which the run and every policy answer what the run answered.

    Those come first that write down what the run did unasked, with the fewest casts; then those
    that cast the result, those first that lose least.

    Parameters
    ----------
    run : Policy
    policies : sequence of Policy
        Those that answer otherwise, and those that have to answer the same afterwards.
    asked : Asked
    alike : bool
        Whether dtypes are the same already, and all shall compute as the run does.
    """
    every = [(p, tuple(adopted(p, o) for o in asked.operands)) for p in (*policies, run)]
    bases: list[dict[int, DType]] = [{}]
    right: list[tuple[bool, Fix]] = []
    for casts in _as_in_the_run(asked):
        if all(_answer(p, asked, seen, casts) is asked.wanted for p, seen in every):
            fix = Fix(tuple(casts.items()), scalars=_cast_scalars(asked, casts))
            right.append((not _compute_alike(asked, every, casts), fix))
        bases.append(casts)
    yield from (fix for other, fix in sorted(right, key=lambda each: each[0]) if not other & alike)
    if alike:
        yield from _with_rows(asked, every)
        return
    refusing = [
        (policy, seen)
        for policy, seen in every
        if isinstance(policy.plan(asked.name, seen, asked.form), Refusal)
    ]
    for policy, seen in refusing:
        accepted = accepted_casts(policy, asked.name, seen, asked.form)
        bases += [dict(accepted[0])] if accepted else []
    bases += _to_the_widest(asked) if refusing else []
    bases = [casts for casts in bases if _keeps_sort(asked, casts)]
    ranked = sorted(
        ((_cost(asked, every, casts), n, casts) for n, casts in enumerate(bases)),
        key=lambda each: each[:2],
    )
    done: list[dict[int, DType]] = []
    for _, _, casts in ranked:
        if casts in done:
            continue
        done.append(casts)
        answers = [(p, _answer(p, asked, seen, casts)) for p, seen in every]
        if any(answer is None for _, answer in answers):
            continue
        kept = Fix(tuple(casts.items()), scalars=_cast_scalars(asked, casts))
        if all(answer is asked.wanted for _, answer in answers):
            if casts and casts not in list(_as_in_the_run(asked)):
                yield kept
        elif (
            asked.form is not Form.INPLACE
            and not _several(run, asked)
            and all(
                answer is asked.wanted or _can_become(p, answer, asked.wanted)
                for p, answer in answers
            )
        ):
            yield kept._replace(result=asked.wanted)


def _several(run: Policy, asked: Asked) -> bool:
    """Whether it gives several results, of which no one is the expression's."""
    plan = run.plan(asked.name, asked.operands, asked.form)
    return isinstance(plan, Plan) and bool(plan.extra_results)


def _keeps_sort(asked: Asked, casts: Mapping[int, DType]) -> bool:
    """Whether casts make no integers of floats, which would lose what the run computes with.

    What only asks for truth takes bools of anything.
    """
    truth = OPERATIONS[asked.name].family in (Family.LOGICAL, Family.TRUTH)
    kinds = [(strong_of(asked.operands[i].type).kind, to.kind) for i, to in casts.items()]
    return truth or all(to.category >= kind.category for kind, to in kinds)


def _to_the_widest(asked: Asked) -> list[dict[int, DType]]:
    """Casts of all arrays to int64, and to float64."""
    arrays = {i: o.type for i, o in enumerate(asked.operands) if o.rank is not Rank.SCALAR}
    return [
        {i: wide for i, dtype in arrays.items() if dtype is not wide}
        for wide in (_WIDEST["i*"], _WIDEST["f*"])
    ]


def holds(run: Policy, policies: Sequence[Policy], asked: Asked, fix: Fix) -> bool:
    """Whether an edit made for other operands is right for these, too, and changes no value."""
    casts = dict(fix.casts)
    if any(index >= len(asked.operands) for index in casts):
        return False
    kept = (
        to is asked.inputs[i] or gravity(strong_of(asked.operands[i].type), to)[0] == 0
        for i, to in casts.items()
    )
    if not all(kept) or fix.result not in (None, asked.wanted):
        return False
    for policy in (*policies, run):
        seen = tuple(adopted(policy, o) for o in asked.operands)
        answer = _answer(policy, asked, seen, casts)
        fits = _can_become(policy, answer, asked.wanted) if fix.result else False
        if answer is not asked.wanted and not fits:
            return False
    return True


def lost(run: Policy, policies: Sequence[Policy], asked: Asked, fix: Fix) -> str:
    """Say what an edit loses that the run does not; "" if nothing."""
    casts = dict(fix.casts)
    said: dict[str, list[str]] = {}
    for index, to in casts.items():
        source = strong_of(asked.operands[index].type)
        if to is not asked.inputs[index] and (words := loss(source, to)):
            said.setdefault(f"x{index + 1} to {to.name} {words}", [])
    for policy in policies:
        seen = tuple(adopted(policy, o) for o in asked.operands)
        plan = policy.plan(asked.name, _cast_to(seen, casts), asked.form)
        if not isinstance(plan, Plan) or not fix.result:
            continue
        answer = policy.strong(plan.result)
        if _low_bits(answer, asked.wanted):
            continue
        narrow = [b for a, b in zip(asked.inputs, plan.inputs, strict=True) if gravity(a, b)[0]]
        words = f"computed in {narrow[0].name}" if narrow else loss(answer, asked.wanted)
        if words:
            said.setdefault(words, []).append(policy.name)
    return "; ".join(f"{words} under {', '.join(n)}" if n else words for words, n in said.items())


def _low_bits(answer: DType, wanted: DType) -> bool:
    """Whether a cast keeps what integer arithmetic has in the lowest bits."""
    return answer.kind in INTEGERS and wanted.kind in INTEGERS and answer.bits >= wanted.bits


def _can_become(policy: Policy, answer: DType | None, wanted: DType) -> bool:
    """Whether a policy has a dtype, and casts an answer to it."""
    return (
        answer is not None and has(policy, wanted) and policy.cast.refuses(answer, wanted) is None
    )


def _cost(
    asked: Asked, every: Sequence[tuple[Policy, Operands]], casts: dict[int, DType]
) -> tuple[float, ...]:
    """What is worse about casts than about others: what they lose, then how many they are."""
    lost = [
        gravity(strong_of(asked.operands[i].type), to)
        for i, to in casts.items()
        if asked.inputs[i] is not to  # else the run makes that cast, too
    ]
    narrower = 0
    for policy, seen in every:
        plan = policy.plan(asked.name, _cast_to(seen, casts), asked.form)
        if isinstance(plan, Plan):
            answer = policy.strong(plan.result)
            lost.append(gravity(answer, asked.wanted))
            narrower += sum(
                gravity(mine, its)[0] > 0
                for mine, its in zip(asked.inputs, plan.inputs, strict=True)
            )
    levels, bits = zip(*lost, strict=True) if lost else ((0,), (0.0,))
    return max(levels), narrower, sum(bits), len(casts)


def strong_of(dtype: DType) -> DType:
    """A dtype that an array may have: of a Python scalar's type the widest."""
    return _WIDEST.get(dtype.code, dtype)


def _answer(
    policy: Policy, asked: Asked, operands: Operands, casts: Mapping[int, DType]
) -> DType | None:
    """What a policy answers for operands that are cast; None if it refuses, or has no such cast."""
    for index, to in casts.items():
        source = policy.strong(operands[index].type)
        if not has(policy, to) or (
            source is not to
            and operands[index].rank is not Rank.SCALAR
            and policy.cast.refuses(source, to)
        ):
            return None
    plan = policy.plan(asked.name, _cast_to(operands, casts), asked.form)
    return policy.strong(plan.result) if isinstance(plan, Plan) else None


def _with_rows(asked: Asked, every: Sequence[tuple[Policy, Operands]]) -> Iterator[Fix]:
    """Casts of Python scalars to arrays of one axis, where a policy has 0-d ones as scalars."""
    if not any(o.rank is Rank.ARRAY for o in asked.operands):
        return  # the result would have an axis more
    for casts in _as_in_the_run(asked):
        scalars = _cast_scalars(asked, casts)
        rows = [
            (p, tuple(o._replace(rank=Rank.ARRAY) if i in scalars else o for i, o in enumerate(s)))
            for p, s in every
        ]
        right = all(_answer(p, asked, s, casts) is asked.wanted for p, s in rows)
        if scalars and right and _compute_alike(asked, rows, casts):
            yield Fix(tuple(casts.items()), scalars=scalars, rows=True)


def _compute_alike(
    asked: Asked, every: Sequence[tuple[Policy, Operands]], casts: Mapping[int, DType]
) -> bool:
    """Whether all policies compute with the same dtypes and by the same kernel."""
    found = set()
    for policy, seen in every:
        plan = policy.plan(asked.name, _cast_to(seen, casts), asked.form)
        if isinstance(plan, Plan):
            found.add((plan.inputs, plan.decomposition, policy.kernel(asked.name, plan)))
    return len(found) == 1


def _cast_scalars(asked: Asked, casts: Mapping[int, DType]) -> tuple[int, ...]:
    return tuple(index for index in casts if index in asked.scalars)


def _cast_to(seen: Operands, casts: Mapping[int, DType]) -> Operands:
    """The operands with some of them cast, Python scalars among them to 0-d arrays."""
    return tuple(
        Operand(
            casts[i], Rank.ZERO_D if o.rank is Rank.SCALAR else o.rank, _become(o.value, casts[i])
        )
        if i in casts
        else o
        for i, o in enumerate(seen)
    )


def _become(value: Any, dtype: DType) -> Any:
    """A number in another dtype, as far as a policy looks at it: its kind, its sign and size."""
    if value is None or isinstance(value, complex):
        return value
    if dtype.kind is Kind.BOOL:
        return bool(value)
    if dtype.kind in INTEGERS:
        return int(value) if math.isfinite(value) else 0
    return float(value) if abs(value) < _LARGE else math.inf


_LARGE = 1 << 1023


def adopted(policy: Policy, operand: Operand) -> Operand:
    """An operand of the run as a policy would have made it in the first place."""
    value = operand.value if policy.by_value else None
    if operand.rank is Rank.SCALAR:
        return Operand(operand.type, operand.rank, value)
    return Operand(_held(policy, operand.type), operand.rank, value)


def _held(policy: Policy, dtype: DType) -> DType:
    dtype = policy.canonical.get(dtype, dtype)
    return dtype if policy.weak_arrays else policy.strong(dtype)


def as_given(policy: Policy, x: Any, dtype: DType | None = None) -> Operand:
    """An operand as a policy sees it: of the run, or of another dtype that it has given it."""
    if type(x) in WEAK:
        return as_looked_on(x, policy)
    known = policy.once(_of_dtype, dtype or type_of(x._type), not x._buffer.ndim)
    if x._buffer.ndim or policy.by_value is None:
        return known
    return known._replace(value=looked_on(x))


def _of_dtype(policy: Policy, dtype: DType, flat: bool) -> Operand:
    return _operand(_held(policy, dtype), Rank.ZERO_D if flat else Rank.ARRAY)


@once
def _operand(dtype: DType, rank: Rank) -> Operand:
    """One object for all policies, which a report keeps once."""
    return Operand(dtype, rank)


def _as_in_the_run(asked: Asked) -> Iterator[dict[int, DType]]:
    """Casts of some operands to what they became in the run, the fewest first."""
    became = dict(enumerate(asked.inputs))
    first = 1 if asked.form is Form.INPLACE else 0  # the target keeps its dtype
    open_ = [i for i in became if i >= first and asked.operands[i].type is not became[i]]
    sizes = range(1, len(open_) + 1) if len(open_) <= _FEW else (len(open_),)
    for size in sizes:
        every = combinations(open_, size)
        for chosen in sorted(every, key=lambda some: len({*some} & {*asked.scalars})):
            yield {i: became[i] for i in chosen}


_WIDEST = {"b*": BY_CODE["b1"], "i*": BY_CODE["i64"], "f*": BY_CODE["f64"], "c*": BY_CODE["c128"]}
"""What holds the values of a Python scalar."""

_FEW = 4
"""Of more operands all or none are cast."""
