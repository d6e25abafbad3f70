"""The arguments of ``promoarray port``."""

from __future__ import annotations

import argparse


def arguments(command: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = command.add_argument
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("script", metavar="SCRIPT", nargs="?")
    which.add_argument("-m", metavar="MODULE", dest="module", help="run a module, as python -m")
    add("--to", metavar="A,B,C", required=True, help="the policies to port to")
    add(
        "--run",
        "--from",
        metavar="POLICY",
        help="the policy to port from, whatever the program sets; default: what it runs under by "
        "itself. Of a NumPy program: numpy@1, which it was written for",
    )
    where = command.add_mutually_exclusive_group()
    where.add_argument("--patch", metavar="FILE", help="write a patch; default: print it")
    where.add_argument("--write", action="store_true", help="edit the files in place")
    add(
        "--tolerance",
        metavar="R",
        type=float,
        default=0.0,
        help="count values as equal that differ by no more than R times the largest value of their "
        "array; default: 0, all bits",
    )
    add(
        "--python1",
        metavar="PYTHON",
        help="an interpreter that has NumPy 1: the program is run there, too, and the edited one "
        "has to end with its values",
    )
    command.epilog = (
        "Exit codes: 0 the edited program ends with the same dtypes and values under every policy, "
        "1 it does not, 2 usage error, 3 the program failed, 4 it does as far as it was examined, "
        "130 after Ctrl-C. The program is run several times, a recorded one at most four."
    )
    command.usage = f"{command.format_usage().removeprefix('usage: ').strip()} [-- ARGS ...]"
