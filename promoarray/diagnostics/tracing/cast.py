"""Implicit casts, values that take another dtype though nobody asked for it; which are meant."""

from __future__ import annotations

import cmath
import math
import pdb
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from promoarray.core import host
from promoarray.core.array_base import storage_dtype
from promoarray.core.call_site import Site, program_frame, warn_at_program
from promoarray.core.cast import scalar
from promoarray.core.events import OperationEvent, SetitemEvent
from promoarray.diagnostics.spans import located
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind, as_dtype
from promoarray.errors import (
    ImplicitCastError,
    ImplicitCastWarning,
    LossyCastWarning,
    quoted,
    suggestion,
)
from promoarray.functions.data_types import finfo
from promoarray.operations import OPERATIONS
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.plan import Operand, Plan
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded

IN_PLACE = " in place"

NOWHERE = Site("", 0, -1, "", "")
"""Stands for the place of a cast that is about to be made."""


@dataclass(frozen=True, slots=True)
class Cast:
    """An implicit cast at one place.

    Attributes
    ----------
    site : Site
    name : str
        The operation: ``"setitem"`` where a value is assigned, and ``"add in place"`` where the
        result of ``x += y`` is cast to the target.
    source, target : DType
        The source is a weak type where a Python scalar was cast.
    became : str
        What a Python scalar was made into, the first time: "300 becomes 44"; "" for arrays.
    """

    site: Site
    name: str
    source: DType
    target: DType
    became: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.site}  {self.name}  {self.change}"

    @property
    def operation(self) -> str:
        """The name of the operation alone."""
        return self.name.removesuffix(IN_PLACE)

    @property
    def words(self) -> str:
        """The dtypes in words: "int8 -> float32"."""
        return f"{Operand(self.source)} -> {self.target}"

    @property
    def change(self) -> str:
        """The cast in words, and what became of a Python scalar."""
        return self.words + (self.became and f", {self.became}")

    @property
    def loss(self) -> str:
        """What is lost, in words; "" if every value of the source comes through.

        Python scalars are noted only where they become another number.
        """
        return self.became or loss(self.source, self.target)

    @property
    def lossy(self) -> bool:
        """Whether a value of the source can be lost."""
        return bool(self.loss)

    def to_dict(self) -> dict[str, Any]:
        """Return the cast as data."""
        return {
            **located(self.site, "source", "expression"),
            "operation": self.name,
            "from": str(Operand(self.source)),
            "to": self.target.name,
            "lossy": self.lossy,
            "loss": self.loss,
            **({"value": self.became} if self.became else {}),
        }


def casts_of(event: OperationEvent) -> Iterator[Cast]:
    """Yield the casts that an operation makes of its operands, and of its result in place."""
    inputs = zip(event.operands, event.values, event.plan.inputs, strict=True)
    for x, value, dtype in inputs:
        if type(x) in WEAK:
            yield from _of_scalar(event.name, event.policy, x, value, dtype)
        elif (source := storage_dtype(x)) is not dtype:
            yield Cast(NOWHERE, event.name, source, dtype)
    if event.inplace:
        plan, target = event.policy.plan(event.name, event.seen), storage_dtype(event.result)
        if isinstance(plan, Plan) and (made := event.policy.strong(plan.result)) is not target:
            yield Cast(NOWHERE, event.name + IN_PLACE, made, target)


def casts_of_setitem(assignment: SetitemEvent) -> Iterator[Cast]:
    """Yield the cast of a value that takes its target's dtype, if it is one."""
    policy, _, value, source, dtype, _ = assignment
    if source.weak and dtype.kind is not Kind.STRING:
        yield from _of_scalar("setitem", policy, value, value, dtype)
    elif source is not dtype:
        yield Cast(NOWHERE, "setitem", source, dtype)


def _of_scalar(name: str, policy: Policy, given: Any, value: Any, dtype: DType) -> Iterator[Cast]:
    """Yield a Python scalar that is not the same number any more; rounding is none of that."""
    became = _became(policy, given, value, dtype)
    if became is not None:
        yield Cast(NOWHERE, name, WEAK[type(given)], dtype, f"{worded(given)} becomes {became!r}")


def _became(policy: Policy, given: Any, value: Any, dtype: DType) -> Any:
    """What a scalar is as an element of a dtype, if it is another number and not only rounded."""
    if type(value) is float and math.isinf(value) and dtype.kind in INTEGERS:
        return None  # an int compared as the number it is
    became = host.decoded(scalar(policy, value, dtype), dtype).item()
    if dtype.kind in INTEGERS or dtype.kind is Kind.BOOL:
        return None if became == given else became
    beyond = not cmath.isfinite(became) or abs(given) > finfo(dtype).max
    appears_or_vanishes = bool(became) is not bool(given)
    return became if cmath.isfinite(given) and (beyond or appears_or_vanishes) else None


