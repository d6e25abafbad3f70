"""``assert_allclose``: are two arrays as close as their dtypes let one expect, by ``tolerance``?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.console import counted
from promoarray.dtypes import INTEGERS, DType, Kind, as_dtype
from promoarray.errors import quoted
from promoarray.functions.creation import asarray
from promoarray.functions.data_types import finfo
from promoarray.promotion.in_force import policy

_EXACT = {*INTEGERS, Kind.BOOL}


DIGITS = 0.75
"""The share of a float's digits that must agree."""

MOST = 0.5
"""No ``rtol`` is more: of the narrowest floats, which have no digits to share, half the number."""


class Tolerance(NamedTuple):
    """How far apart two numbers may lie: ``|actual - desired| <= atol + rtol * |desired|``.

    Attributes
    ----------
    rtol, atol : float
    """

    rtol: float
    atol: float


def tolerance(dtype: Any) -> Tolerance:
    """Return the tolerance by which results in a dtype are compared where none is given.

    Parameters
    ----------
    dtype : dtype_like

    Returns
    -------
    Tolerance
        Of a float three quarters of its digits count: ``rtol`` is ``eps ** 0.75``, at most a half,
        and ``atol`` the same share of the smallest normal number, below which no float is more
        precise. Of a complex dtype that of its parts. Integers and bools are compared exactly.

    Examples
    --------
    >>> import promoarray as pa
    >>> for dtype in (pa.float64, pa.float32, pa.bfloat16, pa.float8_e4m3fn, pa.int8):
    ...     print(f"{dtype.name:14} {pa.testing.tolerance(dtype).rtol:.2g}")
    float64        1.8e-12
    float32        6.4e-06
    bfloat16       0.026
    float8_e4m3fn  0.21
    int8           0
    """
    row = as_dtype(dtype)
    if row.part.format is None:
        return Tolerance(0.0, 0.0)
    limits = finfo(row)
    rtol = min(float(limits.eps) ** DIGITS, MOST)
    return Tolerance(rtol, rtol * float(limits.smallest_normal))


class Values(NamedTuple):
    """One side of a comparison."""

    numbers: Any  # in a dtype of NumPy's own that holds them exactly
    dtype: DType
    weak: bool  # whether they came as Python numbers, which have no precision to speak of

    def __str__(self) -> str:
        return "Python numbers" if self.weak else self.dtype.name


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float | None = None,
    atol: float | None = None,
    *,
    equal_nan: bool = True,
    strict: bool = False,
    err_msg: str = "",
) -> None:
    """Raise an AssertionError unless two arrays agree as closely as their dtypes let one expect.

    Parameters
    ----------
    actual, desired : array_like, any shape
        PArrays, arrays of other libraries, nested lists, numbers. They are compared as they are:
        no policy casts them.
    rtol, atol : float, optional
        ``|actual - desired| <= atol + rtol * |desired|``. By default those of the less precise of
        the two dtypes (``pa.testing.tolerance``); integers and bools are then compared exactly.
    equal_nan : bool
        Whether NaN agrees with NaN. Infinities agree with those of the same sign alone.
    strict : bool
        Whether the dtypes and shapes must be the same. Otherwise a number is compared with every
        element.
    err_msg : str
        Put before the message.

    Raises
    ------
    AssertionError
        How many elements differ, the first of them, and the largest difference, also in units in
        the last place (ulp) of the less precise dtype.

    Examples
    --------
    >>> import promoarray as pa
    >>> third = pa.asarray([1.0, 1.0], dtype=pa.bfloat16) / 3
    >>> pa.testing.assert_allclose(third, [1 / 3, 1 / 3])
    >>> pa.testing.assert_allclose(third, [1 / 3, 0.375])
    Traceback (most recent call last):
        ...
    AssertionError: 1 of 2 elements differs (rtol=0.0263, atol=3.09e-40, those of bfloat16)
      first at [1]: actual 0.333984, desired 0.375
      largest difference at [1]: 0.0410156, 21 ulp of bfloat16
      actual, bfloat16: [0.33398438 0.33398438]
      desired, Python numbers: [0.33333333 0.375     ]
    """
    __tracebackhide__ = True
    sides = _read(actual, "actual"), _read(desired, "desired")
    coarse = _coarser(*sides)
    given = tolerance(coarse)
    if rtol is not None and atol is None and coarse.part.format is not None:
        atol = rtol * float(finfo(coarse).smallest_normal)
    allowed = Tolerance(
        given.rtol if rtol is None else _checked("rtol", rtol),
        given.atol if atol is None else _checked("atol", atol),
    )
    lines = list(_differences(*sides, allowed, coarse, equal_nan, strict))
    if lines:
        by = f", those of {coarse.name}" if rtol is None and atol is None and any(allowed) else ""
        lines[0] += f" (rtol={allowed.rtol:.3g}, atol={allowed.atol:.3g}{by})" * (len(lines) > 1)
        raise AssertionError("\n".join(filter(None, (err_msg, *lines))))


