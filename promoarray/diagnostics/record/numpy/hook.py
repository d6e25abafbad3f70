"""The hook that rewritten programs pass their operands and results through.

It is one object among the builtins. While nothing is recorded it hands on what it is given.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np

from promoarray.diagnostics.record.numpy.callee import callee_of
from promoarray.diagnostics.record.numpy.operand import ARRAYS, form_of
from promoarray.diagnostics.record.numpy.plain import PLAIN, TYPE, TYPES
from promoarray.diagnostics.record.numpy.rewriting import RESERVED
from promoarray.diagnostics.record.numpy.session import MOST, Given, Session
from promoarray.operations import Form

Key = tuple[int, int]

GRIDS = type(np.mgrid), type(np.ogrid)
"""Which make arrays of the numbers of slices: ``np.mgrid[0:3]``."""

JOINERS = type(np.r_), type(np.c_)
"""Which join what they are given: ``np.r_[1:4, 0.5]``."""

_MOST_HELD = 1 << 16


class Hook:
    """Sees the operands and results of rewritten programs.

    A frame and a number name an operation that has begun. Each method returns what it is given.
    """

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

    def __init__(self) -> None:
        self.itself = _Itself()
        self.session: Session | None = None
        self._begun: dict[Key, Any] = {}
        self._held: dict[Key, Any] = {}

    # -- operators --------------------------------------------------------------------------------

    def first(self, number: int, x: Any) -> Any:
        """The first operand, with which an operation begins."""
        if self.session is not None:
            self._begin(sys._getframe(1), number, [x])
        return x

    changed = first

    def then(self, number: int, name: str, x: Any, form: Form = Form.OPERATOR) -> Any:
        """The second operand."""
        key = id(sys._getframe(1)), number
        operands, session = self._begun.get(key), self.session
        if operands is None or session is None:
            return x
        if type(x) in PLAIN and type(operands[0]) in PLAIN:
            del self._begun[key]
            return x
        operands.append(x)
        if session.past is not None:
            return session.past.operand(name, operands[0], x, form)
        return x

    def done(self, number: int, name: str, x: Any, form: Form = Form.OPERATOR) -> Any:
        """The result; of ``x += y`` the operand itself where it is an array."""
        frame = sys._getframe(1)
        operands, session = self._begun.pop((id(frame), number), None), self.session
        if operands is None or session is None:
            return x
        for each in operands:
            if isinstance(each, ARRAYS):
                break
        else:
            return x
        if form is Form.INPLACE and operands[0] is not x:
            form = Form.OPERATOR
        form = form_of(name, operands[0], form)
        session.operator(name, operands, x, frame, form)
        return x

    def key(self, number: int, x: Any) -> Any:
        """What ``np.r_`` and ``np.c_`` are given to join."""
        begun = self._begun.get((id(sys._getframe(1)), number))
        if begun is not None:
            begun.append(x)
        return x

    def viewed(self, number: int, name: str, x: Any) -> Any:
        """A part or a view of an array."""
        frame = sys._getframe(1)
        source, session = self._begun.pop((id(frame), number), None), self.session
        if source is None or session is None:
            return x
        if isinstance(source[0], ARRAYS):
            session.viewed(name, source[0], x, frame)
        elif isinstance(source[0], GRIDS):
            session.gridded(x, frame)
        elif isinstance(source[0], JOINERS) and source[1:]:
            session.joined(source[1], x, frame)
        return x

    # -- calls ------------------------------------------------------------------------------------

    def call(self, number: int, f: Any) -> Any:
        """A function that is about to be called."""
        session, frame = self.session, sys._getframe(1)
        callee = None if session is None else callee_of(f)
        if callee is not None and callee.name == "resize" and session is not None:
            self._forget(callee.owner)  # as it refuses an array that anything refers to
            session.forget(callee.owner)
            callee = None
        if callee is None or session is None:
            self._begun.pop((id(frame), number), None)
            return f
        own = [] if callee.owner is None else [callee.owner]
        self._begin(frame, number, Given(callee, own, {}))
        return f if session.past is None else session.past.function(f, callee)

    def argument(self, number: int, x: Any) -> Any:
        """An argument of it."""
        given = self._begun.get((id(sys._getframe(1)), number))
        if given is not None:
            given.args.append(x)
        return x

    def named(self, number: int, name: str, x: Any) -> Any:
        """A keyword argument."""
        given = self._begun.get((id(sys._getframe(1)), number))
        if given is not None:
            given.kwargs[name] = x
        return x

    def starred(self, number: int, values: Any) -> Any:
        """Arguments in a sequence; an iterator's are not looked at, as that would use them up."""
        key = id(sys._getframe(1)), number
        given = self._begun.get(key)
        if given is not None and type(values) in (list, tuple):
            given.args.extend(values)
        elif given is not None:
            del self._begun[key]
        return values

    def rest(self, number: int, values: Any) -> Any:
        """Keyword arguments in a dict."""
        key = id(sys._getframe(1)), number
        given = self._begun.get(key)
        if given is not None and type(values) is dict:
            given.kwargs.update(values)
        elif given is not None:
            del self._begun[key]
        return values

    def called(self, number: int, x: Any) -> Any:
        """What the function returned."""
        frame = sys._getframe(1)
        given, session = self._begun.pop((id(frame), number), None), self.session
        if given is not None and session is not None:
            session.call(given, x, frame)
        return x

    # -- assignments ------------------------------------------------------------------------------

    def target(self, number: int, x: Any) -> Any:
        """The array of ``x[key] = value``, whose value is there already."""
        frame = sys._getframe(1)
        value, session = self._begun.pop((id(frame), number), None), self.session
        if value is None or session is None or not isinstance(x, np.ndarray):
            return x
        session.assigned(x, value[0], frame)
        return x if session.past is None else session.past.target(x, value[0])

    # -- what is evaluated once and stands twice ---------------------------------------------------

    def hold(self, number: int, x: Any) -> Any:
        """A value that is needed again."""
        held = self._held
        if len(held) >= _MOST_HELD:  # no recursion goes so deep: these are of frames that are gone
            for key in tuple(held)[: _MOST_HELD // 2]:
                held.pop(key, None)
        held[id(sys._getframe(1)), number] = x
        return x

    def taken(self, number: int) -> Any:
        """That value."""
        return self._held.pop((id(sys._getframe(1)), number))

    def released(self, x: Any, *numbers: int) -> Any:
        """The end of a chain of comparisons, which may have stopped before all were needed."""
        frame = id(sys._getframe(1))
        for number in numbers:
            self._held.pop((frame, number), None)
        return x

    def _begin(self, frame: FrameType, number: int, operands: Any) -> None:
        begun = self._begun
        if len(begun) >= MOST:
            begun.clear()
        begun[id(frame), number] = operands

    def _forget(self, x: Any) -> None:
        """Let go of an array and its views, which operations may have that were stopped."""
        self._begun.clear()
        for key, held in tuple(self._held.items()):
            if held is x or getattr(held, "base", None) is x:
                self._held.pop(key, None)

    @contextmanager
    def recording(self, session: Session) -> Iterator[None]:
        """Record in a block, in all threads."""
        before, self.session = self.session, session
        try:
            yield
        finally:
            self.session = before
            self._begun.clear()


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
