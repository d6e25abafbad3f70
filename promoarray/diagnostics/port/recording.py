"""What a program computed, operation by operation, and what other policies would have answered.

Recorded are the operations of each expression of the program once for all operands that are alike,
so that an edit can be found later, which holds for all of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.core import host
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import assigns, of_library, outside, part_of
from promoarray.core.cast import scalar
from promoarray.core.events import CastEvent, OperationEvent, SetitemEvent
from promoarray.core.operands import operand_of
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.edits.occurrence import (
    ASTYPE,
    DEFAULT_DTYPE,
    SETITEM,
    Asked,
    Occurrence,
    Span,
)
from promoarray.diagnostics.edits.spelling import SPELLINGS
from promoarray.diagnostics.model.final import Final, final_values
from promoarray.diagnostics.port.routes import differing, routes
from promoarray.diagnostics.run.probe import Probe
from promoarray.diagnostics.shadow.as_given import adopted, as_given
from promoarray.diagnostics.shadow.magnitude import magnitude
from promoarray.diagnostics.shadow.slots import as_seen_by
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.in_force import process_default
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


class Recorded(NamedTuple):
    """What one run of a program was.

    Attributes
    ----------
    seen : list of Occurrence
    final : dict
        From the name of each of its globals at the end to what it is.
    """

    seen: list[Occurrence]
    final: dict[str, Final]


@dataclass
class Recording(Probe):
    """Records a run, in its process.

    Attributes
    ----------
    policies : tuple of str
        The policies to ask besides.
    framework : str
        That of a program that is recorded, which runs under no policy of promoarray's.
    wanted : str
        The policy whose dtypes the program shall keep, if not that of the run.
    edited : bool
        Whether the operation that it is told of next stands in the source as it is.
    """

    policies: tuple[str, ...]
    framework: str = ""
    wanted: str = ""
    edited: bool = True
    _seen: dict[Hashable, Occurrence] = field(default_factory=dict)
    _spans: dict[tuple[int, int], tuple[CodeType, Span, bool]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with nothing recorded."""
        self._asked = tuple(as_policy(name) for name in self.policies)
        self._wanted = as_policy(self.wanted) if self.wanted else None
        self._folder = os.getcwd()
        self._seen, self._spans = {}, {}

    def ended(self, names: dict[str, Any]) -> Recorded:
        """Return what was recorded, and the globals."""
        return Recorded([*self._seen.values()], final_values(names))

    # -- what observers are told ------------------------------------------------------------------

    def on_operation(self, event: OperationEvent) -> None:
        """Record an operation, if it is none like those before."""
        if self._bound(event.policy, event.result):
            return
        wanted = self._as_wanted(event)
        if wanted is None:
            return
        event = wanted
        span, inside, frame = self._place()
        key = span, event.name, event.form, event.plan.result, *map(_alike, event.operands)
        operands = tuple(self._operand(x, event.policy) for x in event.operands)
        key = *key, *(operand.type for operand in operands)
        if key in self._seen:
            return
        results = tuple(map(event.policy.strong, (event.plan.result, *event.plan.extra_results)))
        asked = Asked(event.name, event.form, operands, event.plan.inputs, results[0])
        answers: dict[str, DType | None] = {}
        reasons: dict[str, str] = {}
        computed = []
        own = _computation(event.policy, event.name, event.plan, event.operands, event.values)
        for policy in self._asked:
            seen = tuple(adopted(policy, o) for o in operands)
            given = event.name, seen, event.operands, event.form
            decided = policy.decide(*given, options=event.options)
            if isinstance(decided, Refusal):
                answers[policy.name], reasons[policy.name] = None, decided.reason
                continue
            made = (decided.plan.result, *decided.plan.extra_results)
            if tuple(map(policy.strong, made)) != results:
                answers[policy.name] = policy.strong(made[0])
            elif not self.framework and own != _computation(
                policy, event.name, decided.plan, event.operands, decided.values
            ):
                computed.append(policy.name)
        # Casts make strong what JAX holds weakly: then the run itself may answer otherwise.
        held = event.policy.plan(event.name, operands, event.form) if _weak(event) else event.plan
        same = isinstance(held, Plan) and event.policy.strong(held.result) is results[0]
        weak = () if same else self.policies
        wrapped = tuple(
            i
            for i, (x, held) in enumerate(zip(event.operands, event.values, strict=True))
            if type(x) is int and type(held) is int and x != held
        )
        self._seen[key] = Occurrence(
            span,
            asked,
            results,
            answers,
            reasons,
            weak=weak,
            computed=tuple(computed),
            wrapped=wrapped,
            edited=self.edited,
            **self._at(frame, inside),
        )

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Record what an array of Python numbers is."""
        run = self._run_of(result)
        if self._bound(run, result):
            return
        span, inside, frame = self._place()
        key = span, DEFAULT_DTYPE, weak, lone
        if key in self._seen:
            return
        wanted = run.strong(weak)
        asked = Asked(
            DEFAULT_DTYPE, Form.FUNCTION, (Operand(weak, Rank.SCALAR),), (wanted,), wanted
        )
        answers = {p.name: p.strong(weak) for p in self._asked if p.strong(weak) is not wanted}
        kept = [p.name for p in self._asked if lone and p.weak_arrays and not run.weak_arrays]
        self._seen[key] = Occurrence(
            span,
            asked,
            (wanted,),
            {**answers},
            weak=tuple(kept) if weak.code != "b*" else (),
            **self._at(frame, inside),
        )

    def on_cast(self, cast: CastEvent) -> None:
        """Record an explicit cast, and by which ways its values are the same everywhere."""
        run, array, result, source, target = cast[:5]
        if self._bound(run, result) or "string" in (source.name, target.name):
            return
        span, inside, frame = self._place()
        key = span, ASTYPE, source, target
        known = self._seen.get(key)
        values = differing(run, self._asked, array, source, target) if array.size else {}
        if known is not None and not values and not known.values:
            return
        left = routes(run, self._asked, array, source, target) if values else ()
        if known is not None and known.values:
            left = tuple(r for r in known.routes if r in left) if values else known.routes
            values = known.values | values
        asked = Asked(ASTYPE, Form.FUNCTION, (Operand(source), Operand(target)), (source,), target)
        refusals = {p.name: cast_refusal(p, p.strong(source), target) for p in self._asked}
        reasons = {name: why for name, why in refusals.items() if why}
        refused: dict[str, DType | None] = dict.fromkeys(reasons)
        self._seen[key] = Occurrence(
            span,
            asked,
            (target,),
            refused,
            reasons,
            values=values,
            routes=left,
            **self._at(frame, inside),
        )

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Record a value written into an array."""
        run, target, value, source, dtype = assignment
        if self._bound(run, target) or "string" in (source.name, dtype.name):
            return
        span, inside, frame = self._place()
        key = span, SETITEM, source, dtype, _alike(value)
        if key in self._seen:
            return
        operands = self._operand(target, run), self._operand(value, run)
        asked = Asked(SETITEM, Form.INPLACE, operands, (dtype, dtype), dtype)
        reasons = {p.name: why for p in self._asked if (why := _not_stored(p, target, value))}
        refused: dict[str, DType | None] = dict.fromkeys(reasons)
        self._seen[key] = Occurrence(
            *(span, asked, (dtype,), refused, reasons),
            wrapped=(1,) if _beyond(value, dtype) else (),
            **self._at(frame, inside),
        )

    # -- of programs that are recorded ------------------------------------------------------------

    def _bound(self, policy: Policy, array: Array) -> bool:
        """Whether an operation is carried out under a policy of its own, whatever the run's."""
        if self.framework:
            return False
        return type(array)._policy is not None or policy is not process_default()

    def _run_of(self, result: Array) -> Policy:
        return self._wanted or result._policy or process_default()

    def _as_wanted(self, event: OperationEvent) -> OperationEvent | None:
        """An operation as the policy does it whose dtypes are kept; None if it refuses."""
        run = self._wanted
        if run is None or run is event.policy:
            return event
        seen = tuple(self._operand(x, run) for x in event.operands)
        decided = run.decide(event.name, seen, event.operands, event.form, options=event.options)
        if isinstance(decided, Refusal):
            return None
        return event._replace(policy=run, seen=seen, plan=decided.plan, values=decided.values)

    def _operand(self, x: Any, run: Policy) -> Operand:
        """An operand of the run, with the value of a 0-d one; of arrays the dtype they are held in.

        Where the program shall keep another policy's dtypes, it is what that policy has seen.
        """
        operand = operand_of(x, _BY_VALUE)
        if operand.rank is Rank.SCALAR:
            return operand
        kept = operand.type if self._wanted is None else as_seen_by(run, x).type
        return operand._replace(type=run.strong(kept))

    # -- where ------------------------------------------------------------------------------------

    def _place(self) -> tuple[Span, bool, FrameType]:
        """Where in the program this is, and whether inside of a library it called there."""
        frame = outside()
        assert frame is not None  # the program that computes
        inside = of_library(frame)
        while frame.f_back is not None and of_library(frame):
            frame = frame.f_back
        key = id(frame.f_code), frame.f_lasti
        known = self._spans.get(key)
        if known is None:
            known = self._spans[key] = frame.f_code, self._span(frame), inside
        return known[1], inside, frame

    def _at(self, frame: FrameType, inside: bool) -> dict[str, Any]:
        """What is noted of the place."""
        names = tuple(_names(frame, SPELLINGS[self.framework].module))
        return {"names": names, "inside": inside, "framework": self.framework}

    def _span(self, frame: FrameType) -> Span:
        code = frame.f_code
        where = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
        line, end_line, column, end_column = (-1 if n is None else n for n in where)
        file = code.co_filename
        if not file.startswith("<"):
            file = os.path.join(self._folder, file)
        stores = assigns(code, frame.f_lasti)
        if line < 0:
            line = frame.f_lineno
        part = part_of(code, frame.f_lasti)
        return Span(file, line, column, end_line, end_column, stores, part)


