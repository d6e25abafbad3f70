"""Findings as the commands of a GitHub workflow, which annotate lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from promoarray.console import visible
from promoarray.diagnostics.findings.classify import Judged
from promoarray.diagnostics.findings.comments import Notice
from promoarray.diagnostics.render.findings_sarif import LEVELS
from promoarray.diagnostics.render.words import by_place, message, title
from promoarray.diagnostics.spans import Span, base_folder, relative, span_of


def as_commands(judged: Judged) -> list[str]:
    """Return the new findings as commands that annotate lines, what matters most first.

    GitHub shows ten of a level in a step.
    """
    new = (each for each in judged.every if judged.state(each) == "new")
    places = sorted(by_place(new), key=lambda place: _ORDER.index(place[0].kind))
    told = [
        _command(LEVELS[place[0].kind], span_of(place[0].place), title(place), message(place))
        for place in places
    ]
    return [*told, *_notices(judged.notices)]


_ORDER = tuple(LEVELS)
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def _notices(notices: Iterable[Notice]) -> Iterator[str]:
    for notice in notices:
        yield _command("warning", Span(notice.file, notice.line), "promoarray", notice.text)


def _command(level: str, span: Span, title: str, message: str) -> str:
    place = {
        "file": relative(span.file, base_folder()),
        "line": span.line,
        "endLine": span.end_line,
        "col": span.column,
        "endColumn": span.end_column,
        "title": title,
    }
    if span.end_line > span.line:  # of several lines no columns are taken
        place |= {"col": 0, "endColumn": 0}
    properties = ",".join(f"{name}={_property(str(what))}" for name, what in place.items() if what)
    return f"::{_COMMANDS[level]} {properties}::{_data(visible(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return visible(_data(text)).replace(":", "%3A").replace(",", "%2C")
