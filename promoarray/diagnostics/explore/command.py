"""``promoarray explore``: writes the page."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promoarray.console import console
from promoarray.diagnostics.explore.page import Step, explore_json, explore_page
from promoarray.diagnostics.shadow.observer import DEFAULT
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
        _require_place(target)
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


def _require_place(target: Path) -> None:
    """Refuse a place that cannot be written to, before all the work."""
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; write the name of a file")
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(f"no such folder for {target}")


def write_whole(target: Path, text: str) -> None:
    """Write a file that is there in full or not at all: beside its place first, then renamed."""
    if target.exists() and not target.is_file():  # a pipe or a device, which cannot be replaced
        target.write_text(text, encoding="utf-8")
        return
    real = target.resolve()  # a link stays a link
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=real.parent, prefix=f".{real.name}.", delete=False
    ) as out:
        beside = Path(out.name)
        try:
            out.write(text)
            out.flush()
            beside.chmod(real.stat().st_mode if real.exists() else 0o666 & ~_umask())
            beside.replace(real)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _umask() -> int:
    import os

    mask = os.umask(0o022)
    os.umask(mask)
    return mask


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
