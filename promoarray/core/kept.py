"""What is kept of operations that were met before, in ``policy.executables``, and under what.

The fast path (``native/``) and the dispatcher find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from promoarray.backends import find as backend_for
from promoarray.core.array_base import Array
from promoarray.dtypes import WEAK, WEAK_TYPES, DType
from promoarray.promotion.policy import FEW, NO_OPTIONS, Policy

Buffer = Any
Scalar = Callable[[Any], Any]
"""From a Python scalar to a 0-d buffer; None where a plan for its value has to be made first, and
the Executable for its value where there is another one, whose own answers with a buffer."""


class Executable(NamedTuple):
    """What one plan is on one back end. ``native/`` reads the fields in this order.

    Attributes
    ----------
    run : callable
        From the operands' buffers, Python scalars as NumPy's of no axes, and the operation's
        options to the buffer of the result, or to a tuple of them where it has several. None where
        nothing runs: of index arrays and of ``asarray`` as they are, and of answers about dtypes.
    scalars : tuple of (callable, None or ...)
        How each operand that is a Python scalar becomes a buffer; ``...`` of a dtype, which is
        looked up by what an array of it is.
    result : DType, None or ...
        What the result is called; of what moves values None where it is what the first operand is,
        and ``...`` where each of several is what its operand is.
    extra_results : tuple of DType
        The same of the further results of an operation that has several.
    kernel : callable or None
        What does all but widen the operands, and whose answer is the result: a ufunc, or an
        operation between its casts, which answers None where ``run`` has to be asked.
    widen : tuple
        What each operand is widened to for it: None if to nothing, the storage dtype where NumPy's
        own cast will do, and the dtype in a tuple where floats are to be doubled.
    into : bool or Executable
        Whether the result is written over the first operand; of an assignment, what then writes all
        of that anew, if anything does.
    """

    run: Any
    scalars: tuple[Any, ...]
    result: Any
    extra_results: tuple[DType, ...]
    kernel: Callable[..., Any] | None = None
    widen: tuple[Any, ...] = ()
    into: Any = False


Sort = Callable[[Any], Hashable]
"""From a value to what values that have the same plan have in common."""


class Choice(NamedTuple):
    """The executables for operands of some types, where types alone do not decide.

    ``native/`` reads the fields in this order.

    Attributes
    ----------
    scalar : callable or None
        From a Python scalar to its sort, where values decide: scalars of a sort have one plan.
    flat : callable or None
        The same of the values of arrays that have no axes; None where ranks alone decide.
    kept : dict
        From what tells the operands apart (``told_apart``), or a call that moves values
        (``move.py``), to an Executable.
    """

    scalar: Sort | None
    flat: Sort | None
    kept: dict[tuple[Any, ...], Executable]


MOST_VALUES = 4096
"""How many sorts of values a Choice keeps executables for; then it begins anew."""


def keep_under(key: tuple[Any, ...], policy: Policy, executable: Executable) -> None:
    """Keep an executable under a key; keys of many operands begin anew once they are too long."""
    if len(key) > FEW:
        long = policy.once(_long_keys)
        if sum(map(len, long)) > MOST_IN_LONG_KEYS:
            for each in long:
                policy.executables.pop(each, None)
            long.clear()
        long.append(key)
    policy.executables[key] = executable


def _long_keys(_: Policy) -> list[tuple[Any, ...]]:
    return []


MOST_IN_LONG_KEYS = 1 << 15
"""Operands of lists of arrays that a policy keeps executables for."""


def told_apart(operands: tuple[Any, ...], choice: Choice) -> tuple[Any, ...]:
    """What tells operands of the same types apart: which arrays have no axes, or the sorts of their
    values and of Python scalars; None of all others."""
    scalar, flat = choice.scalar, choice.flat
    return tuple(
        [
            (scalar and scalar(x))
            if type(x) in WEAK
            else None
            if x._buffer.ndim
            else flat(x._buffer.item())
            if flat
            else True
            for x in operands
        ]
    )


def bounded(written: str, bounds: tuple[bool, ...]) -> str:
    """The name of ``clip`` with the bounds that there are: "clip() from to"."""
    return written + _BOUNDS[bounds] if bounds else written


_BOUNDS: dict[tuple[bool, ...], str] = {
    (False, False): "",
    (True, False): " from",
    (False, True): " to",
    (True, True): " from to",
}


class Signature(NamedTuple):
    """What operands are known by: arrays of one class that lie in one library, Python scalars.

    Attributes
    ----------
    key : tuple
        Under what their executable is kept.
    array_class : type
        That of the arrays, and so of the result.
    held : type
        The class of their buffers.
    """

    key: tuple[Any, ...]
    array_class: Any
    held: type


def signature_of(
    written: str, operands: tuple[Any, ...], options: Mapping[str, Any] = NO_OPTIONS
) -> Signature | None:
    """The signature of operands; None where types do not tell what the arrays hold: one bears the
    record of a shadow run.

    Parameters
    ----------
    written : str
        The name and the form of the operation, and bounds that the plan looks at: "add=".
    operands : tuple
        Whatever was given.
    options : mapping
        What the operation takes besides: Python's own values, and arrays of the same library.
    """
    cls: Any = None
    held: type = np.ndarray
    key: list[Any] = [written]
    for x in operands:
        kind = type(x)
        if kind in WEAK:
            key.append(kind)
            continue
        if kind is not cls:
            if cls is not None or not issubclass(kind, Array):
                return None
            cls, held = kind, type(x._buffer)
        dtype, buffer = x._type, x._buffer
        if type(buffer) is not held or type(dtype) is not DType:
            return None
        key.append(key_of_array(dtype, buffer))
    if cls is None or (options and not plain(options, held)):
        return None
    if held is not np.ndarray:
        key.append(backend_for(held))
    return Signature(tuple(key), cls, held)


def key_of_array(dtype: DType, buffer: Buffer) -> Any:
    """What an array is looked up by: its type, and where that is weak, what it is stored in, as the
    policy in force said when it was made. ``native/lookup.cpp`` makes an equal one."""
    return (dtype, buffer.dtype) if dtype in _WEAK_TYPES else dtype


_WEAK_TYPES = frozenset(WEAK_TYPES)


def types_of(*operands: Any) -> tuple[Any, ...] | None:
    """What operands are looked up by one by one, whatever their classes; None where types do not
    tell what NumPy's buffers hold."""
    types: list[Any] = []
    for x in operands:
        if type(x) in WEAK:
            types.append(type(x))
        elif type(x._type) is DType and type(x._buffer) is np.ndarray:
            types.append(key_of_array(x._type, x._buffer))
        else:
            return None
    return tuple(types)


def plain(options: Mapping[str, Any], held: type = np.ndarray) -> bool:
    """Whether options are Python's own values and arrays of one library."""
    for value in options.values():
        if type(value) not in _PLAIN_OPTIONS and type(value) is not held:
            return False
    return True


_PLAIN_OPTIONS = frozenset({type(None), bool, int, float, str, tuple})
