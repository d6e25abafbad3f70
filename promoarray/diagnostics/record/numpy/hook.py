"""The hook that rewritten programs pass their operands and results through.

It is one object among the builtins. While nothing is recorded it hands on what it is given.
"""

from __future__ import annotations

import builtins
import operator
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.observers import notify_lock
from promoarray.diagnostics.record.numpy.call import Call
from promoarray.diagnostics.record.numpy.callee import Callee, callee_of
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    alike,
    form_of,
    operand_of,
    result_of,
)
from promoarray.diagnostics.record.numpy.past import Past
from promoarray.diagnostics.record.numpy.rewriting import RESERVED
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import MOVE, OPERATION, UNKNOWN
from promoarray.operations import Form

Key = tuple[int, int]

MOST = 1 << 12
"""So many operations may have begun: those that an exception stopped are forgotten then."""


_MOST_HELD = 1 << 16

_PLAIN = frozenset({bool, int, float, complex, str, bytes, list, tuple, dict, set})
"""What has nothing to do with NumPy, if it stands on both sides of an operator."""


class Known(NamedTuple):
    """What was told of a call, for those that are alike.

    Attributes
    ----------
    kind : str
        What it is counted as.
    operations : int
        How many operations it stands for at which there is nothing to note.
    tells : tuple of callable
        What to tell the observer besides.
    made : tuple of ((np.dtype, int), TypeRecord or None)
        Of each array that it makes the dtype and the number of axes, and what it carries; empty
        where there is nothing to tell, and none carries anything.
    """

    kind: str
    operations: int
    tells: tuple[Callable[[], object], ...] = ()
    made: tuple[tuple[tuple[np.dtype[Any], int], Any], ...] = ()


class Given(NamedTuple):
    """What a function of NumPy's is being given."""

    callee: Callee
    args: list[Any]
    kwargs: dict[str, Any]


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
        if type(x) in _PLAIN and type(operands[0]) in _PLAIN:
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
        session.tell(session.operator, name, operands, x, frame, form)
        return x

    def viewed(self, number: int, name: str, x: Any) -> Any:
        """A part or a view of an array."""
        frame = sys._getframe(1)
        source, session = self._begun.pop((id(frame), number), None), self.session
        if source is not None and session is not None and isinstance(source[0], ARRAYS):
            session.tell(session.viewed, name, source[0], x, frame)
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
            session.tell(session.call, given, x, frame)
        return x

    # -- assignments ------------------------------------------------------------------------------

    def target(self, number: int, x: Any) -> Any:
        """The array of ``x[key] = value``, whose value is there already."""
        frame = sys._getframe(1)
        value, session = self._begun.pop((id(frame), number), None), self.session
        if value is None or session is None or not isinstance(x, np.ndarray):
            return x
        session.tell(session.assigned, x, value[0], frame)
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


