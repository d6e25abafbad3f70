"""ONNX: one operator a line, type-checked as the checker does and computed by onnx.reference.

``onnx@25`` asks opset 25. ONNX has no scalars beside tensors, so that a line with a Python number
is not asked; nor is a function that no single operator computes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import onnx_sessions
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from programs.frameworks import Framework
from programs.program import words

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
    " complex64 complex128 float8_e4m3fn float8_e5m2 int4 uint4"
)
CODES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "float8_e4m3fn": "FLOAT8E4M3FN",
    "float8_e5m2": "FLOAT8E5M2",
}

CODES_OF = onnx_sessions.CODES
NARROW = words("float8_e4m3fn float8_e5m2")

BINARY = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "pow": "Pow",
    "remainder": "Mod",
    "equal": "Equal",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "matmul": "MatMul",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
    "maximum": "Max",
    "minimum": "Min",
}
UNARY = {
    **{name: name.capitalize() for name in words("sin cos tan sinh cosh tanh exp log sqrt abs")},
    **{
        name: name.capitalize() for name in words("reciprocal sign floor ceil round asin acos atan")
    },
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
    "negative": "Neg",
    "isnan": "IsNaN",
    "isinf": "IsInf",
    "logical_not": "Not",
    "positive": "Identity",
}
REDUCTIONS = {
    "sum": "ReduceSum",
    "prod": "ReduceProd",
    "mean": "ReduceMean",
    "max": "ReduceMax",
    "min": "ReduceMin",
}
WITH_AXES = frozenset({*REDUCTIONS.values(), "CumSum"})
OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "equal": operator.eq,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "matmul": operator.matmul,
}
OPSETS = {21: 10, 25: 12}
"""From an opset to the version of the model's format that brought it, as far as it matters."""


class NotAskedError(Exception):
    """What ONNX has no word for."""


class RefusedError(Exception):
    """What a runtime does not load: it has no kernel."""


