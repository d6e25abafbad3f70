"""``promoarray check``: run a program once, and say where numbers were lost."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from functools import partial
from typing import IO, Any

from promoarray.console import console, folded, visible
from promoarray.diagnostics.check.arrays import Looked
from promoarray.diagnostics.check.edit import edits
from promoarray.diagnostics.check.gathered import Found, gathered, line_of
from promoarray.diagnostics.check.report import Report
from promoarray.diagnostics.check.settings import fill
from promoarray.diagnostics.check.told import GONE, ORDER
from promoarray.diagnostics.edits.attempt import Edit
from promoarray.diagnostics.exit_codes import (
    FAILED,
    FINDINGS,
    INCOMPLETE,
    NOTHING,
    SIGNAL,
    USAGE,
)
from promoarray.diagnostics.file_format import names_format
from promoarray.diagnostics.findings.classify import NEW, Ignored, Judged, asked_baseline, judged
from promoarray.diagnostics.model.lost import CHECKS, LostPlace
from promoarray.diagnostics.model.noted import behind_the_stop
from promoarray.diagnostics.modelfile.command import model_format, of_model, require_options
from promoarray.diagnostics.modelfile.report import ModelReport
from promoarray.diagnostics.record.block import RECORDED
from promoarray.diagnostics.record.checks import Asked
from promoarray.diagnostics.record.idioms import idiom
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.record.saved import (
    NotSaved,
    is_saved,
    read,
    require_no_options,
    save,
)
from promoarray.diagnostics.render.formats import Formats, require_places
from promoarray.diagnostics.render.json import finding_data
from promoarray.diagnostics.render.sarif import CHECK_RULES
from promoarray.diagnostics.run.attempts import Attempts
from promoarray.diagnostics.run.frameworks import AUTO, OWN, Expected, expected
from promoarray.diagnostics.run.program import (
    Ended,
    Program,
    StandardInput,
    as_module,
    program_of,
    say,
)
from promoarray.diagnostics.run.steps import Training
from promoarray.diagnostics.run.task import Task
from promoarray.diagnostics.spans import base_folder, relative
from promoarray.promotion.registry import as_policy

_say = partial(say, "check")

TRIES = 6
"""So many edits are tried, each by a run of the program."""

SCHEMA_VERSION = "1.0"


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status, one of ``exit_codes``."""
    try:
        saved = _recording(args)
        asked = fill(args)
        program, found = Program(()), Expected("", ())
        if saved is None:
            program = program_of(args)
            found = expected(args.script, args.module, args.framework or AUTO, args.args)
        baseline = asked_baseline(args.baseline, args.update_baseline)
        require_places(args)
        args.format = "json" if args.json else args.format or "text"
        task, framework = _task(found, asked, args), found.framework or OWN
    except (OSError, ValueError) as error:
        _say(str(error))
        return USAGE
    aside = args.format in ("json", "sarif") and not args.output
    with tempfile.TemporaryFile() as kept:
        given = StandardInput(kept)
        ended = Ended.of_saved(saved) if saved else None
        ended = ended or program.run(task, given, quiet=False, aside=aside)
        report = _report(ended, framework, args)
        if args.save:
            save(ended.report(as_policy(task.policies[0]), ()), args.save)
        if isinstance(saved, ModelReport):
            report.eagerly += saved.notes
        if not saved and not ended.interrupted:
            attempts = Attempts(
                program, task, given, ended, most=TRIES, asked=args.edit, command="check"
            )
            _mend(report, attempts, ended)
    files = {file for each in ended.findings for file in each.files}
    files |= {os.path.abspath(args.script)} if args.script else set()
    findings = {each.finding: each for each in report.told}
    whole = not ended.status and not ended.bugs
    about: Any = {
        "whole": whole,
        "kinds": tuple(k for k in CHECKS if k in asked.kinds),
        "ignored": Ignored.by(args),
    }
    judgement = judged([*findings], files, baseline, args.fail_on, **about)
    if baseline is not None and args.update_baseline and whole:
        baseline = baseline.updated([*judgement.of(NEW, "known")], ())
        judgement = judged([*findings], files, baseline, args.fail_on, **about)
        baseline.write()
    report.told = [each for finding, each in findings.items() if judgement.states[finding] == NEW]
    status = _status(ended, judgement, report, args.fail_on)
    _write(report, judgement, ended, status, args)
    if ended.status:
        _say(f"{ended.stopped_under(report.framework)}{as_module(args.script)}")
    ended.say_bugs("check")
    return status


