"""The command line: ``promoarray list``, ``table``, ``explore``, ``explain``, ``cast`` and others.

Exit codes are those of linters: 0 if all is well, 1 if the answer is no (a property fails, an
operation is refused, or nothing is known of it), 2 for a usage error, 3 if promoarray itself
failed.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from promoarray import __version__
from promoarray.console import Printed, console, show
from promoarray.diagnostics.command_line import OF_PROGRAMS, parser_of_all
from promoarray.diagnostics.completion import script
from promoarray.diagnostics.settings import find
from promoarray.dtypes import BY_CODE, BY_NAME, is_narrow
from promoarray.errors import LONGEST, UnknownPolicyError, quoted, to_install
from promoarray.operations import BY_SYMBOL, Operation, operation
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.registry import as_policy
from promoarray.promotion.table_text import cell_dtype, python_scalar

Command = Callable[[argparse.Namespace], int]
"""Runs a command, and returns its exit code."""


class UsageError(Exception):
    """Wrong arguments; the message is all the user needs."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Else those of the process.

    Returns
    -------
    int
        The exit code.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    _never_fail_to_print()
    try:
        args, unknown = _parse(_before_dashes(given))
        if unknown:
            args.parser.unrecognized(unknown)
    except SystemExit as stop:  # argparse has said what is wrong, or printed the help
        return int(stop.code or 0)
    except ValueError as error:  # in the settings of the project
        print(f"promoarray: {error}", file=sys.stderr)
        return 2
    args.args = given[len(_before_dashes(given)) + 1 :]
    try:
        code = _RUN.get(args.command, _in_room)(args)
        if not sys.stdout.closed:  # the language server closes it when its client goes
            sys.stdout.flush()
    except (UsageError, UnknownPolicyError) as error:
        print(f"promoarray: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # a file that cannot be read or written
        print(f"promoarray: {error}", file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()
        print("promoarray: this is a bug. Please report it with the lines above", file=sys.stderr)
        return 3
    return code


def _never_fail_to_print() -> None:
    """Print what standard output has no letters for, such as parts of a file's name, by escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _before_dashes(argv: list[str]) -> list[str]:
    """What comes before ``--``, if the rest is a script's own arguments."""
    if argv[:1] == ["cast"]:  # argparse takes -inf and -1e-9 for options, but for the blank
        return [f" {word}" if _NEGATIVE.match(word) else word for word in argv]
    if argv and argv[0] in OF_PROGRAMS and "--" in argv:
        return argv[: argv.index("--")]
    return argv


_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan)", re.IGNORECASE)


def _parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Parse a command line; what it leaves open, the settings of the project say."""
    parser, commands = parser_of_all(__version__)
    project = find() if words and words[0] in commands.keys() - _NO_SETTINGS else None
    if project is None:
        return parser.parse_known_args(words)
    project.check(commands)
    project.fill(commands[words[0]], words[0])
    args, unknown = parser.parse_known_args(words)
    if script := getattr(args, "script", ""):
        project.fill(args.parser, args.command, script)
        args, unknown = parser.parse_known_args(words)
    return args, unknown


_NO_SETTINGS = {"completion", "doctor"}
"""Commands that work where a file of settings does not."""


# -- the commands ---------------------------------------------------------------------------------


def _list(args: argparse.Namespace) -> int:
    from promoarray.diagnostics import policy_tables

    if args.json:
        _print_json(policy_tables.policy_facts())
    else:
        policy_tables.show_policies()
    return 0


def _table(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.policy_tables import table

    if not args.policies or args.named != args.parser.get_default("named"):  # of the settings
        args.policies += filter(None, map(str.strip, (args.named or "").split(",")))
    if not args.policies:
        raise UsageError("name a policy, or two; usage: promoarray table POLICY [POLICY]")
    if len(args.policies) > 2:
        raise UsageError(f"table takes one policy, or two, not {len(args.policies)}")
    if args.op and _known_operation(args.op).arity == 1:
        name = operation(args.op).name
        raise UsageError(f"{name} takes one operand, so it has no table; see `explain {name} i8`")
    policies = [as_policy(name) for name in args.policies]
    words = args.dtypes.split(",") if args.dtypes else []
    dtypes = [_read(partial(cell_dtype, w.strip())) for w in words]
    args.json = args.json or args.format == "json"
    as_text = args.format == "text" and not args.json
    shown = table(*policies, op=args.op, dtypes=dtypes)
    common = [each for each in shown.dtypes if each.weak or not is_narrow(each)]
    left_out = len(shown.dtypes) - len(common)
    if as_text and left_out and not dtypes and not args.all:
        _print(table(*policies, op=args.op, dtypes=common), args, wide=True)
        print(f"{left_out} dtypes of few bits are left out; --all shows them.")
    elif args.json or as_text:
        _print(shown, args, wide=True)
    else:
        sys.stdout.write(shown.to_csv() if args.format == "csv" else shown.to_markdown())
    return 0


def _explain(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.explain.functions import was_asked
    from promoarray.diagnostics.explain.question import question

    bare = args.op.removesuffix("=") if args.op not in BY_SYMBOL else args.op
    if args.op != "astype" and bare not in BY_SYMBOL and not was_asked(args.op):
        _known_operation(args.op)
    operands = tuple(_operand(text) for text in args.operands)
    names = [name.strip() for name in args.policies.split(",")] if args.policies else [None]
    try:
        answers = [question(args.op, operands, name) for name in names]
    except TypeError as error:  # too many operands, or not of the kind they must be
        raise UsageError(str(error)) from error
    explanations = [answer() for answer in answers]
    if args.json and len(explanations) > 1:
        _print_json([each.to_dict() for each in explanations])
    else:
        for each in explanations:
            _print(each, args)
    return int(any(each.dtype is None for each in explanations))


def _cast(args: argparse.Namespace) -> int:
    from promoarray.diagnostics import casts
    from promoarray.diagnostics.file_format import names_format

    if os.path.isfile(args.values[0]) or names_format(args.values[0]):
        return _cast_file(args)
    if args.out:
        raise UsageError("--out is of a file of weights: promoarray cast FILE --to DTYPE --out NEW")
    if args.source is None:
        raise UsageError("write --from DTYPE: the dtype of the values; or name a file of weights")
    source, target = (_read(partial(_real, name)) for name in (args.source, args.target))
    policies, given = _read(partial(casts.question, args, source))
    answer = casts.run(args, policies, given, source, target)
    _print(answer, args, wide=True)
    return 0 if answer.answered else 1


def _cast_file(args: argparse.Namespace) -> int:
    from pathlib import Path

    from promoarray.diagnostics.file_format import READS, format_of
    from promoarray.diagnostics.modelfile.survival import survival
    from promoarray.diagnostics.whole_file import require_place

    target = _read(partial(_real, args.target))
    if not os.path.isfile(args.values[0]):
        raise UsageError(f"no such file: {args.values[0]}")
    kind = _read(partial(format_of, args.values[0]))
    if args.out:
        require_place(Path(args.out))
    if not kind:
        raise UsageError(f"{args.values[0]} is a text, or a program; {READS}")
    found = _read(partial(survival, args, kind, target))
    _print(found, args, wide=True)
    return int(found.status)


def _check(args: argparse.Namespace) -> int:
    """Check a program; of a policy, which is no file, its rule."""
    asked = args.named if args.named != args.parser.get_default("named") else ""  # of settings
    given = args.script or asked or ""
    named = os.path.isfile(given) or os.sep in given or given.endswith((".py", ".ipynb"))
    if args.module or named or not given:
        return _in_room(args)
    report = as_policy(given).check()
    _print(report, args)
    return 0 if report else 1


def _explore(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.explore import page

    return page.main(args)


def _in_room(args: argparse.Namespace) -> int:
    """Run a command that has a room of its own, which is loaded now."""
    room = import_module(f"promoarray.diagnostics.{args.command}.command")
    if "script" in args and not getattr(args, "schema", False):
        from promoarray.diagnostics.run.program import name_program

        try:
            name_program(args)
        except ValueError as error:
            raise UsageError(str(error)) from None
    return int(room.main(args))


def _lsp(args: argparse.Namespace) -> int:
    try:
        return _in_room(args)
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError(f"this needs pygls: {to_install('lsp')}") from None


def _doctor(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.doctor import examine

    found = examine(parser_of_all(__version__)[1])
    _print(found, args)
    return 0 if found else 1


def _completion(args: argparse.Namespace) -> int:
    try:
        print(script(parser_of_all(__version__)[0], args.shell))
    except ImportError:
        raise UsageError(f"this needs shtab: {to_install('completion')}") from None
    return 0


_RUN: dict[str, Command] = {
    "list": _list,
    "table": _table,
    "explore": _explore,
    "explain": _explain,
    "cast": _cast,
    "check": _check,
    "lsp": _lsp,
    "doctor": _doctor,
    "completion": _completion,
}
"""The commands that have no room of their own, or are asked something before."""


# -- reading arguments ----------------------------------------------------------------------------


def _known_operation(op: str) -> Operation:
    known: Operation = _read(partial(operation, op))
    return known


def _operand(text: str) -> Any:
    """A Python scalar, or the Operand that a dtype stands for."""
    scalar = python_scalar(text)
    if scalar is not None:
        return scalar
    dtype = _dtype(text.removesuffix("[]"), "is neither a dtype nor a Python scalar")
    if dtype.weak:
        raise UsageError(
            f"{quoted(text)} is the type of a Python scalar; write a scalar such as 1 or 2.5"
        )
    return Operand(dtype, Rank.ZERO_D if text.endswith("[]") else Rank.ARRAY)


def _real(name: str) -> Any:
    """A dtype that arrays can have, by name or code."""
    dtype = _dtype(name)
    if dtype.weak:
        raise UsageError(
            f"{quoted(name)} is the type of a Python scalar; write the dtype of an array"
        )
    return dtype


def _dtype(name: str, otherwise: str = "is not a dtype") -> Any:
    """A dtype by name or code; not by NumPy's codes, where f8 is a float of eight bytes."""
    found = BY_NAME.get(name) or BY_CODE.get(name)
    if found is None:
        names = [n for n, d in (*BY_NAME.items(), *BY_CODE.items()) if not d.weak]
        near = [n for n in names if n.startswith(name)]
        near = near or difflib.get_close_matches(name[:LONGEST], names, n=6, cutoff=0.6)
        every = ", ".join(n for n, d in BY_NAME.items() if not d.weak)
        meant = f"Did you mean: {', '.join(near)}?" if near else f"Write one of: {every}"
        raise UsageError(f"{quoted(name)} {otherwise}. {meant}")
    return found


def _read(reading: Callable[[], Any]) -> Any:
    """Read an argument: what is wrong with it is a usage error, unlike a failure in computing."""
    try:
        return reading()
    except UnknownPolicyError:
        raise
    except (ValueError, OverflowError) as error:
        raise UsageError(str(error)) from error


def _print(report: Printed, args: argparse.Namespace, *, wide: bool = False) -> None:
    """Print a report, folded to the terminal's width unless it is a ``wide`` table; or as JSON."""
    if args.json:
        _print_json(report.to_dict())
    elif wide:
        show(report)
    else:
        console().print(report)


def _print_json(data: Any) -> None:
    """Print data; control characters beyond ASCII are escaped, too, which a terminal would obey."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    print("\n".join(line if line.isprintable() else _ascii(line) for line in text.split("\n")))


def _ascii(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
