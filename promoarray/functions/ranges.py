"""Chapter "creation functions", second part: ranges."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import is_lazy, on_device
from promoarray.core.cast import scalar
from promoarray.core.creation import keep_copy
from promoarray.core.fast_path import fast_function, making
from promoarray.core.operands import as_array, as_operand, operand_of, plain_number
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.errors import quoted
from promoarray.functions._creation import again, cast_values, default
from promoarray.kernels.float_state import in_default_float_state
from promoarray.kernels.portable.ranges import (
    LINES,
    RANGES,
    Values,
    arange_by_first_two,
    line_of_one,
)
from promoarray.parray import AnyArray, AnyDType, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.scalars import bounds, in_range

if TYPE_CHECKING:
    from promoarray.core.events import Again

__all__ = ["arange", "linspace"]


@fast_function("arange", settings=making(PArray))
def arange(
    start: AnyArray,
    /,
    stop: AnyArray | None = None,
    step: AnyArray = 1,
    *,
    dtype: AnyDType | None = None,
    device: str | None = None,
) -> PArray:
    """Return evenly spaced values ``start, start + step, …`` below ``stop``.

    Parameters
    ----------
    start, stop, step : int or float
        A single number is the stop, and the range starts at 0.
    dtype : dtype_like, optional
        Default: the policy's default integer if all numbers are ints, else its default float.
    device : str, optional
        Default: the CPU.

    Returns
    -------
    PArray, shape (N,)
        Of ``dtype``.

    Raises
    ------
    OverflowError
        If an integer of the range does not fit the dtype.
    TypeError
        If one is no real number.
    ValueError
        If ``step`` is 0, in PyTorch also if it leads away from ``stop``, or the range is infinite
        or has too many elements.

    Examples
    --------
    >>> arange(3, dtype=int8)
    PArray([0, 1, 2], dtype=int8)
    """
    given = (start,) if stop is None else (start, stop)
    start, stop = (0, start) if stop is None else (start, stop)
    steps = () if type(step) is int and step == 1 else (step,)  # as it is rarely written
    out = _arange(start, stop, step, dtype, device, (*given, *steps))
    if device is None:
        keep_copy("arange", (*given, *steps), dtype, out)
    return out


@in_default_float_state
def _arange(
    start: Any, stop: Any, step: Any, dtype: object, device: str | None, given: tuple[Any, ...]
) -> PArray:
    stored = get_policy().stored
    asked = start, stop, step
    if dtype is None and "arange" in stored.promotes:
        dtype = _common(*given)
    start, stop, step = stored.range(*(_number(v, "arange") for v in (start, stop, step)))
    if step == 0:
        raise ValueError("arange needs a step other than 0")
    weak = dt.weak_float if any(isinstance(v, float) for v in (start, stop, step)) else dt.weak_int
    target = default(weak, dtype, "arange", (start, stop, step))
    kernel = get_policy().kernel("arange", Plan((target,), target, target))
    counted = kernel == "arange_counting_int64" and target is dt.int64
    if kernel in RANGES and _computes(target):
        _check_finite(start, stop, step)
        in_dtype = kernel == "arange_by_rounded_products"
        count = (_count_in(target.storage) if in_dtype else _count)(start, stop, step)
        values = _computed(RANGES[kernel], (start, step), count, target, device)
    elif weak is dt.weak_float and (counted or kernel == "arange_counting"):
        _check_finite(start, stop, step)
        if not int(step):
            raise ValueError(f"arange in {target} needs a step other than 0, which int({step}) is")
        first, last, by = (in_range(int(v), target) for v in (start, stop, step))
        values = _range(first, last, by, device)
    elif kernel == "arange_by_difference":
        values = _from_first_two(start, stop, step, target, device)
    elif weak is dt.weak_float and kernel in _BY_WHOLE_STEPS:
        values = _whole_steps(start, stop, step, target, device)
    elif kernel == "arange_in_dtype" and target.kind is Kind.FLOAT and target not in dt.NATIVE:
        _check_finite(start, stop, step)
        count = _count(start, stop, step)
        values = _computed(arange_by_first_two, (start, step), count, target, device)
    elif weak is dt.weak_float and kernel == "arange_in_dtype" and target in dt.NATIVE:
        _check_finite(start, stop, step)
        xp, storage = on_device(device).xp, target.storage
        values = xp.arange(start, stop, step, dtype=storage, device=device)
    else:
        values = _range(start, stop, step, device)
    same = again("arange", asked, lambda dtype: _arange(*asked, dtype, None, given))
    return cast_values(values, weak, dtype, target, device, "arange", same)


_BY_WHOLE_STEPS = ("arange_of_integers", "arange_counting_int64")
"""Kernels whose integers go on by ``int(step)`` where ``start`` or ``step`` has a fraction."""


def _whole_steps(start: float, stop: float, step: float, target: DType, device: str | None) -> Any:
    """As many integers as there would be numbers with fractions."""
    _check_finite(start, stop, step)
    xp, span = on_device(device).xp, (stop - start) / step
    _check_count(span)
    count = max(0, math.ceil(span))
    if not count:
        return xp.arange(0, device=device)
    fit = get_policy().stored.rule("arange")
    first, by = int(fit(start, target)), int(step) if count > 1 else 0
    for end in (first, first + by * (count - 1)):
        fit(end, target)
    low, high = bounds(dt.int64)
    if all(low <= v <= high for v in (first, by, first + by * (count - 1))):
        return first + by * xp.arange(count, dtype=xp.int64, device=device)
    return np.array([first + by * i for i in range(count)], np.object_)


def _from_first_two(
    start: float, stop: float, step: float, target: DType, device: str | None
) -> Any:
    """The first two numbers stored in the dtype, and as many more by their difference."""
    _check_finite(start, stop, step)
    backend, fit = on_device(device), get_policy().stored.rule("arange")
    count = _count(start, stop, step)
    if target is dt.bool and count > 2:
        raise TypeError(f"arange of bool has two values at most, not {count}")
    ends = [fit(v, target) for v in (start, start + step)[:count]]
    if target is dt.bool:
        return backend.from_numpy(np.array(ends, np.bool_), target, device)
    first, second, *_ = *map(int, ends), 0, 0
    begin, by = (np.uint64(v % (1 << 64)) for v in (first, second - first))
    counting = backend.xp.arange if is_lazy(backend) else np.arange
    counted = (begin + by * counting(count, dtype=np.uint64)).astype(target.storage)  # the low bits
    return counted if is_lazy(backend) else backend.from_numpy(counted, target, device)


def _count(start: Any, stop: Any, step: Any) -> int:
    """How many numbers a range has."""
    whole = all(isinstance(v, int) for v in (start, stop, step))
    span = -((start - stop) // step) if whole else (stop - start) / step
    _check_count(span)
    return max(0, math.ceil(span))


def _common(*ends: Any) -> DType | None:
    """The common dtype of arrays and NumPy's scalars among numbers; None if there are none."""
    entered = list(map(as_operand, ends))
    if all(type(x) in WEAK for x in entered):
        return None
    policy, pairs = get_policy(), zip(entered, ends, strict=True)
    entered = [x if type(x) in WEAK else as_array(given, "arange") for x, given in pairs]
    seen = (operand_of(x, policy) for x in entered)
    held = (o._replace(type=policy.canonical.get(o.type, o.type)) for o in seen)
    found = policy.result_type(tuple(held))
    return None if isinstance(found, Refusal) else found


