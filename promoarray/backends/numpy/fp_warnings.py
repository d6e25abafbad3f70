"""Warnings of floating-point exceptions, at the line of the program and in NumPy's words.

NumPy names the line of Python that calls a ufunc. What is called from C is called by the program;
from Python it would be a line of promoarray, which tells nobody anything, and by which Python
takes the warnings of all operations for one that it has shown already.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, ContextVar
from functools import partial, wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from promoarray.kernels._cpu import StateGuard
from promoarray.kernels.portable.steps import divided_by_zero

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
        warn(text.removeprefix("Warning: ").rstrip("\n"))


_LOG = _Log()


def at_the_program() -> AbstractContextManager[Any]:
    """Have NumPy warn at the line of the program, of what it would warn of here: it logs, where it
    would warn."""
    state: Any = np.geterr()
    warned: Any = {kind: "log" for kind, how in state.items() if how == "warn"}
    if not warned or np.geterrcall() is not None:  # the program has one of its own for other kinds
        return nullcontext()
    return np.errstate(**warned, call=_LOG)


def _logging() -> Any:
    with at_the_program():
        return _STATE.get()


try:
    from numpy._core.umath import _extobj_contextvar

    _STATE: ContextVar[Any] = _extobj_contextvar
    _DEFAULT = Context().run(_STATE.get)
    _LOGGING = Context().run(_logging)
except (ImportError, LookupError):  # NumPy does not promise where its state is
    _DEFAULT = None


_EXCEPTIONS = (
    ("divide", "divide by zero"),
    ("over", "overflow"),
    ("under", "underflow"),
    ("invalid", "invalid value"),
)
"""Floating-point exceptions as NumPy numbers them: their names in ``np.geterr``, and in words."""


ZERO_REFUSED = "0: "
"""Stands before the name of a division of integers of which a zero is an error."""


def report(name: str, raised: int) -> None:
    """Do what ``np.errstate`` says of the exceptions that one step of a kernel raised: by NumPy's
    name of what was computed, and its numbers, division by zero 1, overflow 2, underflow 4,
    invalid 8."""
    if name.startswith(ZERO_REFUSED) and raised & 1:
        raise divided_by_zero()
    name = name.removeprefix(ZERO_REFUSED)
    state: Any = np.geterr()
    for bit, (kind, what) in enumerate(_EXCEPTIONS):
        if raised >> bit & 1:
            _report_one(state[kind], f"{what} encountered in {name}", what, raised)


def _report_one(how: str, message: str, what: str, raised: int) -> None:
    handler: Any = np.geterrcall()
    if how == "warn":
        warn(message)
    elif how == "raise":
        raise FloatingPointError(message)
    elif how == "call" and handler is not None:
        handler(what, raised)
    elif how == "log" and handler is not None:
        handler.write(f"Warning: {message}\n")
    elif how == "print":
        print(f"Warning: {message}")


def may_raise() -> bool:
    """Whether a floating-point exception may become one of Python's: what has been written by then
    is not as it was."""
    if not (is_usual() or {*np.geterr().values()} <= {"ignore", "warn"}):
        return True
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                return True
            if not (message or module or line):  # all that come later are never asked
                return False
    return False


def telling(function: Function) -> Function:
    """Have NumPy warn at the line of the program of what a function of ours computes."""
    if _DEFAULT is not None:
        state = _STATE.get, _STATE.set, _STATE.reset, _DEFAULT, _LOGGING, _called_at_the_program
        return cast("Function", wraps(function)(StateGuard(function, state=state)))
    return cast("Function", wraps(function)(partial(_called_at_the_program, function)))


def _called_at_the_program(function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    with at_the_program():
        return function(*args, **options)


def is_usual() -> bool:
    """Whether NumPy surely only warns of floating-point exceptions, or ignores them."""
    return _DEFAULT is not None and _STATE.get() is _DEFAULT
