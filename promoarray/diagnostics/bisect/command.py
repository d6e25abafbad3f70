"""``promoarray bisect``: find the lines and rules that change a program's final value."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile

from promoarray.console import console
from promoarray.diagnostics.bisect.report import Bisection
from promoarray.diagnostics.bisect.search import Found, Search, Stopped
from promoarray.diagnostics.bisect.value import shown
from promoarray.diagnostics.diff.change import Change
from promoarray.diagnostics.diff.command import program_of, report_of
from promoarray.diagnostics.diff.difference import difference
from promoarray.diagnostics.exit_codes import FINDINGS, NOTHING, USAGE
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.run.program import as_module
from promoarray.diagnostics.run.standard_input import StandardInput
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    before, after = as_policy(args.before), as_policy(args.after)
    program = program_of(args)
    wrong = _wrong(args)
    if wrong:
        return _say(wrong, USAGE)
    with tempfile.TemporaryFile() as kept, Progress() as progress:
        asked = args.expression, args.tolerance
        search = Search(program, before, after, *asked, StandardInput(kept), progress.step)
        try:
            found = search.found()
        except Stopped as stopped:
            return _say(f"{stopped}{as_module(args.script)}", stopped.status)
    if found is None:
        return _nothing(args, before, after, search)
    bisection = Bisection(before, after, args.expression, found, _changes(found, before, after))
    if args.json:
        print(json.dumps(bisection.to_dict(), indent=2))
    else:
        console().print(bisection)
    return FINDINGS


def _wrong(args: argparse.Namespace) -> str:
    """What is wrong with the arguments, before the program is run."""
    try:
        compile(args.expression, "--expr", "eval")
    except (SyntaxError, ValueError) as error:
        return f"--expr {args.expression!r} is not an expression: {error}"
    if not 0 <= args.tolerance < float("inf"):
        return f"--tolerance takes a number from 0 up, not {args.tolerance}"
    return ""


def _nothing(args: argparse.Namespace, before: Policy, after: Policy, search: Search) -> int:
    if args.json:
        asked = {"from": before.name, "to": after.name, "expression": args.expression}
        print(json.dumps({**asked, "lines": [], "rules": [], "runs": search.runs}, indent=2))
    else:
        value = shown(search.first.value) if search.first else ""
        within = f" (within {args.tolerance:g})" if args.tolerance else ""
        names = f"under {before.name} and {after.name}"
        print(f"{args.expression} is the same {names}{within}: {value}.")
    return NOTHING


def _changes(found: Found, before: Policy, after: Policy) -> tuple[Change, ...]:
    """What changes at the lines that were found."""
    lines = {(line.file, line.number) for line in found.lines}
    first = found.first
    noted = [first.probed.noted] if first.probed and first.probed.noted else []
    every = difference(report_of(first.ended, before, after), noted, after).changes
    return tuple(
        each
        for each in every
        if not each.inherited and (each.program.file, each.program.line) in lines
    )


def _say(what: str, status: int) -> int:
    print(f"promoarray bisect: {what}", file=sys.stderr)
    return status