def _quotient(dtype: DType) -> DType:
    """The dtype in which a policy divides a dtype by itself."""
    plan = get_policy().plan("divide", (Operand(dtype), Operand(dtype)))
    return dtype if isinstance(plan, Refusal) else plan.result


def _count_in(held: Any) -> Callable[..., int]:
    """Counting a range in a dtype, each step of it rounded."""

    def counted(*ends: Any) -> int:
        with np.errstate(all="ignore"):
            start, stop, step = map(held.type, ends)
            if not step:
                raise ValueError(
                    f"arange needs a step other than 0, which {ends[2]!r} is in {held.name}: write "
                    "a wider dtype"
                )
            span = float((stop - start) / step)
        _check_finite(span)
        return _count(0.0, span, 1.0)

    return counted


def _computes(target: DType) -> bool:
    """Whether frameworks have ranges and lines of a dtype of their own."""
    return target.kind is Kind.FLOAT and target.bits >= 16


def _computed(
    rule: Values,
    ends: tuple[Any, Any],
    count: int,
    target: DType,
    device: str | None,
    places: int | None = None,
) -> Any:
    """The values that a policy's own kernel has at each place, or the first few, widened."""
    is_complex = target.kind is Kind.COMPLEX
    first, second = ends if is_complex else map(float, ends)
    wide = dt.complex128 if is_complex else dt.float64

    def values(at: Any) -> Any:
        return rule(at, first, second, count, target.storage).astype(wide.storage)

    backend, places = on_device(device), count if places is None else places
    if is_lazy(backend):
        line = backend.xp.arange(places)  # of values by their places, each of which it can be
        return type(line)(places, values)
    return backend.from_numpy(values(np.arange(places)), wide, device)


