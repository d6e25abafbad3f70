"""An ONNX model as nodes with dtypes, in the order in which they stand; needs ``onnx``.

Bodies of If, Loop and Scan follow the node that has them, and functions of the model's own are
inlined. Nothing is computed here.
"""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import Any, NamedTuple

from promoarray.core.call_site import Site, shortened
from promoarray.diagnostics.file_format import NotReadable
from promoarray.diagnostics.model.flow import Place
from promoarray.diagnostics.spans import exported_from
from promoarray.dtypes import DType
from promoarray.errors import clipped
from promoarray.io.onnx import TYPES, from_onnx

MOST_BYTES = 2**31 - 1
"""As large as a message of Protocol Buffers can be."""

OPSETS = range(1, 29)
"""Those of which promoarray has a policy."""


class Value(NamedTuple):
    """What is known of a value before anything is computed."""

    dtype: DType | None = None  # None where nothing says it
    shape: tuple[int | None, ...] | None = None  # sizes that are not fixed are None


@dataclass
class Node:
    """A node of the graph, or of a body in it."""

    number: int  # in the order of the file, from 1: what stands for its line
    proto: Any
    depth: int  # of how many bodies it stands in
    graph: Any  # that it stands in
    values: MutableMapping[str, Value] = field(repr=False)
    path: str  # of the file
    # what the file declares of its outputs, which is not believed
    declared: dict[str, DType] = field(default_factory=dict, repr=False)

    @property
    def contradicted(self) -> str:
        """What the file declares that the operator does not make; "" if nothing, or if it follows
        from what is declared of an input."""
        wrong = [*map(self._otherwise, self.outputs)]
        if not any(wrong) or any(map(self._otherwise, self.inputs)):
            return ""
        name, dtype = next((x, d) for x, d in zip(self.outputs, wrong, strict=True) if d)
        return f"{name} is declared as {self.declared[name].name}, and {self.op} makes {dtype.name}"

    def _otherwise(self, name: str) -> DType | None:
        """The dtype of a value of which another is declared; None of others."""
        dtype = self.values.get(name, _NOTHING).dtype
        return dtype if dtype and self.declared.get(name, dtype) is not dtype else None

    @property
    def op(self) -> str:
        """Its operator."""
        return str(self.proto.op_type)

    @property
    def domain(self) -> str:
        """Whose operator it is; "" of ONNX's own."""
        return "" if self.proto.domain == "ai.onnx" else str(self.proto.domain)

    @property
    def inputs(self) -> list[str]:
        """The names of its inputs, "" of one that is left out."""
        return [*self.proto.input]

    @property
    def outputs(self) -> list[str]:
        """The names of its outputs."""
        return [*self.proto.output]

    def dtypes(self, names: list[str]) -> list[DType | None]:
        """The dtypes of values."""
        return [self.values.get(name, _NOTHING).dtype for name in names]

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute of it."""
        found = next((each for each in self.proto.attribute if each.name == name), None)
        return default if found is None else onnx().helper.get_attribute_value(found)

    @cached_property
    def place(self) -> Place:
        """The node in the file, and the line of the program that it was exported from."""
        given = ", ".join(map(self._worded, filter(None, self.inputs)))
        name = f"{self.proto.name}: " * bool(self.proto.name)
        text = shortened(f"{name}{self.op}({given}) -> {', '.join(self.outputs)}")
        site = Site(self.path, self.number, -1, text, text)
        return Place(site, exported_from(self.stack) or site, edited=False)

    @property
    def stack(self) -> str:
        """The lines of the program and its libraries that it was exported from; "" if none says."""
        texts = {each.key: each.value for each in self.proto.metadata_props}
        return str(texts.get("pkg.torch.onnx.stack_trace", ""))

    def _worded(self, name: str) -> str:
        dtype = self.values.get(name, _NOTHING).dtype
        return f"{name} {dtype.name}" if dtype else name


_NOTHING = Value()


@dataclass
class Model:
    """An ONNX model that was read."""

    path: str
    proto: Any  # as it stands in the file
    opset: int
    nodes: list[Node]
    inputs: dict[str, Value]
    others: dict[str, int]  # the opsets of other domains that it names

    @property
    def folder(self) -> str:
        """Where its data lie that are no part of the file."""
        return os.path.dirname(os.path.abspath(self.path))


def onnx() -> Any:
    """Return the library; ``NotReadable`` if it is not there."""
    try:
        for name in ("checker", "inliner", "shape_inference", "defs"):
            import_module(f"onnx.{name}")
        return import_module("onnx")
    except ImportError as error:
        raise NotReadable("ONNX models need onnx: pip install promoarray[onnx]") from error


def read(path: str) -> Model:
    """Read a model; ``NotReadable`` if it is none, is damaged, names data outside its folder, or is
    of an opset that is not known here."""
    library, size = onnx(), os.path.getsize(path)
    if size > MOST_BYTES:
        raise NotReadable(f"{path} has {size} bytes, and no ONNX file more than {MOST_BYTES}")
    proto = library.ModelProto()
    try:
        with open(path, "rb") as file:
            proto.ParseFromString(file.read())
        if not proto.graph.node or not proto.opset_import:
            raise NotReadable(f"{path} is no ONNX model: it has no nodes, or names no opset")
        if not all(type(text) is str for text in _texts(proto.graph)):  # proto2 lets bytes pass
            raise NotReadable(f"{path} is a damaged ONNX model: a name in it is no UTF-8")
        library.checker.check_model(_to_be_checked(proto))
    except NotReadable:
        raise
    except Exception as error:  # of several libraries, each with its own
        said = clipped(f"{type(error).__name__}: {error}")
        raise NotReadable(f"{path} is no ONNX model, or a damaged one: {said}") from error
    return model_of(proto, path)


def model_of(proto: Any, path: str) -> Model:
    """Return a message as a model."""
    versions = {each.domain: each.version for each in proto.opset_import}
    opset = versions.pop("", 0) or versions.pop("ai.onnx", 0)
    if not opset:
        raise NotReadable(f"{path} names no opset of ONNX's own operators, and no others are known")
    if opset not in OPSETS:
        known = f"{OPSETS[0]} to {OPSETS[-1]}"
        raise NotReadable(f"{path} is of opset {opset}; promoarray knows {known}")
    for tensor in tensors(proto.graph):
        _require_sound(tensor, path)
    whole = type(proto)()
    whole.CopyFrom(_inlined(proto))
    declared = dict(_undeclared(whole.graph))
    whole = _inferred(whole)
    nodes: list[Node] = []
    values: MutableMapping[str, Value] = {}
    for node in _nodes(whole.graph, values, 0, path):
        node.number, node.declared = len(nodes) + 1, declared
        _complete(node, opset)
        nodes.append(node)
    given = {each.name for each in whole.graph.initializer}
    inputs = {each.name: _value(each.type) for each in whole.graph.input if each.name not in given}
    return Model(path, proto, opset, nodes, inputs, versions)


def _texts(graph: Any) -> Iterator[Any]:
    """Yield the names that are read of a graph, and of the bodies in it."""
    for part in graphs(graph):
        for each in (*part.initializer, *part.input, *part.output, *part.value_info):
            yield each.name
        for node in part.node:
            yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
            yield from (text for each in node.metadata_props for text in (each.key, each.value))
            yield from (attribute.name for attribute in node.attribute)


# -- parts ----------------------------------------------------------------------------------------


def graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph and the bodies in it."""
    yield graph
    for node in graph.node:
        for body in bodies(node):
            yield from graphs(body)


