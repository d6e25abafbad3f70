"""NumPy 1 on Windows, where the default integer is an int32.

The answers are those of NumPy 1.24.2 for Linux on i386, whose C long has 32 bits as on Windows;
indices, which have 32 bits there, are int64 (``conformance/oracles/numpy.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import BY_CODE, weak_int
from promoarray.policies import Operand, Rank, as_policy

WINDOWS = as_policy("numpy@1-windows")

MADE = """
asarray([2147483647])                              int32 [2147483647]
asarray([2147483648])                              int64 [2147483648]
asarray(-2147483648)                               int32 -2147483648
asarray([1, 1099511627776])                        int64 [1, 1099511627776]
asarray([9223372036854775808])                     uint64 [9223372036854775808]
asarray([-2147483648, 9223372036854775808])        float64 [-2147483648.0, 9.223372036854776e+18]
asarray([1, 1.5])                                  float64 [1.0, 1.5]
full(1, 2147483648)                                int64 [2147483648]
full(1, 2147483648, dtype=int8)                    int8 [0]
arange(3)                                          int32 [0, 1, 2]
arange(2147483646, 2147483648)                     int64 [2147483646, 2147483647]
asarray(2147483647) + asarray(1)                   int32 -2147483648
add(2147483647, 1)                                 int32 -2147483648
pow(2, 31)                                         int32 -2147483648
asarray([True]) + 3                                int32 [4]
asarray([True]) + 1099511627776                    int64 [1099511627777]
asarray([1], dtype=int8) + 2147483647              int32 [-2147483648]
asarray([1, 2]) / 2                                float64 [0.5, 1.0]
sum(asarray([1073741824] * 3, dtype=int32))        int32 -1073741824
sum(asarray([1073741824] * 3, dtype=int64))        int64 3221225472
sum(asarray([True]))                               int32 1
prod(asarray([255] * 5, dtype=uint8))              uint32 167118079
cumulative_sum(asarray([100, 100], dtype=int8))    int32 [100, 200]
linalg.trace(ones((2, 2), dtype=int8))             int32 2
argmax(asarray([1, 3]))                            int64 1
nonzero(asarray([0, 3]))[0]                        int64 [1]
zeros(2, dtype=int)                                int32 [0, 0]
asarray([1, 2], dtype="uint")                      uint32 [1, 2]
asarray([1.5]).astype(int)                         int32 [1]
sum(asarray([True]), dtype=int)                    int32 1
count_nonzero(asarray([[0, 3]]), axis=1)           int64 [1]
unique_counts(asarray([3, 3])).counts              int64 [2]
"""


@pytest.mark.parametrize("line", [line for line in MADE.splitlines() if line])
def test_integers_are_of_32_bits_until_they_are_larger(line: str) -> None:
    written, dtype, values = line.partition("  ")[0], *line.partition("  ")[2].split(maxsplit=1)
    with pa.policy(WINDOWS):
        made = eval(written, {name: getattr(pa, name) for name in dir(pa)})
    assert (made.dtype.name, str(made.tolist())) == (dtype, values)


def test_what_int_is_hangs_on_the_policy_at_each_call() -> None:
    x = pa.asarray([1], dtype=pa.int8)
    for _ in range(3):
        for policy, dtype in (("numpy@1", "int64"), (WINDOWS, "int32")):
            with pa.policy(policy):
                made = pa.zeros(1, dtype=int), x.astype(int), pa.sum(x, dtype="int"), x * 1
                assert [each.dtype.name for each in made] == [dtype] * 3 + ["int8"]
                assert pa.result_type(int, pa.int8) == pa.promote_types("int", pa.int8) == dtype
                made = pa.zeros(1, dtype=pa.int64), x.astype(pa.int64), pa.sum(x, dtype="int64")
                assert {each.dtype.name for each in made} == {"int64"}


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 3e9, 2**62])
def test_what_a_long_does_not_hold_is_stored_in_64_bits_alone(value: Any) -> None:
    x = {name: pa.zeros(1, dtype=name) for name in ("int8", "uint16", "int32", "uint32", "int64")}
    stored = {"int64": int(value)} | ({"uint32": int(value)} if 0 < value < 2**32 else {})
    with pa.policy(WINDOWS):
        for name, array in x.items():
            if name in stored:
                array[0] = value
                assert array.tolist() == [stored[name]]
            else:
                with pytest.raises(OverflowError, match="does not fit"):
                    array[0] = value
                assert array.tolist() == [0]


FUNCTIONS = """
         b1  i8  u8  i32 u32 i64 u64 int
cumsum   i32 i32 u32 i32 u32 i64 u64 i32
trace    i32 i32 u32 i32 u32 i64 u64 .
argsort  i64 i64 i64 i64 i64 i64 i64 i64
bincount i64 i64 i64 i64 i64 i64 .   .
full     .   .   .   .   .   .   .   i32
max      b1  i8  u8  i32 u32 i64 u64 i32
"""


def test_functions_of_recorded_programs() -> None:
    assert WINDOWS.answers is not None
    header, *rows = (line.split() for line in FUNCTIONS.splitlines() if line)
    wrong = []
    for name, *cells in rows:
        for code, recorded in zip(header, cells, strict=True):
            number = Operand(weak_int, Rank.SCALAR)
            cell = WINDOWS.answers.cell(name, number if code == "int" else Operand(BY_CODE[code]))
            wrong += [(name, code, cell)] if recorded not in (".", cell and cell.text) else []
    assert not wrong
    assert WINDOWS.promote(pa.int32, pa.int64) is pa.int64
    assert np.dtype(WINDOWS.strong(weak_int).storage) == np.int32