def _number(x: Any, name: str) -> Any:
    """A Python number, of one or of an array of one element."""
    if type(x) in WEAK:
        return x
    if getattr(x, "size", 1) != 1:
        write = "start + (stop - start) * pa.linspace(0, 1, num)[:, None]"
        hint = f"; for a line of each element write {write}" if name == "linspace" else ""
        raise TypeError(f"{name} takes numbers, not an array of shape {tuple(x.shape)}{hint}")
    number = x.item() if hasattr(x, "item") else plain_number(x)
    if type(number) not in WEAK:
        raise TypeError(f"{name} takes numbers, not {quoted(x)}")
    return number


def _range(start: Any, stop: Any, step: Any, device: str | None) -> Any:
    """The values of ``arange``; Python ints stay exact beyond int64 too."""
    ends, xp = (start, stop, step), on_device(device).xp
    if any(isinstance(v, float) for v in ends):
        _check_finite(*ends)
        return xp.arange(start, stop, step, device=device)
    _check_count((stop - start) // step)
    low, high = bounds(dt.int64)
    if all(low <= v <= high for v in ends):
        return xp.arange(start, stop, step, dtype=xp.int64, device=device)
    return np.array(range(start, stop, step), np.object_)


def _check_count(count: float) -> None:
    if count >= 1 << 48:  # beyond which NumPy's count goes wrong
        raise ValueError("arange would have more than 2**48 elements")


def _check_finite(*ends: float) -> None:
    if not all(abs(v) < math.inf for v in ends):  # NaN neither
        raise ValueError(f"arange cannot compute length of a range of {ends}")


_NUMPYS = (int, float, complex, np.generic, np.ndarray)
"""What NumPy makes a line between."""


@fast_function("linspace", settings=making(PArray))
def linspace(
    start: AnyArray,
    stop: AnyArray,
    /,
    num: int,
    *,
    dtype: AnyDType | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> PArray:
    """Return evenly spaced values from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : int, float or complex
    num : int
        How many.
    dtype : dtype_like, optional
        Default: the policy's default float, or its default complex dtype if one number is complex.
    device : str, optional
        Default: the CPU.
    endpoint : bool
        Whether ``stop`` is the last value.

    Returns
    -------
    PArray, shape (num,)
        Of ``dtype``.

    Raises
    ------
    TypeError
        If one is no number.
    ValueError
        If ``num`` is negative.

    Notes
    -----
    Of integers NumPy, JAX and most policies give the floor, PyTorch, Paddle and MindSpore drop the
    fractions; the former two drop those of ``start`` and ``stop`` first.

    Examples
    --------
    >>> linspace(0, 1, 3)
    PArray([0. , 0.5, 1. ], dtype=float64)
    """
    ends, made = (_number(start, "linspace"), _number(stop, "linspace")), dtype
    given: Any = None
    if "linspace" in get_policy().stored.promotes and (common := _common(start, stop)):
        made = _quotient(common) if dtype is None else dtype
        given = [getattr(x, "_buffer", x) for x in (start, stop)] if common in dt.NATIVE else None
    asked = start, stop, num, endpoint
    same = again(
        "linspace", asked, lambda d: linspace(start, stop, num, dtype=d, endpoint=endpoint)
    )
    out = _linspace(ends, num, endpoint, made, device, given, same)
    if device is None and endpoint is True:
        keep_copy("linspace", (start, stop, num), dtype, out)
    return out


@in_default_float_state
def _linspace(
    ends: tuple[Any, Any],
    num: int,
    endpoint: bool,
    dtype: object,
    device: str | None,
    given: Any = None,
    same: Again | None = None,
) -> PArray:
    """The line between two numbers; ``given`` as NumPy's, which computes in their dtype."""
    weak = dt.weak_complex if any(isinstance(v, complex) for v in ends) else dt.weak_float
    target, xp, kernel = default(weak, dtype, "linspace", ends), on_device(device).xp, ""
    if weak is dt.weak_complex and target.kind is not Kind.COMPLEX:
        fit = get_policy().stored.rule("linspace")
        ends = fit(ends[0], target), fit(ends[1], target)
        if not any(isinstance(v, complex) for v in ends):
            weak = dt.weak_float
    if weak is dt.weak_float or target.kind is Kind.COMPLEX:
        kernel = get_policy().kernel("linspace", Plan((target,), target, target))
    if kernel == "line_between":
        held = _quotient(target)
        values = _line(LINES[kernel], ends, num, endpoint, held, device)
        values = xp.floor(values) if target.kind in INTEGERS else values
    elif kernel in LINES and _computes(target) and endpoint:
        values = _line(LINES[kernel], ends, num, endpoint, target, device)
    elif kernel == "linspace_of_integers" and num:
        first, *rest = (whole_end(v, target) for v in ends[:num])
        last = rest[0] if rest else first
        values = _from_both_ends(xp, first, last, num, endpoint, device)
    else:
        if given is None or not all(isinstance(x, _NUMPYS) for x in given):
            given = ends
        values = xp.linspace(*given, num, endpoint=endpoint, device=device)
        if kernel == "linspace" and target.kind in INTEGERS:
            values = xp.floor(values)
    return cast_values(values, weak, dtype, target, device, "linspace", same)


def whole_end(value: Any, target: DType) -> int:
    """An end of a line of integers, as the policy stores it and casts it to them."""
    fitted = get_policy().stored.rule("linspace")(_number(value, "linspace"), target)
    return int(scalar(get_policy(), fitted, target))


def _line(
    rule: Values, ends: tuple[Any, Any], num: int, endpoint: bool, target: DType, device: str | None
) -> Any:
    """The numbers of a line, of one that has one more where ``stop`` is not among them."""
    num = index(num)
    if num < 0:
        raise ValueError(f"linspace makes a number of values that is not negative, not {num}")
    fit = get_policy().stored.rule("linspace")
    first, last = (fit(v, target) for v in ends)
    rule = line_of_one if num == 1 else rule
    return _computed(rule, (first, last), num + (not endpoint), target, device, num)


def _from_both_ends(
    xp: Any, start: int, stop: int, num: int, endpoint: bool, device: str | None
) -> Any:
    """A line of which each half counts from its own end."""
    line = xp.linspace(start, stop, num, endpoint=endpoint, device=device)
    count = num if endpoint else num + 1
    if count > 2:
        half, step = count // 2, (stop - start) / (count - 1)
        left = xp.arange(count - 1 - half, count - 1 - num, -1, device=device)
        line[half:] = stop - step * left
    return line
