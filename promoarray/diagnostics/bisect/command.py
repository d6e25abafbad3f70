"""``promoarray bisect``: find the lines and rules that change a program's final value."""

from __future__ import annotations

import argparse
import json
import tempfile

from promoarray.console import console
from promoarray.diagnostics.bisect.search import Search, Stopped
from promoarray.diagnostics.bisect.trial import shown
from promoarray.diagnostics.exit_codes import FINDINGS, NOTHING, USAGE
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.run.program import StandardInput, as_module, program_of, say
from promoarray.promotion.registry import as_policy


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    before, after = as_policy(args.before), as_policy(args.after)
    program = program_of(args)
    if wrong := _wrong(args):
        return _say(wrong, USAGE)
    with tempfile.TemporaryFile() as kept, Progress() as progress:
        asked = args.expression, args.tolerance
        search = Search(program, before, after, *asked, StandardInput(kept), progress.step)
        try:
            found = search.found()
        except Stopped as stopped:
            return _say(f"{stopped}{as_module(args.script)}", stopped.status)
    names = {"from": before.name, "to": after.name, "expression": args.expression}
    same = {"lines": [], "rules": [], "runs": search.runs}
    if args.json:
        print(json.dumps(found.to_dict() if found else names | same, indent=2))
    elif found:
        console().print(found)
    else:
        within = f" (within {args.tolerance:g})" if args.tolerance else ""
        under = f"under {before.name} and {after.name}{within}"
        print(f"{args.expression} is the same {under}: {shown(search.value)}.")
    return FINDINGS if found else NOTHING


def _wrong(args: argparse.Namespace) -> str:
    """What is wrong with the arguments, before the program is run."""
    try:
        compile(args.expression, "--expr", "eval")
    except (SyntaxError, ValueError) as error:
        return f"--expr {args.expression!r} is not an expression: {error}"
    if not 0 <= args.tolerance < float("inf"):
        return f"--tolerance takes a number from 0 up, not {args.tolerance}"
    return ""


def _say(what: str, status: int) -> int:
    say("bisect", what)
    return status
