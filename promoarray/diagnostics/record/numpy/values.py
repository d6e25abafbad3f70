"""The values of NumPy's operations: operands, results, and what calls say besides them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from promoarray.diagnostics.calls.numpy import OPERANDS
from promoarray.diagnostics.losses.examined import Operand, Values
from promoarray.diagnostics.record.call import flat
from promoarray.diagnostics.record.numpy.looks import AT, looks_of
from promoarray.diagnostics.record.numpy.operand import ARRAYS, Callee, dtype_of
from promoarray.dtypes import INEXACT, WEAK, DType
from promoarray.operations import OPERATIONS, Family

LONG = 1 << 16
"""Lists of more numbers are not read a second time."""


def values_of(x: Any) -> Values | None:
    """Return the values of an array or a scalar; None if it is no number of a known format.

    What is masked counts as zero.
    """
    dtype = dtype_of(x)
    if dtype is None:
        return None
    if isinstance(x, np.ma.MaskedArray):
        return Values(np.where(np.ma.getmaskarray(x), x.dtype.type(0), np.ma.getdata(x)), dtype)
    array = np.asarray(x)
    if not array.dtype.isnative:
        array = array.astype(dtype.storage)
    return Values(array, dtype)


def number_or_values(x: Any) -> Operand | None:
    """Return a number itself, and the values of an array or of lists; None of what is neither."""
    if type(x) in WEAK:
        return x  # type: ignore[no-any-return]
    if isinstance(x, ARRAYS):
        return values_of(x)
    if isinstance(x, (list, tuple, range, bool, int, float, complex)):
        return list_values(x)
    return None


def list_values(x: Any) -> Values | None:
    """Return the values of the array that NumPy makes of numbers in lists."""
    try:
        made = np.asarray(x)
    except (ValueError, TypeError, OverflowError):
        return None
    return values_of(made)


def operands_of(given: Sequence[Any]) -> list[Operand]:
    """Return what is known of some arguments; nothing if one is no number."""
    found = [number_or_values(x) for x in given]
    return [] if None in found else found  # type: ignore[return-value]


def result_values(made: Any) -> list[Values]:
    """Return the values of the arrays that a call made."""
    several = made if isinstance(made, (list, tuple)) else (made,)
    found = (values_of(x) for x in several if isinstance(x, ARRAYS))
    return [x for x in found if x is not None]


def copied(x: Any) -> Any:
    """Return a copy of an array, and all else as it is."""
    return np.array(x, copy=True, subok=True) if isinstance(x, np.ndarray) else x


def looked(callee: Callee) -> str:
    """Return the name by which it is known how a call is looked at."""
    return callee.looked or callee.name


def target_of(callee: Callee, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the array that a call writes into."""
    if looks_of(looked(callee)).way == AT:
        return args[0]
    out = kwargs.get("out")
    ufunc = getattr(np, callee.name, None)
    if out is None and isinstance(ufunc, np.ufunc) and len(args) > ufunc.nin:
        out = args[ufunc.nin]
    return out[0] if isinstance(out, tuple) else out


def is_held(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether an array holds a Python number as it is, or NumPy refuses it."""
    kind: Any = type(value)
    if kind is int or kind is bool:
        return dtype.kind in "iub" or (dtype.kind in "fc" and abs(value) <= 256)
    return kind is float and dtype.kind in "fc" and dtype.itemsize >= 8


def cast_to(x: Operand, dtype: DType) -> Operand:
    """Return a float operand in the integer dtype that a sum is computed in."""
    if not isinstance(x, Values) or x.dtype.kind not in INEXACT:
        return x
    with np.errstate(all="ignore"):
        return Values(x.array.astype(dtype.storage), dtype)


def where_computed(x: Any, where: Any, dtype: DType) -> Any:
    """Return an operand, or a result, with zeros where nothing was computed."""
    array = x.array if isinstance(x, Values) else np.asarray(x, dtype.storage)
    try:
        masked = np.where(where, array, array.dtype.type(0))
    except ValueError:  # of a reduction
        return x
    return Values(masked, x.dtype if isinstance(x, Values) else dtype)


def given_of(callee: Callee, operation: str, args: Any, kwargs: Mapping[str, Any]) -> list[Any]:
    """Return the operands of an operation among the arguments of a call."""
    if operation in ("concat", "stack"):
        rows = args[:2] if callee.name == "append" else args[0] if args else ()
        if callee.name == "block" and isinstance(rows, list):
            rows = [*flat(rows)]
        return [np.asarray(x) for x in rows] if isinstance(rows, (list, tuple)) else [rows]
    start, keys = OPERANDS.get(operation, (0, _PARAMETERS))
    count = 3 if operation == "where" else OPERATIONS[operation].arity or 2
    given = [*args[start:count], *(kwargs[key] for key in keys if key in kwargs)]
    if callee.outer and len(given) == 2:
        first, second = map(np.asarray, given)
        return [first.reshape(first.shape + (1,) * second.ndim), second]
    return given


_PARAMETERS = ("x", "a", "b", "x1", "x2", "v", "array", "arr", "exponent")


def options_of(operation: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call says of the operation besides its operands."""
    found = {key: kwargs[key] for key in _NAMED if key in kwargs}
    if operation == "diff" and len(args) > 1:
        found["n"] = args[1]
    at = 2 if operation == "diff" else 1 if OPERATIONS[operation].family in FOLDS else None
    if at is not None and len(args) > at and "axis" not in found:
        found["axis"] = args[at]
    return {key: x for key, x in found.items() if x is not None}


_NAMED = ("axis", "n", "axes", "offset", "include_initial")


FOLDS = frozenset({Family.SUM, Family.MEAN})
"""Families of operations that add up."""


def is_product(name: str, given: Sequence[Any]) -> bool:
    """Return whether a function that multiplies does what ``@`` does."""
    if len(given) != 2 or not all(isinstance(x, np.ndarray) for x in given):
        return False
    most = {"dot": 2, "inner": 1, "vdot": 1}.get(name, 0)
    return all(0 < x.ndim <= most for x in given)


def has_number(operands: Sequence[Operand]) -> bool:
    """Return whether an operand has no axes, with which ``np.dot`` multiplies."""
    return any(not isinstance(x, Values) or not x.array.ndim for x in operands)
