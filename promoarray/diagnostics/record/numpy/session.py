"""Tells a recorder what the hook of rewritten programs sees."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, wraps
from types import FrameType
from typing import Any

import numpy as np

from promoarray.core.observers import notify_lock
from promoarray.diagnostics.calls.numpy import STORES
from promoarray.diagnostics.record.numpy.call import Call
from promoarray.diagnostics.record.numpy.failed import What, failed_call
from promoarray.diagnostics.record.numpy.numpy1_emulation import (
    OPERATORS,
    Past,
    beyond,
    by_item,
    called_by_item,
    first_beyond,
    program_frame,
)
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    UNNAMED,
    Callee,
    Otherwise,
    as_taken,
    form_of,
    in_library,
    is_derived,
    is_of_library,
    operand_of,
    result_of,
    results_of,
    root_of,
)
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import APPROXIMATE, MAKE, MOVE, OPERATION, UNKNOWN
from promoarray.diagnostics.record.watcher import Known
from promoarray.dtypes import Kind
from promoarray.operations import Form


class Refusals:
    """Notes what NumPy is about to refuse, and stands where ``Past`` does otherwise.

    The last that is noted may be what stops the program: its report then says who goes on there,
    and what to write.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def dtypes(self, name: str, first: Any, x: Any, in_place: bool = False) -> None:
        """Note an operator that is about to be refused; its operands stay as they are."""
        if name in OPERATORS and (beyond(first, x) or beyond(x, first)):
            form = Form.INPLACE if in_place else Form.OPERATOR
            self._refused(name, (first, x), form_of(name, first, form))

    def function(self, f: Callable[..., Any], callee: Callee, owner: Any) -> Any:
        """A function that notes what it refuses."""
        own = () if owner is None else (owner,)
        computes = type(f) is np.ufunc and callee.name in OPERATORS
        makes = callee.name == "astype" and isinstance(f, type)  # np.uint8(300)
        if not computes and callee.name not in STORES and not makes:
            return f

        def refused(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if computes and len(args) == 2:
                self._refused(callee.name, args, callee.form)
            elif not computes:
                with suppress(TypeError, ValueError):  # of a dtype that is none: NumPy says so
                    self._not_stored(f, callee.name, (*own, *args), kwargs)
            return NotImplemented

        return Otherwise(f, instead=refused)

    def target(self, x: Any, key: Any, value: Any) -> Any:
        """An array that is assigned to, as it is."""
        self._store(x.dtype, value, by_item(value, key))
        return x

    def _refused(self, name: str, given: tuple[Any, ...], form: Form) -> None:
        operands = tuple(operand_of(self._recorder, x) for x in given)
        number = next((x for x in given if type(x) is int), None)
        array = next((x for x in given if isinstance(x, ARRAYS)), None)
        if number is not None and array is not None and None not in operands:
            frame, error = program_frame(sys._getframe(2)), _error(number, array.dtype)
            self._recorder.refused(name, operands, {}, form, frame, error, edited=True)

    def _not_stored(self, f: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note a call that makes an array of numbers, or writes some into one."""
        if name == "astype":
            return self._store(np.dtype(f), args[0] if args else None, False)
        target, place, keyword, dtype_at = STORES[name]
        dtype = kwargs.get("dtype", args[dtype_at] if 0 <= dtype_at < len(args) else None)
        if target is not None and target < len(args) and isinstance(args[target], ARRAYS):
            dtype = dtype or args[target].dtype
        if dtype is not None:
            value = args[place] if place < len(args) else kwargs.get(keyword)
            self._store(np.dtype(dtype), value, called_by_item(name, value))
        return None

    def _store(self, dtype: np.dtype[Any], value: Any, items: bool) -> None:
        into = np.empty(1, dtype)
        number = first_beyond(value, into, items)
        if number is not None:
            number = int(number)
            abstract, frame = operand_of(self._recorder, into), program_frame(sys._getframe(2))
            self._recorder.not_stored(abstract, number, frame, _error(number, dtype))


def _error(number: int, dtype: np.dtype[Any]) -> OverflowError:
    """The error that NumPy is about to raise."""
    return OverflowError(f"Python integer {number} out of bounds for {dtype}")


_LIKE_ARRAYS = "__array__", "__array_ufunc__", "__array_priority__"


def guarded(record: Callable[..., Any]) -> Callable[..., Any]:
    """Have a method record; where that goes wrong it answers None, and the program goes on."""

    @wraps(record)
    def told(self: Session, *seen: Any) -> Any:
        try:
            return self.recorder.guarded(self._locked, record, self, *seen)
        except RecursionError:  # the program left too few levels of it, for counting as well
            self._too_deep += 1
        except Exception:
            self.bug = self.bug or traceback.format_exc()
        return None

    return told


def known(record: Callable[..., tuple[str, str, Any]]) -> Callable[..., Known | None]:
    """Have a method record a call; answer what is known of calls like it, None if nothing is.

    The method answers what it is counted as, "" if nothing was recorded; its name and its result.
    """

    @guarded
    @wraps(record)
    def told(self: Session, *seen: Any) -> Known | None:
        recorder = self.recorder
        recorder.heard.begin()
        recorder.noted = False
        kind, name, x = record(self, *seen)
        part = self.past is not None and not self.past.whole
        if not kind or (part and recorder.noted):
            return None  # who did it, NumPy 2 or the past, is seen at each call
        return Known.of(recorder, (kind, name), _made(x), _kind, by_values=True)

    return told


class Session:
    """Tells a recorder what a hook sees.

    What it answers of a call is told of those that are alike, without asking it again.
    """

    def __init__(
        self, recorder: Recorder, past: Past | None = None, packages: Sequence[str] = ()
    ) -> None:
        self.recorder, self.past = recorder, past  # which does what NumPy 2 refuses
        recorder.describe["numpy"] = result_of
        self.does: Past | Refusals = past or Refusals(recorder)  # what is asked before NumPy is
        self.rewritten = frozenset(packages)  # the libraries that are, with the program
        self.bug = ""  # the traceback of what went wrong in recording, which stops no program
        self.thread: int | None = None  # that of the block which is recorded; None of a whole run
        self._too_deep = 0

    def _locked(self, record: Callable[..., Any], *seen: Any) -> Any:
        with notify_lock:
            for _ in range(self._too_deep):
                self.recorder.count(UNKNOWN, "at the end of the recursion")
            self._too_deep = 0
            return record(*seen)

    @guarded
    def end(self) -> None:
        """Count what could not be told."""

    @guarded
    def unexamined(self, what: str, why: str, frame: FrameType) -> None:
        """Note what is computed and not recorded."""
        self.recorder.unexamined(what, why, frame)

    def records(self, root: str) -> bool:
        """Whether a library has a recorder of its own in this run."""
        return root != "numpy" and root.removesuffix("lib") in self.recorder.describe

    def is_foreign(self, kind: type) -> bool:
        """Whether objects are arrays of a library that computes with NumPy, and is not recorded."""
        if issubclass(kind, ARRAYS) or not any(hasattr(kind, name) for name in _LIKE_ARRAYS):
            return False
        root = root_of(kind.__module__)
        known = root in self.rewritten or root in UNNAMED or self.records(root)
        return not known and is_of_library(root)

    def elsewhere(self, name: str, x: Any, frame: FrameType) -> None:
        """Name what such a library computes."""
        root = root_of(type(x).__module__)
        what = f"{name.strip('_')} of {root}.{type(x).__name__}"
        self.unexamined(what, in_library(root), program_frame(frame))

    @guarded
    def warned(self, text: str, frame: FrameType) -> None:
        """Note a warning of NumPy's."""
        self.recorder.warned(text, program_frame(frame))

    def forget(self, x: Any) -> None:
        """Forget what an array carries."""
        if (result := result_of(x)) is not None:
            self.recorder.made(result)

    @guarded
    def wrapped(
        self, what: Any, given: list[Any], kwargs: dict[str, Any], x: Any, frame: FrameType
    ) -> None:
        """Record an operator, or a call, that made a tensor of another library's, if NumPy did."""
        made = self.recorder.wrapped(x)
        if made is None:
            if isinstance(what, Callee) and (
                found := [x for x in given if self.is_foreign(type(x))]
            ):
                self.elsewhere(what.name, found[0], frame)
            return
        if isinstance(what, Callee):
            kind = self._call(what, given, kwargs, made, frame)
        else:
            kind = self._operator(what, given, made, frame, in_place=False)
        if kind:
            self.recorder.take_back()

    @known
    def operator(
        self, name: str, given: list[Any], x: Any, frame: FrameType, in_place: bool
    ) -> tuple[str, str, Any]:
        """Record an operator's operands and result."""
        return self._operator(name, given, result_of(x), frame, in_place=in_place), name, x

    def _operator(
        self,
        name: str,
        given: list[Any],
        result: Result | None,
        frame: FrameType,
        *,
        in_place: bool,
    ) -> str:
        recorder = self.recorder
        operands = tuple(operand_of(recorder, x) for x in as_taken(given))
        if result is None or any(x is None for x in operands):
            return ""
        recorder.count(OPERATION, name)
        place = program_frame(frame)
        whole = place is frame  # or a part of what Python computes in C
        derived = self._derived(given, place)
        recorder.saw(
            *(name, operands, result, place),
            form=form_of(name, given[0], Form.INPLACE if in_place else Form.OPERATOR),
            edited=None if whole and not derived and isinstance(result.array, ARRAYS) else False,
            part_of="" if whole else frame.f_code.co_name.replace("<lambda>", "operator"),
            policy=None if self.past is None else self.past.took_over(result.array),
        )
        return OPERATION

    @known
    def call(
        self, callee: Callee, args: Sequence[Any], kwargs: dict[str, Any], x: Any, frame: FrameType
    ) -> tuple[str, str, Any]:
        """Record a call's arguments, of a method the array first, and result."""
        return self._call(callee, args, kwargs, x, frame), callee.name, x

    def _call(
        self, callee: Callee, args: Sequence[Any], kwargs: dict[str, Any], x: Any, frame: FrameType
    ) -> str:
        place = program_frame(frame)
        call = Call(self.recorder, callee, args, kwargs, x, place)
        call.past = self.past
        if place is not frame:  # by what Python's own code calls
            call.edited, call.part_of = False, callee.name
        if self._derived(args, place) or isinstance(x, Result):  # a tensor is cast otherwise
            call.edited = False
        recorder = self.recorder
        recorder.heard.call = call if recorder.origins is not None else None
        try:
            call.tell()
        finally:
            recorder.heard.call = None  # its arrays are the program's
        return call.kind

    @guarded
    def failed(
        self,
        what: What,
        given: Sequence[Any],
        kwargs: dict[str, Any] | None,
        error: Exception,
        frame: FrameType,
        in_place: bool,
    ) -> None:
        """Note what failed, if origins are kept."""
        if self.recorder.origins is None or not isinstance(error, Exception):
            return
        named = kwargs or {}
        failed = failed_call(self.recorder, what, given, named, frame, in_place)
        call, function, args = failed
        self.recorder.failed(call, error, function, args, named)

    def _derived(self, given: Sequence[Any], frame: FrameType) -> bool:
        """Whether a number's class is derived of Python's, which not all policies take alike."""
        if not any(map(is_derived, given)):
            return False
        names = [policy.name for policy in self.recorder.report.policies]
        others = tuple(name for name in names if name.partition("@")[0] != "numpy")
        if others:
            told: Any = {"called": True, "policies": others}
            self.recorder.unexamined("a number of a derived class", _DERIVED, frame, **told)
        return True

    @known
    def assigned(self, target: Any, key: Any, value: Any, frame: FrameType) -> tuple[str, str, Any]:
        """Record ``target[key] = value``."""
        recorder, items = self.recorder, by_item(value, key)
        number = first_beyond(value, target, items)  # a list is as one of them is
        value = value if number is None else number
        operands = operand_of(recorder, target), operand_of(recorder, value)
        if any(x is None for x in operands):
            return "", "", None
        recorder.count(OPERATION, "__setitem__")
        past = self.past.stores(target, value) if self.past is not None else None
        values = partial(np.asarray, value) if isinstance(value, ARRAYS) else None
        recorder.assigned(*operands, program_frame(frame), policy=past, values=values)
        recorder.noted = past is not None
        return OPERATION, "__setitem__", None

    @guarded
    def gridded(self, x: Any, frame: FrameType) -> None:
        """Record what ``np.mgrid`` and ``np.ogrid`` make, which has a default dtype."""
        if results := results_of(x):
            self.recorder.count(MAKE, "mgrid")
        for result in results:
            number = 0.0 if result.dtype.kind is Kind.FLOAT else 0
            self.recorder.default(number, result, frame, lone=False)

    @guarded
    def joined(self, key: Any, x: Any, frame: FrameType) -> None:
        """Record what ``np.r_`` and ``np.c_`` make: what ``concatenate`` does.

        With no array among what is joined, it has the default dtype.
        """
        result = result_of(x)
        parts = key if isinstance(key, tuple) else (key,)
        given = [each for each in parts if isinstance(each, ARRAYS)]
        operands = [operand_of(self.recorder, each) for each in given]
        if result is None:
            return
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

    @guarded
    def viewed(self, name: str, source: Any, x: Any, frame: FrameType) -> None:
        """Have a part of an array carry what the array does."""
        result = result_of(x)
        operand = operand_of(self.recorder, source) if name in ("real", "imag") else None
        if result is None:
            return
        if operand is not None:
            self.recorder.count(OPERATION, name)
            self.recorder.saw(name, (operand,), result, program_frame(frame))
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


_DERIVED = "NumPy takes it for an array, and others for a Python number"
