"""Checks of what promoarray's own arrays compute, under whatever policy."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import instructions_of, outside
from promoarray.core.events import CastEvent, OperationEvent, SetitemEvent
from promoarray.diagnostics.check.gathered import Found
from promoarray.diagnostics.losses.examined import Operand, Values
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.record.checks import Asked, Checks
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.run.task import Probe
from promoarray.dtypes import DType
from promoarray.promotion.policy import NO_OPTIONS, Policy


class Looked(Probe):
    """Hands the operations of arrays to checks, those of ``promoarray check`` as well."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.begin()

    def __reduce__(self) -> tuple[Any, ...]:
        return Looked, (self._asked,)

    def begin(self) -> None:
        """Begin with nothing found."""
        self.checks = Checks(self._asked)
        self._before: tuple[Any, Any] | None = None
        self._made: dict[Any, Any] = {}  # from places to what they made last

    def ended(self, names: dict[str, Any]) -> Found:
        """Return what was lost."""
        checks = self.checks
        unread = Counter(checks.unread)
        if checks.held:
            from promoarray.diagnostics.check.lazy import left

            unread.update(left(checks))
        return Found("promoarray", checks.found(), checks.examined, unread, Flow())

    def on_write(self, event: OperationEvent | SetitemEvent) -> None:
        """Keep what is about to be written over."""
        if isinstance(event, OperationEvent):
            self._before = event.operands[0], _kept(event.operands[0])

    def on_operation(self, event: OperationEvent) -> None:
        """Look at an operation."""
        before, self._before = self._before, None
        written = before is not None and before[0] is event.operands[0]
        given = list(event.operands)
        if written and before is not None:
            given[0] = before[1]
        met = self._met(event.name, event.policy, given, event.result, event.options)
        if met is None:
            return
        if written and isinstance(met.operands[0], Values):
            met.before, met.target = met.operands[0], event.result._buffer
        else:
            self._carry(met, event)
        self.checks.operation(met)

    def _carry(self, met: Met, event: OperationEvent) -> None:
        """Note which operand is what the same line has made before."""
        last = self._made.get((met.name, met.place))
        buffer = last() if last is not None else None
        held = [getattr(x, "_buffer", None) for x in event.operands[:2]]
        if buffer is not None and any(x is buffer for x in held):
            met.fed = next(n for n, x in enumerate(held) if x is buffer)
        self._made[met.name, met.place] = weakref.ref(met.results[0].array)

    def on_cast(self, cast: CastEvent) -> None:
        """Look at a cast."""
        met = self._met("astype", cast.policy, (cast.array,), cast.result)
        if met is not None:
            self.checks.cast(met)

    def _met(
        self,
        name: str,
        policy: Policy,
        operands: Sequence[Any],
        result: Any,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> Met | None:
        """An operation with its values; None of one that is looked at later, or cannot be."""
        frame = outside()
        if frame is None:
            return None
        place, codes = instructions_of(frame)
        met = Met(name, name, (), (), frame, place, codes, options=options)
        given = [_operand(x, policy) for x in operands]
        made = _values(result, policy)
        if made is not None and None not in given:
            met.operands, met.results = [x for x in given if x is not None], (made,)
            return met
        if not self._later(met, policy, operands, result):
            self.checks.unreadable(name, _ELSEWHERE, frame)
        return None

    def _later(self, met: Met, policy: Policy, operands: Sequence[Any], result: Any) -> bool:
        """Have lazy blocks looked at when they are computed; False where that cannot be."""
        buffer = getattr(result, "_buffer", None)
        if getattr(buffer, "backend", "") != _DASK:
            return False
        from promoarray.diagnostics.check.lazy import watch

        given: list[tuple[Any, DType | None]] = []
        for x in operands:
            if not isinstance(x, Array):
                given.append((x, None))
                continue
            lone, array = _values(x, policy), getattr(x._buffer, "array", None)
            if lone is not None and not lone.array.ndim:
                given.append((lone, None))
            elif array is None:
                return False
            else:
                given.append((array, policy.strong(type_of(x._type))))
        made = buffer, policy.strong(type_of(result._type))
        return watch(self.checks, met, made, given)


_DASK = "promoarray.backends.dask"
_ELSEWHERE = "its values are not in this process's memory, or it does not go by elements"


def _kept(x: Any) -> Any:
    """An array as it is now."""
    buffer: Any = getattr(x, "_buffer", None)
    if isinstance(buffer, np.ndarray):
        return type(x)._wrap(buffer.copy(), x._type)
    if getattr(buffer, "backend", "") == _DASK:
        return type(x)._wrap(type(buffer)(buffer.array), x._type)  # of the graph as it is
    return x


def _operand(x: Any, policy: Policy) -> Operand | None:
    return _values(x, policy) if isinstance(x, Array) else x


def _values(x: Any, policy: Policy) -> Values | None:
    buffer = getattr(x, "_buffer", None)
    if not isinstance(buffer, np.ndarray):
        return None
    return Values(buffer, policy.strong(type_of(x._type)))
