"""Ask NumPy: `numpy1` where 1.26 is installed, `numpy2` (ml_dtypes registered) where 2.x is.

`numpy1_windows` where C's long has 32 bits, as on Windows, which was asked of Linux for i386. There
an index (intp) has 32 bits as well, and 64 on Windows: what functions of `INDICES` return is
widened.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import version
from operator import add, imatmul
from typing import Any

import _ask

OLD_NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "pow": "power",
    "bitwise_invert": "invert",
    "concat": "concatenate",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
}
"""The standard's names that NumPy 1 does not have; NumPy 2 has these too."""

SEARCHED = (
    *("bitwise_and", "left_shift", "floor_divide", "remainder", "pow"),
    *("atan2", "hypot", "copysign", "nextafter", "logaddexp"),
)
"""Functions whose loops NumPy 1 searches, instead of promoting."""

PAIRS = {
    "where": lambda np: lambda x, y: np.where([True, False], x, y),
    "concat": lambda np: lambda x, y: np.concatenate([x, y]),
    "stack": lambda np: lambda x, y: np.stack([x, y]),
}
"""Functions of two arrays that NumPy spells otherwise."""


def edition() -> _ask.Oracle:
    """Everything asked of the installed NumPy."""
    import numpy as np

    old, small = np.__version__.startswith("1."), np.dtype(int).itemsize == 4
    policy = f"numpy@{1 if old else 2}{'-windows' if small else ''}"
    meta = {"policy": policy, "framework": "numpy", "numpy": np.__version__}
    if not old:
        import ml_dtypes

        meta["ml_dtypes"] = ml_dtypes.__version__
    meta["how"] = "executed; arrays of ones of shape (2,), (2, 2) for matmul"

    dtypes = dict(_dtypes(np, ml="ml_dtypes" in meta))
    arrays, zero_d, square = (
        {code: np.ones(shape, dtype) for code, dtype in dtypes.items()}
        for shape in ((2,), (), (2, 2))
    )
    both = {**arrays, **_ask.SCALARS}

    if small:
        meta["long"] = "of 32 bits, on i386; indices are widened to 64, as on Windows"

    def code(answer: Any) -> str:
        name = np.asarray(answer).dtype.name
        return _ask.CODES.get(name, name)

    def first(answer: Any) -> str:
        return f"{code(answer)}:{np.asarray(answer).ravel()[0]!s}"

    def can_cast(x: Any, y: Any) -> str:
        return code(y) if np.can_cast(x.dtype, y.dtype) else _ask.REFUSED

    def copy(code: str) -> Any:
        return arrays[code].copy()

    pairs = {
        name: PAIRS[name](np) if name in PAIRS else _function(np, name) for name in _ask.BINARY
    }
    sections = {
        **_ask.promotion(pairs, arrays, zero_d, square),
        "types/promote_types": _ask.Section(
            lambda x, y: np.empty(0, np.promote_types(x.dtype, y.dtype)), arrays, arrays
        ),
        "types/result_type": _ask.Section(
            lambda x, y: np.empty(0, np.result_type(x, y)), both, both
        ),
        "types/can_cast": _ask.Section(can_cast, arrays, arrays),
        **_ask.inplace(copy, arrays, both),
        **_ask.inplace(copy, arrays, zero_d, {"add": _ask.INPLACE["add"]}, "inplace_0d"),
        **_ask.inplace(lambda code: square[code].copy(), square, square, {"matmul": imatmul}),
        "unary": _ask.unary({name: _function(np, name) for name in _ask.UNARY}, arrays),
        "reduce": _ask.unary({name: _function(np, name) for name in _ask.REDUCE}, arrays),
        "clip": _ask.Section(
            lambda x, one: np.clip(x, 0 * one, one), arrays, {"int": 1, "float": 1.0}
        ),
        **_ask.scalars(arrays, first),
        **_ask.linear(
            _linear(np), {code: np.eye(3).astype(dtype) for code, dtype in dtypes.items()}
        ),
    }
    if "ml_dtypes" not in meta:
        sections |= _by_value(np, arrays)
        sections |= {f"by_value/{name}": _searched(pairs[name], arrays) for name in SEARCHED}
    return _ask.Oracle(meta, code, sections)


