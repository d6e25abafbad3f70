"""Answers of policies once operands of the run are edited, and what the edits lose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.core.proposed_casts import accepted_casts
from promoarray.diagnostics.edits.occurrences import Asked
from promoarray.diagnostics.edits.recovery import accepted_for_value
from promoarray.diagnostics.model.slots import adopted, has
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.promotion.cast_losses import gravity, loss
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy

WIDEST = {"b*": dt.bool, "i*": dt.int64, "f*": dt.float64, "c*": dt.complex128}
"""What holds the values of a Python scalar."""


class Port(NamedTuple):
    """From which policy to which others."""

    run: Policy
    policies: tuple[Policy, ...]
    # whether the edited program is run, which finds what an edit changes by another name
    proved: bool = False

    @property
    def every(self) -> tuple[Policy, ...]:
        """All that have to answer as the run did."""
        return (*self.policies, self.run)


class Casts(NamedTuple):
    """Casts of operands and of the result."""

    # from the operands to cast to what they become; of a weak type, the Python number they
    # hold
    operands: Mapping[int, DType] = MappingProxyType({})
    result: DType | None = None
    rows: bool = False  # whether Python scalars that are cast become arrays of one axis


NO_CASTS = Casts()


def strong_of(dtype: DType) -> DType:
    """Return a dtype that an array may have: of a Python scalar's type the widest."""
    return WIDEST.get(dtype.code, dtype)


# -- what policies answer -------------------------------------------------------------------------


def decided(policy: Policy, asked: Asked, casts: Casts = NO_CASTS) -> Plan | Refusal:
    """Return what a policy does with edited operands, Python numbers among them by their values."""
    operands = _edited(asked, casts)
    weak = {*asked.weak} - {*casts.operands} if policy.weak_arrays else ()
    seen = tuple(adopted(policy, o, weak=i in weak) for i, o in enumerate(operands))
    values = tuple(o.value if o.rank is Rank.SCALAR else None for o in operands)
    decide = policy.decide if policy.name == asked.lacking else policy.carried_out
    made = decide(asked.name, seen, values, asked.form)
    return made if isinstance(made, Refusal) else made.plan


def _edited(asked: Asked, casts: Casts) -> list[Operand]:
    """The operands with some of them cast, Python scalars among them to 0-d arrays."""
    operands = list(asked.operands)
    for index, to in casts.operands.items():
        _, rank, value = operands[index]
        if rank is Rank.SCALAR and not to.weak:
            rank = Rank.ARRAY if casts.rows else Rank.ZERO_D
        elif to.weak:
            rank = Rank.SCALAR
        operands[index] = Operand(to, rank, _become(value, strong_of(to)))
    return operands


def answer_of(policy: Policy, asked: Asked, casts: Casts) -> DType | None:
    """Return a policy's dtype for edited operands; None if it refuses, or has no such cast."""
    for index, to in casts.operands.items():
        operand = asked.operands[index]
        if to.weak:
            if not _keeps_value(operand, to):
                return None
        elif not has(policy, to) or (
            operand.rank is not Rank.SCALAR
            and (source := policy.strong(adopted(policy, operand).type)) is not to
            and not policy.cast.makes(source, to)
        ):
            return None
    if casts.operands and all(o.rank is Rank.SCALAR for o in _edited(asked, casts)):
        return None  # Python would compute it
    plan = decided(policy, asked, casts)
    return policy.strong(plan.result) if isinstance(plan, Plan) else None


def _keeps_value(operand: Operand, to: DType) -> bool:
    """Whether a Python number of a type is equal to what an operand is."""
    if operand.value is None:
        return False
    made = _become(operand.value, strong_of(to))
    return bool(made == operand.value) or (made != made and operand.value != operand.value)


def _become(value: Any, dtype: DType) -> Any:
    """A number in another dtype, as far as a policy looks at it: its kind, its sign and size."""
    if value is None or (isinstance(value, complex) and dtype.kind is Kind.COMPLEX):
        return value
    value = value.real
    if dtype.kind is Kind.BOOL:
        return bool(value)
    if dtype.kind in INTEGERS:
        return int(value) if type(value) is int or math.isfinite(value) else 0
    return float(value) if abs(value) < _LARGE else math.inf


_LARGE = 1 << 1023


# -- whether an edit is right ---------------------------------------------------------------------


def agree(port: Port, asked: Asked, casts: Casts) -> bool:
    """Whether the run and every policy answer what the run answered, once the result is cast."""
    for policy in port.every:
        answer = answer_of(policy, asked, casts)
        to = casts.result
        cast = answer and to and has(policy, to) and policy.cast.makes(answer, to)
        if answer is not asked.wanted and not cast:
            return False
    return True


