"""``promoarray why``: run a program and say where the dtypes came from at which it stops."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from os.path import realpath
from pathlib import Path

from promoarray.console import show
from promoarray.core.call_site import Site, is_library
from promoarray.diagnostics.edits.attempt import Edit
from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, NOTHING, USAGE, UsageError
from promoarray.diagnostics.model.failed import Failed
from promoarray.diagnostics.model.flow import CALL, MADE, Flow, RecordedOperation
from promoarray.diagnostics.record.block import RECORDED
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.record.saved import is_saved, read, require_no_options, save
from promoarray.diagnostics.run.attempts import Attempts
from promoarray.diagnostics.run.frameworks import AUTO, OWN, Expected, expected
from promoarray.diagnostics.run.program import (
    Ended,
    StandardInput,
    as_module,
    program_of,
    say,
)
from promoarray.diagnostics.run.steps import Training
from promoarray.diagnostics.run.task import Task
from promoarray.diagnostics.whole_file import require_place
from promoarray.diagnostics.why.edit import edits
from promoarray.diagnostics.why.explained import Explained
from promoarray.diagnostics.why.origin import Origins, Step
from promoarray.promotion.registry import as_policy

_say = partial(say, "why")

PARTS = 12
"""So many of the arrays that a value holds are explained, and names told."""

TRIES = 4
"""So many edits are tried, each by a run of the program."""


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status, one of ``exit_codes``."""
    try:
        saved = _saved(args)
        program = program_of(args)
        lines_asked = [_line(each) for each in args.line]
        if args.save:
            require_place(Path(args.save))
    except (OSError, ValueError) as error:
        _say(str(error))
        return USAGE
    if saved is not None:
        return _of_saved(saved, lines_asked, args)
    found = expected(args.script, args.module, args.framework or AUTO, args.args)
    if not found.framework:
        known = ", ".join(RECORDED)
        _say(
            f"it records programs of {known}, and this one is taken for one of {OWN}; errors of "
            "promoarray's arrays say themselves what to write. Write --framework NAME"
        )
        return USAGE
    try:
        steps = Training(args.steps, args.sample).of(found.framework)
    except UsageError as error:
        _say(str(error))
        return USAGE
    framework, task = found.framework, _task(found, steps)
    with tempfile.TemporaryFile() as kept:
        given = StandardInput(kept)
        ended = program.run(task, given, quiet=False, aside=args.json)
        if args.save:
            save(ended.report(as_policy(task.policies[0]), ()), args.save)
        explained = _explained(framework, ended)
        explained.asked = [*_asked(ended, lines_asked, args.value)]
        explained.note = _names(ended, args.value)
        if explained.failed is not None and explained.failed.for_a_dtype:
            attempts = Attempts(
                program, task, given, ended, most=TRIES, asked=args.edit, command="why"
            )
            _mend(explained, attempts)
    _write(explained, as_json=args.json)
    ended.say_bugs("why")
    if ended.status and explained.failed is None:
        _say(f"{ended.stopped_under(framework)}{as_module(args.script)}; no recorded call failed")
        return FAILED
    if ended.status:
        return FINDINGS if explained.failed and explained.failed.for_a_dtype else FAILED
    if not explained.asked and not args.json:
        print("The program ran to its end: nothing stopped it.")
    return NOTHING


def _saved(args: argparse.Namespace) -> RecordedReport | None:
    """The recording that stands in the place of a program."""
    if not args.script or not is_saved(args.script):
        return None
    require_no_options(args.script, args, "save", "steps", "sample")
    return read(args.script)


def _of_saved(
    saved: RecordedReport, lines_asked: Sequence[tuple[str, int]], args: argparse.Namespace
) -> int:
    """Explain a recording, of which no edit is tried."""
    ended = Ended.of_saved(saved)
    explained = _explained(saved.framework, ended)
    explained.asked = [*_asked(ended, lines_asked, args.value)]
    explained.note = _names(ended, args.value)
    _write(explained, as_json=args.json)
    if saved.stopped is not None and saved.failed is None:
        _say(
            f"{ended.stopped_under(saved.run.name)}; the call is not in {args.script}, which "
            "promoarray why and check save"
        )
        return FAILED
    if saved.failed is not None:
        return FINDINGS if saved.failed.for_a_dtype else FAILED
    if not explained.asked and not args.json:
        print("The program ran to its end: nothing stopped it.")
    return NOTHING


def _task(found: Expected, steps: Training) -> Task:
    home = RECORDED[found.framework].editions[0][1]
    libraries = found.libraries
    return Task((home,), framework=found.framework, libraries=libraries, origins=True, steps=steps)


def _explained(framework: str, ended: Ended) -> Explained:
    found = next((r for r in _reports(ended) if r.failed is not None), None)
    name = next((r.framework for r in _reports(ended) if r.framework), framework)
    if found is None or found.failed is None:
        return Explained(name, None, [])
    return Explained.of(name, found.failed, found.flows[0] if found.flows else Flow())


