"""Models of one operator in LiteRT (formerly TensorFlow Lite) on the CPU, fed and read by bits.

The models are flatbuffers that LiteRT's own schema writes, so that no converter decides what is
asked. The reference interpreter's built-in kernels run, without the XNNPACK delegate: the answers
are those of the kernels that are named, whatever the machine.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from onnx_sessions import NAMES, Bits

TENSORS = {"f8_e4m3fn": "FLOAT8_E4M3FN", "f8_e5m2": "FLOAT8_E5M2"}
"""Types that the schema spells otherwise."""
PACKED = {"i4": 4, "u4": 4, "i2": 2, "u2": 2}


def packed(values: Bits, code: str) -> bytes:
    """The bytes of values; of narrow types several a byte, the first in the low bits."""
    bits = PACKED.get(code)
    if bits is None:
        return np.ascontiguousarray(values).tobytes()
    each = 8 // bits
    codes = values.ravel().view(np.uint8) & ((1 << bits) - 1)
    codes = np.append(codes, np.zeros(-codes.size % each, np.uint8)).reshape(-1, each)
    return np.bitwise_or.reduce(codes << (np.arange(each) * bits).astype(np.uint8), 1).tobytes()


def model(
    name: str,
    inputs: Sequence[tuple[str, Bits]],
    made: str | tuple[str, ...],
    options: Mapping[str, Any],
    version: int,
) -> bytes:
    """A model of one operator, of which every input is a constant."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    def tensor(code: str, shape: Sequence[int], buffer: int) -> Any:
        made = schema.TensorT()
        made.type = getattr(schema.TensorType, TENSORS.get(code, NAMES[code].upper()))
        made.shape, made.buffer, made.name = list(shape), buffer, f"t{buffer}".encode()
        return made

    buffers, tensors = [schema.BufferT()], []
    for code, values in inputs:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(packed(values, code), np.uint8)
        buffers.append(buffer)
        tensors.append(tensor(code, values.shape, len(buffers) - 1))
    results = (made,) if isinstance(made, str) else made
    for code in results:
        buffers.append(schema.BufferT())
        tensors.append(tensor(code, (), len(buffers) - 1))
    operation = schema.OperatorT()
    operation.inputs = list(range(len(inputs)))
    operation.outputs = list(range(len(inputs), len(tensors)))
    if "table" in options:
        table = getattr(schema, f"{options['table']}T")()
        for key, value in options.items():
            if key != "table":
                setattr(table, key, value)
        operation.builtinOptions = table
        operation.builtinOptionsType = getattr(schema.BuiltinOptions, options["table"])
    number = getattr(schema.BuiltinOperator, name)
    code = schema.OperatorCodeT()
    code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), version
    graph = schema.SubGraphT()
    graph.tensors, graph.operators = tensors, [operation]
    graph.inputs, graph.outputs = [], operation.outputs
    whole = schema.ModelT()
    whole.version, whole.operatorCodes = 3, [code]
    whole.subgraphs, whole.buffers = [graph], buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(whole.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def started(content: bytes) -> Any:
    """An interpreter of a model, without delegates."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    return Interpreter(
        model_content=content,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        num_threads=1,
    )


@cache
def newest(name: str) -> int:
    """The newest version of an operator that the runtime registers."""
    x = ("f32", np.ones(1, np.float32))
    for version in range(12, 0, -1):
        try:
            started(model(name, [x], "f32", {}, version))
        except ValueError:
            continue
        return version
    raise ValueError(f"LiteRT registers no {name}")


def run(
    name: str,
    inputs: Sequence[tuple[str, Bits]],
    made: str | tuple[str, ...],
    **options: Any,
) -> Bits:
    """Compute one operator in a child process, as kernels abort; the first of its results.

    Raises
    ------
    RuntimeError
        If there is no kernel for these types.
    """
    content = model(name, inputs, made, options, newest(name))
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        with open(writes, "wb") as out:
            pickle.dump(_answer(content), out)
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as given:
        told = given.read()
    os.waitpid(child, 0)
    if not told:
        raise RuntimeError(f"{name} aborts")
    answer = pickle.loads(told)
    if isinstance(answer, str):
        raise RuntimeError(answer)
    return answer


def _answer(content: bytes) -> Any:
    """The first result of a model, or what was raised."""
    try:
        interpreter = started(content)
        interpreter.allocate_tensors()
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    except (RuntimeError, ValueError, TypeError) as error:
        return str(error)


@dataclass(frozen=True)
class Operator:
    """An operator of the schema.

    Attributes
    ----------
    name : str
    numpy : callable
        What it computes of plain numbers.
    arity : int
        How many arrays it takes.
    made : str
        The type of its result, where that is not the arrays'.
    options : mapping
        Its table in the schema, as ``table``, and what stands in it.
    more : callable
        Its further inputs, of the number of axes.
    others : tuple of str
        The types of its further results.
    """

    name: str
    numpy: Callable[..., Any]
    arity: int = 1
    made: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    more: Callable[[int], Sequence[tuple[str, Bits]]] = lambda ndim: ()
    others: tuple[str, ...] = ()

    def asked(self, code: str, *arrays: Bits, **options: Any) -> Bits:
        """Compute it of arrays of one type."""
        given = [*((code, x) for x in arrays), *self.more(arrays[0].ndim)]
        made = (self.made or code, *self.others)
        return run(self.name, given, made, **{**self.options, **options})


def _int32(*values: int) -> tuple[str, Bits]:
    return "i32", np.array(values, np.int32)


def _first(ndim: int) -> list[tuple[str, Bits]]:
    return [("i32", np.int32(0))]


def _binary(name: str, numpy: Callable[..., Any], made: str = "", table: str = "") -> Operator:
    table = table or name.title().replace("_", "") + "Options"
    return Operator(name, numpy, 2, made, {"table": table})


def _reduction(name: str, numpy: Callable[..., Any]) -> Operator:
    options = {"table": "ReducerOptions", "keepDims": False}
    return Operator(name, numpy, 1, "", options, lambda ndim: [_int32(*range(ndim))])


def _position(name: str, numpy: Callable[..., Any]) -> Operator:
    options = {"table": f"{name.title().replace('_', '')}Options", "outputType": 4}
    return Operator(
        name, partial(numpy, axis=0), 1, "i64", options, lambda ndim: [("i32", np.int32(0))]
    )


def _trunc(x: Bits, y: Bits) -> Bits:
    return x / y if x.dtype.kind not in "iu" else np.trunc(x / y)


def _operators() -> Iterator[Operator]:
    for name, numpy in {
        "ADD": np.add,
        "SUB": np.subtract,
        "MUL": np.multiply,
        "DIV": _trunc,
        "FLOOR_DIV": np.floor_divide,
        "FLOOR_MOD": np.remainder,
        "POW": np.power,
        "BITWISE_XOR": np.bitwise_xor,
        "RIGHT_SHIFT": np.right_shift,
        "LOGICAL_AND": np.logical_and,
        "LOGICAL_OR": np.logical_or,
    }.items():
        yield _binary(name, numpy)
    yield _binary("MAXIMUM", np.maximum, table="MaximumMinimumOptions")
    yield _binary("MINIMUM", np.minimum, table="MaximumMinimumOptions")
    yield _binary("ATAN2", np.arctan2, table="ATan2Options")
    yield _binary("BATCH_MATMUL", np.matmul, table="BatchMatMulOptions")
    for name in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        yield _binary(name, getattr(np, name.lower()), "b1")
    for name, numpy in {
        "ABS": np.abs,
        "NEG": np.negative,
        "SIGN": np.sign,
        "FLOOR": np.floor,
        "CEIL": np.ceil,
        "ROUND": np.round,
        "SQRT": np.sqrt,
        "EXP": np.exp,
        "LOG": np.log,
        "SIN": np.sin,
        "COS": np.cos,
        "TANH": np.tanh,
        "SQUARE": np.square,
        "LOGICAL_NOT": np.logical_not,
    }.items():
        yield Operator(name, numpy)
    for name, numpy in {
        "SUM": np.sum,
        "REDUCE_PROD": np.prod,
        "MEAN": lambda x: np.mean(x).astype(x.dtype),
        "REDUCE_MAX": np.max,
        "REDUCE_MIN": np.min,
        "REDUCE_ALL": np.all,
        "REDUCE_ANY": np.any,
    }.items():
        yield _reduction(name, numpy)
    yield _position("ARG_MAX", np.argmax)
    yield _position("ARG_MIN", np.argmin)
    axis = {"axis": 0}
    yield Operator(
        "CUMSUM",
        partial(np.cumsum, axis=0),
        options={"table": "CumsumOptions"},
        more=_first,
    )
    yield Operator(
        "CONCATENATION",
        lambda x, y: np.concatenate([x, y]),
        2,
        options={"table": "ConcatenationOptions", **axis},
    )
    yield Operator(
        "PACK",
        lambda x, y: np.stack([x, y]),
        2,
        options={"table": "PackOptions", "valuesCount": 2, **axis},
    )
    yield Operator(
        "TOPK_V2",
        lambda x: -np.sort(-x.astype(float)),
        options={"table": "TopKV2Options"},
        more=lambda ndim: [("i32", np.int32(2))],
        others=("i32",),
    )


OPERATORS = {operator.name: operator for operator in _operators()}
"""By name. SELECT_V2, whose condition comes first, is not among them."""
