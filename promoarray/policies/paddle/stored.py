"""Rules of Paddle for Python numbers that are stored: ``full``, ``to_tensor``, ``x[key] = 1``.

They are not checked but for ``full_like``: ints keep their low bits, floats become what x86 makes
of them, complex numbers their real parts. Asked of paddlepaddle 3.3.1 and 2.6.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.errors import quoted
from promoarray.policies.paddle.document import low_bits, through
from promoarray.promotion.scalars import bounds, largest, of_int64, passing, wrap
from promoarray.promotion.stored import Stored, leading, real_part, real_parts, real_range

_through_double, _through_single = through(single=False), through(single=True)


def _full(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int64; refuse what is beyond."""
    return low_bits(real_part(value, dtype), dtype)


def _given(value: Any, dtype: DType) -> Any:
    """As ``full``, but NumPy makes a uint64 of an int first, which is no dtype of Paddle's."""
    if type(value) is int and 1 << 63 <= value < 1 << 64 and dtype not in (dt.int64, dt.bfloat16):
        return wrap(value, dtype)
    return _full(value, dtype)


def _full_like(value: Any, dtype: DType) -> Any:
    """Refuse a finite number out of range, then cast through a C double."""
    number = of_int64(value.real if type(value) is complex else value)
    if dtype.kind is not Kind.COMPLEX and math.isfinite(number) and not _within(number, dtype):
        raise OverflowError(f"full_like: {quoted(value)} is out of the range of {dtype.name}")
    return _through_double(value if dtype.kind is Kind.COMPLEX else number, dtype)


def _within(number: float, dtype: DType) -> bool:
    """Whether a number is within the dtype, all of it rounded to float32 if it is narrower."""
    if dtype.kind is Kind.BOOL:
        return 0 <= number <= 1
    if dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        if dtype.bits == 64:
            return low <= number <= float(high)
        return bool(np.float32(low) <= np.float32(number) <= np.float32(high))
    return dtype.bits < 16 or abs(number) <= largest(dtype)


@passing(-(1 << 24), 1 << 24, narrow=dt.float32)
def _assigned(value: Any, dtype: DType) -> Any:
    """Cast through a C float, to int64 and float64 through a double.

    A complex number that is assigned to a real tensor ends the process there.
    """
    if type(value) is complex and dtype.kind not in (Kind.COMPLEX, Kind.BOOL):
        raise TypeError(f"complex numbers do not become {dtype.name}; take x.real first")
    narrow = dtype.kind in INTEGERS and dtype.bits < 64
    return (_through_single if narrow else _through_double)(value, dtype)


def _full_dtype(values: tuple[Any, ...]) -> DType:
    """What ``full`` makes without a dtype: float32 even of ints, and complex128."""
    kinds = {bool: dt.bool, complex: dt.complex128}
    return kinds.get(type(values[0]), dt.float32)


STORED_3_3 = Stored(
    fit=_full,
    fit_by={"full_like": _full_like, "asarray": _given, "setitem": _assigned},
    dtype_by={"full": _full_dtype, "linspace": lambda values: dt.float32},
    range=real_parts,
    reads={"full": dt.float32},
)


def _no_complex(value: Any, dtype: DType) -> Any:
    """Cast through a C double; a complex number is no ``float`` to Python."""
    if type(value) is complex:
        raise TypeError("full takes no complex numbers in Paddle 2.6")
    return _through_double(value, dtype)


def _leading(start: Any, stop: Any, step: Any) -> tuple[Any, Any, Any]:
    """Refuse complex numbers, and a step that leads away from the end."""
    return leading(*real_range(start, stop, step))


STORED_2_6 = Stored(
    fit=_no_complex,
    fit_by={"full_like": _full_like, "asarray": _full, "setitem": _assigned},
    dtype_by={"full": lambda values: dt.float32, "linspace": lambda values: dt.float32},
    range=_leading,
)
