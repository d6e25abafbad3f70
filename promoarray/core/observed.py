"""Operations that are observed: what was decided for one is kept for all that are alike.

The fast path and ``executable.find`` need no plan to run an operation; observers are told it. So it
is kept beside the executable, under the operands' types and ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from promoarray.core.array_base import Array, type_of
from promoarray.core.executable import Executable, fitting
from promoarray.core.kept import plain
from promoarray.core.operands import scalar_buffer
from promoarray.dtypes import WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Plan
from promoarray.promotion.policy import Policy

Key = tuple[object, ...]


class Known(NamedTuple):
    """What is known of an operation on operands of some types.

    Attributes
    ----------
    executable : Executable
    plan : Plan
    seen : tuple of Operand
    fits : tuple of (callable or None)
        What makes each Python scalar fit the dtype that it becomes.
    """

    executable: Executable
    plan: Plan
    seen: tuple[Operand, ...]
    fits: tuple[Callable[[Any, DType], Any] | None, ...]


class Ready(NamedTuple):
    """A call that can be run and told: what is known, and the operands' values and buffers."""

    known: Known
    policy: Policy
    array_class: Any
    values: tuple[Any, ...]
    buffers: tuple[Any, ...]


def key_of(
    name: str, form: Form, operands: tuple[Any, ...], bounds: tuple[Any, ...]
) -> tuple[Any, Key] | None:
    """Return the class of the arrays and the key; None if not all are arrays of one class."""
    cls: Any = None
    key: list[object] = ["observed", name + form, *bounds]
    for x in operands:
        kind = type(x)
        if kind in WEAK:
            key.append(kind)
            continue
        if kind is not cls:
            if cls is not None or not issubclass(kind, Array):
                return None
            cls = kind
        buffer, dtype = x._buffer, type_of(x._type)
        key += (dtype, type(buffer), not buffer.shape, dtype.weak and buffer.dtype)
    return None if cls is None else (cls, tuple(key))


def ready(
    name: str,
    form: Form,
    operands: tuple[Any, ...],
    options: Mapping[str, Any],
    bounds: tuple[Any, ...],
) -> Ready | None:
    """Return a call that was met before, ready to run; None where it has to be decided."""
    found = key_of(name, form, operands, bounds)
    if found is None:
        return None
    cls, key = found
    policy = cls._policy or get_policy()
    known: Known | None = policy.executables.get(key)
    if known is None or not plain(options):
        return None
    values, buffers = [], []
    for x, fit, dtype in zip(operands, known.fits, known.plan.inputs, strict=True):
        if fit is None:
            values.append(x)
            buffers.append(x._buffer)
            continue
        value = fitting(fit, dtype, x)
        if value is None:
            return None
        values.append(value)
        buffers.append(scalar_buffer(policy, value, dtype))
    return Ready(known, policy, cls, tuple(values), tuple(buffers))


def keep(
    name: str,
    form: Form,
    policy: Policy,
    operands: tuple[Any, ...],
    seen: tuple[Operand, ...],
    plan: Plan,
    executable: Executable,
    bounds: tuple[Any, ...] = (),
) -> None:
    """Keep what was decided, unless the policy looked at values."""
    found = key_of(name, form, operands, bounds)
    if found is None or any(operand.value is not None for operand in seen):
        return
    if policy.may_square(name, seen, form):
        return
    first, low = seen[0].type, bounds[0] if bounds else True
    alone = all(type(x) in WEAK for x in operands)
    rule = partial(policy.scalars.rule, name, first=first, low=low, alone=alone)
    fits = tuple(
        rule(index, dtype) if type(x) in WEAK else None
        for index, (x, dtype) in enumerate(zip(operands, plan.inputs, strict=True))
    )
    policy.executables[found[1]] = Known(executable, plan, seen, fits)
