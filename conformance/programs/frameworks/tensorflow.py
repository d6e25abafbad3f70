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
from tensorflow.python import pywrap_tfe

from programs.frameworks import Framework, getitem
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

REDUCED = "sum prod mean max min all any"
LINALG = "cholesky det eig eigh eigvals eigvalsh inv matrix_rank matrix_transpose qr slogdet trace"
FFT = "fft fftshift ifft ifftshift irfft rfft"


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
        enter=enter,
        leave=leave,
        missing=missing,
        cast_only=frozenset(CAST_ONLY),
        traits=frozenset(),
    )


def enter(array: Any, dtype: str) -> Any:
    """A tensor of the same bits, once 0.0 is no more what -0.0 was: scalars are kept by value."""
    pywrap_tfe.TFE_ClearScalarCache()
    return tf.constant(array, dtype=dtype)


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor, which in the modes may be a weak one."""
    pywrap_tfe.TFE_ClearScalarCache()
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

NOT_THERE = re.compile(r"No OpKernel|required keyword-only arg|convert a value \(None\)")


def missing(error: Exception) -> bool:
    """Whether the CPU has no such kernel, or the function needs another argument."""
    if isinstance(error, (tf.errors.UnimplementedError, NotImplementedError)):
        return True
    node = NO_KERNEL.search(str(error))
    if node:
        return not node[2].startswith(MEANINGLESS.get(node[1], "-"))
    return bool(NOT_THERE.search(str(error)))


def _reduction(function: Any) -> Any:
    return lambda x, *, axis=None, keepdims=False: function(x, axis, keepdims)


def _position(function: Any) -> Any:
    return lambda x, *, axis=None: (
        function(tf.reshape(x, [-1]), 0) if axis is None else function(x, axis)
    )


def _asarray(x: Any, dtype: Any = None) -> Any:
    return tf.cast(x, dtype) if dtype is not None and tf.is_tensor(x) else tf.constant(x, dtype)


def _full(shape: Any, value: Any, *, dtype: Any = None) -> Any:
    return tf.fill(shape, value) if dtype is None else tf.constant(value, dtype, shape)


def _matmul(x1: Any, x2: Any) -> Any:
    ranks = np.ndim(x1), np.ndim(x2)
    if ranks == (1, 1):
        return tf.tensordot(x1, x2, 1)
    return tf.linalg.matvec(x1, x2) if ranks[1] == 1 else tf.matmul(x1, x2)


def _solve(x1: Any, x2: Any) -> Any:
    if len(x2.shape) > 1:
        return tf.linalg.solve(x1, x2)
    return tf.linalg.solve(x1, x2[:, tf.newaxis])[:, 0]


def _svd(x: Any, *, full_matrices: bool = True) -> Any:
    values, u, v = tf.linalg.svd(x, full_matrices)
    return u, values, tf.linalg.adjoint(v)


def _vector_norm(
    x: Any, *, axis: Any = None, ord: Any = "euclidean", keepdims: bool = False
) -> Any:
    if isinstance(axis, tuple):
        raise NotImplementedError("two axes are those of a matrix norm")
    return tf.norm(x, ord, axis, keepdims)


def _flip(x: Any, *, axis: Any = None) -> Any:
    return tf.reverse(x, range(len(x.shape)) if axis is None else np.ravel(axis))


def _direction(descending: bool) -> str:
    return "DESCENDING" if descending else "ASCENDING"


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
    "clip": lambda x, min, max: tf.clip_by_value(x, min, max),
    "astype": lambda x, dtype: tf.cast(x, dtype),
    "asarray": _asarray,
    "full": _full,
    "zeros": lambda shape, dtype=tf.float32: tf.zeros(shape, dtype),
    "ones": lambda shape, dtype=tf.float32: tf.ones(shape, dtype),
    "zeros_like": tf.zeros_like,
    "ones_like": tf.ones_like,
    "eye": lambda n, m=None, *, dtype=tf.float32: tf.eye(n, m, dtype=dtype),
    "arange": tf.range,
    "linspace": lambda start, stop, num: tf.linspace(start, stop, num),
    **{name: _reduction(getattr(tf, f"reduce_{name}")) for name in REDUCED.split()},
    "std": _reduction(tf.math.reduce_std),
    "var": _reduction(tf.math.reduce_variance),
    "argmax": _position(tf.argmax),
    "argmin": _position(tf.argmin),
    "count_nonzero": _reduction(tf.math.count_nonzero),
    "cumulative_sum": lambda x, *, axis=0: tf.cumsum(x, axis),
    "cumulative_prod": lambda x, *, axis=0: tf.math.cumprod(x, axis),
    "sort": lambda x, *, axis=-1, descending=False: tf.sort(x, axis, _direction(descending)),
    "argsort": lambda x, *, axis=-1, descending=False, stable=True: tf.argsort(
        x, axis, _direction(descending), stable
    ),
    "searchsorted": lambda x1, x2, *, side="left": tf.searchsorted(x1, x2, side),
    "nonzero": lambda x: tuple(tf.unstack(tf.where(x), axis=1)),
    "unique_values": lambda x: tf.unique(x)[0],
    "unique_counts": lambda x: tf.unique_with_counts(x)[::2],
    "unique_inverse": tf.unique,
    "concat": lambda arrays, *, axis=0: tf.concat(arrays, axis),
    "stack": lambda arrays, *, axis=0: tf.stack(arrays, axis),
    "unstack": lambda x, *, axis=0: tf.unstack(x, axis=axis),
    "reshape": tf.reshape,
    "flip": _flip,
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
    "take": lambda x, indices, *, axis: tf.gather(x, indices, axis=axis),
    "meshgrid": tf.meshgrid,
    "matmul": _matmul,
    "tensordot": lambda x1, x2, *, axes=2: tf.tensordot(x1, x2, axes),
    "linalg": SimpleNamespace(
        **{name: getattr(tf.linalg, name) for name in LINALG.split()},
        cross=lambda x1, x2: tf.linalg.cross(x1, x2),
        diagonal=lambda x, *, offset=0: tf.linalg.diag_part(x, k=offset),
        matmul=_matmul,
        matrix_norm=lambda x, *, ord="fro", keepdims=False: tf.norm(x, ord, [-2, -1], keepdims),
        pinv=lambda x, *, rtol=None: tf.linalg.pinv(x, rtol),
        solve=_solve,
        svd=_svd,
        svdvals=lambda x: tf.linalg.svd(x, compute_uv=False),
        tensordot=lambda x1, x2, *, axes=2: tf.tensordot(x1, x2, axes),
        vector_norm=_vector_norm,
    ),
    "fft": SimpleNamespace(**{name: getattr(tf.signal, name) for name in FFT.split()}),
}
"""Also what TensorFlow has under other names and arguments."""

FOLLOWING = {
    "getitem": getitem,
    **{name: getattr(tnp, name) for name in words("where logical_and logical_or logical_xor")},
    "concat": lambda arrays, *, axis=0: tnp.concatenate(arrays, axis),
    "stack": lambda arrays, *, axis=0: tnp.stack(arrays, axis),
}
"""Functions of NumPy's namespace that follow the modes, and its indexing."""
