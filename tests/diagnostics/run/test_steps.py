"""``--steps N``: a long run ends behind so many steps of an optimizer."""

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
    first, second = Adam(), Optimizer()
    with steps.ending_behind("steps", 3, lambda: told.append("ended")):
        assert [first.step(), second.step()] == [1, 1]
        assert not told
        with pytest.raises(SystemExit) as raised:
            first.step()
    assert (raised.value.code, told, first.taken) == (0, ["ended"], 2)
    assert Adam.step is before


def test_what_follows_is_not_examined(command: Command) -> None:
    pytest.importorskip("torch")
    program = command.write("""
        import torch
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        while True:
            (w * 2).sum().backward()
            optimizer.step()
    """)
    ran = command("compare --steps 2 --policies paddle@3.3 --json", program)
    (verdict,) = ran.data["verdicts"]
    assert verdict["verdict"] == "incomplete"
    assert "what follows 2 steps of an optimizer" in str(verdict["not_examined"])


def test_a_program_without_such_an_optimizer_is_refused(command: Command) -> None:
    program = command.write("import numpy as np; print(np.ones(3))")
    ran = command("check --steps 2", program, status=2)
    assert "--steps counts the optimizers of torch and paddle" in ran.err
