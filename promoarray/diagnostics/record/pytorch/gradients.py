"""Gradients of a PyTorch program: what the backward of each operation makes of those it is given.

Autograd runs in C++, where no mode hears of it, but its nodes take hooks. A node is told of at the
line of the forward that made it.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from promoarray.diagnostics.losses.elements import plain
from promoarray.diagnostics.losses.examined import Operand, Values
from promoarray.diagnostics.model.lost import UNDERFLOW
from promoarray.dtypes import float64

_MOST = 64
"""So many nodes of one call are looked at: those of a loop written out in it."""

_KNOWN = torch.Tensor, int, float

_FEW_BITS = torch.float16, torch.bfloat16
"""Dtypes of gradients that may be too small for them."""

_SEEN = "promoarray"
"""Marks nodes that are looked at."""


def watch_gradients(
    checks: Any, read: Any, met: Any, args: Any, made: Sequence[torch.Tensor]
) -> None:
    """Have the gradients checked that the nodes of a call make."""
    if not torch.is_grad_enabled() or all(x.grad_fn is None for x in made):
        return
    light = met.bare()
    inputs_of = [weakref.ref(x) for x in args if isinstance(x, torch.Tensor)]
    numbers = [x if type(x) in (int, float) else None for x in args if isinstance(x, _KNOWN)]

    def values(each: Any) -> list[Values]:
        found = (read(x) for x in each if isinstance(x, torch.Tensor))
        return [x for x in found if x is not None]

    def given() -> list[Values]:
        return values(each() for each in inputs_of)

    def arguments() -> Iterator[Operand]:
        tensors = iter(inputs_of)
        for number in numbers:
            yield from values([next(tensors)()]) if number is None else [number]

    def heard(node: str, inputs: Any, outputs: Any) -> None:
        light.operands, light.results = values(outputs), values(inputs)
        checks.gradient(light, given)
        few_bits = any(x is not None and x.dtype in _FEW_BITS for x in inputs)
        if few_bits and checks.looks_for(UNDERFLOW) and len(light.operands) == 1:
            shape = next(tuple(x.shape) for x in inputs if x is not None)
            exact = exact_gradients(node, shape, light.operands[0], [*arguments()])
            for x, made in zip(inputs, exact, strict=False):
                if x is not None and made is not None and x.shape == made.shape:
                    light.results = values([x])
                    is_cast = node == "ToCopyBackward"  # and has the digits of its dtype
                    whole = light.operands[0] if is_cast else Values(made, float64)
                    checks.vanished(light, whole, given)
        light.operands = light.results = ()

    before = {id(x.grad_fn) for x in args if isinstance(x, torch.Tensor) and x.grad_fn is not None}
    for x in made:
        for node in _nodes(x.grad_fn, before):
            node.register_hook(partial(heard, node.name().rstrip("0123456789")))


def exact_gradients(
    node: str, shape: tuple[int, ...], gradient: Values, arguments: Sequence[Operand]
) -> Sequence[np.ndarray[Any, Any] | None]:
    """Return in float64 what a node makes of a gradient, for each of the arguments of the forward.

    Parameters
    ----------
    node : str
        Its name without the number behind it.
    shape : tuple of int
        That of the first gradient that it makes.
    arguments : sequence of Operand
        What the operation was given.
    """
    every = (x if isinstance(x, Values) else Values(np.asarray(x), float64) for x in arguments)
    g, *x = (plain(each).astype(np.float64) for each in (gradient, *every))
    rule = _RULES.get(node)
    try:
        with np.errstate(all="ignore"):
            if node == "MeanBackward":  # which nobody keeps the argument for
                return (np.broadcast_to(g * (g.size / math.prod(shape)), shape),)
            return () if rule is None else rule(g, *x)
    except (ValueError, TypeError):  # of other shapes, or numbers in the place of arrays
        return ()


_RULES: Mapping[str, Callable[..., Sequence[np.ndarray[Any, Any]]]] = {
    "ToCopyBackward": lambda g, *_: (g,),
    "MulBackward": lambda g, x, y: (g * y, g * x),
    "DivBackward": lambda g, x, y: (g / y, -g * x / y / y),
    "MmBackward": lambda g, x, y: (g @ y.T, x.T @ g),
    "BmmBackward": lambda g, x, y: (g @ y.swapaxes(1, 2), x.swapaxes(1, 2) @ g),
    "AddmmBackward": lambda g, x, y, *b: (g.sum(0), g @ y, x.T @ g),  # of linear(x, y, b)
}
"""From a gradient and the arguments to exact gradients, in the order that the node has."""


def _nodes(node: Any, before: set[int]) -> Iterator[Any]:
    """The nodes that a call has made: those of its result, as far as those of its operands."""
    waiting, met = [node], set(before)
    while waiting and len(met) < _MOST:
        node = waiting.pop()
        if node is None or id(node) in met or hasattr(node, "variable"):
            continue
        met.add(id(node))
        if _SEEN not in node.metadata:
            node.metadata[_SEEN] = True
            yield node
        waiting += [each for each, _ in node.next_functions]
