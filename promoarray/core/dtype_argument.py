"""Functions of a dtype that is asked for, as ``sum(x, dtype=...)``: the cast of the operand, the
function and the cast of its result, kept as one executable for the fast path.

Only of NumPy's buffers, where nobody observes, and of dtypes of ours: observers hear of each part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.backends.numpy.fp_warnings import telling
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.executable_cache import Choice, Executable, operation_key, told_apart
from promoarray.core.observers import observers_anywhere
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy

Buffer = Any
Run = Callable[..., "Buffer | None"]


def keep(name: str, x: object, entered: Array, asked: object) -> None:
    """Keep what was done with an array, which was cast to the dtype asked for, and so was the
    result."""
    if observers_anywhere or type(asked) is not DType or not isinstance(x, Array):
        return
    policy, written = entered._policy or get_policy(), name + Form.FUNCTION
    given, inner = operation_key(written, (x,)), operation_key(written, (entered,))
    if given is None or inner is None or not policy.keeps_named(asked.name):
        return
    known, choice = policy.executables.get(inner), None
    if type(known) is Choice:
        choice = known
        if choice.flat and not entered.ndim:
            return
        known = choice.by_case.get(told_apart((entered,), choice))
    if known is None or type(known.result) is not DType or x.dtype is dt.string:
        return
    key = *given, asked.name
    made = _between(policy, storage_dtype(x), known, policy.canonical.get(asked, asked))
    if choice is None:
        policy.executables[key] = made
    else:
        outer = policy.executables.setdefault(key, choice._replace(by_case={}))
        outer.keep(told_apart((x, asked), choice), made)


def _between(policy: Policy, source: DType, known: Executable, target: DType) -> Executable:
    """A function between a cast to a dtype and one of its result to the same."""
    there, back = (source, target), (known.result, target)
    ways = [None if a is b else (a, b, *policy.cast.plan(a, b)) for a, b in (there, back)]
    run = _chain(known.run, *(way and backend.caster(*way) for way in ways))
    kernel = None
    if known.kernel is not None:
        kernel = telling(_chain(known.kernel, *(way and _short(*way) for way in ways)))
    return Executable(run, (None,), target, (), kernel)


def _short(*way: Any) -> Run:
    return backend.short_caster(*way) or backend.caster(*way)


def _chain(function: Run, there: Run | None, back: Run | None) -> Run:
    """One after the other; None if one of them leaves it to others."""

    def run(buffer: Buffer, **options: Any) -> Buffer | None:
        given = buffer if there is None else there(buffer)
        out = None if given is None else function(given, **options)
        return out if back is None or out is None else back(np.asarray(out))

    return run
