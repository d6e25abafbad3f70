"""Keras 3 on a back end: functions of ``keras.ops``, and operators, which are the back end's.

Asked are elementwise functions, operators, reductions, joins, products and casts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from programs.frameworks import Framework, in_standard_form
from programs.program import words

DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
)

SAME = words(
    "abs add ceil conj cos cosh divide equal exp expm1 floor floor_divide fmax fmin greater"
    " greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp"
    " logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter"
    " not_equal real reciprocal round sign signbit sin sinh sqrt square subtract tan tanh trunc"
    " bitwise_and bitwise_or bitwise_xor bitwise_invert bitwise_left_shift bitwise_right_shift"
    " where matmul argmax argmin all any max min prod sum mean std var"
)
OTHER_NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "pow": "power",
    "remainder": "mod",
}
MEASURED = frozenset({"std", "var"})


def framework(edition: str) -> Framework:
    """The installed Keras on ``torch``, ``tensorflow`` or ``jax``."""
    os.environ |= {"KERAS_BACKEND": edition, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    os.environ |= {"TF_ENABLE_ONEDNN_OPTS": "0"}
    import keras
    from keras import ops

    def enter(array: Any, dtype: str) -> Any:
        wide = array.astype("float32") if dtype == "bfloat16" else np.array(array)
        return ops.cast(ops.convert_to_tensor(wide), dtype)

    def leave(x: Any) -> tuple[str, bool, Any]:
        if not ops.is_tensor(x):
            raise TypeError(f"{type(x).__name__} is no tensor")
        name = keras.backend.standardize_dtype(x.dtype)
        weak = bool(getattr(x, "weak_type", False)) and name != "bool"
        return name, weak, ops.convert_to_numpy(ops.cast(x, "float32") if name == "bfloat16" else x)

    named = {name: name for name in SAME} | OTHER_NAMES
    back_end = __import__(edition)
    return Framework(
        version=f"keras {keras.__version__}, {edition} {back_end.__version__.partition('+')[0]}",
        policy=f"keras@{edition}",
        functions=in_standard_form(
            {
                **{name: getattr(ops, theirs) for name, theirs in named.items()},
                "astype": lambda x, dtype: ops.cast(x, dtype),
                "clip": lambda x, min, max: ops.clip(x, min, max),
                "concat": lambda arrays, *, axis=0: ops.concatenate(arrays, axis),
                "stack": lambda arrays, *, axis=0: ops.stack(arrays, axis),
                **{name: _spread(getattr(ops, name)) for name in MEASURED},
                **{f"cumulative_{n}": _running(getattr(ops, f"cum{n}")) for n in ("sum", "prod")},
            },
            leave,
        ),
        dtypes={name: name for name in _dtypes(enter, leave)},
        enter=enter,
        leave=leave,
        missing=lambda error: bool(_MISSING.search(f"{type(error).__name__}: {error}")),
        traits=frozenset(),
    )


_MISSING = re.compile(
    r"not implemented for '|Unimplemented|NotImplemented|operand type|Could not find device"
    r"|No OpKernel"
)


def _dtypes(enter: Callable[..., Any], leave: Callable[..., Any]) -> Iterator[str]:
    for name in DTYPES:
        with suppress(Exception):
            if leave(enter(np.ones(2, "float32"), name))[0] == name:
                yield name


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, axis=None, keepdims=False: function(x, axis, keepdims)


def _running(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, axis=0: function(x, axis)
