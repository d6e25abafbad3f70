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
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.core import host
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import of_library, of_promoarray
from promoarray.core.cast import scalar
from promoarray.core.observers import CastEvent, OperationEvent, SetitemEvent
from promoarray.core.operands import operand_of
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.compare.probe import Probe
from promoarray.diagnostics.port.final import Final, final_values
from promoarray.diagnostics.port.routes import differing, routes
from promoarray.diagnostics.shadow.common_fixes import Asked, adopted, as_given
from promoarray.diagnostics.shadow.magnitude import magnitude
from promoarray.dtypes import WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.in_force import process_default
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

DEFAULT_DTYPE, SETITEM, ASTYPE = "default dtype", "setitem", "astype"
"""What is recorded besides operations."""


class Span(NamedTuple):
    """From where to where in a file an expression goes; columns are in bytes, as Python counts."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    stores: bool = False  # an assignment to an element, of which this is the target


@dataclass(frozen=True, slots=True)
class Seen:
    """An operation at a place of the program, on operands of some dtypes.

    Attributes
    ----------
    span : Span
    asked : Asked
    results : tuple of DType
        Of all of its results.
    answers : dict
        From the policies that answer otherwise to what they answer; None where they refuse.
    reasons : dict
        From the policies that refuse to why.
    weak : tuple of str
        The policies that hold the array weakly, which the run does not.
    computed : tuple of str
        The policies that compute other values of the same dtype.
    values : dict
        From the policies of whose explicit cast other values come to how many, in words.
    routes : tuple of DType
        The dtypes by way of which such a cast gives the same values under all policies.
    wrapped : tuple of int
        The Python scalars that the run made another number of.
    names : tuple of str
        The names by which promoarray is known there.
    inside : bool
        Whether the operation is one of a library, which the program called here.
    """

    span: Span
    asked: Asked
    results: tuple[DType, ...]
    answers: dict[str, DType | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    weak: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
    routes: tuple[DType, ...] = ()
    wrapped: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    inside: bool = False

    @property
    def concerned(self) -> tuple[str, ...]:
        """The policies that do something else here."""
        return (*self.answers, *self.values, *self.weak, *self.computed)


class Recorded(NamedTuple):
    """What one run of a program was.

    Attributes
    ----------
    seen : list of Seen
    final : dict
        From the name of each of its globals at the end to what it is.
    """

    seen: list[Seen]
    final: dict[str, Final]


@dataclass
class Recording(Probe):
    """Records a run, in its process.

    Attributes
    ----------
    policies : tuple of str
        The policies to ask besides.
    """

    policies: tuple[str, ...]
    _seen: dict[Hashable, Seen] = field(default_factory=dict)
    _spans: dict[tuple[int, int], tuple[CodeType, Span, bool]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with nothing recorded."""
        self._asked = tuple(as_policy(name) for name in self.policies)
        self._folder = os.getcwd()
        self._seen, self._spans = {}, {}

    def ended(self, names: dict[str, Any]) -> Recorded:
        """Return what was recorded, and the globals."""
        return Recorded([*self._seen.values()], final_values(names))

    # -- what observers are told ------------------------------------------------------------------

    def on_operation(self, event: OperationEvent) -> None:
        """Record an operation, if it is none like those before."""
        if _bound(event.policy, event.result):
            return
        span, inside, frame = self._place()
        key = span, event.name, event.form, event.plan.result, *map(_alike, event.operands)
        if key in self._seen:
            return
        results = tuple(map(event.policy.strong, (event.plan.result, *event.plan.extra_results)))
        operands = tuple(_operand(x, event.policy) for x in event.operands)
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
            elif own != _computation(
                policy, event.name, decided.plan, event.operands, decided.values
            ):
                computed.append(policy.name)
        # Casts make strong what JAX holds weakly: then the run itself may answer otherwise.
        held = event.policy.plan(event.name, operands, event.form) if _weak(event) else event.plan
        same = isinstance(held, Plan) and event.policy.strong(held.result) is results[0]
        wrapped = tuple(
            i
            for i, (x, held) in enumerate(zip(event.operands, event.values, strict=True))
            if type(x) is int and type(held) is int and x != held
        )
        self._seen[key] = Seen(
            span,
            asked,
            results,
            answers,
            reasons,
            weak=() if same else self.policies,
            computed=tuple(computed),
            wrapped=wrapped,
            names=_names(frame),
            inside=inside,
        )

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Record what an array of Python numbers is."""
        run = process_default()
        if _bound(run, result):
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
        self._seen[key] = Seen(
            span,
            asked,
            (wanted,),
            {**answers},
            weak=tuple(kept) if weak.code != "b*" else (),
            names=_names(frame),
            inside=inside,
        )

    def on_cast(self, cast: CastEvent) -> None:
        """Record an explicit cast, and by which ways its values are the same everywhere."""
        run, array, result, source, target = cast[:5]
        if _bound(run, result) or "string" in (source.name, target.name):
            return
        span, inside, frame = self._place()
        key = span, ASTYPE, source, target
        known = self._seen.get(key)
        values = differing(run, self._asked, array, source, target)
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
        self._seen[key] = Seen(
            span,
            asked,
            (target,),
            refused,
            reasons,
            values=values,
            routes=left,
            names=_names(frame),
            inside=inside,
        )

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Record a value written into an array."""
        run, target, value, source, dtype = assignment
        if _bound(run, target) or "string" in (source.name, dtype.name):
            return
        span, inside, frame = self._place()
        key = span, SETITEM, source, dtype, _alike(value)
        if key in self._seen:
            return
        operands = _operand(target, run), _operand(value, run)
        asked = Asked(SETITEM, Form.INPLACE, operands, (dtype, dtype), dtype)
        reasons = {p.name: why for p in self._asked if (why := _not_stored(p, target, value))}
        refused: dict[str, DType | None] = dict.fromkeys(reasons)
        self._seen[key] = Seen(
            span, asked, (dtype,), refused, reasons, names=_names(frame), inside=inside
        )

    # -- where ------------------------------------------------------------------------------------

    def _place(self) -> tuple[Span, bool, FrameType]:
        """Where in the program this is, and whether inside of a library it called there."""
        frame = sys._getframe(1)
        while frame.f_back is not None and of_promoarray(frame):
            frame = frame.f_back
        inside = of_library(frame)
        while frame.f_back is not None and of_library(frame):
            frame = frame.f_back
        key = id(frame.f_code), frame.f_lasti
        known = self._spans.get(key)
        if known is None:
            known = self._spans[key] = frame.f_code, self._span(frame), inside
        return known[1], inside, frame

    def _span(self, frame: FrameType) -> Span:
        code = frame.f_code
        where = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
        line, end_line, column, end_column = (-1 if n is None else n for n in where)
        file = code.co_filename
        if not file.startswith("<"):
            file = os.path.join(self._folder, file)
        stores = code.co_code[frame.f_lasti] == opmap["STORE_SUBSCR"]
        if line < 0:
            line = frame.f_lineno
        return Span(file, line, column, end_line, end_column, stores)


def _bound(policy: Policy, array: Array) -> bool:
    """Whether an operation is carried out under a policy of its own, whatever that of the run."""
    return type(array)._policy is not None or policy is not process_default()


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


def _operand(x: Any, run: Policy) -> Operand:
    """An operand of the run, with the value of a 0-d one; of arrays the dtype they are held in."""
    operand = operand_of(x, _BY_VALUE)
    if operand.rank is Rank.SCALAR:
        return operand
    return operand._replace(type=run.strong(operand.type))


def _weak(event: OperationEvent) -> bool:
    """Whether an operand is an array that JAX holds weakly."""
    return any(o.rank is not Rank.SCALAR and o.type.weak for o in event.seen)


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


def _names(frame: FrameType) -> tuple[str, ...]:
    """The names of promoarray in a frame, those first that are given there."""
    inner = frame.f_locals
    outer = {} if inner is frame.f_globals else frame.f_globals
    return (*_namespaces(inner), *(name for name in _namespaces(outer) if name not in inner))


def _namespaces(names: dict[str, Any]) -> Iterator[str]:
    for name, value in list(names.items()):
        if value is sys.modules.get("promoarray") and name.isidentifier():
            yield name
