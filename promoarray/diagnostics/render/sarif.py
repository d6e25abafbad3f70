"""SARIF 2.1.0, the format in which code scanning takes results (OASIS, sarif-v2.1.0).

Paths are relative to the folder of ``base_folder()``, columns count characters, and nothing in a
document depends on when and where it was made.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from promoarray.console import visible
from promoarray.diagnostics.findings.classify import KNOWN, NEW, Judged
from promoarray.diagnostics.model.kinds import KINDS, Kind
from promoarray.diagnostics.model.lost import CHECKS
from promoarray.diagnostics.render.replacements import replacements
from promoarray.diagnostics.render.words import Place, by_place, message, title
from promoarray.diagnostics.spans import Span, base_folder, relative, span_of

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
"""Stands for the folder that paths begin at."""

Data = dict[str, Any]


class Rule(NamedTuple):
    """What results are about."""

    # which stay the same from version to version; the name in PascalCase
    id: str
    name: str
    # a phrase, and sentences
    short: str
    full: str
    level: str  # ``"error"``, ``"warning"`` or ``"note"``
    help: str  # the anchor in ``docs/`` that says more: ``"ci.md#findings"``


def document(
    rules: Sequence[Rule], results: Iterable[Data], invocation: Data | None = None
) -> Data:
    """Return a document of one run, with what ``result`` made in the order to be shown."""
    seen, index = Counter[str](), {rule.id: n for n, rule in enumerate(rules)}
    placed = []
    for each in results:
        print_ = each["partialFingerprints"][_PRINT]
        seen[print_] += 1
        numbered = {"partialFingerprints": {_PRINT: f"{print_}:{seen[print_]}"}}
        rule = {"ruleId": each["ruleId"], "ruleIndex": index[each["ruleId"]]}
        placed.append(rule | each | numbered)
    driver = {"name": "promoarray", "version": version("promoarray"), "rules": [*map(_rule, rules)]}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The folder that the command was run in."}}
        },
        "columnKind": "unicodeCodePoints",
        "results": placed,
        **({"invocations": [invocation]} if invocation else {}),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


_PRINT = "promoarray/v1"


def result(rule: str, text: str, span: Span, identity: Iterable[str], **more: Any) -> Data:
    """Return a result of a rule, with its other properties as SARIF has them, if they are not
    empty; ``identity`` is what stays the same of it while lines move, besides its file and rule."""
    return {
        "ruleId": rule,
        "message": {"text": plain(text)},
        "locations": [location(span)],
        "partialFingerprints": {
            _PRINT: fingerprint(relative(span.file, base_folder()), rule, *identity)
        },
        **{name: what for name, what in more.items() if what},
    }


def location(span: Span) -> Data:
    """Return a place."""
    physical: Data = {"artifactLocation": _artifact(span.file)}
    if span.line:
        physical["region"] = _region(span)
    return {"physicalLocation": physical}


def note(level: str, text: str, span: Span | None = None) -> Data:
    """Return what is to be told of the run itself."""
    data: Data = {"level": level, "message": {"text": plain(text)}}
    return data | ({"locations": [location(span)]} if span else {})


def fingerprint(*identity: str) -> str:
    """Return a short text that is the same for the same words, and for no others."""
    return hashlib.sha256("\0".join(identity).encode(errors="backslashreplace")).hexdigest()[:32]


def plain(message: str) -> str:
    """Return a message in which nothing that a program says is a control character, nor a link:
    the bracket that would end its text is escaped (SARIF 2.1.0, 3.11.6)."""
    return visible(message).replace("](", "\\](")


def _rule(rule: Rule) -> Data:
    pages = _documentation()
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.short},
        "fullDescription": {"text": rule.full},
        "help": {"text": f"{rule.full} See docs/{rule.help}."},
        **({"helpUri": f"{pages.rstrip('/')}/{rule.help}"} if pages else {}),
        "defaultConfiguration": {"level": rule.level},
    }


def _documentation() -> str:
    """Where the installed package says that its documentation is; "" if it does not."""
    urls = metadata("promoarray").get_all("Project-URL") or []
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return str(named.get("Documentation", ""))


def _artifact(file: str) -> Data:
    path = relative(file, base_folder())
    if path == ".." or path.startswith("../"):
        return {"uri": Path(file).resolve().as_uri()}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": ROOT}


def _region(span: Span) -> dict[str, int]:
    names = "startLine", "startColumn", "endLine", "endColumn"
    return {name: number for name, number in zip(names, span[1:], strict=True) if number}


# -- findings of promoarray compare ---------------------------------------------------------------


def _rules(kinds: Mapping[str, Kind], page: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            *(name, kind.rule, f"{kind.words[0].upper()}{kind.words[1:]}"),
            *(kind.meaning, kind.level, page),
        )
        for name, kind in kinds.items()
    )


RULES = _rules(KINDS, "ci.md#what-is-found")
"""By kind, what matters most first."""

CHECK_RULES = _rules(CHECKS, "check.md#what-is-found")
"""The same of ``promoarray check``."""


def as_sarif(
    judged: Judged, exit_code: int = 0, errors: Sequence[str] = (), rules: Sequence[Rule] = RULES
) -> Data:
    """Return the findings that are not ignored as a SARIF document; ``errors`` kept the program
    from its end, or promoarray from watching it."""
    left = judged.of(NEW, KNOWN)
    invocation = {
        "executionSuccessful": not errors,
        "exitCode": exit_code,
        "toolExecutionNotifications": [note("error", error) for error in errors],
        "toolConfigurationNotifications": [
            note("warning", each.text, Span(each.file, each.line)) for each in judged.notices
        ],
    }
    return document(rules, (_result(judged, each) for each in by_place(left)), invocation)


def _result(judged: Judged, place: Place) -> Data:
    first = place[0]
    known = all(judged.states[each] == KNOWN for each in place)
    inside = first.inside and location(Span(first.inside.file, first.inside.line))
    span = span_of(first.place)
    return result(
        first.kind,
        message(place),
        span,
        (first.source, first.operation, *first.operands, first.run, "root" * first.root),
        relatedLocations=[inside | {"message": {"text": "computed here"}}] if inside else [],
        fixes=[*_fixes(place)],
        baselineState=("unchanged" if known else "new") if judged.baseline else "",
        properties={"policies": [each.policy for each in place if each.policy]},
    )


def _fixes(place: Place) -> Iterator[Data]:
    """The edits of a place, each for the policies that it is for."""
    for edit, names, parts in replacements(place):
        written = [
            {"deletedRegion": _region(span), "insertedContent": {"text": text}}
            for span, text in parts
        ]
        yield {
            "description": {"text": plain(f"Write {edit} for {', '.join(names)}")},
            "artifactChanges": [
                {"artifactLocation": _artifact(parts[0][0].file), "replacements": written}
            ],
        }


_LEVELS = {
    rule.id: "notice" if rule.level == "note" else rule.level for rule in (*RULES, *CHECK_RULES)
}


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
