"""Steps of training: a long run ends behind so many of them, or is looked at in some of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple

from promoarray.diagnostics.exit_codes import UsageError

COUNTED = {"torch": "torch.optim", "paddle": "paddle.optimizer", "jax": ""}
"""Whose steps are counted, and the module that has their optimizers; of JAX the calls are that take
a gradient, and those of compiled functions that return a state of the shapes of one they take."""


class Training(NamedTuple):
    """Steps of training that a command asks for."""

    most: int = 0  # behind so many the run ends; 0 for all
    every: int = 0  # of so many the first is looked at; 0 for all

    def of(self, framework: str) -> Training:
        """Return them.

        Raises
        ------
        UsageError
            Of a program without such an optimizer, if any are asked for.
        """
        if any(self) and framework not in COUNTED:
            known = " and ".join(COUNTED)
            raise UsageError(
                f"{'--steps' if self.most else '--sample'} counts the steps of {known}, and this "
                f"is a program of {framework or 'promoarray'}"
            )
        return self


ALL = Training()


class Steps:
    """Counts steps, ends the program behind so many, and has those left out that are not asked for.

    Attributes
    ----------
    taken : int
    """

    def __init__(
        self, asked: Training, end: Callable[[], object], leave: Callable[[bool], object]
    ) -> None:
        self._asked, self._end, self._leave, self.taken = asked, end, leave, 0
        self._gradients = self._states = 0
        self._derived = 0  # gradients, those in compiled functions too

    def take(self) -> None:
        """Count one."""
        self.taken += 1
        most, every = self._asked
        if self.taken == most:
            self._end()
            raise SystemExit(0)
        if most and self.taken > most:  # a bare ``except`` has caught that
            sys.stdout.flush()
            os._exit(0)
        if every:
            self._leave(self.taken % every != 0)

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

    def begins_gradient(self) -> None:
        """Count the step that ends where the program takes its next gradient."""
        self._gradients += 1
        self._derived += 1
        if self._gradients - 1 > self.taken:
            self.take()

    def of_compiled(self, args: Sequence[Any], result: Any, *, differentiates: bool) -> None:
        """Count the call of a compiled function that returns the new state of one that it took.

        One array is a state where the function differentiates. Of those that do not, as the
        averages of optax are compiled, one counts for each gradient.
        """
        leaves = import_module("jax.tree_util").tree_flatten
        parts = [result, *(result if isinstance(result, (tuple, list)) else ())]
        kinds: list[list[Any]] = []
        for some in (args, parts):
            flat = [leaves(each) for each in some]
            kinds.append(
                [
                    (tree, [(getattr(x, "shape", None), getattr(x, "dtype", None)) for x in found])
                    for found, tree in flat
                    if len(found) > (not differentiates)
                ]
            )
        self._derived += differentiates
        if not self._derived or self._states < self._derived:
            self._states += any(each in kinds[0] for each in kinds[1])
        if self._states > self.taken:
            self.take()


@contextmanager
def counting(
    library: str,
    asked: Training,
    end: Callable[[], object],
    leave: Callable[[bool], object] = lambda _: None,
) -> Iterator[Steps]:
    """End the program, as ``sys.exit(0)`` does, as soon as its optimizers took so many steps.

    Parameters
    ----------
    library : str
        One of ``COUNTED``.
    asked : Training
    end : callable
        Called before it ends.
    leave : callable
        Told before each step but the first whether it is left out.
    """
    steps = Steps(asked, end, leave)
    if library == "jax":
        told: Any = import_module("promoarray.diagnostics.record.jax.transforms").TOLD
        told.append(steps)
        try:
            yield steps
        finally:
            told.remove(steps)
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
        yield steps
    finally:
        for each, step in before.items():
            each.step = step
        if own is None:
            del base.__init_subclass__
