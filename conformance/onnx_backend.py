"""Run ONNX's own backend node tests of casts, quantization, Mod, CumSum, ArgMax and ArgMin.

    python conformance/onnx_backend.py                  every operator below; needs the extra `onnx`
    python conformance/onnx_backend.py Cast Mod         these alone

Each test is a model of one node with inputs and outputs, and is computed by the function that the
node is here, under the policy of the model's opset. Exit status 1 if an output differs in a bit;
floats that are computed may differ as the test allows.

Of NaN to float4 the text of Cast says 6 and the tests, made by onnx.reference, -0: these six are
run with the quirk `float4-nan-is-minus-zero` as well, and told apart.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import promoarray as pa
from promoarray.dtypes import BY_CODE, DType
from promoarray.io.onnx import TYPES
from promoarray.policies import as_policy

QUIRK = "float4-nan-is-minus-zero"


class Outcome(NamedTuple):
    """One test: what came of it, in words; "" where nothing differs."""

    name: str
    operator: str
    differs: str
    by_quirk: bool = False


# -- the operators --------------------------------------------------------------------------------


def dtype_of(number: int) -> DType:
    """The dtype of a number of TensorProto.DataType."""
    from onnx import TensorProto

    return TYPES[TensorProto.DataType.Name(number)][0]


def cast(x: Any, **attributes: Any) -> Any:
    return cast_to(x, dtype_of(attributes.pop("to")), **attributes)


def cast_to(x: Any, dtype: DType, *, saturate: int = 1, round_mode: str = "up") -> Any:
    return pa.astype(x, dtype, saturate=bool(saturate), round_mode=round_mode)


def quantize(x: Any, scale: Any, zero_point: Any = None, **attributes: Any) -> Any:
    asked = {"axis": attributes.get("axis"), "block_size": attributes.get("block_size")}
    for name, ours in (("output_dtype", "dtype"), ("precision", "precision")):
        if attributes.get(name):
            asked[ours] = dtype_of(attributes[name])
    if "saturate" in attributes:
        asked["saturate"] = bool(attributes["saturate"])
    return pa.quantize(x, scale, zero_point, **asked)


def dequantize(x: Any, scale: Any, zero_point: Any = None, **attributes: Any) -> Any:
    asked = {"axis": attributes.get("axis"), "block_size": attributes.get("block_size")}
    if attributes.get("output_dtype"):
        asked["dtype"] = dtype_of(attributes["output_dtype"])
    return pa.dequantize(x, scale, zero_point, **asked)


def modulo(x: Any, y: Any, *, fmod: int = 0) -> Any:
    return pa.fmod(x, y) if fmod else pa.remainder(x, y)


def cumulative_sum(x: Any, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Any:
    along = int(axis) % x.ndim
    x = pa.flip(x, axis=along) if reverse else x
    out = pa.cumulative_sum(x, axis=along, include_initial=bool(exclusive))
    if exclusive:
        out = out[(*(slice(None),) * along, slice(-1))]
    return pa.flip(out, axis=along) if reverse else out


def position(find: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
        given = pa.flip(x, axis=axis) if select_last_index else x
        found = find(given, axis=axis, keepdims=bool(keepdims))
        return x.shape[axis] - 1 - found if select_last_index else found

    return run


OPERATORS: dict[str, Callable[..., Any]] = {
    "Cast": cast,
    "CastLike": lambda x, like, **attributes: cast_to(x, like.dtype, **attributes),
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": pa.dynamic_quantize,
    "Mod": modulo,
    "CumSum": cumulative_sum,
    "ArgMax": position(pa.argmax),
    "ArgMin": position(pa.argmin),
}

# -- the tests ------------------------------------------------------------------------------------


def tests(operators: Sequence[str]) -> Iterator[Any]:
    """The node tests whose model is one node of these operators."""
    from onnx.backend.test.loader import load_node_model_tests

    with warnings.catch_warnings():  # as the cases of other operators are made
        warnings.simplefilter("ignore")
        found = load_node_model_tests()
    for test in found:
        nodes = [] if test.model is None else test.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in operators:
            yield test


def run(test: Any) -> Outcome:
    """Compute a test; where only the quirk has its answer, say so."""
    (node,) = test.model.graph.node
    policy = as_policy(f"onnx@{test.model.opset_import[0].version}")
    differs = difference(test, node, policy)
    by_quirk = differs and not difference(test, node, policy.with_quirks(QUIRK))
    return Outcome(test.name, node.op_type, "" if by_quirk else differs, bool(by_quirk))


def difference(test: Any, node: Any, policy: Any) -> str:
    """What differs first from the outputs that the test wants; "" if nothing does."""
    from onnx.helper import get_attribute_value

    attributes = {each.name: get_attribute_value(each) for each in node.attribute}
    attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
    with pa.policy(policy):
        for given, wanted in test.data_sets:
            named = zip((each.name for each in test.model.graph.input), given, strict=True)
            values = dict(named)  # a function's body may have inputs that it does not look at
            try:
                operands = [array(values[name]) if name else None for name in node.input]
                made = OPERATORS[node.op_type](*operands, **attributes)
            except (TypeError, ValueError, AttributeError, OverflowError) as error:
                return f"{type(error).__name__}: {error}"
            made = made if isinstance(made, tuple) else (made,)
            for out, want in zip(made, map(array, wanted), strict=True):
                if said := _differs(out, want, test.rtol):
                    return said
    return ""


def array(x: Any) -> Any:
    return pa.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else pa.from_onnx(x)


def _differs(out: Any, want: Any, tolerance: float) -> str:
    if (out.dtype, out.shape) != (want.dtype, want.shape):
        return f"{out.dtype} of {out.shape}, wanted {want.dtype} of {want.shape}"
    if out.dtype is pa.string:
        return "" if bool((out == want).all()) else f"{out}, wanted {want}"
    a, b = (x.astype(pa.float64) for x in (out, want)) if out.dtype in FLOATS else (out, want)
    a, b = np.asarray(a), np.asarray(b)
    near = np.allclose(a, b, tolerance if out.dtype.bits >= 32 else 0, 0, equal_nan=True)
    same_zeros = out.dtype not in FLOATS or np.array_equal(
        np.signbit(a[b == 0]), np.signbit(b[b == 0])
    )
    return "" if near and same_zeros else f"{a.ravel()[:9]}, wanted {b.ravel()[:9]}"


FLOATS = frozenset(row for row in BY_CODE.values() if row.format is not None)


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit status."""
    import onnx

    done = [run(test) for test in tests(words or [*OPERATORS])]
    for operator, count in Counter(each.operator for each in done).items():
        own = [each for each in done if each.operator == operator]
        failed, by_quirk = sum(bool(e.differs) for e in own), sum(e.by_quirk for e in own)
        print(
            f"{operator}: {count - failed} of {count}", f"({by_quirk} by {QUIRK})" * bool(by_quirk)
        )
    for each in done:
        if each.differs:
            print(f"{each.name}: {each.differs}")
    passed = sum(not each.differs for each in done)
    print(f"onnx {onnx.__version__}: {passed} of {len(done)} backend node tests pass")
    return int(passed < len(done))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
