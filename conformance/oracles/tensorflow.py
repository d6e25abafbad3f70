"""Ask TensorFlow, on the CPU: ``python conformance/oracles/tensorflow.py [tf_legacy tf_all ...]``.

The modes of its NumPy behaviour change operators and ``tf.experimental.numpy`` (sections `tnp`),
a few functions with them (`tf.matmul`), and leave the others to the legacy rule.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
HERE = str(Path(__file__).resolve().parent)
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != HERE]
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402 - this file has the same name: found only without its folder

sys.path.append(HERE)
import _ask  # noqa: E402

tnp = tf.experimental.numpy

NODE = re.compile(r"Could not find device for node: .*? = (\w+)\[.*?\bT=DT_(\w+)")
NO_CAST = re.compile(r"Cast \w+ to \w+ is not supported")

C_NAMES = {"half": "float16", "float": "float32", "double": "float64"}

MEANINGLESS = {"FloorDiv": "c", "FloorMod": "c"}
"""Kernels and the kinds they have on no device: that is a refusal."""

CONDITION = [True, False]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(tf.math, name) for name in _ask.BINARY if hasattr(tf.math, name)},
    "floor_divide": tf.math.floordiv,
    "remainder": tf.math.floormod,
    "bitwise_and": tf.bitwise.bitwise_and,
    "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor,
    "left_shift": tf.bitwise.left_shift,
    "right_shift": tf.bitwise.right_shift,
    "where": lambda x, y: tf.where(tf.constant(CONDITION), x, y),
    "matmul": tf.matmul,
    "concat": lambda x, y: tf.concat([x, y], 0),
    "stack": lambda x, y: tf.stack([x, y]),
}

TNP = {
    **{name: getattr(tnp, name) for name in _ask.BINARY if hasattr(tnp, name)},
    "pow": tnp.power,
    "atan2": tnp.arctan2,
    "where": lambda x, y: tnp.where(tf.constant(CONDITION), x, y),
    "concat": lambda x, y: tnp.concatenate([x, y]),
    "stack": lambda x, y: tnp.stack([x, y]),
}

FOLLOWED = frozenset({"where", "concat", "stack", "logical_and", "logical_or", "logical_xor"})
"""Functions without an operator that follow the modes in NumPy's namespace alone: `tnp/<op>`.

The others are recorded as `tnp_other/<op>`: where the operators have the new rule, functions such
as tnp.add still promote as NumPy 1 does, whatever the mode.
"""

PAIRS = ("matmul", "concat", "stack")
"""Functions of two (2, 2) arrays."""

REDUCED = ("sum", "prod", "mean", "max", "min", "any", "all")

UNARY = {
    **{name: getattr(tf.math, name) for name in _ask.UNARY if hasattr(tf.math, name)},
    **{f"is{name}": getattr(tf.math, f"is_{name}") for name in ("nan", "inf", "finite")},
    "bitwise_invert": tf.bitwise.invert,
}

TNP_UNARY = {
    **{name: getattr(tnp, name) for name in _ask.UNARY if hasattr(tnp, name)},
    **{
        f"a{name}": getattr(tnp, f"arc{name}")
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    "round": tnp.around,
    "bitwise_invert": tnp.bitwise_not,
}

REDUCE = {
    **{name: getattr(tf, f"reduce_{name}") for name in REDUCED},
    "cumulative_sum": tf.cumsum,
    "cumulative_prod": tf.math.cumprod,
    "std": tf.math.reduce_std,
    "var": tf.math.reduce_variance,
    "argmax": tf.argmax,
}

TNP_REDUCE = {
    **{name: getattr(tnp, name) for name in _ask.REDUCE if hasattr(tnp, name)},
    "cumulative_sum": tnp.cumsum,
    "cumulative_prod": tnp.cumprod,
}

LINEAR: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(tf.linalg, name)
        for name in (*_ask.LINEAR["linalg"], "solve", "cross")
        if hasattr(tf.linalg, name)
    },
    **{name: getattr(tf.signal, name) for name in _ask.LINEAR["fft"] if hasattr(tf.signal, name)},
    "diagonal": tf.linalg.diag_part,
    "matrix_norm": lambda x: tf.norm(x, ord="fro", axis=[-2, -1]),
    "vector_norm": lambda x: tf.norm(x, axis=-1),
    "svd": lambda x: [tf.linalg.svd(x)[index] for index in (1, 0, 2)],  # the values first, there
    "svdvals": lambda x: tf.linalg.svd(x, compute_uv=False),
    "tensordot": lambda x, y: tf.tensordot(x, y, 2),
    "unique_values": lambda x: tf.unique(tf.reshape(x, [-1]))[0],
    "unique_inverse": lambda x: tf.unique(tf.reshape(x, [-1])),
    "unique_counts": lambda x: tf.unique_with_counts(tf.reshape(x, [-1]))[::2],
    "sort": tf.sort,
    "argsort": tf.argsort,
}


def code(answer: Any) -> str:
    """Code of a tensor's dtype, ``i* f* c*`` for a weakly typed one."""
    name = tf.as_dtype(answer.dtype).name
    if type(answer).__name__.endswith("WeakTensor"):
        kind = re.match(r"[a-z]+", name)[0].removeprefix("u").removeprefix("b")
        name = f"{kind}*"
    return _ask.CODES[name]


