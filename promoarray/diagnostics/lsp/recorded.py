"""Recordings of a workspace, as far as an editor shows them: findings and operations by file."""

from __future__ import annotations

import glob
import linecache
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from promoarray.console import counted, visible
from promoarray.core.call_site import Site
from promoarray.diagnostics.check.gathered import Found, gathered
from promoarray.diagnostics.check.meant import SHARE
from promoarray.diagnostics.check.report import Report as Losses
from promoarray.diagnostics.findings.classify import NEW, Ignored, judged
from promoarray.diagnostics.findings.results import findings
from promoarray.diagnostics.model.flow import COMPARED, Given, RecordedOperation
from promoarray.diagnostics.record.saved import NotSaved, is_saved, read
from promoarray.diagnostics.render.words import Place, by_place
from promoarray.diagnostics.run.frameworks import named, policies_for
from promoarray.dtypes import BY_CODE

FOLDER = ".promoarray"
"""Where recordings of a workspace are looked for, if none are named."""


@dataclass
class Recorded:
    """A recording, with what its policies make of it."""

    path: str
    # what is shown, by file
    places: dict[str, list[Place]] = field(default_factory=dict)
    operations: dict[str, list[RecordedOperation]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)  # as the files were when they were run
    error: str = ""  # why it is not read, such as that its program has changed


def read_recording(path: str, policies: str, ignored: Ignored) -> Recorded:
    """Read a recording; ask some policies about it, with commas in between, or those that make
    sense for its framework. Findings that settings ignore are left out."""
    found = Recorded(path)
    try:
        report = read(path, named(policies) if policies else ())
        if not policies and not report.checked:
            framework = report.framework.partition(" ")[0]
            report = read(path, policies_for(framework, report.script))
    except (NotSaved, OSError) as error:
        found.error = str(error)
        return found
    linecache.checkcache()
    every = findings(report)
    if report.checked:
        losses = Losses(report.framework, [])
        gathered(losses, [Found.of(report)], SHARE)
        every = [each.finding for each in losses.told]
    said = judged(every, (), None, (), whole=False, ignored=ignored)
    for place in by_place(said.of(NEW)):
        found.places.setdefault(_path(place[0].place.file), []).append(place)
    for each in (each for flow in report.flows for each in flow.operations):
        if each.kind in COMPARED:
            found.operations.setdefault(_path(each.place.program.file), []).append(each)
    files = {*found.places, *found.operations}
    found.texts = {file: text for file in files if (text := text_of(file))}
    return found


def text_of(file: str) -> str:
    """Return the text of a file as it stands; "" if there is none."""
    linecache.checkcache(file)
    return "".join(linecache.getlines(file))


def as_run(text: str) -> str:
    """Return an editor's text as ``text_of`` has that of a file, whatever ends its lines."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return lines if lines.endswith("\n") or not lines else f"{lines}\n"


def recordings(root: str, given: Iterable[str]) -> Iterator[str]:
    """Yield the recordings that patterns name, or those of the workspace's own folder."""
    patterns = [*given] or [f"{FOLDER}/*.zip"]
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(glob.escape(root), pattern))):
            if is_saved(path):
                yield path


def seen_at(found: Iterable[Recorded], file: str, line: int) -> Iterator[str]:
    """Yield what ran at a line."""
    for recorded in found:
        for each in recorded.operations.get(file, ()):
            if _stands_at(each.place.program, line) and each.results:
                operands = ", ".join(map(_operand, each.operands))
                results = ", ".join(BY_CODE[code].name for code in each.results)
                under = f"under {each.policy}, {counted(each.count, 'time')}"
                yield visible(f"{each.name}({operands}) is {results} {under}")


def _operand(given: Given) -> str:
    if given.code:
        return BY_CODE[given.code].name + "[]" * given.flat
    return f"Python {type(given.value).__name__}"


def _stands_at(site: Site, line: int) -> bool:
    last = site.extent[2] if site.extent and site.column >= 0 else site.line
    return site.line <= line <= last


def _path(file: str) -> str:
    return os.path.realpath(file)
