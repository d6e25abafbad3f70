"""Tells a recorder what the hook of rewritten programs sees."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.observers import notify_lock
from promoarray.diagnostics.record.known import Known
from promoarray.diagnostics.record.numpy.call import Call
from promoarray.diagnostics.record.numpy.callee import Callee
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    alike,
    operand_of,
    result_of,
    results_of,
)
from promoarray.diagnostics.record.numpy.past import Past
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import APPROXIMATE, MAKE, MOVE, OPERATION, UNKNOWN
from promoarray.dtypes import Kind
from promoarray.operations import Form

MOST = 1 << 12
"""So many operations may have begun: those that an exception stopped are forgotten then. As many
calls are known."""


class Given(NamedTuple):
    """What a function of NumPy's is being given."""

    callee: Callee
    args: list[Any]
    kwargs: dict[str, Any]


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

    def operator(self, name: str, given: list[Any], x: Any, frame: FrameType, form: Form) -> None:
        """Record an operator's operands and result."""
        if result_of(x) is not None:
            self._tell(self._operator, name, (name, form), given, x, frame, form)

    def call(self, given: Given, x: Any, frame: FrameType) -> None:
        """Record a call's arguments and result."""
        callee, args, kwargs = given
        alike = callee.name, callee.form, callee.outer, *kwargs
        values = (*args, *kwargs.values()) if kwargs else args
        self._tell(self._call, callee.name, alike, values, x, frame, given)

    def assigned(self, target: Any, value: Any, frame: FrameType) -> None:
        """Record ``target[...] = value``."""
        name = "__setitem__"
        self._tell(self._assigned, name, (name,), (target, value), None, frame)

    def viewed(self, name: str, source: Any, x: Any, frame: FrameType) -> None:
        """Have a part of an array carry what the array does."""
        result = result_of(x)
        if source is not x and result is not None:
            self._guarded(self._viewed, name, source, result, frame)

    def gridded(self, x: Any, frame: FrameType) -> None:
        """Record what ``np.mgrid`` and ``np.ogrid`` make, which has a default dtype."""
        if results := results_of(x):
            self._guarded(self._gridded, results, frame)

    def joined(self, key: Any, x: Any, frame: FrameType) -> None:
        """Record what ``np.r_`` and ``np.c_`` make of what they are given."""
        if (result := result_of(x)) is not None:
            self._guarded(self._joined, key, result, frame)

    def forget(self, x: Any) -> None:
        """Forget what an array carries."""
        result = result_of(x)
        if result is not None:
            self.recorder.made(result)

    # -- calls that are alike ---------------------------------------------------------------------

    def _tell(
        self,
        what: Callable[..., str],
        name: str,
        alike_by: tuple[Any, ...],
        values: Any,
        x: Any,
        frame: FrameType,
        *more: Any,
    ) -> None:
        """Record what was seen; of what is like something at which there is nothing to note, or to
        carry on, only that it was there.

        Parameters
        ----------
        what : callable
            Records it; answers what it is counted as, "" if nothing was recorded.
        name : str
        alike_by : tuple
            What calls that are alike have in common besides their operands.
        values : sequence
            The operands.
        x : object
            The result.
        frame : frame
        *more
            What ``what`` takes besides.
        """
        try:
            parts = alike(self.recorder, values)
            key = None if parts is None else (*alike_by, *parts)
            known = self._known.get(key) if key is not None else None
            if known is not None and not known.checked and not self._too_deep:
                self.recorder.again(known.kind, name, known.operations)
                return
        except RecursionError:
            self._too_deep += 1
            return
        except Exception:
            self.bug = self.bug or traceback.format_exc()
            return
        self._guarded(self._recorded, what, name, key, known, values, x, frame, *more)

    def _guarded(self, what: Callable[..., object], *seen: Any) -> None:
        """Record; the program goes on whatever comes of it."""
        try:
            self.recorder.guarded(self._told, what, *seen)
        except RecursionError:  # the program left too few levels of it, for counting as well
            self._too_deep += 1
        except Exception:
            self.bug = self.bug or traceback.format_exc()

    def _told(self, what: Callable[..., object], *seen: Any) -> None:
        with notify_lock:
            for _ in range(self._too_deep):
                self.recorder.count(UNKNOWN, "at the end of the recursion")
            self._too_deep = 0
            what(*seen)

    def _recorded(
        self,
        what: Callable[..., str],
        name: str,
        key: Any,
        known: Known | None,
        values: Any,
        x: Any,
        frame: FrameType,
        *more: Any,
    ) -> None:
        """Tell of a call what was told of one that was alike, or what it was."""
        recorder, made = self.recorder, _made(x)
        if known is not None and (not known.checked or known.carried_on(recorder, made, _kind)):
            recorder.tell_again(known.kind, name, known.operations, known.tells, frame)
            return
        recorder.heard.begin()
        recorder.noted = False
        kind = what(name, values, x, frame, *more)
        new = Known.of(recorder, kind, made, _kind) if kind and key is not None else None
        if new is None or (self.past is not None and (new.checked or recorder.noted)):
            return  # who did it, NumPy 2 or the past, is seen at each call
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = new

    # -- what is recorded -------------------------------------------------------------------------

    def _operator(self, name: str, given: Any, x: Any, frame: FrameType, form: Form) -> str:
        recorder, result = self.recorder, result_of(x)
        operands = tuple(operand_of(recorder, x) for x in given)
        if result is None or any(x is None for x in operands):
            return ""
        recorder.count(OPERATION, name)
        past = self.past.took_over(x) if self.past is not None else None
        recorder.saw(name, operands, result, frame, form=form, policy=past)
        return OPERATION

    def _call(self, name: str, values: Any, x: Any, frame: FrameType, given: Given) -> str:
        call = Call(self.recorder, *given, x, frame)
        if self.past is not None:
            call.policy = self.past.took_over(x)
        call.tell()
        return call.kind

    def _assigned(self, name: str, values: Any, x: Any, frame: FrameType) -> str:
        recorder, (target, value) = self.recorder, values
        ghosts = operand_of(recorder, target), operand_of(recorder, value)
        if any(x is None for x in ghosts):
            return ""
        recorder.count(OPERATION, name)
        past = self.past.stores(target, value) if self.past is not None else None
        recorder.assigned(*ghosts, frame, policy=past)
        recorder.noted = not recorder.heard.lasting
        return OPERATION

    def _gridded(self, results: list[Result], frame: FrameType) -> None:
        self.recorder.count(MAKE, "mgrid")
        for result in results:
            number = 0.0 if result.dtype.kind is Kind.FLOAT else 0
            self.recorder.default(number, result, frame, lone=False)

    def _joined(self, key: Any, result: Result, frame: FrameType) -> None:
        """As ``concatenate``; with no array among what is joined, it has the default dtype."""
        parts = key if isinstance(key, tuple) else (key,)
        given = [each for each in parts if isinstance(each, ARRAYS)]
        operands = [operand_of(self.recorder, each) for each in given]
        if not given and result.dtype.kind in _NUMBERS:
            self.recorder.count(MAKE, "r_")
            self.recorder.default(_NUMBERS[result.dtype.kind], result, frame, lone=False)
        elif given[1:] and None not in operands:
            self.recorder.count(APPROXIMATE, "r_")
            self.recorder.saw("concat", operands, result, frame, exact=False)
        elif given:
            self.recorder.count(MOVE, "r_")
            self.recorder.moved(given[0], result)

    def _viewed(self, name: str, source: Any, result: Result, frame: FrameType) -> None:
        operand = operand_of(self.recorder, source) if name in ("real", "imag") else None
        if operand is not None:
            self.recorder.count(OPERATION, name)
            self.recorder.saw(name, (operand,), result, frame)
        elif source in self.recorder.carried:
            self.recorder.count(MOVE, name)
            self.recorder.moved(source, result)


_NUMBERS: dict[Kind, Any] = {Kind.BOOL: False, Kind.INT: 0, Kind.FLOAT: 0.0, Kind.COMPLEX: 0j}
"""A Python number of each kind that such numbers have."""


def _made(x: Any) -> list[Any]:
    """The arrays that a call made."""
    several = x if isinstance(x, (list, tuple)) else (x,)
    return [each for each in several if isinstance(each, ARRAYS)]


def _kind(x: Any) -> tuple[np.dtype[Any], int]:
    return x.dtype, x.ndim
