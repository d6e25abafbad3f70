"""Steps of training: a run that is long ends behind so many of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

from promoarray.diagnostics.exit_codes import UsageError

COUNTED = {"torch": "torch.optim", "paddle": "paddle.optimizer", "jax": ""}
"""Whose steps are counted, and the module that has their optimizers; of JAX the calls of compiled
functions are that take two arrays or more, as a state, and return as many of the same shapes."""


def require_counted(steps: int, framework: str) -> None:
    """Raise UsageError where steps are asked for of a program without such an optimizer."""
    if steps and framework not in COUNTED:
        known = " and ".join(COUNTED)
        raise UsageError(
            f"--steps counts the steps of {known}, and this is a program of "
            f"{framework or 'promoarray'}"
        )


class _Steps:
    """Counts steps, and ends the program behind so many."""

    def __init__(self, most: int, end: Callable[[], object]) -> None:
        self._most, self._end, self._taken = most, end, 0

    def take(self) -> None:
        """Count one."""
        self._taken += 1
        if self._taken == self._most:
            self._end()
            raise SystemExit(0)
        if self._taken > self._most:  # a bare ``except`` has caught that
            sys.stdout.flush()
            os._exit(0)

    def counted(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of an optimizer that counts."""

        @wraps(step)
        def stepped(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            inner = getattr(optimizer, "_promoarray_steps", False)  # of a class above it
            optimizer._promoarray_steps = True
            try:
                result = step(optimizer, *args, **kwargs)
            finally:
                optimizer._promoarray_steps = inner
            if not inner:
                self.take()
            return result

        return stepped

    def of_compiled(self, args: Sequence[Any], result: Any) -> None:
        """Count the call of a compiled function that returns the new state of one that it took."""
        leaves = import_module("jax.tree_util").tree_flatten
        parts = [result, *(result if isinstance(result, (tuple, list)) else ())]
        kinds: list[list[Any]] = []
        for some in (args, parts):
            flat = [leaves(each) for each in some]
            kinds.append(
                [
                    (tree, [(getattr(x, "shape", None), getattr(x, "dtype", None)) for x in found])
                    for found, tree in flat
                    if len(found) > 1
                ]
            )
        if any(each in kinds[0] for each in kinds[1]):
            self.take()


@contextmanager
def ending_behind(library: str, most: int, end: Callable[[], object]) -> Iterator[None]:
    """End the program, as ``sys.exit(0)`` does, as soon as its optimizers took so many steps.

    Parameters
    ----------
    library : str
        One of ``COUNTED``.
    most : int
    end : callable
        Called before it ends.
    """
    steps = _Steps(most, end)
    if library == "jax":
        told: Any = import_module("promoarray.diagnostics.record.jax.transforms").TOLD
        told.append(steps.of_compiled)
        try:
            yield
        finally:
            told.remove(steps.of_compiled)
        return
    base = import_module(COUNTED[library]).Optimizer
    classes = [base]
    classes += (each for one in classes for each in one.__subclasses__() if each not in classes)
    before: dict[Any, Any] = {}

    def count(each: Any) -> None:
        if "step" in vars(each):
            before[each] = each.step
            each.step = steps.counted(each.step)

    def defined_later(cls: Any, /, **options: Any) -> None:
        super(base, cls).__init_subclass__(**options)
        count(cls)

    for each in classes:
        count(each)
    own = vars(base).get("__init_subclass__")
    if own is None:
        base.__init_subclass__ = classmethod(defined_later)
    try:
        yield
    finally:
        for each, step in before.items():
            each.step = step
        if own is None:
            del base.__init_subclass__
