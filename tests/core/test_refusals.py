"""What a refusal says: what was given, which rule refuses it, what to write; and that it works."""

from __future__ import annotations

import re
from itertools import product

import pytest
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.refusals import promotion_error
from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, Family
from promoarray.policies import Operand, Plan, Rank, Refusal, as_policy

POLICIES = (
    *("numpy", "numpy@1", "jax", "jax@x32", "jax@strict", "jax@lax", "torch", "tensorflow"),
    *("tensorflow@all", "tensorflow@safe", "paddle", "paddle@3.3", "paddle@2.6", "aclnn"),
    *("aclnn@8.5", "onnx", "mindspore", "array_api"),
)
OPERATORS = ("add", "subtract", "divide", "floor_divide", "pow", "less", "bitwise_and", "matmul")
DTYPES = (
    *(dt.bool, dt.uint8, dt.uint16, dt.uint64, dt.int4, dt.int32, dt.int64),
    *(dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.float8_e4m3fn, dt.complex64),
)
ADVICE = re.compile(r"pa\.astype\(x(\d?), pa\.(\w+)\)")


def refusals(policy: str, name: str) -> list[tuple[tuple[Operand, ...], str]]:
    """Pairs that the policy refuses, with the error's text."""
    rules, found = as_policy(policy), []
    # Policies take turns with the pairs: those of one framework have most rules in common.
    for a, b in turns(product(DTYPES, DTYPES), 4, POLICIES.index(policy) + OPERATORS.index(name)):
        operands = Operand(a), Operand(b)
        plan = rules.plan(name, operands)
        if isinstance(plan, Refusal):
            found.append((operands, str(promotion_error(rules, name, operands, plan))))
    return found


