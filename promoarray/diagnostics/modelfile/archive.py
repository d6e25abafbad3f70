"""A torch.export archive (``.pt2``) as a Recording: its graph is JSON, and nothing is unpickled.

The format is that of ``torch/_export/serde/schema.py``, PyTorch 2.13. Dtypes alone are looked at:
the archive has no values but weights.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from promoarray.core.call_site import Site, shortened
from promoarray.diagnostics.calls.common import STRUCTURE, Words, plain, words
from promoarray.diagnostics.file_format import NotReadable
from promoarray.diagnostics.model.flow import (
    CALL,
    CAST,
    OPERATION,
    Flow,
    Given,
    Place,
    RecordedOperation,
    Source,
)
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.modelfile.question import Question, Read
from promoarray.diagnostics.modelfile.recording import Recorded
from promoarray.diagnostics.record.report import APPROXIMATE, MAKE, MOVE, UNKNOWN
from promoarray.diagnostics.record.report import CAST as CASTS
from promoarray.diagnostics.record.report import OPERATION as CALLS
from promoarray.diagnostics.run.frameworks import policies_for
from promoarray.diagnostics.spans import exported_from
from promoarray.dtypes import BY_NAME, WEAK, DType
from promoarray.errors import quoted
from promoarray.io.reading import explained, text
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.registry import as_policy

HOME = "torch@2.13"

_FROM_1 = """
    uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool
    bfloat16
"""
_FROM_28 = """
    uint16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu uint32 uint64
