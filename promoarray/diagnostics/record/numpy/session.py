"""Tells a recorder what the hook of rewritten programs sees."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from promoarray.core.observers import notify_lock
from promoarray.diagnostics.record.call_cache import Known
from promoarray.diagnostics.record.numpy.call import Call
from promoarray.diagnostics.record.numpy.callee import Callee
from promoarray.diagnostics.record.numpy.numpy1_emulation import Past, beyond, program_frame
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    as_taken,
    flat,
    form_of,
    operand_of,
    result_of,
    results_of,
)
from promoarray.diagnostics.record.numpy.refusals import Refusals
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import APPROXIMATE, MAKE, MOVE, OPERATION, UNKNOWN
from promoarray.dtypes import Kind
from promoarray.operations import Form


class Session:
    """Tells a recorder what a hook sees.

    What it answers of a call is told of those that are alike, without asking it again.

    Parameters
    ----------
    recorder : Recorder
    past : Past or None
        Does what NumPy 2 refuses.

    Attributes
    ----------
    does : Past or Refusals
        What is asked before NumPy is.
    rewritten : frozenset of str
        The libraries that are rewritten with the program.
    bug : str
        The traceback of what went wrong in recording, which never stops the program.
    """

    def __init__(
        self, recorder: Recorder, past: Past | None = None, packages: Sequence[str] = ()
    ) -> None:
        self.recorder, self.past = recorder, past
        self.does: Past | Refusals = past or Refusals(recorder)
        self.rewritten = frozenset(packages)
        self.bug = ""
        self._too_deep = 0

    def operator(
        self, name: str, given: list[Any], x: Any, frame: FrameType, in_place: bool
    ) -> Known | None:
        """Record an operator's operands and result."""
        form = form_of(name, given[0], Form.INPLACE if in_place else Form.OPERATOR)
        return self._tell(self._operator, name, x, given, frame, form)

    def call(
        self, callee: Callee, args: Sequence[Any], kwargs: dict[str, Any], x: Any, frame: FrameType
    ) -> Known | None:
        """Record a call's arguments, of a method the array first, and result."""
        return self._tell(self._call, callee.name, x, callee, args, kwargs, frame)

    def assigned(self, target: Any, value: Any, frame: FrameType) -> Known | None:
        """Record ``target[...] = value``."""
        return self._tell(self._assigned, "__setitem__", None, target, value, program_frame(frame))

    def viewed(self, name: str, source: Any, x: Any, frame: FrameType) -> None:
        """Have a part of an array carry what the array does."""
        if (result := result_of(x)) is not None:
            self._guarded(self._viewed, name, source, result, program_frame(frame))

    def gridded(self, x: Any, frame: FrameType) -> None:
        """Record what ``np.mgrid`` and ``np.ogrid`` make, which has a default dtype."""
        if results := results_of(x):
            self._guarded(self._gridded, results, frame)

    def joined(self, key: Any, x: Any, frame: FrameType) -> None:
        """Record what ``np.r_`` and ``np.c_`` make of what they are given."""
        if (result := result_of(x)) is not None:
            self._guarded(self._joined, key, result, frame)

    def unexamined(self, what: str, why: str, frame: FrameType) -> None:
        """Note what is computed and not recorded."""
        self._guarded(self.recorder.unexamined, what, why, frame)

    def warned(self, text: str, frame: FrameType) -> None:
        """Note a warning of NumPy's."""
        self._guarded(self.recorder.warned, text, program_frame(frame))

    def forget(self, x: Any) -> None:
        """Forget what an array carries."""
        result = result_of(x)
        if result is not None:
            self.recorder.made(result)

    def end(self) -> None:
        """Count what could not be told."""
        self._guarded(lambda: None)

    # -- whatever comes of it, the program goes on ------------------------------------------------

    def _tell(self, what: Callable[..., str], name: str, x: Any, *seen: Any) -> Known | None:
        """Record what was seen; answer what is known of what is like it, None if nothing is.

        Parameters
        ----------
        what : callable
            Records it; answers what it is counted as, "" if nothing was recorded.
        name : str
        x : object
            The result.
        *seen
            What ``what`` takes besides the name and the result.
        """
        known: Known | None = self._guarded(self._recorded, what, name, x, *seen)
        return known

    def _guarded(self, what: Callable[..., Any], *seen: Any) -> Any:
        """Record; answer None where that went wrong."""
        try:
            return self.recorder.guarded(self._locked, what, *seen)
        except RecursionError:  # the program left too few levels of it, for counting as well
            self._too_deep += 1
        except Exception:
            self.bug = self.bug or traceback.format_exc()
        return None

    def _locked(self, what: Callable[..., Any], *seen: Any) -> Any:
        with notify_lock:
            for _ in range(self._too_deep):
                self.recorder.count(UNKNOWN, "at the end of the recursion")
            self._too_deep = 0
            return what(*seen)

    # -- what is recorded -------------------------------------------------------------------------

    def _recorded(self, what: Callable[..., str], name: str, x: Any, *seen: Any) -> Known | None:
        recorder = self.recorder
        recorder.heard.begin()
        recorder.noted = False
        kind = what(name, x, *seen)
        known = Known.of(recorder, (kind, name), _made(x), _kind, by_values=True) if kind else None
        part = self.past is not None and not self.past.whole
        if known is None or (part and recorder.noted):
            return None  # who did it, NumPy 2 or the past, is seen at each call
        return known

    def _operator(self, name: str, x: Any, given: list[Any], frame: FrameType, form: Form) -> str:
        recorder, result = self.recorder, result_of(x)
        operands = tuple(operand_of(recorder, x) for x in as_taken(given))
        if result is None or any(x is None for x in operands):
            return ""
        recorder.count(OPERATION, name)
        past = self.past.took_over(x) if self.past is not None else None
        place = program_frame(frame)
        whole = place is frame  # or a part of what Python computes in C
        part = "" if whole else frame.f_code.co_name.replace("<lambda>", "operator")
        written = None if whole else False
        recorder.saw(
            *(name, operands, result, place),
            form=form,
            edited=written,
            part_of=part,
            policy=past,
        )
        return OPERATION

    def _call(
        self,
        name: str,
        x: Any,
        callee: Callee,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> str:
        place = program_frame(frame)
        call = Call(self.recorder, callee, args, kwargs, x, place)
        call.past = self.past
        if place is not frame:  # by what Python's own code calls
            call.edited, call.part_of = False, name
        call.tell()
        return call.kind

    def _assigned(self, name: str, x: None, target: Any, value: Any, frame: FrameType) -> str:
        recorder = self.recorder
        if isinstance(value, (list, tuple)) or beyond(value, target):  # which is as one of them is
            value = next((int(x) for x in flat([value]) if beyond(x, target)), value)
        abstract_arrays = operand_of(recorder, target), operand_of(recorder, value)
        if any(x is None for x in abstract_arrays):
            return ""
        recorder.count(OPERATION, name)
        past = self.past.stores(target, value) if self.past is not None else None
        values = partial(np.asarray, value) if isinstance(value, ARRAYS) else None
        recorder.assigned(*abstract_arrays, frame, policy=past, values=values)
        recorder.noted = past is not None
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
        if self.past is not None and self.past.whole and 0 < len(given) < len(parts):
            self.recorder.unexamined("r_", "numbers beside arrays", frame)
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
