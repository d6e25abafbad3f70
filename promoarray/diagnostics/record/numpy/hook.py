"""The hook that rewritten programs pass their operands and results through.

It is one object among the builtins. While nothing is recorded it hands on what it is given.
"""

from __future__ import annotations
import __future__

import builtins
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any, Self

import numpy as np

from promoarray.core.call_site import is_library, of_promoarray
from promoarray.diagnostics.model.scalar_class import nearest, scalar_class
from promoarray.diagnostics.record._seen import FastHook
from promoarray.diagnostics.record.numpy.numpy1_emulation import program_frame
from promoarray.diagnostics.record.numpy.operand import ARRAYS, Callee, Otherwise, callee_of
from promoarray.diagnostics.record.numpy.rewriting import RESERVED, rewritten
from promoarray.diagnostics.record.numpy.session import Session
from promoarray.diagnostics.record.numpy.stand_ins import StandIns, holds, in_python, listed
from promoarray.diagnostics.record.report import BEFORE_READING

_COMPARE = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})

PLAIN = frozenset({bool, int, float, complex, str, bytes, list, tuple, dict, set})
"""What has nothing to do with NumPy, if it stands on both sides of an operator."""

_MOST_HELD = 1 << 16

GRIDS = type(np.mgrid), type(np.ogrid)
"""Which make arrays of the numbers of slices: ``np.mgrid[0:3]``."""

JOINERS = type(np.r_), type(np.c_)
"""Which join what they are given: ``np.r_[1:4, 0.5]``."""


class Hook(FastHook):
    """The hook, and what stands in rewritten programs besides its methods."""

    itself: _Itself
    _held: dict[tuple[int, int], Any]
    slice = slice
    whole = slice(None)

    def __new__(cls) -> Self:
        """Make a hook that nobody is told by."""
        stand_ins = StandIns(lambda: made.session)
        made = super().__new__(
            cls,
            (
                *(np.ndarray, np.generic, np.dtype, FunctionType, MethodType),
                *(np.ufunc, type(np.sum), Callee, Otherwise, PLAIN),
                lambda function: callee_of(function) or stand_ins(function),
                *(scalar_class, is_library, _outside),
            ),
            *nearest(),
        )
        made.itself = _Itself()
        made._held = {}
        return made

    # -- what is evaluated once and stands twice, in a chain of comparisons -----------------------

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, number: int, x: Any) -> Any:
        """A value that is needed again in a frame."""
        if len(self._held) >= _MOST_HELD:  # no recursion goes so deep: these are of dead frames
            self._held.clear()
        self._held[id(sys._getframe(1)), number] = x
        return x

    def taken(self, number: int) -> Any:
        """That value."""
        return self._held.pop((id(sys._getframe(1)), number))

    def released(self, x: Any, *numbers: int) -> Any:
        """The end of a chain, which may have stopped before all were needed."""
        for number in numbers:
            self._held.pop((id(sys._getframe(1)), number), None)
        return x

    # -- what is told ----------------------------------------------------------------------------

    def bound(self, number: int, f: Any, later: bool) -> Any:
        """A function whose call has room for no number, or of which ``result`` tells later."""
        return _Bound(self.call_later if later else self.call, number, f)

    def _otherwise_viewed(self, source: Any, key: Any, x: Any, frame: FrameType) -> None:
        """Tell of items of what is no array."""
        if isinstance(source, GRIDS):
            self.session.gridded(x, frame)
        elif isinstance(source, JOINERS):
            self.session.joined(key, x, frame)

    def _resized(self, x: np.ndarray[Any, Any]) -> None:
        """Let go of an array that is about to be resized, which other references stop."""
        for key, each in tuple(self._held.items()):  # of chains that an error has ended
            if each is x or getattr(each, "base", None) is x:
                del self._held[key]
        self.session.forget(x)

    # -- what Python's own code does with NumPy's values ------------------------------------------

    def searched(self, values: Any, x: Any) -> Any:
        """What ``x in values`` looks in: what that compares is recorded."""
        if self.session is None or not isinstance(values, (list, tuple, np.ndarray)):
            return values
        if not isinstance(x, ARRAYS) and not holds(values, 0):
            return values
        try:
            if isinstance(values, np.ndarray):
                found = bool(in_python().equal(values, x).any())
            else:
                found = in_python().contains(values, x)
        except Exception:  # as Python will say
            return values
        return _Found(found) if self.session.past is not None else values

    def of_list(self, method: Any) -> Any:
        """A method by which a list compares what it holds."""
        values = getattr(method, "__self__", None)
        if self.session is None or not isinstance(values, (list, tuple)):
            return method
        if of_promoarray(sys._getframe(1)):
            return method  # by what computes it in Python
        return listed(method, values)

    def of_lists(self, name: str, a: Any, b: Any) -> None:
        """Hear of an operator of lists, tuples or dicts, which may compare what they hold."""
        if name in _COMPARE and self.session is not None and (holds(a) or holds(b)):
            frame, why = program_frame(sys._getframe(1)), "what they hold is compared unrecorded"
            self.session.unexamined("a comparison of lists", why, frame)

    def storing(self, x: Any) -> Any:
        """What is stored in by an unpacking, a loop, a ``with`` or an operation in place."""
        if self.session is None or not isinstance(x, np.ndarray):
            return x
        if self.session.past is not None:
            return _Storing(x, self.session)
        frame = program_frame(sys._getframe(1))
        self.session.unexamined("an assignment by unpacking", "its values are not compared", frame)
        return x

    def matched(self, x: Any) -> Any:
        """What is compared with patterns."""
        if self.session is not None and holds(x):
            frame = program_frame(sys._getframe(1))
            self.session.unexamined("match", "its comparisons with values are not recorded", frame)
        return x

    def compiled(self, function: Any) -> Any:
        """A function, or a class, that Numba compiles: it is left as it is."""
        if self.session is not None:
            why, frame = "Numba compiles it: what it computes is not recorded", sys._getframe(1)
            name = getattr(function, "__qualname__", "a function")
            self.session.unexamined(f"the body of {name}", why, program_frame(frame))
        return function

    def of_int64(self, x: Any) -> Any:
        """What Python computed for a function that Numba would compile."""
        if type(x) is int and not -(1 << 63) <= x < 1 << 63 and self.session is not None:
            frame = program_frame(sys._getframe(1))
            self.session.unexamined("a Python int beyond int64", "Numba's integers wrap", frame)
        return x

    def exported(self, name: str, x: Any) -> Any:
        """An array of which it is given away where its memory is."""
        if self.session is not None and isinstance(x, np.ndarray):
            frame = program_frame(sys._getframe(1))
            self.session.unexamined(f"an array's {name}", "other code may compute with it", frame)
        return x

    def source(self, function: Any, *given: Any) -> tuple[Any, ...]:
        """The arguments of a builtin that may run a text, which is rewritten."""
        if self.session is None or function not in (exec, eval):
            return given
        text, *names = given
        frame = program_frame(sys._getframe(1))
        if isinstance(text, CodeType):
            self.session.unexamined(f"{function.__name__} of code", "it is not recorded", frame)
        if not isinstance(text, (str, bytes)):
            return given
        if names and isinstance(names[0], dict) and _lacks_the_hook(names[0]):
            why = "it is run with builtins of its own"
            self.session.unexamined(f"{function.__name__} of a text", why, frame)
            return given
        text = text.strip() if function is eval else text
        flags = frame.f_code.co_flags & __future__.annotations.compiler_flag
        try:
            text = rewritten(text, "<string>", flags, whole=False, mode=function.__name__)
        except (SyntaxError, ValueError):  # as Python will say
            return given
        return text, *names

    @contextmanager
    def recording(self, session: Session) -> Iterator[None]:
        """Record in a block, in all threads."""
        before = self.session
        self._tell_of(session)
        session.recorder.forgetting.append(self.forget_calls)
        checks = session.recorder.checks
        if checks is not None:
            checks.tells.append(self.flush)
        try:
            with warnings_heard(session):
                yield
        finally:
            session.recorder.forgetting.remove(self.forget_calls)
            self._tell_of(before)
            if checks is not None:
                checks.tells.remove(self.flush)
            session.end()

    def _tell_of(self, session: Session | None) -> None:
        if session is None:
            self.tell(None, None, None, None, False)
        else:
            recorder = session.recorder
            self.tell(session, session.does, recorder, recorder.carried, recorder.by_value)


