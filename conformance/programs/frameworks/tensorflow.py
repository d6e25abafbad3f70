"""TensorFlow on the CPU, eagerly: as it comes, or in a mode of its NumPy behaviour.

Its functions are asked by their own names, ``tf.*``. In the modes ``where``, ``concat``, ``stack``
and the logical functions are those of ``tf.experimental.numpy``, which follow the mode as the
operators do.
"""

from __future__ import annotations

import os
import re
from types import SimpleNamespace
from typing import Any

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
import numpy as np
import tensorflow as tf

from programs.frameworks import Framework
from programs.program import words

tnp = tf.experimental.numpy

DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
)
CAST_ONLY = words("float8_e4m3fn float8_e5m2 int4 uint4")

SAME = (
    "abs acos acosh add asin asinh atan atan2 atanh ceil conj cos cosh divide equal exp expm1 floor"
    " greater greater_equal imag less less_equal log log1p logical_and logical_not logical_or"
    " logical_xor maximum minimum multiply negative nextafter not_equal pow real reciprocal round"
    " sign sin sinh sqrt square subtract tan tanh"
)
"""Functions of ``tf.math`` under the array API's names."""

LINALG = "cholesky cross det eigvalsh inv matrix_rank matrix_transpose pinv qr slogdet trace"
FFT = "fft fftshift ifft ifftshift irfft rfft"


class NoSuchArgumentError(Exception):
    """TensorFlow's function has no such argument, so that there is nothing to ask."""