def bodies(node: Any) -> list[Any]:
    """Return the graphs that a node has."""
    every = ((*([a.g] if a.HasField("g") else ()), *a.graphs) for a in node.attribute)
    return [body for each in every for body in each]


def tensors(graph: Any) -> Iterator[Any]:
    """Yield the tensors of a graph and of the bodies in it."""
    for part in graphs(graph):
        yield from part.initializer
        yield from (a.t for node in part.node for a in node.attribute if a.HasField("t"))


def taken(graph: Any) -> Iterator[str]:
    """Yield the values that a body takes, its own among them."""
    for part in graphs(graph):
        yield from (each.name for each in part.output)
        yield from (name for node in part.node for name in node.input)


def _require_sound(tensor: Any, path: str) -> None:
    """Read a tensor, which is held against its shape, and its data to the model's folder."""
    try:
        from_onnx(tensor, base_dir=os.path.dirname(os.path.abspath(path)))
    except (ValueError, MemoryError, OverflowError) as error:
        raise NotReadable(f"{path}: {error}") from error


def _to_be_checked(proto: Any) -> Any:
    """A model of which the checker looks for no files, and whose results have shapes: it asks for
    them, and runtimes and converters do not."""
    copy = type(proto)()
    copy.CopyFrom(proto)
    for each in copy.graph.output:
        if each.type.HasField("tensor_type"):
            each.type.tensor_type.shape.SetInParent()
    for tensor in tensors(copy.graph):
        if tensor.data_location:
            tensor.ClearField("data_location")
            tensor.ClearField("external_data")
            tensor.dims[:] = [0]
    return copy


def _undeclared(graph: Any) -> Iterator[tuple[str, DType]]:
    """Yield what a graph declares of what its nodes make, and take it out: converters leave what
    was so before them."""
    for part in graphs(graph):
        for each in (*part.value_info, *part.output):
            if (dtype := _value(each.type).dtype) is not None:
                yield each.name, dtype
        part.ClearField("value_info")
    for each in graph.output:
        each.ClearField("type")