@contextmanager
def warnings_heard(session: Session) -> Iterator[None]:
    """Hear what NumPy warns of; of what Python's own code does it names the program's line."""
    module: Any = warnings
    shown = module._showwarnmsg

    def heard(message: Any) -> None:
        place, text = program_frame(sys._getframe(1)), str(message.message)
        if message.filename != in_python().__file__:
            if issubclass(message.category, RuntimeWarning) and _OF_NUMPY in text:
                session.warned(text, place)
            shown(message)
            return
        registry = place.f_globals.setdefault("__warningregistry__", {})
        line = place.f_code.co_filename, place.f_lineno, place.f_globals.get("__name__")
        warnings.warn_explicit(text, message.category, *line, registry)

    module._showwarnmsg = heard
    try:
        yield
    finally:
        if module._showwarnmsg is heard:
            module._showwarnmsg = shown


_OF_NUMPY = "encountered in"
"""Of NumPy's warnings of what became of numbers."""


def _outside(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without promoarray's own frames, with which it begins."""
    while traceback is not None and of_promoarray(traceback.tb_frame):
        traceback = traceback.tb_next
    return traceback


def _lacks_the_hook(names: dict[str, Any]) -> bool:
    """Whether code that is run with these names has builtins of its own."""
    own = names.get("__builtins__", builtins)
    return RESERVED not in (own if isinstance(own, dict) else vars(own))


class _Bound(partial[Any]):
    """A function with its place, in messages the function."""

    __module__: Any = property(lambda self: self.args[1].__module__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.args[1], name)

    def __str__(self) -> str:
        return str(self.args[1])


class _Itself:
    """Compared to anything, it gives that."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, x: object) -> Any:
        return x


class _Found:
    """Stands where ``in`` looks for something, and has the answer."""

    def __init__(self, found: bool) -> None:
        self._found = found

    def __contains__(self, x: Any) -> bool:
        return self._found


class _Storing:
    """Stands as an array in which values are stored as the past does."""

    def __init__(self, x: Any, session: Session) -> None:
        self._x, self._session = x, session

    def __setitem__(self, key: Any, value: Any) -> None:
        x: Any = self._x
        if getattr(value, "dtype", None) != x.dtype and self._session.past is not None:
            self._session.assigned(x, key, value, program_frame(sys._getframe(1)))
            x = self._session.past.target(x, key, value)
        x[key] = value


def hook() -> Hook:
    """Return the hook, put among the builtins once it is asked for.

    What stands there is a module of its methods: Python calls a module's functions the fastest.
    """
    found: Any = getattr(builtins, RESERVED, None)
    if found is None:
        made = Hook()
        found = ModuleType(RESERVED)
        vars(found).update({n: getattr(made, n) for n in dir(made) if n[0] != "_"}, hook=made)
        setattr(builtins, RESERVED, found)
        BEFORE_READING.append(made.flush)
        in_python()  # which is loaded rewritten, before anything is recorded
    there: Hook = found.hook
    return there