def holds(port: Port, asked: Asked, casts: Casts = NO_CASTS, *, lossy: bool = False) -> bool:
    """Whether an edit is right for some operands: all answer as the run did, of the same values.

    ``lossy`` admits casts that lose some of them, which is told.
    """
    if any(i >= len(asked.operands) for i in casts.operands):
        return False
    if casts.result not in (None, asked.wanted):
        return False
    for index, to in casts.operands.items():
        kept = lossy or to.weak or to is asked.inputs[index]
        if not kept and gravity(strong_of(asked.operands[index].type), to)[0]:
            return False
    return agree(port, asked, casts) and _computes_as_before(port.run, asked, casts)


def _computes_as_before(run: Policy, asked: Asked, casts: Casts) -> bool:
    """Whether the run makes the same bits of edited operands, where it casts them to the same."""
    before, after = decided(run, asked), decided(run, asked, casts)
    if not isinstance(after, Plan) or after.inputs != asked.inputs:
        return not any(to.weak for to in casts.operands.values())
    return not isinstance(before, Plan) or _kernel(run, asked, before) == _kernel(run, asked, after)


def _kernel(policy: Policy, asked: Asked, plan: Plan) -> tuple[Any, ...]:
    return plan.decomposition, policy.kernel(asked.name, plan)


def compute_alike(port: Port, asked: Asked, casts: Casts) -> bool:
    """Whether all policies compute with the same dtypes and by the same kernel."""
    plans = [(policy, decided(policy, asked, casts)) for policy in port.every]
    found = {(p.inputs, *_kernel(policy, asked, p)) for policy, p in plans if isinstance(p, Plan)}
    return len(found) == 1


def may_cast_result(run: Policy, asked: Asked) -> bool:
    """Whether it gives one result, which is the expression's."""
    plan = run.plan(asked.name, asked.operands, asked.form)
    several = isinstance(plan, Plan) and bool(plan.extra_results)
    return asked.form is not Form.INPLACE and not several


# -- what it loses --------------------------------------------------------------------------------


def lost(port: Port, asked: Asked, casts: Casts) -> str:
    """Say what an edit loses that the run does not; "" if nothing."""
    said: dict[str, list[str]] = {}
    for index, to in casts.operands.items():
        source = strong_of(asked.operands[index].type)
        strange = not to.weak and to is not asked.inputs[index]
        if strange and (words := loss(source, to)):
            said.setdefault(f"x{index + 1} to {to.name} {words}", [])
    for policy in port.policies if casts.result else ():
        plan = decided(policy, asked, casts)
        if not isinstance(plan, Plan):
            continue
        answer = policy.strong(plan.result)
        if _keeps_low_bits(asked.wanted, answer):
            continue
        narrow = [b for a, b in zip(asked.inputs, plan.inputs, strict=True) if gravity(a, b)[0]]
        words = f"computed in {narrow[0].name}" if narrow else loss(answer, asked.wanted)
        if words:
            said.setdefault(words, []).append(policy.name)
    return "; ".join(f"{words} under {', '.join(n)}" if n else words for words, n in said.items())


def _keeps_low_bits(wanted: DType, made: DType) -> bool:
    """Whether an integer has all low bits of another, which a cast keeps."""
    whole = wanted.kind in INTEGERS and made.kind in INTEGERS
    return whole and made.bits >= wanted.bits


def cost_of(port: Port, asked: Asked, casts: Casts) -> tuple[float, ...]:
    """Return what is worse about casts than about others: what they lose, then how many.

    An int is rather made another int than a float.
    """
    given = [
        (strong_of(asked.operands[i].type), to)
        for i, to in casts.operands.items()
        if asked.inputs[i] is not to  # else the run makes that cast, too
    ]
    losses = [gravity(*each) for each in given]
    floats = sum(to.kind is Kind.FLOAT and source.kind.category < 2 for source, to in given)
    narrower = 0
    for policy in port.every:
        plan = decided(policy, asked, casts)
        if isinstance(plan, Plan):
            answer = policy.strong(plan.result)
            modular = _keeps_low_bits(asked.wanted, answer)
            losses.append(gravity(asked.wanted if modular else answer, asked.wanted))
            narrower += sum(
                gravity(mine, its)[0] > 0 and not (modular and _keeps_low_bits(mine, its))
                for mine, its in zip(asked.inputs, plan.inputs, strict=True)
            )
    levels, bits = zip(*losses, strict=True) if losses else ((0,), (0.0,))
    return max(levels), narrower, floats, sum(bits), len(casts.operands)


# -- candidates --------------------------------------------------------------------------------


