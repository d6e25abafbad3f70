"""The arguments of ``promoarray compare``."""

from __future__ import annotations

import argparse
import difflib

from promoarray.diagnostics.model.kinds import ANY, DEFAULT, INCOMPLETE, NONE, SELECTORS

FORMATS = ("text", "json", "sarif", "github")

EPILOG = (
    "Exit codes: 0 nothing found, 1 findings that --fail-on selects and that are neither ignored "
    "nor in the baseline, 2 usage error, 3 the program failed (its own status is told), computed "
    "nothing, or promoarray failed, 4 nothing was found, but not all was examined, if --fail-on "
    "has incomplete, 128 + N where signal N ended the program: 130 after Ctrl-C. However it "
    "ended, what was found until then is reported."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Give a parser the arguments."""
    add = command.add_argument
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "script",
        metavar="SCRIPT",
        nargs="?",
        help="a program, a notebook, or a run that --save wrote, of which the policies are asked "
        "without running it",
    )
    which.add_argument("-m", metavar="MODULE", dest="module", help="run a module, as python -m")
    which.add_argument(
        "--schema", action="store_true", help="print the JSON schema of the JSON report"
    )
    add(
        "--policies",
        metavar="A,B,C",
        help="the policies to compare with, or all: the editions of every framework that people "
        "have installed; default: those that programs of its framework are ported to, of one "
        "written with promoarray all",
    )
    add(
        "--run",
        metavar="POLICY",
        help="the policy the program runs under, whatever it sets; default: what it runs under by "
        "itself",
    )
    add(
        "--show",
        metavar="NAMES",
        type=lambda names: [name.strip() for name in names.split(",")],
        help="the globals to compare between the runs under each policy; implies --run-all",
    )
    add(
        "--framework",
        metavar="NAME",
        default="auto",
        help="what the program is written against: promoarray, or a framework of which an "
        "unmodified program is recorded, such as torch; default: auto, what the program imports",
    )
    add(
        "--drift",
        action="store_true",
        help="of an unmodified program: also show where promoarray's policy of the framework "
        "differs from the framework itself",
    )
    add_packages(command)
    add("--all", action="store_true", help="show the places that only inherit, too")
    add(
        "--save",
        metavar="RUN.json",
        help="also write the recorded run; promoarray compare RUN.json --policies A,B asks others",
    )
    add("--html", metavar="FILE", help="also write the report as one page")
    add("--max-sites", metavar="N", type=_count, help="keep at most so many places; default: 10000")
    add("--run-all", action="store_true", help="also run the program under each policy")
    add(
        "--stop",
        action="store_true",
        help="with --run-all: stop at the first refusal instead of applying the cast it proposes",
    )
    add(
        "--traceback",
        choices=("short", "full"),
        default="short",
        help="what tracebacks of the program show: short ones end at its own line, without "
        "promoarray's frames",
    )
    _add_for_ci(command)
    command.epilog = EPILOG
    command.usage = f"{command.format_usage().removeprefix('usage: ').strip()} [-- ARGS ...]"


def _add_for_ci(command: argparse.ArgumentParser) -> None:
    ci = command.add_argument_group("for CI")
    ci.add_argument(
        "--fail-on",
        metavar="KINDS",
        type=_selectors,
        default=DEFAULT,
        help="what makes the exit code 1: root (other dtypes and refusals that do not come of an "
        "earlier line), dtype, refuse, bits (other values of the same dtype), escape, signature, "
        f"decision, {INCOMPLETE} (exit code 4), {ANY} or {NONE}; default: {','.join(DEFAULT)}",
    )
    ci.add_argument(
        "--baseline", metavar="FILE", help="the findings that are known, which do not fail"
    )
    ci.add_argument(
        "--update-baseline",
        action="store_true",
        help="write what is found into the baseline, and fail on nothing",
    )
    ci.add_argument(
        "--format",
        choices=FORMATS,
        help="of the report: text, json, sarif (2.1.0, for code scanning) or github (commands "
        "that annotate lines in a workflow); default: text. --json is --format json",
    )
    ci.add_argument(
        "--output", metavar="FILE", help="where to write the report; default: standard output"
    )


def add_packages(command: argparse.ArgumentParser) -> None:
    """Add what names the libraries that are rewritten beside the program."""
    command.add_argument(
        "--packages",
        metavar="NAMES",
        type=lambda names: tuple(name.strip() for name in names.split(",")),
        default=(),
        help="of an unmodified program of NumPy: installed libraries in Python whose operations "
        "are recorded, too",
    )


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def _selectors(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in SELECTORS:
            meant = difflib.get_close_matches(name, SELECTORS, n=1)
            near = f". Did you mean: {meant[0]}?" if meant else ""
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SELECTORS)}{near}")
    if NONE in names and len(names) > 1:
        raise argparse.ArgumentTypeError(f"{NONE} goes with nothing else")
    return names
