"""Actions on an implicit cast, besides noting it: a warning, an error, a prompt."""

from __future__ import annotations

import pdb
import sys
import warnings
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from promoarray.core.call_site import program_frame
from promoarray.diagnostics.tracing.cast import Cast
from promoarray.errors import ImplicitCastError, ImplicitCastWarning, LossyCastWarning


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
    category = LossyCastWarning if cast.loss else ImplicitCastWarning
    frame = program_frame()
    if frame is None:
        warnings.warn(message_of(cast), category, stacklevel=2)
        return
    # As ``stacklevel`` has it, which would have to count promoarray's frames.
    warnings.warn_explicit(
        message_of(cast),
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


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
    """Return an action by its name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if not isinstance(name, str) or name not in ACTIONS:
        raise ValueError(f"action is one of {', '.join(map(repr, ACTIONS))}, not {name!r:.60}")
    return ACTIONS[name]
