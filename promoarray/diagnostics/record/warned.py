"""Warnings name the lines that they name where nobody records.

A framework warns of the line so many calls up, or, in compiled code, of the one that runs. Where it
is recorded, the frames of the hook stand in between; here they are passed over.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, TextIO

from promoarray.diagnostics.record.replaced import Place, Replaced

_OWN = os.path.join(os.path.dirname(__file__), "")
_HANDED_ON = os.path.join("torch", "overrides.py")
"""Whose function calls a mode for a function of PyTorch's that is written in Python."""

_before: dict[str, Any] = {}
"""What was there, which programs that hold what stands in its place call afterwards, too."""


def _warn(
    message: Warning | str,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: Any = None,
    **prefixes: Any,
) -> None:
    """Warn of the frame so many levels up, those of hooks not counted."""
    frame: FrameType | None = sys._getframe(1)
    depth, own = 1, 1
    while depth < stacklevel and frame is not None:
        called, frame = frame.f_code, frame.f_back
        passed = _passed(frame, called)
        own += len(passed)
        frame = passed[-1].f_back if passed else frame
        depth += 1
    _before["warn"](message, category, stacklevel + own, source, **prefixes)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning, that of a hook's frame as one of the line that called it.

    A filter that shows each line's warnings once has noted the hook's line: it goes to the other.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == warnings.__file__:
        frame = frame.f_back
    if filename.startswith(_OWN) and frame is not None:
        noted = frame.f_globals.get("__warningregistry__", {})
        passed = _passed(frame, frame.f_code)
        frame = passed[-1].f_back if passed else None
        if frame is not None:
            once = noted.pop((str(message), category, lineno), None)
            filename, lineno = frame.f_code.co_filename, frame.f_lineno
            shown = frame.f_globals.setdefault("__warningregistry__", {})
            if shown.get("version") != noted.get("version"):
                shown.clear()
                shown["version"] = noted.get("version")
            key = str(message), category, lineno
            if once and key in shown:
                return
            if once:
                shown[key] = True
    _before["showwarning"](message, category, filename, lineno, file, line)


def _passed(frame: FrameType | None, called: CodeType) -> list[FrameType]:
    """The frames of hooks from this one on, with the function that handed itself to them."""
    passed: list[FrameType] = []
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        passed.append(frame)
        frame = frame.f_back
    while passed and frame is not None and frame.f_code.co_filename.endswith(_HANDED_ON):
        passed.append(frame)
        frame = frame.f_back
        if frame is not None and frame.f_code is called:
            passed.append(frame)
            frame = frame.f_back
    return passed


def _places() -> Iterator[Place]:
    for name, after in (("warn", _warn), ("showwarning", _show)):
        if getattr(warnings, name) is not after:  # as it is where a program has put it back
            _before[name] = getattr(warnings, name)
        yield Place(warnings, name, _before[name], after)


WARNINGS_OF_THE_PROGRAM = Replaced(_places)
"""Has warnings name the program's lines as long as anybody is in such a block."""
