"""Command line: what each command takes, as tables that read like its help.

An entry of a table begins at the margin with the names of an option, or of an argument, and of what
it takes; two blanks later comes what it is for, which goes on in indented lines. What takes nothing
is a switch, and what ``READ`` does not have is a text. Below a line such as ``[for CI]`` stand the
options of a group, below ``[one of]`` those that exclude each other, below ``[]`` all others.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from promoarray.diagnostics.model.kinds import DEFAULT, NONE, SELECTORS

OF_PROGRAMS = ("compare", "diff", "bisect", "port", "why", "check", "align")
"""The commands that run a program, whose own arguments stand behind ``--``."""

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors tell options that are misspelled from arguments of the program."""

    def __init__(self, prog: str | None = None, **settings: Any) -> None:
        # "--n 3" of a program is not "--no-edit".
        super().__init__(prog, **settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit."""
        if "SCRIPT:" in message:  # with -m MODULE, an argument of the module stands in its place
            message += self._behind_dashes("-m MODULE", "ARGS")
        if message.endswith("required: COMMAND"):
            self.print_help(sys.stderr)
        usage = f"usage: {self.prog} --help lists what it takes"
        self.exit(2, f"{self.prog}: error: {message}\n{usage}\n")

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
        self.error(f"unrecognized arguments: {given}{hint}")

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


# -- reading what is given ------------------------------------------------------------------------


def _texts(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number


def _selectors(text: str) -> tuple[str, ...]:
    names = tuple(_texts(text))
    for name in names:
        if name not in SELECTORS:
            meant = difflib.get_close_matches(name, SELECTORS, n=1)
            near = f". Did you mean: {meant[0]}?" if meant else ""
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SELECTORS)}{near}")
    if NONE in names and len(names) > 1:
        raise argparse.ArgumentTypeError(f"{NONE} goes with nothing else")
    return names


def _ignored(text: str) -> tuple[str, ...]:
    from promoarray.diagnostics.findings.classify import ignored_names

    return _named(text, ignored_names)


def _losses(text: str) -> frozenset[str]:
    from promoarray.diagnostics.check.settings import kinds_of

    return frozenset(_named(text, kinds_of))


def _failing(text: str) -> tuple[str, ...]:
    from promoarray.diagnostics.check.settings import failing

    return _named(text, failing)


def _named(text: str, read: Callable[[list[str]], tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return read(_texts(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


READ: dict[str, dict[str, Any]] = {
    "script": {"nargs": "?"},
    "-m": {"dest": "module"},
    "policies POLICY": {"nargs": "*"},
    "--policies A,B": {"dest": "named"},
    "--policies POLICY": {"dest": "named"},
    "operands": {"nargs": "+"},
    "values": {"nargs": "+"},
    "recordings": {"nargs": "*"},
    "first": {"nargs": "?"},
    "second": {"nargs": "?"},
    "--from DTYPE": {"dest": "source"},
    "--to DTYPE": {"dest": "target", "required": True},
    "--from POLICY": {"dest": "before", "required": True},
    "--to POLICY": {"dest": "after", "required": True},
    "--to A,B,C": {"required": True},
    "--expr": {"dest": "expression", "required": True},
    "-o": {"required": True},
    "--edit": {"action": argparse.BooleanOptionalAction},
    "--no-edit": {"dest": "edit", "action": "store_false"},
    "--show": {"type": _texts},
    "--packages": {"type": lambda names: tuple(_texts(names)), "default": ()},
    "--framework NAMES": {"default": "auto"},
    "--framework NAME": {"default": ""},
    "--line": {"action": "append", "default": []},
    "--value": {"action": "append", "default": []},
    "--max-sites": {"type": _count},
    "--calls": {"type": _count},
    "--steps": {"type": _count, "default": 0},
    "--sample": {"type": _count, "default": 0},
    "--differences": {"type": _count, "default": 4},
    "--tolerance": {"type": float, "default": 0.0},
    "--ulps": {"type": _number},
    "--share": {"type": _number},
    "--shadow": {"choices": ("float32", "float64")},
    "--only": {"type": _losses},
    "--traceback": {"default": "short"},
    "--ignore": {"type": _ignored, "default": ()},
    "--fail-on KINDS": {"type": _selectors, "default": DEFAULT},
    "--fail-on LOSSES": {"type": _failing},
    "--format {text,markdown,csv,json}": {"default": "text"},
    "--op": {"default": ""},
    "--saturate": {"type": int, "choices": (0, 1)},
}
"""By its first name, or by that and what it takes."""


# -- what they take -------------------------------------------------------------------------------

_PROGRAM = """
[one of]
script SCRIPT  a script, a folder, or - for standard input; or -- COMMAND ARGS
-m MODULE  run a module, like python -m
[]
"""
_TWO_POLICIES = """
--from POLICY  the policy that it runs under now
--to POLICY  the policy to move to
"""
_EDIT = "--edit  try edits, each by a run of the program; default: unless the first took a minute"
_SAVE = """
--save RUN.zip  also save the recording; compare, diff, why and check take it in place of a program
"""
_STEPS = """
--steps N  end the run behind N steps of training (PyTorch, Paddle, JAX)
--sample N  look at one step of training in N: the first, and every Nth behind it
"""
_PACKAGES = "--packages NAMES  for NumPy programs: also record these installed Python libraries"
_HTML = "--html FILE  also write the report as an HTML page"
_FRAMEWORK = "--framework NAME  default: what the program imports"
_IGNORE = """
--ignore NAMES  kinds and policies to ignore, as in # promoarray: ignore[...]
"""
_OF_MODELS = """
[of a model file]
--inputs FILE  for an ONNX model: its inputs, an npz file; default: random ones, always the same
--dtypes-only  compute no values
[]
"""
_FOR_CI = f"""
{_IGNORE}
[for CI]
--baseline FILE  known findings, which do not fail
--update-baseline  write the findings into the baseline; nothing fails
--format {{text,json,sarif,github}}  format of the report: text (default), json, sarif (2.1.0, for
    code scanning) or github (annotations in a workflow). --json is --format json
--output FILE  where to write the report; default: standard output
--sarif FILE  also write SARIF
"""


class Command(NamedTuple):
    """What a command is for, and what it takes."""

    words: str
    takes: str = ""
    exit_codes: str = ""  # if they are not those of the command line
    description: str = ""  # if that is not its words


COMMANDS = {
    "list": Command("list the policies"),
    "table": Command(
        "print a policy's promotion table, or two side by side",
        """
policies POLICY  one policy, or two side by side
--policies --policy A,B  the same
--op OP  the operation, such as divide or /; default: promotion alone
--format {text,markdown,csv,json}
--dtypes DTYPES  only these dtypes, by name or code: int8,f32,i*
--all  all dtypes of the policy, floats of 8 bits and fewer as well; the other formats have them
""",
    ),
    "explore": Command(
        "write an HTML page to explore the policies",
        """
-o --output FILE  the page; - for standard output
--policies --policy A,B,C  the policies to show, or all; default: eight editions that people have
    installed
--all  every operation and dtype; else operators, functions of one operand, maximum, where and
    concat, for integers from 8 bits and floats from 16, and all casts
--open  open it in a browser
""",
        description="Write one self-contained HTML page: the result of each operation for each "
        "pair of dtypes under each policy, the differences of two policies, casts of special "
        "values, and the order of each promotion rule. Click a cell for its explanation and "
        "source.",
    ),
    "explain": Command(
        "explain the dtype of an operation",
        """
op OP  a name such as add, an operator, += or astype
operands OPERAND  a dtype by name or code (codes count bits: i8 is int8), int64[] for a 0-d array,
    or a Python scalar: 2.5, 1, True, 1j
--policies --policy A,B,C  explain under each of these; default: the policy in force
""",
    ),
    "cast": Command(
        "show the bits and values that a cast gives, by policy",
        """
values VALUE  1.5, -0.0, inf, nan or bits:7f; or a file of weights: .safetensors, .gguf
--from DTYPE  dtype of the values; a weights file has its own
--to DTYPE
--policies --policy A,B,C  policies to ask; default: numpy, jax, torch, tensorflow, paddle,
    mindspore, aclnn and onnx
--saturate  for onnx@19 and later
--out FILE  of weights: write the floats cast, as safetensors
--round-mode {up,down,nearest}  for onnx@24 and later
""",
    ),
    "check": Command(
        "run a program and show where numbers were lost",
        f"""
[one of]
script SCRIPT  a program, a notebook, an ONNX model, or a recording that check saved; or the name of
    a policy, to test the properties of its rule
--policies --policy POLICY  a policy, to test the properties of its rule
-m MODULE  run a module, like python -m
[]
--only LOSSES  what to look for: integer-wrap, cast-out-of-range, overflow, nan-born, digits-lost,
    absorbed, underflow, implicit-widening, unstable; default: all but unstable
--shadow DTYPE  also look for unstable: compute results of fewer bits again in this dtype
--ulps N  with --shadow: how many units in the last place results may differ; default: 4
--share R  report underflow if at least this share of results vanishes; default: 0.1
--all  check every element of large arrays (by default a sample), and show everything
{_FRAMEWORK}
{_STEPS}
{_PACKAGES}
{_SAVE}
{_HTML}
{_EDIT}
{_OF_MODELS}
[for CI]
--fail-on LOSSES  kinds that make the exit code 1, or any, none, or incomplete (exit code 4);
    default: all but implicit-widening
[]
{_FOR_CI}
""",
        "0 nothing found, 1 findings that --fail-on selects, neither ignored nor in the baseline, "
        "2 usage error, 3 the program failed or computed nothing, 4 nothing found but not "
        "everything examined (if --fail-on has incomplete), 128 + N if signal N ended the "
        "program.",
        "Run a program once, as it is, and show where numbers were lost: integers that wrap, "
        "casts out of range, the first Inf or NaN, lost digits, updates that change nothing. "
        "promoarray check POLICY tests the properties of a policy's rule instead.",
    ),
    "compare": Command(
        "run a program and show where the policies differ",
        f"""
[one of]
script SCRIPT  a program, a notebook, an ONNX model, a torch.export archive (.pt2), or a recording
    that --save wrote
-m MODULE  run a module, like python -m
--schema  print the JSON schema of the JSON report
[]
--policies --policy A,B,C  the policies to compare with, or all: eight editions that people have
    installed; default: what programs of this framework are usually ported to
{_EDIT}
--run POLICY  the policy to run under, whatever the program sets; default: its own
--show NAMES  global variables to compare between the runs; implies --run-all
--framework NAMES  libraries to record, such as torch,numpy or promoarray; default: auto, all that
    the run imports
--drift  also show where promoarray's policy differs from what the framework really did
{_PACKAGES}
{_OF_MODELS}
--fix FILE  for an ONNX model: write it with the missing casts between float dtypes, if onnx can
    check and run it
--types NAME=DTYPE,...  for a file of Triton kernels: the dtypes of their arguments, for pointers of
    what they point to; needs neither Triton nor a GPU
--all  also show places that differ only because an earlier line did
{_SAVE}
{_HTML}
{_STEPS}
--max-sites N  keep at most N places; default: 10000
--run-all  also run the program under each policy
--stop  with --run-all: stop at the first refusal instead of applying the cast it proposes
--traceback {{short,full}}  short: tracebacks end at your own line; full: with promoarray's frames
[for CI]
--fail-on KINDS  kinds that make the exit code 1: root (other dtypes and refusals that no earlier
    line causes), dtype, refuse, bits (other values of the same dtype), escape, signature, decision,
    incomplete (exit code 4), any or none; default: {",".join(DEFAULT)}
[]
{_FOR_CI}
""",
        "0 nothing found, 1 findings that --fail-on selects, neither ignored nor in the baseline, "
        "2 usage error, 3 the program failed or computed nothing, or promoarray failed, 4 nothing "
        "found but not everything examined (if --fail-on has incomplete), 128 + N if signal N "
        "ended the program (130 after Ctrl-C). In each case you get the report on what ran until "
        "then.",
    ),
    "diff": Command(
        "run a program and show what changes between two policies",
        f"""
{_PROGRAM}
{_TWO_POLICIES}
{_PACKAGES}
--all  also show lines that differ only because an earlier line did
""",
        "0 nothing changes, 1 something does, 2 usage error, 3 the program failed or computed "
        "nothing, 4 nothing changes but not everything was examined, 128 + N if signal N ended "
        "the program.",
        "Run a program under one policy and list the lines whose dtype, value or refusal changes "
        "under another, with the rules that differ and the edit that keeps the old result.",
    ),
    "why": Command(
        "run a program and show where its dtypes came from",
        f"""
{_PROGRAM}
--line FILE:N  also explain the dtypes of this line
--value NAME  also explain the dtype of this global variable at the end
{_FRAMEWORK}
{_STEPS}
{_SAVE}
{_EDIT}
""",
        "0 the program ran to its end, 1 it stopped over a dtype, 2 usage error, 3 it stopped for "
        "another reason.",
        "Run a program of NumPy, PyTorch, Paddle, JAX or TensorFlow as it is. If it stops over a "
        "dtype, show where each operand's dtype came from, line by line, and an edit with which "
        "the program was run and got past the stop.",
    ),
    "align": Command(
        "find where a translated program differs from the original",
        f"""
first SCRIPT  a program, an ONNX model, or a recording; align --save keeps values in it
second SCRIPT  its translation, or the ONNX model that it was exported to
--schema  print the JSON schema of the JSON report
--weights FILE  pairs of drawn arrays, if promoarray pairs them wrongly: JSON,
    {{"b.py:12#0": "a.py:30#0"}}, by the lines that draw them
--calls N  compare only the first N calls; default: all
{_STEPS}
--differences N  stop after N differences; default: 4
--no-edit  try no edits
--save RUN.zip  with one program: save its run with its values
{_HTML}
""",
        "0 aligned, as far as examined, 1 differences, 2 usage error, 3 a program failed, 4 no "
        "difference found but not everything paired.",
        "Run a program and its translation with the same seeds, initial weights and drawn inputs, "
        "pair their operations by their values, and show the first operation whose dtype or "
        "values differ by more than rounding explains, and why; then the next difference.",
    ),
    "bisect": Command(
        "find the lines that change a program's result",
        f"""
{_PROGRAM}
{_TWO_POLICIES}
--expr EXPRESSION  the final value: an expression with the program's globals, such as 'float(loss)'
--tolerance R  values count as equal up to this relative difference; default: 0, every bit
""",
        "0 the value is the same, 1 it changes, 2 usage error, 3 the program failed, or its value "
        "changes from run to run.",
        "Find the smallest set of lines, and of rules there, that change a program's final value "
        "from one policy to another. Runs the program many times; it must be deterministic.",
    ),
    "port": Command(
        "write the casts that a program needs elsewhere",
        f"""
{_PROGRAM}
--to A,B,C  the policies to port to
--run --from POLICY  the policy to port from, whatever the program sets; default: its own; of a
    NumPy program that goes to NumPy 2 numpy@1
[one of]
--patch FILE  write a patch; default: print it
--write  edit the files in place
[]
--tolerance R  values count as equal if they differ by at most R times the largest of their array;
    default: 0, every bit
--python1 PYTHON  an interpreter with NumPy 1: the program also runs there, and the edited one must
    end with its values
""",
        "0 the edited program ends with the same dtypes and values under every policy, 1 it does "
        "not, 2 usage error, 3 the program failed, 4 it does, but not everything was examined, "
        "130 after Ctrl-C. The program runs several times, a recorded one at most four.",
    ),
    "lsp": Command(
        "show findings in an editor (language server)",
        f"""
recordings RUN.zip  recordings that --save wrote, or patterns such as runs/*.zip, relative to the
    workspace; default: .promoarray/*.zip
--policies --policy A,B,C  default: those of compare
{_IGNORE}
""",
        description="A language server: shows findings of saved recordings at their lines, offers "
        "edits as quick fixes, and shows the run's dtypes on hover. It does not run your program.",
    ),
    "doctor": Command("show what is installed here and whether it works"),
    "completion": Command(
        "print a shell's completion script",
        f"shell {{{','.join(SHELLS)}}}",
        description='Print it; in bash, write eval "$(promoarray completion bash)".',
    ),
}

_EXIT_CODES = (
    "0 success, 1 the answer is no (a refusal, a failed check), 2 usage error, 3 internal error."
)


def parser_of_all(version: str) -> tuple[CommandParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the command line, and that of each command."""
    epilog = f"Exit codes: {_EXIT_CODES}"
    what = "What dtype would this give in another framework?"
    parser = CommandParser("promoarray", description=what, epilog=epilog)
    parser.add_argument("--version", action="version", version=f"promoarray {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (words, takes, exit_codes, description) in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=description or words)
        command.epilog = f"Exit codes: {exit_codes or _EXIT_CODES}"
        command.set_defaults(parser=command)
        of_json = "write the page's data as JSON" if name == "explore" else "print JSON"
        command.add_argument("--json", action="store_true", help=of_json)
        declare(command, takes)
        if name in OF_PROGRAMS:
            usage = command.format_usage().removeprefix("usage: ").strip()
            command.usage = f"{usage} [-- ARGS ...]"
    return parser, dict(commands.choices)


def declare(command: argparse.ArgumentParser, table: str) -> None:
    """Add what a table has to a command."""
    if "--ignore" in table:
        command.set_defaults(ignore_in={})
    groups: dict[str, Any] = {"": command}
    to: Any = command
    for entry in filter(None, re.split(r"\n+(?=\S)", table.strip())):
        head, _, words = entry.replace("\n", " ").partition("  ")
        if head.startswith("["):
            title = head[1:-1]
            if title == "one of":
                to = command.add_mutually_exclusive_group()
            elif title not in groups:
                groups[title] = command.add_argument_group(title)
            to = groups.get(title, to)
            continue
        names = [name for name in head.split() if name.startswith("-")] or head.split()[:1]
        metavar = " ".join(head.split()[len(names) :])
        takes: dict[str, Any] = {"help": " ".join(words.split())} if words else {}
        if metavar.startswith("{"):
            takes["choices"] = tuple(metavar[1:-1].split(","))
        elif metavar:
            takes["metavar"] = metavar
        takes |= READ.get(f"{names[0]} {metavar}", READ.get(names[0], {}))
        if len(takes) == bool(words):
            takes["action"] = "store_true"
        to.add_argument(*names, **takes)
