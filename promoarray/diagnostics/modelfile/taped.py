"""An ONNX model's run as a tape, with the source lines that its exporter left, for ``align``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.modelfile import graph
from promoarray.diagnostics.modelfile.graph import Model, Node
from promoarray.diagnostics.modelfile.question import SECONDS, Candidate, Question, Read
from promoarray.diagnostics.modelfile.recording import Recorded, operation_of
from promoarray.diagnostics.modelfile.values import Evaluation, made_inputs
from promoarray.diagnostics.record.tape import Array, Tape
from promoarray.diagnostics.spans import frames_of
from promoarray.dtypes import BY_NAME, BY_STORAGE, INEXACT

ROW = "onnx"
"""The framework of its calls."""

GIVEN, DRAWN = "input", "random input"
"""Calls that stand for inputs: what the other program has, or what is drawn as there is no such."""


def recorded(question: Question) -> Read:
    """Run a model, and write its tape."""
    model = graph.read(question.path)
    _Run(model, question).run()
    return Read(Recorded(Flow()), f"onnx@{model.opset}", (), ROW)


class _Run:
    """One run of a model, a call for each node."""

    def __init__(self, model: Model, question: Question) -> None:
        self._model, self._asked, self._candidates = model, question.tape, question.candidates
        self._tape = Tape(question.tape)

    def run(self) -> None:
        readers: dict[str, list[Node]] = {}
        for node in self._model.nodes:
            for name in node.inputs:
                readers.setdefault(name, []).append(node)
        given = self._inputs(readers)
        for name, (array, word) in given.items():
            site = Site(self._model.path, 0, -1, name, f"the input {name}")
            given[name] = (self._result(array, 0), word)
            self._put(word, "", [], {}, [given[name][0]], (site, site))
        feeds = {name: array for name, (array, _) in given.items()}
        evaluation = Evaluation(self._model, self._saw, SECONDS, fixed=self._fixed)
        evaluation.run(feeds)
        for number, why in evaluation.failed.items():
            node = self._model.nodes[number - 1]
            self._tape.unread[f"{node.op} at {node.place.site}: {why}"] += 1
        self._tape.write()

    def _inputs(self, readers: Mapping[str, list[Node]]) -> dict[str, tuple[Array, str]]:
        """What the other run has for each input, with the line that reads it first of all."""
        left, found = [*self._candidates], dict[str, tuple[Array, str]]()
        free = {n for x in left for n in x.array.shape}
        made = made_inputs(self._model, min(free, default=2)) or {}
        for name, value in self._model.inputs.items():
            lines = {line for node in readers.get(name, ()) for line in frames_of(node.stack)}
            fitting = [x for x in left if _fits(x, value)]
            fitting.sort(key=lambda x: x.dtype != (value.dtype and value.dtype.name))
            fitting.sort(key=lambda x: not (lines & x.lines))
            if fitting:
                left = [x for x in left if x is not fitting[0]]
                storage = value.dtype.storage if value.dtype else fitting[0].array.dtype
                found[name] = (fitting[0].array.astype(storage), GIVEN)
            elif name in made:
                found[name] = (made[name], DRAWN)
        return found

    def _fixed(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """What stands in the place of the model's own arrays."""
        return {name: self._replaced(x) for name, x in arrays.items()}

    def _replaced(self, x: Any) -> Any:
        if not self._asked.given or not isinstance(x, np.ndarray):
            return x
        other = self._asked.given.get(self._value(x))
        return x if other is None else other.astype(x.dtype).reshape(x.shape)

    def _saw(self, node: Node, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        """Put a node on the tape; return what the run goes on with."""
        number = len(self._tape.calls)
        outputs = [self._result(x, place, number) for place, x in enumerate(outputs)]
        operands, keywords = self._arguments(node, inputs)
        name = _NAMES.get(node.op, node.op)
        results = [self._value(x) for x in outputs]
        self._put(name, operation_of(node), operands, keywords, results, node.place[:2])
        self._tape.calls[-1]["frames"] = frames_of(node.stack)
        return outputs

    def _result(self, x: Any, place: int, number: int | None = None) -> Any:
        number = len(self._tape.calls) if number is None else number
        other = self._asked.made.get((number, place))
        if other is not None and isinstance(x, np.ndarray):
            return other.astype(x.dtype).reshape(x.shape)
        return self._replaced(x)

    def _arguments(self, node: Node, inputs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a node as the function of its name has them."""
        given = [self._said(x) for x in inputs]
        options = {a.name: node.attribute(a.name) for a in node.proto.attribute}
        keywords = {key: said for key, x in options.items() if (said := _plain(x)) is not None}
        if node.op == "LayerNormalization" and isinstance(inputs[0], np.ndarray):
            keywords["normalized_shape"] = [*inputs[0].shape[keywords.pop("axis", -1) :]]
        if node.op in _PARAMETERS:
            names = _PARAMETERS[node.op].split()
            return [], dict(zip(names, given, strict=False)) | keywords
        if node.op in ("Softmax", "LogSoftmax"):
            keywords.setdefault("axis", -1)
        return given, keywords

    def _said(self, x: Any) -> Any:
        return {"value": self._value(x)} if isinstance(x, np.ndarray) else None

    def _value(self, x: Any) -> str:
        if not isinstance(x, (np.ndarray, np.generic)) or x.dtype not in BY_STORAGE:
            return ""
        return self._tape.value(np.asarray(x), BY_STORAGE[x.dtype].name)

    def _put(
        self, name: str, operation: str, operands: list[Any], keywords: dict[str, Any],
        results: list[Any], at: tuple[Site, Site],
    ) -> None:  # fmt: skip
        row: dict[str, Any] = {"name": name, "operation": operation, "framework": ROW}
        row |= {"operands": operands, "keywords": keywords, "written": [], "for_shapes": False}
        row["results"] = [self._value(x) if isinstance(x, np.ndarray) else x for x in results]
        self._tape.put(row, at)


_NAMES = {
    "LayerNormalization": "layer_norm",
    "BatchNormalization": "batch_norm",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "Gemm": "linear",
    "Gelu": "gelu",
    "Transpose": "transpose",
    "LeakyRelu": "leaky_relu",
    "Elu": "elu",
}
"""Operators that are functions of the frameworks, under their names."""

_PARAMETERS = {
    "LayerNormalization": "input weight bias",
    "BatchNormalization": "input weight bias running_mean running_var",
    "Gemm": "input weight bias",
}


def _plain(x: Any) -> Any:
    if isinstance(x, bytes):
        return x.decode(errors="replace")
    if isinstance(x, float):
        return {"number": str(np.float32(x))}  # as it was before it was stored in 32 bits
    if isinstance(x, (list, tuple)) and all(type(each) is int for each in x):
        return [*x]
    return x if type(x) is int else None


def _fits(x: Candidate, value: graph.Value) -> bool:
    """Whether an array has the shape that is declared, and numbers of the kind."""
    kinds = {BY_NAME[x.dtype].kind, value.dtype.kind} if value.dtype else {None}
    if len(kinds) > 1 and not kinds <= {*INEXACT}:
        return False
    shape = value.shape
    return shape is None or (
        len(shape) == x.array.ndim
        and all(n in (None, m) for n, m in zip(shape, x.array.shape, strict=True))
    )
