"""Operations on one operand of 16 bits or fewer, by a table of their results for all codes: of 8
bits whatever they make of it, of 16 bits what is as narrow, so that the table stays in a cache.

There are no more than 65,536 operands, so an operation that was asked for often enough is carried
out on each of them, by the same casts and the same kernel as before; from then on it is looked up.
Of each code is also known what floating-point exceptions were met near it. Where NumPy is to tell
of one of them, the operation is carried out on those codes that were met, which tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import kernels
from promoarray.backends.numpy.blocks import LONG, BlockPlan, parts_of
from promoarray.backends.numpy.exceptions_met import heard
from promoarray.backends.numpy.loops import empty_like, watched

if TYPE_CHECKING:
    from promoarray.dtypes import DType

Buffer = np.ndarray[Any, Any]

PAYS = {1: 1 << 18, 2: 1 << 22}
"""Elements of so many bytes, from which on a table has paid: it is made once they have come."""

BLOCK = 1 << 15
"""Elements at a time of operands that do not lie in a row."""

SHORT = 256
"""Codes in a row that are asked for exceptions together: two powers of two of bfloat16."""


class Entries(NamedTuple):
    """For each code the result, in words as wide, and floating-point exceptions in a byte."""

    results: Buffer
    raised: Buffer


class CodeTable:
    """A plan in blocks for one operand, and its table once that is made.

    Parameters
    ----------
    plan : BlockPlan
    dtype : DType
        What the operand holds.
    """

    def __init__(self, plan: BlockPlan, dtype: DType) -> None:
        self._plan, self._dtype = plan, dtype
        self._left = PAYS[dtype.storage.itemsize]
        self._table: Entries | None = None

    def run(self, operands: tuple[Buffer, ...], options: dict[str, Any]) -> Buffer | None:
        """As the plan's own ``run``."""
        (x,) = operands
        usual = options or x.size < LONG or not x.dtype.isnative
        table = None if usual else self._ready(x.size)
        if table is not None:
            out = empty_like(operands, x.shape, self._plan.storage)
            near = look_up(x, out, table, watched())
            if near:
                self._tell(x, table, near)
            return out
        return self._plan.run(operands, options)

    def _ready(self, size: int) -> Entries | None:
        """The table, if it has paid by now."""
        if self._table is None:
            self._left -= size
            if self._left <= 0:
                self._table = self._tabulate()
        return self._table

    def _tell(self, x: Buffer, table: Entries, near: int) -> None:
        """Have NumPy tell of the codes that were met near these exceptions: of those of the first
        elements, where all of the exceptions are among them."""
        words = x.view(f"u{x.itemsize}")
        met, has_some = np.zeros(len(table.raised), np.uint8), table.raised & near != 0
        for parts in _in_two(words):
            for part in parts:
                kernels.mark_codes(part, met)
            codes = np.flatnonzero(met.view(bool) & has_some).astype(words.dtype)
            tell = partial(self._plan.carry_out, (codes.view(x.dtype),), {})
            _, raised = heard(tell)
            if not near & ~raised:
                break
        tell()

    def _tabulate(self) -> Entries:
        """Carry the operation out on all codes."""
        storage = self._dtype.storage
        codes = np.arange(1 << 8 * storage.itemsize, dtype=f"u{storage.itemsize}").view(storage)
        results = np.empty(len(codes), f"u{self._plan.storage.itemsize}")
        table = Entries(results, np.empty(len(codes), np.uint8))
        # 1. Stretches of codes show where exceptions are.
        for begin in range(0, len(codes), len(codes) // 16):
            stretch = slice(begin, begin + len(codes) // 16)
            raised = self._enter(codes, table, stretch)
            # 2. Only there shorter ones are asked: of 8 bits they are short enough.
            if raised and len(codes[stretch]) > SHORT:
                for start in range(begin, stretch.stop, SHORT):
                    self._enter(codes, table, slice(start, start + SHORT))
        # 3. Special codes are asked alone, and those beside them without them: zero raises where
        # small numbers do not, and infinities stand beside signalling NaNs.
        special = sorted(_special(self._dtype))
        for code in special:
            start = code // SHORT * SHORT
            beside = np.setdiff1d(np.arange(start, min(start + SHORT, len(codes))), special)
            if table.raised[code]:
                self._enter(codes, table, beside)
            self._enter(codes, table, np.array([code]))
        return table

    def _enter(self, codes: Buffer, table: Entries, some: slice | Buffer) -> int:
        """Write the entries of some codes; return the exceptions that were met."""
        results, raised = heard(partial(self._plan.carry_out, (codes[some],), {}))
        assert results is not None  # one operand has its own shape
        table.results[some] = results.view(table.results.dtype)
        table.raised[some] = raised
        return raised


def _special(dtype: DType) -> set[int]:
    """The codes of zeros, infinities and quiet NaNs of either sign."""
    if dtype.format is None:
        return {0}
    signs = (0, 1 << dtype.bits - 1) if dtype.format.signed else (0,)
    found = (0, dtype.format.inf, dtype.format.nan)
    return {code | sign for code in found if code is not None for sign in signs}


def look_up(x: Buffer, out: Buffer, table: Entries, heeded: int) -> int:
    """Write the results, which lie as the operands do; return which of the exceptions that are
    heeded may be met."""
    if x.flags.c_contiguous:
        return kernels.look_up(x, out, *table, heeded)
    if x.flags.f_contiguous:
        return kernels.look_up(x.T, out.T, *table, heeded)
    raised, scratch = 0, np.empty(BLOCK, out.dtype)
    for part, place in parts_of([x, out], BLOCK):
        found = scratch[: part.size]
        raised |= kernels.look_up(np.ascontiguousarray(part), found, *table, heeded)
        place[...] = found
    return raised


def _in_two(words: Buffer) -> Iterator[Iterable[Buffer]]:
    """Some of the elements, then the rest of them, each in parts that lie in a row."""
    if words.flags.c_contiguous or words.flags.f_contiguous:
        row = words.reshape(-1, order="A")
        yield [row[:BLOCK]]
        yield [row[BLOCK:]]
        return
    flags: Any = [["readonly", "contig"]]
    walk: Any = np.nditer(
        [words], ["external_loop", "buffered"], flags, order="K", buffersize=BLOCK
    )
    with walk:
        parts = iter(walk)
        yield [next(parts)]
        yield parts


def with_table(plan: BlockPlan, held: tuple[DType, ...]) -> BlockPlan | CodeTable:
    """The plan, with a table if it is for one operand of few codes."""
    if len(held) > 1:
        return plan
    widest = _WIDEST.get(held[0].storage.itemsize, 0)
    return CodeTable(plan, held[0]) if plan.storage.itemsize <= widest else plan


_WIDEST = {1: 8, 2: 2}
"""The bytes of the widest results that operands of so many bytes have a table of."""
