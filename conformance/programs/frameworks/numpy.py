"""NumPy: 2.x with ml_dtypes registered, and 1.26, by what is installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from programs.frameworks import Framework, getitem, setitem, storage
from programs.program import words

STANDARD = (
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift"
    " bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp"
    " expm1 floor floor_divide fmax fmin greater greater_equal hypot imag isfinite isinf isnan less"
    " less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor"
    " maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder"
    " round sign signbit sin sinh sqrt square subtract tan tanh trunc"
    " arange asarray empty_like eye logspace full full_like linspace meshgrid ones ones_like tril"
    " triu zeros zeros_like result_type can_cast matmul matrix_transpose tensordot vecdot"
    " broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape"
    " roll squeeze stack tile unstack argmax argmin"
    " count_nonzero nonzero searchsorted where isin unique_all"
    " unique_counts unique_inverse unique_values argsort sort cumulative_prod cumulative_sum max"
    " mean min prod std sum var all any diff take take_along_axis empty isdtype promote_types"
)
"""The names of the standard's functions, and of what else every framework is asked."""

LINALG = (
    "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power"
    " matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot"
    " vector_norm"
)
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"

OLD = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "concat": "concatenate",
    "permute_dims": "transpose",
    "pow": "power",
}
"""What NumPy 1 calls them."""

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
)
REGISTERED = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]
"""Dtypes of ml_dtypes, of which arrays are cast; its promotions are departures, and recorded."""


def framework(edition: str) -> Framework:
    """The installed NumPy."""
    old = np.__version__.startswith("1.")
    names = DTYPES if old else [*DTYPES, *REGISTERED]
    functions = {
        **found(np, STANDARD),
        **OWN,
        **(old_functions() if old else {}),
        "linalg": SimpleNamespace(**{**found(np.linalg, LINALG), **(OLD_LINALG if old else {})}),
        "fft": SimpleNamespace(**found(np.fft, FFT)),
        "getitem": getitem,
        "setitem": setitem,
    }
    if not old:
        functions["linalg"].outer = np.linalg.outer
    return Framework(
        version=f"numpy {np.__version__}",
        policy="numpy@1" if old else "numpy@2",
        functions=functions,
        dtypes={name: storage(name) for name in names},
        enter=lambda array, dtype: array,
        leave=leave,
        cast_only=frozenset(REGISTERED) & frozenset(names),
        seconds=4,  # NumPy 1 computes x ** 2**64 with Python ints
    )


def found(module: Any, names: str) -> dict[str, Any]:
    """The functions of these names that a module has, under the names NumPy 1 has for them."""
    pairs = ((name, getattr(module, name, None)) for name in names.split())
    return {name: function for name, function in pairs if function is not None} | {
        name: getattr(module, OLD[name])
        for name in names.split()
        if name in OLD and not hasattr(module, name)
    }


def leave(x: Any) -> tuple[str, bool, Any]:
    """An array, a scalar, a count or a dtype."""
    if type(x) is int:
        x = np.int64(x)
    if isinstance(x, np.dtype):
        return x.name, False, np.zeros(0)
    if not isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(f"{type(x).__name__} is no array")
    array = np.asarray(x)
    if array.dtype == object:
        raise TypeError("an array of objects")
    wide = array if array.dtype.kind in "biufc" else array.astype(_wide(array.dtype.name))
    return array.dtype.name, False, wide


def _wide(dtype: str) -> str:
    return "complex64" if "complex" in dtype else "int8" if "int" in dtype else "float64"


def _sorted(x: Any, axis: int = -1, *, descending: bool = False) -> Any:
    return np.flip(np.sort(x, axis=axis), axis=axis) if descending else np.sort(x, axis=axis)


def _cumulative(name: str) -> Any:
    function = getattr(np, name)
    return lambda x, *, axis=None, dtype=None: function(
        x, axis=0 if axis is None else axis, dtype=dtype
    )


OWN = {
    "astype": lambda x, dtype: x.astype(dtype),
    "sort": _sorted,
    "argsort": lambda x, axis=-1: np.argsort(x, axis=axis, kind="stable"),
    "std": lambda x, *, axis=None, correction=0.0, keepdims=False: np.std(
        x, axis=axis, ddof=correction, keepdims=keepdims
    ),
    "var": lambda x, *, axis=None, correction=0.0, keepdims=False: np.var(
        x, axis=axis, ddof=correction, keepdims=keepdims
    ),
    "meshgrid": lambda *arrays, indexing="xy": tuple(np.meshgrid(*arrays, indexing=indexing)),
}
"""What NumPy has under other arguments."""

OLD_LINALG = {
    "matrix_norm": lambda x, *, keepdims=False, ord="fro": np.linalg.norm(
        x, ord, axis=(-2, -1), keepdims=keepdims
    ),
    "vector_norm": lambda x, *, axis=None, ord=2: np.linalg.norm(
        np.ravel(x) if axis is None or isinstance(axis, tuple) else x,  # over all axes
        ord,
        axis=None if isinstance(axis, tuple) else axis,
    ),
    "svdvals": lambda x: np.linalg.svd(x, compute_uv=False),
    "outer": np.outer,
    "cross": np.cross,
    "trace": lambda x, *, offset=0, dtype=None: np.trace(x, offset, -2, -1, dtype),
    "diagonal": lambda x, *, offset=0: np.diagonal(x, offset, -2, -1),
    "tensordot": np.tensordot,
    "matmul": np.matmul,
}


def old_functions() -> dict[str, Any]:
    """What NumPy 1 has under other names and arguments."""
    return {
        "cumulative_sum": _cumulative("cumsum"),
        "cumulative_prod": _cumulative("cumprod"),
        "isin": np.isin,
        "unstack": lambda x, axis=0: tuple(np.moveaxis(x, axis, 0)),
        "matrix_transpose": lambda x: np.swapaxes(x, -1, -2),
        "unique_values": lambda x: np.unique(x, equal_nan=False),
        "unique_counts": lambda x: np.unique(x, return_counts=True, equal_nan=False),
        "unique_inverse": _unique_inverse,
    }


def _unique_inverse(x: Any) -> tuple[Any, Any]:
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return values, inverse.reshape(x.shape)
