"""MLX on the CPU device, spelt as its users write it; each line is evaluated at once.

Asked are functions, operators, reductions, joins, sorts, moves and casts. Creation, assignment,
linear algebra and Fourier transforms are not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import mlx.core as mx
import numpy as np

from programs.frameworks import Framework, in_standard_form
from programs.frameworks.numpy import DTYPES

SAME = (
    "abs add ceil conj cos cosh divide equal exp expm1 floor floor_divide greater greater_equal"
    " imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and"
    " logical_not logical_or maximum minimum multiply negative not_equal real reciprocal remainder"
    " round sign sin sinh sqrt square subtract tan tanh bitwise_and bitwise_or bitwise_xor"
    " bitwise_invert ones_like zeros_like tril triu"
    " matmul where broadcast_to expand_dims roll reshape repeat tile moveaxis stack"
    " argmax argmin all any max min prod sum mean std var sort argsort take take_along_axis"
    " tensordot broadcast_arrays"
)
OTHER_NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "pow": "power",
}


REDUCED = frozenset("all any prod sum mean std var".split())  # noqa: SIM905


def framework(edition: str) -> Framework:
    """The installed MLX."""
    mx.set_default_device(mx.cpu)
    named = {name: name for name in SAME.split()} | OTHER_NAMES
    functions = {name: getattr(mx, theirs) for name, theirs in named.items()} | OTHER
    names = [name for name in (*DTYPES, "bfloat16") if name != "complex128"]
    return Framework(
        version=f"mlx {mx.__version__}",
        policy="mlx@0.32",
        functions=in_standard_form(
            {name: _evaluated(function) for name, function in functions.items()}, leave
        ),
        dtypes={name: getattr(mx, "bool_" if name == "bool" else name) for name in names},
        enter=enter,
        leave=leave,
        missing=lambda error: (
            isinstance(error, NotImplementedError)
            or "incompatible function arguments" in str(error)
        ),
        traits=frozenset(),  # `x += y` gives x another dtype, and all that is the same array
    )


def _evaluated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute at once, so that an error is of the line that asked for it."""

    @wraps(function)
    def asked(*arguments: Any, **options: Any) -> Any:
        if function.__name__ in REDUCED and getattr(arguments[0], "size", 1) == 0:
            raise NotImplementedError("MLX loops 2**32 times over nothing, or ends the process")
        made = function(*arguments, **options)
        mx.eval(made)
        return made

    return asked


def enter(array: Any, dtype: str) -> mx.array:
    """An array of the same values."""
    if dtype == "bfloat16":
        return mx.array(array.astype("float32")).astype(mx.bfloat16)
    return mx.array(np.array(array), dtype=getattr(mx, "bool_" if dtype == "bool" else dtype))


def leave(x: Any) -> tuple[str, bool, Any]:
    """An array."""
    if not isinstance(x, mx.array):
        raise TypeError(f"{type(x).__name__} is no array")
    name = str(x.dtype).removeprefix("mlx.core.")
    return name, False, np.array(x.astype(mx.float32) if name == "bfloat16" else x)


def _spread(name: str) -> Callable[..., Any]:
    function = getattr(mx, name)

    def spread(x: Any, *, axis: Any = None, correction: int = 0, keepdims: bool = False) -> Any:
        return function(x, axis=axis, ddof=correction, keepdims=keepdims)

    spread.__name__ = name
    return spread


def _flip(x: mx.array, *, axis: Any = None) -> mx.array:
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    for each in axes:
        x = x[(slice(None),) * (each % x.ndim) + (slice(None, None, -1),)]
    return x


OTHER = {
    "astype": lambda x, dtype: x.astype(dtype),
    "clip": lambda x, min=None, max=None: mx.clip(x, min, max),
    "std": _spread("std"),
    "var": _spread("var"),
    "cumulative_sum": lambda x, *, axis=None: mx.cumsum(x, axis=axis or 0),
    "cumulative_prod": lambda x, *, axis=None: mx.cumprod(x, axis=axis or 0),
    "concat": lambda arrays, *, axis=0: mx.concatenate(arrays, axis),
    "flip": _flip,
    "permute_dims": mx.transpose,
    "meshgrid": lambda *arrays, indexing="xy": mx.meshgrid(*arrays, indexing=indexing),
    "matrix_transpose": lambda x: mx.swapaxes(x, -1, -2),
}
"""What MLX has under other names and arguments."""
