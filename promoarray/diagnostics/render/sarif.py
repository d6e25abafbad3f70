"""SARIF 2.1.0, the format in which code scanning takes results (OASIS, sarif-v2.1.0).

Paths are relative to the folder of ``base_folder()``, columns count characters, and nothing in a
document depends on when and where it was made.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from promoarray.console import visible
from promoarray.diagnostics.spans import Span, base_folder, relative

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
"""Stands for the folder that paths begin at."""


class Rule(NamedTuple):
    """What results are about.

    Attributes
    ----------
    id, name : str
        Which stay the same from version to version; the name in PascalCase.
    short, full : str
        A phrase, and sentences.
    level : str
        ``"error"``, ``"warning"`` or ``"note"``.
    help : str
        The anchor in ``docs/`` that says more: ``"ci.md#findings"``.
    """

    id: str
    name: str
    short: str
    full: str
    level: str
    help: str


class Edit(NamedTuple):
    """A text to put in the place of another."""

    description: str
    span: Span
    text: str


class Result(NamedTuple):
    """One result.

    Attributes
    ----------
    rule : str
        The rule's id.
    message : str
    span : Span
    identity : tuple of str
        What stays the same of it while lines move, besides its file and rule.
    related : tuple of (Span, str)
        Other places, and what they are.
    edits : tuple of Edit
        Each mends it.
    baseline : str
        ``"new"`` or ``"unchanged"``, where there is a baseline.
    properties : dict
        Whatever else is known.
    """

    rule: str
    message: str
    span: Span
    identity: tuple[str, ...]
    related: tuple[tuple[Span, str], ...] = ()
    edits: tuple[Edit, ...] = ()
    baseline: str = ""
    properties: dict[str, Any] = {}  # noqa: RUF012


class Note(NamedTuple):
    """What is to be told of the run itself."""

    level: str
    message: str
    span: Span | None = None


class Invocation(NamedTuple):
    """How the tool ran.

    Attributes
    ----------
    successful : bool
        Whether the results are those of the whole program.
    exit_code : int
    notes : tuple of Note
        Of the run, and of how it is configured.
    configuration : tuple of Note
    """

    successful: bool = True
    exit_code: int = 0
    notes: tuple[Note, ...] = ()
    configuration: tuple[Note, ...] = ()


def document(
    rules: Sequence[Rule], results: Iterable[Result], invocation: Invocation | None = None
) -> dict[str, Any]:
    """Return a document of one run, as data.

    Parameters
    ----------
    rules : sequence of Rule
    results : iterable of Result
        In the order in which they are to be shown.
    invocation : Invocation, optional
    """
    folder, seen = base_folder(), Counter[str]()
    index = {rule.id: n for n, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "promoarray",
                "version": version("promoarray"),
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The folder that the command was run in."}}
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, index, folder, seen) for each in results],
    }
    if invocation is not None:
        run["invocations"] = [_invocation(invocation, folder)]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def fingerprint(*identity: str) -> str:
    """Return a short text that is the same for the same words, and for no others."""
    return hashlib.sha256("\0".join(identity).encode(errors="backslashreplace")).hexdigest()[:32]


def plain(message: str) -> str:
    """Return a message in which nothing that a program says is a control character, nor a link:
    the bracket that would end its text is escaped (SARIF 2.1.0, 3.11.6)."""
    return visible(message).replace("](", "\\](")


def _rule(rule: Rule) -> dict[str, Any]:
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


def _result(
    result: Result, index: dict[str, int], folder: str, seen: Counter[str]
) -> dict[str, Any]:
    identity = fingerprint(relative(result.span.file, folder), result.rule, *result.identity)
    seen[identity] += 1
    data: dict[str, Any] = {
        "ruleId": result.rule,
        "ruleIndex": index[result.rule],
        "message": {"text": plain(result.message)},
        "locations": [_location(result.span, folder)],
        "partialFingerprints": {"promoarray/v1": f"{identity}:{seen[identity]}"},
    }
    if result.related:
        data["relatedLocations"] = [
            _location(span, folder) | {"message": {"text": plain(what)}}
            for span, what in result.related
        ]
    if result.edits:
        data["fixes"] = [_fix(edit, folder) for edit in result.edits]
    if result.baseline:
        data["baselineState"] = result.baseline
    if result.properties:
        data["properties"] = result.properties
    return data


def _location(span: Span, folder: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(span.file, folder)}
    if span.line:
        physical["region"] = _region(span)
    return {"physicalLocation": physical}


def _artifact(file: str, folder: str) -> dict[str, Any]:
    path = relative(file, folder)
    if path == ".." or path.startswith("../"):
        return {"uri": Path(file).resolve().as_uri()}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": ROOT}


def _region(span: Span) -> dict[str, int]:
    numbers = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {name: number for name, number in numbers.items() if number}


def _fix(edit: Edit, folder: str) -> dict[str, Any]:
    replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
    change = {
        "artifactLocation": _artifact(edit.span.file, folder),
        "replacements": [replacement],
    }
    return {"description": {"text": plain(edit.description)}, "artifactChanges": [change]}


def _invocation(invocation: Invocation, folder: str) -> dict[str, Any]:
    return {
        "executionSuccessful": invocation.successful,
        "exitCode": invocation.exit_code,
        "toolExecutionNotifications": [_note(n, folder) for n in invocation.notes],
        "toolConfigurationNotifications": [_note(n, folder) for n in invocation.configuration],
    }


def _note(note: Note, folder: str) -> dict[str, Any]:
    data: dict[str, Any] = {"level": note.level, "message": {"text": plain(note.message)}}
    if note.span is not None:
        data["locations"] = [_location(note.span, folder)]
    return data
