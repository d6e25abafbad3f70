"""TensorFlow: what conformance/golden/tf_*.txt do not say, and the table JAX's document prints."""

from __future__ import annotations

from pathlib import Path

import pytest
import tables

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, DType
from promoarray.operations import Form
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy

LEGACY, ALL, SAFE = map(as_policy, ("tensorflow", "tensorflow@all", "tensorflow@safe"))
GOLDEN = Path(tables.__file__).parent / "golden"


def operand(code: str) -> Operand:
    return Operand(BY_CODE[code], Rank.SCALAR if code.endswith("*") else Rank.ARRAY)


def result(policy: Policy, name: str, *codes: str, form: Form = Form.OPERATOR) -> str:
    plan = policy.plan(name, tuple(map(operand, codes)), form)
    return "-" if isinstance(plan, Refusal) else plan.result.code


def test_document_prints_the_same_table() -> None:
    """The appendix of JAX's document shows tf.add, the function."""
    _, sections = tables.read(GOLDEN / "documents.txt")
    different = {
        (row, column)
        for (row, column), printed in sections["jax/tensorflow"].items()
        if result(LEGACY, "add", row, column, form=Form.FUNCTION) != printed
    }
    assert not different


def test_only_operators_let_a_scalar_stand_left() -> None:
    assert result(LEGACY, "add", "i*", "i8") == "i8"
    assert result(LEGACY, "add", "i*", "i8", form=Form.FUNCTION) == "-"
    assert result(LEGACY, "add", "i*", "i32", form=Form.FUNCTION) == "i32"


def test_safe_answers_as_all_or_refuses() -> None:
    kept = [
        (a, b)
        for a in SAFE.dtypes
        for b in SAFE.dtypes
        if SAFE.promote(a, b) not in (None, ALL.promote(a, b))
    ]
    assert not kept
    assert SAFE.promote(dt.int8, dt.uint8) is None
    assert ALL.promote(dt.int8, dt.uint8) is dt.int16


@pytest.mark.parametrize(
    ("policy", "name", "codes", "reason"),
    [
        (LEGACY, "add", "i8 i16", "same dtype"),
        (LEGACY, "add", "b1 b1", "list of types"),
        (LEGACY, "sin", "i32", "does not convert integers to floats"),
        (LEGACY, "add", "c32 c32", "TensorFlow has no complex32"),
        (ALL, "add", "f8_e5m2 f32", "TF-NumPy type promotion"),
        (SAFE, "add", "i32 f32", "holds all values"),
    ],
)
def test_refusals_say_why(policy: Policy, name: str, codes: str, reason: str) -> None:
    plan = policy.plan(name, tuple(map(operand, codes.split())))
    assert isinstance(plan, Refusal)
    assert reason in plan.reason


def test_modes_leave_most_operations_to_the_legacy_rule() -> None:
    assert result(ALL, "add", "i8", "i16") == "i16"
    assert result(ALL, "less", "i8", "i16") == "-"
    assert result(ALL, "equal", "i8", "i16") == "b1"
    assert result(ALL, "not_equal", "i8", "i16") == "-"
    assert result(ALL, "multiply", "f32", "b1") == "b1"


def test_weak_results_and_what_holds_them() -> None:
    plan = ALL.plan("add", (operand("i8"), operand("f*")))
    assert not isinstance(plan, Refusal)
    assert (plan.inputs, plan.result) == ((dt.float64, dt.float64), dt.weak_float)


# Functions of one weak tensor, which tf.constant([1]), ([1.0]) and ([1j]) make. TensorFlow 2.21.0,
# the same in both modes; a tensor that is not weak has the dtype that the weak one held.
OF_A_WEAK_TENSOR = """
                 i*   f*   c*
sin              -    f*   c*
sqrt             -    f*   c*
reciprocal       -    f*   c*
square           i*   f*   c*
abs              i*   f*   f*
negative         i*   f*   c*
sign             i*   f*   c*
floor            -    f*   -
round            i*   f*   -
conj             i*   f*   c*
real             i*   f*   f*
imag             i*   f*   f*
isnan            -    b1   -
isfinite         -    b1   -
sum              i*   f*   c*
mean             i*   f*   c*
max              i*   f*   -
all              -    -    -
cumulative_sum   held held held
cumulative_prod  held held held
std              -    f*   f*
argmax           i64  i64  -
trace            i*   f*   c*
diagonal         i*   f*   c*
cholesky         -    held held
det              -    held held
qr               -    held held
matrix_rank      -    i32  -
fft              -    -    held
fftshift         held held held
sort             held held -
argsort          i32  i32  -
unique_values    held held held
"""


@pytest.mark.parametrize("policy", [ALL, SAFE], ids=lambda policy: policy.name)
def test_functions_of_one_weak_tensor(policy: Policy) -> None:
    header, *rows = OF_A_WEAK_TENSOR.strip().splitlines()
    for row in rows:
        name, *recorded = row.split()
        for weak, expected in zip(header.split(), recorded, strict=True):
            plan = policy.plan(name, (Operand(BY_CODE[weak]),))
            answer = "-" if isinstance(plan, Refusal) else plan.result.code
            held = policy.strong(BY_CODE[weak]).code
            assert answer == (held if expected == "held" else expected), (name, weak)


