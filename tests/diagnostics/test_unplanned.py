"""What a shadow run says of functions that no policy plans, and of operands of other libraries."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from command import Command

import promoarray as pa
from promoarray.diagnostics.findings.verdict import open_in_words, verdicts


class Level(IntEnum):
    ONE = 1


def _x() -> Any:
    return pa.asarray(np.array([1, 2, 3, 4], np.float32))


def _put(x: Any, key: Any, value: Any) -> None:
    x[key] = value


REFUSED = {
    "clip": (lambda: pa.clip(_x()), {"torch@2.13", "numpy@1"}),
    "meshgrid": (
        lambda: pa.meshgrid(_x(), pa.asarray([1], dtype=pa.int32)),
        {"torch@2.13", "paddle@3.3", "tensorflow"},
    ),
    "take": (
        lambda: pa.take(_x(), pa.asarray([0], dtype=pa.int8)),
        {"torch@2.13", "paddle@3.3", "tensorflow"},
    ),
    "getitem": (lambda: _x()[pa.asarray([0], dtype=pa.int8)], {"torch@2.13", "paddle@3.3"}),
    "setitem": (
        lambda: _put(_x(), _x() > 2, pa.asarray([1, 2], dtype=pa.int8)),
        {"torch@2.13"},
    ),
    "flip": (lambda: pa.flip(np.ones(2, np.uint16)), {"torch@2.13", "paddle@3.3"}),
    "reshape": (lambda: pa.reshape(np.ones(2, np.uint16), (2, 1)), {"paddle@3.3"}),
    "eye": (lambda: pa.eye(3, dtype=pa.uint16), {"torch@2.13", "paddle@3.3"}),
}
"""From an operation to a call of it, and who refuses that."""


@pytest.mark.parametrize("name", REFUSED)
def test_who_refuses_what_no_policy_plans(name: str) -> None:
    call, who = REFUSED[name]
    with pa.shadow("numpy@1", "torch", "paddle@3.3", "tensorflow", "jax") as report:
        call()
    refused = {
        policy
        for place in report.divergences
        for policy, answer in place.answers.items()
        if answer.dtype is None and place.name == name
    }
    assert refused == who


def test_it_is_told_of_calls_that_were_made_before() -> None:
    x, index = _x(), pa.asarray([0, 1], dtype=pa.int8)
    for _ in range(2):
        x[index]
        pa.take(x, index)
    with pa.shadow("torch") as report:
        x[index]
        pa.take(x, index)
    assert [place.name for place in report.divergences] == ["getitem", "take"]


def test_an_index_that_is_a_mask_elsewhere_is_named() -> None:
    x, index = _x(), pa.asarray([0, 1, 1, 0], dtype=pa.uint8)
    with pa.shadow("torch", "jax") as report:
        x[index]
        x + x
    states = {verdict.policy: verdict for verdict in verdicts(report)}
    assert states["jax@x64"].state == "agrees"
    assert states["torch@2.13"].state == "incomplete"
    assert "index arrays of uint8 for a mask" in open_in_words(states["torch@2.13"].open)
    with pa.policy("torch"), pa.shadow("numpy") as report:
        x[index]
    (verdict,) = verdicts(report)
    assert "index arrays of uint8 for positions" in open_in_words(verdict.open)


def test_a_rule_is_named_before_a_kernel() -> None:
    x, index = pa.asarray([1], dtype=pa.uint16), pa.asarray([0], dtype=pa.int8)
    with pa.policy("torch", kernels=True):
        with pytest.raises(pa.PromotionError, match="index arrays must be int32 or int64"):
            pa.take(x, index)
        with pytest.raises(pa.PromotionError, match="no kernel for uint16 in take"):
            pa.take(x, pa.astype(index, pa.int64))
        with pytest.raises(pa.PromotionError, match="needs a lower bound"):
            pa.clip(x)


def test_no_moves_are_left_open_for_a_policy_with_kernels() -> None:
    with pa.shadow("torch+kernels") as report:
        pa.reshape(_x(), (2, 2)) + 1
    (verdict,) = verdicts(report)
    assert verdict.state == "agrees"


# -- operands of other libraries ------------------------------------------------------------------

BESIDE = {
    "a float64 scalar": (lambda k: k * np.float64(0.5), "float64 float32 float32 int8"),
    "an int64 scalar": (lambda k: k + np.int64(3), "int64 int8 int8 int8"),
    "on the left": (lambda k: np.float64(0.5) * k, "float64 float32 float32 int8"),
    "an array": (lambda k: k + np.ones(2), "float64 float64 - int8"),
    "over a tensor": (lambda k: np.ones(2) / k, "float64 float64 - float32"),
    "an array, compared": (lambda k: k < np.ones(2), "bool - - bool"),
    "a member of an IntEnum": (lambda k: k + Level.ONE, "int64 int8 int8 int8"),
    "a function": (lambda k: pa.add(k, np.float64(1)), "float64 float32 float32 int8"),
}
"""What an int8 array and another operand give under numpy, torch, paddle@3.3 and tensorflow, as
each of them computes it; ``-`` where it refuses."""

POLICIES = ("numpy", "torch", "paddle@3.3", "tensorflow")


def _direct(policy: str, call: Any, array: Any) -> str:
    with pa.policy(policy):
        try:
            return str(call(pa.asarray(array)).dtype)
        except pa.PromotionError:
            return "-"


@pytest.mark.parametrize("name", BESIDE)
def test_each_policy_is_shown_an_operand_as_the_program_gave_it(name: str) -> None:
    call, expected = BESIDE[name]
    array = np.array([1, 2], np.int8)
    direct = {policy: _direct(policy, call, array) for policy in POLICIES}
    assert direct == dict(zip(POLICIES, expected.split(), strict=True))
    for run in POLICIES:
        if direct[run] == "-":
            continue
        with pa.policy(run), pa.shadow(*POLICIES) as report:
            call(pa.asarray(array))
        told = dict.fromkeys(direct, direct[run])
        for place in report.divergences:
            answers = {who.partition("@2")[0]: each.dtype for who, each in place.answers.items()}
            told = {p: answers[p].name if answers[p] else "-" for p in POLICIES}
        assert told == direct, run


def test_an_operand_that_is_another_number_elsewhere_is_named() -> None:
    x = pa.asarray([1, 0], dtype=pa.uint8)
    for value, state in ((np.float32(1), "agrees"), (np.float32(0.5), "incomplete")):
        with pa.shadow("tensorflow") as report:
            x == value  # noqa: B015 - of interest is what is told of it
        (verdict,) = verdicts(report)
        assert verdict.state == state
    assert "takes NumPy's float32 for another number" in open_in_words(verdict.open)


def test_an_int_that_wraps_before_it_is_compared_is_told() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    with pa.policy("numpy@1"), pa.shadow("torch", "numpy@2") as report:
        x <= -1  # noqa: B015
    (change,) = report.value_changes
    (difference,) = change.differences.values()
    assert difference.policies == ("torch@2.13",)
    assert difference.example.other == "255"


def test_a_value_that_is_assigned_is_shown_so_too() -> None:
    with pa.shadow("torch", "jax") as report:
        _put(_x(), 0, np.float32(3))
        _put(_x(), 0, np.float64(3))
    (place,) = report.divergences
    assert place.answers["torch@2.13"].reason == "PyTorch takes no NumPy scalar of float32 there"
    assert place.answers["jax@x64"].dtype is pa.float32


def test_so_is_an_index() -> None:
    x = _x()
    with pa.shadow("torch", "paddle@3.3", "tensorflow") as report:
        x[np.int8(1)]
        x[np.array([0, 1], np.int16)]
    refused = [
        {policy for policy, answer in place.answers.items() if answer.dtype is None}
        for place in report.divergences
    ]
    assert refused == [{"paddle@3.3"}, {"paddle@3.3", "tensorflow"}]


def test_no_edit_is_written_around_an_operand_that_enters_otherwise() -> None:
    k = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        k * np.float64(0.5)
    (place,) = report.divergences
    assert place.answers["torch@2.13"].origin == "root"
    assert place.answers["torch@2.13"].fix is None


def test_data_that_the_run_itself_narrows_are_a_root_of_the_others() -> None:
    with pa.policy("jax@x32"), pa.shadow("numpy") as report:
        pa.asarray(np.ones(3, np.int64))
    (place,) = report.divergences
    assert place.answers["numpy@2"].dtype is pa.int64
    assert place.answers["numpy@2"].origin == "root"


def test_a_saved_run_leaves_it_open_for_every_policy(command: Command) -> None:
    command.write(
        "import numpy as np, promoarray as pa\n"
        "x = pa.asarray([1.0, 2.0], dtype=pa.float32)\n"
        "y = pa.take(x, pa.asarray([0], dtype=pa.int8))\n"
        "z = pa.asarray([1], dtype=pa.int8) * np.float64(2)\n"
    )
    command("compare program.py --save run.zip --policies jax --json")
    data = command("compare run.zip --policies torch,numpy@1 --json").data
    named = {each["policy"]: each["not_examined"] for each in data["verdicts"]}
    assert [each["what"] for each in named["torch@2.13"]] == ["take", "multiply"]
    assert not named["numpy@1"]


# -- Python numbers, counts, several results -------------------------------------------------------


def _answers(report: pa.Report) -> list[dict[str, str]]:
    return [
        {policy: str(answer) for policy, answer in place.answers.items()}
        for place in report.divergences
    ]


def test_python_numbers_are_made_again_under_each_policy() -> None:
    with pa.shadow("torch", "tensorflow", "paddle@3.3") as report:
        pa.full(2, 0)
        pa.linspace(0, 5, 4, dtype=pa.int32)
        pa.arange(0, 3, dtype=pa.int32)
    assert _answers(report) == [
        {
            "numpy@2": "int64",
            "torch@2.13": "int64",
            "tensorflow": "int32",
            "paddle@3.3": "float32",
        },
        {
            "numpy@2": "int32",
            "torch@2.13": "int32",
            "tensorflow": "refuses",
            "paddle@3.3": "int32",
        },
    ]


def test_numbers_that_differ_in_the_last_bit_are_told() -> None:
    with pa.shadow("torch", "numpy@1") as report:
        pa.linspace(0, 1, 7, dtype=pa.float32)
    (change,) = report.value_changes
    (policies,) = change.differences
    assert policies == ("torch@2.13",)
    assert change.place.operation == "linspace"


def test_what_is_counted_has_a_dtype_of_each_policy() -> None:
    x = pa.asarray([0, 1, 1], dtype=pa.uint8)
    with pa.shadow("jax@x32", "torch") as report:
        pa.nonzero(x)
    (answers,) = _answers(report)
    assert answers == {"numpy@2": "int64", "jax@x32": "int32", "torch@2.13": "int64"}


def test_a_policy_that_differs_in_a_later_result_does_not_agree() -> None:
    x = pa.asarray(np.array([1, 2, 1], np.int64))
    with pa.shadow("jax@x32", "tensorflow") as report:
        pa.unique_inverse(x)
    named = [
        {policy: str(answer) for policy, answer in place.answers.items()}
        for place in report.divergences
        if place.name == "unique_inverse"
    ]
    assert [each["tensorflow"] for each in named] == ["int64", "int32"]


def test_steps_that_hang_on_the_policy_are_named() -> None:
    x = pa.asarray([[1, 2], [3, 4]], dtype=pa.int8)
    with pa.shadow("torch", "numpy@1") as report:
        pa.extras.einsum("ij->i", x)
    states = {verdict.policy: verdict for verdict in verdicts(report)}
    assert states["numpy@1"].state == "agrees"
    assert "in other steps" in open_in_words(states["torch@2.13"].open)


def test_numbers_of_a_saved_run_are_left_open_where_they_are_others(command: Command) -> None:
    command.write(
        "import promoarray as pa\n"
        "x = pa.linspace(0, 1, 7, dtype=pa.float32)\n"
        "y = x + pa.asarray([1, 2, 3, 4, 5, 6, 7], dtype=pa.float32)\n"
    )
    command("compare program.py --save run.zip --policies numpy@1 --json")
    data = command("compare run.zip --policies torch,numpy@1 --json").data
    states = {each["policy"]: each["verdict"] for each in data["verdicts"]}
    assert states == {"torch@2.13": "incomplete", "numpy@1": "agrees"}


def test_an_int_that_enters_as_another_kind_is_the_same_number() -> None:
    x = pa.asarray([1, 2], dtype=pa.int32)
    with pa.shadow("tensorflow", "torch") as report:
        x / 16
        x == 16  # noqa: B015
    assert not report.value_changes