def followed(operands: tuple[Operand, ...], text: str) -> tuple[Operand, ...]:
    """The operands once the casts are made that a text asks for."""
    casts = {int(which or 1) - 1: dtype for which, dtype in ADVICE.findall(text)}
    return tuple(
        Operand(getattr(dt, casts[i])) if i in casts else o for i, o in enumerate(operands)
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_refusal_says_to_write_passes_and_keeps_the_sort_of_number(policy: str) -> None:
    wrong = []
    for name in OPERATORS:
        free = OPERATIONS[name].family is Family.BITWISE  # which may have to ask for integers
        for operands, text in refusals(policy, name):
            cast = followed(operands, text)
            rules = as_policy(policy)
            passes = cast == operands or isinstance(rules.plan(name, cast), Plan)
            passes &= all(
                x is y or rules.cast.refuses(x.type, y.type) is None
                for x, y in zip(operands, cast, strict=True)
            )
            lower = any(
                y.type.kind.category < x.type.kind.category
                for x, y in zip(operands, cast, strict=True)
            )
            if not passes or (lower and not free):
                wrong.append(text)
    assert not wrong, "\n".join(wrong[:20])


def test_no_refusal_of_a_python_scalar_speaks_of_promoarrays_own_types() -> None:
    operands = Operand(dt.int32), Operand(dt.weak_complex, Rank.SCALAR, 1j)
    asked = [(policy, name) for policy in map(as_policy, POLICIES) for name in OPERATORS]
    plans = [(policy, name, policy.plan(name, operands)) for policy, name in asked]
    refused = [each for each in plans if isinstance(each[2], Refusal)]
    texts = [str(promotion_error(policy, name, operands, why)) for policy, name, why in refused]
    assert len(texts) > len(POLICIES)
    assert [text for text in texts if "weak" in text] == []


@pytest.mark.parametrize(
    ("policy", "name", "types", "text"),
    [
        ("torch", "floor_divide", (dt.bool, dt.bool), "has no bool // bool: "),
        ("torch", "floor_divide", (dt.bool, dt.bool), "Write pa.astype(x1, pa.int64). Else"),
        ("torch", "add", (dt.uint16, dt.int32), "does not promote uint16 + int32: uint16, uint32"),
        ("torch", "vecdot", (dt.int32, dt.float32), "vecdot promotes nothing: it takes one dtype"),
        ("tensorflow", "where", (dt.bool, dt.uint8), "where promotes nothing: it takes one dtype"),
        ("paddle", "add", (dt.bool, dt.uint16), "has no uint16. Write pa.astype(x1, pa.int64) and"),
        ("array_api", "logical_and", (dt.uint8, dt.uint8), "Write pa.astype(x1, pa.bool) and"),
        ("numpy", "solve", (dt.bool, dt.float16), "Write pa.astype(x2, pa.float32). "),
        ("paddle@3.3", "maximum", (dt.int32, dt.float32), "Write pa.astype(x1, pa.float64)."),
    ],
)
def test_texts(policy: str, name: str, types: tuple[DType, ...], text: str) -> None:
    rules, operands = as_policy(policy), tuple(map(Operand, types))
    plan = rules.plan(name, operands)
    assert isinstance(plan, Refusal)
    assert text in str(promotion_error(rules, name, operands, plan))


def test_in_place_is_told_to_cast_where_the_operation_itself_is_refused() -> None:
    with pa.policy("torch"):
        x, y = pa.asarray([1], dtype=pa.uint16), pa.asarray([1], dtype=pa.int32)
        with pytest.raises(
            pa.PromotionError, match=r"\+= int32: .* Write pa\.astype\(x1, pa\.int32"
        ):
            x += y
        z = pa.asarray([1])
        with pytest.raises(pa.PromotionError, match=r"may not be written .* Write x1 = pa\.add\("):
            z += 1.5


def test_every_refusal_carries_policy_operation_operands_and_reason() -> None:
    floats = pa.asarray([1.5])

    def assigned() -> None:
        with pa.policy("array_api"):
            pa.asarray([1, 2])[0] = floats

    def added() -> None:
        with pa.policy("paddle"):
            pa.asarray([1]) * pa.asarray([1.5], dtype=pa.float32)

    def added_in_place() -> None:
        x = pa.asarray([1, 2])
        x += floats

    def cast() -> None:
        with pa.policy("array_api"):
            pa.astype(pa.asarray([1j]), pa.float32)

    def cast_of_strings() -> None:
        with pa.policy("onnx@8"):
            pa.astype(pa.asarray(["1"]), pa.float32)

    def asked() -> None:
        with pa.policy("onnx"):
            pa.result_type(pa.int8, pa.float32)

    expected = {
        assigned: ("array_api", "setitem"),
        added: ("paddle", "multiply"),
        added_in_place: ("numpy@2", "add"),
        cast: ("array_api", "astype"),
        cast_of_strings: ("onnx@8", "astype"),
        asked: ("onnx@25", "result_type"),
    }
    for refused, (policy, operation) in expected.items():
        with pytest.raises(pa.PromotionError) as caught:
            refused()
        error = caught.value
        assert error.policy is not None, refused
        assert (error.policy.name, error.operation) == (policy, operation)
        assert len(error.operands) == 2
        assert error.reason
        assert error.inplace is (refused in (assigned, added_in_place))


def overflow(x: pa.PArray, value: int) -> str:
    """What x + value raises about the value; "" if nothing."""
    try:
        x + value
    except OverflowError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("policy", ["numpy", "onnx", "array_api"])
@pytest.mark.parametrize("dtype", [dt.int8, dt.uint8, dt.int32, dt.uint32, dt.int64], ids=str)
@pytest.mark.parametrize("value", [-1, 300, -40_000, 1 << 31, 1 << 40, 1 << 63, -(1 << 80)])
def test_a_scalar_that_does_not_fit_is_told_a_dtype_that_holds_it(
    policy: str, dtype: DType, value: int
) -> None:
    with pa.policy(policy):
        x = pa.ones(2, dtype=dtype)
        text = overflow(x, value)
        said = re.search(r"Write pa\.asarray\((-?\d+), dtype=pa\.(\w+)\)", text)
        assert bool(said) is bool(text and value != -(1 << 80)), text
        if said:
            assert pa.asarray(int(said[1]), dtype=said[2]).item() == value
        cast = re.search(r"cast the array to (\w+) first", text)
        if cast:
            assert (pa.astype(x, cast[1]) + value).tolist() == [1 + value] * 2


def test_a_long_name_of_a_policy_is_not_quoted_in_full() -> None:
    policy = as_policy("torch").derive("a" * 10_000)
    x = pa.asarray([1, 2])
    with pa.policy(policy):
        for call in (lambda: pa.mean(x), lambda: pa.extras.quantile(x, 0.5)):
            with pytest.raises(pa.PromotionError, match=r"^policy 'aaaa.*'\.\.\. has no") as caught:
                call()
            assert len(str(caught.value)) < 1000
