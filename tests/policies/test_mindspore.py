"""MindSpore: what conformance/golden/mindspore.txt does not say."""

from __future__ import annotations

import pytest

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
