"""Ask MLX, on the CPU device: ``python conformance/oracles/mlx.py [--out conformance/golden]``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import _ask

NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "bitwise_invert": "bitwise_invert",
    "pow": "power",
    "argmax": "argmax",
    "abs": "abs",
}
"""What MLX calls them, where that is not the array API's name."""


def edition() -> _ask.Oracle:
    """MLX as installed."""
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    names = {name: "bool_" if name == "bool" else name for name in _ask.DTYPES}
    dtypes = {
        _ask.CODES[name]: getattr(mx, theirs)
        for name, theirs in names.items()
        if hasattr(mx, theirs)
    }
    codes = {dtype: code for code, dtype in dtypes.items()}
    shapes = ((2,), (2, 2), ())
    arrays, square, zero_d = ({c: mx.ones(s, d) for c, d in dtypes.items()} for s in shapes)
    condition = mx.array([True, False])

    def code(answer: Any) -> str:
        if not isinstance(answer, mx.array):
            raise TypeError(f"{type(answer).__name__} is no array")
        mx.eval(answer)
        return codes[answer.dtype]

    def first(answer: Any) -> str:
        return f"{code(answer)}:{answer[0].item()}"

    functions = _ask.named(mx, _ask.BINARY, NAMES) | {
        "where": lambda x, y: mx.where(condition, x, y),
        "concat": lambda x, y: mx.concatenate([x, y]),
        "stack": lambda x, y: mx.stack([x, y]),
    }
    reductions = _ask.named(mx, _ask.REDUCE, {}) | {
        "cumulative_sum": mx.cumsum,
        "cumulative_prod": mx.cumprod,
    }
    operands = {**arrays, **_ask.SCALARS}
    apart = ("matmul", "concat", "stack")
    plain = {name: f for name, f in functions.items() if name not in apart}
    near = {n: plain[n] for n in (*_ask.ZERO_D, *_ask.MORE_ZERO_D) if n in plain}
    both = {name: plain[name] for name in _ask.ZERO_D}
    joins = {name: functions[name] for name in apart}
    single = {**zero_d, **_ask.SCALARS}
    add = {"add": _ask.INPLACE["add"]}
    sections = {
        **_ask.binary("function", plain, operands, operands),
        **_ask.binary("function", joins, square, square),
        **_ask.binary("operator", _ask.OPERATORS, operands, operands, both_scalars=False),
        **_ask.binary("operator", {"matmul": operator.matmul}, square, square),
        **_ask.binary("array_0d", near, arrays, zero_d),
        **_ask.binary("0d_array", near, zero_d, arrays),
        **_ask.binary("0d_0d", both, single, single),
        **_ask.inplace(lambda c: mx.ones(2, dtypes[c]), dtypes, operands),
        **_ask.inplace(lambda c: mx.ones(2, dtypes[c]), dtypes, zero_d, add, "inplace_0d"),
        "clip": _ask.Section(lambda x, y: mx.clip(x, y, y), arrays, {"int": 1, "float": 1.0}),
        "unary": _ask.unary(_ask.named(mx, _ask.UNARY, NAMES), arrays),
        "reduce": _ask.unary(reductions, arrays),
        **_ask.linear(_linear(mx), {c: mx.eye(3).astype(d) for c, d in dtypes.items()}),
        **_ask.scalars(arrays, first),
    }
    meta = {"policy": "mlx@0.32", "mlx": mx.__version__, "how": "evaluated on the CPU device"}
    return _ask.Oracle(meta, code, sections)


def _linear(mx: Any) -> dict[str, Callable[..., Any]]:
    on_cpu = {
        name: partial(getattr(mx.linalg, name), stream=mx.cpu)
        for name in ("cholesky", "inv", "pinv", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd")
    }
    return {
        **on_cpu,
        **{name: getattr(mx.fft, name, None) or getattr(mx, name) for name in _FFT},
        "solve": partial(mx.linalg.solve, stream=mx.cpu),
        "cross": mx.linalg.cross,
        "vector_norm": mx.linalg.norm,
        "matrix_norm": mx.linalg.norm,
        "diagonal": mx.diagonal,
        "trace": mx.trace,
        "sort": mx.sort,
        "argsort": mx.argsort,
        "tensordot": mx.tensordot,
        "outer": lambda x, y: mx.outer(x[0], y[0]),
    }


_FFT = ("fft", "ifft", "fftn", "ifftn", "rfft", "rfftn", "irfft", "irfftn", "fftshift", "ifftshift")

if __name__ == "__main__":
    _ask.main({"mlx": edition})
