"""A whole plan in one kernel, where the backend has such kernels: no operand is written in between.

Where it has not (``fused`` in ``promoarray.backends``), the casts and the operation go one by one.
A kernel that can be kept (``prepared``) is found again by the types of its operands: launching it
is all that is left to do of an operation that was done before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import scalar
from promoarray.core.operands import fitted
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Plan
from promoarray.promotion.policy import Policy


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
    if run is None or plan.extra_results or plan.decomposition or options.keys() - _OPTIONS:
        return None
    if policy.kernel(name, plan) != name:
        return None
    operands, held = [], []
    for x, dtype in zip(values, plan.inputs, strict=True):
        is_scalar = type(x) in WEAK
        operands.append(scalar(policy, x, dtype) if is_scalar else x._buffer)
        held.append(dtype if is_scalar else storage_dtype(x))
    if dt.string in held:
        return None
    strong = _strong(policy, plan)
    out = run(name, tuple(operands), tuple(held), strong, policy.cast.plan, **options)
    return None if out is None else (out,)


_OPTIONS = frozenset({"condition", "low", "high"})
"""Those of ``where`` and of ``clip``."""


@lru_cache(maxsize=4096)
def _strong(policy: Policy, plan: Plan) -> Plan:
    """The plan with its result as it is in memory."""
    return plan._replace(result=policy.strong(plan.result))


# --- Kernels that are kept -----------------------------------------------------------------------


def run_cached(name: str, operands: tuple[Any, ...]) -> Any:
    """The result of an operation whose kernel was kept; None if none was.

    Parameters
    ----------
    name : str
    operands : tuple
        Whatever was given; kernels are kept for arrays of one class and Python scalars.
    """
    cls: Any = None
    for x in operands:
        kind = type(x)
        if kind not in WEAK:
            if not issubclass(kind, Array) or type(x._buffer) is np.ndarray:
                return None  # a CPU's buffer has ways of its own (_short_way, backends.blocks)
            if cls is not kind and cls is not None:
                return None
            cls = kind
    if cls is None:
        return None
    policy = cls._policy or get_policy()
    kept = policy.executables.get(_key(name, operands))
    if kept is None:
        return None
    launch, enters, label = kept
    given = []
    for x, enter in zip(operands, enters, strict=True):
        if enter is None:
            given.append(x._buffer)
            continue
        fit, dtype = enter
        value = fit(x, dtype)
        if type(value) is not type(x):  # an int beyond all others compares as an infinity
            return None
        given.append(fitted(policy, value, dtype))
    out = launch(*given)
    return None if out is None else cls._wrap(out, label)


def cache_launch(name: str, policy: Policy, operands: tuple[Any, ...], plan: Plan) -> None:
    """Keep the kernel of a plan that was carried out, if it serves all operands of these types."""
    buffer = next((x._buffer for x in operands if type(x) not in WEAK), None)
    if buffer is None or type(buffer) is np.ndarray:
        return
    prepared = getattr(backend_of(buffer), "prepared", None)
    if prepared is None or plan.extra_results or plan.decomposition or policy.by_value is not None:
        return
    if policy.kernel(name, plan) != name:
        return
    held, enters = [], []
    for i, (x, dtype) in enumerate(zip(operands, plan.inputs, strict=True)):
        is_scalar = type(x) in WEAK
        if not is_scalar and (type(x._type) is not DType or x._type.weak):
            return  # a record that one shadow run made; or what does not tell what it holds
        held.append(dtype if is_scalar else storage_dtype(x))
        enters.append((policy.scalars.rule(name, i, dtype), dtype) if is_scalar else None)
    launch = prepared(name, tuple(held), _strong(policy, plan), policy.cast.plan)
    if launch is not None:
        policy.executables[_key(name, operands)] = launch, enters, plan.result


def _key(name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells the plan of an operation: types, and which arrays have no axes."""
    key: list[Any] = [name]
    for x in operands:
        kind = type(x)
        key += (kind, None) if kind in WEAK else (x._type, x._buffer.ndim == 0)
    return tuple(key)
