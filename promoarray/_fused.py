"""A whole plan in one kernel, where the backend has such kernels: no operand is written in between.

Where it has not (``fused`` in ``promoarray.backends``), the casts and the operation go one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from promoarray import dtypes as dt
from promoarray._cast import scalar
from promoarray._operands import concrete
from promoarray.dtypes import WEAK, DType
from promoarray.kernels import Rule
from promoarray.policies.plans import Plan
from promoarray.policies.policy import Policy


def fused(
    backend: Any,
    name: str,
    policy: Policy,
    plan: Plan,
    values: tuple[Any, ...],
    options: Mapping[str, Any],
) -> tuple[Any, ...] | None:
    """Obey a plan in one kernel.

    Parameters
    ----------
    backend : module
    name : str
    policy : Policy
    plan : Plan
    values : tuple of PArray and Python scalar
    options : mapping

    Returns
    -------
    tuple of one buffer, or None
        None where the backend has no such kernel.
    """
    run = getattr(backend, "fused", None)
    if run is None or plan.more or plan.detour or options.keys() - {"condition"}:
        return None
    if policy.kernel(name, plan.compute or plan.inputs[0]) != name:
        return None
    operands, held = [], []
    for x, dtype in zip(values, plan.inputs, strict=True):
        is_scalar = type(x) in WEAK
        operands.append(scalar(policy, x, dtype) if is_scalar else x._buffer)
        held.append(dtype if is_scalar else concrete(x))
    strong = _strong(policy, plan)
    out = run(name, tuple(operands), tuple(held), strong, _casts(policy), **options)
    return None if out is None else (out,)


@lru_cache(maxsize=4096)
def _strong(policy: Policy, plan: Plan) -> Plan:
    """The plan with its result as it is in memory."""
    return replace(plan, result=policy.strong(plan.result))


@lru_cache(maxsize=256)
def _casts(policy: Policy) -> Callable[[DType, DType], Rule | None]:
    """The rule of each cast of a policy, or None where there are steps besides."""

    def rule(source: DType, target: DType) -> Rule | None:
        if dt.string in (source, target):
            return None
        found, steps = policy.cast.plan(source, target)
        return None if steps else found

    return rule