@pytest.mark.parametrize(
    ("policy", "value", "dtype", "expected"),
    [
        (LEGACY, 128, dt.int8, -128),
        (LEGACY, 2**64 - 1, dt.uint64, 2**64 - 1),
        (LEGACY, 2**64, dt.float32, 2**64),
        (ALL, 2**31 - 1, dt.int8, -1),
    ],
)
def test_scalars_wrap(policy: Policy, value: int, dtype: DType, expected: int) -> None:
    assert policy.scalars.fit(value, dtype) == expected


@pytest.mark.parametrize(
    ("policy", "value", "dtype"),
    [(LEGACY, 2**63, dt.int8), (LEGACY, -1, dt.uint64), (ALL, 2**31, dt.int64)],
)
def test_scalars_out_of_range_are_refused(policy: Policy, value: int, dtype: DType) -> None:
    with pytest.raises(OverflowError, match=str(value)):
        policy.scalars.fit(value, dtype)


@pytest.mark.parametrize(
    ("name", "value", "expected"),  # TensorFlow 2.21: tf.math.log(2.5) and so on
    [
        ("log", 2.5, dt.float32),
        ("log", 2, None),
        ("ceil", 2.5, dt.float32),
        ("ceil", 1j, None),
        ("abs", 2, dt.int32),
        ("abs", 1j, dt.float64),
        ("abs", True, None),
        ("imag", 1j, dt.float64),
        ("isnan", 2.5, dt.bool),
        ("bitwise_invert", 2, dt.int32),
        ("logical_not", True, dt.bool),
        ("mean", 2, dt.int32),
    ],
)
def test_number_that_meets_no_tensor_has_its_own_dtype(
    name: str, value: complex, expected: DType | None
) -> None:
    answer = pa.explain(name, value, policy="tensorflow").dtype
    assert answer == (expected and expected.name)


@pytest.mark.parametrize("policy", ["tensorflow@all", "tensorflow@safe"])
@pytest.mark.parametrize(
    ("name", "value", "expected"),  # TensorFlow 2.21, the same in both modes
    [
        ("logical_not", True, dt.bool),
        ("logical_not", 2, None),
        ("any", True, dt.bool),
        ("any", 2.5, None),
        ("all", True, dt.bool),
        ("bitwise_invert", True, None),
        ("bitwise_invert", 2, dt.int32),
        ("bitwise_invert", 2.5, None),
        ("imag", True, dt.bool),
        ("imag", 2, dt.weak_int),
        ("abs", True, None),
        ("abs", 2, dt.weak_int),
        ("abs", 1j, dt.weak_float),
        ("log", 2, None),
        ("mean", 2, dt.weak_int),
        ("isnan", 2.5, dt.bool),
    ],
)
def test_number_that_meets_no_tensor_is_weak_where_functions_know_weak_tensors(
    policy: str, name: str, value: complex, expected: DType | None
) -> None:
    rule = as_policy(policy)
    plan = rule.plan(name, (Operand(dt.WEAK[type(value)], Rank.SCALAR),), Form.FUNCTION)
    assert (None if isinstance(plan, Refusal) else plan.result) is expected
    if expected is not None:
        with pa.policy(policy):
            answer = getattr(pa, name)(value)
        assert (answer.dtype, answer.weak_type) == (rule.strong(expected), expected.weak)


@pytest.mark.parametrize("policy", ["tensorflow", "tensorflow@all", "tensorflow@safe"])
@pytest.mark.parametrize("x1", [True, 2, 2.5, 1j])
@pytest.mark.parametrize("x2", [True, 2, 2.5, 1j])
def test_step_between_two_numbers_is_of_float32(policy: str, x1: complex, x2: complex) -> None:
    answer = pa.explain("nextafter", x1, x2, policy=policy).dtype
    assert answer == (None if 1j in (x1, x2) else "float32")


@pytest.mark.parametrize(("value", "why"), [(2**31, "dtype=pa.int64"), (2**63, "out of range")])
def test_int_that_is_an_int64_on_its_own_is_not_wrapped(value: int, why: str) -> None:
    with pa.policy("tensorflow"):
        assert pa.abs(3).dtype is dt.int32
        with pytest.raises(OverflowError, match=why):
            pa.abs(value)


@pytest.mark.parametrize("name", ["add", "multiply", "less", "floor_divide"])
@pytest.mark.parametrize("policy", ["tensorflow", "tensorflow@all", "tensorflow@safe"])
def test_an_int64_beside_a_number_is_not_wrapped(policy: str, name: str) -> None:
    with pa.policy(policy), pytest.raises(OverflowError, match=r"int64|int32"):
        getattr(pa, name)(2**40, 1)


def test_of_two_numbers_the_left_one_decides() -> None:
    """As TensorFlow 2.21 itself: ``tf.add(1, 2**40)`` is an int32 of the low bits."""
    with pa.policy("tensorflow"):
        x = pa.add(1, 2**31)
    assert x.dtype is pa.int32
    assert int(x) == 1 - 2**31