def _dtypes(np: Any, *, ml: bool) -> Iterator[tuple[str, Any]]:
    for name in _ask.DTYPES:
        with suppress(TypeError):
            yield _ask.CODES[name], np.dtype(_ml_dtype(name) if ml else name)


def _ml_dtype(name: str) -> Any:
    import ml_dtypes

    return getattr(ml_dtypes, name, name)


def _function(np: Any, name: str) -> Callable[..., Any]:
    function = getattr(np, name, None) or getattr(np, OLD_NAMES[name])
    return _widened(np, function) if name in INDICES else function


INDICES = ("argmax", "argsort", "matrix_rank", "unique_counts", "unique_inverse", "unique_all")


def _widened(np: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its indices, or those of its results but the first, in int64."""

    def widened(*operands: Any) -> Any:
        answer = function(*operands)
        if isinstance(answer, tuple):
            return answer[0], *(np.asarray(indices, np.int64) for indices in answer[1:])
        return np.asarray(answer, np.int64)

    return widened


def _linear(np: Any) -> dict[str, Callable[..., Any]]:
    """Linear algebra, Fourier transforms, sets and sorting; NumPy 1 lacks some of the names."""
    linalg = np.linalg
    functions = {
        "matrix_norm": lambda x: linalg.norm(x, axis=(-2, -1)),
        "vector_norm": lambda x: linalg.norm(x, axis=-1),
        "svdvals": lambda x: linalg.svd(x, compute_uv=False),
        "unique_values": np.unique,
        "unique_counts": lambda x: np.unique(x, return_counts=True),
        "unique_inverse": lambda x: np.unique(x, return_inverse=True),
        "unique_all": lambda x: np.unique(x, True, True, True),
        "outer": lambda x, y: np.outer(x[0], y[0]),
    }
    for name in _ask.LINEAR_NAMES:
        module = next((module for module in (linalg, np.fft, np) if hasattr(module, name)), None)
        if module and name not in functions:
            functions[name] = getattr(module, name)
    functions |= {n: _widened(np, f) for n, f in functions.items() if n in INDICES}
    functions["matrix_power"] = lambda x: linalg.matrix_power(x, 2)
    return functions


def _by_value(np: Any, arrays: dict[str, Any]) -> dict[str, _ask.Section]:
    """NumPy 1 looks at the value of a 0-d operand: array + every dtype's edge values."""
    ints = [value for value in _ask.VALUES.values() if isinstance(value, int)]
    floats = [1.0, *(value for value in _ask.VALUES.values() if isinstance(value, float))]
    values: dict[str, list[Any]] = {"b1": [False, True]}
    for code, array in arrays.items():
        if array.dtype.kind in "iu":
            edges = np.iinfo(array.dtype)
            values[code] = [value for value in ints if edges.min <= value <= edges.max]
        elif array.dtype.kind in "fc":
            largest = np.finfo(array.dtype).max
            values[code] = [value for value in floats if not largest < value < np.inf]
    zero_d = {
        code: {repr(value): np.array(value, arrays[code].dtype) for value in values[code]}
        for code in arrays
    }
    columns = {column: column for code in zero_d for column in zero_d[code]}
    return {
        f"scalars_0d/{left}": _ask.Section(
            lambda column_of, column, x=x: add(x, column_of[column]),
            zero_d,
            columns,
            skip=lambda row, column: column not in zero_d[row],
        )
        for left, x in arrays.items()
    }


def _searched(function: Callable[..., Any], arrays: dict[str, Any]) -> _ask.Section:
    """NumPy 1 takes the first loop that holds a scalar, which must not be an object."""
    scalars = {
        column: value
        for column, value in _ask.VALUES.items()
        if isinstance(value, float) or -(1 << 63) <= value < 1 << 64
    }
    return _ask.Section(
        function,
        arrays,
        scalars,
        refusal=lambda error: (
            "?" if isinstance(error, ValueError) else _ask.REFUSED
        ),  # a negative power
    )


if __name__ == "__main__":
    old = "numpy1" if sys.maxsize >> 32 else "numpy1_windows"
    _ask.main({old if version("numpy").startswith("1.") else "numpy2": edition})