class Tensor:
    """Values and their type, with Python's operators as operators of ONNX."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, dtype: str, values: Any, opset: int) -> None:
        self.dtype, self.values, self.opset = dtype, values, opset

    def __getitem__(self, key: Any) -> Any:
        raise NotAskedError("no single operator")


def run(name: str, inputs: tuple[Any, ...], opset: int, **attributes: Any) -> Tensor:
    """Check one node and compute it; axes, the last of inputs, are a constant of the model."""
    constants = inputs[-1:] if name in WITH_AXES and not isinstance(inputs[-1], Tensor) else ()
    inputs = inputs[: len(inputs) - len(constants)]
    if not all(isinstance(x, Tensor) for x in inputs):
        raise NotAskedError("a Python scalar is no tensor")
    signature = tuple((x.dtype, x.values.shape) for x in inputs)
    said = tuple(sorted(attributes.items()))
    evaluate, dtype = _prepared(name, signature, constants, opset, said)
    values = evaluate({f"x{i}": x.values for i, x in enumerate(inputs)})
    return Tensor(dtype, np.asarray(values), opset)


def _reference(model: Any, types: dict[str, str], made: str) -> Callable[[dict[str, Any]], Any]:
    evaluator = ReferenceEvaluator(model)
    return lambda feeds: evaluator.run(None, feeds)[0]


started: list[Callable[[Any, dict[str, str], str], Callable[[dict[str, Any]], Any]]] = [_reference]
"""What computes models, the last: from a model, the types of its inputs and that of its result to
what computes values."""


@lru_cache(maxsize=4096)
def _prepared(
    name: str,
    signature: tuple[tuple[str, tuple[int, ...]], ...],
    constants: tuple[Any, ...],
    opset: int,
    attributes: tuple[tuple[str, Any], ...],
) -> tuple[Callable[[dict[str, Any]], Any], str]:
    """What computes a node whose types the checker admits, and the type of its result."""
    names = [f"x{i}" for i in range(len(signature))]
    inputs = [
        helper.make_tensor_value_info(x, _code(dtype), shape)
        for x, (dtype, shape) in zip(names, signature, strict=True)
    ]
    fixed = [onnx.numpy_helper.from_array(np.array(each, np.int64), "axes") for each in constants]
    given = [*names, *(each.name for each in fixed)]
    node = helper.make_node(name, given, ["y"], **dict(attributes))
    made = [onnx.ValueInfoProto(name="y")]
    graph = helper.make_graph([node], "program", inputs, made, fixed)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    code = inferred.graph.output[0].type.tensor_type.elem_type
    types = {x: dtype for x, (dtype, _) in zip(names, signature, strict=True)}
    return started[-1](inferred, types, _name(code)), _name(code)


def _code(dtype: str) -> int:
    return int(getattr(TensorProto, CODES.get(dtype, dtype.upper())))


def _name(code: int) -> str:
    return next(name for name in DTYPES if _code(name) == code)


def framework(edition: str) -> Framework:
    """An opset of the installed onnx."""
    opset = int(edition or 25)

    def operation(name: str, **attributes: Any) -> Callable[..., Tensor]:
        return lambda *inputs: run(name, inputs, opset, **attributes)

    def reduction(name: str) -> Callable[..., Tensor]:
        def reduce(x: Tensor, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
            listed = np.array(() if axis is None else axis).ravel().tolist()
            if (
                (isinstance(axis, tuple) and not axis)
                or len({n % max(x.values.ndim, 1) for n in listed}) < len(listed)
                or not all(type(n) is int for n in listed)
            ):
                raise NotAskedError("axes are different integers, and none are all")
            axes = () if axis is None else (tuple(listed),)
            return run(name, (x, *axes), opset, keepdims=int(keepdims))

        return reduce

    def position(name: str) -> Callable[..., Tensor]:
        def search(x: Tensor, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
            if type(axis) is not int:
                raise NotAskedError(f"{name} needs an axis")
            return run(name, (x,), opset, axis=axis, keepdims=int(keepdims))

        return search

    def bitwise(symbol: str, function: str, of_bools: str) -> Callable[..., Tensor]:
        def both(x: Any, y: Any) -> Tensor:
            bools = isinstance(x, Tensor) and x.dtype == "bool"
            return run(of_bools if bools else function, (x, y), opset)

        setattr(Tensor, symbol, both)
        return both

    def different(x: Any, y: Any) -> Tensor:
        return run("Not", (run("Equal", (x, y), opset),), opset)

    def concat(arrays: list[Tensor], *, axis: int | None = 0) -> Tensor:
        if axis is None:
            raise NotAskedError("Concat needs an axis")
        return run("Concat", tuple(arrays), opset, axis=axis)

    def cumulative(x: Tensor, *, axis: int | None = None) -> Tensor:
        if type(axis) is not int:
            raise NotAskedError("CumSum needs an axis")
        if not x.values.ndim:
            raise NotAskedError("no tensor of no axes has one")
        return run("CumSum", (x, axis), opset)

    functions: dict[str, Any] = {
        **{name: operation(theirs) for name, theirs in {**BINARY, **UNARY}.items()},
        **{name: reduction(theirs) for name, theirs in REDUCTIONS.items()},
        "argmax": position("ArgMax"),
        "argmin": position("ArgMin"),
        "bitwise_and": bitwise("__and__", "BitwiseAnd", "And"),
        "bitwise_or": bitwise("__or__", "BitwiseOr", "Or"),
        "bitwise_xor": bitwise("__xor__", "BitwiseXor", "Xor"),
        "bitwise_left_shift": operation("BitShift", direction="LEFT"),
        "bitwise_right_shift": operation("BitShift", direction="RIGHT"),
        "where": operation("Where"),
        "clip": lambda x, low, high: (
            run("Clip", tuple(v for v in (x, low, high) if v is not None), opset)
            if low is not None
            else _not_asked()
        ),
        "concat": concat,
        "not_equal": different,
        "cumulative_sum": cumulative,
        "astype": lambda x, dtype: run("Cast", (x,), opset, to=_code(dtype)),
    }
    for name, symbol in OPERATORS.items():
        setattr(Tensor, f"__{symbol.__name__.strip('_')}__", functions[name])
    for name, symbol in (
        ("bitwise_left_shift", "__lshift__"),
        ("bitwise_right_shift", "__rshift__"),
    ):
        setattr(Tensor, symbol, functions[name])
    for function, symbol in (
        ("negative", "__neg__"),
        ("positive", "__pos__"),
        ("not_equal", "__ne__"),
    ):
        setattr(Tensor, symbol, functions[function])
    functions["bitwise_invert"] = Tensor.__invert__ = lambda x: run(  # type: ignore[attr-defined]
        "Not" if x.dtype == "bool" else "BitwiseNot", (x,), opset
    )
    return Framework(
        version=f"onnx {onnx.__version__}, opset {opset}",
        policy=f"onnx@{opset}",
        functions=functions,
        dtypes={name: name for name in DTYPES},
        enter=lambda array, dtype: Tensor(dtype, array, opset),
        leave=leave,
        missing=missing,
        cast_only=frozenset(words("float8_e4m3fn float8_e5m2 int4 uint4")),
        traits=frozenset({"no scalars"}),
    )


def of_runtime(name: str, edition: str, opset: int) -> Framework:
    """A runtime in place of onnx.reference."""
    version, opened = getattr(onnx_sessions, name)()

    def start(model: Any, types: dict[str, str], made: str) -> Callable[[dict[str, Any]], Any]:
        try:
            infer = opened(model.SerializeToString())
        except Exception as error:
            raise RefusedError(str(error)) from None
        codes = {x: CODES_OF[dtype] for x, dtype in types.items()}
        result = CODES_OF[made]
        return lambda feeds: infer({x: (codes[x], v) for x, v in feeds.items()}, result)

    started.append(start)
    fields = {"version": version, "policy": f"{name}@{edition}", "cast_only": frozenset(NARROW)}
    made = replace(framework(str(opset)), **fields)
    four_bits = ("int4", "uint4")  # which a runtime takes none of from outside
    return replace(made, dtypes={n: n for n in DTYPES if n not in four_bits})


def missing(error: Exception) -> bool:
    """Whether a line means no operator, or one that onnx.reference has not for these types."""
    said = (
        "operand type",
        "unexpected keyword",
        "Issues with types",
        "'axis' must be",
        "axis must be",
    )
    return isinstance(error, (NotAskedError, NotImplementedError)) or any(
        words in str(error) for words in said
    )


def _not_asked() -> Any:
    raise NotAskedError("Clip takes its lower bound first")


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor."""
    if not isinstance(x, Tensor):
        raise NotAskedError(f"{type(x).__name__} is no tensor")
    wide = "int8" if "int" in x.dtype else "float64"
    standard = x.values.dtype.kind in "biufc"
    return x.dtype, False, x.values if standard else x.values.astype(wide)
