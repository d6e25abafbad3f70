"""An operation that a recorded framework itself refuses: who else does, and the edit."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command

pytestmark = pytest.mark.slow  # each is a process of its own, which imports the framework

PROGRAMS = {
    "a mean of bools": (
        "torch",
        "import torch\nx = torch.tensor([1, 0]) == torch.tensor([1, 1])\ny = x.mean()\n",
        "x.to(torch.float32).mean()",
        ["jax@x64", "paddle@3.3"],
    ),
    "a product of dtypes, the second time": (
        "torch",
        "import torch\nx = torch.ones(2, 2)\nfor t in (torch.float32, torch.int64):\n"
        "    y = torch.matmul(x.to(t), x)\n",
        "torch.matmul(x.to(t).to(torch.float32), x)",
        ["jax@x64", "paddle@3.3"],
    ),
    "ints and floats": (
        "paddle",
        "import paddle\nx = paddle.to_tensor([1, 2])\ny = x * paddle.to_tensor([0.5, 0.25])\n",
        "x.astype(paddle.float32) * paddle.to_tensor([0.5, 0.25])",
        ["jax@x64"],
    ),
    "no edit of shapes": ("torch", "import torch\ntorch.ones(2) + torch.ones(3)\n", None, []),
    "an operation in place": (
        "torch",
        "import torch\nx = torch.ones(2, dtype=torch.int64)\nx += torch.ones(2)\n",
        None,
        ["jax@x64"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_framework_refuses_has_the_edit(
    name: str, tmp_path: Path, command: Command
) -> None:
    framework, source, edit, others = PROGRAMS[name]
    pytest.importorskip(framework)
    program = tmp_path / "program.py"
    program.write_text(source)
    stopped = command("compare", str(program), "--policies", "jax,paddle@3.3", "--json").data[
        "stopped"
    ]
    assert (stopped["edit"], stopped["remedy"]) == (edit, None)
    assert set(others) <= {*stopped["goes_on"], *stopped["refuses"]}
    if edit is None:
        return
    last = source.splitlines()[-1]
    edited = last.replace(last.partition(" = ")[2], edit)
    exec(source.replace(last, edited), {})  # which the framework itself runs


def test_an_error_that_the_program_catches_is_not_what_stopped_it(
    tmp_path: Path, command: Command
) -> None:
    pytest.importorskip("torch")
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\nx = torch.tensor([True])\ntry:\n    x.mean()\n"
        "except RuntimeError:\n    pass\nraise RuntimeError('another')\n"
    )
    stopped = command("compare", str(program), "--policies", "jax", "--json").data["stopped"]
    assert (stopped["line"], stopped["refused"]) == (7, None)
