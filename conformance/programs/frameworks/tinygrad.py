"""tinygrad on the CPU (`clang` has to be there), spelt as its users write it; each line is realized
at once.

Asked are functions, operators, reductions, joins, moves and casts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import Any

os.environ.setdefault("DEV", "CPU")

import numpy as np
from tinygrad import Tensor, dtypes

from programs.frameworks import Framework, in_standard_form
from programs.frameworks.numpy import DTYPES

SAME = (
    "abs acos acosh add asin asinh atan atanh ceil copysign cos cosh exp floor isfinite isinf isnan"
    " log log10 log2 logaddexp logical_not maximum minimum pow reciprocal round sign sin sinh sqrt"
    " square tan tanh trunc bitwise_and bitwise_or bitwise_xor tril triu matmul"
)
OTHER_NAMES = {
    "divide": "div",
    "subtract": "sub",
    "multiply": "mul",
    "remainder": "mod",
    "bitwise_left_shift": "lshift",
    "bitwise_right_shift": "rshift",
    "negative": "neg",
    "bitwise_invert": "bitwise_not",
    "not_equal": "ne",
    "equal": "eq",
    "less": "__lt__",
    "greater": "__gt__",
    "less_equal": "__le__",
    "greater_equal": "__ge__",
}


def framework(edition: str) -> Framework:
    """The installed tinygrad."""
    named = {name: name for name in SAME.split()} | OTHER_NAMES
    functions = {name: getattr(Tensor, theirs) for name, theirs in named.items()} | OTHER
    names = [name for name in (*DTYPES, "bfloat16") if "complex" not in name]
    return Framework(
        version=f"tinygrad {version('tinygrad')}",
        policy="tinygrad@0.14",
        functions=in_standard_form(
            {name: _realized(function) for name, function in functions.items()}, leave
        ),
        dtypes={name: getattr(dtypes, name) for name in names},
        enter=enter,
        leave=leave,
        missing=missing,
        traits=frozenset(),
    )


def _realized(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def asked(*arguments: Any, **options: Any) -> Any:
        if not any(isinstance(x, (Tensor, list)) for x in arguments[:1]):
            raise NotImplementedError("a method is of a tensor")
        return function(*arguments, **options).realize()

    return asked


def enter(array: Any, dtype: str) -> Tensor:
    """A tensor of the same values."""
    wide = np.array(array.astype("float32") if dtype == "bfloat16" else array)
    return Tensor(wide).cast(getattr(dtypes, dtype)).realize()


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor; a weak one counts as its default dtype."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{type(x).__name__} is no tensor")
    dtype = {dtypes.weakint: dtypes.int32, dtypes.weakfloat: dtypes.float32}.get(x.dtype, x.dtype)
    name = next(n for n in (*DTYPES, "bfloat16") if getattr(dtypes, n, None) is dtype)
    values = x.cast(dtypes.float32 if name == "bfloat16" else dtype)
    return name, False, values.numpy()


def missing(error: Exception) -> bool:
    """Whether the Python device has no such number: struct packs none, int() takes no NaN."""
    return isinstance(error, (NotImplementedError, OverflowError)) or any(
        words in str(error)
        for words in (
            "cannot convert float",
            "requires",
            "out of range",
            "argument",
            "math domain",
            "operand type",
        )
    )


def _reduced(name: str) -> Callable[..., Any]:
    function = getattr(Tensor, name)
    return lambda x, *, axis=None, keepdims=False: function(x, axis=axis, keepdim=keepdims)


OTHER = {
    **{n: _reduced(n) for n in ("sum", "mean", "max", "min", "all", "any", "prod", "argmax")},
    "astype": lambda x, dtype: x.cast(dtype),
    "where": lambda condition, x, y: condition.where(x, y),
    "clip": lambda x, min=None, max=None: x.clip(min, max),
    "cumulative_sum": lambda x, *, axis=None: x.cumsum(axis or 0),
    "cumulative_prod": lambda x, *, axis=None: x.cumprod(axis or 0),
    "concat": lambda arrays, *, axis=0: Tensor.cat(*arrays, dim=axis),
    "stack": lambda arrays, *, axis=0: Tensor.stack(*arrays, dim=axis),
    "flip": lambda x, *, axis=None: x.flip(tuple(range(x.ndim)) if axis is None else axis),
    "permute_dims": lambda x, axes: x.permute(axes),
    "reshape": lambda x, shape: x.reshape(shape),
    "expand_dims": lambda x, *, axis: x.unsqueeze(axis),
}
"""What tinygrad has under other names and arguments."""