class Session:
    """Tells a recorder what a hook sees.

    Parameters
    ----------
    recorder : Recorder
    past : Past or None
        Does what NumPy 2 refuses.

    Attributes
    ----------
    bug : str
        The traceback of what went wrong in recording, which never stops the program.
    """

    def __init__(self, recorder: Recorder, past: Past | None = None) -> None:
        self.recorder, self.past = recorder, past
        self.bug = ""
        self._too_deep = 0
        self._known: dict[Any, Known] = {}

    def tell(self, what: Callable[..., None], *seen: Any) -> None:
        """Record; the program goes on whatever comes of it."""
        try:
            self.recorder.guarded(self._told, what, *seen)
        except RecursionError:  # the program left too few levels of it, for counting as well
            self._too_deep += 1
        except Exception:
            self.bug = self.bug or traceback.format_exc()

    def _told(self, what: Callable[..., None], *seen: Any) -> None:
        with notify_lock:
            for _ in range(self._too_deep):
                self.recorder.count(UNKNOWN, "at the end of the recursion")
            self._too_deep = 0
            what(*seen)

    def operator(self, name: str, given: list[Any], x: Any, frame: FrameType, form: Form) -> None:
        """An operator's operands and result."""
        result, recorder = result_of(x), self.recorder
        if result is None:
            return
        key = self._key((name, form), given)
        if self._again(key, name, x, frame):
            return
        operands = tuple(operand_of(recorder, x) for x in given)
        if any(x is None for x in operands):
            return
        self._begin()
        recorder.count(OPERATION, name)
        past = self.past.took_over(x) if self.past is not None else None
        recorder.saw(name, operands, result, frame, form=form, policy=past)
        self._remember(key, OPERATION, x)

    def call(self, given: Given, x: Any, frame: FrameType) -> None:
        """A call's arguments and result."""
        callee, args, kwargs = given
        key = self._key(
            (callee.name, callee.form, callee.outer, *kwargs), (*args, *kwargs.values())
        )
        if self._again(key, callee.name, x, frame):
            return
        self._begin()
        call = Call(self.recorder, callee, args, kwargs, x, frame)
        if self.past is not None:
            call.policy = self.past.took_over(x)
        call.tell()
        if call.kind:
            self._remember(key, call.kind, x)

    def viewed(self, name: str, source: Any, x: Any, frame: FrameType) -> None:
        """A part of an array carries what the array does."""
        result = result_of(x)
        if result is None or source is x:
            return
        operand = operand_of(self.recorder, source) if name in ("real", "imag") else None
        if operand is not None:
            self.recorder.count(OPERATION, name)
            self.recorder.saw(name, (operand,), result, frame)
        elif source in self.recorder.carried:
            self.recorder.count(MOVE, name)
            self.recorder.moved(source, result)

    def assigned(self, target: Any, value: Any, frame: FrameType) -> None:
        """``target[...] = value``."""
        key = self._key(("__setitem__",), (target, value))
        if self._again(key, "__setitem__", None, frame):
            return
        recorder = self.recorder
        ghosts = operand_of(recorder, target), operand_of(recorder, value)
        if any(x is None for x in ghosts):
            return
        self._begin()
        recorder.count(OPERATION, "__setitem__")
        past = self.past.stores(target, value) if self.past is not None else None
        recorder.assigned(*ghosts, frame, policy=past)
        recorder.noted = not recorder.heard.lasting
        self._remember(key, OPERATION, None)

    def forget(self, x: Any) -> None:
        """Forget what an array carries."""
        result = result_of(x)
        if result is not None:
            self.recorder.made(result)

    # -- calls that are alike ---------------------------------------------------------------------

    def _key(self, what: tuple[Any, ...], values: Any) -> Any:
        parts = alike(self.recorder, values)
        return None if parts is None else (*what, *parts)

    def _begin(self) -> None:
        """Hear of another call."""
        self.recorder.heard.begin()
        self.recorder.noted = False

    def _again(self, key: Any, name: str, x: Any, frame: FrameType) -> bool:
        """Tell of a call what was told of one that was alike; answer whether there was one."""
        known = self._known.get(key) if key is not None else None
        if known is None:
            return False
        if not (known.tells or known.made):
            self.recorder.again(known.kind, name, known.operations)
            return True
        made = _made(x)
        if [_kind(each) for each in made] != [kind for kind, _ in known.made]:
            return False
        for each, (_, slot) in zip(made, known.made, strict=True):
            self.recorder.carried.put(each, slot)
        self.recorder.tell_again(known.kind, name, known.operations, known.tells, frame)
        return True

    def _remember(self, key: Any, kind: str, x: Any) -> None:
        """Keep what was told, if calls that are alike tell the same."""
        recorder, heard = self.recorder, self.recorder.heard
        made = _made(x)
        if key is None or not heard.lasting or not heard.arrays <= {id(each) for each in made}:
            return
        slots = [recorder.carried.slot(each) for each in made]
        told = bool(heard.tells or any(slots))
        if self.past is not None and (told or recorder.noted):
            return  # who did it, NumPy 2 or the past, is seen at each call
        if len(self._known) >= MOST:
            self._known.clear()
        kinds = [_kind(each) for each in made]
        carried = tuple(zip(kinds, slots, strict=True)) if told else ()
        self._known[key] = Known(kind, heard.operations, tuple(heard.tells), carried)


def _made(x: Any) -> list[Any]:
    """The arrays that a call made."""
    several = x if isinstance(x, (list, tuple)) else (x,)
    return [each for each in several if isinstance(each, ARRAYS)]


def _kind(x: Any) -> tuple[np.dtype[Any], int]:
    return x.dtype, x.ndim


def hook() -> Hook:
    """Return the hook, put among the builtins once it is asked for."""
    found: Hook | None = getattr(builtins, RESERVED, None)
    if found is None:
        found = Hook()
        setattr(builtins, RESERVED, found)
    return found
