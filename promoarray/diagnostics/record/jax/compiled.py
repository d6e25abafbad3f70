"""Compiled functions of a JAX program that is checked: compiled with a flag, and run as a whole.

Op by op a function takes many times as long. Compiled, it answers flags besides: whether any of
its operations may have lost what is looked for. Where none is set nothing was lost, and the
result is the program's. Where one is, the function is carried out op by op, and the checks tell
what it was. Flags are set rather too often: the checks have the last word. Of a function that sets
the same flags again and again some calls are looked at, and others taken to lose the same.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import jax
import numpy as np
from jax._src.core import trace_state_clean
from jax.api_util import shaped_abstractify
from jax.tree_util import tree_flatten, tree_structure, tree_unflatten

from promoarray.diagnostics.record.checks import Checks, Look
from promoarray.diagnostics.record.jax.call import OPEN
from promoarray.diagnostics.record.jax.flagged import ENTERS, Looks, any_of, hold_arrays

Function = Callable[..., Any]


@contextmanager
def as_compiled() -> Iterator[None]:
    """Have what is called be compiled as ever, and nobody hear of it."""
    before = OPEN.trying, OPEN.probes
    OPEN.trying, OPEN.probes = True, None
    try:
        with jax.disable_jit(False):
            yield
    finally:
        OPEN.trying, OPEN.probes = before


LOOKS, LOOKS_IN_LOOPS = 64, 8
"""So many calls that set a flag are carried out op by op; then so many as double what was seen."""


class Flagged:
    """A function as it is compiled with flags, and which of them were looked at how often."""

    def __init__(self, run: Any, looks: Looks) -> None:
        self.run, self.is_whole, self.has_loops = run, not looks.count, looks.has_loops
        self._looks: Counter[int] = Counter()  # by flags
        self._seen = self._last = 0  # calls that set any, in all and until the last look
        self.looks: dict[int, Look] = {}  # the last of the calls that set the same flags

    def stands_for(self, flags: int) -> int:
        """Return by how many calls it is the next one to be looked at; 0 if it is not."""
        self._seen += 1
        bits = [n for n in range(flags.bit_length()) if flags >> n & 1]
        is_new = min(self._looks[n] for n in bits) < (LOOKS_IN_LOOPS if self.has_loops else LOOKS)
        if not is_new and self._seen < 2 * self._last:
            return 0
        self._looks.update(bits)
        times, self._last = self._seen - self._last, self._seen
        return 1 if is_new else times


class Compiled:
    """A function, or a loop, of arguments of some shapes and dtypes, as it is carried out.

    Parameters
    ----------
    function : callable
        Of arrays alone. It is traced, which the recorders hear.
    given : sequence of array
    checks : Checks
    known : dict, optional
        Those that were compiled before: one that is the same but for the arrays around it is taken.
    """

    def __init__(
        self,
        function: Function,
        given: Sequence[Any],
        checks: Checks,
        known: dict[Any, Flagged] | None = None,
    ) -> None:
        self._checks, self._function = checks, function
        self._flagged: Flagged | None = None
        before = checks.counted()
        try:
            self._trace(given, {} if known is None else known)
        except Exception:  # as of what JAX refuses to trace, and op by op runs
            self._flagged = None
        self._passes = checks.counted() - before
        checks.counts(self._passes, -1)

    def _trace(self, given: Sequence[Any], known: dict[Any, Flagged]) -> None:
        OPEN.traced = widening = list[str]()
        try:
            with jax.disable_jit(False):
                closed, shapes = jax.make_jaxpr(self._function, return_shape=True)(*given)
        finally:
            OPEN.traced = None
        if closed.effects or widening or self._checks.asked.shadow:
            return
        self._consts, self._tree = closed.consts, tree_structure(shapes)
        key: Hashable = str(closed.jaxpr), tuple((x.shape, x.dtype) for x in closed.consts)
        if hold_arrays(closed.jaxpr):
            key = object()
        self._flagged = known.get(key) or known.setdefault(key, self._compiled(closed, given))

    def _compiled(self, closed: Any, given: Sequence[Any]) -> Flagged:
        looks = Looks(self._checks.asked.kinds)

        def flagged(consts: Sequence[Any], *given: Any) -> tuple[Sequence[Any], Any]:
            looks.flags = []
            whole = closed.replace(consts=list(consts))
            made, _ = looks.evaluate(whole, given, [ENTERS] * len(given))
            return made, any_of(looks.flags)

        with as_compiled():
            run = jax.jit(flagged)
            run.trace(self._consts, *given)
        return Flagged(run, looks)

    def run(self, op_by_op: Function, given: Sequence[Any], times: int = 1) -> Any:
        """Carry it out, compiled if nothing is lost; a loop has so many steps (``times``)."""
        known, flags = self._flagged, 0
        if known is None:
            return op_by_op()
        if known.is_whole:
            with jax.disable_jit(False):
                made = self._function(*given)
        else:
            with as_compiled():
                leaves, is_set = known.run(self._consts, *given)
                flags = int(is_set)
            if flags and (calls := known.stands_for(flags)):
                with self._checks.standing_for(calls) as known.looks[flags]:
                    return op_by_op()
            made = tree_unflatten(self._tree, leaves)
            if flags and flags in known.looks:
                self._checks.like(known.looks[flags])
                return made
        self._checks.counts(self._passes, times, about=known.has_loops)
        return made


class Jitted:
    """The calls of a function that ``jax.jit`` has made.

    Parameters
    ----------
    function : callable
    how : mapping
        The options of ``jax.jit``.
    """

    def __init__(self, function: Function, how: Mapping[str, Any]) -> None:
        self._function = function
        self._numbers, self._names = _static(function, how)
        self._compiled: WeakKeyDictionary[Checks, dict[Hashable, Compiled]] = WeakKeyDictionary()

    def carried_out(
        self, checks: Checks, op_by_op: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Function:
        """What carries out a call: compiled where that is possible, or else ``op_by_op``."""
        # 1. Arrays and numbers are arguments; what is static, and what stands around, a constant.
        every: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        fixed = {key: x for key, x in every.items() if key in self._numbers | self._names}
        leaves, tree = tree_flatten([None if key in fixed else x for key, x in every.items()])
        places = [n for n, x in enumerate(leaves) if isinstance(x, _ARGUMENTS)]
        arrays = [leaves[n] for n in places]
        if not trace_state_clean() or any(isinstance(x, jax.core.Tracer) for x in arrays):
            return op_by_op
        rest = [None if isinstance(x, _ARGUMENTS) else x for x in leaves]
        names, kinds = tuple(every), tuple(map(shaped_abstractify, arrays))
        key = tree, names, kinds, tuple(rest), tuple(fixed.items())
        try:
            hash(key)
        except TypeError:  # of what JAX itself says more
            return op_by_op

        # 2. They are compiled once, for shapes and dtypes.
        count = len(args)

        def function(*given: Any) -> Any:
            leaves = list(rest)
            for n, x in zip(places, given, strict=True):
                leaves[n] = x
            whole = dict(zip(names, tree_unflatten(tree, leaves), strict=True)) | fixed
            positional = [whole.pop(n) for n in range(count)]
            return self._function(*positional, **whole)

        def carry_out() -> Any:
            known = self._compiled.setdefault(checks, {})
            if key not in known:
                known[key] = Compiled(function, arrays, checks)
            return known[key].run(op_by_op, arrays)

        return carry_out


_ARGUMENTS = jax.Array, np.ndarray, np.generic, bool, int, float, complex


def is_array(x: Any) -> bool:
    """Whether it is an array or a number, and no tracer."""
    return isinstance(x, _ARGUMENTS) and not isinstance(x, jax.core.Tracer)


def _static(function: Function, how: Mapping[str, Any]) -> tuple[set[int], set[str]]:
    """The arguments of ``jit`` that are static: places, and names."""
    given = how.get("static_argnums"), how.get("static_argnames")
    numbers: set[int] = {given[0]} if isinstance(given[0], int) else set(given[0] or ())
    names: set[str] = {given[1]} if isinstance(given[1], str) else set(given[1] or ())
    try:
        known = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return numbers, names
    numbers = {n % len(known) for n in numbers if -len(known) <= n < len(known)}
    names |= {known[n] for n in numbers}
    return numbers | {n for n, name in enumerate(known) if name in names}, names


def loop_of(checks: Checks, call: Function, known: dict[Any, Flagged]) -> Any:
    """What carries out a loop; ``known`` holds those that were compiled before."""
    return partial(Compiled(call, (), checks, known).run, given=())
