"""MindSpore on the CPU in PyNative mode: mindspore.ops, spelt as its users write it.

Launches block, and a line that fails is asked again: asynchronous launches report one function's
error at a later one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("GLOG_v", "4")

import mindspore
import numpy as np
from mindspore import ops

from programs.frameworks import Framework, setitem
from programs.program import words

DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64"
    " complex64 complex128"
)
SAME = words(
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_or bitwise_xor ceil conj"
    " copysign cos cosh equal exp expm1 floor floor_divide fmax fmin greater greater_equal hypot"
    " imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and"
    " logical_not logical_or logical_xor maximum minimum nextafter not_equal positive pow real"
    " reciprocal remainder round sign signbit sin sinh sqrt square tan tanh trunc"
    " bitwise_left_shift bitwise_right_shift tril triu full_like ones_like zeros_like matmul where"
    " clip full ones zeros eye linspace"
)
OTHER_NAMES = {"subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg"}

_MISSING = re.compile(
    r"operator\[\w+\] fail!.*but get input|Select CPU operator|KernelMod Init Failed"
    r"|on CPU, Please confirm|Reduce does not support this kernel data type"
    r"|unsupported reduce operation for bool|does not support|only supports? |is not supported"
    r"|bad_function_call|unregistered|type_id:|unsupported element|\A-{9}",
    re.S,
)


def framework(edition: str) -> Framework:
    """The installed MindSpore."""
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")
    mindspore.runtime.launch_blocking()
    named = {name: name for name in SAME} | OTHER_NAMES
    functions = {
        name: getattr(ops, theirs) for name, theirs in named.items() if hasattr(ops, theirs)
    }
    return Framework(
        version=f"mindspore {mindspore.__version__}",
        policy="mindspore@2.10",
        functions={
            **{name: _settled(function) for name, function in {**functions, **OTHER}.items()},
            "linalg": SimpleNamespace(**LINALG),
        },
        dtypes={name: getattr(mindspore, "bool_" if name == "bool" else name) for name in DTYPES},
        enter=enter,
        leave=leave,
        missing=missing,
    )


def _settled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Ask again what fails: the error may be that of the call before."""

    @wraps(function)
    def asked(*arguments: Any, **options: Any) -> Any:
        with suppress(Exception):
            return function(*arguments, **options)
        with suppress(Exception):
            mindspore.runtime.synchronize()
        return function(*arguments, **options)

    return asked


def enter(array: Any, dtype: str) -> mindspore.Tensor:
    """A tensor of the same values."""
    if dtype == "bfloat16":
        return mindspore.Tensor(array.astype("float32")).astype(mindspore.bfloat16)
    return mindspore.Tensor(np.array(array))


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor."""
    if not isinstance(x, mindspore.Tensor):
        raise TypeError(f"{type(x).__name__} is no tensor")
    values = x.float() if x.dtype == mindspore.bfloat16 else x
    return str(x.dtype).lower(), False, values.asnumpy()


def missing(error: Exception) -> bool:
    """Whether the CPU has no such kernel."""
    return bool(_MISSING.search(str(error)))


def _reduction(name: str, *, dtyped: bool = False) -> Callable[..., Any]:
    function = getattr(ops, name)

    def reduce(x: Any, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        options = {"dtype": dtype} if dtyped and dtype is not None else {}
        return function(x, axis, keepdims, **options)

    return reduce


def _spread(name: str) -> Callable[..., Any]:
    function = getattr(ops, name)
    return lambda x, *, axis=None, correction=0, keepdims=False: function(
        x, axis, correction, keepdims
    )


def _cumulative(name: str) -> Callable[..., Any]:
    function = getattr(ops, name)

    def accumulate(x: Any, *, axis: int = 0, dtype: Any = None) -> Any:
        return function(x, axis) if dtype is None else function(x, axis, dtype)

    return accumulate


OTHER = {
    "bitwise_invert": ops.bitwise_not if hasattr(ops, "bitwise_not") else ops.invert,
    "astype": lambda x, dtype: x.astype(dtype),
    "asarray": lambda data, *, dtype=None: mindspore.tensor(data, dtype),
    "arange": lambda *ends, dtype=None: ops.arange(*ends, dtype=dtype),
    "setitem": setitem,
    "sum": _reduction("sum", dtyped=True),
    "prod": _reduction("prod", dtyped=True),
    "mean": _reduction("mean"),
    "max": _reduction("amax"),
    "min": _reduction("amin"),
    "all": _reduction("all"),
    "any": _reduction("any"),
    "std": _spread("std"),
    "var": _spread("var"),
    "argmax": lambda x, *, axis=None, keepdims=False: ops.argmax(x, axis, keepdims),
    "argmin": lambda x, *, axis=None, keepdims=False: ops.argmin(x, axis, keepdims),
    "cumulative_sum": _cumulative("cumsum"),
    "cumulative_prod": _cumulative("cumprod"),
    "concat": lambda arrays, *, axis=0: ops.concat(tuple(arrays), axis),
    "stack": lambda arrays, *, axis=0: ops.stack(tuple(arrays), axis),
    "sort": lambda x, *, axis=-1, descending=False: ops.sort(x, axis, descending)[0],
    "flip": lambda x, *, axis=None: ops.flip(
        x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    ),
    "roll": lambda x, shift, *, axis=None: ops.roll(x, shift, axis),
    "squeeze": ops.squeeze,
    "expand_dims": lambda x, *, axis: ops.expand_dims(x, axis),
    "permute_dims": ops.permute,
    "moveaxis": ops.movedim,
    "broadcast_to": ops.broadcast_to,
    "reshape": ops.reshape,
    "tile": ops.tile,
    "repeat": lambda x, repeats, *, axis=None: ops.repeat_interleave(x, repeats, axis),
    "meshgrid": lambda *arrays: ops.meshgrid(*arrays, indexing="ij"),
    "tensordot": lambda x1, x2, *, axes=2: ops.tensor_dot(x1, x2, axes),
    "isin": ops.isin if hasattr(ops, "isin") else None,
    "searchsorted": lambda x1, x2, *, side="left": ops.searchsorted(x1, x2, right=side == "right"),
    "vecdot": lambda x1, x2, *, axis=-1: ops.vecdot(x1, x2, axis=axis),
}
"""What MindSpore has under other names and arguments."""
OTHER = {name: function for name, function in OTHER.items() if function is not None}

LINALG = {
    "outer": ops.outer,
    "cross": ops.cross,
    "det": ops.det,
    "inv": ops.inverse,
    "cholesky": ops.cholesky,
    "pinv": ops.pinv,
    "slogdet": ops.slogdet,
    "trace": ops.trace,
    "diagonal": lambda x, *, offset=0: ops.diagonal(x, offset, -2, -1),
    "matrix_power": ops.matrix_power,
}
