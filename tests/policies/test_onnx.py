"""ONNX: every operator's types, for every opset, against the recorded schemas of onnx."""

from __future__ import annotations

import pytest
import tables
from check import GOLDEN

import promoarray as pa
from promoarray.dtypes import BY_CODE, DType
from promoarray.policies import Operand, Plan, Rank, Refusal, as_policy, list_policies
from promoarray.policies.onnx.operators import CAST, EXPONENTS, admitted, operators

META, SCHEMAS = tables.read(GOLDEN / "onnx.txt")
OPSETS = range(1, int(META["opset"]) + 1)
MAIN_PARAMETER = {"IsNaN": "T1", "IsInf": "T1", "Identity": "T V"}

# Functions whose types are not those of one operator: bools take And, Or, Xor and Not where
# integers take the Bitwise operators; ReduceMin and ReduceMax are all and any of bools only; before
# opset 28 Mod of floats is C's fmod, not the remainder.
COMBINED = {
    "bitwise_and": ("And T", "BitwiseAnd T"),
    "bitwise_or": ("Or T", "BitwiseOr T"),
    "bitwise_xor": ("Xor T", "BitwiseXor T"),
    "bitwise_invert": ("Not T", "BitwiseNot T"),
}
NARROWED = {"all", "any", "remainder", "sort", "argsort"}


def schema(operator: str, parameters: str, opset: int) -> set[DType]:
    """What the version in force at an opset admits for a type parameter."""
    rows: dict[int, set[DType]] = {}
    for (row, _), cell in SCHEMAS[f"types/{operator}"].items():
        since, parameter = row.split("/")
        if parameter in parameters.split():
            rows.setdefault(int(since), set()).update([BY_CODE[cell]] if cell != "-" else [])
    reached = [since for since in rows if since <= opset]
    return rows[max(reached)] if reached else set()


def operand(code: str) -> Operand:
    return Operand(BY_CODE[code], Rank.SCALAR if code.endswith("*") else Rank.ARRAY)


def result(policy: str, name: str, *codes: str) -> str:
    plan = as_policy(policy).plan(name, tuple(map(operand, codes)))
    return "-" if isinstance(plan, Refusal) else plan.result.code


def test_there_is_a_policy_for_every_opset() -> None:
    assert {f"onnx@{opset}" for opset in OPSETS} <= set(list_policies())


def test_types_of_every_operator_and_opset() -> None:
    different = [
        f"{function} ({operator}) of opset {opset}"
        for function, (operator, history) in operators().items()
        if function not in NARROWED | set(COMBINED)
        for opset in OPSETS
        if set(admitted(history, opset))
        != schema(operator, MAIN_PARAMETER.get(operator, "T"), opset)
    ]
    assert not different


def test_functions_made_of_two_operators() -> None:
    different = [
        f"{function} of opset {opset}"
        for function, parts in COMBINED.items()
        for opset in OPSETS
        if set(admitted(operators()[function][1], opset))
        != set().union(*(schema(*part.split(), opset) for part in parts))
    ]
    assert not different


def test_functions_that_take_fewer_types_take_none_the_operator_does_not() -> None:
    for function in NARROWED:
        operator, history = operators()[function]
        for opset in OPSETS:
            assert set(admitted(history, opset)) <= schema(operator, "T", opset)


@pytest.mark.parametrize(
    ("history", "operator", "parameter"),
    [(CAST, "Cast", "T1"), (CAST, "Cast", "T2"), (EXPONENTS, "Pow", "T1")],
)
def test_other_type_parameters(history: str, operator: str, parameter: str) -> None:
    for opset in OPSETS:
        assert set(admitted(history, opset)) == schema(operator, parameter, opset), opset


def test_can_cast_is_what_cast_of_the_opset_takes() -> None:
    for opset in OPSETS:
        policy, types = as_policy(f"onnx@{opset}"), schema("Cast", "T1", opset)
        allowed = {d for d in BY_CODE.values() if any(policy.can_cast(d, e) for e in types)}
        assert allowed == types


