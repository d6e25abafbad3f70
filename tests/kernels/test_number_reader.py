"""Lists of Python's numbers become what NumPy makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.dtypes import DType

FLOATS = 1.5, -0.0, 5e-324, 1e300, math.inf, -math.inf, math.nan, -math.nan
OF_CLASS: dict[DType, tuple[Any, ...]] = {
    dt.float64: FLOATS,
    dt.complex128: tuple(complex(x, y) for x in FLOATS for y in FLOATS),
    dt.bool: (True, False, True, True, False),
}
INTEGERS = tuple(d for d in dt.BY_STORAGE.values() if d.kind in dt.INTEGERS and d.bits >= 8)


class Otherwise(Exception):
    """Raised by what is asked for all else."""


def reader(dtype: DType) -> Callable[[Any], Any]:
    def otherwise(_: object) -> None:
        raise Otherwise

    return kernels.NumberReader(kernels.dtype_args(dtype), dtype.storage, np.empty, otherwise)


def same(got: Any, data: Any, dtype: DType) -> None:
    want = np.array(data, dtype.storage)
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())


@pytest.mark.parametrize("dtype", OF_CLASS)
def test_numbers_of_one_class_are_read_at_every_depth(dtype: DType) -> None:
    numbers, read = OF_CLASS[dtype], reader(dtype)
    for x in numbers:
        same(read(x), x, dtype)
        same(read([(x,)]), [(x,)], dtype)
    rows = [[*numbers], (*reversed(numbers),)]
    for data in (numbers, [*numbers], rows, (rows, rows, rows), [[[rows]]]):
        same(read(data), data, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ints_are_read_where_a_dtype_holds_them(dtype: DType) -> None:
    info, read = np.iinfo(dtype.storage), reader(dtype)
    most = min(info.max, 2**63 - 1)  # of larger ones NumPy is asked
    same(read([[0, 1], [info.min, most]]), [[0, 1], [info.min, most]], dtype)
    for beyond in (info.min - 1, most + 1, 2**64, -(2**64)):
        with pytest.raises(Otherwise):
            read([0, beyond])


NO_LISTS = [[1.5, 2], [1.5, True], [1.5, 1j], [np.float64(1.5)], 1, None, "1.5", [None], range(2)]
NO_LISTS += [[], [[]], [[1.5], []], [[1.5], [1.5, 2.5]], [[1.5], 2.5], [1.5, [2.5]], np.ones(2)]
NO_LISTS += [[[1.5] * 3, [1.5] * 2, [1.5] * 4], ([1.5], (2.5,), "3")]


@pytest.mark.parametrize("data", NO_LISTS, ids=repr)
def test_all_else_is_left_to_what_knows_it(data: Any) -> None:
    with pytest.raises(Otherwise):
        reader(dt.float64)(data)


def test_lists_in_themselves_and_too_many_are_left_as_well() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = 1.5
    for _ in range(40):
        deep = [deep]
    for data in (endless, deep):
        with pytest.raises(Otherwise):
            reader(dt.float64)(data)


def test_more_than_memory_has_is_no_error_of_its_own() -> None:
    """Where the first lists are long, and the others are not."""
    row = [0.5] * 1000
    data: Any = row
    for _ in range(7):
        data = [data, *[0.5] * 999]
    with pytest.raises(Otherwise):
        reader(dt.float64)(data)


@pytest.mark.parametrize("dtype", [dt.float32, dt.complex64, dt.int4])
def test_a_dtype_that_python_has_no_numbers_of_is_refused(dtype: DType) -> None:
    with pytest.raises(ValueError, match="numbers are read as"):
        reader(dtype)
