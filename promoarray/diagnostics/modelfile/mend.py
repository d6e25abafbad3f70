"""Casts that a model lacks where float dtypes meet at one operator, and the mended model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from promoarray.diagnostics.file_format import NotReadable
from promoarray.diagnostics.modelfile.graph import (
    Model,
    Node,
    bodies,
    dtype_of,
    graphs,
    model_of,
    onnx,
    refusal,
    schema_of,
    tensors,
)
from promoarray.diagnostics.modelfile.question import SECONDS
from promoarray.diagnostics.modelfile.values import Evaluation, given_inputs, made_inputs
from promoarray.diagnostics.whole_file import write_whole
from promoarray.dtypes import DType, Kind
from promoarray.errors import clipped
from promoarray.io.onnx import NAMES


class Edge(NamedTuple):
    """An input of a node that is of another float dtype than the others."""

    node: Node
    which: int
    given: DType
    wanted: DType

    def __str__(self) -> str:
        name = self.node.inputs[self.which]
        at = self.node.proto.name or self.node.op
        return (
            f"{self.node.place.site}: the edge {name} -> {at} (input {self.which}) is "
            f"{self.given.name} and lacks Cast(to={NAMES[self.wanted]})"
        )


def missing(model: Model) -> list[Edge]:
    """Return the edges on which a cast is missing, as dtypes differ that have to be one.

    With ``Node.contradicted``, what is wrong with the types of a model.
    """
    found: list[Edge] = []
    for node in model.nodes:
        if not node.domain and (edges := _of_node(node, model.opset)):
            found += edges
    return found


def _of_node(node: Node, opset: int) -> list[Edge]:
    schema = schema_of(node.op, "", opset)
    dtypes = node.dtypes(node.inputs)
    if schema is None or not refusal(node.op, opset, tuple(dtypes)):
        return []
    formals = [schema.inputs[min(n, len(schema.inputs) - 1)] for n in range(len(dtypes))]
    alike: dict[str, list[int]] = {}
    for n, (dtype, formal) in enumerate(zip(dtypes, formals, strict=True)):
        if dtype is not None and dtype.kind is Kind.FLOAT and formal.is_homogeneous:
            alike.setdefault(formal.type_str, []).append(n)
    found = []
    for parameter, places in alike.items():
        given = {n: dtype for n in places if (dtype := dtypes[n]) is not None}
        if len({*given.values()}) > 1:
            wanted = _wanted(node, given, parameter, schema)
            found += [Edge(node, n, d, wanted) for n, d in given.items() if d is not wanted]
    return found


def _wanted(node: Node, given: dict[int, DType], parameter: str, schema: Any) -> DType:
    """The dtype that the inputs are to have.

    A single constant, such as an epsilon, follows the others. Of others it is what the result is
    declared as, as a converter has meant it; else that of the first that is no constant.
    """
    fixed = _constants(node)
    others = {n: d for n, d in given.items() if node.inputs[n] not in fixed or not _is_one(node, n)}
    if len({*others.values()}) == 1:
        return next(iter(others.values()))
    declared = [
        dtype
        for name, formal in zip(node.outputs, schema.outputs, strict=False)
        if formal.type_str == parameter and (dtype := node.declared.get(name)) in given.values()
    ]
    computed = [d for n, d in given.items() if node.inputs[n] not in fixed]
    return next(d for d in (*declared, *computed, *given.values()) if d is not None)


def _constants(node: Node) -> set[str]:
    made = {x for each in node.graph.node if each.op_type == "Constant" for x in each.output}
    return made | {each.name for each in node.graph.initializer}


def _is_one(node: Node, which: int) -> bool:
    shape = node.values[node.inputs[which]].shape
    return shape is not None and all(size == 1 for size in shape)


# -- the mended model -----------------------------------------------------------------------------


def write_mended(model: Model, target: str, inputs: str = "") -> list[str]:
    """Write a model with the casts that it lacks, once it was checked and has run with inputs of a
    file, or random ones; return what was done, a line each. ``NotReadable`` if it cannot be mended
    so: then nothing is written."""
    proto = type(model.proto)()
    proto.CopyFrom(model.proto)
    external = any(each.data_location for each in tensors(proto.graph))
    if external and os.path.dirname(os.path.abspath(target)) != model.folder:
        raise NotReadable(f"{target}: the model's data lie beside it; write --fix to its folder")
    said: list[str] = []
    for _ in range(len(model.nodes)):  # a cast may bring up another further on
        now = model_of(proto, model.path)
        edges = missing(now)
        if not edges:
            break
        first = [each for each in edges if each.node.number == edges[0].node.number]
        said += map(str, first)
        _insert(proto.graph, first)
    pairs = (zip(node.outputs, node.dtypes(node.outputs), strict=True) for node in now.nodes)
    made = {name: dtype for each in pairs for name, dtype in each}
    said += [*_declare(proto.graph, made, _names(proto.graph))]
    if not said:
        raise NotReadable(f"{model.path} lacks no cast between float dtypes: nothing is written")
    _prove(proto, model, inputs)
    write_whole(Path(target), proto.SerializeToString())
    return said


def _declare(graph: Any, made: dict[str, DType | None], taken: set[str]) -> Iterator[str]:
    """Take out what is declared otherwise than it is made, and cast outputs to what is declared."""
    wrong = [
        each
        for each in graph.value_info
        if made.get(each.name) not in (None, dtype_of(each.type.tensor_type.elem_type))
    ]
    for each in wrong:
        graph.value_info.remove(each)
    if wrong:
        more = f" and {len(wrong) - 1} more" if wrong[1:] else ""
        yield f"the declared dtype of {wrong[0].name}{more} was not what is made, and is taken out"
    for body in (body for node in graph.node for body in bodies(node)):
        yield from _declare(body, made, taken)
    for each in graph.output:
        number = each.type.tensor_type.elem_type
        dtype, wanted = made.get(each.name), dtype_of(number)
        if dtype in (None, wanted) or wanted is None or wanted.kind is not Kind.FLOAT:
            continue
        inner = _free(f"{each.name}_{dtype.name}", taken)
        _rename(graph, each.name, inner)
        graph.node.append(onnx().helper.make_node("Cast", [inner], [each.name], to=number))
        yield f"the output {each.name} is made as {dtype.name} and lacks Cast(to={NAMES[wanted]})"


def _rename(graph: Any, name: str, other: str) -> None:
    for node in (node for part in graphs(graph) for node in part.node):
        for names in (node.input, node.output):
            names[:] = [other if each == name else each for each in names]


def _insert(graph: Any, edges: list[Edge]) -> None:
    """Put casts before the node that these edges lead to, wherever it stands."""
    node = edges[0].node
    found = _find(graph, node)
    if found is None:
        raise NotReadable(f"{node.place.site}: it stands in a function, which is not mended")
    owner, at = found
    taken = _names(graph)
    for edge in edges:
        name = owner.node[at].input[edge.which]
        made = _free(f"{name}_{edge.wanted.name}", taken)
        cast = onnx().helper.make_node(
            "Cast", [name], [made], name=_free(f"{node.proto.name or node.op}_cast", taken),
            to=onnx().TensorProto.DataType.Value(NAMES[edge.wanted]),
        )  # fmt: skip
        owner.node.insert(at, cast)
        at += 1
        owner.node[at].input[edge.which] = made


def _find(graph: Any, node: Node) -> tuple[Any, int] | None:
    places = ((part, n, each) for part in graphs(graph) for n, each in enumerate(part.node))
    same = (p for p in places if p[2].op_type == node.op and [*p[2].output] == node.outputs)
    return next(((part, n) for part, n, _ in same), None)


def _names(graph: Any) -> set[str]:
    found = set[str]()
    for part in graphs(graph):
        found |= {x for node in part.node for x in (*node.input, *node.output, node.name)}
        found |= {each.name for each in (*part.input, *part.output, *part.initializer)}
    return found


def _free(name: str, taken: set[str]) -> str:
    made = next(
        m for n in range(len(taken) + 1) if (m := f"{name}_{n}" * bool(n) or name) not in taken
    )
    taken.add(made)
    return made


def _prove(proto: Any, model: Model, inputs: str) -> None:
    """Have a model checked in full, and run it; ``NotReadable`` if it does not pass, or a node is
    not computed. The values themselves nobody judges."""
    try:
        onnx().checker.check_model(proto, full_check=True)
    except Exception as error:
        said = clipped(f"{type(error).__name__}: {error}")
        raise NotReadable(f"with the casts it does not pass onnx's checker: {said}") from error
    mended, why = model_of(proto, model.path), "its inputs cannot be made"
    tries = (
        [given_inputs(mended, inputs)] if inputs else [made_inputs(mended, n) for n in (2, 1, 64)]
    )
    for feeds in tries:
        if feeds is None:
            continue
        run = Evaluation(mended, lambda *_: None, SECONDS)
        try:
            run.run(feeds)
        except Exception as error:
            why = clipped(f"{type(error).__name__}: {error}")
            continue
        if not run.failed:
            return
        number, why = next(iter(run.failed.items()))
        why = f"{mended.nodes[number - 1].place.site}: {why}"
    hint = "" if inputs else "; --inputs FILE has others, if it is those"
    raise NotReadable(f"with the casts it does not run in onnx's evaluator: {why}{hint}")