def _reports(ended: Ended) -> list[RecordedReport]:
    return [each for each in ended.reports if isinstance(each, RecordedReport)]


def _mend(explained: Explained, attempts: Attempts) -> None:
    """Try edits, until the program gets past the call that stopped it."""
    failed = explained.failed
    assert failed is not None
    framework = explained.framework.partition(" ")[0]
    for each, ended in attempts.of(edits(failed, explained.ways, framework)):
        if then := _gets_past(failed, each, ended):
            again = _stops_again(ended)
            before = explained.edit
            # One that stops later, for another reason, is better than one that gives up fractions.
            if before is None or not (again or (each.loses and not before.loses)):
                explained.edit, explained.then = each, then
            if not again:
                break
    explained.tried = attempts.tried


def _stops_again(ended: Ended) -> bool:
    """Whether an edited program stops for a dtype, so that another edit may be the better one."""
    found = next((r.failed for r in _reports(ended) if r.failed is not None), None)
    return bool(ended.status) and found is not None and found.for_a_dtype


def _gets_past(failed: Failed, edit: Edit, ended: Ended) -> str:
    """Say how the edited program goes on behind the line; "" if it does not get there."""
    if ended.interrupted:
        return ""
    if not ended.status:
        return "with it, the program runs to its end"
    again = next((r.failed for r in _reports(ended) if r.failed is not None), None)
    file, line = _at(failed.program)
    at = file, edit.moved(line) if realpath(edit.file) == file else line
    if again is not None and _at(again.program) == at:
        if (again.name, _inside(again)) == (failed.name, _inside(failed)):
            return ""
        return f"with it, {failed.name} runs; the line then stops at {again.name}: {again.error}"
    if again is not None and _at(again.program) in {
        (realpath(edit.file), edit.moved(number)) for number, _ in edit.changes
    }:
        return ""  # the stop is elsewhere, and as it was
    passed = any(
        _at(each.place.program) == at and each.kind in (CALL, MADE) and (again or each.kind == CALL)
        for report in _reports(ended)
        for flow in report.flows
        for each in flow.operations
    )
    where_ = ended.where or "a later line"
    return (
        f"with it, the line runs; the program stops later, in the edited file at {where_}"
        if passed
        else ""
    )


def _inside(failed: Failed) -> tuple[str, int] | None:
    """The library's line at which a call failed, which an edit of the program does not move."""
    return _at(failed.site) if is_library(failed.site.file) else None


def _at(site: Site) -> tuple[str, int]:
    """Its line, by one name of the file: of one that is edited Python has the whole path."""
    return realpath(site.file), site.line


# -- lines and values -----------------------------------------------------------------------------


def _line(text: str) -> tuple[str, int]:
    file, _, number = text.rpartition(":")
    if not file or not number.isdigit():
        raise ValueError(f"--line takes FILE:N, not {text!r}")
    return file, int(number)


def _asked(
    ended: Ended, wanted: Sequence[tuple[str, int]], names: Sequence[str]
) -> Iterator[tuple[str, list[Step]]]:
    flows = [flow for report in _reports(ended) for flow in report.flows]
    for name in names:
        parts = [(flow, each) for flow in flows for each in flow.finals if _is_in(each, name)]
        for flow, part in parts[:PARTS]:
            yield part, Origins(flow).of(flow.finals[part], part)
        if not parts:
            yield name, []
    for file, line in wanted:
        found = False
        for flow in flows:
            origins = Origins(flow)
            for each in flow.operations:
                if _stands_at(each, file, line):
                    found = True
                    yield each.place.program.expression, origins.of((each.makes, 0), "")
        if not found:
            yield f"{file}:{line}", []


def _names(ended: Ended, names: Sequence[str]) -> str:
    """Say what else could be asked for, where a name is none or holds many arrays."""
    every = [each for report in _reports(ended) for flow in report.flows for each in flow.finals]
    counts = [sum(_is_in(each, name) for each in every) for name in names]
    if not every or all(0 < count <= PARTS for count in counts):
        return ""
    return f"--value takes {', '.join(every[:PARTS])}" + ", …" * (len(every) > PARTS)


def _is_in(part: str, name: str) -> bool:
    """Whether it is the value of a name, or one that this holds."""
    return part == name or part.startswith((f"{name}.", f"{name}["))


def _stands_at(each: RecordedOperation, file: str, line: int) -> bool:
    program = each.place.program
    return bool(each.results) and program.line == line and _same_file(program.file, file)


def _same_file(path: str, given: str) -> bool:
    return path == given or Path(path).name == given or Path(path) == Path(given).resolve()


def _write(explained: Explained, *, as_json: bool) -> None:
    sys.stdout.flush()
    if as_json:
        print(json.dumps(explained.to_dict(), indent=2))
    else:
        show(explained)