def _computation(
    policy: Policy, name: str, plan: Plan, given: tuple[Any, ...], values: tuple[Any, ...]
) -> Hashable:
    """What a policy computes: with which dtypes and numbers, and by which kernel."""
    inputs = tuple(
        repr(host.decoded(scalar(policy, value, dtype), dtype)) if type(x) in WEAK else dtype
        for x, value, dtype in zip(given, values, plan.inputs, strict=True)
    )
    return inputs, plan.decomposition, policy.kernel(name, plan)


def _alike(x: Any) -> Hashable:
    """What two operands have in common that all policies see alike."""
    if type(x) in WEAK:
        return magnitude(x), type(x) is float and _short(x)
    flat = x._buffer.ndim == 0
    return type_of(x._type), flat, magnitude(x._decoded().item()) if flat else None


def _short(x: float) -> tuple[bool, ...]:
    """Which floats hold a number as it is."""
    with np.errstate(all="ignore"):
        return tuple(float(np.float64(x).astype(kind)) == x for kind in _FLOATS)


_FLOATS = np.float32, np.float16, dt.bfloat16.storage

_BY_VALUE = as_policy("numpy@1")


def _weak(event: OperationEvent) -> bool:
    """Whether an operand is an array that JAX holds weakly."""
    return any(o.rank is not Rank.SCALAR and o.type.weak for o in event.seen)


def _beyond(value: Any, dtype: DType) -> bool:
    """Whether a Python int is one that a dtype of integers does not hold."""
    if type(value) is not int or dtype.kind not in INTEGERS:
        return False
    sign = dtype.kind is Kind.INT
    low, high = (-1 << dtype.bits - 1 if sign else 0), 1 << dtype.bits - sign
    return not low <= value < high


def _not_stored(policy: Policy, target: Array, value: Any) -> str:
    """Why a policy does not write a value; "" if it does."""
    dtype = policy.strong(as_given(policy, target).type)
    if type(value) not in WEAK:
        return policy.assigns(policy.strong(as_given(policy, value).type), dtype) or ""
    try:
        policy.assigned(value, dtype)
    except (TypeError, OverflowError, ValueError) as error:
        return str(error)
    return ""


def _names(frame: FrameType, module: str) -> Iterator[str]:
    """The names of a module in a frame, those first that are given there."""
    inner, found = frame.f_locals, sys.modules.get(module)
    outer = {} if inner is frame.f_globals else frame.f_globals
    for names in (inner, {n: x for n, x in outer.items() if n not in inner}):
        yield from (n for n, x in list(names.items()) if x is found and n.isidentifier())
