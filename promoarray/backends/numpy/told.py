"""NumPy's warnings of floating-point exceptions, at the line of the program.

NumPy names the line of Python that calls a ufunc. What is called from C is called by the program;
from Python it would be a line of promoarray, which tells nobody anything, and by which Python
takes the warnings of all operations for one that it has shown already.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from promoarray.kernels._cpu import StateGuard

if TYPE_CHECKING:
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_NOT_THE_PROGRAM = _PACKAGE + os.sep, os.path.dirname(np.__file__) + os.sep


def warn(message: str) -> None:
    """Warn of a floating-point exception at the innermost line outside promoarray, NumPy and what
    lies between them."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return
    warnings.warn_explicit(
        message,
        RuntimeWarning,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _is_between(frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
        return True
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "array_api_compat"


class _Log:
    """What NumPy writes to where it would warn: it has the words, and leaves the place to us."""

    def write(self, text: str) -> None:
        said = _SAID.get()
        if said is not None:
            if text in said:
                return
            said.add(text)
        warn(text.removeprefix("Warning: ").rstrip("\n"))


_SAID: ContextVar[set[str] | None] = ContextVar("said of the blocks of one operation", default=None)
_LOG = _Log()


class _Logging:
    """NumPy's state in which it logs what it warns of by default: it is made once, as to make one
    takes as long as a short operation."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = _STATE.set(_LOGGING)

    def __exit__(self, *_: object) -> None:
        _STATE.reset(self._before)


def _logged() -> AbstractContextManager[Any]:
    state: Any = np.geterr()
    warned: Any = {kind: "log" for kind, how in state.items() if how == "warn"}
    if not warned or np.geterrcall() is not None:  # the program has one of its own for other kinds
        return nullcontext()
    return np.errstate(**warned, call=_LOG)


def _logging() -> Any:
    with _logged():
        return _STATE.get()


try:
    from numpy._core.umath import _extobj_contextvar

    _STATE: ContextVar[Any] = _extobj_contextvar
    _DEFAULT = Context().run(_STATE.get)
    _LOGGING = Context().run(_logging)
except (ImportError, LookupError):  # NumPy does not promise where its state is
    _DEFAULT = None


def state() -> Any:
    """The object that stands for what NumPy does of floating-point exceptions; None if NumPy does
    not say."""
    return None if _DEFAULT is None else _STATE.get()


def telling(function: Function) -> Function:
    """Have NumPy warn at the line of the program of what a function of ours computes."""
    if _DEFAULT is not None:
        state = _STATE.get, _STATE.set, _STATE.reset, _DEFAULT, _LOGGING
        return cast("Function", wraps(function)(StateGuard(function, state=state)))

    @wraps(function)
    def told(*args: Any, **options: Any) -> Any:
        with at_the_program():
            return function(*args, **options)

    return cast("Function", told)


def is_usual() -> bool:
    """Whether NumPy surely only warns of floating-point exceptions, or ignores them."""
    return _DEFAULT is not None and _STATE.get() is _DEFAULT


def is_logged() -> bool:
    """Whether NumPy surely logs what it warns of by default, as within ``telling``."""
    return _DEFAULT is not None and _STATE.get() is _LOGGING


def at_the_program() -> AbstractContextManager[Any]:
    """Have NumPy warn at the line of the program, of what it would warn of here."""
    if is_usual():
        return _Logging()
    return _logged()


@contextmanager
def at_the_program_once() -> Iterator[None]:
    """The same of what is computed block by block: NumPy warns once of a whole operation."""
    said = _SAID.set(set())
    try:
        with at_the_program():
            yield
    finally:
        _SAID.reset(said)
