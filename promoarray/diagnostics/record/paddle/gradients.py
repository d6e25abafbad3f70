"""Gradients of a Paddle program that are Inf or NaN: the line of the forward that made them so.

Paddle's autograd runs in C++, where no function is called that could be replaced, but its nodes
take hooks. A node may compute in the memory of the gradient that it is given, so that a hook sees
what came out alone: what is Inf or NaN already is noted of the nodes to which it goes on.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import paddle

from promoarray.diagnostics.losses.examined import Values
from promoarray.diagnostics.record.call import flat
from promoarray.diagnostics.record.replaced import Watched

_MOST = 64
"""So many nodes of one call are looked at."""

_LEAF = "GradNodeAccumulation"

_lost: set[Any] = set()
"""Nodes that are given an Inf or NaN."""


def watch_gradients(
    replaced: Watched, checks: Any, read: Any, met: Any, args: Any, made: Sequence[paddle.Tensor]
) -> None:
    """Have the gradients checked that the nodes of a call make, of which nobody else is to hear."""
    if not paddle.is_grad_enabled():
        return
    starts = [x.grad_fn for x in made if not x.stop_gradient and x.grad_fn is not None]
    if not starts:
        return
    light = met.bare()
    tensors = [x for x in flat(args) if isinstance(x, paddle.Tensor)]
    inputs_of = [weakref.ref(x) for x in tensors]

    def values(each: Any) -> list[Values]:
        known = (x for x in each if isinstance(x, paddle.Tensor) and x._is_initialized())
        return [found for x in known if (found := read(x)) is not None]

    def look(node: Any) -> None:
        key, after = node.node_ptr(), [x.node_ptr() for x in _after(node)]

        def heard(outputs: Any, _: Any) -> Any:
            with replaced.silent():
                judge(key, after, values(outputs))
            return outputs

        node._register_post_hook(heard)

    def judge(key: Any, after: Sequence[Any], made: Sequence[Values]) -> None:
        if not all(np.isfinite(x.array.astype(complex)).all() for x in made):
            if key not in _lost:
                light.results = made
                checks.gradient(light, lambda: values(each() for each in inputs_of))
                light.operands = light.results = ()
            _lost.update(after)
        _lost.discard(key)

    for node in _nodes(starts, {x.grad_fn.node_ptr() for x in tensors if x.grad_fn is not None}):
        look(node)


def _nodes(starts: Sequence[Any], before: set[Any]) -> Iterator[Any]:
    """The nodes that a call has made: those of its result, as far as those of its operands."""
    waiting, met = [*starts], set(before)
    while waiting and len(met) < _MOST:
        node = waiting.pop()
        key = node.node_ptr()
        if key not in met and node.name() != _LEAF:
            met.add(key)
            yield node
            waiting += _after(node)


def _after(node: Any) -> list[Any]:
    """The nodes that are given what a node makes, but for those that keep it in a leaf."""
    return [x for x in node.next_functions if x is not None and x.name() != _LEAF]
