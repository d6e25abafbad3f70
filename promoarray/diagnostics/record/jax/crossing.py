"""What policies disagree on, carried into the functions that JAX traces, and out again.

JAX gives a traced function tracers in place of arrays, and its caller arrays in place of tracers.
As both are trees of the same leaves, each leaf carries on what the one across carries. JAX traces a
function once for arguments that are alike, and so do later calls go on with what was found then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from jax.tree_util import tree_leaves

from promoarray.diagnostics.record.jax.call import settled
from promoarray.diagnostics.record.jax.entering import into_function
from promoarray.diagnostics.record.jax.wrapper import Wrapper
from promoarray.diagnostics.record.recorder import Recorder

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord

    Slots = tuple[TypeRecord | None, ...]

Function = Callable[..., Any]


class Crossing:
    """One call of what has functions traced.

    Parameters
    ----------
    recorder : Recorder
    given : object
        The tree of what the functions are given.
    functions : sequence of callable
        What is traced.
    giving : int
        So many of them, the first, give results.

    Attributes
    ----------
    made : tuple or None
        What the leaves of their result carry; None if they were not traced.
    """

    def __init__(
        self, recorder: Recorder, given: Any, functions: Sequence[Function], giving: int
    ) -> None:
        self._carried = recorder.carried
        self.functions, self._giving = functions, functions[:giving]
        self.given = self.slots(given)
        self.made: Slots | None = None

    def slots(self, tree: Any) -> Slots:
        """What the leaves of a tree carry."""
        return tuple(self._carried.slot(x) for x in tree_leaves(tree))

    def left(self, function: Function, result: Any) -> None:
        """Note what a function's result carries; of several that are chosen from, of any."""
        if not _among(function, self._giving):
            return
        found, before = self.slots(result), self.made or ()
        if len(found) == len(before):
            found = tuple(a or b for a, b in zip(found, before, strict=True))
        self.made = found

    def put(self, tree: Any, slots: Slots | None) -> None:
        """Have the leaves of a tree carry this."""
        leaves = tree_leaves(tree)
        if slots is not None and len(leaves) == len(slots):
            for x, slot in zip(leaves, slots, strict=True):
                if slot is not None:
                    self._carried.put(x, slot)


class _Open(threading.local):
    """The calls of this thread that are being carried out, the innermost last."""

    def __init__(self) -> None:
        self.calls: list[tuple[Crossing, ...]] = []


_OPEN = _Open()
_INNER = "__promoarray_traced__"


def _among(function: Function, functions: Sequence[Function]) -> bool:
    return any(function is getattr(each, "__func__", each) for each in functions)


def crossed(
    recorders: Sequence[Recorder],
    functions: Sequence[Function],
    given: Any,
    call: Callable[[], Any],
    frame: FrameType,
    giving: int | None = None,
) -> tuple[Any, tuple[Crossing, ...]]:
    """Carry out a call that may have functions traced; return its result, and what crossed.

    Parameters
    ----------
    recorders : sequence of Recorder
    functions : sequence of callable
        As ``traced`` gave them.
    given : object
    call : callable
    frame : FrameType
        Where it stands.
    giving : int, optional
        How many of the functions give results; by default all.
    """
    giving = len(functions) if giving is None else giving
    for recorder in recorders:
        recorder.guarded(_enter, recorder, given, frame)
    crossings = tuple(Crossing(r, given, functions, giving) for r in recorders)
    _OPEN.calls.append(crossings)
    try:
        return call(), crossings
    finally:
        _OPEN.calls.remove(crossings)


def _enter(recorder: Recorder, given: Any, frame: FrameType) -> None:
    """Note what is narrowed of what functions are given."""
    settled(recorder)
    if found := into_function(recorder.home, given):
        recorder.entered(found, frame)


def traced(function: Any) -> Any:
    """Return what is traced in place of a function: the same each time, as JAX goes by identity.

    Of a method it is one, too. Other objects that can be called are left as they are.
    """
    if type(function) is MethodType:
        return MethodType(traced(function.__func__), function.__self__)
    if type(function) not in (FunctionType, partial) and not isinstance(function, Wrapper):
        return function
    known = vars(function).get(_INNER)
    if known is not None and known.__wrapped__ is function:  # else it was copied from another
        return known

    @wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        calls = reversed(_OPEN.calls)
        found = next((c for c in calls if c and _among(inner, c[0].functions)), ())
        for crossing in found:
            crossing.put((args, kwargs), crossing.given)
        result = function(*args, **kwargs)
        for crossing in found:
            crossing.left(inner, result)
        return result

    setattr(function, _INNER, inner)
    return inner
