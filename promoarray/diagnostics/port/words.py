"""What porting a program came to, in words and as data."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from promoarray.console import counted, listed
from promoarray.diagnostics.edits.occurrence import Span
from promoarray.diagnostics.edits.planner import Edit, NoEdit
from promoarray.diagnostics.findings.verdict import open_in_words
from promoarray.diagnostics.port.ported import NOTHING_RECORDED, Checked, Ported


def as_lines(ported: Ported, args: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Yield what came of it: the edits that lose something, what is left, who agrees."""
    names = [policy.name for policy in ported.port.policies]
    run = ported.port.run.name
    casts = sum(len(edit.wraps) for edit in ported.edits)
    lines = {(edit.span.file, edit.span.line) for edit in ported.edits}
    done = f"{counted(casts, 'cast')} in {counted(len(lines), 'line')}" if casts else "no casts"
    yield f"{args.module or args.script}, from {run} to {listed(names or [run])}: {done}"
    if casts and args.write:
        yield f"written: {', '.join(_short(new.path) for _, new in ported.changed)}"
    elif args.patch:
        yield f"written: {args.patch}"
    if casts and folder != Path.cwd().resolve() and not args.write:
        yield f"apply it in {folder}"
    for edit in ported.edits:
        if edit.lossy:
            yield f"lossy: {_at(edit.span)} {edit.operation}: {edit.lossy}"
    for left in ported.left:
        policies = ", ".join(left.policies)
        yield f"not edited: {_at(left.span)} {left.operation} ({policies}): {left.why}"
    varying = (*ported.varying, *(() if ported.prints else ("what it prints",)))
    if varying:
        yield f"not compared, as it varies from run to run: {', '.join(varying)}"
    yield from _proved(ported) if ported.recorded else _agreeing(ported)
    for checked in ported.checked:
        if not checked.agrees:
            yield from _differences(checked)


def _agreeing(ported: Ported) -> Iterator[str]:
    agree = [each.policy for each in ported.checked if each.agrees]
    if agree:
        values = counted(len(ported.final), "final value")
        verb = "have" if len(ported.final) != 1 else "has"
        yield f"agree: {listed(agree)}: {values} {verb} the dtypes and values of the run"


def _proved(ported: Ported) -> Iterator[str]:
    """What running the edited program has shown."""
    assert ported.recorded is not None
    own, *others = ported.checked
    values = counted(len(ported.final), "final value")
    prints = "what it prints, and " if ported.prints and not ported.real else ""
    if own.agrees:
        where = ported.recorded.framework
        if ported.recorded.wanted:
            where = ported.real or f"{own.policy}, as the recorded run carries it"
        yield f"unchanged in {where}: {prints}{values}, bit for bit"
    agree = [each.policy for each in others if each.agrees]
    if agree and not any(each.why == NOTHING_RECORDED for each in ported.open):
        and_values = ", and its values" if ported.recorded.wanted else ""
        yield (
            f"agree: {listed(agree)}: every operation recorded has the dtype of {own.policy}"
            f"{and_values}"
        )
    if ported.open:
        yield f"not examined: {open_in_words(ported.open).partition(': ')[2]}"
    if not ported.agrees or ported.open:
        yield "not proved"


def _differences(checked: Checked) -> Iterator[str]:
    if checked.stopped:
        yield f"differs: {checked.policy}: stopped: {checked.stopped}"
    for each in checked.unequal:
        yield f"differs: {checked.policy}: {each.name}: {each.words}"


def _at(span: Span) -> str:
    return f"{_short(Path(span.file))}:{span.line}"


def _short(path: Path) -> str:
    below = os.path.relpath(path)
    return str(path) if below.startswith(os.pardir) else below


def as_data(ported: Ported, patch: bytes, folder: Path) -> dict[str, Any]:
    """Return it as data."""
    return {
        "run": ported.port.run.name,
        "policies": [policy.name for policy in ported.port.policies],
        "agrees": ported.agrees,
        "edits": [_edit(edit) for edit in ported.edits],
        "not_edited": [_left(each) for each in ported.left],
        "checked": [
            {
                "policy": each.policy,
                "agrees": each.agrees,
                "stopped": each.stopped or None,
                "differences": [
                    {"name": d.name, "what": "dtype" if d.dtype else "value", "words": d.words}
                    for d in each.unequal
                ],
            }
            for each in ported.checked
        ],
        "final": {name: str(value) for name, value in ported.final.items()},
        "varying": list(ported.varying),
        "prints_compared": ported.prints,
        "runs": ported.runs,
        "framework": ported.recorded.framework if ported.recorded else "promoarray",
        "folder": str(folder),
        "patch": patch.decode(errors="surrogateescape"),
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "file": edit.span.file,
        "line": edit.span.line,
        "operation": edit.operation,
        "policies": list(edit.policies),
        "casts": [{"line": w.node.lineno, "dtype": w.dtype.name, "how": w.how} for w in edit.wraps],
        "lossy": edit.lossy or None,
    }


def _left(left: NoEdit) -> dict[str, Any]:
    return {
        "file": left.span.file,
        "line": left.span.line,
        "operation": left.operation,
        "policies": list(left.policies),
        "why": left.why,
    }
