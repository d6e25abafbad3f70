"""Ask tinygrad: dtypes of what is not computed yet, values with ``DEV=PYTHON``."""

from __future__ import annotations

import os
from functools import partial
from importlib.metadata import version
from typing import Any

import _ask

NAMES = {
    "divide": "div",
    "subtract": "sub",
    "multiply": "mul",
    "remainder": "mod",
    "left_shift": "lshift",
    "right_shift": "rshift",
    "negative": "neg",
    "bitwise_invert": "bitwise_not",
    "not_equal": "ne",
    "equal": "eq",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
}
COMPARED = {
    "less": "__lt__",
    "greater": "__gt__",
    "less_equal": "__le__",
    "greater_equal": "__ge__",
}


def edition() -> _ask.Oracle:
    """Tinygrad as installed."""
    os.environ["DEV"] = "PYTHON"
    from tinygrad import Tensor, dtypes

    have = {
        _ask.CODES[name]: getattr(dtypes, name) for name in _ask.DTYPES if hasattr(dtypes, name)
    }
    codes = {dtype: code for code, dtype in have.items()}
    codes |= {dtypes.weakint: "i32", dtypes.weakfloat: "f32"}
    shapes = ((2,), (2, 2), ())
    arrays, square, zero_d = (
        {c: Tensor.ones(*shape, dtype=d).contiguous() for c, d in have.items()} for shape in shapes
    )
    condition = Tensor([True, False])

    def code(answer: Any) -> str:
        if not isinstance(answer, Tensor):
            raise TypeError(f"{type(answer).__name__} is no tensor")
        return codes[answer.dtype]

    def first(answer: Any) -> str:
        return f"{code(answer)}:{answer.tolist()[0]}"

    def pairs(names: tuple[str, ...]) -> dict[str, Any]:
        found = _ask.named(Tensor, names, NAMES | COMPARED)
        return found | {"where": lambda x, y: condition.where(x, y)}

    def of_bits(functions: dict[str, Any]) -> dict[str, Any]:
        """Refuse floats in what works on bits: they have a dtype there, and fail when computed."""

        def asked(*operands: Any, function: Any) -> Any:
            made = function(*operands)
            return _ask.REFUSED if dtypes.is_float(made.dtype) else made

        return {
            n: partial(asked, function=f) if n.startswith("bitwise") else f
            for n, f in functions.items()
        }

    functions = of_bits(pairs(_ask.BINARY))
    functions["stack"] = lambda x, y: Tensor.stack(x, y)
    functions["concat"] = lambda x, y: Tensor.cat(x, y)
    reductions = _ask.named(Tensor, _ask.REDUCE, NAMES)
    reductions["cumulative_prod"] = lambda x: x.cumprod(0)
    operands = {**arrays, **_ask.SCALARS}
    apart = ("matmul", "concat", "stack")
    plain = {name: f for name, f in functions.items() if name not in apart}
    near = {n: plain[n] for n in (*_ask.ZERO_D, *_ask.MORE_ZERO_D) if n in plain}
    sections = {
        **_ask.binary("function", plain, arrays, operands, both_scalars=False),
        **_ask.binary("function", {n: functions[n] for n in apart}, square, square),
        **_ask.binary("operator", of_bits(_ask.OPERATORS), operands, operands, both_scalars=False),
        **_ask.binary("array_0d", near, arrays, zero_d),
        **_ask.binary("0d_array", near, zero_d, arrays),
        **_ask.inplace(
            lambda c: Tensor.ones(2, dtype=have[c]).contiguous(),
            have,
            operands,
            of_bits({n: f for n, f in _ask.INPLACE.items() if n != "remainder"}),
        ),
        "clip": _ask.Section(lambda x, y: x.clip(y, y), arrays, {"int": 1, "float": 1.0}),
        "unary": _ask.unary(of_bits(_ask.named(Tensor, _ask.UNARY, NAMES)), arrays),
        "reduce": _ask.unary(reductions, arrays),
        **_ask.scalars({c: x for c, x in arrays.items() if "f8" not in c}, first),
    }
    meta = {"policy": "tinygrad@0.14", "tinygrad": version("tinygrad")}
    meta |= {"how": "dtypes of lazy tensors; scalars computed, DEV=PYTHON; weak results by default"}
    return _ask.Oracle(meta, code, sections)


if __name__ == "__main__":
    _ask.main({"tinygrad": edition})
