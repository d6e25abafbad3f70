"""The end of a program: the error that stopped it, in words and as a traceback; its own files."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, TracebackType
from typing import Any

from promoarray.core.call_site import (
    Site,
    current_site,
    entries_of,
    is_library,
    of_library,
    of_promoarray,
    site_of,
    traceback_of,
)
from promoarray.core.events import (
    Observer,
    OperationEvent,
    Recovery,
    RefusalEvent,
    Repeat,
    Repeats,
)
from promoarray.core.refusals import spelled
from promoarray.diagnostics.edits.recovery import recovery, worded
from promoarray.diagnostics.model.final import Final, finals, said
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.record.replaced import HANDED_ON, is_hook
from promoarray.diagnostics.run.task import Probe
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
    form, operands = Form(error.form), error.operands
    refused = f"{spelled(error.operation, operands, form)}: {error.reason}"
    asked = error.operation, form, error.policy, operands, operands
    event = RefusalEvent(*asked, Refusal(error.reason))
    found = recovery(event)
    return f"{refused}; cast {worded(event, found)}" if found else refused


def stopped_at(error: BaseException) -> Site | None:
    """Return the line of the program, and of no library, that an error came from last."""
    last = [e for e in entries_of(error.__traceback__) if not of_library(e.tb_frame)][-1:]
    return site_of(last[0].tb_frame.f_code, last[0].tb_lasti, last[0].tb_lineno) if last else None


def shorten(error: BaseException) -> None:
    """Take promoarray's own frames off an error and those it came from.

    What stays is the way to the last line that promoarray did not run itself, or have run; of the
    calls of a framework that is recorded all but the hooks.
    """
    for each in _related(error):
        every = entries_of(each.__traceback__)
        entries = _without_hooks(every)
        ends = [n for n, entry in enumerate(entries) if not of_library(entry.tb_frame)]
        first = ends[-1] + 1 if ends else 0
        own = (n for n in range(first, len(entries)) if of_promoarray(entries[n].tb_frame))
        kept = next(own, len(entries))
        if kept < len(every):
            each.__traceback__ = traceback_of(entries[:kept])


def _without_hooks(entries: Sequence[TracebackType]) -> list[TracebackType]:
    """What is left of a traceback without the frames through which recorders hear of calls."""
    left: list[TracebackType] = []
    for each in entries:
        code, hook = each.tb_frame.f_code, is_hook(each.tb_frame.f_code)
        handed = left[1:] and left[-1].tb_frame.f_code.co_filename.endswith(HANDED_ON)
        if handed and (hook or left[-2].tb_frame.f_code is code):
            del left[-2:]  # with the function that handed itself to the hook, which calls it again
        if not hook:
            left.append(each)
    return left


def hide_hooks() -> None:
    """Have ``traceback`` show no frames of recorders, nor of what started the program."""
    entry, inner = sys._getframe(), sys._getframe()
    while entry.f_back is not None:
        entry, inner = entry.f_back, entry
    if inner.f_code.co_filename.startswith(_HERE):
        _outer.add(entry.f_code)
    summary: Any = traceback.StackSummary
    extract = getattr(summary, "_extract_from_extended_frame_gen", None)
    full = os.environ.get("PROMOARRAY_TRACEBACK") == "full"
    if full or extract is None or extract.__func__.__module__ == __name__:
        return

    def shown(kind: Any, frames: Any, /, **options: Any) -> Any:
        left = [each for each in list(frames) if not hidden(each[0].f_code)]  # which counts frames
        return extract.__func__(kind, iter(left), **options)

    def hidden(code: CodeType) -> bool:
        return code in _outer or is_hook(code) or code.co_filename.startswith(_HERE)

    summary._extract_from_extended_frame_gen = classmethod(shown)


_HERE = os.path.join(os.path.dirname(__file__), "")
_outer: set[CodeType] = set()
"""What Python was told to run, which calls a launcher."""


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


@dataclass(eq=False)
class Shown(Probe):
    """Keeps the globals of a program at its end, by which two runs are compared."""

    observes = False
    names: list[str] | None  # those that are asked for; None for its arrays and numbers

    def ended(self, names: dict[str, Any]) -> dict[str, Final]:
        """Return them, with texts."""
        return finals(names, self.names)


# -- going on after a refusal ------------------------------------------------------------------


@dataclass(eq=False)
class AutoCast(Observer):
    """Applies the casts that a refusal proposes, so that the program goes on."""

    # from each place and operation refused to the cast applied, in words
    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repeats = Repeats(scalar_class, by_value=True)

    def on_operation(self, event: OperationEvent) -> Repeat:
        """Need not hear of what is carried out, which is as fast as it is without an observer."""
        made = (event.result, *event.extra_results)
        return Repeat(tuple(x._type for x in made), lambda: False)

    def on_refusal(self, event: RefusalEvent) -> Recovery | None:
        """Cast as the error message would have said, if there are such casts."""
        found = recovery(event)
        if found is not None:
            refused = spelled(event.name, event.seen, event.form)
            if event.name == "setitem":
                refused = "{}[...] = {}".format(*event.seen)
            self.recovered[current_site(), refused] = worded(event, found)
        return found
