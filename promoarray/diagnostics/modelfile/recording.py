"""A Recording of an ONNX model: its nodes are the operations, and its values those of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from promoarray.console import counted, listed
from promoarray.core.call_site import recorded_at
from promoarray.core.cast import explicit
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.ask.values import ComparedValues, decoded, other_values
from promoarray.diagnostics.calls.tables import names
from promoarray.diagnostics.losses.elements import Values
from promoarray.diagnostics.losses.examined import lost_in_cast
from promoarray.diagnostics.model.flow import (
    CAST,
    NODE,
    OPERATION,
    Flow,
    Given,
    RecordedOperation,
    Source,
)
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.model.values import Difference, Place, all_beyond, one_pass
from promoarray.diagnostics.modelfile.graph import OPSETS, Model, Node, refusals
from promoarray.diagnostics.modelfile.values import as_numbers
from promoarray.diagnostics.record.checks import Asked, Checks
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.record.quantized import answers
from promoarray.diagnostics.record.report import CAST as CASTS
from promoarray.diagnostics.record.report import MOVE
from promoarray.diagnostics.record.report import OPERATION as CALLS
from promoarray.dtypes import BY_CODE, DType, int64, string
from promoarray.extras._quantize import Call as Question
from promoarray.extras._quantize import Numbers
from promoarray.operations import Form
from promoarray.policies.onnx.operators import operators
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def uncompared(found: Recorded, home: Policy, policies: tuple[Policy, ...]) -> set[NotExamined]:
    """Return what casts and quantizes by rules that differ, and whose values were not looked at."""
    left = set()
    for each in found.flow.operations:
        if each.makes in found.seen or not (each.kind == CAST or each.name == "QuantizeLinear"):
            continue
        source, target = BY_CODE[each.operands[0].code], each.dtypes()[:1]
        for policy in policies:
            if policy is home or not target:
                continue
            pair = source, target[0]
            if each.kind == CAST and policy.cast.effect(*pair) == home.cast.effect(*pair):
                continue
            what = f"values of {source.name} cast to {target[0].name}"
            why = "values were not looked at there"
            left.add(NotExamined(what, why, *each.place[:2], (policy.name,)))
    return left


FILE = "onnx@file"
"""The policy that a model was carried out under: what the file says, of its opset."""

MOVES = names("""
    Compress DepthToSpace Dropout Expand Flatten Gather GatherElements GatherND Identity Reshape
    ReverseSequence Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze
