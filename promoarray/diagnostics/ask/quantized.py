"""Quantization by policy: who does not quantize so, to which dtype, and with which other values."""

from __future__ import annotations

from typing import Any

from promoarray.core.array_base import type_of
from promoarray.core.call_site import sites
from promoarray.core.events import QuantizeEvent
from promoarray.diagnostics.ask.operations import Verdict, others, words_of
from promoarray.diagnostics.ask.values import decoded, other_values
from promoarray.diagnostics.model.divergence import Answer
from promoarray.diagnostics.model.slots import as_held, as_seen_by, held, record
from promoarray.diagnostics.model.values import Difference, Place
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy


def quantize_verdict(
    policies: tuple[Policy, ...], event: QuantizeEvent
) -> tuple[Verdict, list[Difference]]:
    """Ask every policy what it makes of an array that was quantized; with values that differ.

    A policy without quantization of its own computes ONNX's: that its framework has no such
    function is told as of other calls that it does not take.
    """
    run, arrays, mine = event.policy, event.arrays, type_of(event.result._type)
    stored = tuple(run.strong(type_of(x._type)) for x in arrays)
    names = words_of(map(Operand, stored))
    answers, kept, values = {run.name: Answer(mine, "", "", names)}, {}, {}
    for policy in others(policies, run):
        seen = tuple(policy.strong(as_seen_by(policy, x).type) for x in arrays)
        made = _asked(event, policy, seen)
        answers[policy.name] = answer = _answer(event, policy, seen, made)
        kept[policy.name] = answer.dtype or held(policy, mine)
        if not isinstance(made, Refusal) and made[1] is mine and seen == stored:
            values[policy.name] = made[0]
    without = "no quantization of {} is known; its values here are ONNX's"
    verdict = Verdict(
        event.name,
        names,
        answers,
        (record(mine, kept),),
        signatures=tuple(
            (policy.name, without.format(policy.title))
            for policy in policies
            if not policy.quantization.own
        ),
    )
    return verdict, _differences(event, mine, values)


def _asked(event: QuantizeEvent, policy: Policy, types: tuple[DType, ...]) -> Any:
    try:
        return event.ask(policy, types)
    except (TypeError, ValueError) as error:  # an axis that it asks for, limits that it has not
        return Refusal(str(error))


def _answer(event: QuantizeEvent, policy: Policy, seen: tuple[DType, ...], made: Any) -> Answer:
    mine, names = type_of(event.result._type), words_of(map(Operand, seen))
    dtype, reason = (None, made.reason) if isinstance(made, Refusal) else (made[1], "")
    if dtype is mine:
        return Answer(mine, "", "", names)
    given = tuple(policy.strong(as_held(policy, x).type) for x in event.arrays)
    own = made if given == seen else _asked(event, policy, given)
    origin = "root" if isinstance(own, Refusal) or own[1] is not mine else "inherits"
    return Answer(dtype, reason, origin, names)


def _differences(event: QuantizeEvent, dtype: DType, values: dict[str, Any]) -> list[Difference]:
    """Where policies make other values of the run's dtype."""
    array, made = event.arrays[0], [(decoded(x, dtype), [name]) for name, x in values.items()]
    given, mine = decoded(array._buffer, type_of(array._type)), decoded(event.result._buffer, dtype)
    # A scale is of all elements, and stands for what was given.
    return other_values(given if given.shape == mine.shape else mine, mine, made)


def place_of(event: QuantizeEvent) -> Place:
    """Where it stands, and what it is of."""
    source, target = (type_of(x._type) for x in (event.arrays[0], event.result))
    return Place(*sites(), event.name, source.name, target.name)