"""
TYPES = dict(enumerate(_FROM_1.split(), 1)) | dict(enumerate(_FROM_28.split(), 28))
"""ScalarType of the schema, by its numbers."""

_VERSIONS = range(8, 9)


def recorded(question: Question) -> Read:
    """Record the graph of an archive."""
    with explained(f"{question.path}: its graph is not of a known form", NotReadable):
        program = _graph(question.path)
        found = Archive(question.path, program["graph_module"]["graph"]).found
        version = str(program.get("torch_version", "")).partition("+")[0]
    if not found.flow.operations:
        raise NotReadable(f"{question.path}: its graph has no operation that is known")
    found.notes.append("Values were not looked at: an archive of torch.export has none.")
    names = question.policies or tuple(p.name for p in policies_for("torch", None))
    return Read(found, HOME, names, f"torch {version}".rstrip())


def _graph(path: str) -> dict[str, Any]:
    """The program of an archive."""
    with explained(f"{path} is a damaged archive", NotReadable), zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if re.fullmatch(r"([^/]+/)?models/model\.json", n)]
        if len(names) != 1:
            raise NotReadable(f"{path} has {len(names)} graphs models/model.json, not one")
        graph = text(archive, names[0])
    with explained(f"{path}: its graph is no JSON", NotReadable):
        program = json.loads(graph)
    version = program["schema_version"]["major"]
    if version not in _VERSIONS:
        raise NotReadable(f"{path} is of schema version {quoted(version)}; version 8 is read")
    return dict(program)


class Archive:
    """The graph of an archive, as the schema has it, recorded."""

    def __init__(self, path: str, graph: Mapping[str, Any]) -> None:
        self.found, self._path = Recorded(Flow(), Counter()), path
        self._words: Words = words("torch")
        every = graph["tensor_values"].items()
        self._types = {name: BY_NAME.get(TYPES.get(x["dtype"], "")) for name, x in every}
        self._flat = {name for name, x in every if not x["sizes"]}
        self._sources: dict[str, Source] = {}
        for number, node in enumerate(graph["nodes"], 1):
            with explained(f"node {number}"):
                self._record(node, self._place(number, node))

    def _place(self, number: int, node: Mapping[str, Any]) -> Place:
        made = ", ".join(_names(node["outputs"]))
        text = shortened(f"{node['target']}({', '.join(_names(_args(node)))}) -> {made}")
        site = Site(self._path, number, -1, text, text)
        program = exported_from(str(node.get("metadata", {}).get("stack_trace", "")))
        if program is None:
            return Place(site, site, edited=False)
        return Place(program, program, part=number, edited=False)

    def _record(self, node: Mapping[str, Any], place: Place) -> None:
        target = str(node["target"])
        name = target.removeprefix("torch.ops.aten.").partition(".")[0]
        outputs = _names(node["outputs"])
        aten = target.startswith("torch.ops.aten.")
        if not outputs and (aten or not _names(_args(node))):
            return  # assertions, and what is computed of sizes
        known, called = self._words, plain(name, self._words.operations)
        dtypes = [self._types.get(each) for each in outputs]
        arguments = {each["name"]: each["arg"] for each in node["inputs"]}
        self._keywords = [each["name"] for each in node["inputs"] if each.get("kind") == 2]
        if not aten or None in dtypes:
            return self._unknown(target, place)
        operands = [x for arg in arguments.values() for x in _operands(arg)]
        if name in known.casts or name == "_to_copy":
            return self._cast(name, operands, outputs, dtypes, place)
        if name in known.moves or name in STRUCTURE:
            self._call(MOVE, name, operands, place)
            first = operands[known.argument.get(name, 0)] if operands else None
            if isinstance(first, str) and first in self._sources:
                alike = (n for n, d in zip(outputs, dtypes, strict=True) if d is self._types[first])
                self._sources |= dict.fromkeys(alike, self._sources[first])
            return None
        if (
            name in known.makes
            or name in known.defaults
            or ("dtype" in arguments and _given(arguments["dtype"]))
        ):
            return self._call(MAKE, name, operands, place)
        if called in known.operations:
            operation = known.operations[called]
            if operation == "divide" and _given(arguments.get("rounding_mode", {})):
                operation = "floor_divide"
            return self._operation(name, operation, operands, outputs, dtypes, place)
        expansion = known.expansions.get(name) or known.expansions.get(called)
        if expansion is None:
            return self._unknown(target, place)
        return self._expand(name, expansion, arguments, outputs, dtypes, place)

    def _operation(
        self, name: str, operation: str, operands: list[Any], outputs: list[str],
        dtypes: list[Any], place: Place,
    ) -> None:  # fmt: skip
        arity = OPERATIONS[operation].arity
        if operation == "where":
            operands = operands[1:]
        given = operands[: arity or None]
        if (
            len(given) < arity
            or not any(isinstance(x, str) for x in given)
            or not self._all_known(given)
        ):
            return self._unknown(name, place)
        self._call(CALLS, name, operands, place)
        self._add(OPERATION, operation, given, outputs, dtypes, place, Form.OPERATOR)
        return None

    def _expand(
        self, name: str, expansion: Any, arguments: Mapping[str, Any], outputs: list[str],
        dtypes: list[Any], place: Place,
    ) -> None:  # fmt: skip
        values = {key: next(iter(_operands(arg)), None) for key, arg in arguments.items()}
        positional = [next(iter(_operands(arg)), None) for arg in arguments.values()]
        values |= dict(zip(expansion.parameters, positional, strict=False))
        steps = [
            step
            for step in expansion.steps
            if all(x == "_" or values.get(x) is not None for x in step.operands)
        ]
        if not steps or "_" in steps[0].operands:
            return self._unknown(name, place)
        self._call(APPROXIMATE, name, [*values.values()], place)
        place, before = place._replace(part_of=name), ""
        for number, step in enumerate(steps, 1):
            given = [before if x == "_" else values[x] for x in step.operands]
            if not self._all_known(given):
                return self._unknown(name, place)
            before = outputs[0] if step is steps[-1] else f"{outputs[0]}, step {number}"
            dtype = dtypes[0] if step is steps[-1] else self._predicted(step.operation, given)
            self._types[before] = dtype = dtype or dtypes[0]
            self._add(OPERATION, step.operation, given, [before], [dtype], place, Form.OPERATOR)
        return None

    def _predicted(self, operation: str, given: list[Any]) -> DType | None:
        """The dtype that our policy of PyTorch gives a step."""
        home = as_policy(HOME)
        plan = home.plan(operation, tuple(map(self._operand, given)), Form.OPERATOR)
        found: DType | None = getattr(plan, "result", None)
        return found and home.strong(found)

    def _operand(self, x: Any) -> Operand:
        if not isinstance(x, str):
            return Operand(WEAK[type(x)], Rank.SCALAR, x)
        dtype = self._types[x]
        assert dtype is not None
        return Operand(dtype, Rank.ZERO_D if x in self._flat else Rank.ARRAY)

    def _cast(
        self, name: str, operands: list[Any], outputs: list[str], dtypes: list[Any], place: Place
    ) -> None:
        source = operands[0] if operands else None
        if not isinstance(source, str) or self._types.get(source) is None:
            return self._unknown(name, place)
        self._count(CASTS, name)
        if self._types[source] is dtypes[0]:
            if source in self._sources:
                self._sources[outputs[0]] = self._sources[source]
            return None
        return self._add(CAST, "astype", [source], outputs, dtypes, place, Form.FUNCTION)

    def _all_known(self, given: list[Any]) -> bool:
        return all(not isinstance(x, str) or self._types.get(x) is not None for x in given)

    def _add(
        self, kind: str, name: str, given: list[Any], outputs: list[str], dtypes: list[Any],
        place: Place, form: Form, options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        codes = tuple(d.code for d in dtypes if d is not None)
        entered = tuple(map(self._entered, given))
        sources = [{self._sources[x]} if x in self._sources else set() for x in given]
        flat = not outputs or outputs[0] in self._flat
        what: Any = kind, name, form, HOME, entered, codes, flat, options or {}, place, 1, sources
        made = self.found.flow.add(RecordedOperation(*what))
        self._sources |= {x: (made, n) for n, x in enumerate(outputs)}

    def _entered(self, x: Any) -> Given:
        dtype = self._types[x] if isinstance(x, str) else None
        return Given("", True, x) if dtype is None else Given(dtype.code, x in self._flat)

    def _unknown(self, name: str, place: Place) -> None:
        self._count(UNKNOWN, name)
        why = "the call is not understood"
        self.found.unexamined[NotExamined(name, why, place.site, place.program)] += 1

    def _call(self, kind: str, name: str, operands: list[Any], place: Place) -> None:
        """Record a call by its name, for what else than promotion frameworks do otherwise."""
        self._count(kind, name)
        arrays = (x for x in operands if isinstance(x, str) and self._types.get(x) is not None)
        given = [*islice(arrays, 1)]
        options = {"keywords": sorted(self._keywords), "ruled": kind == CALLS}
        if name not in STRUCTURE:
            self._add(CALL, name, given, [], [], place, Form.FUNCTION, options)

    def _count(self, kind: str, name: str) -> None:
        self.found.calls[kind, name] += 1


def _args(node: Mapping[str, Any]) -> list[Any]:
    return [each["arg"] for each in node["inputs"]]


def _names(arguments: list[Any]) -> list[str]:
    """The tensors among arguments, or results."""
    return [x for each in arguments for x in _operands(each) if isinstance(x, str)]


def _given(argument: Mapping[str, Any]) -> bool:
    return bool(argument) and "as_none" not in argument


def _operands(argument: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tensors of an argument by their names, and its Python numbers."""
    for kind, value in argument.items():
        if kind == "as_tensor":
            yield str(value["name"])
        elif kind == "as_tensors":
            yield from (str(each["name"]) for each in value)
        elif kind == "as_optional_tensor":
            yield from _operands(value)
        elif kind == "as_optional_tensors":
            for each in value:
                yield from _operands(each)
        elif kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
            yield from _operands({k: x for k, x in value.items() if k != "as_name"})
        elif kind in ("as_int", "as_float", "as_bool") and type(value) in WEAK:
            yield value
