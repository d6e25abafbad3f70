"""Tracebacks that end at the user's line: without the frames of promoarray below it."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType, TracebackType

from promoarray.core.call_site import Site, of_library, of_promoarray, site_of


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


def stopped_at(error: BaseException) -> Site | None:
    """Return the line of the program, and of no library, that an error came from last."""
    entries = [e for e in _entries(error.__traceback__) if not of_library(e.tb_frame)]
    if not entries:
        return None
    last = entries[-1]
    return site_of(last.tb_frame.f_code, last.tb_lasti, last.tb_lineno)


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
