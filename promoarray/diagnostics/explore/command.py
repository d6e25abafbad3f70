"""``promoarray explore``: writes the page."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promoarray.diagnostics.explore.page import explore_json, explore_page
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.shadow.observer import DEFAULT
from promoarray.diagnostics.whole_file import require_place, write_whole
from promoarray.promotion.registry import as_policy, list_policies


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
    with Progress("asking the policies") as progress, _kept():
        page = (explore_json if args.json else explore_page)(
            policies, lambda part: progress.step(done=part)
        )
    if target is None:
        sys.stdout.write(page)
        return 0
    write_whole(target, page)
    print(f"Written: {target} ({len(page) / 1e6:.1f} MB, {len(policies)} policies)")
    if args.open:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())
    return 0


@contextmanager
def _kept() -> Iterator[None]:
    """Spare the collector of cycles: answers are a million tuples that all stay, a quarter of the
    time went into walking over them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
