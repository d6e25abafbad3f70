"""Warnings of a recorded framework name the program's lines, as they do where nobody records."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module

import pytest

import promoarray as pa


def of_torch() -> None:
    torch = import_module("torch")
    for _ in range(2):
        torch.nn.functional.softmax(torch.ones(3, 2))  # which warns of a line some levels up
    for _ in range(2):
        torch.tensor(torch.ones(2))  # compiled code, which warns of the line that runs


def of_jax() -> None:
    jnp = import_module("jax.numpy")
    for _ in range(2):
        jnp.zeros(3, dtype="float64")
    jnp.asarray([1], dtype="uint64") + jnp.ones(2, "int64")


@pytest.mark.parametrize("action", ["always", "default", "once"])
@pytest.mark.parametrize("program", [of_torch, of_jax])
def test_warnings_are_those_of_the_run_as_it_is(program: Callable[[], None], action: str) -> None:
    framework = program.__name__.removeprefix("of_")
    pytest.importorskip(framework)

    def warned(recorded: bool) -> list[tuple[str, int, str]]:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            with pa.record(framework, "numpy@2") if recorded else nullcontext():
                program()
        return [(w.filename, w.lineno, str(w.message)[:60]) for w in shown]

    bare = warned(recorded=False)
    assert bare
    assert {file for file, _, _ in bare} == {__file__}
    assert warned(recorded=True) == bare


def test_what_the_program_sets_itself_stays() -> None:
    pytest.importorskip("torch")
    before = warnings.warn, warnings.showwarning
    try:
        with pa.record("torch", "numpy@2"):
            with pa.record("torch", "numpy@2"):
                pass
            assert warnings.warn is not before[0]
            warnings.showwarning = print  # type: ignore[assignment]
        assert (warnings.warn, warnings.showwarning) == (before[0], print)
    finally:
        warnings.showwarning = before[1]
