"""Ask JAX: `jax_x64`, `jax_x32`, `jax_strict` (jax.numpy in three modes) and `jax_lax`.

Shapes and dtypes alone are asked of `jax.eval_shape`, which needs no kernel; only ``scalars``,
which show a value, are executed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import matmul
from typing import Any

import _ask

WEAK = {"i*": 1, "f*": 1.0, "c*": 1 + 0j}

EXECUTED = tuple(
    code
    for code in _ask.CODES.values()
    if code not in WEAK and not code.startswith(("f8_", "f6_", "f4_"))
)
"""What `scalars` is asked of: CPU kernels are there for these."""

LAX_NAMES = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "remainder": "rem",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "maximum": "max",
    "minimum": "min",
    "left_shift": "shift_left",
    "right_shift": "shift_right_arithmetic",
    "negative": "neg",
    "isfinite": "is_finite",
    "bitwise_invert": "bitwise_not",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
    "matmul": "dot",
}
LAX_REDUCTIONS = {
    "sum": "reduce_sum",
    "prod": "reduce_prod",
    "max": "reduce_max",
    "min": "reduce_min",
}
"""jax.lax's own names. It has no floor_divide, no logical_*; its divide and remainder are C's."""


def edition(mode: str) -> _ask.Oracle:
    """Everything asked of jax.numpy or jax.lax in one mode."""
    os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off"}  # filtering is slow
    import jax
    import jax.numpy as jnp
    import ml_dtypes

    jax.config.update("jax_enable_x64", mode != "x32")
    jax.config.update("jax_numpy_dtype_promotion", "strict" if mode == "strict" else "standard")
    meta = {
        "policy": f"jax@{mode}",
        "framework": "jax",
        "jax": jax.__version__,
        "ml_dtypes": ml_dtypes.__version__,
        "mode": mode,
        "x64": str(mode != "x32"),
        "how": "jax.eval_shape (needs no kernel); arrays of shape (2,), (2, 2) for matmul",
    }
    kinds = {"i*": jnp.integer, "f*": jnp.floating, "c*": jnp.complexfloating}

    def code(answer: Any) -> str:
        if getattr(answer, "weak_type", False):
            for weak, kind in kinds.items():
                if jnp.issubdtype(answer.dtype, kind):
                    return weak
        return _ask.CODES[answer.dtype.name]

    return _ask.Oracle(meta, code, (_lax if mode == "lax" else _numpy)(jax, code))


def _numpy(jax: Any, code: Callable[[Any], str]) -> dict[str, _ask.Section]:
    jnp = jax.numpy
    arrays, zero_d, square = (_arrays(jax, shape) for shape in ((2,), (), (2, 2)))
    strong = {row: array for row, array in arrays.items() if row not in WEAK}
    both = {**arrays, **_ask.SCALARS}
    mask = jnp.array([True, False])
    functions = {
        **_named(jax, jnp, _ask.BINARY),
        "where": _abstract(jax, lambda x, y: jnp.where(mask, x, y)),
    }
    more_0d = {name: functions[name] for name in (*_ask.ZERO_D, *_ask.MORE_ZERO_D)}
    del functions["matmul"], functions["concat"], functions["stack"]
    joins = {
        "concat": _abstract(jax, lambda x, y: jnp.concat([x, y])),
        "stack": _abstract(jax, lambda x, y: jnp.stack([x, y])),
    }
    operators = {name: _abstract(jax, function) for name, function in _ask.OPERATORS.items()}
    assign = {name: _abstract(jax, function) for name, function in _ask.INPLACE.items()}

    def result_type(x: Any, y: Any) -> Any:
        return jnp.empty(0, jnp.result_type(x, y))

    def promote_types(x: Any, y: Any) -> Any:
        return jnp.empty(0, jnp.promote_types(x.dtype, y.dtype))

    def can_cast(x: Any, y: Any) -> str:
        return code(y) if jnp.can_cast(x.dtype, y.dtype) else _ask.REFUSED

    def clip(x: Any, one: Any) -> Any:
        return jnp.clip(x, 0 * one, one)

    def first(answer: Any) -> str:
        return f"{code(answer)}:{answer[0]!s}"

    return {
        **_ask.binary("function", functions, both, both),
        **_ask.binary("function", joins, arrays, arrays),
        "function/matmul": _ask.Section(_abstract(jax, jnp.matmul), square, square),
        **_ask.binary("operator", operators, both, both, both_scalars=False),
        "operator/matmul": _ask.Section(_abstract(jax, matmul), square, square),
        **_ask.binary("array_0d", more_0d, arrays, zero_d),
        **_ask.binary("0d_array", more_0d, zero_d, arrays),
        "types/promote_types": _ask.Section(_abstract(jax, promote_types), strong, strong),
        "types/result_type": _ask.Section(_abstract(jax, result_type), both, both),
        "types/can_cast": _ask.Section(can_cast, strong, strong),
        **_ask.inplace(arrays.__getitem__, arrays, both, assign),
        **_ask.inplace(arrays.__getitem__, arrays, zero_d, {"add": assign["add"]}, "inplace_0d"),
        "unary": _ask.unary(_named(jax, jnp, _ask.UNARY), arrays),
        "reduce": _ask.unary(_named(jax, jnp, _ask.REDUCE), arrays),
        "clip": _ask.Section(_abstract(jax, clip), arrays, {"int": 1, "float": 1.0}),
        **_linear(jax),
        **_ask.scalars(
            {row: jnp.ones(2, strong[row].dtype) for row in EXECUTED if row in strong}, first
        ),
    }


def _linear(jax: Any) -> dict[str, _ask.Section]:
    """Linear algebra, Fourier transforms, sets and sorting of jax.numpy."""
    jnp = jax.numpy
    functions = {
        name: getattr(module, name)
        for module in (jnp, jnp.fft, jnp.linalg)
        for names in (*_ask.LINEAR.values(), _ask.LINEAR_PAIRS)
        for name in names
        if hasattr(module, name)
    }
    # The number of unique values is not known before the values are: it has to be given.
    functions |= {name: partial(functions[name], size=3) for name in _ask.LINEAR["sets"]}
    functions["matrix_power"] = lambda x: jnp.linalg.matrix_power(x, 2)
    functions["outer"] = lambda x, y: jnp.outer(x[0], y[0])
    return _traced(jax, functions)


def _traced(jax: Any, functions: dict[str, Callable[..., Any]]) -> dict[str, _ask.Section]:
    abstract = {name: _abstract(jax, function) for name, function in functions.items()}
    return _ask.linear(abstract, _arrays(jax, (3, 3)))


def _lax(jax: Any, code: Callable[[Any], str]) -> dict[str, _ask.Section]:
    lax = jax.lax
    arrays, square = (_arrays(jax, shape) for shape in ((2,), (2, 2)))
    both = {**arrays, **_ask.SCALARS}
    mask = jax.numpy.array([True, False])
    functions = {
        **_named(jax, lax, _ask.BINARY),
        "where": _abstract(jax, lambda x, y: lax.select(mask, x, y)),
    }
    dot = functions.pop("matmul")
    linalg = {name: getattr(lax.linalg, name) for name in ("cholesky", "eig", "eigh", "qr", "svd")}
    linalg["eig"] = partial(linalg["eig"], compute_left_eigenvectors=False)
    linalg["eigh"] = lambda x: lax.linalg.eigh(x)[::-1]  # vectors first, there
    kinds = ("fft", "ifft", "rfft", "irfft")
    transforms = {name: lambda x, kind=name: lax.fft(x, kind, (x.shape[-1],)) for name in kinds}
    reductions = {
        name: _abstract(jax, partial(getattr(lax, theirs), axes=(0,)))
        for name, theirs in LAX_REDUCTIONS.items()
    }
    cumulative = _named(jax, lax, ("cumulative_sum", "cumulative_prod"))

    def concat(x: Any, y: Any) -> Any:
        return lax.concatenate([x, y], 0)

    return {
        **_ask.binary("function", functions, both, both),
        "function/concat": _ask.Section(_abstract(jax, concat), arrays, arrays),
        "function/matmul": _ask.Section(dot, square, square),
        **_traced(jax, {**linalg, **transforms, "sort": lax.sort}),
        "unary": _ask.unary(_named(jax, lax, _ask.UNARY), arrays),
        "reduce": _ask.unary({**reductions, **cumulative}, arrays),
    }


def _arrays(jax: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """An abstract array of every dtype, and the weakly typed ones."""
    import ml_dtypes

    jnp, arrays = jax.numpy, {}
    for name in _ask.DTYPES:
        with suppress(TypeError):
            dtype = jnp.dtype(getattr(ml_dtypes, name, name))
            array = jax.eval_shape(partial(jnp.ones, shape, dtype))
            if array.dtype == dtype:  # not so for i64 in x32
                arrays[_ask.CODES[name]] = array
    for code, scalar in WEAK.items():
        dtype = jnp.asarray(scalar).dtype
        arrays[code] = jax.ShapeDtypeStruct(shape, dtype, weak_type=True)
    return arrays


def _abstract(jax: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, on abstract arrays; Python scalars reach it as they are."""

    def is_array(x: Any) -> bool:
        return isinstance(x, jax.ShapeDtypeStruct)

    def evaluate(*operands: Any) -> Any:
        def traced(*arrays: Any) -> Any:
            rest = iter(arrays)
            return function(*(next(rest) if is_array(x) else x for x in operands))

        return jax.eval_shape(traced, *filter(is_array, operands))

    return evaluate


def _named(jax: Any, module: Any, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The functions of the module that have these names, or lax's for them."""
    theirs = {name: LAX_NAMES.get(name, name) if module is jax.lax else name for name in names}
    return {
        name: _abstract(jax, getattr(module, name_there))
        for name, name_there in theirs.items()
        if hasattr(module, name_there)
    }


if __name__ == "__main__":
    _ask.main({f"jax_{mode}": partial(edition, mode) for mode in ("x64", "x32", "strict", "lax")})
