"""Calls and operators of NumPy's that failed, as calls that can be tried again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from types import FrameType
from typing import Any

import numpy as np

from promoarray.diagnostics.calls.common import is_reflected, words
from promoarray.diagnostics.calls.numpy import STORES
from promoarray.diagnostics.record.numpy.call import Call
from promoarray.diagnostics.record.numpy.numpy1_emulation import program_frame
from promoarray.diagnostics.record.numpy.operand import Callee, callee_of
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.dtypes import DType
from promoarray.operations import Form

What = str | tuple[Callee, Callable[..., Any], Any]
"""An operator by its name; or what was called: as a Callee, itself, and the array it is a method
of."""


class FailedCall(Call):
    """A call that failed."""

    writes = False

    @property
    def plain(self) -> str:
        """Its name."""
        return self.name

    @staticmethod
    def copy(x: Any, dtype: DType | None) -> Any:
        """A copy of an array in a dtype; of a scalar an array without axes."""
        return np.array(x, dtype.storage if dtype else x.dtype, subok=True)

    @staticmethod
    def undisturbed() -> AbstractContextManager[Any]:
        """Carries out calls of which the program notices nothing."""
        return np.errstate(all="ignore")


def failed_call(
    recorder: Recorder,
    what: What,
    given: Sequence[Any],
    kwargs: dict[str, Any],
    frame: FrameType,
    in_place: bool = False,
) -> tuple[FailedCall, Callable[..., Any], tuple[Any, ...]]:
    """Return a call that failed, with the function and the arguments to try it with again."""
    if isinstance(what, str):
        function = _operator(what, in_place)
        callee, writes = Callee(what, Form.OPERATOR), in_place or what == "__setitem__"
    else:
        callee, function, owner = what
        if owner is not None:
            given, function = (owner, *given), _method(function.__name__)
        elif isinstance(getattr(function, "__self__", None), _DRAWING):
            function = _of_a_copy(function)
        writes = STORES.get(callee.name, (None,))[0] == 0
    call = FailedCall(recorder, callee, given, kwargs, None, program_frame(frame))
    call.writes = writes
    return call, function, tuple(given)


def called(
    recorder: Recorder, name: str, function: Any, args: Any, kwargs: Any, frame: FrameType
) -> FailedCall:
    """Return the call of a library's function around what failed."""
    callee = callee_of(function) or Callee(name, Form.FUNCTION)
    return FailedCall(recorder, callee, args, kwargs, None, frame)


_NAMES = {
    operation: name.strip("_")
    for name, operation in words("torch").operations.items()
    if name.startswith("__") and name != "__div__" and not is_reflected(name)
}
"""From operations to Python's operators; PyTorch has another name for one, as Python 2 did."""


def _operator(name: str, in_place: bool) -> Callable[..., Any]:
    own = _NAMES.get(name, name)
    written = f"__i{own}__" if in_place else own if name.startswith("__") else f"__{own}__"
    function: Callable[..., Any] = getattr(operator, written)
    return function


_DRAWING = np.random.Generator, np.random.RandomState


def _of_a_copy(method: Any) -> Callable[..., Any]:
    """A method that draws numbers, and leaves those to come as they are."""

    def drawn(*args: Any, **kwargs: Any) -> Any:
        return getattr(deepcopy(method.__self__), method.__name__)(*args, **kwargs)

    return drawn


def _method(name: str) -> Callable[..., Any]:
    def called(owner: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(owner, name)(*args, **kwargs)

    return called
