"""``--steps N``: a long run ends behind so many steps of training."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from command import Command

from promoarray.diagnostics.run import steps


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
    with steps.ending_behind("steps", 3, lambda: told.append("ended")):
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
    with steps.ending_behind("steps", 1, lambda: None):

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


def test_a_program_without_such_an_optimizer_is_refused(command: Command) -> None:
    program = command.write("import numpy as np; print(np.ones(3))")
    ran = command("check --steps 2", program, status=2)
    assert "--steps counts the steps of torch and paddle and jax" in ran.err
