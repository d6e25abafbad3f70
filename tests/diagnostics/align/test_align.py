"""``promoarray align``: clean translations, and translations with one fault each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from command import Command

from promoarray.cli import main

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def align(command: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What the command says, as JSON."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return lambda *words: command("align --json", *map(str, words)).data


TURNED = 'return x @ (p["kernel"].T if x.shape[-1] == p["kernel"].shape[1] else p["kernel"]) +'
FAULTS = {
    # what is written otherwise in the second program, or in the first if only that has it; the
    # words of the cause, and what the line has if not the change
    "block torch jax": {
        "a scale": (" * (W // H) ** -0.5", "", "a step less"),
        "an activation": ("approximate=False", "approximate=True", "another option of gelu"),
        "a mask": ("-jnp.inf", "-1.0", "another number: -inf in the first, -1"),
        "an axis": ("scores, axis=-1", "scores, axis=-2", "another axis"),
        "a bias correction": ("(m / (1 - b1**n))", "m", ""),
        "a transposed weight": ('return x @ p["kernel"] +', TURNED, "transposed"),
        "integer division": (
            "x.mean(-1, keepdims=True)",
            "x.sum(-1, keepdims=True) // W",
            "integer division",
        ),
        "a cast": ("self.out(y)", "self.out(y).half()", "cast"),
        "a mask in the first": ('float("-inf")', "-1.0", "another number: -"),
    },
    "block torch paddle": {
        "a transposed weight": (
            "self.out(y)",
            "(y @ self.out.weight.T + self.out.bias)",
            "transposed",
        ),
        "integer division": (" / (W // H)", " // (W // H)", "integer division"),
        "promotion": (
            "x = x + self.out(y)",
            'x = (x + self.out(y) * paddle.ones([W], "float64")).astype("float32")',
            "gives float64; the first program has float32",
        ),
    },
    "gpt torch jax": {
        "a mask of zeros": ("-jnp.inf, att", "0.0, att", "masked in scaled_dot_product_attention"),
        "a mask that is multiplied": (
            "jnp.where(mask == 0, -jnp.inf, att)",
            "att * mask",
            "masked in scaled_dot_product_attention",
        ),
    },
    "cnn torch jax": {
        "eps": ("var + 1e-5", "var + 1e-3", "another number: the first adds 1e-05"),
        "a momentum": ("0.9 * m + g", "0.8 * m + g", "another number: 0.9 in the first, 0.8"),
        "a cast": (
            'conv(p["conv1"], x)',
            'conv(p["conv1"], x).astype(jnp.bfloat16)',
            "a cast",
        ),
        "a transposed weight": (
            'x, p["w"],',
            'x, p["w"].transpose(1, 0, 2, 3),',
            "conv_general_dilated",
            "jax.lax.conv",
        ),
        "integer division": ("x.mean((0, 1, 2))", "x.sum((0, 1, 2)) // 64", "has no sum there"),
        "a cast and back": (
            "self.bn1(self.conv1(x))",
            "self.bn1(self.conv1(x)).bfloat16().float()",
            "",
        ),
    },
    "cnn torch paddle": {
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
    "block jax paddle": {
        "a mask": ('float("-inf")', "-1.0", "another number: -inf in the first, -1"),
    },
    "cnn jax paddle": {
        "eps": (
            "nn.BatchNorm2D(8), nn.BatchNorm2D(8)",
            "nn.BatchNorm2D(8, epsilon=1e-3), nn.BatchNorm2D(8)",
            "another number: the first adds 1e-05",
            "F.relu(self.bn1",
        ),
        "a learning rate": (
            "Momentum(0.1",
            "Momentum(0.01",
            "what is added there is 10 times as much in the first",
            "step.step()",
        ),
    },
    "block jax torch": {"a scale": (" / (W // H) ** 0.5", "", "a step")},
}
REAL = "divides the variance by"
"""What the Paddle CNN does otherwise by itself: its batch norms, at two lines."""

AGAIN = "block torch paddle"
"""With which PyTorch's runs again: both begin with biases of zeros."""


