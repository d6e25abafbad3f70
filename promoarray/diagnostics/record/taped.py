"""Calls of a framework, handed to the tape of the run with their values."""

from __future__ import annotations

from types import FrameType
from typing import Any, NamedTuple

from promoarray.core.call_site import sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.calls.common import plain
from promoarray.diagnostics.record.call import Call, flat
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.tape import Tape
from promoarray.dtypes import BY_STORAGE
from promoarray.operations import OPERATIONS


class Noted(NamedTuple):
    """A call that is about to be carried out."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    operands: list[Any]
    keywords: dict[str, Any]
    arrays: list[tuple[Any, str]]  # with their values before


class Taped:
    """Hands the calls of a framework to the tape of the run."""

    def __init__(self, tape: Tape, recorder: Recorder, kind: type[Call]) -> None:
        self._tape, self._recorder, self._kind = tape, recorder, kind
        self._reader = object.__new__(kind)
        self._reader.recorder = recorder
        self._for_shapes = False  # of the call at hand

    def before(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Noted | None:
        """Note what a call is given, with what the run goes on with in its place."""
        if self._tape.full:
            if not self._tape.left:
                most = self._tape.asked.most
                self._tape.left.append(f"what follows {most} calls (--calls ends there)")
            return None
        self._for_shapes = _is_for_shapes(frame)
        if self._tape.asked.given:
            args = tuple(map(self._replaced, args))
            kwargs = {key: self._replaced(x) for key, x in kwargs.items()}
        arrays: list[tuple[Any, str]] = []
        operands = [self._said(x, arrays) for x in args]
        keywords = {key: self._said(x, arrays) for key, x in kwargs.items()}
        if name.endswith("_"):  # in place, and so in what it is a view of
            bases = [getattr(x, "_base", None) for x, _ in arrays]
            arrays += [(x, self._value(x)) for x in bases if isinstance(x, self._kind.tensor)]
        return Noted(name, args, kwargs, operands, keywords, arrays)

    def after(self, noted: Noted, frame: FrameType, result: Any) -> tuple[Any]:
        """Put a call on the tape; return what the run goes on with."""
        tape, kind = self._tape, self._kind
        number = len(tape.calls)
        made = [x for x in flat((result,)) if isinstance(x, kind.tensor)]
        results, written = [self._value(x) for x in made], []
        for x, before in noted.arrays:
            after = self._value(x)
            if after and after != before:
                written.append([before, after])
                if after not in results:
                    made.append(x)
                    results.append(after)
        for place, x in enumerate(made):
            if (number, place) in tape.asked.made:
                other = kind.with_values(x, tape.asked.made[number, place])
                result = result if other is x else _exchanged(result, x, other)
                old, results[place] = results[place], self._value(other)
                written = [[b, results[place] if a == old else a] for b, a in written]
        if not results:
            return (result,)
        words = kind.words.operations
        operation = words.get(plain(noted.name, words), "")
        row = {
            "name": noted.name,
            "operation": operation if operation in OPERATIONS else "",
            "framework": self._recorder.framework,
            "operands": noted.operands,
            "keywords": noted.keywords,
            "results": results,
            "written": written,
            "for_shapes": self._for_shapes,
        }
        with notify_lock, standing_at(kind.standing(frame, None)):
            tape.put(row, sites())
        return (result,)

    def _said(self, x: Any, arrays: list[tuple[Any, str]]) -> Any:
        """An argument as it stands on the tape."""
        if isinstance(x, self._kind.tensor):
            value = self._value(x)
            arrays.append((x, value))
            return {"value": value}
        if isinstance(x, (list, tuple)):
            return [self._said(each, arrays) for each in x]
        if isinstance(x, dict):
            return {"named": {str(key): self._said(each, arrays) for key, each in x.items()}}
        if isinstance(x, (bool, int, str)) or x is None:
            return x
        number = self._kind.number_of(x)
        if isinstance(x, float) or isinstance(number, (int, float)):
            return {"number": repr(float(x if number is None else number))}
        return {"other": type(x).__name__, "text": str(x)[:80] if self._is_plain(x) else ""}

    def _is_plain(self, x: Any) -> bool:
        return self._kind.is_dtype(x) or isinstance(x, slice)

    def _value(self, x: Any) -> str:
        dtype = self._reader.dtype_of(x)
        if dtype is None:
            return ""
        if dtype.weak:
            dtype = self._recorder.home.strong(dtype)
        array = self._reader.values(x)
        if array is None and not self._for_shapes:
            self._tape.unread[type(x).__name__] += 1
        if array is not None and array.dtype != dtype.storage:
            dtype = BY_STORAGE[array.dtype]  # NumPy's, which the framework will narrow
        return self._tape.value(array, dtype.name)

    def _replaced(self, x: Any) -> Any:
        if isinstance(x, self._kind.tensor):
            other = self._tape.asked.given.get(self._value(x))
            return x if other is None else self._kind.with_values(x, other)
        if type(x) in (list, tuple):
            return type(x)(map(self._replaced, x))
        return {key: self._replaced(y) for key, y in x.items()} if type(x) is dict else x


_FIRST_PASSES = {"flax/linen/module.py": "init_with_output", "haiku/_src/transform.py": "init_fn"}
"""Functions that run a model once for the shapes of its weights, and drop what it gives."""


def _is_for_shapes(frame: FrameType | None) -> bool:
    while frame is not None:
        code = frame.f_code
        if code.co_name in _FIRST_PASSES.values() and any(
            code.co_filename.endswith(file) for file in _FIRST_PASSES
        ):
            return True
        frame = frame.f_back
    return False


def _exchanged(x: Any, old: Any, new: Any) -> Any:
    """A result with another array in the place of one of its arrays."""
    if x is old:
        return new
    if type(x) in (list, tuple):
        return type(x)(_exchanged(each, old, new) for each in x)
    return x
