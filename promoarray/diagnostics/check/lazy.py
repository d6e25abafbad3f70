"""Checks of lazy arrays: each block is looked at once, when it is computed anyway.

A probe stands in the graph behind an operation that goes by elements. It is given the blocks of the
operands and that of the result, which it hands on. What it finds it tells the checks of its
process: blocks that are computed elsewhere are not looked at, and the report says so.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from promoarray.core.observers import notify_lock
from promoarray.diagnostics.losses.examined import Values
from promoarray.diagnostics.losses.floats import goes_by_elements
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.record.checks import Checks
from promoarray.diagnostics.record.met import Met
from promoarray.dtypes import DType


@dataclass(eq=False)
class Waiting:
    """An operation whose blocks are yet to be computed."""

    checks: Checks
    met: Met
    casts: bool
    blocks: int
    seen: int = 0
    elements: int = 0  # of those blocks


_WAITING: WeakValueDictionary[str, Waiting] = WeakValueDictionary()
"""By token; the checks hold them."""


@dataclass(frozen=True)
class BlockProbe:
    """A task: looks at a block, and hands it on."""

    token: str
    dtypes: tuple[DType | None, ...]  # of the result and the lazy operands; None of others
    numbers: tuple[Any, ...]  # Python numbers, and arrays without axes, in their places

    def __call__(self, result: Any, *blocks: Any) -> Any:
        """Look at the blocks of one result."""
        waiting = _WAITING.get(self.token)
        if waiting is not None and bool(getattr(result, "size", False)):
            with notify_lock:
                waiting.seen += 1
                waiting.elements += result.size
                self._look(waiting, result, iter(blocks))
        return result

    def _look(self, waiting: Waiting, result: Any, blocks: Any) -> None:
        made, *dtypes = self.dtypes
        assert made is not None
        both: Any = zip(dtypes, self.numbers, strict=True)
        given = [n if dtype is None else _opened(next(blocks), dtype) for dtype, n in both]
        met = replace(waiting.met, operands=given, results=(_opened(result, made),))
        look = waiting.checks.cast if waiting.casts else waiting.checks.operation
        look(met)


def _opened(block: Any, dtype: DType) -> Values:
    from promoarray.backends.dask.buffer import opened

    return Values(opened(block, dtype), dtype)


def watch(
    checks: Checks, met: Met, made: tuple[Any, DType], given: Sequence[tuple[Any, DType | None]]
) -> bool:
    """Have the blocks of a lazy result looked at; False of what does not go by elements.

    Parameters
    ----------
    made : (Buffer, DType)
        The result, whose graph gets the probe.
    given : sequence of (Dask array or number, DType or None)
        The operands, as they were before.
    """
    from dask import array as da

    casts = met.name == "astype"
    buffer, dtype = made
    if not casts and not goes_by_elements(met.name):
        return False
    token = uuid.uuid4().hex
    result = buffer.array
    waiting = Waiting(checks, replace(met, frame=None), casts, result.npartitions)
    waiting.met.at, waiting.met.number = met.sites(), checks.passed(met)
    _WAITING[token] = waiting
    checks.held.append(waiting)
    axes = tuple(range(result.ndim))
    pairs: list[Any] = [result, axes]
    for x, each in given:
        if each is not None:
            pairs += [x, axes[result.ndim - x.ndim :]]
    dtypes = dtype, *(each for _, each in given)
    numbers = tuple(None if each is not None else x for x, each in given)
    probe = BlockProbe(token, dtypes, numbers)
    buffer.array = da.blockwise(
        probe, axes, *pairs, token=f"checked-{token}", dtype=result.dtype, meta=result._meta,
        align_arrays=True, concatenate=True,
    )  # fmt: skip
    return True


def left(checks: Checks) -> list[NotExamined]:
    """Return the operations of which not all blocks were looked at; of the others what was lost
    is of all their elements."""
    found = []
    for each in checks.held:
        for (_, name, place, _), lost in checks.lost.items():
            if (name, place, lost.passes) == (each.met.name, each.met.place, 1):
                first = lost.loss.example  # whose index is that in a block
                lost.of = each.elements
                lost.loss = replace(lost.loss, example=replace(first, index=()))
        missing = each.blocks - each.seen
        if missing > 0:
            site, program = each.met.sites()
            what = f"{missing} of {each.blocks} blocks of {each.met.name}"
            found.append(NotExamined(what, _NOT_HERE, site, program))
    return found


_NOT_HERE = "they were not computed in this process while it was checked"
