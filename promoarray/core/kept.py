"""What is kept of operations that were met before, in ``policy.executables``, and under what.

The fast path (``native/``) and the dispatcher find the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.backends import find as backend_for
from promoarray.dtypes import WEAK, DType
from promoarray.named_tuple import NamedTuple

Buffer = Any
Scalar = Callable[[Any], Buffer | None]
"""From a Python scalar to a 0-d buffer; None where a plan for its value has to be made first."""


class Executable(NamedTuple):
    """What one plan is on one back end. ``native/`` reads the fields in this order.

    Attributes
    ----------
    run : callable
        From the operands' buffers, Python scalars as NumPy's of no axes, and the operation's
        options to the buffer of the result, or to a tuple of them where it has several.
    scalars : tuple of (callable or None)
        How each operand that is a Python scalar becomes a buffer.
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
    into : bool
        Whether the result is written over the first operand.
    """

    run: Callable[..., Any]
    scalars: tuple[Scalar | None, ...]
    result: Any
    extra_results: tuple[DType, ...]
    kernel: Callable[..., Any] | None = None
    widen: tuple[Any, ...] = ()
    into: bool = False


class Choice(NamedTuple):
    """The executables for operands of some types, where types alone do not decide.

    ``native/`` reads the fields in this order.

    Attributes
    ----------
    by_value : bool
        Whether the policy looks at values; else ranks decide.
    kept : dict
        From what tells the operands apart (``told_apart``), or a call that moves values
        (``move.py``), to an Executable.
    """

    by_value: bool
    kept: dict[tuple[Any, ...], Executable]


MOST_VALUES = 4096
"""How many values a Choice keeps executables for; then it begins anew."""


def told_apart(operands: tuple[Any, ...], by_value: bool) -> tuple[Any, ...]:
    """What tells operands of the same types apart: which arrays have no axes, or the values of
    those and of Python scalars; None of all others."""
    return tuple(
        (x if by_value else None)
        if type(x) in WEAK
        else None
        if x._buffer.ndim
        else x._buffer.item()
        if by_value
        else True
        for x in operands
    )


def bounded(written: str, bounds: tuple[bool, ...]) -> str:
    """The name of ``clip`` with the bounds that there are: "clip() from to"."""
    return written + "".join(w for w, given in zip((" from", " to"), bounds, strict=False) if given)


def key_of(
    written: str, operands: tuple[Any, ...], bounds: tuple[Any, ...] = ()
) -> tuple[Any, ...] | None:
    """Under what an executable is kept; None where types do not tell what the arrays hold."""
    key: list[Any] = [bounded(written, bounds)]
    held: type = np.ndarray
    for x in operands:
        if type(x) in WEAK:
            key.append(type(x))
            continue
        if type(x._type) is not DType or x._type.weak:
            return None
        key.append(x._type)
        held = type(x._buffer)
    if held is not np.ndarray:
        key.append(backend_for(held))
    return tuple(key)
