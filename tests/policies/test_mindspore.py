"""MindSpore: what conformance/golden/mindspore.txt does not say."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import BY_CODE
from promoarray.operations import Form
from promoarray.policies import Operand, Plan, Rank, as_policy

MINDSPORE = as_policy("mindspore")

# A 0-d tensor of ones and True, 2, 1.5: the operator, which does the same from the right, and
# mindspore.ops.mul. MindSpore 2.10.0, CPU.
MULTIPLIED = """
       x * True  x * 2  x * 1.5   mul(x, True)  mul(x, 2)  mul(x, 1.5)
b1     b1        i64    f32       b1            i64        f32
i8     i8        i8     f32       i8            i64        f32
i32    i32       i32    f32       i32           i64        f32
i64    i64       i64    f32       i64           i64        f32
u8     u8        u8     f32       u8            i64        f32
f16    f16       f16    f16       f16           f16        f32
f32    f32       f32    f32       f32           f32        f32
f64    f64       f64    f64       f64           f64        f64
"""


@pytest.mark.parametrize("row", MULTIPLIED.strip().splitlines()[1:], ids=lambda row: row.split()[0])
def test_a_scalar_raises_a_0d_tensor_in_the_operator_and_joins_it_in_the_function(row: str) -> None:
    code, *recorded = row.split()
    tensor = Operand(BY_CODE[code], Rank.ZERO_D)
    found = []
    for form in (Form.OPERATOR, Form.FUNCTION):
        for weak in ("b*", "i*", "f*"):
            pair = (tensor, Operand(BY_CODE[weak], Rank.SCALAR))
            plans = [MINDSPORE.plan("multiply", operands, form) for operands in (pair, pair[::-1])]
            (result,) = {plan.result.code for plan in plans if isinstance(plan, Plan)}
            found.append(result)
    assert found == recorded


STORED = [
    ("full((2,), 0.5)", "i64", [0, 0]),
    ("full((2,), 300, dtype=uint8)", "u8", [44, 44]),
    ("full((2,), 1 + 1j, dtype=float32)", "f32", [1.0, 1.0]),
    ("full_like(asarray([1], dtype=int8), 2.7)", "i8", [2]),
    ("asarray(1j)", "c128", 1j),
    ("asarray(2**63)", "u64", 2**63),
    ("asarray([2**63, 2])", "f32", [2.0**63, 2.0]),
    ("asarray(-1, dtype=uint8)", "u8", 255),
    ("arange(-2, 2, dtype=uint8)", "u8", [254, 255, 0, 1]),
    ("linspace(0, 1 + 1j, 3)", "f32", [0.0, 0.5, 1.0]),
    ("asarray([-7.0, 7.0, 5.0]) % asarray([7.0, -7.0, 0.0])", "f32", [0.0, 0.0, float("nan")]),
    ("asarray([float('inf'), -1.0]) // 10", "f32", [float("inf"), -1.0]),
]


@pytest.mark.parametrize(("program", "code", "values"), STORED)
def test_numbers_are_stored_and_divided_as_mindspore_2_10_does(program, code, values):
    with pa.policy("mindspore@2.10"), np.errstate(all="ignore"):
        made = eval(program, {**{name: getattr(pa, name) for name in pa.__all__}, "float": float})
    assert made.dtype.code == code
    np.testing.assert_array_equal(np.asarray(made), values)


def test_assignment_brings_numbers_into_the_tensors_dtype():
    with pa.policy("mindspore@2.10"):
        x = pa.asarray([1, 1, 1], dtype=pa.uint8)
        x[0], x[1], x[2] = 300, -7.0, 2.7
        assert np.asarray(x).tolist() == [44, 249, 2]
        with pytest.raises(pa.PromotionError, match="no complex Python scalars"):
            x[0] = 1j
        with pytest.raises(OverflowError):
            x[0] = 2**63
