"""The arguments of ``promoarray bisect``."""

from __future__ import annotations

import argparse

from promoarray.diagnostics.diff.arguments import add_dashes, add_program


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_program(command)
    add = command.add_argument
    add(
        "--expr",
        dest="expression",
        metavar="EXPRESSION",
        required=True,
        help="the final value: an expression of the program's globals, such as 'float(loss)'",
    )
    add(
        "--tolerance",
        metavar="R",
        type=float,
        default=0.0,
        help="two values count as the same up to this relative difference; default: 0, every bit",
    )
    command.description = (
        "Find the smallest set of lines, and of rules there, that change a program's final value "
        "from one policy to another. The program is run many times, and has to be deterministic."
    )
    command.epilog = (
        "Exit codes: 0 the value is the same, 1 it changes, 2 usage error, 3 the program failed, "
        "or its value changes from run to run."
    )
    add_dashes(command)
