"""``promoarray explore``: writes the page."""

from __future__ import annotations

import argparse
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promoarray.console import console
from promoarray.diagnostics.explore.page import Step, explore_json, explore_page
from promoarray.diagnostics.shadow.observer import DEFAULT
from promoarray.diagnostics.whole_file import require_place, write_whole
from promoarray.promotion.registry import as_policy, list_policies

SILENT = 2.0
"""Seconds until progress is shown."""


def main(args: argparse.Namespace) -> int:
    """Run the command.

    Raises
    ------
    OSError
        If the page cannot be written; what was there is as it was.
    ValueError
        If there is no such policy.
    """
    names = list_policies() if args.policies == "all" else (args.policies or "").split(",")
    names = [name.strip() for name in names if name.strip()] or list(DEFAULT)
    policies = list(dict.fromkeys(as_policy(name) for name in names))
    target = None if args.output == "-" else Path(args.output)
    if target is not None:
        require_place(target)
    with _progress() as step:
        page = (explore_json if args.json else explore_page)(policies, step)
    if target is None:
        sys.stdout.write(page)
        return 0
    write_whole(target, page)
    print(f"Written: {target} ({len(page) / 1e6:.1f} MB, {len(policies)} policies)")
    if args.open:
        webbrowser.open(target.resolve().as_uri())
    return 0


@contextmanager
def _progress() -> Iterator[Step]:
    """Show how far the work is once it has taken a while, on standard error of a terminal."""
    from rich.progress import Progress

    started = time.monotonic()
    bar = Progress(console=console(sys.stderr), transient=True, disable=not sys.stderr.isatty())
    task = bar.add_task("asking the policies", total=1.0)

    def step(part: float) -> None:
        bar.update(task, completed=part)
        if time.monotonic() - started > SILENT and not bar.live.is_started:
            bar.start()

    try:
        yield step
    finally:
        bar.stop()
