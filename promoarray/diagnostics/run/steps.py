"""Steps of a library's optimizers: a run that is long ends behind so many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

from promoarray.diagnostics.exit_codes import UsageError

COUNTED = {"torch": "torch.optim", "paddle": "paddle.optimizer"}
"""Whose optimizers are counted, and the module that has them."""


def require_counted(steps: int, framework: str) -> None:
    """Raise UsageError where steps are asked for of a program without such an optimizer."""
    if steps and framework not in COUNTED:
        known = " and ".join(COUNTED)
        raise UsageError(
            f"--steps counts the optimizers of {known}, and this is a program of "
            f"{framework or 'promoarray'}"
        )


@contextmanager
def ending_behind(library: str, most: int, note: Callable[[], object]) -> Iterator[None]:
    """End the program, as ``sys.exit(0)`` does, as soon as its optimizers took so many steps.

    Parameters
    ----------
    library : str
        One of ``COUNTED``.
    most : int
    note : callable
        Called before it ends.
    """
    taken: list[None] = []
    classes = [import_module(COUNTED[library]).Optimizer]
    classes += (each for one in classes for each in one.__subclasses__() if each not in classes)
    own = [each for each in classes if "step" in vars(each)]
    before = [each.step for each in own]

    def counted(step: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(step)
        def stepped(self: Any, *args: Any, **kwargs: Any) -> Any:
            inner = getattr(self, "_promoarray_steps", False)  # of a class above it
            self._promoarray_steps = True
            try:
                result = step(self, *args, **kwargs)
            finally:
                self._promoarray_steps = inner
            if not inner:
                taken.append(None)
            if len(taken) == most and not inner:
                note()
                raise SystemExit(0)
            return result

        return stepped

    for each in own:
        each.step = counted(each.step)
    try:
        yield
    finally:
        for each, step in zip(own, before, strict=True):
            each.step = step
