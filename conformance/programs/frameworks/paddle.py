"""Paddle on the CPU, 3.3 and 2.6 by what is installed, spelt as its users write it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("GLOG_minloglevel", "4")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import paddle

from programs.frameworks import Framework, getitem, setitem, storage
from programs.program import words

DTYPES = words(
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
)
FLOAT8 = words("float8_e4m3fn float8_e5m2")

SAME = (
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_or"
    " bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor"
    " floor_divide fmax fmin greater_equal hypot imag isfinite isinf isnan less_equal log log10"
    " log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply"
    " nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt"
    " square subtract tan tanh trunc"
    " arange empty empty_like eye full full_like linspace logspace ones ones_like zeros zeros_like"
    " matmul broadcast_to isin where tile reshape moveaxis"
)
RENAMED = {
    "bitwise_invert": "bitwise_not",
    "greater": "greater_than",
    "less": "less_than",
    "negative": "neg",
}
LINALG = "cholesky det eig eigh eigvals eigvalsh inv matrix_power matrix_rank pinv solve svdvals"
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"

MISSING = re.compile(r"is not registered|hangs|\(Unimplemented\)|is not supported on CPU")


class Hangs(Exception):
    """A program that Paddle never comes back from."""


def framework(edition: str) -> Framework:
    """The installed Paddle."""
    paddle.set_device("cpu")
    old = paddle.__version__.startswith("2.")
    paddle.Tensor.__pow__ = _guarded(paddle.Tensor.__pow__)
    return Framework(
        version=f"paddlepaddle {paddle.__version__}",
        policy="paddle@2.6" if old else "paddle@3.3",
        functions={
            **found(paddle, SAME),
            **{ours: getattr(paddle, theirs) for ours, theirs in RENAMED.items()},
            **OTHER,
            **(OLD if old else NEW),
            "pow": _guarded(paddle.pow),
            "linalg": SimpleNamespace(
                **{**found(paddle.linalg, LINALG), **LINEAR, **({} if old else NORMS)}
            ),
            "fft": SimpleNamespace(**found(paddle.fft, FFT)),
        },
        dtypes={
            name: name if old else getattr(paddle, name)  # 2.6 sums in dtypes by name only
            for name in (*DTYPES, *FLOAT8)
            if hasattr(paddle, name)
        },
        enter=enter,
        leave=leave,
        missing=lambda error: bool(MISSING.search(str(error))),
        cast_only=frozenset(name for name in FLOAT8 if hasattr(paddle, name)),
        seconds=6,  # it never comes back from some
    )


def found(module: Any, names: str) -> dict[str, Any]:
    """The functions of these names that a module has."""
    return {name: getattr(module, name) for name in names.split() if hasattr(module, name)}


def enter(array: Any, dtype: str) -> Any:
    """A tensor of the same bits: bfloat16 travels as uint16."""
    if array.dtype.kind in "biufc":
        return paddle.to_tensor(array)
    if dtype == "bfloat16":
        return paddle.to_tensor(array.view(np.uint16))
    return paddle.to_tensor(array.view(np.uint8)).view(dtype)


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor."""
    if not isinstance(x, paddle.Tensor):
        raise TypeError(f"{type(x).__name__} is no tensor")
    name = str(x.dtype).removeprefix("paddle.")
    if name in FLOAT8:
        return name, False, x.astype("float32").numpy()
    array = x.numpy()
    if name == "bfloat16":
        array = array.view(storage(name)).astype(np.float32)
    return name, False, array


