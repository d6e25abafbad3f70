"""A recording in a file, which is asked without running the program.

The file is a zip archive with ``recording.json``, whose schema is ``recording.schema.json``:
records are objects by the names of their fields, tables from what is no text lists of pairs, and
places of the source come once, under ``sites``, and stand as their numbers everywhere else.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, is_dataclass, replace
from dataclasses import fields as fields_of
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from promoarray.console import counted
from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.model.failed import Failed
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CALL,
    CAST,
    DEFAULT,
    ENTRY,
    KINDS,
    MADE,
    NODE,
    OPERATION,
    Flow,
)
from promoarray.diagnostics.model.lost import CHECKS, LostPlace
from promoarray.diagnostics.model.noted import NotExamined, Stopped
from promoarray.diagnostics.record.report import EAGER, UNSEEN, Drift, RecordedReport, Warned
from promoarray.diagnostics.record.report import KINDS as _CALLS
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.whole_file import write_whole
from promoarray.dtypes import BY_CODE, BY_NAME, INTEGERS, WEAK, DType
from promoarray.errors import quoted
from promoarray.io.reading import BROKEN, explained, said, text
from promoarray.operations import Form, operation
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

FORMAT = "promoarray recording"
VERSION = 1
"""Grows where a file of before means something else; a field that is new has a default."""

MEMBER = "recording.json"

_BEFORE = b"promoarray recorded run"  # how files of before this format began

Record = TypeVar("Record")


class NotSaved(ValueError):
    """A file is no recording, or its program has changed since."""


def is_saved(path: str) -> bool:
    """Return whether a file is a recording, or what is left of one, by what it holds."""
    try:
        with open(path, "rb") as file:
            first = file.read(100)
        if not (first.startswith(b"PK") or zipfile.is_zipfile(path)):
            return _BEFORE in first
        with zipfile.ZipFile(path) as archive:
            return MEMBER in archive.namelist()
    except (ValueError, NotImplementedError, zipfile.BadZipFile):  # which no Python runs, either
        return True
    except OSError:
        return False


def require_no_options(path: str, given: Any, *names: str) -> None:
    """Raise ValueError if an option of a program that runs is given with a recording."""
    for name in names:
        if getattr(given, name):
            option = f"--{name.replace('_', '-')}"
            raise NotSaved(f"{option} is of a program that runs; {path} is a recording")


def save(report: Report, path: str) -> None:
    """Write a recording, whole or not at all.

    Parameters
    ----------
    report : Report
        Of a run that was recorded, with the policies whose casts were compared by value then.

    Raises
    ------
    OSError
    """
    assert isinstance(report, RecordedReport)
    with notify_lock:
        of_report = (getattr(report, name) for name in _OF_REPORT)
        saved = _Saved(
            report.run.name,
            tuple(policy.name for policy in report.policies),
            dict(_digests(report.flows)),
            report.stopped and replace(report.stopped, refused=None),
            *of_report,
        )
        data = {"format": FORMAT, "version": VERSION} | as_data(saved)
    write_archive(path, {MEMBER: json.dumps(data, separators=(",", ":")).encode()})


def write_archive(path: str, members: dict[str, bytes]) -> None:
    """Write a zip archive whose bytes hang on its members alone."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    write_whole(Path(path), kept.getvalue())


class _Saved(NamedTuple):
    """What is saved of a run."""

    run: str
    policies: tuple[str, ...]
    files: dict[str, str]  # the program's files, each with the digest of its text
    stopped: Stopped | None
    framework: str
    script: str
    flows: list[Flow]
    calls: Counter[tuple[str, str]]
    drift: Counter[Drift]
    unexamined: Counter[NotExamined]
    warned: Counter[Warned]
    escapes: Counter[Escape]
    beside: tuple[str, ...] = ()
    failed: Failed | None = None  # of a run that keeps origins
    lost: list[LostPlace] = []  # of a run that was checked  # noqa: RUF012
    checked: int = 0
    unread: Counter[NotExamined] = Counter()  # noqa: RUF012