def _inlined(proto: Any) -> Any:
    if not proto.functions:
        return proto
    try:
        return onnx().inliner.inline_local_functions(proto)
    except Exception:  # then its calls are nodes that nobody knows
        return proto


def _inferred(proto: Any) -> Any:
    try:
        return onnx().shape_inference.infer_shapes(proto, data_prop=True)
    except Exception:  # of a node that the types do not fit: the others have theirs from schemas
        return proto


def _value(type_: Any) -> Value:
    if not type_.HasField("tensor_type"):
        return Value()
    tensor = type_.tensor_type
    dtype = dtype_of(tensor.elem_type)
    if not tensor.HasField("shape"):
        return Value(dtype)
    sizes = (d.dim_value if d.dim_value > 0 else None for d in tensor.shape.dim)  # -1 is none
    return Value(dtype, tuple(sizes))


def dtype_of(number: int) -> DType | None:
    """Return the dtype of a TensorProto.DataType; None of one that is not known."""
    return _numbered().get(number)


@cache
def _numbered() -> dict[int, DType]:
    every = onnx().TensorProto.DataType.items()
    return {number: TYPES[name][0] for name, number in every if name in TYPES}


def _nodes(graph: Any, outer: MutableMapping[str, Value], depth: int, path: str) -> Iterator[Node]:
    values = ChainMap({}, outer) if depth else outer
    for tensor in graph.initializer:
        values[tensor.name] = Value(dtype_of(tensor.data_type), tuple(tensor.dims))
    for each in (*graph.input, *graph.value_info, *graph.output):
        if (found := _value(each.type)).dtype is not None:
            values[each.name] = found
    for proto in graph.node:
        yield Node(0, proto, depth, graph, values, path)
        for body in bodies(proto):
            yield from _nodes(body, values, depth + 1, path)


def _complete(node: Node, opset: int) -> None:
    """Give outputs of which nothing is inferred the dtype that the operator's schema says; else
    what is declared."""
    schema = schema_of(node.op, node.domain, opset)
    inputs = _formals(schema.inputs, len(node.inputs)) if schema else []
    outputs = _formals(schema.outputs, len(node.outputs)) if schema else [None] * len(node.outputs)
    formals = dict(zip(node.inputs, inputs, strict=False))
    for name, formal in zip(node.outputs, outputs, strict=False):
        if node.values.get(name, _NOTHING).dtype is not None:
            continue
        same = (x for x, f in formals.items() if f.type_str == formal.type_str)
        dtype = next(filter(None, node.dtypes([*same])), None)
        if node.op == "Cast":
            dtype = dtype_of(node.attribute("to", 0))
        node.values[name] = Value(dtype or node.declared.get(name))


# -- what operators take --------------------------------------------------------------------------


@cache
def schema_of(op: str, domain: str, opset: int) -> Any:
    """Return the schema of an operator in an opset; None if there is none."""
    try:
        schema = onnx().defs.get_schema(op, opset, domain)
    except onnx().defs.SchemaError:
        return None
    return None if schema.deprecated else schema


def _formals(formals: Any, count: int) -> list[Any]:
    """The parameter of each argument; the last one may take any number."""
    return [formals[min(n, len(formals) - 1)] for n in range(count)] if formals else []


def refusal(op: str, opset: int, dtypes: tuple[DType | None, ...]) -> str:
    """Return why an operator of ONNX does not take inputs in an opset; "" if it does."""
    schema = schema_of(op, "", opset)
    if schema is None:
        return f"opset {opset} has no {op}"
    bound: dict[str, tuple[str, str]] = {}
    for dtype, formal in zip(dtypes, _formals(schema.inputs, len(dtypes)), strict=False):
        if dtype is None:
            continue
        if _spelled(dtype) not in formal.types:
            return f"{op} of opset {opset} takes no {dtype.name} as {formal.name}"
        name, first = bound.setdefault(formal.type_str, (formal.name, dtype.name))
        if first != dtype.name and formal.is_homogeneous:
            both = f"{name} is {first} and {formal.name} {dtype.name}"
            return f"{op} of opset {opset} takes one type {formal.type_str}: {both}"
    return ""


@cache
def _spelled(dtype: DType) -> str:
    name = next(name for name, (each, _) in TYPES.items() if each is dtype)
    return f"tensor({'float' if name == 'FLOAT' else name.lower()})"


@cache
def refusals(op: str, dtypes: tuple[DType | None, ...]) -> dict[str, str]:
    """Return the opsets that do not take an operator with these inputs, each with the reason."""
    every = ((f"onnx@{opset}", refusal(op, opset, dtypes)) for opset in OPSETS)
    return {name: why for name, why in every if why}