def _guarded(power: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Do not ask for integers to a negative power, which 3.3.1 never comes back from."""

    def guarded(x: Any, y: Any) -> Any:
        whole = isinstance(x, paddle.Tensor) and "int" in str(x.dtype)
        if whole and type(y) in (int, float) and y < 0:
            raise Hangs("an integer to a negative power hangs")
        return power(x, y)

    return guarded


def _reduction(name: str) -> Any:
    function = getattr(paddle, name)
    return lambda x, *, axis=None, keepdims=False, **options: function(
        x, axis=axis, keepdim=keepdims, **options
    )


def _cumulative(name: str) -> Any:
    function = getattr(paddle, name)
    return lambda x, *, axis=None, dtype=None: function(x, 0 if axis is None else axis, dtype=dtype)


def _spread(name: str) -> Any:
    function = getattr(paddle, name)
    corrected = name == "var" and not paddle.__version__.startswith("2.")

    def called(x: Any, *, axis: Any = None, correction: Any = 0.0, keepdims: bool = False) -> Any:
        if corrected:
            return function(x, axis=axis, correction=correction, keepdim=keepdims)
        if correction not in (0, 1):
            raise TypeError(f"{name}() got an unexpected keyword argument 'correction'")
        return function(x, axis=axis, unbiased=bool(correction), keepdim=keepdims)

    return called


def _meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    if not paddle.__version__.startswith("2."):
        return paddle.meshgrid(*arrays, indexing=indexing)
    if indexing == "xy":
        raise TypeError("meshgrid() got an unexpected keyword argument 'indexing'")
    return paddle.meshgrid(*arrays)


def _unique(**flags: bool) -> Any:
    return lambda x: paddle.unique(x, **flags)


OTHER = {
    "asarray": paddle.to_tensor,
    "astype": lambda x, dtype: x.astype(dtype),
    "clip": lambda x, min=None, max=None: paddle.clip(x, min, max),
    "getitem": getitem,
    "setitem": setitem,
    **{name: _reduction(name) for name in words("sum prod mean max min all any argmax argmin")},
    "std": _spread("std"),
    "var": _spread("var"),
    "count_nonzero": _reduction("count_nonzero"),
    "cumulative_sum": _cumulative("cumsum"),
    "cumulative_prod": _cumulative("cumprod"),
    "diff": paddle.diff,
    "sort": paddle.sort,
    "argsort": paddle.argsort,
    "searchsorted": lambda x1, x2, *, side="left", **options: paddle.searchsorted(
        x1, x2, right=side == "right", **options
    ),
    "tril": lambda x, *, k=0: paddle.tril(x, k),
    "triu": lambda x, *, k=0: paddle.triu(x, k),
    "nonzero": lambda x: paddle.nonzero(x, as_tuple=True),
    "unique_values": _unique(),
    "unique_counts": _unique(return_counts=True),
    "unique_inverse": _unique(return_inverse=True),
    "unique_all": _unique(return_index=True, return_inverse=True, return_counts=True),
    "concat": lambda arrays, *, axis=0: paddle.concat(arrays, axis=axis),
    "stack": lambda arrays, *, axis=0: paddle.stack(arrays, axis=axis),
    "unstack": lambda x, *, axis=0: paddle.unbind(x, axis=axis),
    "flip": lambda x, *, axis=None: paddle.flip(x, [*range(x.ndim)] if axis is None else axis),
    "roll": lambda x, shift, *, axis=None: paddle.roll(x, shift, axis),
    "squeeze": lambda x, axis: paddle.squeeze(x, axis),
    "expand_dims": lambda x, axis=0: paddle.unsqueeze(x, axis),
    "permute_dims": paddle.transpose,
    "repeat": lambda x, repeats, *, axis=None: paddle.repeat_interleave(x, repeats, axis=axis),
    "meshgrid": _meshgrid,
    "broadcast_arrays": lambda *arrays: paddle.broadcast_tensors(list(arrays)),
    "take": lambda x, indices, *, axis: paddle.index_select(x, indices, axis),
    "take_along_axis": lambda x, indices, *, axis=-1: paddle.take_along_axis(x, indices, axis),
    "tensordot": lambda x1, x2, *, axes=2: paddle.tensordot(x1, x2, axes=axes),
}
"""What Paddle has under other names and arguments."""

LINEAR = {
    "cross": lambda x, y, *, axis=-1: paddle.cross(x, y, axis=axis),
    "diagonal": lambda x, *, offset=0: paddle.diagonal(x, offset, -2, -1),
    "matmul": paddle.matmul,
    "outer": paddle.outer,
    "qr": lambda x: tuple(paddle.linalg.qr(x)),
    "slogdet": lambda x: tuple(paddle.linalg.slogdet(x)),
    "svd": lambda x, *, full_matrices=True: tuple(paddle.linalg.svd(x, full_matrices)),
    "tensordot": lambda x1, x2, *, axes=2: paddle.tensordot(x1, x2, axes=axes),
    "trace": paddle.trace,
    "vector_norm": lambda x, *, axis=None, keepdims=False, ord=2: paddle.linalg.norm(
        x, ord, axis, keepdims
    ),
}
"""Linear algebra under other names and arguments."""

NORMS = {
    "vector_norm": lambda x, *, axis=None, keepdims=False, ord=2: paddle.linalg.vector_norm(
        x, ord, axis, keepdims
    ),
    "matrix_norm": lambda x, *, keepdims=False, ord="fro": paddle.linalg.matrix_norm(
        x, ord, keepdim=keepdims
    ),
    "matrix_transpose": lambda x: paddle.linalg.matrix_transpose(x),
    "vecdot": lambda x, y, *, axis=-1: paddle.linalg.vecdot(x, y, axis=axis),
}
"""The same of 3.3."""

NEW: dict[str, Any] = (
    {}
    if paddle.__version__.startswith("2.")
    else {
        "matrix_transpose": paddle.matrix_transpose,
        "vecdot": lambda x1, x2, *, axis=-1: paddle.linalg.vecdot(x1, x2, axis=axis),
    }
)
OLD = {"matrix_transpose": lambda x: paddle.transpose(x, [*range(x.ndim - 2), -1, -2])}
"""The same of 3.3, and of 2.6."""
