"""A PyTorch program compared with PyTorch on Ascend: the lines that differ there, and no others."""

from __future__ import annotations

from typing import Any

import pytest

import promoarray as pa

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")


def told(report: Any) -> dict[str, str]:
    """From the operations that differ to what torch_npu answers."""
    return {d.name: str(d.answers["torch_npu@2.13"].dtype) for d in report.divergences}


def left_open(report: Any) -> dict[str, str]:
    return {each.what: each.why for each in report.unanswered}


def test_casts_to_float64_are_float32_and_what_stays_is_not_told() -> None:
    x = torch.ones(2)
    with pa.record("torch", "torch_npu") as report:
        x.double()
        x.to("cpu", torch.float64)
        x.to(device="cpu", dtype=torch.float64)
        x.type_as(torch.ones(1, dtype=torch.float64))
        torch.ones(2, dtype=torch.float64)
        x.sum(dtype=torch.float64)
    assert told(report) == {"astype": "float32"}
    assert sum(d.count for d in report.divergences) == 1


@pytest.mark.parametrize("write", ["x.double()", "x.to(torch.float64)", "x.type(torch.float64)"])
def test_each_way_to_write_the_cast(write: str) -> None:
    with pa.record("torch", "torch_npu") as report:
        y = eval(write, {"x": torch.ones(2), "torch": torch})
        y + 1
    assert told(report) == {"astype": "float32", "add": "float32"}


def test_what_no_list_has_is_refused_and_views_are_not() -> None:
    z, wide = torch.ones(3, dtype=torch.complex64), torch.ones(2, 2, dtype=torch.float64)
    with pa.record("torch", "torch_npu") as report:
        z[1:], z[0], z[None]
        wide.repeat(2, 1)  # which is no repeat_interleave
        z[torch.tensor([0, 2])]
        z[[True, False, True]] = 1
        z.index_put((torch.tensor([0]),), torch.tensor([1], dtype=torch.complex64))
        wide @ wide
        torch.exp(torch.tensor([1], dtype=torch.int32))
    assert told(report) == dict.fromkeys(("index", "index_put", "matmul", "exp"), "None")


def test_repeat_interleave_takes_no_float64() -> None:
    with pa.record("torch", "torch_npu") as report:
        torch.ones(2, dtype=torch.float64).repeat_interleave(2)
        torch.ones(2).repeat_interleave(2)
    assert told(report) == {"repeat_interleave": "None"}


def test_what_is_doubtful_leaves_the_answer_open() -> None:
    z = torch.ones(3, dtype=torch.complex64)
    with pa.record("torch", "torch_npu", "jax@x64") as report:
        z + z
        torch.gather(z, 0, torch.tensor([1]))
        torch.ones(2) + torch.ones(2)
    assert {*left_open(report)} == {"add", "gather"}
    assert left_open(report)["add"].startswith("doubtful: torch_npu did not verify complex64")
    assert {each.policies for each in report.unanswered} == {("torch_npu@2.13",)}


def test_a_default_dtype_that_the_program_sets() -> None:
    i = torch.tensor([3, 1])
    torch.set_default_dtype(torch.bfloat16)
    try:
        with pa.record("torch", "torch_npu") as report:
            i / 2, i / i, torch.sqrt(i), i * 1.5, i + 1, torch.where(i > 1, i, 0.5)
    finally:
        torch.set_default_dtype(torch.float32)
    assert told(report) == {"divide": "float32", "sqrt": "float32"}
    assert not report.drift


def test_float_power_is_float32() -> None:
    with pa.record("torch", "torch_npu") as report:
        torch.float_power(torch.ones(2), 2)
        torch.float_power(torch.ones(2, dtype=torch.float64), 2)
    assert told(report) == {"float_power": "float32"}
    assert len(report.divergences) == 1


def test_modules_that_are_cast_to_float64_are_float32() -> None:
    with pa.record("torch", "torch_npu") as report:
        net = torch.nn.Linear(2, 2).double()
        net.weight + 1
        torch.nn.Linear(2, 2).to(torch.float64).weight * 1
    assert told(report) == dict.fromkeys(("astype", "add", "multiply"), "float32")


def test_where_pytorch_does_otherwise_than_its_policy_says_so_does_the_device() -> None:
    x = torch.ones(2, 3, dtype=torch.bfloat16)
    with pa.record("torch", "torch_npu", "torch@2.11") as report:
        torch.nn.functional.layer_norm(x, (3,), torch.ones(3), torch.ones(3))  # bfloat16
    assert report.operations
    assert not report.divergences
