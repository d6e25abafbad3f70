"""Gradients of a JAX program that are Inf or NaN: the line of the forward that made them so.

JAX differentiates in one go. Where a gradient comes out as Inf or NaN of finite arguments, the
function is differentiated once more with probes: identities around every operand of every
operation, which look at the cotangents as they pass on their way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import jax
import numpy as np
from jax.tree_util import tree_leaves, tree_map

from promoarray.core.call_site import instructions_of, sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.losses.examined import Values
from promoarray.diagnostics.record.checks import Checks
from promoarray.diagnostics.record.met import Met
from promoarray.dtypes import BY_NAME


class Probes:
    """Looks at the cotangents of every operation that is called meanwhile."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._made: dict[int, tuple[Any, Met]] = {}  # held, so that no other has its address
        self._lost: set[int] = set()  # operations whose result has a cotangent of Inf or NaN

    def call(
        self, name: str, bare: Callable[..., Any], args: Any, kwargs: Any, frame: FrameType
    ) -> Any:
        """Carry out an operation, with a probe around each operand that is differentiated."""
        with notify_lock, standing_at(frame):
            place, at = instructions_of(frame)[0], sites()
        passed = Met(name, "", (), (), None, place, (), at=at, framework="jax")
        args, kwargs = tree_map(lambda x: self._probed(x, passed), (args, kwargs))
        result = bare(*args, **kwargs)
        for x in tree_leaves(result):
            self._made[id(x)] = x, passed
        return result

    def _probed(self, x: Any, passed: Met) -> Any:
        if not isinstance(x, jax.core.Tracer) or not np.issubdtype(x.dtype, np.inexact):
            return x
        source = self._made.get(id(x))
        probe = jax.custom_vjp(lambda x: x)

        def backward(_: None, cotangent: Any) -> tuple[Any]:
            self._heard(cotangent, passed, source and source[1])
            return (cotangent,)

        probe.defvjp(lambda x: (x, None), backward)
        return probe(x)

    def _heard(self, cotangent: Any, passed: Met, source: Met | None) -> None:
        array = np.asarray(cotangent)
        dtype = BY_NAME.get(array.dtype.name)
        if dtype is None or bool(np.isfinite(array.astype(complex)).all()):
            return
        if source is not None:
            self._lost.add(id(source))
        if id(passed) not in self._lost:
            self._checks.gradient(replace(passed, results=(Values(array, dtype),)))


def are_lost(arguments: Any, gradients: Any) -> bool:
    """Whether gradients have Inf or NaN, and the arguments have none."""
    return not _finite(gradients) and _finite(arguments)


def _finite(tree: Any) -> bool:
    return all(bool(np.isfinite(x.astype(complex)).all()) for x in _numbers(tree))


def _numbers(tree: Any) -> Iterator[Any]:
    leaves: Sequence[Any] = tree_leaves(tree)
    for x in leaves:
        if isinstance(x, (jax.Array, np.ndarray, np.generic)) and BY_NAME.get(x.dtype.name):
            if isinstance(x, jax.core.Tracer):  # one of an outer transformation
                continue
            yield np.asarray(x)