def framework(edition: str) -> Framework:
    """The installed TensorFlow; ``legacy`` or one of the modes, which last as long as a process."""
    tf.get_logger().setLevel("ERROR")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    if edition != "legacy":
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=edition)
    return Framework(
        version=f"tensorflow {tf.__version__}",
        policy="tensorflow" if edition == "legacy" else f"tensorflow@{edition}",
        functions={**FUNCTIONS, **({} if edition == "legacy" else FOLLOWING)},
        dtypes={name: tf.as_dtype(name) for name in (*DTYPES, *CAST_ONLY)},
        enter=lambda array, dtype: tf.constant(array, dtype=dtype),
        leave=leave,
        missing=missing,
        cast_only=frozenset(CAST_ONLY),
        traits=frozenset(),
    )


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor, which in the modes may be a weak one."""
    weak = type(x).__name__.endswith("WeakTensor")
    if not weak and not isinstance(x, tf.Tensor):
        raise TypeError(f"{type(x).__name__} is no tensor")
    array = x.numpy()
    array = array if array.dtype.kind in "biufc" else array.astype(_wide(x.dtype.name))
    return x.dtype.name, weak, array


def _wide(dtype: str) -> str:
    return "int8" if "int" in dtype else "float64"


NO_KERNEL = re.compile(r"Could not find device for node: .*? = (\w+)\[.*?\bT\w*=DT_(\w+)")
MEANINGLESS = {"FloorDiv": "COMPLEX", "FloorMod": "COMPLEX"}
"""Kernels and the kinds of dtypes they have on no device: that is a refusal."""


def missing(error: Exception) -> bool:
    """Whether the CPU has no such kernel, or the function no such argument."""
    if isinstance(error, NoSuchArgumentError):
        return True
    node = NO_KERNEL.search(str(error))
    if node:
        return not node[2].startswith(MEANINGLESS.get(node[1], "-"))
    return bool(re.search(r"Cast \w+ to \w+ is not supported|No OpKernel", str(error)))


def _without(**options: Any) -> None:
    """Refuse to ask for options that there are none of."""
    for name, value in options.items():
        if value is not None:
            raise NoSuchArgumentError(f"no {name}=")


def _reduction(name: str) -> Any:
    function = getattr(tf, f"reduce_{name}")

    def reduce(x: Any, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        _without(dtype=dtype)
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _spread(name: str) -> Any:
    function = getattr(tf.math, f"reduce_{name}")

    def reduce(x: Any, *, axis: Any = None, correction: float = 0, keepdims: bool = False) -> Any:
        _without(correction=correction or None)
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _position(name: str) -> Any:
    function = getattr(tf, name)

    def find(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        _without(keepdims=keepdims or None)
        return function(tf.reshape(x, [-1]), 0) if axis is None else function(x, axis)

    return find


def _cumulative(name: str) -> Any:
    function = getattr(tf.math, name)

    def accumulate(x: Any, *, axis: int = 0, dtype: Any = None) -> Any:
        _without(dtype=dtype)
        return function(x, axis)

    return accumulate


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    if low is None or high is None:
        raise NoSuchArgumentError("clip_by_value has two bounds")
    return tf.clip_by_value(x, low, high)


def _matmul(x1: Any, x2: Any) -> Any:
    ranks = np.ndim(x1), np.ndim(x2)
    if ranks == (1, 1):
        return tf.tensordot(x1, x2, 1)
    return tf.linalg.matvec(x1, x2) if ranks[1] == 1 else tf.matmul(x1, x2)


def _linspace(start: Any, stop: Any, num: int, *, dtype: Any = None) -> Any:
    _without(dtype=dtype)
    return tf.linspace(start, stop, num)


def _full(shape: Any, value: Any, *, dtype: Any = None) -> Any:
    return tf.fill(shape, value) if dtype is None else tf.constant(value, dtype, shape)


def _range(*ends: Any, dtype: Any = None) -> Any:
    return tf.range(*ends, dtype=dtype)


FUNCTIONS = {
    **{name: getattr(tf.math, name) for name in SAME.split()},
    "isnan": tf.math.is_nan,
    "isinf": tf.math.is_inf,
    "isfinite": tf.math.is_finite,
    "floor_divide": tf.math.floordiv,
    "remainder": tf.math.floormod,
    "bitwise_and": tf.bitwise.bitwise_and,
    "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor,
    "bitwise_invert": tf.bitwise.invert,
    "bitwise_left_shift": tf.bitwise.left_shift,
    "bitwise_right_shift": tf.bitwise.right_shift,
    "where": tf.where,
    "clip": _clip,
    "astype": tf.cast,
    "asarray": tf.constant,
    "full": _full,
    "zeros": lambda shape, dtype=tf.float32: tf.zeros(shape, dtype),
    "ones": lambda shape, dtype=tf.float32: tf.ones(shape, dtype),
    "zeros_like": tf.zeros_like,
    "ones_like": tf.ones_like,
    "eye": lambda n, dtype=tf.float32: tf.eye(n, dtype=dtype),
    "arange": _range,
    "linspace": _linspace,
    **{name: _reduction(name) for name in words("sum prod mean max min all any")},
    "std": _spread("std"),
    "var": _spread("variance"),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "count_nonzero": lambda x, *, axis=None: tf.math.count_nonzero(x, axis),
    "cumulative_sum": _cumulative("cumsum"),
    "cumulative_prod": _cumulative("cumprod"),
    "sort": lambda x, *, axis=-1, descending=False: tf.sort(
        x, axis, "DESCENDING" if descending else "ASCENDING"
    ),
    "argsort": lambda x, *, axis=-1: tf.argsort(x, axis, stable=True),
    "searchsorted": lambda x1, x2, *, side="left": tf.searchsorted(x1, x2, side),
    "nonzero": lambda x: tuple(tf.unstack(tf.where(x), axis=1)),
    "unique_values": lambda x: tf.unique(x)[0],
    "unique_counts": lambda x: tf.unique_with_counts(x)[::2],
    "unique_inverse": tf.unique,
    "concat": lambda arrays, *, axis=0: tf.concat(arrays, axis),
    "stack": lambda arrays, *, axis=0: tf.stack(arrays, axis),
    "unstack": lambda x, *, axis=0: tf.unstack(x, axis=axis),
    "reshape": tf.reshape,
    "flip": lambda x, *, axis: tf.reverse(x, [axis]),
    "roll": lambda x, shift, *, axis: tf.roll(x, shift, axis),
    "expand_dims": lambda x, *, axis=0: tf.expand_dims(x, axis),
    "squeeze": tf.squeeze,
    "permute_dims": tf.transpose,
    "broadcast_to": tf.broadcast_to,
    "repeat": lambda x, repeats, *, axis=None: tf.repeat(x, repeats, axis),
    "tile": tf.tile,
    "tril": lambda x: tf.linalg.band_part(x, -1, 0),
    "triu": lambda x: tf.linalg.band_part(x, 0, -1),
    "matrix_transpose": tf.linalg.matrix_transpose,
    "take": lambda x, indices, *, axis=None: tf.gather(x, indices, axis=axis),
    "meshgrid": tf.meshgrid,
    "matmul": _matmul,
    "tensordot": lambda x1, x2, *, axes=2: tf.tensordot(x1, x2, axes),
    "linalg": SimpleNamespace(
        **{name: getattr(tf.linalg, name) for name in LINALG.split()},
        diagonal=tf.linalg.diag_part,
        solve=lambda x1, x2: tf.linalg.solve(x1, x2[:, tf.newaxis])[:, 0],
        svdvals=lambda x: tf.linalg.svd(x, compute_uv=False),
        vector_norm=tf.norm,
    ),
    "fft": SimpleNamespace(**{name: getattr(tf.signal, name) for name in FFT.split()}),
}
"""Also what TensorFlow has under other names and arguments."""

FOLLOWING = {
    **{name: getattr(tnp, name) for name in words("where logical_and logical_or logical_xor")},
    "concat": lambda arrays, *, axis=0: tnp.concatenate(arrays, axis),
    "stack": lambda arrays, *, axis=0: tnp.stack(arrays, axis),
}
"""Functions of NumPy's namespace that follow the modes."""
