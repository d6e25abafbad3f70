"""Whether an array of a default dtype is cast where it is made, so that no default matters.

``np.zeros(3).astype(np.float32)`` ends alike under every policy, whatever dtype its zeros had.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from promoarray import dtypes as dt
from promoarray.core.call_site import source_of
from promoarray.dtypes import CONCRETE, DType
from promoarray.promotion.cast_losses import loss

Position = tuple[int, int, int, int]

_METHODS = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bool": "bool",
    "bfloat16": "bfloat16",
}
"""PyTorch's methods that are casts."""

_PYTHONS = {"int": "int64", "float": "float64", "complex": "complex128"}
"""What NumPy and PyTorch take Python's types for, where a dtype is asked for."""

_BY_NAME = {dtype.name: dtype for dtype in CONCRETE}


def cast_at_once(frame: FrameType) -> DType | None:
    """Return what the expression at which a frame stands is cast to there; None if it is not."""
    return _cast(frame.f_code, frame.f_lasti)


def ends_alike(weak: DType, target: DType, defaults: Iterable[DType]) -> bool:
    """Whether a cast of Python numbers gives the same whatever default dtype they have before it.

    Of integers it does; of floats if each default holds all that the cast keeps.

    Parameters
    ----------
    weak : DType
        What the numbers are.
    target : DType
    defaults : iterable of DType
        Of each policy.
    """
    return weak in (dt.weak_bool, dt.weak_int) or not any(loss(target, d) for d in {*defaults})


@lru_cache(maxsize=4096)
def _cast(code: CodeType, instruction: int) -> DType | None:
    at = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    line, end_line, column, end = at
    if line is None or end_line is None or column is None or end is None:
        return None
    name = _casts(source_of(code.co_filename)).get((line, column, end_line, end), "")
    return _BY_NAME.get(name.removesuffix("_"))


@lru_cache(maxsize=64)
def _casts(source: str) -> dict[Position, str]:
    """From where an expression stands in a file to the name of what it is cast to."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        (x.lineno, x.col_offset, x.end_lineno or 0, x.end_col_offset or 0): name
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for x, name in _cast_by(node)
    }


def _cast_by(call: ast.Call) -> Iterable[tuple[ast.expr, str]]:
    """The expression that a call casts, and to what."""
    match call:
        case ast.Call(ast.Attribute(x, "astype" | "to" | "type"), [dtype], []):
            yield x, _last_name(dtype)
        case ast.Call(ast.Attribute(x, "astype" | "to"), [], [ast.keyword("dtype", dtype)]):
            yield x, _last_name(dtype)
        case ast.Call(ast.Attribute(x, method), [], []) if method in _METHODS:
            yield x, _METHODS[method]


def _last_name(dtype: Any) -> str:
    match dtype:
        case ast.Name(id="int" | "float" | "complex" as name):
            return _PYTHONS[name]
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
            return str(name)
    return ""
