"""The end of a program: the error that stopped it, in words and as a traceback; its own files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from promoarray.core.call_site import Site, is_library, of_library, of_promoarray, site_of
from promoarray.core.events import RefusalEvent
from promoarray.core.recovery import recovery, worded
from promoarray.core.refusals import spelled
from promoarray.diagnostics.model.final import said
from promoarray.errors import PromotionError
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.plan import Refusal


def last_line(error: BaseException) -> str:
    """Return the last line of an error's traceback."""
    name, message = type(error).__name__, said(str, error).rstrip()
    return f"{name}: {message}" if message else name


def in_short(error: BaseException) -> str:
    """Return an error in words; a refusal with the cast to write, without the other policies."""
    if not (isinstance(error, PromotionError) and error.policy and error.operation in OPERATIONS):
        return last_line(error)
    form = Form(error.form)
    refused = f"{spelled(error.operation, error.operands, form)}: {error.reason}"
    refusal = Refusal(error.reason)
    given = error.operation, form, error.policy, error.operands, error.operands, refusal
    event = RefusalEvent(*given)
    found = recovery(event)
    return f"{refused}; cast {worded(event, found)}" if found else refused


def stopped_at(error: BaseException) -> Site | None:
    """Return the line of the program, and of no library, that an error came from last."""
    entries = [e for e in _entries(error.__traceback__) if not of_library(e.tb_frame)]
    if not entries:
        return None
    last = entries[-1]
    return site_of(last.tb_frame.f_code, last.tb_lasti, last.tb_lineno)


def shorten(error: BaseException) -> bool:
    """Take promoarray's own frames off an error and those it came from; return if there were any.

    What stays is the way to the last line that promoarray did not run itself, or have run.
    """
    shortened = False
    for each in _related(error):
        entries = list(_entries(each.__traceback__))
        kept = _kept([entry.tb_frame for entry in entries])
        if kept < len(entries):
            each.__traceback__ = _chain(entries[:kept])
            shortened = True
    return shortened


def own_files() -> tuple[str, ...]:
    """Return the files of the modules of this process that are no installed library's.

    Of a script there is none at its exit, when Python has taken it back.
    """
    # Not getattr, which a module may answer by importing more.
    spaces = [getattr(module, "__dict__", {}) for module in tuple(sys.modules.values())]
    given = [space.get("__file__") or _origin(space.get("__spec__")) for space in spaces]
    files = {file for file in given if type(file) is str}
    return tuple(sorted(file for file in files if not is_library(file)))


def _origin(spec: Any) -> Any:
    return getattr(spec, "has_location", False) and spec.origin


def _kept(frames: list[FrameType]) -> int:
    """How many frames to show: up to the first of promoarray after the program's last."""
    ends = [n for n, frame in enumerate(frames) if not of_library(frame)]
    first = ends[-1] + 1 if ends else 0
    own = (n for n in range(first, len(frames)) if of_promoarray(frames[n]))
    return next(own, len(frames))


def _related(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and what it was raised in the midst of, and members of groups."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _chain(entries: list[TracebackType]) -> TracebackType | None:
    made: TracebackType | None = None
    for e in reversed(entries):
        made = TracebackType(made, e.tb_frame, e.tb_lasti, e.tb_lineno)
    return made
