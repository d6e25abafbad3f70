"""The casts after which several policies answer what the run answered.

They write down what the run's policy did unasked: the fewest operands are cast to what they became
in the run, so that the run itself computes the same as before. Where that does not do, the casts
that a refusal proposes are written, and the result is cast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from promoarray.core.events import OperationEvent
from promoarray.core.operands import as_looked_on
from promoarray.core.proposed_casts import accepted_casts
from promoarray.core.recovery import accepted_for_value
from promoarray.diagnostics.shadow.after_casts import (
    WIDEST,
    Asked,
    Operands,
    answer_of,
    can_become,
    cast_scalars,
    cast_to,
    compute_alike,
    cost_of,
    holds,
    strong_of,
)
from promoarray.diagnostics.shadow.as_given import adopted, as_given
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.plan import Plan, Rank, Refusal
from promoarray.promotion.policy import Policy


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
    given = cast_to(event.seen, casts)
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
    able = all(can_become(p, answer, wanted) for p, answer in answers.items())
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
        if all(answer_of(p, asked, seen, casts) is asked.wanted for p, seen in every):
            fix = Fix(tuple(casts.items()), scalars=cast_scalars(asked, casts))
            right.append((not compute_alike(asked, every, casts), fix))
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
        ((cost_of(asked, every, casts), n, casts) for n, casts in enumerate(bases)),
        key=lambda each: each[:2],
    )
    done: list[dict[int, DType]] = []
    for _, _, casts in ranked:
        if casts in done:
            continue
        done.append(casts)
        answers = [(p, answer_of(p, asked, seen, casts)) for p, seen in every]
        if any(answer is None for _, answer in answers):
            continue
        kept = Fix(tuple(casts.items()), scalars=cast_scalars(asked, casts))
        if all(answer is asked.wanted for _, answer in answers):
            if casts and casts not in list(_as_in_the_run(asked)):
                yield kept
        elif (
            asked.form is not Form.INPLACE
            and not _several(run, asked)
            and all(
                answer is asked.wanted or can_become(p, answer, asked.wanted)
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
        for wide in (WIDEST["i*"], WIDEST["f*"])
    ]


def _with_rows(asked: Asked, every: Sequence[tuple[Policy, Operands]]) -> Iterator[Fix]:
    """Casts of Python scalars to arrays of one axis, where a policy has 0-d ones as scalars."""
    if not any(o.rank is Rank.ARRAY for o in asked.operands):
        return  # the result would have an axis more
    for casts in _as_in_the_run(asked):
        scalars = cast_scalars(asked, casts)
        rows = [
            (p, tuple(o._replace(rank=Rank.ARRAY) if i in scalars else o for i, o in enumerate(s)))
            for p, s in every
        ]
        right = all(answer_of(p, asked, s, casts) is asked.wanted for p, s in rows)
        if scalars and right and compute_alike(asked, rows, casts):
            yield Fix(tuple(casts.items()), scalars=scalars, rows=True)


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


_FEW = 4
"""Of more operands all or none are cast."""
