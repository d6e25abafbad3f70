"""``promoarray compare``: run a program once and show every line where the policies part.

With ``--run-all`` the program is run again under each policy for real, and what its globals ended
as is set side by side, refusals included.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import runpy
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from promoarray._report import Report
from promoarray._shadow import DEFAULT, shadow
from promoarray.array import PArray
from promoarray.errors import PromotionError
from promoarray.policies.policy import Policy
from promoarray.policies.registry import as_policy
from promoarray.policies.registry import policy as in_force


@dataclass
class Outcome:
    """How a program ended under one policy.

    Attributes
    ----------
    policy : Policy
    values : dict
        The globals asked for, as text.
    error : str
        What stopped it, or "".
    site : str
        The line of the program where it stopped.
    output : str
        What it printed.
    """

    policy: Policy
    values: dict[str, str] = field(default_factory=dict)
    error: str = ""
    site: str = ""
    output: str = ""


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status: 0, or 2 if the program itself failed."""
    script = Path(args.script)
    if not script.is_file():
        print(f"promoarray compare: there is no file {args.script}", file=sys.stderr)
        return 2
    names = args.policies.split(",") if args.policies else list(DEFAULT)
    policies = tuple(dict.fromkeys(as_policy(name.strip()) for name in names))
    run = as_policy(args.run or "numpy")
    show = args.show.split(",") if args.show else None
    # With --json, standard output is the report alone.
    with contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext():
        with in_force(run), shadow(*policies) as report:
            error, _ = _execute(script, args.args)
    everyone = tuple(dict.fromkeys((run, *policies)))
    outcomes = [_outcome(script, args.args, p, show) for p in everyone] if args.run_all else []
    _write(report, outcomes, args)
    if error is not None:
        print(
            f"promoarray compare: the program stopped under {run.name}:\n{error}", file=sys.stderr
        )
        return 2
    return 0


def _execute(script: Path, argv: list[str]) -> tuple[str | None, dict[str, Any]]:
    """Run a script as ``python script argv`` would; return its traceback, if any, and globals."""
    with _as_main(script, argv):
        try:
            return None, runpy.run_path(str(script), run_name="__main__")
        except SystemExit as stop:
            return (None if stop.code in (None, 0) else f"exit status {stop.code}"), {}
        except Exception:
            return traceback.format_exc(), {}


@contextlib.contextmanager
def _as_main(script: Path, argv: list[str]) -> Iterator[None]:
    before = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [str(script), *argv], [str(script.resolve().parent)]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def _outcome(script: Path, argv: list[str], policy: Policy, show: list[str] | None) -> Outcome:
    """Run the program for real under one policy."""
    outcome, printed = Outcome(policy), io.StringIO()
    with _as_main(script, argv), in_force(policy), contextlib.redirect_stdout(printed):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the program's own run has shown them
                ended = runpy.run_path(str(script), run_name="__main__")
            outcome.values = _globals(ended, show)
        except SystemExit:
            pass
        except Exception as error:
            kind = "" if isinstance(error, PromotionError) else f"{type(error).__name__}: "
            outcome.error = kind + _first_sentences(str(error))
            outcome.site = _line_in(script, error)
    outcome.output = printed.getvalue()
    return outcome


def _first_sentences(message: str) -> str:
    """A message up to what others would do, which the report above has said."""
    return message.partition(" Elsewhere: ")[0]


def _line_in(script: Path, error: Exception) -> str:
    """The line of the program that an error came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(script)]
    return f"{script.name}:{frames[-1].lineno}: {frames[-1].line}" if frames else ""


def _globals(ended: dict[str, Any], show: list[str] | None) -> dict[str, str]:
    """What a program's globals ended as: those asked for, else its arrays and floats."""
    names = show if show is not None else [n for n, v in ended.items() if _worth_showing(n, v)]
    return {name: _brief(ended[name]) if name in ended else "not set" for name in names}


def _worth_showing(name: str, value: Any) -> bool:
    return not name.startswith("_") and isinstance(value, (PArray, float))


def _brief(value: Any) -> str:
    if isinstance(value, PArray):
        shape = "×".join(map(str, value.shape))
        return f"{value.dtype} [{shape}]" if shape else f"{value.item():.6g} ({value.dtype})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _write(report: Report, outcomes: list[Outcome], args: argparse.Namespace) -> None:
    if args.html:
        Path(args.html).write_text(report.to_html(_as_html(outcomes)), encoding="utf-8")
    if args.json:
        data = report.to_dict() | {"outcomes": [_as_data(o) for o in outcomes]}
        print(json.dumps(data, indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    console.print(report, soft_wrap=True)
    if outcomes:
        console.print(_as_table(outcomes))
    if args.html:
        console.print(f"Written: {args.html}")


def _as_data(outcome: Outcome) -> dict[str, Any]:
    return {
        "policy": outcome.policy.name,
        "values": outcome.values,
        "error": outcome.error or None,
        "stopped_at": outcome.site or None,
        "output": outcome.output,
    }


def _columns(outcomes: list[Outcome]) -> list[str]:
    return list(dict.fromkeys(name for o in outcomes for name in o.values))


def _as_table(outcomes: list[Outcome]) -> Any:
    from rich.table import Table
    from rich.text import Text

    names = _columns(outcomes)
    table = Table("run for real under", *names, "stopped at", show_lines=True)
    for o in outcomes:
        stopped = Text(o.site)
        stopped.append(f"\n{o.error}" if o.error else "", style="red")
        table.add_row(o.policy.name, *(o.values.get(n, "") for n in names), stopped)
    return table


def _as_html(outcomes: list[Outcome]) -> str:
    if not outcomes:
        return ""
    names = _columns(outcomes)
    head = "".join(f"<th>{escape(n)}</th>" for n in ("policy", *names, "stopped at"))
    rows = "".join(
        f"<tr><td>{escape(o.policy.name)}</td>"
        + "".join(f"<td>{escape(o.values.get(n, ''))}</td>" for n in names)
        + f"<td><code>{escape(o.site)}</code><small>{escape(o.error)}</small></td></tr>"
        for o in outcomes
    )
    return f"<h2>Run for real under each policy</h2><table><tr>{head}</tr>{rows}</table>"
