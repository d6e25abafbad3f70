"""``promoarray compare``: run a program once and show every line where the policies differ.

With ``--run-all`` the program is run again under each policy, and its globals at the end are shown
side by side, with the refusals.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from promoarray.console import show
from promoarray.diagnostics.compare.run_all import Outcomes, everywhere, execute, outcome_under
from promoarray.diagnostics.shadow.observer import DEFAULT, shadowed
from promoarray.diagnostics.shadow.report import Report
from promoarray.promotion.registry import as_policy


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status: 0, or 2 if the program itself failed."""
    script = Path(args.script)
    if not script.is_file():
        print(f"promoarray compare: no such file: {args.script}", file=sys.stderr)
        return 2
    if args.html and not Path(args.html).resolve().parent.is_dir():
        print(f"promoarray compare: no such folder for {args.html}", file=sys.stderr)
        return 2
    names = args.policies.split(",") if args.policies else list(DEFAULT)
    policies = tuple(dict.fromkeys(as_policy(name.strip()) for name in names))
    run = as_policy(args.run or "numpy")
    names_shown = args.show.split(",") if args.show else None
    # With --json, standard output is the report and nothing else.
    aside = contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext()
    with aside, everywhere(run), shadowed(policies, everywhere=True) as report:
        error, _ = execute(script, args.args)
    again = dict.fromkeys((run, *policies)) if args.run_all else ()
    outcomes = Outcomes(
        tuple(
            outcome_under(policy, script, args.args, names_shown, autocast=not args.stop)
            for policy in again
        )
    )
    _write(report, outcomes, args)
    if error is not None:
        print(
            f"promoarray compare: the program stopped under {run.name}:\n{error}", file=sys.stderr
        )
        return 2
    if not report.operations:
        print(
            "promoarray compare: the program computed nothing with promoarray; write "
            "import promoarray as xp, and make its arrays with xp.asarray",
            file=sys.stderr,
        )
    return 0


def _write(report: Report, outcomes: Outcomes, args: argparse.Namespace) -> None:
    if args.html:
        Path(args.html).write_text(report.to_html(outcomes.html()), encoding="utf-8")
    if args.json:
        print(json.dumps(report.to_dict() | outcomes.to_dict(), indent=2))
        return
    show(report)
    if outcomes.every:
        show(outcomes)
    if args.html:
        print(f"Written: {args.html}")