@pytest.mark.parametrize("opset", OPSETS)
def test_nothing_promotes(opset: int) -> None:
    policy = as_policy(f"onnx@{opset}")
    mixed = [(a, b) for a in policy.dtypes for b in policy.dtypes if a is not b]
    promoted = [
        (name, a.code, b.code)
        for name in ("add", "less", "where", "maximum", "matmul", "concat", "equal")
        for a, b in mixed
        if isinstance(policy.plan(name, (Operand(a), Operand(b))), Plan)
    ]
    assert not promoted


@pytest.mark.parametrize(
    ("policy", "name", "codes", "expected"),
    [
        ("onnx@13", "add", ("i8", "i8"), "-"),
        ("onnx@14", "add", ("i8", "i8"), "i8"),
        ("onnx@25", "divide", ("i32", "i32"), "i32"),
        ("onnx@25", "mean", ("i32",), "i32"),
        ("onnx@25", "sum", ("i8",), "-"),
        ("onnx@11", "less_equal", ("f32", "f32"), "-"),
        ("onnx@12", "less_equal", ("f32", "f32"), "b1"),
        ("onnx@25", "argmax", ("f16",), "i64"),
        ("onnx@25", "remainder", ("f32", "f32"), "-"),
        ("onnx@28", "remainder", ("f32", "f32"), "f32"),
        ("onnx@25", "bitwise_and", ("b1", "b1"), "b1"),
        ("onnx@25", "floor_divide", ("i32", "i32"), "-"),
        # The exponent has a type of its own from opset 12; the result is of the base's type.
        ("onnx@11", "pow", ("f32", "i64"), "-"),
        ("onnx@12", "pow", ("f32", "i64"), "f32"),
        ("onnx@12", "pow", ("i32", "f32"), "i32"),
        ("onnx@25", "pow", ("i8", "i8"), "-"),
        # Python scalars are constants of the array's type, never down the kinds.
        ("onnx@25", "add", ("f16", "i*"), "f16"),
        ("onnx@25", "add", ("f*", "f16"), "f16"),
        ("onnx@25", "add", ("i8", "f*"), "-"),
        ("onnx@25", "add", ("i8", "b*"), "-"),
        ("onnx@25", "pow", ("f*", "i64"), "f32"),
        ("onnx@25", "pow", ("i32", "f*"), "i32"),
        # Alone they are constants of one default type.
        ("onnx@25", "add", ("i*", "i*"), "i64"),
        ("onnx@25", "add", ("i*", "f*"), "f32"),
        ("onnx@5", "add", ("i*", "i*"), "-"),
        ("onnx@25", "pow", ("f*", "i*"), "f32"),
        ("onnx@25", "sin", ("f*",), "f32"),
        ("onnx@25", "sin", ("i*",), "-"),
        ("onnx@25", "logical_not", ("b*",), "b1"),
    ],
)
def test_answers(policy: str, name: str, codes: tuple[str, ...], expected: str) -> None:
    assert result(policy, name, *codes) == expected


def test_a_refusal_names_operator_opset_and_types() -> None:
    plan = as_policy("onnx@13").plan("add", (operand("i8"), operand("i8")))
    assert isinstance(plan, Refusal)
    assert plan.reason.startswith("Add of opset 13 takes float16, float32, float64, int32")


def test_powers_of_integers_take_unsigned_exponents_beyond_the_base():
    base, exponent = [-3, 2, 1, -1], [3, 40, 2**32 - 1, 2**32 - 1]
    with pa.policy("onnx@25"):
        x = pa.asarray(base, dtype=pa.int32)
        for dtype in (pa.uint32, pa.uint64):
            power = x ** pa.asarray(exponent, dtype=dtype)
            assert power.dtype is pa.int32
            assert [int(v) for v in power] == [-27, 0, 1, -1]