# -- which of them are meant ----------------------------------------------------------------------


class Selection(NamedTuple):
    """Which casts are meant; None leaves a criterion open."""

    # the dtypes cast to, and those cast from. Python scalars are of none
    to: frozenset[DType] | None = None
    source: frozenset[DType] | None = None
    operation: frozenset[str] | None = None
    lossy: bool | None = None  # whether values of the source can be lost

    def has(self, cast: Cast) -> bool:
        """Whether a cast is one of them."""
        return (
            (self.to is None or cast.target in self.to)
            and (self.source is None or cast.source in self.source)
            and (self.operation is None or cast.operation in self.operation)
            and (self.lossy is None or cast.lossy is self.lossy)
        )


ALL = Selection()


def selection(to: Any, source: Any, operation: Any, lossy: bool | None) -> Selection:
    """Read what a user gives: one dtype, or several; the name of an operation, or several."""
    if lossy is not None and type(lossy) is not bool:
        raise TypeError(f"lossy is True, False or None, not {quoted(lossy)}")
    return Selection(_dtypes(to), _dtypes(source), _operations(operation), lossy)


def _several(given: Any) -> Collection[Any]:
    return given if isinstance(given, (list, tuple, set, frozenset)) else (given,)


def _dtypes(given: Any) -> frozenset[DType] | None:
    return None if given is None else frozenset(map(as_dtype, _several(given)))


def _operations(given: Any) -> frozenset[str] | None:
    if given is None:
        return None
    known = [*OPERATIONS, "setitem"]
    for name in _several(given):
        if name not in known:
            near = suggestion(name, known) if isinstance(name, str) else ""
            raise ValueError(f"{quoted(name)} is not an operation. {near}".rstrip())
    return frozenset(_several(given))


# -- what is done about one besides ----------------------------------------------------------------


def message_of(cast: Cast) -> str:
    """Say what is cast, what is lost and what to write."""
    where = {"setitem": "x[...] = y"}.get(cast.name, cast.name)
    lost = cast.loss or "every value comes through"
    scalar = cast.source.weak
    written = f"pa.{cast.target.name}"
    remedy = (
        "give a number that fits" if scalar else f"write pa.astype(x, {written}) if it is meant"
    )
    return f"implicit cast in {where}: {cast.words}: {lost}; {remedy}"


def warn(cast: Cast) -> None:
    """Warn of a cast, at the line of the program."""
    warn_at_program(message_of(cast), LossyCastWarning if cast.loss else ImplicitCastWarning)


def refuse(cast: Cast) -> None:
    """Raise ``ImplicitCastError``."""
    raise ImplicitCastError(message_of(cast), cast.operation, cast.source, cast.target, cast.loss)


def stop(cast: Cast) -> None:
    """Open the debugger in the frame of the program that casts, at the line that does."""
    frame = program_frame()
    debugger = _Debugger()
    debugger.message(f"promoarray: {message_of(cast)}")
    debugger.stand_in(frame or sys._getframe())


class _Debugger(pdb.Pdb):
    """pdb, which stands in a frame further out than the call that opens it."""

    def __init__(self) -> None:
        super().__init__(skip=["promoarray.*", "promoarray"])

    def stand_in(self, frame: FrameType) -> None:
        """Take commands in a frame, and go on as the last of them says."""
        self.reset()
        outer = frame
        while outer.f_back is not None:
            outer = outer.f_back
        self.botframe = outer
        self._goes_on = False
        self.interaction(frame, None)
        if self.quitting:
            raise pdb.bdb.BdbQuit  # type: ignore[attr-defined]
        if self._goes_on and not self.breaks:
            return
        inner: FrameType | None = frame
        while inner is not None:
            inner.f_trace = self.trace_dispatch
            inner = inner.f_back
        sys.settrace(self.trace_dispatch)

    def set_continue(self) -> None:
        """Note that no step was asked for."""
        self._goes_on = True
        super().set_continue()


ACTIONS: Mapping[str, Callable[[Cast], None] | None] = {
    "record": None,
    "warn": warn,
    "raise": refuse,
    "pdb": stop,
}
"""By the name that ``pa.trace`` takes."""


def action_of(name: Any) -> Callable[[Cast], None] | None:
    """Return an action by its name; ``ValueError`` if there is none."""
    if not isinstance(name, str) or name not in ACTIONS:
        raise ValueError(f"action is one of {', '.join(map(repr, ACTIONS))}, not {name!r:.60}")
    return ACTIONS[name]
