"""The arguments of ``promoarray diff``, and those it shares with ``bisect``."""

from __future__ import annotations

import argparse

from promoarray.diagnostics.compare.arguments import add_packages


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_program(command)
    add_packages(command)
    command.add_argument(
        "--all", action="store_true", help="show the lines of which only operands differ, too"
    )
    command.description = (
        "Run a program under one policy and list the lines whose dtype, value or refusal changes "
        "under another: before and after, the rules that differ, and what to write."
    )
    command.epilog = (
        "Exit codes: 0 nothing changes, 1 something does, 2 usage error, 3 the program failed "
        "(what was found until then is reported) or computed nothing, 4 nothing changes in what "
        "was examined, and not all was, 128 + N where signal N ended it."
    )
    add_dashes(command)


def add_program(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a program and two policies."""
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("script", metavar="SCRIPT", nargs="?")
    which.add_argument("-m", metavar="MODULE", dest="module", help="run a module, as python -m")
    add = command.add_argument
    add("--from", dest="before", metavar="POLICY", required=True, help="what it runs under now")
    add("--to", dest="after", metavar="POLICY", required=True, help="what it is to run under")


def add_dashes(command: argparse.ArgumentParser) -> None:
    """Say in the usage where the program's own arguments stand."""
    command.usage = f"{command.format_usage().removeprefix('usage: ').strip()} [-- ARGS ...]"
