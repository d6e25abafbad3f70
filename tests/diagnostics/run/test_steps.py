"""``--steps N``: a long run ends behind N steps of training; ``--sample N`` looks at one in N."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from command import Command

from promoarray.diagnostics.run import steps
from promoarray.diagnostics.run.steps import Training


class Optimizer:
    taken = 0

    def step(self) -> int:
        self.taken += 1
        return self.taken


class Adam(Optimizer):
    def step(self) -> int:
        return super().step()  # which is no step of its own


def test_a_run_ends_behind_so_many_steps(monkeypatch: Any) -> None:
    module = ModuleType("steps_optim")
    module.Optimizer = Optimizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(steps.COUNTED, "steps", module.__name__)
    before, told = Adam.step, list[str]()
    left: list[int] = []
    monkeypatch.setattr(steps.os, "_exit", left.append)
    first, second = Adam(), Optimizer()
    with steps.counting("steps", Training(3), lambda: told.append("ended")):
        assert [first.step(), second.step()] == [1, 1]
        assert not told
        with pytest.raises(SystemExit) as raised:
            first.step()
        first.step()  # of a program whose bare ``except`` has caught it
    assert (raised.value.code, told, first.taken, left) == (0, ["ended"], 3, [0])
    assert Adam.step is before


def test_an_optimizer_that_is_defined_later_is_counted(monkeypatch: Any) -> None:
    module = ModuleType("steps_optim")
    module.Optimizer = Optimizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(steps.COUNTED, "steps", module.__name__)
    with steps.counting("steps", Training(1), lambda: None):

        class Lion(Optimizer):
            def step(self) -> int:
                return 7

        with pytest.raises(SystemExit):
            Lion().step()
    assert Lion().step() == 7
    assert "__init_subclass__" not in vars(Optimizer)


def test_what_follows_is_not_examined(command: Command) -> None:
    pytest.importorskip("torch")
    program = command.write("""
        import torch
        w = torch.ones(3, requires_grad=True)
        class Sign(torch.optim.SGD):
            def step(self):
                return super().step()
        optimizer = Sign([w], lr=0.1)
        while True:
            try:
                (w * 2).sum().backward()
                optimizer.step()
            except:
                print("caught")
    """)
    ran = command("compare --steps 2 --policies paddle@3.3 --json", program)
    (verdict,) = ran.data["verdicts"]
    assert verdict["verdict"] == "incomplete"
    assert "what follows 2 steps of training" in str(verdict["not_examined"])


def test_a_step_of_jax_is_a_call_that_returns_the_state(command: Command) -> None:
    pytest.importorskip("jax")
    program = command.write("""
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(state, x):
            return {name: w - 0.1 * x.sum() for name, w in state.items()}, x.mean()

        state = {"w": jnp.ones((2, 3)), "b": jnp.zeros(3)}
        print(jax.jit(jnp.sin)(state["w"]).shape)
        while True:
            state, loss = step(state, jnp.arange(3.0))
    """)
    ran = command("why --steps 2 --json", program)
    assert ran.data["stopped"] is None
    ran = command("compare --steps 2 --policies paddle@3.3 --json", program)
    assert "what follows 2 steps of training" in str(ran.data["verdicts"])


def test_one_step_in_some_is_looked_at(monkeypatch: Any) -> None:
    module = ModuleType("steps_optim")
    module.Optimizer = Optimizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(steps.COUNTED, "steps", module.__name__)
    left_out, now = [], [False]
    optimizer = Adam()
    with steps.counting("steps", Training(every=3), lambda: None, lambda x: now.append(x)):
        for _ in range(7):
            left_out.append(now[-1])
            optimizer.step()
    assert left_out == [False, True, True, False, True, True, False]


def test_steps_that_were_left_out_are_named(command: Command) -> None:
    pytest.importorskip("torch")
    program = command.write("""
        import torch
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for n in range(7):
            x = torch.tensor(300 if n in (1, 3) else 1)
            x.to(torch.int8)
            (w * 2).sum().backward()
            optimizer.step()
    """)
    ran = command("check --sample 3 --json", program, status=1)
    (loss,) = ran.data["losses"]
    assert (loss["passes"], loss["of_passes"]) == (1, 3)  # of two, that of the fourth step
    left = "4 of 7 steps of training, and what follows the last"
    assert left in str(ran.data["not_examined"])
    ran = command("compare --sample 3 --policies paddle@3.3 --json", program)
    assert left in str(ran.data["verdicts"])


JAX = """
    import jax
    import jax.numpy as jnp

    def loss(w, x):
        return jnp.square(x @ w).sum()

    {0}
    w = jnp.ones((3, 3))
    for n in range(5):
        {1}
    print("whole")
"""
TRAININGS = {
    "a gradient": ("", "w = w - 0.1 * jax.grad(loss)(w, w)"),
    "one compiled array": (
        "step = jax.jit(lambda w, x: w - 0.1 * jax.grad(loss)(w, x)); layer = jax.jit(jnp.tanh)",
        "w = step(w, layer(layer(layer(w))))",
    ),
    "a compiled update": (
        "update = jax.jit(lambda w, g: (w[0] - 0.1 * g, w[1]))",
        "w = update((w, w), jax.grad(loss)(w, w))[0]",
    ),
    "several compiled updates": (
        "update = jax.jit(lambda w, g: (w[0] - 0.05 * g, w[1]))",
        "g = jax.grad(loss)(w, w); w = update((update((w, w), g)[0], w), g)[0]",
    ),
    "a compiled gradient and its updates": (
        "update = jax.jit(lambda w, g: (w[0] - 0.05 * g, w[1])); grad = jax.jit(jax.grad(loss))",
        "g = grad(w, w); w = update((update((w, w), g)[0], w), g)[0]",
    ),
}


@pytest.mark.parametrize("how", TRAININGS)
def test_steps_of_plain_loops_of_jax(how: str, command: Command) -> None:
    pytest.importorskip("jax")
    program = command.write(JAX.format(*TRAININGS[how]))
    for most, ends in ((4, True), (5, how != "a gradient"), (6, False)):
        ran = command(f"check --steps {most} --json", program)
        assert ("what follows" in str(ran.data["not_examined"])) is ends, most


def test_a_program_without_such_an_optimizer_is_refused(command: Command) -> None:
    program = command.write("import numpy as np; print(np.ones(3))")
    ran = command("check --steps 2", program, status=2)
    assert "--steps counts the steps of torch and paddle and jax" in ran.err
