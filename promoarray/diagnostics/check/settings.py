"""Settings of the checks: those of the command line, else of the project."""

from __future__ import annotations

import argparse
import difflib
from typing import Any

from promoarray.diagnostics.check.meant import SHARE
from promoarray.diagnostics.model.lost import CHECKS, UNSTABLE, WIDENING
from promoarray.diagnostics.record.checks import USUAL, Asked
from promoarray.errors import quoted

FAIL_ON = tuple(kind for kind in CHECKS if kind != WIDENING)
"""What fails if nothing else is said."""

_SELECTORS = ("any", "none", "incomplete")


def kinds_of(names: Any, *more: str) -> tuple[str, ...]:
    """Return names of losses, each of which there has to be.

    Raises
    ------
    TypeError, ValueError
    """
    every = (names,) if isinstance(names, str) else tuple(names)
    for name in every:
        if not isinstance(name, str) or name not in (*CHECKS, *more):
            given = quoted(name)
            meant = difflib.get_close_matches(given.strip("'"), (*CHECKS, *more), n=1)
            near = f". Did you mean {meant[0]}?" if meant else ""
            raise ValueError(f"{given} is none of {', '.join((*CHECKS, *more))}{near}")
    return every


def failing(names: Any) -> tuple[str, ...]:
    """Return what makes the exit code 1, with all losses in the place of ``any``."""
    every = kinds_of(names, *_SELECTORS)
    return tuple(each for name in every for each in (CHECKS if name == "any" else (name,)))


_USUAL = {"only": USUAL, "shadow": "", "ulps": Asked.ulps, "share": SHARE, "fail_on": FAIL_ON}


def fill(args: argparse.Namespace) -> Asked:
    """Fill what the command line leaves open; return what is asked of the run."""
    for name, value in _USUAL.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    only = args.only | ({UNSTABLE} if args.shadow else frozenset())
    return Asked(only, None if args.all else Asked.bound, args.shadow, args.ulps)
