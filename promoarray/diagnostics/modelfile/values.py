"""Every value of an ONNX model, computed by the reference evaluator of ``onnx``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.modelfile.graph import Model, Node, Value, bodies, onnx, taken
from promoarray.dtypes import INTEGERS, DType, Kind, string
from promoarray.errors import clipped

Tell = Callable[[Node, list[Any], list[Any]], list[Any] | None]
"""Hears of a node with the values of its inputs and of its outputs; returns what the run goes on
with in place of these, if it does."""

Fixed = Callable[[dict[str, Any]], dict[str, Any]]
"""Returns what the run goes on with in place of the model's own arrays."""

PASSES = 64
"""So many passes of a loop's body are looked at."""

SEED = 0


class Evaluation:
    """One run of a model, of which ``tell`` hears node by node; after so many seconds no further
    node is begun.

    ``failed`` has by the numbers of nodes why they were not computed; ``empty`` counts those that
    gave arrays without elements, as inputs too small for the model make them.
    """

    def __init__(
        self, model: Model, tell: Tell, seconds: float, fixed: Fixed = lambda x: x
    ) -> None:
        self._until, self.fixed = time.monotonic() + seconds, fixed
        self._tell, self.failed, self.empty = tell, dict[int, str](), 0
        self._nodes = {(n.op, *n.outputs): n for n in model.nodes}
        self._passes = Counter[int]()
        self._model = model

    def run(self, feeds: Mapping[str, Any]) -> None:
        """Compute the model, and tell of every node."""
        library, evaluator = onnx(), _evaluator()
        proto = type(self._model.proto)()
        proto.CopyFrom(self._model.proto)
        # Where ``read`` has seen them to lie in the model's own folder.
        library.external_data_helper.load_external_data_for_model(proto, self._model.folder)
        if proto.functions:
            proto = library.inliner.inline_local_functions(proto)
        made = evaluator(proto)
        results = {"": None, **self.fixed(made.rt_inits_), **feeds}
        with np.errstate(all="ignore"):
            self.graph(made, results, top=True)
        for node in self._model.nodes:
            if node.number not in self._passes and not node.depth:
                self.failed.setdefault(node.number, "it follows a node that was not computed")

    def graph(self, made: Any, results: dict[str, Any], *, top: bool = False) -> None:
        """Compute the nodes of a graph into ``results``; of the model itself all that can be."""
        gone = _last_uses(made) if top else {}
        for each in made.rt_nodes_:
            node = self._nodes.get((each.onnx_node.op_type, *each.output))
            if time.monotonic() > self._until:
                raise TimeoutError
            if top and any(name not in results for name in each.input):
                continue
            try:
                inputs = [results[name] for name in each.input]
                how = {"context": results} if each.need_context() else {}
                with _watched(self):
                    outputs = each.run(*inputs, **how)
            except (TimeoutError, MemoryError):
                raise
            except Exception as error:  # whatever an operator raises
                if not top:
                    raise
                if node is not None:
                    self.failed[node.number] = clipped(f"{type(error).__name__}: {error}")
                continue
            if top and node is not None and (why := _misshapen(node, outputs)):
                self.failed[node.number] = why
                continue
            self.empty += any(isinstance(x, np.ndarray) and not x.size for x in outputs)
            if node is not None:
                self._passes[node.number] += 1
                if self._passes[node.number] <= PASSES:
                    outputs = self._tell(node, inputs, [*outputs]) or outputs
            results.update(zip(each.output, outputs, strict=False))
            for name in gone.get(id(each), ()):
                results.pop(name, None)


def _misshapen(node: Node, outputs: Any) -> str:
    """Say that the evaluator gives another shape than the operator has; "" if it does not."""
    for name, x in zip(node.outputs, outputs, strict=False):
        shape = node.values[name].shape if name in node.values else None
        if shape is None or not isinstance(x, np.ndarray):
            continue
        pairs = zip(shape, x.shape, strict=False)
        if len(shape) != x.ndim or any(n is not None and n != given for n, given in pairs):
            return f"the reference evaluator gives the shape {x.shape}, and it is {shape}"
    return ""


def _last_uses(made: Any) -> dict[int, list[str]]:
    """From nodes to the values that no later one takes, nor a body in one: their memory is let go,
    but for a node that was not computed."""
    last: dict[str, int] = {}
    for each in made.rt_nodes_:
        within = (x for body in bodies(each.onnx_node) for x in taken(body))
        last |= dict.fromkeys((*each.input, *within), id(each))
    found: dict[int, list[str]] = {}
    for name, node in last.items():
        found.setdefault(node, []).append(name)
    return found


_watching: list[Evaluation] = []