_OF_REPORT = _Saved._fields[4:]
"""What is saved as the report has it."""


def read(path: str, policies: tuple[Policy, ...] = ()) -> RecordedReport:
    """Return a recording, of which policies are asked as its report is read.

    Parameters
    ----------
    policies : tuple of Policy
        Those to ask; by default those that were asked as it was recorded.

    Raises
    ------
    NotSaved
        If it is none, is one of a newer version, or its program has changed since.
    OSError
    """
    with explained(f"{path} is no recording", NotSaved):
        data = json.loads(member(path))
        if data["format"] != FORMAT or type(data["version"]) is not int:
            raise NotSaved(f"{path} is no recording")
        if data["version"] > VERSION:
            raise NotSaved(
                f"{path} is a recording of format {data['version']}, and this promoarray reads "
                f"{VERSION}: install a newer one, or record it again"
            )
        saved = from_data(_Saved, data)
        report = _report(saved, policies)
    changed = [file for file, digest in saved.files.items() if _digest(file) not in ("", digest)]
    if changed:
        raise NotSaved(f"{changed[0]} has changed since it was recorded in {path}: record it again")
    return report


def member(path: str, name: str = MEMBER) -> bytes:
    """Return the text of a part of a recording.

    Raises
    ------
    NotSaved
        Or what ``explained`` takes of a damaged file.
    """
    if not zipfile.is_zipfile(path):
        raise NotSaved(f"{path} is no recording of this format: record it again, --save RUN.zip")
    with zipfile.ZipFile(path) as archive:
        return text(archive, name)


def _report(saved: _Saved, policies: tuple[Policy, ...]) -> RecordedReport:
    compared = tuple(map(as_policy, saved.policies))
    report = RecordedReport(as_policy(saved.run), policies or compared)
    for name in _OF_REPORT:
        setattr(report, name, getattr(saved, name))
    report.stopped = saved.stopped
    if others := {kind for kind, _ in saved.calls} - {*_CALLS, UNSEEN, EAGER}:
        raise ValueError(f"it has calls of a kind {others.pop()}")
    if others := {each.kind for each in saved.lost} - CHECKS.keys():
        raise ValueError(f"it has losses of a kind {others.pop()}")
    for flow in saved.flows:
        _require_sound(flow)
        for each in flow.operations:
            flow.makers.setdefault(each.makes, each)
    report.uncompared = {*_uncompared(report, tuple(p for p in policies if p not in compared))}
    return report


_MOST_DATA = 1 << 16
"""Of so many things an array that enters is made at most."""


_FORMS: dict[str, tuple[int, int, dict[str, tuple[type, ...]]]] = {
    OPERATION: (1, 0, {}),
    DEFAULT: (0, 1, {"weak": (str,), "lone": (bool,), "function": (str,)}),
    CAST: (1, 1, {}),
    ASSIGNMENT: (2, 0, {}),
    MADE: (0, 1, {}),
    ENTRY: (0, 1, {"source": (str,), "data": (int,), "operands": (list, type(None))}),
    CALL: (0, 0, {"ruled": (bool,), "keywords": (list,)}),
    NODE: (0, 0, {"moves": (bool,), "refuses": (dict,)}),
}
"""By kind the operands and results that an operation has at least, and the types of options."""