""")
"""Operators whose first output has values of the first input."""

_OTHER_DOMAIN = "an operator of another domain, of which no policy knows"
_NO_TYPES = "the dtypes of its inputs are not known"
_FIRST_ALONE = names("ArgMax ArgMin CumProd CumSum Det TopK Unique")
_SHAPES = 1 << 31


def home_of(model: Model) -> Policy:
    """Return the policy that stands for what a file says."""
    return as_policy(f"onnx@{model.opset}").derive(FILE)


@dataclass
class Recorded:
    """What was found in a model."""

    flow: Flow
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    unexamined: Counter[NotExamined] = field(default_factory=Counter)
    lost: list[Any] = field(default_factory=list)
    checked: int = 0
    unread: Counter[NotExamined] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    # the operations whose values were looked at, by what they make
    seen: set[int] = field(default_factory=set)


class Recorder:
    """Records a model, looks at its values, which are compared by policy, and checks them for
    losses."""

    def __init__(self, model: Model, policies: tuple[Policy, ...], asked: Asked) -> None:
        self._model, self._home, self._policies = model, home_of(model), policies
        self.found = Recorded(Flow())
        self._checks = Checks(asked)
        self._held = ComparedValues(policies, self.found.flow)
        self._sources: dict[str, Source] = {}
        self._made: dict[int, RecordedOperation] = {}
        self._beyond: dict[str, int] = {}
        self._by_quirk: dict[str, list[str]] = {}
        for node in model.nodes:
            self._record(node)
        for domain, version in model.others.items():
            if not any(node.domain == domain for node in model.nodes):
                continue
            self.found.notes.append(f"The domain {domain} {version} is not examined.")

    # -- dtypes -----------------------------------------------------------------------------------

    def _record(self, node: Node) -> None:
        if node.domain:
            return self._leave_open(node, f"{node.domain}.{node.op}", _OTHER_DOMAIN)
        if why := node.contradicted:
            options = {"refuses": {f"onnx@{n}": why for n in OPSETS}, "moves": True}
            self._add(node, NODE, node.op, [], node.dtypes(node.outputs), options)
        inputs = [name for name in node.inputs if name]
        dtypes = node.dtypes(inputs)
        if None in dtypes and node.op not in _BODIES:
            return self._leave_open(node, node.op, _NO_TYPES)
        made = node.dtypes(node.outputs)
        known = [name for name, d in zip(inputs, dtypes, strict=True) if d is not None]
        name = operation_of(node)
        if node.op in ("Cast", "CastLike") and made[0] and string not in (dtypes[0], made[0]):
            self.found.calls[CASTS, node.op] += 1
            return self._add(node, CAST, "astype", inputs[:1], made)
        if name and None not in made and string not in dtypes:
            self.found.calls[CALLS, node.op] += 1
            return self._add(node, OPERATION, name, _operands(node, inputs), made)
        moves = node.op in MOVES and None not in made and bool(inputs)
        self.found.calls[MOVE if moves else CALLS, node.op] += 1
        if node.op == "Constant":
            return None
        options = {"refuses": refusals(node.op, _all_dtypes(node)), "moves": moves}
        return self._add(node, NODE, node.op, known, made if None not in made else [], options)

    def _add(
        self,
        node: Node,
        kind: str,
        name: str,
        inputs: list[str],
        made: list[DType | None],
        options: dict[str, Any] | None = None,
    ) -> None:
        given = tuple(_given(node, each) for each in inputs)
        codes = tuple(d.code for d in made if d is not None)
        shape = node.values[node.outputs[0]].shape if node.outputs else None
        form = Form.FUNCTION if kind != OPERATION else Form.OPERATOR
        sources = [{self._sources[x]} if x in self._sources else set() for x in inputs]
        what = kind, name, form, FILE, given, codes, shape == (), options or {}, node.place
        self._made[node.number] = operation = RecordedOperation(*what, 1, sources)
        makes = self.found.flow.add(operation)
        self._sources |= {x: (makes, n) for n, x in enumerate(node.outputs[: len(codes)])}

    def _leave_open(self, node: Node, what: str, why: str) -> None:
        self.found.unexamined[NotExamined(what, why, *node.place[:2])] += 1

    # -- values -----------------------------------------------------------------------------------

    def saw(self, node: Node, inputs: list[Any], outputs: list[Any]) -> None:
        """Look at the values of a node."""
        names = zip(node.inputs, inputs, strict=False)
        pairs = [(name, x, node.values[name].dtype) for name, x in names if name in node.values]
        given = [Values(v, d) for _, x, d in pairs if (v := as_numbers(x, d)) is not None and d]
        dtypes = node.dtypes(node.outputs)
        made = [
            Values(v, d)
            for x, d in zip(outputs, dtypes, strict=False)
            if (v := as_numbers(x, d)) is not None and d
        ]
        if any(d and x is not None for x, d in zip(outputs, dtypes, strict=False)) and not made:
            self._unread(node, "the reference evaluator gives another dtype than is declared")
            return
        with notify_lock, recorded_at(*node.place[:2]):
            self._look_at_int64(node, pairs, outputs)
            if node.op in ("Cast", "CastLike") and given and made:
                self._cast(node, given[0], made[0])
            elif node.op == "QuantizeLinear" and len(given) > 1 and made:
                self._quantize(node, given, made[0])
        if node.number in self._made and made:
            self.found.seen.add(self._made[node.number].makes)
        self._check(node, given, made)

    def _look_at_int64(self, node: Node, pairs: list[Any], outputs: list[Any]) -> None:
        """Look for integers that a runtime does not hold which has none of 64 bits."""
        every = [(name, x) for name, x, d in pairs if d is int64 and name not in self._sources]
        every += [*zip(node.outputs, outputs, strict=False)]
        for name, x in every:
            array = as_numbers(x, int64)
            if array is None or not array.size:
                continue
            self._held.held(array, int64)
            if max(-int(array.min()) - 1, int(array.max())) >= _SHAPES:
                self._beyond.setdefault(name, node.number)

    def _cast(self, node: Node, given: Values, made: Values) -> None:
        source, target = given.dtype, made.dtype
        settings = {
            "saturate": node.attribute("saturate"),
            "round_mode": node.attribute("round_mode"),
        }
        settings = {k: v.decode() if isinstance(v, bytes) else v for k, v in settings.items()}

        def cast(policy: Policy) -> Any:
            known = {k: v for k, v in settings.items() if v is not None and k in policy.cast.knobs}
            return decoded(explicit(policy, given.array, source, target, **known), target)

        if source is target or self._home.cast.refuses(source, target) or not given.array.size:
            return
        mine, numbers = cast(self._home), decoded(given.array, source)
        others = [p for p in self._policies if p.cast.refuses(source, target) is None]
        made_by = [(cast(p), [p.name]) for p in others if target in p.dtypes]
        found = other_values(numbers, mine, made_by, lambda x: all_beyond(x, source, target))
        self._differ(node, "astype", given, target, found)
        for quirk in self._home.cast.quirks:
            if quirk.cases:
                other = cast(as_policy(f"onnx@{self._model.opset}").with_quirks(quirk.name))
                if other_values(numbers, mine, [(other, [""])]):
                    self._quirk(node, str(quirk))

    def _quirk(self, node: Node, text: str) -> None:
        at = self._by_quirk.setdefault(text, [])
        at += [str(node.place.site)] * (str(node.place.site) not in at)

    def _quantize(self, node: Node, given: list[Values], made: Values) -> None:
        axis = node.attribute("axis", 1) if given[1].array.ndim else None
        block = node.attribute("block_size", 0) or None
        saturate = node.attribute("saturate")
        asked = Question("quantize", made.dtype, axis, block, saturate)
        numbers = [Numbers(x.array, x.dtype) for x in given[:3]]
        numbers += [None] * (3 - len(numbers))  # type: ignore[list-item]
        policies = tuple(p for p in self._policies if p.quantization.own)
        changes, why = answers(asked, self._home, policies, numbers)
        self._differ(node, node.op, given[0], made.dtype, changes)
        for reason, who in why.items():
            found = NotExamined(node.op, reason, *node.place[:2], tuple(who))
            self.found.unexamined[found] += 1

    def _differ(
        self, node: Node, name: str, given: Values, target: DType, found: list[Difference]
    ) -> None:
        if found:
            place = Place(*node.place[:2], name, given.dtype.name, target.name)
            self.found.flow.record_values(one_pass(place, given.array.size, found))

    def _check(self, node: Node, given: list[Values], made: list[Values]) -> None:
        operation = self._made.get(node.number)
        if any(not x.array.size for x in given):  # of which nothing is computed
            return
        if operation is None or operation.options.get("moves") or node.op in _BODIES:
            return
        count = len(operation.operands) if operation.kind == OPERATION else len(given)
        sources = [next(iter(each), None) for each in operation.sources]
        name = operation.name if operation.kind == OPERATION else ""
        start = 1 if node.op == "Where" else 0
        met = Met(
            *(node.op, name, given[start : start + count], made, None, (node.number,), ()),
            sources=sources,
            at=node.place[:2],
        )
        if operation.kind == CAST and made:
            met.operands = given[:1]
            self._checks.cast(met)
        elif node.op == "QuantizeLinear" and made:  # which is meant to saturate, and has no NaN
            nan = np.isnan(given[0].array)
            only = (
                x._replace(array=np.where(nan, x.array, x.array.dtype.type(0)))
                for x in (given[0], made[0])
            )
            met.operands = given[:1]
            self._checks.noted(met, (replace(x, ranges=()) for x in lost_in_cast(*only)))
        elif made:
            self._checks.operation(met)

    def _unread(self, node: Node, why: str) -> None:
        self.found.unread[NotExamined(f"values of {node.op}", why, *node.place[:2])] = 1

    def ended(self, failed: dict[int, str]) -> None:
        """Note what was not computed, and what was seen of the whole."""
        for node in self._model.nodes:
            if node.number in failed and node.number in self._made:
                self._unread(node, failed[node.number])
        self.found.lost, self.found.checked = self._checks.found(), self._checks.examined
        self.found.unread += self._checks.unread
        if self._beyond:
            named = listed([f"{x} ({self._at(n)})" for x, n in self._beyond.items()], most=8)
            self.found.notes.append(
                f"int64 values beyond int32, which runtimes without int64 cut: {named}."
            )
        for text, at in self._by_quirk.items():
            self.found.notes.append(f"Other values at {listed(at, most=4)}: {text}.")
        left = counted(len(self.found.unread), "node")
        if self.found.unread:
            self.found.notes.append(f"Values of {left} were not looked at.")

    def _at(self, number: int) -> str:
        return str(self._model.nodes[number - 1].place.site)


_BODIES = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def _all_dtypes(node: Node) -> tuple[DType | None, ...]:
    return tuple(node.values[x].dtype if x in node.values else None for x in node.inputs)


def _given(node: Node, name: str) -> Given:
    value = node.values[name]
    assert value.dtype is not None
    return Given(value.dtype.code, value.shape == ())


def operation_of(node: Node) -> str:
    """Return what promoarray calls a node's operation; "" if no rule is about it."""
    if node.op == "Mod":
        return "fmod" if node.attribute("fmod") else "remainder"
    if node.op == "BitShift":
        left = node.attribute("direction") == b"LEFT"
        return "bitwise_left_shift" if left else "bitwise_right_shift"
    if node.op in MOVES:
        return ""
    return _NAMES.get(node.op, "")


def _names() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, (operator, _) in operators().items():
        found.setdefault(operator, name)
    return found


_NAMES = _names()


def _operands(node: Node, inputs: list[str]) -> list[str]:
    """The inputs that take part in promotion."""
    if node.op == "Where":
        return inputs[1:]
    return inputs[:1] if node.op in _FIRST_ALONE or node.op.startswith("Reduce") else inputs