def candidates(
    port: Port,
    asked: Asked,
    numbers: Mapping[int, DType],
    *,
    alike: bool = False,
    kernels: bool = True,
) -> Iterator[Casts]:
    """Yield edits after which the run and every policy answer what the run answered.

    ``numbers`` has the operands that may be written as a Python number, and of which weak type.
    With ``alike`` dtypes are the same already, and all shall compute as the run does; with
    ``kernels`` those come first after which all compute by the same kernel.
    """
    as_in_the_run = [Casts(each) for each in _as_in_the_run(asked)]
    right = [casts for casts in as_in_the_run if agree(port, asked, casts)]
    same = [each for each in right if compute_alike(port, asked, each)] if alike | kernels else []
    if alike:
        rows = [each._replace(rows=True) for each in as_in_the_run if _has_rows(asked, each)]
        yield from same
        yield from (e for e in rows if agree(port, asked, e) and compute_alike(port, asked, e))
        return
    for size in range(1, len(numbers) + 1):
        every = (Casts(dict(chosen)) for chosen in combinations(numbers.items(), size))
        yield from (casts for casts in every if holds(port, asked, casts))
    yield from (*same, *(each for each in right if each not in same))
    yield from _losing_least(port, asked, as_in_the_run)


def _losing_least(port: Port, asked: Asked, as_in_the_run: list[Casts]) -> Iterator[Casts]:
    """Other casts that a refusal proposes, and casts of the result, those first that lose least."""
    refusing = [p for p in port.every if isinstance(decided(p, asked), Refusal)]
    proposed = [casts for policy in refusing for casts in _accepted(policy, asked)]
    if refusing or not any(agree(port, asked, each) for each in as_in_the_run):
        proposed += _to_the_widest(asked)
    tried: list[Casts] = []
    every = [Casts(), *as_in_the_run, *map(Casts, proposed)]
    for casts in sorted(every, key=lambda casts: cost_of(port, asked, casts)):
        if casts in tried or not _keeps_sort(asked, casts):
            continue
        tried.append(casts)
        if agree(port, asked, casts):
            if casts.operands and casts not in as_in_the_run:
                yield casts
        elif may_cast_result(port.run, asked):
            with_result = casts._replace(result=asked.wanted)
            if agree(port, asked, with_result):
                yield with_result


def _accepted(policy: Policy, asked: Asked) -> Iterator[Mapping[int, DType]]:
    """The casts that a refusal proposes."""
    seen = tuple(adopted(policy, o) for o in asked.operands)
    refusal = decided(policy, asked)
    if isinstance(refusal, Refusal) and refusal.error is not None:
        values = tuple(o.value if o.rank is Rank.SCALAR else None for o in asked.operands)
        found = accepted_for_value(policy, asked.name, seen, values, asked.form)
    else:
        found = accepted_casts(policy, asked.name, seen, asked.form)
    if found is not None:
        yield dict(found[0])


def _keeps_sort(asked: Asked, casts: Casts) -> bool:
    """Whether casts make no integers of floats, which would lose what the run computes with.

    What only asks for truth takes bools of anything.
    """
    truth = OPERATIONS[asked.name].family in (Family.LOGICAL, Family.TRUTH)
    kinds = [(strong_of(asked.operands[i].type).kind, to.kind) for i, to in casts.operands.items()]
    return truth or all(to.category >= kind.category for kind, to in kinds)


def _to_the_widest(asked: Asked) -> list[dict[int, DType]]:
    """Casts of all arrays to int64, and to float64."""
    first = 1 if asked.form is Form.INPLACE else 0
    arrays = {i: o.type for i, o in enumerate(asked.operands) if o.rank is not Rank.SCALAR}
    return [
        {i: wide for i, dtype in arrays.items() if dtype is not wide and i >= first}
        for wide in (WIDEST["i*"], WIDEST["f*"])
    ]


def _has_rows(asked: Asked, casts: Casts) -> bool:
    """Whether Python scalars are cast that may become arrays of one axis beside another array.

    For policies that have 0-d arrays as scalars; else the result would have an axis more.
    """
    arrays = any(operand.rank is Rank.ARRAY for operand in asked.operands)
    return arrays and not casts.operands.keys().isdisjoint(asked.scalars)


def _as_in_the_run(asked: Asked) -> Iterator[dict[int, DType]]:
    """Casts of some operands to what they became in the run, the fewest first."""
    became = dict(enumerate(asked.inputs))
    first = 1 if asked.form is Form.INPLACE else 0  # the target keeps its dtype
    open_ = [
        i
        for i in became
        if i >= first and (asked.operands[i].type is not became[i] or i in asked.weak)
    ]
    sizes = range(1, len(open_) + 1) if len(open_) <= _FEW else (len(open_),)
    for size in sizes:
        every = combinations(open_, size)
        for chosen in sorted(every, key=lambda some: len({*some} & {*asked.scalars})):
            yield {i: became[i] for i in chosen}


_FEW = 4
"""Of more operands all or none are cast."""
