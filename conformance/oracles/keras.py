"""Ask Keras 3 on its back ends: ``python conformance/oracles/keras.py keras_torch``.

Asked are functions of ``keras.ops``, and in ``scalars`` the operators, which are the back end's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import _ask

NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "pow": "power",
    "remainder": "mod",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
}


def edition(backend: str) -> _ask.Oracle:
    """Keras on a back end, as installed."""
    os.environ |= {"KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu"}
    os.environ |= {"JAX_DISABLE_JIT": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    import keras
    from keras import ops

    standard = keras.backend.standardize_dtype
    names = dict(_dtypes(keras))
    shapes = ((2,), (2, 2), ())
    arrays, square, zero_d = (
        {code: ops.ones(shape, dtype=name) for code, name in names.items()} for shape in shapes
    )
    condition = ops.convert_to_tensor([True, False])

    def code(answer: Any) -> str:
        if not ops.is_tensor(answer):
            raise TypeError(f"{type(answer).__name__} is no tensor")
        found = _ask.CODES[standard(answer.dtype)]
        weak = getattr(answer, "weak_type", False) and found != "b1"  # of JAX
        return f"{found[0]}*" if weak else found

    def first(answer: Any) -> str:
        return f"{code(answer)}:{ops.convert_to_numpy(answer)[0]}"

    functions = _ask.named(ops, _ask.BINARY, NAMES) | {
        "where": lambda x, y: ops.where(condition, x, y),
        "concat": lambda x, y: ops.concatenate([x, y]),
        "stack": lambda x, y: ops.stack([x, y]),
    }
    del functions["nextafter"]  # it takes complex numbers there, of which there is no next one
    operands, single = {**arrays, **_ask.SCALARS}, {**zero_d, **_ask.SCALARS}
    apart = ("matmul", "concat", "stack")
    plain = {name: f for name, f in functions.items() if name not in apart}
    near = {n: plain[n] for n in (*_ask.ZERO_D, *_ask.MORE_ZERO_D) if n in plain}
    sections = {
        **_ask.binary("function", plain, operands, operands),
        **_ask.binary("function", {name: functions[name] for name in apart}, square, square),
        **_ask.binary("array_0d", near, arrays, zero_d),
        **_ask.binary("0d_array", near, zero_d, arrays),
        **_ask.binary("0d_0d", {name: plain[name] for name in _ask.ZERO_D}, single, single),
        "clip": _ask.Section(lambda x, y: ops.clip(x, y, y), arrays, {"int": 1, "float": 1.0}),
        "unary": _ask.unary(_ask.named(ops, _ask.UNARY, NAMES), arrays),
        "reduce": _ask.unary(_ask.named(ops, _ask.REDUCE, NAMES), arrays),
        # Operators of JAX are asked as JAX: without jit, as here, no number is beyond a dtype.
        **({} if backend == "jax" else _ask.scalars(arrays, first)),
    }
    meta = {"policy": f"keras@{backend}", "keras": keras.__version__}
    meta |= {"how": "keras.ops, executed on the CPU, arrays of two ones"}
    return _ask.Oracle(meta, code, sections)


def _dtypes(keras: Any) -> Iterator[tuple[str, str]]:
    for name in _ask.DTYPES:
        with suppress(Exception):
            made = keras.ops.ones((2,), dtype=name)
            if keras.backend.standardize_dtype(made.dtype) == name and "float8" not in name:
                yield _ask.CODES[name], name


if __name__ == "__main__":
    BACKENDS = ("tensorflow", "torch", "jax")
    _ask.main({f"keras_{name}": partial(edition, name) for name in BACKENDS})
