"""Paddle: the document's tables, cell by cell, and what it and paddle@3.3 agree on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tables

import promoarray as pa
from promoarray import dtypes as dt
from promoarray import extras
from promoarray.dtypes import BY_CODE, WEAK, DType
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import Operand, Rank, Refusal, as_policy

DOCUMENT, V3_3, V2_6 = (as_policy(name) for name in ("paddle", "paddle@3.3", "paddle@2.6"))
_, PRINTED = tables.read(Path(tables.__file__).parent / "golden" / "documents.txt")
SCALARS = {kind.__name__: weak for kind, weak in WEAK.items()}

# Cells of the Tensor-to-Tensor table that the policy mends, with what it answers.
MENDED = {
    "its mirror, the sample code and 3.3 say c128": {("c64", "f64"): "c128"},
    "its mirror and 3.3 say c64": {("c64", "i64"): "c64"},
    "a dtype goes with itself: '-' says that nothing is promoted": {
        (code, code): code for code in ("b1", "u8", "i8", "i16", "i32", "i64")
    },
}


def result(policy: object, name: str, *operands: Operand) -> str:
    plan = policy.plan(name, operands)  # type: ignore[attr-defined]
    return "-" if isinstance(plan, Refusal) else plan.result.code


def tensor(code: str, rank: Rank = Rank.ARRAY) -> Operand:
    return Operand(BY_CODE[code], rank)


def scalar(kind: str) -> Operand:
    return Operand(SCALARS[kind], Rank.SCALAR)


@pytest.mark.parametrize("policy", [DOCUMENT, V3_3], ids=lambda p: p.name)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_tensor_to_tensor_is_the_printed_table(policy: object, name: str) -> None:
    different = {
        (row, column): ours
        for (row, column), printed in PRINTED["paddle/tensor_tensor"].items()
        if (ours := result(policy, name, tensor(row), tensor(column))) != printed
    }
    assert different == {pair: cell for cells in MENDED.values() for pair, cell in cells.items()}


@pytest.mark.parametrize("policy", [DOCUMENT, V3_3], ids=lambda p: p.name)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_tensor_to_scalar_is_the_printed_table_from_both_sides(policy: object, name: str) -> None:
    printed = PRINTED["paddle/tensor_scalar"]
    assert printed == {
        (row, kind): result(policy, name, tensor(row), scalar(kind)) for row, kind in printed
    }
    assert printed == {
        (row, kind): result(policy, name, scalar(kind), tensor(row)) for row, kind in printed
    }


ALIASES = {"less_than": "less", "greater_than": "greater"}
LISTED = {
    ALIASES.get(name, name): rules
    for (number, column), rules in PRINTED["paddle/apis"].items()
    for name in [number.partition("/")[2]]
    if column == "tensor"
}


@pytest.mark.parametrize("name", LISTED)
def test_every_listed_api_promotes_tensors_as_listed(name: str) -> None:
    assert name in OPERATIONS
    common = {"Common": "f32", "Logic": "b1", "-": "-"}[LISTED[name]]
    assert result(DOCUMENT, name, tensor("f16"), tensor("f32")) == common
    assert result(DOCUMENT, name, tensor("i32"), tensor("f32")) == "-"


def test_divide_rule() -> None:
    for code in ("b1", "u8", "i8", "i16", "i32", "i64"):
        assert result(DOCUMENT, "divide", tensor(code), scalar("int")) == "f32"
        assert result(DOCUMENT, "divide", tensor(code), tensor(code)) == "f32"
    assert result(DOCUMENT, "divide", tensor("f16"), scalar("int")) == "f16"
    # The wheel overlooks bool.
    assert result(V3_3, "divide", tensor("b1"), tensor("b1")) == "b1"


def test_logic_rule_leaves_complex_out_of_promotion() -> None:
    assert result(DOCUMENT, "equal", tensor("f32"), tensor("f16")) == "b1"
    assert result(DOCUMENT, "equal", tensor("c64"), tensor("f32")) == "-"
    assert result(DOCUMENT, "equal", tensor("c64"), tensor("c64")) == "b1"
    assert result(DOCUMENT, "equal", tensor("c64"), scalar("int")) == "b1"
    assert result(DOCUMENT, "equal", tensor("f32"), scalar("complex")) == "-"
    assert result(V3_3, "equal", tensor("c64"), tensor("f32")) == "b1"


def test_bitwise_promotes_scalars_but_not_tensors() -> None:
    assert result(DOCUMENT, "bitwise_and", tensor("i8"), tensor("i16")) == "-"
    assert result(DOCUMENT, "bitwise_and", tensor("i8"), scalar("int")) == "i8"
    assert result(DOCUMENT, "bitwise_and", tensor("b1"), scalar("int")) == "i64"
    assert result(DOCUMENT, "bitwise_and", tensor("i8"), scalar("float")) == "-"


def test_zero_d_is_as_in_3_3_where_the_document_is_silent() -> None:
    for row in DOCUMENT.dtypes:
        for column in DOCUMENT.dtypes:
            for ranks in ((Rank.ARRAY, Rank.ZERO_D), (Rank.ZERO_D, Rank.ARRAY), (Rank.ZERO_D,) * 2):
                pair = tensor(row.code, ranks[0]), tensor(column.code, ranks[1])
                for name in ("add", "floor_divide", "pow", "maximum", "where", "atan2"):
                    assert result(DOCUMENT, name, *pair) == result(V3_3, name, *pair)


@pytest.mark.parametrize(
    ("array", "point", "expected"),
    [("i8", "i64", "i8"), ("f32", "f64", "f32"), ("i32", "f64", "f64"), ("b1", "i8", "i8")],
)
def test_a_zero_d_tensor_counts_by_its_kind(array: str, point: str, expected: str) -> None:
    assert result(DOCUMENT, "add", tensor(array), tensor(point, Rank.ZERO_D)) == expected
    assert result(V2_6, "add", tensor("f32"), tensor("f64", Rank.ZERO_D)) == "f64"


def test_2_6_answers_the_left_dtype() -> None:
    assert result(V2_6, "add", tensor("i32"), tensor("f32")) == "i32"
    assert result(V2_6, "add", tensor("f32"), tensor("i32")) == "f32"
    assert result(V2_6, "add", tensor("f16"), tensor("f32")) == "f32"
    assert result(V2_6, "floor_divide", tensor("f16"), tensor("f32")) == "f16"


def test_functions_of_3_3_take_no_python_scalars_but_are_computed() -> None:
    pair = tensor("i32"), scalar("int")
    refused = V3_3.signature_refusal("add", pair)
    assert refused is not None
    assert refused.reason == "add of Paddle 3.3 takes no Python scalar"
    assert V3_3.signature_refusal("add", (tensor("i32"), tensor("i32"))) is None
    assert V3_3.plan("add", pair, Form.FUNCTION) == V3_3.plan("add", pair)


def test_a_function_goes_by_the_operator_where_it_takes_no_scalar() -> None:
    def remainder(*operands: Operand) -> str:
        plan = V3_3.plan("remainder", operands, Form.FUNCTION)
        assert not isinstance(plan, Refusal)
        return plan.result.code

    assert remainder(tensor("i32"), scalar("float")) == "i32"  # paddle.remainder(x, 1.5)
    assert remainder(scalar("float"), tensor("i32")) == "f32"  # 1.5 % x
    assert result(V3_3, "remainder", tensor("i32"), scalar("float")) == "f32"


@pytest.mark.parametrize(
    ("name", "operands", "function", "operator"),
    [
        ("where", (tensor("i32"), scalar("int")), "-", None),  # 2 is an int64 tensor there
        ("where", (scalar("float"), tensor("f16")), "f32", None),
        ("stack", (tensor("c64"), tensor("f32")), "c64", None),
        ("stack", (tensor("f32"), tensor("c64")), "-", None),
        ("matmul", (tensor("f16"), tensor("c128")), "c128", "-"),
        ("matmul", (tensor("f32"), tensor("f64")), "-", "f32"),
    ],
)
def test_functions_of_3_3_have_rules_of_their_own(
    name: str, operands: tuple[Operand, ...], function: str, operator: str | None
) -> None:
    plan = V3_3.plan(name, operands, Form.FUNCTION)
    assert ("-" if isinstance(plan, Refusal) else plan.result.code) == function
    if operator is not None:
        assert result(V3_3, name, *operands) == operator


@pytest.mark.parametrize(
    ("value", "dtype", "cast"),
    [
        (300, dt.uint8, 44),
        (-1, dt.uint8, 255),
        (2**40, dt.int32, -(2**31)),
        (2**53 + 1, dt.int64, 2**53),
        (2**63, dt.int64, -(2**63)),
        (2**40, dt.int8, 0),
    ],
)
def test_scalars_go_through_a_double(value: int, dtype: DType, cast: int) -> None:
    assert V3_3.scalars.fit(value, dtype) == cast


def test_an_int_beyond_a_double_is_refused() -> None:
    with pytest.raises(OverflowError, match="does not fit a C double"):
        V3_3.scalars.fit(10**400, dt.int64)


def test_refusal_quotes_the_document() -> None:
    refused = DOCUMENT.plan("multiply", (tensor("i64"), tensor("f32")))
    assert isinstance(refused, Refusal)
    assert "Tensor-to-Tensor" in refused.reason


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_promote_floats(reduction: str) -> None:
    x, target = [1.0, 2.0], [1.5, 5.0]
    with pa.policy("paddle"):
        a, b = pa.asarray(x, dtype=pa.float16), pa.asarray(target, dtype=pa.float32)
        losses = {
            "l1_loss": [0.5, 3.0],
            "mse_loss": [0.25, 9.0],
            "huber_loss": [0.125, 2.5],
            "poisson_nll_loss": [np.exp(1.0) - 1.5, np.exp(2.0) - 10.0],
        }
        for name, each in losses.items():
            loss = getattr(extras, name)(a, b, reduction=reduction)
            expected = {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](each)
            assert loss.dtype is pa.float32
            np.testing.assert_allclose(np.asarray(loss), expected, rtol=1e-6)


def test_losses_refuse_what_the_policy_refuses() -> None:
    with pa.policy("paddle"):
        x, target = pa.asarray([1.0]), pa.asarray([1])
        with pytest.raises(pa.PromotionError, match="Tensor-to-Tensor"):
            extras.mse_loss(x, target)
        with pytest.raises(ValueError, match="no reduction 'max'"):
            extras.mse_loss(x, x, reduction="max")


IMAGINARY = Operand(dt.weak_complex, Rank.SCALAR)


@pytest.mark.parametrize("symbol", ["/", "**", "%"])
def test_a_python_complex_number_beside_a_0d_tensor_is_a_complex64_tensor_of_one_element(
    symbol: str,
) -> None:
    name = {"/": "divide", "**": "pow", "%": "remainder"}[symbol]
    for code, answer in {"f64": "c128", "c128": "c128", "f32": "c64", "i64": "c64"}.items():
        for operands in ((tensor(code), IMAGINARY), (IMAGINARY, tensor(code))):
            assert result(V3_3, name, *operands) == answer
            zero_d = tuple(o if o is IMAGINARY else tensor(code, Rank.ZERO_D) for o in operands)
            assert result(V3_3, name, *zero_d) == "c64"
    assert result(V3_3, "add", tensor("f64", Rank.ZERO_D), IMAGINARY) == "c128"
    with pa.policy(V3_3):
        quotient = pa.asarray(3.0, dtype=pa.float64) / (0.1 + 1j)
    assert quotient.dtype is pa.complex64
    assert abs(complex(quotient) - (0.2970297038555145 - 2.97029709815979j)) < 1e-6


def test_stack_casts_0d_tensors_after_a_complex_one_as_it_casts_others() -> None:
    for rank in (Rank.ARRAY, Rank.ZERO_D):
        for policy in (V3_3, V2_6):
            plan = policy.plan("stack", (tensor("c64", rank), tensor("f64", rank)), Form.FUNCTION)
            assert plan.result is dt.complex64
            plan = policy.plan("stack", (tensor("f64", rank), tensor("c64", rank)), Form.FUNCTION)
            assert isinstance(plan, Refusal)
