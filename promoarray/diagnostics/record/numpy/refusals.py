"""NumPy 2's refusals of Python integers that do not fit, by which programs for NumPy 1 stop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from promoarray.diagnostics.calls.numpy import STORES
from promoarray.diagnostics.record.numpy.callee import Callee, Otherwise
from promoarray.diagnostics.record.numpy.numpy1_emulation import OPERATORS, beyond, program_frame
from promoarray.diagnostics.record.numpy.operand import ARRAYS, flat, form_of, operand_of
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.operations import Form


class Refusals:
    """Notes what NumPy is about to refuse, and stands where ``Past`` does otherwise.

    The last that is noted may be what stops the program: its report then says who goes on there,
    and what to write.

    Parameters
    ----------
    recorder : Recorder
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

    def target(self, x: Any, value: Any) -> Any:
        """An array that is assigned to, as it is."""
        if beyond(value, x):
            self._store(x.dtype, value)
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
            return self._store(np.dtype(f), args[0] if args else None)
        target, place, keyword, dtype_at = STORES[name]
        dtype = kwargs.get("dtype", args[dtype_at] if 0 <= dtype_at < len(args) else None)
        if target is not None and target < len(args) and isinstance(args[target], ARRAYS):
            dtype = dtype or args[target].dtype
        if dtype is not None:
            self._store(np.dtype(dtype), args[place] if place < len(args) else kwargs.get(keyword))
        return None

    def _store(self, dtype: np.dtype[Any], value: Any) -> None:
        into = np.empty(1, dtype)
        number = next((int(n) for n in flat([value]) if beyond(n, into)), None)
        if number is not None:
            abstract, frame = operand_of(self._recorder, into), program_frame(sys._getframe(2))
            self._recorder.not_stored(abstract, number, frame, _error(number, dtype))


def _error(number: int, dtype: np.dtype[Any]) -> OverflowError:
    """The error that NumPy is about to raise."""
    return OverflowError(f"Python integer {number} out of bounds for {dtype}")