def need(*frameworks: str) -> None:
    for each in frameworks:
        if find_spec(each) is None:
            pytest.skip(f"{each} is not installed")


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The run of a program of PyTorch, which is saved once."""
    need("torch")
    folder = tmp_path_factory.mktemp("align")

    @cache
    def run(name: str) -> Path:
        path = folder / f"{name}.zip"
        assert main(["align", str(PROGRAMS / f"{name}_torch.py"), "--save", str(path)]) == 0
        return path

    return run


@pytest.mark.parametrize(
    ("programs", "fault"), [(pair, fault) for pair, every in FAULTS.items() for fault in every]
)
def test_a_fault_is_found_at_its_line(
    programs: str, fault: str, request: pytest.FixtureRequest, align: Any, command: Command
) -> None:
    program, *frameworks = programs.split()
    need(*frameworks)
    old, new, cause, *at = FAULTS[programs][fault]
    first, second = (f"{program}_{each}.py" for each in frameworks)
    texts = {name: (PROGRAMS / name).read_text() for name in (first, second)}
    side, faulty = ("second", second) if old in texts[second] else ("first", first)
    before, found, _ = texts[faulty].partition(at[0] if at else old)
    assert found
    texts[faulty] = texts[faulty].replace(old, new, 1)
    for name, text in texts.items():
        command.write(text, name)
    if frameworks[0] == "torch" and faulty == second and programs != AGAIN:
        first = request.getfixturevalue("saved")(program)
    most = f"--differences={3 if second == 'cnn_paddle.py' else 1}"
    data = align(first, second, most, "--no-edit")
    difference = next(x for x in data["differences"] if REAL not in x["cause"])
    assert difference[side]["line"] == before.count("\n") + 1
    assert cause in difference["cause"]


def test_weights_that_are_used_in_another_order_are_paired_by_what_they_are_for(
    saved: Any, align: Any, command: Command
) -> None:
    need("jax")
    text = (PROGRAMS / "block_jax.py").read_text()
    for old, new in (('in "qkv"', 'in "kvq"'), ("q, k, v = (apply", "k, v, q = (apply")):
        assert old in text
        text = text.replace(old, new)
    data = align(saved("block"), command.write(text))
    assert (data["differences"], data["not_paired"]) == ([], [])


@pytest.mark.parametrize(
    ("program", "framework"),
    [("block", "jax"), ("block", "paddle"), ("cnn", "jax"), ("gpt", "jax")],
)
def test_a_clean_translation_departs_nowhere(
    program: str, framework: str, align: Any, command: Command
) -> None:
    need("torch", framework)
    pair = [f"{program}_{each}.py" for each in ("torch", framework)]
    for name, each in zip(pair, ("torch", framework), strict=True):
        text = (PROGRAMS / name).read_text().replace("\n\n\n", SEEDS.get(each, "") + "\n\n\n", 1)
        command.write(text, name)
    data = align(*pair)
    assert data["differences"] == []
    assert data["paired"] > 60


# Of which rounding was taken for a difference at a step of AdamW (docs/evidence.md).
SEEDS = {"torch": "\ntorch.manual_seed(1)", "paddle": "\npaddle.seed(1)"}


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_paddle_keeps_the_biased_variance_and_nothing_else_is_another(
    framework: str, align: Any
) -> None:
    """Its ``batch_norm`` divides by n where PyTorch's running variance, and JAX's program,
    divide by n - 1."""
    need(framework, "paddle")
    pair = (PROGRAMS / f"cnn_{each}.py" for each in (framework, "paddle"))
    data = align(*pair, "--no-edit", "--differences=2")
    assert [each["second"]["line"] for each in data["differences"]] == [23, 25]
    for each, count in zip(data["differences"], (256, 64), strict=True):
        assert f"divides the variance by {count} - 1" in each["cause"]


def test_weights_that_are_drawn_twice_are_those_that_the_run_computes_with(
    align: Any, command: Command
) -> None:
    """``trunc_normal_`` asks the first draw, of the layer itself, for its dtype alone."""
    need("torch")
    head = "import torch\nfrom torch import nn\ntorch.manual_seed({})\n"
    head += "x = torch.arange(8.).view(2, 4)\n"
    twice = "layer = nn.Linear(4, 6)\nnn.init.trunc_normal_(layer.weight, std=0.02)\n"
    for name, seed, made in (("a.py", 0, twice), ("b.py", 1, "layer = nn.Linear(4, 6)\n")):
        text = head.format(seed) + made + "print(torch.tanh(layer(x)).sum().item())\n"
        command.write(text, name)
    data = align("a.py", "b.py", "--no-edit")
    assert (data["differences"], data["not_paired"]) == ([], [])