def _require_sound(flow: Flow) -> None:
    """Raise ValueError where an operation is none that was recorded, or what feeds it no result."""
    every = [found for each in flow.operations for found in each.sources]
    made = {(each.makes, n) for each in flow.operations for n in range(len(each.results))}
    for number, which in {*flow.finals.values()}.union(*every) - made:
        raise ValueError(f"nothing makes {number}, or it has no result {which}")
    changes = *flow.values.found, *(each.place for each in flow.values.found.values())
    casts = [place for place in changes if place.operation == "astype"]
    for name in {each for place in casts for each in (place.source, place.target)} - {*BY_NAME}:
        raise ValueError(f"values were cast to or from {quoted(name)}")
    for each in flow.operations:
        given, (takes, makes, options) = len(each.operands), _FORMS.get(each.kind, (0, 0, {}))
        known = each.kind in KINDS and given >= takes and len(each.results) >= makes
        known = known and all(type(each.options.get(x)) in options[x] for x in options)
        if each.kind == OPERATION and operation(each.name).arity == 2:
            known = known and len(each.results) < 2
        if each.kind in (OPERATION, ASSIGNMENT):
            values = [x.value for x in each.operands if not (x.code and x.value is None)]
            known = known and WEAK.keys() >= {*map(type, values)}
            whole = [x for x in each.operands if x.code and BY_CODE[x.code].kind in INTEGERS]
            known = known and all(isinstance(x.value, int | None) for x in whole)
        if each.kind == ENTRY:
            known = known and each.options["source"] in BY_CODE
            known = known and 0 <= each.options["data"] <= _MOST_DATA
            known = known and {int} >= {*map(type, each.options["operands"] or ())}
        if each.kind == DEFAULT:
            known = known and each.options["weak"] in BY_CODE
        if each.kind == CALL:
            known = known and {str} >= {*map(type, each.options["keywords"])}
            known = known and all(x.code for x in each.operands)
        if not known or len(each.sources) != given:
            raise ValueError(f"it has a {each.kind} {each.name} of {counted(given, 'operand')}")
        if not BY_CODE.keys() >= {*each.results} or any(
            type(x.value) is list for x in each.operands if not x.code
        ):
            raise ValueError(f"{each.name} has values of no known dtype")


def _uncompared(report: RecordedReport, others: tuple[Policy, ...]) -> Iterator[NotExamined]:
    """Yield the casts whose values were not compared for policies that nobody named then."""
    for flow in report.flows:
        for each in flow.operations:
            given = [BY_CODE[x.code] for x in each.operands if x.code]
            match each.kind, given:
                case "cast", [source]:
                    (target,) = each.dtypes()
                case "assignment", [target, source]:
                    pass
                case _:
                    continue
            effect = report.run.cast.effect(source, target)
            for policy in others:
                if source is not target and policy.cast.effect(source, target) != effect:
                    what = f"values of {source.name} cast to {target.name}"
                    at = each.place.site, each.place.program
                    yield NotExamined(what, _NOT_THEN, *at, (policy.name,))


_NOT_THEN = "the run was recorded without this policy, so they were not compared"


def _digests(flows: list[Flow]) -> Iterator[tuple[str, str]]:
    """Yield the program's files, each with the digest of its text."""
    files = {each.place.program.file for flow in flows for each in flow.operations}
    for file in sorted(files):
        if digest := _digest(file):
            yield file, digest


