"""A recorded run in a file, of which other policies are asked without running the program."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.model.noted import NotExamined, Stopped
from promoarray.diagnostics.record.report import Drift, RecordedReport, Warned
from promoarray.dtypes import BY_CODE, DType
from promoarray.operations import Form
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

FORMAT = "promoarray recorded run"
VERSION = 2

Record = TypeVar("Record")


class NotSaved(ValueError):
    """A file is no recorded run, or its program has changed since."""


def is_saved(path: str) -> bool:
    """Return whether a file is a recorded run, by how it begins."""
    try:
        with open(path, encoding="utf-8") as file:
            return FORMAT in file.read(100)
    except (OSError, UnicodeDecodeError):
        return False


def as_json(report: RecordedReport) -> str:
    """Return a recorded run as JSON.

    Parameters
    ----------
    report : RecordedReport
        Of a run, whose ``policies`` are those whose casts were compared by value meanwhile.
    """
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
        return json.dumps(data, indent=None, separators=(",", ":"))


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


_OF_REPORT = _Saved._fields[4:]
"""What is saved as the report has it."""


def read(path: str, policies: tuple[Policy, ...] = ()) -> RecordedReport:
    """Return a recorded run, of which policies are asked as its report is read.

    Parameters
    ----------
    path : str
    policies : tuple of Policy
        Those to ask; by default those that were asked as it was recorded.

    Raises
    ------
    NotSaved
        If it is no recorded run, is one of another version, or its program has changed since.
    OSError
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise NotSaved(f"{path} is no recorded run of this version: record it again, --save")
        saved = from_data(_Saved, data)
        report = _report(saved, policies)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise NotSaved(f"{path} is no recorded run: {error!r}") from error
    except NotSaved:
        raise
    except ValueError as error:
        raise NotSaved(f"{path} is no recorded run: {error}") from error
    changed = [file for file, digest in saved.files.items() if _digest(file) not in ("", digest)]
    if changed:
        raise NotSaved(f"{changed[0]} has changed since it was recorded in {path}: record it again")
    return report


def _report(saved: _Saved, policies: tuple[Policy, ...]) -> RecordedReport:
    compared = tuple(map(as_policy, saved.policies))
    report = RecordedReport(as_policy(saved.run), policies or compared)
    for name in _OF_REPORT:
        setattr(report, name, getattr(saved, name))
    report.stopped = saved.stopped
    for flow in saved.flows:
        _require_sources(flow)
    report.uncompared = {*_uncompared(report, tuple(p for p in policies if p not in compared))}
    return report


def _require_sources(flow: Flow) -> None:
    """Raise ValueError where what feeds an operation, or a final global, is no result."""
    every = [found for each in flow.operations for found in each.sources]
    made = {(each.makes, n) for each in flow.operations for n in range(len(each.results))}
    for number, which in {*flow.finals.values()}.union(*every) - made:
        raise ValueError(f"nothing makes {number}, or it has no result {which}")


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
    except OSError:
        return ""


# -- records as data ------------------------------------------------------------------------------


def as_data(record: Any) -> dict[str, Any]:
    """Return a record as data for JSON, by the names of its fields.

    Further records in it are rows of their fields; places of the source come once, under
    ``"sites"``, and stand as their numbers everywhere else.
    """
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
                return {"complex": [x.real, x.imag]}
            case dict():
                return [[data(key), data(value)] for key, value in x.items()]
            case set():
                return sorted(map(data, x))
            case list() | tuple():
                return [*map(data, x)]
        return [data(getattr(x, name)) for name in _types(type(x))] if is_dataclass(x) else x

    found = {name: data(getattr(record, name)) for name in _types(type(record))}
    return found | {"sites": [*map(astuple, sites)]}


def from_data(kind: type[Record], found: dict[str, Any]) -> Record:
    """Return a record of a kind from data.

    Raises
    ------
    KeyError, IndexError, TypeError, ValueError
        If it is no such data.
    """
    sites: list[Site] = []

    def read(kind: Any, x: Any) -> Any:
        origin, args = get_origin(kind) or kind, get_args(kind)
        if kind is Any:
            return complex(*x["complex"]) if isinstance(x, dict) else x
        if kind is Site:
            return sites[x]
        if kind is Form or kind is DType:
            return Form[x] if kind is Form else BY_CODE[x]
        if origin is UnionType:  # with None
            return None if x is None else read(args[0], x)
        if issubclass(origin, dict):
            of_values = args[1] if args[1:] else int
            return origin({read(args[0], key): read(of_values, value) for key, value in x})
        if origin is tuple and Ellipsis not in args:
            return tuple(read(*each) for each in zip(args, x, strict=True))
        if origin in (tuple, list, set):
            return origin(read(args[0], each) for each in x)
        return row(kind, x) if _types(kind) else _required(kind, x)

    def row(kind: Any, x: Any) -> Any:
        return kind(*(read(*each) for each in zip(_types(kind).values(), x, strict=True)))

    sites += [row(Site, x) for x in found["sites"]]
    types = _types(kind).items()
    return kind(**{name: read(of_field, found[name]) for name, of_field in types})


_TYPES: dict[Any, dict[str, Any]] = {}


def _types(kind: Any) -> dict[str, Any]:
    """The fields of a record, each with its type; none of what is no record."""
    if kind not in _TYPES:
        _TYPES[kind] = get_type_hints(kind)
    return _TYPES[kind]


def _required(kind: type[Any], x: Any) -> Any:
    if type(x) is not kind:
        raise TypeError(f"{x!r} is no {kind.__name__}")
    return x
