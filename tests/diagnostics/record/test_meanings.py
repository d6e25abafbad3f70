"""What calls of frameworks stand for, and what a step of several names."""

from __future__ import annotations

import pytest

import promoarray as pa
from promoarray.diagnostics.calls.examined import keywords_lacking
from promoarray.diagnostics.findings.results import spelled
from promoarray.diagnostics.render.json import place_data as as_data
from promoarray.policies import as_policy


def test_a_step_names_the_function_that_it_is_in() -> None:
    paddle = pytest.importorskip("paddle")
    with pa.record("paddle", "numpy@2") as report:
        x = paddle.to_tensor([1, 2])
        paddle.i1(x)
        paddle.exp(x)
    places = {spelled(each): as_data(each)["part_of"] for each in report.divergences}
    assert places == {"exp(int64), in i1": "i1", "exp(int64)": None}


def test_angles_of_integers_are_floats_everywhere() -> None:
    paddle = pytest.importorskip("paddle")
    with pa.record("paddle", "torch") as report:
        made = paddle.deg2rad(paddle.to_tensor([1, 2])).dtype
    assert made == paddle.float32
    assert not report.divergences


@pytest.mark.parametrize("framework", ["torch", "paddle", "jax"])
def test_the_angle_of_a_complex_array_is_a_float(framework: str) -> None:
    xp = pytest.importorskip("jax.numpy" if framework == "jax" else framework)
    policies = "torch", "paddle@3.3", "jax@x32"
    with pa.record(framework, *policies) as report:
        z = (xp.asarray if framework == "jax" else xp.as_tensor)([1 + 2j], dtype=xp.complex64)
        made = xp.angle(z).dtype
    assert made == xp.float32
    assert report.calls["approximate", "angle"] == 1
    assert not report.divergences


def test_addmm_of_paddle_takes_its_operands_by_name() -> None:
    paddle = pytest.importorskip("paddle")
    ones = paddle.ones((2, 2))
    with pa.record("paddle", "torch") as report:
        paddle.addmm(input=ones, x=ones, y=ones)
    assert report.understood == 1


def test_dot_takes_integers_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1, 2])
    with pa.record("torch", "numpy@2") as report:
        made = torch.dot(x, x), torch.vdot(x, x)
    assert [each.dtype for each in made] == [torch.int64, torch.int64]
    assert not report.drift


def test_a_policy_may_have_fewer_results_of_a_function() -> None:
    torch = pytest.importorskip("torch")
    with pa.record("torch", "numpy@2", "jax@x32") as report:
        x = torch.ones(3, dtype=torch.float32)
        values, indices = torch.topk(x, 2)
        values, indices = values + 1, indices + 1
        torch.cummax(x, 0)
    (taken, added) = report.divergences
    assert spelled(taken).startswith("topk(")
    assert str(added.answers["jax@x32"]) == "int32"  # of indices, int64 in PyTorch
    assert str(added.answers["numpy@2"]) == "int64"  # which has no such function
    assert "topk at test_meanings.py" in str(report).partition("Not examined:")[2]


@pytest.mark.filterwarnings("ignore:.*set_default_tensor_type")  # which PyTorch advises against
def test_a_default_type_that_is_set_is_named_by_the_program() -> None:
    torch = pytest.importorskip("torch")
    try:
        with pa.record("torch", "numpy@2") as report:
            torch.set_default_tensor_type(torch.DoubleTensor)
            torch.nn.Linear(2, 2)
    finally:
        torch.set_default_dtype(torch.float32)
    assert not report.divergences


KEYWORDS = [  # a function, keywords of a call, the policy asked, what its function lacks
    ("softmax", "dim dtype", "jax@x32", "dtype"),
    ("sum", "dim keepdim dtype", "jax@x32", ""),
    ("sum", "dim keepdim dtype", "paddle@3.3", ""),
    ("sum", "dim keepdim dtype", "numpy@2", ""),
    ("std", "dim unbiased", "numpy@2", "unbiased"),
    ("std", "dim unbiased", "paddle@3.3", ""),
    ("div", "rounding_mode", "jax@x64", "rounding_mode"),
    ("smooth_l1_loss", "beta", "paddle@3.3", "beta"),
    ("zeros", "device requires_grad", "numpy@2", ""),
    ("nobody_has_it", "dim", "jax@x32", ""),
    ("sum", "dim", "aclnn@8.5", ""),
]


@pytest.mark.parametrize(("name", "given", "policy", "lacking"), KEYWORDS)
def test_keywords_that_another_framework_lacks(
    name: str, given: str, policy: str, lacking: str
) -> None:
    asked = as_policy("torch"), as_policy(policy), given.split()
    assert keywords_lacking(name, *asked) == tuple(lacking.split())


def test_defaults_that_a_function_hands_on_are_no_keywords_of_the_program() -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    with pa.record("torch", "jax@x32") as report:
        x = torch.ones(2)
        functional.softmax(x, dim=0)
        functional.softmax(x, dim=0, dtype=torch.float32)
    found = [each for each in report.unanswered if each.what == "softmax"]
    assert [each.why for each in found] == ["the function there takes no dtype="]


def test_the_numbers_that_memory_holds_and_a_loader_draws_are_not_compared() -> None:
    torch = pytest.importorskip("torch")
    with pa.record("torch", "jax@x32") as report:
        for _ in torch.utils.data.DataLoader(torch.ones(4), shuffle=True):
            pass
        assert not report.divergences
        torch.empty(1, dtype=torch.int64)
    assert len(report.divergences) == 1
    assert not report.value_changes


def test_what_jax_calls_itself_is_told_where_the_program_calls_jax() -> None:
    jax = pytest.importorskip("jax")
    with pa.record("jax", "numpy@2") as report:
        jax.vmap(jax.numpy.exp)(jax.numpy.arange(3))
    (place,) = (each for each in report.divergences if each.name == "exp")
    assert place.site.file == place.program.file == __file__
