"""PyTorch: what conformance/golden/torch.txt does not say, and the table JAX's document prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tables

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, DType
from promoarray.policies import Operand, Plan, Rank, Refusal, as_policy

TORCH = as_policy("torch")
GOLDEN = Path(tables.__file__).parent / "golden"

# JAX's document (appendix, PyTorch) against PyTorch 2.13: cells are rows and columns.
UNSIGNED = ("u16", "u32", "u64")
PRINTED_ERRORS = {
    "PyTorch had no uint16, uint32 and uint64 then; it promotes them with floats and scalars": {
        pair
        for u in UNSIGNED
        for other in (u, "bf16", "f16", "f32", "f64", "i*", "f*", "c*")
        for pair in ((u, other), (other, u))
    },
    "PyTorch had no complex32 then": {("f16", "c*"), ("c*", "f16")},
    "two Python scalars: the document prints what Python computes, not PyTorch": {
        ("f*", "f*"),
        ("c*", "c*"),
    },
}


def operand(code: str, rank: Rank = Rank.ARRAY) -> Operand:
    return Operand(BY_CODE[code], Rank.SCALAR if code.endswith("*") else rank)


def result(name: str, *operands: Operand) -> str:
    plan = TORCH.plan(name, operands)
    return "-" if isinstance(plan, Refusal) else plan.result.code


def test_document_prints_the_same_table() -> None:
    _, sections = tables.read(GOLDEN / "documents.txt")
    different = {
        (row, column)
        for (row, column), printed in sections["jax/pytorch"].items()
        if result("add", operand(row), operand(column)) != printed
    }
    assert different == set().union(*PRINTED_ERRORS.values())


def test_editions_promote_alike() -> None:
    older = as_policy("torch@2.11")
    assert older.name == "torch@2.11"
    assert older is not TORCH
    assert (older.promote, older.operations) == (TORCH.promote, TORCH.operations)
    assert any("float8_e4m3fn" in note for note in older.notes)


@pytest.mark.parametrize(
    ("array", "zero_d", "scalar", "expected"),
    [
        ("i8", "i64", "i*", "i8"),  # one category: the array decides
        ("i8", "i64", "f*", "f32"),  # the scalar raises it to the default float
        ("i8", "f16", "f*", "f16"),  # the 0-d array has a float already
        ("i8", "f16", "c*", "c32"),  # complex of that float
        ("bf16", "f64", "c*", "c64"),
        ("b1", "u8", "f*", "f32"),
    ],
)
def test_three_ranks_in_one_operation(array: str, zero_d: str, scalar: str, expected: str) -> None:
    operands = operand(array), operand(zero_d, Rank.ZERO_D), operand(scalar)
    assert result("concat", *operands) == expected


@pytest.mark.parametrize(
    ("array", "zero_d", "scalar", "expected"),
    [
        ("i8", "i64", "i*", "i8"),
        ("i8", "f16", "f*", "f32"),  # where one bound is a number, a 0-d one is another
        ("i8", "f64", "i*", "f32"),
        ("i8", "c64", "i*", "-"),
        ("f16", "f64", "f*", "f16"),  # and numbers change no float
        ("f16", "i64", "c*", "f16"),
        ("f16", "c64", "f*", "-"),  # PyTorch takes it if its imaginary part is 0
    ],
)
def test_a_0d_bound_beside_a_number_is_a_number(
    array: str, zero_d: str, scalar: str, expected: str
) -> None:
    bounds = operand(zero_d, Rank.ZERO_D), operand(scalar)
    assert result("clip", operand(array), *bounds) == expected
    assert result("clip", operand(array), *bounds[::-1]) == expected


def test_narrow_floats_compute_in_float32() -> None:
    plan = TORCH.plan("add", (operand("bf16"), operand("bf16")))
    assert plan == Plan((dt.bfloat16, dt.bfloat16), dt.float32, dt.bfloat16)


@pytest.mark.parametrize(
    ("name", "codes", "reason"),
    [
        ("add", "u16 i32", "promoteTypes"),
        ("add", "f8_e5m2 f32", "promoteTypes"),
        ("add", "f4_e2m1fn f4_e2m1fn", "PyTorch 2.13 has no float4_e2m1fn"),
        ("subtract", "b1 i8", "logical_xor"),
        ("less", "c64 c64", "not defined for complex"),
        ("mean", "i32", "integers have no mean"),
        ("matmul", "i32 f32", "promote nothing"),
    ],
)
def test_refusals_say_why(name: str, codes: str, reason: str) -> None:
    plan = TORCH.plan(name, tuple(map(operand, codes.split())))
    assert isinstance(plan, Refusal)
    assert reason in plan.reason


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (128, dt.int8, -128),
        (-1, dt.uint8, 255),
        (2**63, dt.int64, -(2**63)),
        (2**64 - 1, dt.float32, 2**64 - 1),
        (1e300, dt.float16, 1e300),
    ],
)
def test_scalars_wrap(value: object, dtype: DType, expected: object) -> None:
    assert TORCH.scalars.fit(value, dtype) == expected


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_scalars_beyond_64_bits_are_refused(value: int) -> None:
    with pytest.raises(OverflowError, match=str(value)):
        TORCH.scalars.fit(value, dt.float32)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16])
def test_products_of_16_bits_are_rounded_once(dtype: DType) -> None:
    x = pa.asarray([300, 300, 0.001], dtype=dtype)
    exact = np.prod([float(value) for value in x])
    with pa.policy(TORCH):
        assert pa.prod(x) == pa.asarray(float(exact), dtype=dtype)  # torch.prod on a CPU: inf
        assert "as on a GPU" in " ".join(str(pa.explain("prod", x)).split())


def test_losses() -> None:
    assert result("mse_loss", operand("f16"), operand("f32")) == "f32"
    assert result("mse_loss", operand("i32"), operand("i32")) == "-"
    assert result("l1_loss", operand("c64"), operand("f32")) == "f32"
    assert result("poisson_nll_loss", operand("i32"), operand("i32")) == "f32"
