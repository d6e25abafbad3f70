"""``promoarray align``: clean translations, and translations with one fault each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"


def align(folder: Path, *words: str) -> Any:
    """What the command says, as JSON."""
    command = [sys.executable, "-m", "promoarray", "align", *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


TURNED = 'return x @ (p["kernel"].T if x.shape[-1] == p["kernel"].shape[1] else p["kernel"]) +'
FAULTS = {
    # what is written otherwise, the words of the cause, and what the line has if not the change
    "block_jax": {
        "eps": ("var + 1e-5", "var + 1e-6", "another number: the first adds 1e-05"),
        "a scale": (" * (W // H) ** -0.5", "", "a step less"),
        "an activation": ("approximate=False", "approximate=True", "another option of gelu"),
        "a mask": ("-jnp.inf", "-1.0", "another number: -inf in the first, -1"),
        "an axis": ("scores, axis=-1", "scores, axis=-2", "another axis"),
        "a bias correction": ("(m / (1 - b1**n))", "m", ""),
        "a cast": ('apply(p["out"], y)', 'apply(p["out"], y).astype(jnp.float16)', "a cast"),
        "a transposed weight": ('return x @ p["kernel"] +', TURNED, "transposed"),
        "integer division": (
            "x.mean(-1, keepdims=True)",
            "x.sum(-1, keepdims=True) // W",
            "integer division",
        ),
    },
    "block_paddle": {
        "eps": (
            "nn.LayerNorm(W), nn.LayerNorm(W)",
            "nn.LayerNorm(W, 1e-6), nn.LayerNorm(W)",
            "1e-06",
            "h = self.norm1(x)",
        ),
        "a scale": (" / (W // H) ** 0.5", "", "a step less"),
        "an activation": ("self.up(h))", "self.up(h), approximate=True)", "another option of gelu"),
        "a cast": ("self.out(y)", 'self.out(y).astype("float16")', "a cast"),
        "a transposed weight": (
            "self.out(y)",
            "(y @ self.out.weight.T + self.out.bias)",
            "transposed",
        ),
        "integer division": (" / (W // H)", " // (W // H)", "integer division"),
        "a mask": ('float("-inf")', "-1.0", "another number: -inf in the first, -1"),
        "an axis": ("axis=-1", "axis=-2", "another axis"),
        "promotion": (
            "x = x + self.out(y)",
            'x = (x + self.out(y) * paddle.ones([W], "float64")).astype("float32")',
            "gives float64; the first program has float32",
        ),
    },
    "gpt_jax": {
        "a mask of zeros": ("-jnp.inf, att", "0.0, att", "masked in scaled_dot_product_attention"),
        "a mask that is multiplied": (
            "jnp.where(mask == 0, -jnp.inf, att)",
            "att * mask",
            "masked in scaled_dot_product_attention",
        ),
    },
    "cnn_jax": {
        "eps": ("var + 1e-5", "var + 1e-3", "another number: the first adds 1e-05"),
        "an activation": ("jax.nn.silu(z)", "jax.nn.relu(z)", "another function"),
        "an axis": ("log_softmax(logits)", "log_softmax(logits, axis=0)", ""),
        "a momentum": ("0.9 * m + g", "0.8 * m + g", "another number: 0.9 in the first, 0.8"),
        "a cast": (
            'conv(p["conv1"], x)',
            'conv(p["conv1"], x).astype(jnp.bfloat16)',
            "a cast",
        ),
        "a scale": ("y.mean((1, 2)) @", "(0.9 * y.mean((1, 2))) @", ""),
        "a learning rate": ("p - 0.1 * m", "p - 0.01 * m", ""),
        "a transposed weight": (
            'x, p["w"],',
            'x, p["w"].transpose(1, 0, 2, 3),',
            "conv_general_dilated",
            "jax.lax.conv",
        ),
        "integer division": ("x.mean((0, 1, 2))", "x.sum((0, 1, 2)) // 64", "has no sum there"),
    },
    "cnn_paddle": {
        "eps": (
            "nn.BatchNorm2D(8), nn.BatchNorm2D(8)",
            "nn.BatchNorm2D(8, epsilon=1e-3), nn.BatchNorm2D(8)",
            "another number: the first adds 1e-05",
            "F.relu(self.bn1",
        ),
        "a scale": ("x.mean((2, 3)))", "x.mean((2, 3)) * 0.9)", "a step more: the second has"),
        "an activation": ("F.silu", "F.relu", "another function: the sigmoid in silu"),
        "an axis": (
            "F.cross_entropy(net(x), label)",
            "F.nll_loss(F.log_softmax(net(x), 0), label)",
            "another axis",
        ),
        "a learning rate": (
            "Momentum(0.1",
            "Momentum(0.01",
            "what is added there is 10 times as much in the first",
            "step.step()",
        ),
        "a momentum": (
            "Momentum(0.1, 0.9",
            "Momentum(0.1, 0.8",
            "0.9 in the first, 0.8",
            "step.step()",
        ),
        "a cast": (
            "self.bn1(self.conv1(x))",
            'self.bn1(self.conv1(x)).astype("bfloat16").astype("float32")',
            "a cast",
        ),
        "a transposed weight": (
            "self.conv1(x)",
            "F.conv2d(x, self.conv1.weight.transpose([0, 1, 3, 2]), self.conv1.bias, padding=1)",
            "",
        ),
        "integer division": ("x.mean((2, 3))", "x.sum((2, 3)) // 16", "integer division"),
    },
}
# Pairs without PyTorch, and faults in PyTorch's program, which is the first or the second.
FAULTS_OF_TORCH = {
    "block_torch": {
        "a scale": (" / (W // H) ** 0.5", "", "a step"),
        "a mask": ('float("-inf")', "-1.0", "another number: -"),
        "a cast": ("self.out(y)", "self.out(y).half()", "cast"),
    },
    "cnn_torch": {
        "a cast and back": (
            "self.bn1(self.conv1(x))",
            "self.bn1(self.conv1(x)).bfloat16().float()",
            "",
        )
    },
}
OTHER_PAIRS = [
    ("block_jax", "block_paddle", "a mask"),
    ("cnn_jax", "cnn_paddle", "eps"),
    ("cnn_jax", "cnn_paddle", "a learning rate"),
    ("block_jax", "block_torch", "a scale"),
    ("block_torch", "block_jax", "a mask"),
    ("block_torch", "block_jax", "a cast"),
    ("cnn_torch", "cnn_jax", "a cast and back"),
]
REAL = "divides the variance by"
"""What the Paddle CNN does otherwise by itself: its batch norms, at two lines."""


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The run of a program of PyTorch, which is saved once."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("align")

    @cache
    def run(name: str) -> Path:
        path = folder / f"{name}.zip"
        command = [sys.executable, "-m", "promoarray", "align", str(PROGRAMS / f"{name}_torch.py")]
        subprocess.run([*command, "--save", str(path)], check=True, capture_output=True)
        return path

    return run


CASES = [(program, fault) for program, every in FAULTS.items() for fault in every]


@pytest.mark.parametrize(("program", "fault"), CASES)
def test_a_fault_is_found_at_its_line(program: str, fault: str, saved: Any, tmp_path: Path) -> None:
    pair, framework = program.split("_")
    if find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    text = (PROGRAMS / f"{program}.py").read_text()
    old, new, cause, *at = FAULTS[program][fault]
    assert old in text
    before, *_ = text.partition(at[0] if at else old)
    (tmp_path / "fault.py").write_text(text.replace(old, new, 1))
    first = PROGRAMS / f"{pair}_torch.py" if program in AGAIN else saved(pair)
    most = f"--differences={3 if program == 'cnn_paddle' else 1}"
    data = align(tmp_path, str(first), "fault.py", "--json", most, "--no-edit")
    difference = next(x for x in data["differences"] if REAL not in x["cause"])
    assert difference["second"]["line"] == before.count("\n") + 1
    assert cause in difference["cause"]


@pytest.mark.parametrize(("first", "second", "fault"), OTHER_PAIRS)
def test_a_fault_is_found_in_either_program_and_without_pytorch(
    first: str, second: str, fault: str, tmp_path: Path
) -> None:
    for each in (first, second):
        framework = each.split("_")[1]
        if find_spec(framework) is None:
            pytest.skip(f"{framework} is not installed")
        (tmp_path / f"{each}.py").write_text((PROGRAMS / f"{each}.py").read_text())
    faulty = next((each for each in (first, second) if "torch" in each), second)
    text = (PROGRAMS / f"{faulty}.py").read_text()
    old, new, cause, *at = (FAULTS_OF_TORCH | FAULTS)[faulty][fault]
    assert old in text
    (tmp_path / f"{faulty}.py").write_text(text.replace(old, new, 1))
    most = f"--differences={3 if second == 'cnn_paddle' else 1}"
    data = align(tmp_path, f"{first}.py", f"{second}.py", "--json", most, "--no-edit")
    difference = next(x for x in data["differences"] if REAL not in x["cause"])
    side = difference["first" if faulty == first else "second"]
    before, *_ = text.partition(at[0] if at else old)
    assert side["line"] == before.count("\n") + 1
    assert cause in difference["cause"]


AGAIN = ("block_paddle",)  # with which PyTorch's runs again: both begin with biases of zeros


def test_weights_that_are_used_in_another_order_are_paired_by_what_they_are_for(
    saved: Any, tmp_path: Path
) -> None:
    pytest.importorskip("jax")
    text = (PROGRAMS / "block_jax.py").read_text()
    for old, new in (('in "qkv"', 'in "kvq"'), ("q, k, v = (apply", "k, v, q = (apply")):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "other.py").write_text(text)
    data = align(tmp_path, str(saved("block")), "other.py", "--json")
    assert (data["differences"], data["not_paired"]) == ([], [])


@pytest.mark.parametrize(
    ("program", "framework"),
    [("block", "jax"), ("block", "paddle"), ("cnn", "jax"), ("gpt", "jax")],
)
def test_a_clean_translation_departs_nowhere(program: str, framework: str, tmp_path: Path) -> None:
    if find_spec("torch") is None or find_spec(framework) is None:
        pytest.skip(f"torch or {framework} is not installed")
    pair = [f"{program}_{each}.py" for each in ("torch", framework)]
    for name, each in zip(pair, ("torch", framework), strict=True):
        text = (PROGRAMS / name).read_text().replace("\n\n\n", SEEDS.get(each, "") + "\n\n\n", 1)
        (tmp_path / name).write_text(text)
    data = align(tmp_path, *pair, "--json")
    assert data["differences"] == []
    assert data["paired"] > 60


# Of which rounding was taken for a difference at a step of AdamW (docs/evidence.md).
SEEDS = {"torch": "\ntorch.manual_seed(1)", "paddle": "\npaddle.seed(1)"}


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_paddle_keeps_the_biased_variance_and_nothing_else_is_another(
    framework: str, tmp_path: Path
) -> None:
    """Its ``batch_norm`` divides by n where PyTorch's running variance, and JAX's program,
    divide by n - 1."""
    if find_spec(framework) is None or find_spec("paddle") is None:
        pytest.skip(f"{framework} or paddle is not installed")
    pair = (str(PROGRAMS / f"cnn_{each}.py") for each in (framework, "paddle"))
    data = align(tmp_path, *pair, "--json", "--no-edit", "--differences=2")
    assert [each["second"]["line"] for each in data["differences"]] == [23, 25]
    for each, count in zip(data["differences"], (256, 64), strict=True):
        assert f"divides the variance by {count} - 1" in each["cause"]


def test_weights_that_are_drawn_twice_are_those_that_the_run_computes_with(tmp_path: Path) -> None:
    """``trunc_normal_`` asks the first draw, of the layer itself, for its dtype alone."""
    pytest.importorskip("torch")
    head = "import torch\nfrom torch import nn\ntorch.manual_seed({})\n"
    head += "x = torch.arange(8.).view(2, 4)\n"
    twice = "layer = nn.Linear(4, 6)\nnn.init.trunc_normal_(layer.weight, std=0.02)\n"
    for name, seed, made in (("a.py", 0, twice), ("b.py", 1, "layer = nn.Linear(4, 6)\n")):
        text = head.format(seed) + made + "print(torch.tanh(layer(x)).sum().item())\n"
        (tmp_path / name).write_text(text)
    data = align(tmp_path, "a.py", "b.py", "--json", "--no-edit")
    assert (data["differences"], data["not_paired"]) == ([], [])
