"""Functions of NumPy that are carried out again, in a wider dtype, and what that shows was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from promoarray.diagnostics.losses.again import Change
from promoarray.diagnostics.losses.elements import is_whole
from promoarray.diagnostics.losses.examined import Operand, Values, absorbed
from promoarray.diagnostics.model.lost import Loss
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.record.numpy.operand import ARRAYS, Callee, dtype_of
from promoarray.diagnostics.record.numpy.values import (
    LONG,
    number_or_values,
    result_values,
    values_of,
)
from promoarray.diagnostics.record.updates import is_much, weight
from promoarray.dtypes import BY_NAME, INEXACT, Kind


def is_whole_array(x: Any) -> bool:
    """Return whether a value is an array of integers or truth values."""
    return isinstance(x, ARRAYS) and x.dtype.kind in "iub"


def whole_operands(given: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Operand]:
    """Return the integers that a function is given; none if it is given other numbers."""
    named = (x for key, x in kwargs.items() if key not in ("out", "dtype", "where", "axis"))
    found: list[Operand] = []
    for x in (*given, *named):
        for each in x if isinstance(x, (list, tuple)) and any(map(is_whole_array, x)) else (x,):
            number = number_or_values(each)
            if number is not None and not is_whole(number):
                return []
            found += [] if number is None else [number]
    return found


def changed_of(
    function: Callable[..., Any], given: Sequence[Any], kwargs: Mapping[str, Any], change: Change
) -> Any:
    """Return what a function gives of its integers in another dtype, or of their magnitudes."""

    def changed(x: Any) -> Any:
        if isinstance(x, (list, tuple)) and any(map(is_whole_array, x)):
            return type(x)(map(changed, x))
        if isinstance(x, (np.dtype, type)):
            return None  # which is that of the array
        return change(np.asarray(x)) if is_whole_array(x) else x

    named = {key: changed(x) for key, x in kwargs.items() if key not in ("out", "dtype", "where")}
    named |= {key: kwargs[key] for key in ("where",) if key in kwargs}
    return function(*map(changed, given), **named)


def in_dtype(
    callee: Callee, given: Sequence[Any], kwargs: Mapping[str, Any], wide: str
) -> Values | None:
    """Return what a function gives of its floats in more digits; None if it cannot be asked so."""
    dtype = BY_NAME[wide]

    def widened(x: Any) -> Any:
        own = dtype_of(x) if isinstance(x, ARRAYS) else None
        if own is not None and own.kind is dtype.kind and own.bits < dtype.bits:
            return x.astype(dtype.storage)
        return type(x)(map(widened, x)) if type(x) in (list, tuple) else x

    function = function_of(callee.name)
    named = {key: widened(x) for key, x in kwargs.items() if key not in ("out", "dtype")}
    try:
        made = None if function is None else function(*map(widened, given), **named)
    except Exception:
        return None
    return next(iter(result_values(made)), None)


def function_of(name: str) -> Callable[..., Any] | None:
    """Return NumPy's function of a name, or the method of a ufunc; None of others."""
    ufunc, _, method = name.partition(".")
    owner = getattr(np, ufunc, getattr(np.linalg, ufunc, None))
    found: Callable[..., Any] | None = getattr(owner, method, None) if method else owner
    return found


def exact_range(
    name: str, given: Sequence[Any], kwargs: Mapping[str, Any], result: Values
) -> Values | None:
    """Return the numbers of a range, in the dtype that it has by default."""
    plain = {key: x for key, x in kwargs.items() if key not in ("dtype", "device", "like")}
    at = {"arange": 3, "linspace": 5}[name]
    numbers = all(isinstance(x, (bool, int, float, *ARRAYS)) for x in given[:at])
    if result.dtype.kind is Kind.BOOL or not numbers or result.array.size > LONG:
        return None
    if result.dtype.kind in INEXACT and not all(map(_is_integer, given[:at])):
        return None  # whose numbers are rounded anyway
    made = values_of(getattr(np, name)(*given[:at], **plain))
    return made if made is not None and made.array.shape == result.array.shape else None


def _is_integer(x: Any) -> bool:
    return isinstance(x, int) or (isinstance(x, ARRAYS) and x.dtype.kind in "iu")


def added_in_order(met: Met) -> Met | None:
    """The running sum of narrow floats that NumPy has added one by one, each rounded, as it does
    along all axes but the one that is next to each other in memory; None if it has not."""
    x, made = met.operands[0], met.results[0]
    if not isinstance(x, Values) or made.dtype.kind is not Kind.FLOAT or made.dtype.bits > 16:
        return None
    first = 0 if made.array.ndim == x.array.ndim - 1 else None  # of np.add.reduce, or a vector
    axis = met.options.get("axis", first)
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    if not isinstance(axis, int) or not x.array.size:
        return None
    with np.errstate(all="ignore"):
        running = np.add.accumulate(x.array, axis=axis)
    last = running.take(-1, axis)
    if not np.array_equal(last, made.array.reshape(last.shape)):
        return None
    options = {"axis": axis}
    results = [Values(running, made.dtype)]
    return replace(met, operation="cumulative_sum", results=results, options=options)


def standing_still(met: Met) -> Iterator[Loss]:
    """Yield what a running sum absorbs, if that is the most of it, and more than rounding loses."""
    x, made = met.operands[0], met.results[0]
    if not isinstance(x, Values) or made.dtype.kind is not Kind.FLOAT or not made.array.ndim:
        return
    axis = met.options.get("axis", 0) % made.array.ndim
    array = x.array if x.array.ndim == made.array.ndim else x.array.reshape(-1)
    if array.shape != made.array.shape:
        return
    first, rest = ((slice(None),) * axis + (part,) for part in (slice(-1), slice(1, None)))
    sums = Values(made.array[first], made.dtype), Values(made.array[rest], made.dtype)
    found = absorbed(sums[0], Values(array[rest], x.dtype), sums[1], bound=None)
    if found is not None and 2 * found.count > found.of:
        index = tuple(at + (n == axis) for n, at in enumerate(found.example.index))
        lost = np.where(sums[0].array == sums[1].array, array[rest], 0).sum(axis, np.float64)
        last = made.array.take(-1, axis).astype(np.float64)
        heavy = weight(lost, last, made.dtype)
        if is_much(heavy, made.dtype):
            yield replace(found, example=replace(found.example, index=index), weight=heavy)
