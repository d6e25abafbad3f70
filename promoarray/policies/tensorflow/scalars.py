"""Rules of TensorFlow for Python numbers: beside tensors, and where they are stored.

Every number becomes a tensor by `tf.convert_to_tensor` (python/eager/pywrap_tensor_conversion.cc,
python/lib/core/py_seq_tensor.cc): of a kind of dtype that may hold it, and through an int64.
In the modes a list or number without a dtype is weakly typed, and every int has to fit int32.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.errors import kind_of, quoted
from promoarray.promotion.scalars import in_range, passing, shown, within_int64, wrap
from promoarray.promotion.stored import Stored

DEFAULTS = {
    dt.weak_bool: dt.bool,
    dt.weak_int: dt.int32,
    dt.weak_float: dt.float32,
    dt.weak_complex: dt.complex128,
}
"""What `tf.convert_to_tensor` makes of a Python scalar on its own."""

HELD = {**DEFAULTS, dt.weak_float: dt.float64}
"""What weak tensors hold: int8 + 1.5 is a weak float64, if bool + 1.5 a weak float32."""

FROM_BOOL = frozenset(
    {dt.bool, dt.int32, dt.int64, dt.uint64, dt.float16, dt.float32, dt.float64, dt.complex128}
)
"""What a Python bool converts to (python/eager/pywrap_tensor_conversion.cc); odd, but so it is."""

_THROUGH_INT64 = frozenset({dt.bfloat16, dt.complex64})


def converts(scalar: DType, dtype: DType) -> bool:
    """Whether a Python scalar may become a tensor of this dtype."""
    if scalar is dt.weak_bool:
        return dtype in FROM_BOOL
    return dtype is not dt.bool and scalar.kind.category <= dtype.kind.category


@passing()
def fits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int64; refuse what is beyond, and what uint64 cannot hold."""
    # bfloat16 and complex64 take their ints through an int64 as well, the other floats do not.
    if type(value) is not int or not (dtype.kind in INTEGERS or dtype in _THROUGH_INT64):
        return value
    if dtype is dt.uint64:
        return in_range(value, dtype)
    if not within_int64(value):
        given = f"Python int {shown(value)}"
        raise OverflowError(f"{given} is out of range for a TensorFlow scalar (int64)")
    return wrap(value, dtype)


@passing(-(1 << 31), (1 << 31) - 1)
def fits_int32(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int32: what follows the modes makes one of every Python int first."""
    if type(value) is int and not -(1 << 31) <= value < 1 << 31:
        given = f"Python int {shown(value)}"
        raise OverflowError(f"{given} is too large for int32, which a scalar is here")
    return fits(value, dtype)


def _convert(value: Any, dtype: DType) -> Any:
    """Return a number that is to be stored, if it converts."""
    _check(value, dtype)
    return fits(value, dtype)


def _convert_int32(value: Any, dtype: DType) -> Any:
    _check(value, dtype)
    return fits_int32(value, dtype)


def _check(value: Any, dtype: DType) -> None:
    if not converts(WEAK[type(value)], dtype):
        kind = kind_of(value)
        raise TypeError(f"a Python {kind} does not become {dtype.name} in TensorFlow: {value}")


_BEYOND_FLOAT32 = 2.0**128 - 2.0**103
"""From here on a number is rounded to an infinity."""


def _alone(value: Any) -> DType:
    """The dtype of a number on its own; int64 of an int beyond int32.

    Raises OverflowError for a float that only float64 holds.
    """
    if type(value) is int and not -(1 << 31) <= value < 1 << 31:
        return dt.int64
    if type(value) is float and _BEYOND_FLOAT32 <= abs(value) < math.inf:
        raise OverflowError(f"Python float {value!r} is out of range for float32")
    return DEFAULTS[WEAK[type(value)]]


def fits_alone(value: Any, dtype: DType) -> Any:
    """Refuse an int that is an int64 on its own: types tell no more than an int32 of it."""
    fitted = fits(value, dtype)
    if _alone(value) is dt.int64:
        given = shown(value)
        raise OverflowError(
            f"Python int {given} is an int64 on its own; write pa.asarray({given}, dtype=pa.int64)"
        )
    return fitted


def _higher(a: DType, b: DType) -> DType:
    return max(a, b, key=lambda dtype: (dtype.kind.category, dtype.bits))


def _of_list(values: tuple[Any, ...]) -> DType | None:
    """The dtype of a list, whose first number decides; ints may still become floats.

    Raises ValueError for any other list in which a later number is of a higher kind.
    """
    if not values or type(values[0]) is complex:
        return None
    types = [*map(_alone, values)]
    fits(values[0], types[0])
    first, highest = types[0], reduce(_higher, types)
    kinds = first.kind.category, highest.kind.category
    if kinds[0] != kinds[1] and kinds != (1, 2):
        raise ValueError(f"TensorFlow makes no tensor of {list(values)}, which is of mixed kinds")
    return highest


def _check_range(values: tuple[Any, ...], dtype: DType) -> None:
    """Refuse what `tf.range` does not take: each number is converted, and the end comes last.

    Raises TypeError or OverflowError for a number that does not become the dtype, or a dtype that
    is not listed; ValueError for an end on the other side of the start.
    """
    if dtype.kind in (Kind.BOOL, Kind.COMPLEX) or dtype is dt.uint8:
        raise TypeError(f"arange of TensorFlow has no {dtype.name}")
    for value in values:
        _convert(value, dtype)
    start, stop, step = values
    if (stop - start) * step < 0:
        raise ValueError(f"arange of TensorFlow does not reach {stop} from {start} by {step}")


def _of_range(values: tuple[Any, ...]) -> DType:
    """`tf.range`: the highest of the dtypes of its numbers, none of which may be a bool.

    Raises TypeError if one is.
    """
    if bool in map(type, values):
        raise TypeError("arange of TensorFlow takes no bool without a dtype")
    return reduce(_higher, map(_alone, values))


def _of_ends(values: tuple[Any, ...]) -> DType:
    """`tf.linspace`: the second end becomes what the first is, and integers divide in float64.

    Raises TypeError if it does not, or the first is a bool.
    """
    start, stop = values
    own = _alone(start)
    if own is dt.bool or not converts(WEAK[type(stop)], own):
        raise TypeError(
            f"linspace of TensorFlow has no common dtype of {quoted(start)} and {quoted(stop)}"
        )
    return dt.float64 if own.kind in INTEGERS else own


def _float(values: tuple[Any, ...]) -> DType:
    return DEFAULTS[dt.weak_float]


def _strong(values: tuple[Any, ...]) -> DType:
    return DEFAULTS[WEAK[type(values[0])]]


STORED = Stored(
    fit=_convert,
    fit_by={"full_like": fits},
    dtype_by={"asarray": _of_list, "full": _of_list, "arange": _of_range, "linspace": _of_ends},
    check_by={"arange": _check_range},
)

MODES_STORED = Stored(
    fit=_convert_int32,
    fit_by={"full_like": fits_int32},
    dtype_by={
        "full": _strong,
        "arange": _of_range,
        "linspace": _of_ends,
        **dict.fromkeys(("zeros", "ones", "eye", "empty"), _float),
    },
    check_by={"arange": _check_range},
    weak_lists=True,
)
