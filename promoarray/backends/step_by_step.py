"""Plans carried out step by step, where a back end has nothing that does all of one at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from promoarray.dtypes import DType
from promoarray.promotion.plan import Plan

Buffer = Any


def run(
    backend: Any,
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: Callable[[DType, DType], Any],
    buffers: Sequence[Buffer],
    **options: Any,
) -> Any:
    """The casts of the operands, the operation, the casts of its results: a buffer, or several.

    ``backend`` is a module as ``promoarray.backends`` describes it; the other parameters are those
    of its ``compile``, and the operands.
    """
    computed = [plan.compute or dtype for dtype in plan.inputs]
    ways = zip(held, plan.inputs, computed, strict=True)
    values = tuple([_cast(backend, x, way, casts) for x, way in zip(buffers, ways, strict=True)])
    found = zip(
        backend.call(name, values, computed[0], **options),
        (plan.result, *plan.extra_results),
        strict=True,
    )
    outs = tuple([_cast(backend, out, (made, wanted), casts) for (out, made), wanted in found])
    return outs if plan.extra_results else outs[0]


def _cast(
    backend: Any, x: Buffer, way: tuple[DType, ...], casts: Callable[[DType, DType], Any]
) -> Buffer:
    """A buffer cast from each dtype to the next."""
    for source, target in pairwise(way):
        if source is not target:
            x = backend.cast(x, source, target, *casts(source, target))
    return x
