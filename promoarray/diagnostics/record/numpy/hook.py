"""The hook that rewritten programs pass their operands and results through.

It is one object among the builtins. While nothing is recorded it hands on what it is given.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType, MethodType, SimpleNamespace
from typing import Any, Self

import numpy as np

from promoarray.diagnostics.record._seen import FastHook
from promoarray.diagnostics.record.numpy.callee import callee_of
from promoarray.diagnostics.record.numpy.plain import PLAIN, TYPE, TYPES
from promoarray.diagnostics.record.numpy.rewriting import RESERVED
from promoarray.diagnostics.record.numpy.session import Session
from promoarray.operations import Form

GRIDS = type(np.mgrid), type(np.ogrid)
"""Which make arrays of the numbers of slices: ``np.mgrid[0:3]``."""

JOINERS = type(np.r_), type(np.c_)
"""Which join what they are given: ``np.r_[1:4, 0.5]``."""


class Hook(FastHook):
    """The hook, and what stands in rewritten programs besides its methods."""

    slice = slice
    inplace = Form.INPLACE
    augmented = SimpleNamespace(
        add=operator.iadd,
        subtract=operator.isub,
        multiply=operator.imul,
        divide=operator.itruediv,
        floor_divide=operator.ifloordiv,
        remainder=operator.imod,
        pow=operator.ipow,
        matmul=operator.imatmul,
        bitwise_and=operator.iand,
        bitwise_or=operator.ior,
        bitwise_xor=operator.ixor,
        bitwise_left_shift=operator.ilshift,
        bitwise_right_shift=operator.irshift,
    )

    def __new__(cls) -> Self:
        """Make a hook that nobody is told by."""
        made = super().__new__(
            cls,
            ndarray=np.ndarray,
            generic=np.generic,
            plain=PLAIN,
            inplace=Form.INPLACE,
            operator=Form.OPERATOR,
            function=Form.FUNCTION,
            callee_of=callee_of,
            function_type=FunctionType,
            method_type=MethodType,
            ufunc=np.ufunc,
            dispatcher=type(np.sum),
        )
        made.itself = _Itself()
        return made

    itself: _Itself

    def _otherwise_viewed(self, operands: list[Any], x: Any, frame: FrameType) -> None:
        """Tell of items of what is no array."""
        source = operands[0]
        if isinstance(source, GRIDS):
            self.session.gridded(x, frame)
        elif isinstance(source, JOINERS) and operands[1:]:
            self.session.joined(operands[1], x, frame)

    def _resized(self, x: np.ndarray[Any, Any]) -> None:
        """Let go of an array that is about to be resized, which other references stop."""
        self.forget(x)
        self.session.forget(x)

    @contextmanager
    def recording(self, session: Session) -> Iterator[None]:
        """Record in a block, in all threads."""
        before = self.session
        self.tell(session, session.past, session.alike)
        try:
            yield
        finally:
            self.tell(*((before, before.past, before.alike) if before else (None,) * 3))
            self.forget(None)
            session.end()


class _Itself:
    """Compared to anything, it gives that."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, x: object) -> Any:
        return x


def hook() -> Hook:
    """Return the hook, put among the builtins once it is asked for."""
    found: Hook | None = getattr(builtins, RESERVED, None)
    if found is None:
        found = Hook()
        for name, x in ((RESERVED, found), (TYPE, type), (TYPES, PLAIN)):
            setattr(builtins, name, x)
    return found
