"""What leaves a recorded program, or runs unrecorded, is named, so that no verdict is "agrees"."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from promoarray.__main__ import main

TORCH, JAX, PADDLE = "torch", "jax", "paddle"
LEAVES = "its values leave for other code"
SCRIPT = "it runs what was compiled"
PROGRAMS = {
    "values to NumPy": (
        TORCH,
        "import torch, numpy as np\n"
        "x = torch.tensor([1, 2], dtype=torch.int32)\n"
        "y = x.numpy() * np.float32(2.5)\n",
        {"numpy of an array": LEAVES},
    ),
    "a refusal that the program catches": (
        TORCH,
        "import torch\n"
        "x = torch.ones(2)\n"
        "try:\n"
        "    torch.dot(x, torch.ones(2, dtype=torch.float64))\n"
        "except RuntimeError:\n"
        "    y = x + 1\n",
        {"matmul": "the run refuses it, and goes on"},
    ),
    "autocast": (
        TORCH,
        "import torch\n"
        "x = torch.ones(2, 2)\n"
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n"
        "    y = x @ x\n",
        {"matmul": "autocast casts its operands"},
    ),
    "TorchScript": (
        TORCH,
        "import torch\n"
        "def double(a):\n"
        "    return a * 2\n"
        "@torch.jit.script\n"
        "def f(a):\n"
        "    return double(a)\n"
        "traced = torch.jit.trace(double, torch.ones(2))\n"
        "y = f(torch.ones(2)) + traced(torch.ones(2))\n",
        {"double in TorchScript": SCRIPT},
    ),
    "an array read by NumPy": (
        JAX,
        "import jax.numpy as jnp, numpy as np\n"
        "y = np.asarray(jnp.asarray([1, 2])) * np.float32(2.5)\n",
        {"numpy.asarray of an array": LEAVES},
    ),
}
PRINTED = {
    TORCH: "import torch\nx = torch.ones(2) * 2\nprint(x, repr(x), f'{x}')\n",
    JAX: "import jax.numpy as jnp\nx = jnp.ones(2, jnp.float32)\nprint(x, f'{x * x}')\n",
    PADDLE: "import paddle\nx = paddle.ones([2])\nprint(x, repr(x + x))\n",
}
OTHER = {TORCH: "paddle@3.3", JAX: "numpy@2", PADDLE: "torch"}


def _verdict(framework: str, folder: Path, text: str) -> dict[str, Any]:
    if not importlib.util.find_spec(framework):
        pytest.skip(f"needs {framework}")
    program, out = folder / "program.py", folder / "out.json"
    program.write_text(text)
    arguments = ["--policies", OTHER[framework], "--fail-on", "incomplete"]
    arguments += ["--framework", framework]  # alone, whatever else is imported
    main(["compare", str(program), *arguments, "--json", "--output", str(out)])
    (verdict,) = json.loads(out.read_text())["verdicts"]
    return dict(verdict)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_not_recorded_is_named(tmp_path: Path, name: str) -> None:
    framework, text, expected = PROGRAMS[name]
    verdict = _verdict(framework, tmp_path, text)
    named = {each["what"]: each["why"] for each in verdict["not_examined"]}
    assert verdict["verdict"] != "agrees"
    for what, why in expected.items():
        assert why in named[what], named


@pytest.mark.parametrize("framework", PRINTED)
def test_printing_an_array_leaves_nothing_open(tmp_path: Path, framework: str) -> None:
    assert _verdict(framework, tmp_path, PRINTED[framework])["verdict"] == "agrees"


def test_classes_that_make_tensors_leave_nothing_open(tmp_path: Path) -> None:
    made = "torch.Tensor([1]) + torch.FloatTensor(1) + torch.Tensor(torch.ones(1))"
    program = f"import torch\nx = {made}\ny = torch.LongTensor([1])\n"
    assert _verdict(TORCH, tmp_path, program)["verdict"] == "agrees"
