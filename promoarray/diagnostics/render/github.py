"""Findings as the commands of a GitHub workflow, which annotate lines."""

from __future__ import annotations

from promoarray.console import visible
from promoarray.diagnostics.findings.classify import NEW, Judged
from promoarray.diagnostics.render.sarif import RULES
from promoarray.diagnostics.render.words import by_place, message, title
from promoarray.diagnostics.spans import Span, base_folder, relative, span_of

_LEVELS = {rule.id: "notice" if rule.level == "note" else rule.level for rule in RULES}


def as_commands(judged: Judged) -> list[str]:
    """Return the new findings as commands that annotate lines, what matters most first.

    GitHub shows ten of a level in a step.
    """
    order = [*_LEVELS]
    places = sorted(by_place(judged.of(NEW)), key=lambda place: order.index(place[0].kind))
    commands = [
        _command(_LEVELS[place[0].kind], span_of(place[0].place), title(place), message(place))
        for place in places
    ]
    notices = ((Span(each.file, each.line), each.text) for each in judged.notices)
    return [*commands, *(_command("warning", at, "promoarray", text) for at, text in notices)]


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
    return f"::{level} {properties}::{_data(visible(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return visible(_data(text)).replace(":", "%3A").replace(",", "%2C")
