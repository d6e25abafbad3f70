"""Kernels that frameworks do not have: told for every pair of dtypes that they were asked for, and
refused where a policy is asked to (``kernels=True``)."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from fnmatch import fnmatchcase

import check
import pytest

import promoarray as pa
from promoarray.cli import main
from promoarray.dtypes import BY_CODE
from promoarray.errors import UnknownPolicyError
from promoarray.operations import Form
from promoarray.policies import Refusal, as_policy
from promoarray.promotion.answers import ON_A_GPU

DEPARTURES = {
    "paddle331: function/matmul *64 *64": "float64 by complex64 promotes, and then finds no kernel",
    "paddle331: function/tensordot *64 *64": "the same",
    "paddle331: unary * signbit": "goes through NumPy, which has no such dtype",
    "paddle331: */divide * *": "refuses the dtype with other words",
    "tf_*: */multiply * *": "a mask of int4 is cast otherwise than an array of it",
    "tf_*: tnp/logical_* * *": "casts to bool first, and lacks these casts",
}
"""Cells, as ``golden: section row column``, where the rule of the common dtype does not hold."""


def operations(golden: str) -> Iterator[tuple[str, str, str, str]]:
    """Sections, rows and columns that ask an operation, with what was answered."""
    for section, cells in check.promised(check._sections(golden)).items():
        if section.partition("/")[0] not in ("clip", "types", "scalars", "scalars_0d", "by_value"):
            for (row, column), recorded in cells.items():
                yield section, row, column, recorded


@pytest.mark.parametrize("golden", ["torch", "paddle331", "tf_legacy", "tf_all"])
def test_what_has_no_kernel_is_told_pair_by_pair(golden: str) -> None:
    policy, different, told = as_policy(check.POLICY_OF[golden]), [], 0
    for section, row, column, recorded in operations(golden):
        name, operands, form = check.question(policy, section, row, column)
        plan = policy.plan(name, operands, form)
        taken = form is not Form.FUNCTION or not policy.signature_refusal(name, operands)
        if isinstance(plan, Refusal) or not taken:
            continue
        types = {plan.inputs[0], *(operand.type for operand in operands)}
        if recorded[0] == "?" and types & ON_A_GPU:
            continue
        values = check.numbers(row, column)
        ours = policy.kernel_refusal(name, operands, plan, form, values=values) is not None
        told += ours
        if ours is not (recorded[0] == "?"):
            different.append(f"{golden}: {section} {row} {column}")
    rest = [x for x in different if not any(fnmatchcase(x, known) for known in DEPARTURES)]
    assert not rest, f"{len(rest)} cells differ:\n" + "\n".join(rest[:60])
    assert told > 400
    mine = [known for known in DEPARTURES if fnmatchcase(golden, known.partition(":")[0])]
    idle = [known for known in mine if not any(fnmatchcase(x, known) for x in different)]
    assert not idle or golden == "tf_legacy", idle  # which has no tnp


LACKING = [
    *(("torch", x) for x in ("u16 + u16", "u16 + 1", "1 + u32", "-u64", "f8 + f8", "f8 * 2.0")),
    *(("torch", x) for x in ("abs(b1)", "pa.matmul(b1, b1)", "pa.flip(u16)", "pa.tril(u16)")),
    ("torch", "pa.take_along_axis(u16, at)"),
    *(("paddle@3.3", x) for x in ("pa.take_along_axis(u16, at)", "pa.repeat(u8, 2)")),
    *(
        ("paddle@3.3", x)
        for x in ("pa.unstack(u16)", "pa.expand_dims(u16, axis=0)", "pa.broadcast_arrays(u8)")
    ),
    *(("torch", x) for x in ("pa.arange(3, dtype=pa.uint16)", "pa.unique_values(f8)")),
    *(("paddle@3.3", f"pa.{name}(b1)") for name in ("cumulative_sum", "max", "prod", "abs")),
    *(("paddle@3.3", x) for x in ("u16 + u16", "f8 + 1", "pa.flip(u8)", "pa.take(u8, i64)")),
    *(("paddle@3.3", x) for x in ("pa.zeros(2, dtype=pa.uint16)", "pa.meshgrid(u8, u8)")),
    ("paddle@3.3", "pa.ones_like(u8, dtype=pa.uint16)"),
    ("paddle@3.3", "pa.einsum('ij->i', u8)"),
    ("torch@2.13-cuda", "pa.matmul(u8, u8)"),
    *(("tensorflow", x) for x in ("pa.matmul(u16, u16)", "f8 == f8", "pa.where(b1, f8, f8)")),
]
CARRIED_OUT = [
    *(("torch", x) for x in ("u16 * u16", "f8 * f8", "abs(f8)", "pa.sum(u16)", "u8 + 1")),
    *(("torch", x) for x in ("f16 + f16", "pa.zeros(2)", "u16[0]", "pa.reshape(u16, (4,))")),
    *(("paddle@3.3", x) for x in ("u8 + u8", "u8 + 1", "f16 + 1.5", "pa.max(f16)", "b1 + 1")),
    *(("torch@2.13-cuda", x) for x in ("abs(b1)", "u16 + 1", "pa.matmul(f16, f16)")),
    *(("tensorflow", x) for x in ("u16 + u16", "u8 + 1", "f16 + f16", "pa.flip(u8)")),
]


def test_a_power_that_fills_or_copies_needs_no_kernel_in_torch() -> None:
    """As PyTorch 2.13 answers: of the number 1, to 0 or 1, a bool too, in place too."""
    with pa.policy("torch+kernels"):
        x, y = pa.asarray([3, 2], dtype=pa.uint16), pa.asarray([True, False])
        for _ in range(2):
            for made in (x**1, x**True, pa.pow(x, 1), y**True, 1**x, x**0):
                assert made.dtype in ("uint16", "bool")
            assert (x**1).tolist() == [3, 2]
            for power in (lambda: x**2, lambda: 0**x, lambda: x ** pa.asarray(1)):
                with pytest.raises(pa.PromotionError, match="no kernel for"):
                    power()
        x **= 1
    assert "PyTorch 2.13 has no kernel" not in str(pa.explain("pow", x, 1))
    assert "PyTorch 2.13 has no kernel" in str(pa.explain("pow", x, 2))


def evaluated(policy: str, call: str, *, kernels: bool) -> object:
    with pa.policy(policy):
        arrays = {
            code: pa.asarray([[1, 0], [1, 1]], dtype=BY_CODE[code])
            for code in ("u8", "u16", "u32", "u64", "f16")
        }
        arrays["b1"] = pa.asarray([[True, False], [True, True]])
        arrays["f8"] = pa.asarray([[1, 0], [1, 1]], dtype=pa.float8_e4m3fn)
        arrays |= {"i64": pa.asarray([0]), "at": pa.asarray([[0, 1]])}
    if "take" in call or "meshgrid" in call or "cumulative" in call:
        arrays |= {"u8": arrays["u8"][0], "b1": arrays["b1"][0]}
    with pa.policy(policy, kernels=kernels):
        return eval(call, {"pa": pa, **arrays})


@pytest.mark.parametrize(("policy", "call"), LACKING)
def test_arrays_refuse_what_has_no_kernel_where_asked(policy: str, call: str) -> None:
    assert evaluated(policy, call, kernels=False) is not None
    with pytest.raises(
        pa.PromotionError, match=r"no kernel for \w+ in .* on (the CPU|CUDA) \(.*Write "
    ):
        evaluated(policy, call, kernels=True)


@pytest.mark.parametrize(("policy", "call"), CARRIED_OUT)
def test_arrays_compute_what_has_one(policy: str, call: str) -> None:
    """And what a GPU may have, as float16 in Paddle."""
    plain, strict = (repr(evaluated(policy, call, kernels=k)) for k in (False, True))
    assert plain == strict


def test_what_is_kept_for_one_policy_is_not_found_by_the_other() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint16)
    for _ in range(3):
        with pa.policy("torch"):
            assert (x + x).dtype == "uint16"
        with pa.policy("torch", kernels=True), pytest.raises(pa.PromotionError):
            x + x


def test_in_place_leaves_the_target() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint16)
    with pa.policy("torch+kernels"):
        with pytest.raises(pa.PromotionError, match="does not compute uint16 \\+= uint16"):
            x += x
        x *= x
    assert x.tolist() == [1, 4]


def test_the_name_of_such_a_policy_does_the_same() -> None:
    strict = as_policy("torch", kernels=True)
    assert strict.name == "torch@2.13+kernels"
    assert strict is as_policy("torch+kernels") is as_policy(strict.name, kernels=True)
    assert strict is pa.namespace("torch", kernels=True).policy
    assert pickle.loads(pickle.dumps(strict)) is strict
    quirk = as_policy("torch").cast.quirks[0].name
    both = as_policy(f"torch+kernels+{quirk}")
    assert both is as_policy(f"torch+{quirk}+kernels")
    assert both.needs_kernels
    assert both.cast.on == (quirk,)
    before = pa.get_policy()
    try:
        pa.set_policy("torch", kernels=True)
        assert pa.get_policy() is strict
    finally:
        pa.set_policy(before)


@pytest.mark.parametrize("policy", ["paddle", "onnx", "aclnn", "mindspore", "array_api"])
def test_a_policy_whose_framework_was_not_asked_has_none(policy: str) -> None:
    with pytest.raises(UnknownPolicyError, match="was not asked which kernels it has"):
        pa.policy(policy, kernels=True)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("add u16 u16 --policy torch", "PyTorch 2.13 has no kernel for uint16 in add on the CPU"),
        ("+ f8_e4m3fn 1.5 --policy torch", "in add with a Python number on the CPU (torch 2.13"),
        ("abs bool --policy torch", "no kernel for bool in abs"),
        ("max bool --policy paddle@3.3", "no kernel for bool in max on the CPU (paddlepaddle 3.3"),
        ("max f16 --policy paddle@3.3", "no kernel for float16 in max on the CPU"),
        ("matmul u8 u8 --policy tensorflow", "for uint8 in matmul on the CPU (tensorflow 2.21.0"),
    ],
)
def test_explain_tells_a_lack_beside_the_dtype(
    asked: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "--json", *asked.split()]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert not answer["refused"]
    assert said in answer["kernel"]
    assert answer["kernel"].endswith("a GPU may have one") is ("f16" in asked)


@pytest.mark.parametrize(
    ("name", "dtype", "policy", "said"),
    [
        ("normal_", "i32", "paddle@3.3", "refused: Paddle 3.3 has no kernel for int32 in normal_"),
        ("uniform_", "bf16", "paddle@3.3", "(paddlepaddle 3.3.1, CPU, dynamic graph); a GPU may"),
        ("bernoulli_", "u16", "torch", "refused: PyTorch 2.13 has no kernel for uint16"),
        ("flip", "u8", "torch", "result: uint8"),
        ("einsum", "i32", "paddle@3.3", "no kernel for int32 in einsum"),
        ("zeros", "u16", "paddle@3.3", "no kernel for uint16 in zeros on the CPU"),
        ("flip", "u8", "aclnn", "its framework was not asked"),
    ],
)
def test_explain_answers_for_functions_that_no_rule_is_about(
    name: str, dtype: str, policy: str, said: str
) -> None:
    told = pa.explain(name, BY_CODE[dtype], policy=policy)
    assert said in told.steps[-1]
    assert told.refused is not ("result" in said or "not asked" in said)


def test_other_policies_are_named_where_they_compute_it() -> None:
    with pa.policy("torch", kernels=True), pytest.raises(pa.PromotionError) as caught:
        pa.asarray([1], dtype=pa.uint16) + 1
    elsewhere = str(caught.value).partition("Elsewhere: ")[2]
    assert "numpy" in elsewhere
    assert "torch" not in elsewhere
    assert "paddle" not in elsewhere


def test_shadow_compares_with_a_policy_of_kernels() -> None:
    with pa.policy("numpy"), pa.shadow("torch", "torch+kernels") as report:
        pa.asarray([1, 2], dtype=pa.uint16) + 1
        pa.asarray([1, 2], dtype=pa.uint8) + 1
    (found,) = report.divergences
    for name in ("torch@2.13", "torch@2.13+kernels"):  # both are asked as the framework is
        assert "no kernel for uint16" in found.answers[name].reason
