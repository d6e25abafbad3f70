"""Numba's answers: the types that it infers for what ``@njit`` compiles, on the CPU.

python conformance/oracles/numba.py [--out conformance/golden]

Asked with numba 0.68.1 and NumPy 2.4.6. Operators and ufuncs are asked of the typing context,
which compiles nothing; other functions are compiled for their argument types. A 0-d operand is a
scalar of Numba's, as ``x[0]`` is one; a Python number is an int64, float64, complex128 or bool.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import _ask

DTYPES = _ask._names("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64")
DTYPES += ("complex64", "complex128")

UFUNCS = {"atan2": "arctan2", "pow": "power", "mod": "remainder"}
UFUNCS |= {name: name.replace("a", "arc", 1) for name in _ask._names("asin acos atan")}
UFUNCS |= {f"{name}h": f"arc{name[1:]}h" for name in ("asin", "acos", "atan")}
UFUNCS |= {"bitwise_invert": "invert"}
METHODS = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}


def _really(inferred: Callable[..., Any], compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what is of complex numbers, whose order has types and no code."""

    def answer(x: Any, y: Any) -> Any:
        is_complex = "complex" in f"{x} {y}"
        return (compiled if is_complex else inferred)(x, y)

    return answer


def edition() -> _ask.Oracle:
    """Ask the installed Numba."""
    import numba
    import numpy as np
    from numba.core import types
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    context.refresh()

    def code(answer: Any) -> str:
        dtype = getattr(answer, "dtype", answer)
        return _ask.CODES[str(dtype)]

    def inferred(function: Any) -> Callable[..., Any]:
        def answer(*operands: Any) -> Any:
            asked = context.resolve_value_type(function)
            return context.resolve_function_type(asked, operands, {}).return_type

        return answer

    def compiled(text: str) -> Callable[..., Any]:
        function = numba.njit(eval(text, {"np": np}))

        def answer(*operands: Any) -> Any:
            function.compile(operands)
            return function.overloads[tuple(operands)].signature.return_type

        return answer

    scalars = {_ask.CODES[name]: numba.from_dtype(np.dtype(name)) for name in DTYPES}
    arrays = {name: types.Array(dtype, 1, "C") for name, dtype in scalars.items()}
    squares = {name: types.Array(dtype, 2, "C") for name, dtype in scalars.items()}
    numbers = {"bool": types.boolean, "int": types.int64}
    numbers |= {"float": types.float64, "complex": types.complex128}
    operands, operands_0d = {**arrays, **numbers}, {**scalars, **numbers}

    plain = [name for name in _ask.BINARY if name not in ("where", "matmul", "concat", "stack")]
    functions = {
        name: inferred(getattr(np, UFUNCS.get(name, name)))
        for name in plain
        if hasattr(np, UFUNCS.get(name, name))
    }
    signs = {name: inferred(sign) for name, sign in _ask.OPERATORS.items()}
    orders = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
    for name, sign in orders.items():
        signs[name] = _really(signs[name], compiled(f"lambda x, y: x {sign} y"))
    where = {"where": compiled("lambda x, y: np.where(x == x, x, y)")}
    joins = {
        "concat": compiled("lambda x, y: np.concatenate((x, y))"),
        "stack": compiled("lambda x, y: np.stack((x, y))"),
    }
    zero_d = dict(signs)
    unary = {
        **{
            name: inferred(getattr(np, UFUNCS.get(name, name)))
            for name in _ask.UNARY
            if isinstance(getattr(np, UFUNCS.get(name, name), None), np.ufunc)
        },
        "real": compiled("lambda x: np.real(x)"),
        "imag": compiled("lambda x: np.imag(x)"),
        "round": compiled("lambda x: np.round(x, 0, np.empty_like(x))"),
    }
    reduce = {name: compiled(f"lambda x: np.{METHODS.get(name, name)}(x)") for name in _ask.REDUCE}
    sections = {
        **_ask.binary("function", functions, operands, operands, both_scalars=False),
        **_ask.binary("function", where, arrays, arrays),
        **_ask.binary("function", joins, arrays, arrays),
        **_ask.binary("function", {"matmul": compiled("lambda x, y: x @ y")}, squares, squares),
        **_ask.binary("operator", signs, operands, operands, both_scalars=False),
        **_ask.binary("array_0d", zero_d, arrays, scalars),
        **_ask.binary("0d_array", zero_d, scalars, arrays),
        **_ask.binary("operator_0d", zero_d, operands_0d, operands_0d, both_scalars=False),
        "unary": _ask.unary(unary, arrays),
        "reduce": _ask.unary(reduce, arrays),
        "clip": _ask.Section(
            compiled("lambda x, bound: np.clip(x, bound, bound)"),
            arrays,
            {name: numbers[name] for name in ("int", "float")},
        ),
        "sorting": _ask.unary(
            {
                "sort": compiled("lambda x: np.sort(x)"),
                "argsort": compiled("lambda x: np.argsort(x)"),
            },
            arrays,
        ),
    }
    meta = {
        "policy": "numba@0.68",
        "framework": f"numba {version('numba')}, numpy {np.__version__}",
        "how": "types inferred for the CPU target: arrays of one axis, 0-d operands are scalars",
    }
    return _ask.Oracle(meta, code, sections)


if __name__ == "__main__":
    _ask.main({"numba": edition})