def refusal(error: Exception) -> str:
    """An operator without a CPU kernel for a dtype its own list allows is `?`.

    The kernel is looked up for the first operand before TensorFlow compares the dtypes of the two,
    so its dtype says nothing of the result.
    """
    node = NODE.search(str(error))
    if node:
        name = node[2].lower()
        dtype = _ask.CODES[C_NAMES.get(name, name)]
        return _ask.REFUSED if dtype[0] in MEANINGLESS.get(node[1], "") else _ask.NO_KERNEL
    return _ask.NO_KERNEL if NO_CAST.search(str(error)) else _ask.REFUSED


def ones(*shape: int) -> dict[str, tf.Tensor]:
    """Tensors of ones by code, in every dtype TensorFlow knows."""
    tensors = {}
    for name in _ask.DTYPES:
        try:
            dtype = np.dtype(getattr(ml_dtypes, name, name))
            tensors[_ask.CODES[name]] = tf.constant(np.ones(shape, dtype), dtype=name)
        except TypeError:
            continue
    return tensors


def identity() -> dict[str, tf.Tensor]:
    """The 3 x 3 identity in every dtype."""
    names = {code: name for name, code in _ask.CODES.items()}
    return {
        code: tf.constant(
            np.eye(3).astype(getattr(ml_dtypes, names[code], names[code])), names[code]
        )
        for code in ones()
    }


def functions(
    prefix: str, table: dict[str, Callable[..., Any]], operands: dict[str, Any]
) -> dict[str, _ask.Section]:
    """Sections of every function in ``table``."""
    elementwise = {name: f for name, f in table.items() if name not in PAIRS}
    pairs, square = {name: table[name] for name in PAIRS}, ones(2, 2)
    return {
        **_ask.binary(prefix, elementwise, operands, operands),
        **_ask.binary(prefix, pairs, square, square),
    }


def edition(mode: str) -> _ask.Oracle:
    """TensorFlow as it comes (legacy), or with one of its NumPy-like promotion modes."""
    tf.get_logger().setLevel("ERROR")
    if mode != "legacy":
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    arrays, zero_d, square = ones(2), ones(), ones(2, 2)
    operands, single = {**arrays, **_ask.SCALARS}, {**zero_d, **_ask.SCALARS}
    some = {name: FUNCTIONS[name] for name in _ask.ZERO_D}
    matmul = {"matmul": _ask.operator.matmul}
    bounds = {"int": 1, "float": 1.0}
    plain = {c: x for c, x in arrays.items() if not re.fullmatch(r"[iu][24]|f[48]_.*", c)}
    # Beyond int64 mode "all" aborts the process, with a check of Python's own error state.
    values = {k: v for k, v in _ask.VALUES.items() if mode != "all" or fits_int64(v)}
    edges = _ask.scalars(plain, lambda x: f"{code(x)}:{x[0].numpy()}", values)
    sections = {
        **functions("function", FUNCTIONS, operands),
        **_ask.binary("operator", _ask.OPERATORS, operands, operands, both_scalars=False),
        **_ask.binary("operator", matmul, square, square),
        **_ask.binary("array_0d", some, arrays, zero_d),
        **_ask.binary("0d_array", some, zero_d, arrays),
        **_ask.binary("0d_0d", some, single, single),
        **_ask.inplace(arrays.__getitem__, arrays, operands),
        **_ask.inplace(
            arrays.__getitem__, arrays, zero_d, {"add": _ask.INPLACE["add"]}, "inplace_0d"
        ),
        "clip": _ask.Section(lambda x, y: tf.clip_by_value(x, y, y), arrays, bounds),
        "unary": _ask.unary(UNARY, arrays),
        "reduce": _ask.unary(REDUCE, arrays),
        **_ask.linear(LINEAR, identity()),
        **{name: replace(section, skip=aborts) for name, section in edges.items()},
    }
    if mode != "legacy":
        for name, section in functions("", TNP, operands).items():
            kind = "tnp" if name[1:] in FOLLOWED else "tnp_other"
            sections[kind + name] = section
        sections |= {
            "tnp_other/clip": _ask.Section(lambda x, y: tnp.clip(x, y, y), arrays, bounds),
            "tnp_other/unary": _ask.unary(TNP_UNARY, arrays),
            "tnp_other/reduce": _ask.unary(TNP_REDUCE, arrays),
        }
    meta = {"policy": "tensorflow" if mode == "legacy" else f"tensorflow@{mode}"}
    meta |= {"tensorflow": tf.__version__, "mode": mode, "how": "executed on the CPU, eagerly"}
    if mode != "legacy":
        meta["tnp_other"] = "functions that do not follow the mode; no policy answers for them"
    return _ask.Oracle(meta, code, sections, refusal)


def aborts(row: str, column: str) -> bool:
    """Whether a Python int is out of uint64's range there: SystemError or an abort, by chance."""
    value = _ask.VALUES[column]
    return row == "u64" and isinstance(value, int) and not 0 <= value < 2**64


def fits_int64(value: float) -> bool:
    """Whether a Python scalar is no integer beyond int64."""
    return isinstance(value, float) or -(2**63) <= value < 2**63


if __name__ == "__main__":
    _ask.main({f"tf_{mode}": partial(edition, mode) for mode in ("legacy", "all", "safe")})