class _watched:
    """Has bodies computed meanwhile tell of their nodes."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def __enter__(self) -> None:
        _watching.append(self._evaluation)

    def __exit__(self, *_: object) -> None:
        _watching.pop()


def _evaluator() -> Any:
    """The library's evaluator, which goes on at operators that it does not have, and whose bodies
    tell of their nodes."""
    reference: Any = import_module("onnx.reference")
    function = onnx().FunctionProto

    class Watching(reference.ReferenceEvaluator):  # type: ignore[misc]
        def _load_impl(self, node: Any, input_types: Any = None) -> Any:
            trains = self.opsets.get("", 0) >= 14 or len(node.output) > 1
            ours = None if node.domain else _mended().get(node.op_type)
            if ours is not None and not (node.op_type == "BatchNormalization" and trains):
                return ours
            try:
                return super()._load_impl(node, input_types)
            except Exception as error:
                if input_types is None and type(error).__name__ == "RuntimeContextError":
                    if not self.all_types_:  # then it is asked as it runs
                        self.all_types_: Any = {"": None}
                    raise
                return _unknown(error)

        def run(self, names: Any, feeds: Any, attributes: Any = None, **more: Any) -> Any:
            if isinstance(self.proto_, function) or not _watching:
                return super().run(names, feeds, attributes, **more)
            results = {"": None, **_watching[-1].fixed(self.rt_inits_), **feeds}
            _watching[-1].graph(self, results)
            return [results[name] for name in names or self.output_names]

    return Watching


@cache
def _mended() -> dict[str, Any]:
    """Operators that onnx 1.23.2 computes otherwise than it defines them.

    GatherElements fails where data are longer than indices along the axis; GlobalMaxPool has
    another shape, and other values, for data of other than two spatial axes; BatchNormalization
    before opset 14 computes as in training where a momentum is told.
    """
    op_run: Any = import_module("onnx.reference.op_run")

    class GatherElements(op_run.OpRun):  # type: ignore[misc]
        def _run(self, data: Any, indices: Any, axis: int = 0) -> Any:
            around = tuple(slice(0, n) for n in indices.shape)
            axis %= data.ndim
            return (
                np.take_along_axis(data[*around[:axis], :, *around[axis + 1 :]], indices, axis),
            )

    class GlobalMaxPool(op_run.OpRun):  # type: ignore[misc]
        def _run(self, x: Any) -> Any:
            return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)

    class BatchNormalization(op_run.OpRun):  # type: ignore[misc]
        def _run(self, x: Any, *given: Any, epsilon: float = 1e-5, **_: Any) -> Any:
            shape = (1, -1, *[1] * (x.ndim - 2))
            scale, bias, mean, variance = (each.reshape(shape) for each in given)
            made = (x - mean) / np.sqrt(variance + x.dtype.type(epsilon)) * scale + bias
            return (made.astype(x.dtype),)

    every = GatherElements, GlobalMaxPool, BatchNormalization
    return {each.__name__: each for each in every}


def _unknown(error: Exception) -> Any:
    """What stands for an operator that the evaluator does not have."""

    class Unknown:
        has_linked_attribute = False

        def __init__(self, node: Any, *_: Any, **__: Any) -> None:
            self.onnx_node, self.op_type = node, node.op_type
            self.input, self.output = [*node.input], [*node.output]

        def need_context(self) -> bool:
            return False

        def run(self, *_: Any) -> Any:
            raise error

    return Unknown


# -- inputs ---------------------------------------------------------------------------------------


def given_inputs(model: Model, path: str) -> dict[str, Any]:
    """Read the inputs of a model from an npz file; ``UsageError`` if one is missing, is of another
    dtype or shape, or the model has no such input."""
    from promoarray.io.npz import load

    try:
        arrays = {name: (x._buffer, x.dtype) for name, x in load(path).items()}
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{path} is no npz file of inputs: {error}") from error
    if {*arrays} != {*model.inputs}:
        listed = ", ".join(model.inputs)
        raise UsageError(f"{path} has {', '.join(arrays)}, and the model's inputs are {listed}")
    for name, (buffer, dtype) in arrays.items():
        wanted = model.inputs[name]
        fits = wanted.shape is None or (
            len(wanted.shape) == buffer.ndim
            and all(s in (None, n) for s, n in zip(wanted.shape, buffer.shape, strict=True))
        )
        if dtype is not wanted.dtype or not fits:
            was = f"{dtype.name}{[*buffer.shape]}"
            raise UsageError(f"{path}: {name} is {was}, and the model takes {spelled(wanted)}")
    return {name: buffer for name, (buffer, _) in arrays.items()}


def spelled(value: Value) -> str:
    """Return what is known of a value in words: ``float32[1, ?]``."""
    name = value.dtype.name if value.dtype else "no tensor"
    sizes = (
        "" if value.shape is None else ", ".join("?" if s is None else str(s) for s in value.shape)
    )
    return f"{name}[{sizes}]"


MOST_ELEMENTS = 1 << 28


def made_inputs(model: Model, size: int) -> dict[str, Any] | None:
    """Return random inputs of the declared shapes, of a size where that is not fixed, and of two
    data at a time at most; None of a model that takes no tensors, or such that are too large."""
    random = np.random.default_rng(SEED)
    found = {}
    for name, value in model.inputs.items():
        free = (min(size, 2), *[size] * len(value.shape or ()))
        shape = tuple(n if s is None else s for s, n in zip(value.shape or (), free, strict=False))
        if value.dtype is None or int(np.prod(shape, dtype=object)) > MOST_ELEMENTS:
            return None
        found[name] = _random(random, value.dtype, shape)
    return found


def _random(random: Any, dtype: DType, shape: tuple[int, ...]) -> Any:
    if dtype is string:
        return np.full(shape, "a", object)
    if dtype.kind in INTEGERS or dtype.kind is Kind.BOOL:
        return random.integers(0, 2, shape).astype(dtype.storage)  # which are indices of anything
    if dtype.kind is Kind.COMPLEX:
        return random.standard_normal(shape).astype(dtype.storage)
    return np.asarray(random.standard_normal(shape).astype(np.float32)).astype(dtype.storage)


def as_numbers(x: Any, dtype: DType | None) -> Any:
    """Return a value as the storage of a dtype; None of what is no such tensor."""
    if dtype is None or not isinstance(x, (np.ndarray, np.generic)) or dtype is string:
        return None
    array = np.asarray(x)
    return array if array.dtype == dtype.storage else None