def _recording(args: argparse.Namespace) -> RecordedReport | None:
    """The recording, or the model file, that stands in the place of a program."""
    script = args.script or ""
    if names_format(script) or not is_saved(script):
        if not (model := model_format(args)):
            return None
        require_options(args, model, ("framework", "shadow", "packages", "save", "steps", "sample"))
        return of_model(args, model, None, fill(args))
    names = "only", "shadow", "ulps", "packages", "save", "steps", "sample"
    require_no_options(args.script, args, *names)
    saved = read(args.script)
    if not saved.checked:
        raise NotSaved(
            f"{args.script} was recorded without looking at values: save it with promoarray check"
        )
    return saved


def _task(found: Expected, asked: Asked, args: argparse.Namespace) -> Task:
    steps = Training(args.steps, args.sample).of(found.framework)
    if not found.framework:
        if args.save:
            raise NotSaved("promoarray check saves no run of promoarray's own arrays: compare does")
        return Task(probes=(Looked(asked),))
    home = RECORDED[found.framework].editions[0][1]
    what: Any = {"origins": True, "checks": asked, "packages": tuple(args.packages)}
    what["steps"] = steps
    return Task((home,), framework=found.framework, libraries=found.libraries, **what)


# -- what was found -------------------------------------------------------------------------------


def _report(ended: Ended, framework: str, args: argparse.Namespace) -> Report:
    report = Report(framework, [])
    if every := _found(ended):
        if ended.where:
            stopped = ended.findings[0].stopped
            every[0].unread[behind_the_stop(stopped)] += 1
        gathered(report, every, args.share)
    return report


def _found(ended: Ended) -> list[Found]:
    """What each process has lost."""
    made = [Found.of(each) for each in ended.reports if isinstance(each, RecordedReport)]
    probed = (x for each in ended.findings for x in each.probed)
    return [*made, *(x for x in probed if isinstance(x, Found))]


# -- edits ----------------------------------------------------------------------------------------


def _mend(report: Report, attempts: Attempts, before: Ended) -> None:
    """Try edits of the losses, the gravest first."""
    for told in sorted(report.told, key=lambda each: ORDER[each.place.kind]):
        for each, ended in attempts.of(edits(told.place, told.ways)):
            if then := _goes_on(told.place, each, ended, before):
                told.edit, told.then = each, then
                break


def _goes_on(place: LostPlace, edit: Edit, ended: Ended, before: Ended) -> str:
    """Say how the edited program goes on, where it loses nothing at the line; "" else."""
    if ended.status != before.status or ended.bugs:
        return ""
    lost = [each for found in _found(ended) for each in found.lost]
    file, line = line_of(place)
    at = edit.moved(line) if os.path.realpath(edit.file) == file else line
    here = [each for each in lost if line_of(each) == (file, at) and not idiom(each)]
    if any(each.kind == place.kind for each in here):
        return ""
    known = {each.kind for found in _found(before) for each in found.lost if _same(each, place)}
    if any(each.kind not in known for each in here):
        return ""
    end = "the program runs to its end" if not ended.status else "the program stops as before"
    return f"with it, {GONE[place.kind]}, and {end}"


def _same(each: LostPlace, place: LostPlace) -> bool:
    return line_of(each) == line_of(place)


# -- the end --------------------------------------------------------------------------------------


def _status(ended: Ended, found: Judged, report: Report, fail_on: tuple[str, ...]) -> int:
    if ended.status < 0:
        return SIGNAL - ended.status
    if ended.status or ended.bugs or not report.examined:
        return FAILED
    if found.failing:
        return FINDINGS
    return INCOMPLETE if report.unread and "incomplete" in fail_on else NOTHING


def _write(
    report: Report, found: Judged, ended: Ended, status: int, args: argparse.Namespace
) -> None:
    sys.stdout.flush()
    stopped = [ended.stopped_under(report.framework)] if ended.status else []
    Formats(
        found,
        status,
        CHECK_RULES,
        (report.summary(), found.left_out),
        [*stopped, *ended.bugs],
        lambda: _data(report, found, ended, status),
        lambda file: _write_text(report, found, file, args),
        report.to_html,
    ).write(args)


def _write_text(
    report: Report, found: Judged, file: IO[str] | None, args: argparse.Namespace
) -> None:
    from rich.text import Text

    target = console(file)
    lines = [*report.text(everything=args.all)]
    lines += [found.left_out] if found.left_out else []
    lines += [f"{relative(n.file, base_folder())}:{n.line}: {n.text}" for n in found.notices]
    for line in lines:
        for part in folded(Text(visible(line)), target, target.width):
            print(part.plain, file=file)


def _data(report: Report, found: Judged, ended: Ended, status: int) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "exit_code": status,
        "framework": report.framework,
        "examined": report.examined,
        "losses": [each.to_dict() for each in report.told],
        "findings": [finding_data(found, each) for each in found.states],
        "meant": report.meant,
        "not_examined": report.unread or None,
        "eagerly": report.eagerly,
        "fail_on": list(found.fail_on),
        "program": ended.to_dict(),
    }