def _digest(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (OSError, ValueError):  # there is none, or no file has such a name
        return ""


# -- records as data ------------------------------------------------------------------------------


def as_data(record: Any) -> dict[str, Any]:
    """Return a record as data for JSON, by the names of its fields, with the ``sites`` it names."""
    sites: dict[Site, int] = {}

    def data(x: Any) -> Any:
        match x:
            case Site():
                return sites.setdefault(x, len(sites))
            case Form():
                return x.name
            case DType():
                return x.code
            case complex():
                return {"complex": [repr(x.real), repr(x.imag)]}
            case float() if not math.isfinite(x):
                return {"float": repr(x)}
            case dict():
                if all(type(key) is str for key in x) and x:
                    return {key: data(value) for key, value in x.items()}
                return [[data(key), data(value)] for key, value in x.items()]
            case set():
                return sorted(map(data, x))
        if _types(type(x)):
            return row(x)
        return [*map(data, x)] if isinstance(x, (list, tuple)) else x

    def row(x: Any) -> dict[str, Any]:
        return {name: data(getattr(x, name)) for name in _types(type(x))}

    found = row(record)
    return found | {"sites": [{n: getattr(x, n) for n in _types(Site)} for x in sites]}


def from_data(kind: type[Record], found: dict[str, Any]) -> Record:
    """Return a record of a kind from data; fields that it does not know are left out.

    Raises
    ------
    ValueError
        If it is no such data; the message says where.
    """
    sites: list[Site] = []
    at: list[str] = []  # the way to what is read

    def read(kind: Any, x: Any) -> Any:
        origin, args = get_origin(kind) or kind, get_args(kind)
        if kind is Any:
            return _value(x)
        if kind is object:
            return x
        if kind is Site and at[0] != "sites":
            return sites[_required(int, x)] if x >= 0 else sites[len(sites)]
        if kind is Form or kind is DType:
            return Form[x] if kind is Form else BY_CODE[x]
        if origin is UnionType:
            some = [each for each in args if each is not type(None)]
            if x is None and len(some) < len(args):
                return None
            return read(some[0], x) if some[1:] == [] else _value(x)
        if issubclass(origin, dict):
            of_values, items = args[1] if args[1:] else int, x
            items = x.items() if isinstance(x, dict) else x
            return origin({read(args[0], key): read(of_values, value) for key, value in items})
        if origin is tuple and Ellipsis not in args:
            return tuple(read(*each) for each in zip(args, x, strict=True))
        if origin in (tuple, list, set):
            return origin(each(args[0], x))
        return row(kind, x) if _types(kind) else _required(kind, x)

    def each(kind: Any, items: Any) -> Iterator[Any]:
        if not isinstance(items, list):
            raise TypeError(f"{quoted(items)} is no list")
        for number, x in enumerate(items):
            at.append(str(number))
            yield read(kind, x)
            at.pop()

    def row(kind: Any, x: dict[str, Any]) -> Any:
        types, made = _types(kind), {}
        missing = [name for name in types if name not in x and name not in _defaults(kind)]
        if missing or not isinstance(x, dict):
            raise KeyError(missing[0]) if missing else TypeError(f"{quoted(x)} is no record")
        for name in (name for name in types if name in x):
            at.append(name)
            made[name] = read(types[name], x[name])
            at.pop()
        return kind(**made)

    try:
        if "sites" not in _types(kind):
            at.append("sites")
            sites += each(Site, found["sites"])
            if any(len(site.extent) not in (0, 4) for site in sites):
                raise ValueError("a place is from a line and column to another")
            if any("\0" in site.file for site in sites):
                raise ValueError("no file has such a name")
            at.pop()
        made: Record = row(kind, found)
    except BROKEN as error:
        raise ValueError(f"{'.'.join(at)}{': ' * bool(at)}{said(error)}") from error
    return made


def _value(x: Any) -> Any:
    """A number, text or list of them as it was saved."""
    if isinstance(x, list):
        return [*map(_value, x)]
    if isinstance(x, dict) and x.keys() == {"complex"}:
        return complex(*map(float, x["complex"]))
    return float(x["float"]) if isinstance(x, dict) else x


_TYPES: dict[Any, dict[str, Any]] = {}


def _types(kind: Any) -> dict[str, Any]:
    """The saved fields of a record, each with its type; none of what is no record."""
    if kind not in _TYPES:
        found = get_type_hints(kind) if hasattr(kind, "__annotations__") else {}
        if is_dataclass(kind):  # not those that follow from others
            found = {each.name: found[each.name] for each in fields_of(kind) if each.repr}
        _TYPES[kind] = found
    return _TYPES[kind]


def _defaults(kind: Any) -> set[str]:
    """The fields of a record that have a default."""
    if not is_dataclass(kind):
        return {*getattr(kind, "_field_defaults", ())}
    return {
        each.name
        for each in fields_of(kind)
        if each.default is not MISSING or each.default_factory is not MISSING
    }


def _required(kind: type[Any], x: Any) -> Any:
    if isinstance(x, dict):
        x = _value(x)
    if type(x) is not kind:
        raise TypeError(f"{quoted(x)} is no {kind.__name__}")
    return x