def _read(x: Any, name: str) -> Values:
    """What is compared: the values, and the dtype that they had."""
    weak = isinstance(x, (bool, int, float, complex, list, tuple))
    with policy("numpy@2"):  # which keeps every dtype
        try:
            array = asarray(np.asarray(x) if weak else x)
        except TypeError as error:
            raise TypeError(f"{name} is {quoted(x)}, which holds no numbers: {error}") from None
    if array.dtype.kind is Kind.STRING:
        raise TypeError(f"{name} holds strings, which are equal or not; write x == y")
    return Values(array._decoded(), array.dtype, weak)


def _coarser(a: Values, b: Values) -> DType:
    """The dtype that has the fewest digits; Python numbers do not count beside an array."""
    floats = [side for side in (a, b) if side.dtype.part.format is not None]
    counted = [side.dtype for side in floats if not side.weak] or [side.dtype for side in floats]
    return max(counted, key=lambda dtype: float(finfo(dtype).eps)) if counted else a.dtype


def _checked(name: str, value: float) -> float:
    if not value >= 0:
        raise ValueError(f"{name} is {quoted(value)}; write a number that is not negative")
    return value


def _differences(
    a: Values, b: Values, allowed: Tolerance, coarse: DType, equal_nan: bool, strict: bool
) -> Iterator[str]:
    """Say what differs, a line each; the first alone if nothing can be compared."""
    if strict and (a.dtype is not b.dtype or a.weak is not b.weak):
        yield f"dtypes differ: actual {a}, desired {b}"
        return
    shapes = a.numbers.shape, b.numbers.shape
    if shapes[0] != shapes[1] and (strict or () not in shapes):
        yield f"shapes differ: actual {shapes[0]}, desired {shapes[1]}"
        return
    actual, desired = np.broadcast_arrays(a.numbers, b.numbers)
    exact = a.dtype.kind in _EXACT and b.dtype.kind in _EXACT
    compared = _integers if exact else _floats
    wrong, distance = compared(actual, desired, allowed, equal_nan)
    count = int(np.count_nonzero(wrong))
    if not count:
        return
    yield f"{count} of {wrong.size} elements differ{'s' if count == 1 else ''}"
    first = _index(np.argmax(wrong), wrong.shape)
    yield f"  first{_at(first)}: {_both(actual[first], desired[first])}"
    if np.any(distance > 0):
        at = _index(np.argmax(distance), distance.shape)
        far = distance[at]
        ulp = "" if exact else f", {_ulps(far, desired[at], coarse):.4g} ulp of {coarse.name}"
        yield f"  largest difference{_at(at)}: {_number(far)}{ulp}"
    for name, special in () if exact else (("NaN", np.isnan), ("infinite", np.isinf)):
        here, there = special(actual), special(desired)
        apart = wrong & (here | there)
        if apart.any():
            place = _at(_index(np.argmax(apart), apart.shape))
            sides = f"{counted(int(here.sum()), 'element')} of actual, {there.sum()} of desired"
            yield f"  {name}: {sides}; first that differs{place}"
    for name, side in (("actual", a), ("desired", b)):
        yield f"  {name}, {side}: {_excerpt(side.numbers)}"


def _integers(a: Any, b: Any, allowed: Tolerance, _: bool) -> tuple[Any, Any]:
    """Which differ, and by how much: exactly, in Python's integers."""
    wrong = np.asarray(a != b)
    distance = np.zeros(wrong.shape, object)
    far = np.abs(a[wrong].astype(object) * 1 - b[wrong].astype(object) * 1)
    distance[wrong] = far
    if any(allowed):
        share = allowed.rtol * np.abs(b[wrong].astype(object) * 1) if allowed.rtol else 0
        reach = allowed.atol + share  # the ints of a given atol stay exact
        wrong[wrong] = far > reach
        distance[~wrong] = 0
    return wrong, distance


def _floats(a: Any, b: Any, allowed: Tolerance, equal_nan: bool) -> tuple[Any, Any]:
    """Which differ, and by how much where both are finite."""
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(all="ignore"):
        distance = np.where(finite, np.abs(a - b), 0.0)
        wrong = np.where(finite, ~(distance <= allowed.atol + allowed.rtol * np.abs(b)), a != b)
    if equal_nan:
        wrong &= ~(np.isnan(a) & np.isnan(b))
    return wrong, np.where(wrong, distance, 0.0)


def _ulps(distance: Any, desired: Any, dtype: DType) -> float:
    """A difference in units of the last place that the desired value has in a dtype."""
    limits = finfo(dtype if dtype.part.format is not None else dt.float64)
    size = max(abs(complex(desired)), float(limits.smallest_normal))
    exponent = int(np.frexp(size)[1]) - 1
    return float(distance / np.ldexp(float(limits.eps), exponent))


def _index(flat: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(flat), shape))


def _at(index: tuple[int, ...]) -> str:
    return f" at {list(index)}" if index else ""


def _both(actual: Any, desired: Any) -> str:
    """Two numbers with as many digits as tell them apart."""
    said = f"actual {_number(actual)}, desired {_number(desired)}"
    alike = _number(actual) == _number(desired)
    return f"actual {actual.item()!r}, desired {desired.item()!r}" if alike else said


def _number(value: Any) -> str:
    item = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return f"{item:.6g}" if isinstance(item, (float, complex)) else str(item)


def _excerpt(numbers: Any) -> str:
    text = np.array2string(numbers, threshold=8, edgeitems=3)
    return " ".join(text.split("\n"))
