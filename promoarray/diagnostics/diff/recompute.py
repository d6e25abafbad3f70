"""An operation of the run carried out again, on the same operands, under another policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import common_backend
from promoarray.core.array_base import Array, storage_dtype, type_of
from promoarray.core.dispatch import comparing
from promoarray.core.events import OperationEvent
from promoarray.core.executable import compiled
from promoarray.core.operands import scalar_buffer
from promoarray.diagnostics.model.slots import as_given
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.plan import Decision, Plan, Refusal
from promoarray.promotion.policy import Policy


def decided_on_the_same(policy: Policy, event: OperationEvent) -> Decision | Refusal:
    """What a policy decides on the very operands of the run."""
    seen = tuple(as_given(policy, x) for x in event.operands)
    return policy.decide(event.name, seen, event.operands, event.form, options=event.options)


def may_differ(policy: Policy, decision: Decision, event: OperationEvent) -> bool:
    """Whether a policy carries the operation out in another way, which may have other bits.

    It does if it casts the operands, computes or rounds otherwise than the run's policy.
    """
    own = _way(event.policy, Decision(event.plan, event.values), event)
    return bool(own != _way(policy, decision, event))


def as_it_was(event: OperationEvent, target: Array, before: Array) -> OperationEvent | None:
    """An operation in place with its target as it was; None if that was another operand, too."""
    others = [x for x in event.operands[1:] if type(x) not in WEAK and x is not target]
    if any(_share(x._buffer, target._buffer) for x in others):
        return None
    operands, values = (
        tuple(before if x is target else x for x in given)
        for given in (event.operands, event.values)
    )
    return event._replace(operands=operands, values=values)


def _share(a: Any, b: Any) -> bool:
    """Whether two buffers may lie in the same memory."""
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)


def recomputed(policy: Policy, decision: Decision, event: OperationEvent) -> tuple[Array, ...]:
    """Compute an operation of the run as a policy has decided it; return all of its results."""
    plan, values, options = _obeyed(decision, event), decision.values, event.options
    arrays = tuple(x if type(x) in WEAK else x._wrap(x._buffer, type_of(x._type)) for x in values)
    backend = common_backend(
        *(None if type(x) in WEAK else x._buffer for x in arrays), *options.values()
    )
    bounds = (options["low"], options["high"]) if "low" in options else ()
    first = as_given(policy, event.operands[0]).type
    executable = compiled(backend, event.name, policy, plan, arrays, first, bounds)
    buffers = (
        scalar_buffer(policy, x, dtype) if type(x) in WEAK else x._buffer
        for x, dtype in zip(arrays, plan.inputs, strict=True)
    )
    with np.errstate(all="ignore"):  # of which the program has not asked
        out = executable.run(*buffers, **options)
    outs = out if plan.extra_results else (out,)
    dtypes = (plan.result, *plan.extra_results)
    return tuple(event.result._wrap(*each) for each in zip(outs, dtypes, strict=True))


def _obeyed(decision: Decision, event: OperationEvent) -> Plan:
    """The plan; of a comparison with an int beyond the dtype that of the numbers themselves."""
    return comparing(decision.plan, event.operands, decision.values) or decision.plan


def _way(policy: Policy, decision: Decision, event: OperationEvent) -> Any:
    """All that the bits of the results hang on: what is cast how, and which kernel computes."""
    plan, values = _obeyed(decision, event), decision.values
    results = tuple(map(policy.strong, (plan.result, *plan.extra_results)))
    computed = plan.compute or plan.inputs[0]
    held = (dtype if type(x) in WEAK else storage_dtype(x)
            for x, dtype in zip(values, plan.inputs, strict=True))  # fmt: skip
    casts = [(*each, computed) for each in zip(held, plan.inputs, strict=True)]
    casts += [(computed, computed, result) for result in results]
    ways = tuple((_cast(policy, a, b), _cast(policy, b, c)) for a, b, c in casts)
    scalars = tuple(repr(x) for x in values if type(x) in WEAK)
    kernel = policy.kernel(event.name, plan)
    return plan.inputs, plan.compute, results, plan.decomposition, kernel, ways, scalars


def _cast(policy: Policy, source: DType, target: DType) -> Any:
    return None if source is target else policy.cast.plan(source, target)
