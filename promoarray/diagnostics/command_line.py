"""Command line of the commands that run a program: ``compare``, ``diff``, ``bisect``, ``port``."""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from promoarray.diagnostics.model.kinds import ANY, DEFAULT, INCOMPLETE, NONE, SELECTORS

OF_PROGRAMS = ("compare", "diff", "bisect", "port", "why", "check", "align")
"""The commands that run a program, whose own arguments stand behind ``--``."""

FORMATS = ("text", "json", "sarif", "github")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors tell options that are misspelled from arguments of the program."""

    def __init__(self, prog: str | None = None, **settings: Any) -> None:
        # "--n 3" of a program is not "--no-edit".
        super().__init__(prog, **settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit."""
        if "SCRIPT:" in message:  # with -m MODULE, an argument of the module stands in its place
            message += self._behind_dashes("-m MODULE", "ARGS")
        super().error(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Say which choice a misspelled one nearly is, in place of all there are."""
        known = () if action.choices is None else tuple(action.choices)
        near = difflib.get_close_matches(str(value), map(str, known), n=1)
        if near and value not in known:
            raise argparse.ArgumentError(action, f"no {value!r}. Did you mean {near[0]}?")
        super()._check_value(action, value)

    def unrecognized(self, words: Sequence[str]) -> NoReturn:
        """Say that nothing takes these words, and what was meant; then exit."""
        given = shlex.join(words)
        near = self._near(words[0].partition("=")[0])
        hint = f". Did you mean {near}?" if near else self._behind_dashes("SCRIPT", given)
        super().error(f"unrecognized arguments: {given}{hint}")

    def _near(self, word: str) -> str:
        """The option that a word nearly is, or whose first letter it is; "" if there is none."""
        options = [name for name in self._option_string_actions if word.startswith("-")]
        found = difflib.get_close_matches(word, options, n=1, cutoff=0.8)
        found = found or [name for name in options if name.startswith(f"-{word}")]
        return found[0] if found else ""

    def _behind_dashes(self, program: str, words: str) -> str:
        if self.prog.split()[-1] not in OF_PROGRAMS:
            return ""
        return f"; the program's own arguments go after --: {self.prog} {program} -- {words}"


# -- what they have in common ---------------------------------------------------------------------


def _program(command: argparse.ArgumentParser, script: str | None = None) -> Any:
    """Add the program; return the group of which one is required, unless a command is given."""
    which = command.add_mutually_exclusive_group()
    of_all = script or "a script, a folder, or - for standard input; or -- COMMAND ARGS"
    which.add_argument("script", metavar="SCRIPT", nargs="?", help=of_all)
    which.add_argument("-m", metavar="MODULE", dest="module", help="run a module, like python -m")
    return which


def _two_policies(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--from",
        dest="before",
        metavar="POLICY",
        required=True,
        help="the policy that it runs under now",
    )
    add("--to", dest="after", metavar="POLICY", required=True, help="the policy to move to")


def _edit(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--edit",
        action=argparse.BooleanOptionalAction,
        help="try edits, each by a run of the program; default: unless the first took a minute",
    )


def _save(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--save",
        metavar="RUN.zip",
        help="also save the recording; compare, diff, why and check take it in place of a program",
    )


def _packages(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--packages",
        metavar="NAMES",
        type=lambda names: tuple(name.strip() for name in names.split(",")),
        default=(),
        help="for NumPy programs: also record these installed Python libraries",
    )


def _tolerance(command: argparse.ArgumentParser, words: str) -> None:
    command.add_argument("--tolerance", metavar="R", type=float, default=0.0, help=words)


def _end(command: argparse.ArgumentParser, exit_codes: str, description: str = "") -> None:
    """Say what the command does, where the program's own arguments stand, and the exit codes."""
    command.description = description or command.description
    command.epilog = f"Exit codes: {exit_codes}"
    command.usage = f"{command.format_usage().removeprefix('usage: ').strip()} [-- ARGS ...]"


# -- compare --------------------------------------------------------------------------------------


def compare_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray compare`` takes."""
    add = command.add_argument
    which = _program(
        command,
        "a program, a notebook, an ONNX model, a torch.export archive (.pt2), or a recording that "
        "--save wrote",
    )
    which.add_argument(
        "--schema", action="store_true", help="print the JSON schema of the JSON report"
    )
    add(
        "--policies",
        "--policy",
        metavar="A,B,C",
        help="the policies to compare with, or all: eight editions that people have installed; "
        "default: what programs of this framework are usually ported to",
    )
    _edit(command)
    add(
        "--run",
        metavar="POLICY",
        help="the policy to run under, whatever the program sets; default: its own",
    )
    add(
        "--show",
        metavar="NAMES",
        type=lambda names: [name.strip() for name in names.split(",")],
        help="global variables to compare between the runs; implies --run-all",
    )
    add(
        "--framework",
        metavar="NAMES",
        default="auto",
        help="libraries to record, such as torch,numpy or promoarray; default: auto, all that the "
        "run imports",
    )
    add(
        "--drift",
        action="store_true",
        help="also show where promoarray's policy differs from what the framework really did",
    )
    _packages(command)
    _of_models(command)
    add(
        "--fix",
        metavar="FILE",
        help="for an ONNX model: write it with the missing casts between float dtypes, if onnx "
        "can check and run it",
    )
    add(
        "--types",
        metavar="NAME=DTYPE,...",
        help="for a file of Triton kernels: the dtypes of their arguments, for pointers of what "
        "they point to; needs neither Triton nor a GPU",
    )
    add(
        "--all",
        action="store_true",
        help="also show places that differ only because an earlier line did",
    )
    _save(command)
    add("--html", metavar="FILE", help="also write the report as an HTML page")
    add("--max-sites", metavar="N", type=_count, help="keep at most N places; default: 10000")
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
        help="short: tracebacks end at your own line; full: with promoarray's frames",
    )
    _for_ci(
        command,
        metavar="KINDS",
        type=_selectors,
        default=DEFAULT,
        help="kinds that make the exit code 1: root (other dtypes and refusals that no earlier "
        "line causes), dtype, refuse, bits (other values of the same dtype), escape, signature, "
        f"decision, {INCOMPLETE} (exit code 4), {ANY} or {NONE}; default: {','.join(DEFAULT)}",
    )
    _end(
        command,
        "0 nothing found, 1 findings that --fail-on selects, neither ignored nor in the baseline, "
        "2 usage error, 3 the program failed or computed nothing, or promoarray failed, 4 nothing "
        "found but not everything examined (if --fail-on has incomplete), 128 + N if signal N "
        "ended the program (130 after Ctrl-C). In each case you get the report on what ran until "
        "then.",
    )


def _for_ci(command: argparse.ArgumentParser, **fail_on: Any) -> None:
    """Add what a job of CI needs; ``fail_on`` says what ``--fail-on`` takes."""
    add = command.add_argument_group("for CI").add_argument
    add("--fail-on", **fail_on)
    ignored(command)
    add("--baseline", metavar="FILE", help="known findings, which do not fail")
    add(
        "--update-baseline",
        action="store_true",
        help="write the findings into the baseline; nothing fails",
    )
    add(
        "--format",
        choices=FORMATS,
        help="format of the report: text (default), json, sarif (2.1.0, for code scanning) or "
        "github (annotations in a workflow). --json is --format json",
    )
    add("--output", metavar="FILE", help="where to write the report; default: standard output")
    add("--sarif", metavar="FILE", help="also write SARIF")


def _of_models(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("of a model file").add_argument
    add(
        "--inputs",
        metavar="FILE",
        help="for an ONNX model: its inputs, an npz file; default: random ones, always the same",
    )
    add("--dtypes-only", action="store_true", help="compute no values")


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def ignored(command: argparse.ArgumentParser) -> None:
    """Add what leaves findings out."""
    command.add_argument(
        "--ignore",
        metavar="NAMES",
        type=_ignored,
        default=(),
        help="kinds and policies to ignore, as in # promoarray: ignore[...]",
    )
    command.set_defaults(ignore_in={})


def _ignored(text: str) -> tuple[str, ...]:
    from promoarray.diagnostics.findings.classify import ignored_names

    return _named(text, ignored_names)


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


# -- diff, bisect, port ---------------------------------------------------------------------------


def diff_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray diff`` takes."""
    _program(command)
    _two_policies(command)
    _packages(command)
    command.add_argument(
        "--all",
        action="store_true",
        help="also show lines that differ only because an earlier line did",
    )
    _end(
        command,
        "0 nothing changes, 1 something does, 2 usage error, 3 the program failed or computed "
        "nothing, 4 nothing changes but not everything was examined, 128 + N if signal N ended "
        "the program.",
        "Run a program under one policy and list the lines whose dtype, value or refusal changes "
        "under another, with the rules that differ and the edit that keeps the old result.",
    )


def bisect_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray bisect`` takes."""
    _program(command)
    _two_policies(command)
    command.add_argument(
        "--expr",
        dest="expression",
        metavar="EXPRESSION",
        required=True,
        help="the final value: an expression with the program's globals, such as 'float(loss)'",
    )
    _tolerance(
        command,
        "values count as equal up to this relative difference; default: 0, every bit",
    )
    _end(
        command,
        "0 the value is the same, 1 it changes, 2 usage error, 3 the program failed, or its value "
        "changes from run to run.",
        "Find the smallest set of lines, and of rules there, that change a program's final value "
        "from one policy to another. Runs the program many times; it must be deterministic.",
    )


def port_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray port`` takes."""
    add = command.add_argument
    _program(command)
    add("--to", metavar="A,B,C", required=True, help="the policies to port to")
    add(
        "--run",
        "--from",
        metavar="POLICY",
        help="the policy to port from, whatever the program sets; default: its own; for a NumPy "
        "program numpy@1",
    )
    where = command.add_mutually_exclusive_group()
    where.add_argument("--patch", metavar="FILE", help="write a patch; default: print it")
    where.add_argument("--write", action="store_true", help="edit the files in place")
    _tolerance(
        command,
        "values count as equal if they differ by at most R times the largest of their array; "
        "default: 0, every bit",
    )
    add(
        "--python1",
        metavar="PYTHON",
        help="an interpreter with NumPy 1: the program also runs there, and the edited one must "
        "end with its values",
    )
    _end(
        command,
        "0 the edited program ends with the same dtypes and values under every policy, 1 it does "
        "not, 2 usage error, 3 the program failed, 4 it does, but not everything was examined, "
        "130 after Ctrl-C. The program runs several times, a recorded one at most four.",
    )


def why_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray why`` takes."""
    add = command.add_argument
    _program(command)
    add(
        "--line",
        metavar="FILE:N",
        action="append",
        default=[],
        help="also explain the dtypes of this line",
    )
    add(
        "--value",
        metavar="NAME",
        action="append",
        default=[],
        help="also explain the dtype of this global variable at the end",
    )
    add("--framework", metavar="NAME", default="", help="default: what the program imports")
    _save(command)
    _edit(command)
    _end(
        command,
        "0 the program ran to its end, 1 it stopped over a dtype, 2 usage error, 3 it stopped for "
        "another reason.",
        "Run a program of NumPy, PyTorch, Paddle, JAX or TensorFlow as it is. If it stops over a "
        "dtype, show where each operand's dtype came from, line by line, and an edit with which "
        "the program was run and got past the stop.",
    )


def align_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray align`` takes."""
    add = command.add_argument
    what = "a program of PyTorch, Paddle or JAX, or a run that align has saved"
    add("first", metavar="SCRIPT", help=what)
    add("second", metavar="SCRIPT", nargs="?", help="its translation")
    add(
        "--weights",
        metavar="FILE",
        help="pairs of drawn arrays, if promoarray pairs them wrongly: JSON, "
        '{"b.py:12#0": "a.py:30#0"}, by the lines that draw them',
    )
    add("--calls", metavar="N", type=_count, help="compare only the first N calls; default: all")
    add(
        "--differences",
        metavar="N",
        type=_count,
        default=4,
        help="stop after N differences; default: 4",
    )
    add("--no-edit", dest="edit", action="store_false", help="try no edits")
    add("--save", metavar="RUN.zip", help="with one program: save its run with its values")
    add("--html", metavar="FILE", help="also write the report as an HTML page")
    _end(
        command,
        "0 aligned, as far as examined, 1 differences, 2 usage error, 3 a program failed, 4 no "
        "difference found but not everything paired.",
        "Run a program and its translation with the same seeds, initial weights and drawn inputs, "
        "pair their operations by their values, and show the first operation whose dtype or "
        "values differ by more than rounding explains, and why; then the next difference.",
    )


def check_arguments(command: argparse.ArgumentParser) -> None:
    """Declare what ``promoarray check`` takes."""
    from promoarray.diagnostics.model.lost import CHECKS

    add = command.add_argument
    _program(
        command,
        "a program, a notebook, an ONNX model, or a recording that check saved; or the name of a "
        "policy, to test the properties of its rule",
    )
    add(
        "--only",
        metavar="LOSSES",
        type=_losses,
        help="what to look for: " + ", ".join(CHECKS) + "; default: all but unstable",
    )
    add(
        "--shadow",
        metavar="DTYPE",
        choices=("float32", "float64"),
        help="also look for unstable: compute results of fewer bits again in this dtype",
    )
    add(
        "--ulps",
        metavar="N",
        type=_number,
        help="with --shadow: how many units in the last place results may differ; default: 4",
    )
    add(
        "--share",
        metavar="R",
        type=_number,
        help="report underflow if at least this share of results vanishes; default: 0.1",
    )
    add(
        "--all",
        action="store_true",
        help="check every element of large arrays (by default a sample), and show everything",
    )
    add("--framework", metavar="NAME", default="", help="default: what the program imports")
    _packages(command)
    _save(command)
    add("--html", metavar="FILE", help="also write the report as an HTML page")
    _edit(command)
    _of_models(command)
    _for_ci(
        command,
        metavar="LOSSES",
        type=_failing,
        help="kinds that make the exit code 1, or any, none, or incomplete (exit code 4); "
        "default: all but implicit-widening",
    )
    _end(
        command,
        "0 nothing found, 1 findings that --fail-on selects, neither ignored nor in the baseline, "
        "2 usage error, 3 the program failed or computed nothing, 4 nothing found but not "
        "everything examined (if --fail-on has incomplete), 128 + N if signal N ended the "
        "program.",
        "Run a program once, as it is, and show where numbers were lost: integers that wrap, "
        "casts out of range, the first Inf or NaN, lost digits, updates that change nothing. "
        "promoarray check POLICY tests the properties of a policy's rule instead.",
    )


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number


def _losses(text: str) -> frozenset[str]:
    from promoarray.diagnostics.check.settings import kinds_of

    return frozenset(_named(text, kinds_of))


def _failing(text: str) -> tuple[str, ...]:
    from promoarray.diagnostics.check.settings import failing

    return _named(text, failing)


def _named(text: str, read: Callable[[list[str]], tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return read([name.strip() for name in text.split(",")])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
