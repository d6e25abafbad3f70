"""The command line: ``promoarray list``, ``table``, ``explain``, ``cast``, ``check``, ``compare``.

Exit codes are those of linters: 0 if all is well, 1 if the answer is no (a property fails, an
operation is refused), 2 if the question was wrong, 3 if promoarray itself failed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from promoarray import __version__
from promoarray.dtypes import BY_CODE, BY_NAME
from promoarray.errors import UnknownPolicyError
from promoarray.operations import BY_SYMBOL, OPERATIONS, Operation, operation
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, families
from promoarray.promotion.table_text import cell_dtype

EPILOG = (
    "Exit codes: 0 yes, 1 no (refused, or a property fails), 2 the question was wrong, "
    "3 promoarray failed."
)


class UsageError(Exception):
    """The question was wrong; the message is all the user needs."""


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
    try:
        args = _parser().parse_args(_before_dashes(given))
    except SystemExit as stop:  # argparse has said what is wrong, or printed the help
        return int(stop.code or 0)
    args.args = given[len(_before_dashes(given)) + 1 :]
    try:
        run: Callable[[argparse.Namespace], int] = args.run_command
        code = run(args)
        sys.stdout.flush()
    except (UsageError, UnknownPolicyError) as error:
        print(f"promoarray: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a file that cannot be read or written
        print(f"promoarray: {error}", file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()
        print("promoarray: this is a bug. Please report it with the lines above", file=sys.stderr)
        return 3
    return code


def _before_dashes(argv: list[str]) -> list[str]:
    """What comes before ``--``, if the rest is a script's own arguments."""
    if argv[:1] == ["cast"]:  # argparse takes -inf and -1e-9 for options, but for the blank
        return [f" {word}" if _NEGATIVE.match(word) else word for word in argv]
    return argv[: argv.index("--")] if argv[:1] == ["compare"] and "--" in argv else argv


_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan)", re.IGNORECASE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "promoarray", description="What dtype would this give in another framework?", epilog=EPILOG
    )
    parser.add_argument("--version", action="version", version=f"promoarray {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], words: str) -> Any:
        sub = commands.add_parser(name, help=words, description=words, epilog=EPILOG)
        sub.set_defaults(run_command=run)
        sub.add_argument("--json", action="store_true", help="print JSON")
        return sub

    command("list", _list, "list the policies")

    table = command("table", _table, "print a policy's promotion table")
    table.add_argument("policy", metavar="POLICY")
    table.add_argument("--op", default="", help="of one operation: a name such as divide, or /")
    table.add_argument("--format", choices=("text", "markdown", "csv", "json"), default="text")
    table.add_argument("--dtypes", help="only these, by name or code: int8,f32,i*")

    explain = command("explain", _explain, "say why an operation has the dtype it has")
    explain.add_argument("op", metavar="OP", help="a name such as add, an operator, += or astype")
    explain.add_argument(
        "operands",
        metavar="OPERAND",
        nargs="+",
        help="a dtype by name or code (codes count bits: i8 is int8), int64[] for a 0-d array, "
        "or a Python scalar: 2.5, 1, True, 1j",
    )
    explain.add_argument("--policy", metavar="P", help="in place of the one in force")

    cast = command("cast", _cast, "show what values become in a cast, bits and values side by side")
    cast.add_argument("values", metavar="VALUE", nargs="+", help="1.5, -0.0, inf, nan or bits:7f")
    cast.add_argument("--from", dest="source", metavar="DTYPE", required=True)
    cast.add_argument("--to", dest="target", metavar="DTYPE", required=True)
    cast.add_argument("--policy", metavar="A,B,C", help="else one of every framework")
    cast.add_argument("--saturate", type=int, choices=(0, 1), help="for onnx@19 and later")
    cast.add_argument(
        "--round-mode", choices=("up", "down", "nearest"), help="for onnx@24 and later"
    )

    check = command("check", _check, "prove or refute the properties of a policy's rule")
    check.add_argument("policy", metavar="POLICY")

    compare = command("compare", _compare, "run a program once; show where the policies part")
    compare.add_argument("script", metavar="SCRIPT")
    compare.add_argument("--policies", metavar="A,B,C", help="the policies to ask")
    compare.add_argument("--run", metavar="POLICY", help="the policy the program runs under")
    compare.add_argument("--show", metavar="NAMES", help="globals to set side by side in the end")
    compare.add_argument("--html", metavar="FILE", help="write the report as one page, too")
    compare.add_argument("--run-all", action="store_true", help="run it under each policy for real")
    compare.add_argument(
        "--stop",
        action="store_true",
        help="with --run-all: stop at the first refusal instead of making the cast it proposes",
    )
    compare.usage = f"{compare.format_usage().removeprefix('usage: ').strip()} [-- ARGS ...]"
    return parser


# -- the commands -------------------------------------------------------------------------------


def _list(args: argparse.Namespace) -> int:
    found = {family: [as_policy(name) for name in names] for family, names in families().items()}
    if args.json:
        _print_json([_facts(p, p is ps[0]) for ps in found.values() for p in ps])
        return 0
    from rich.table import Table
    from rich.text import Text

    from promoarray.console import show

    table = Table("policy", "editions", "what it reproduces", "source", show_edge=False)
    for family, policies in found.items():
        names = [p.name for p in policies]
        editions = ", ".join(n.partition("@")[2] or n for n in names[:4])
        editions = "" if editions == family else editions  # a name without an edition
        editions += f" … ({len(names)} in all)" if names[4:] else ""
        sources = policies[0].sources
        source = sources[0].title if sources else ""
        table.add_row(family, editions, Text(policies[0].title), Text(source, "dim"))
    show(table)
    _list_quirks(found)
    return 0


def _list_quirks(found: dict[str, list[Policy]]) -> None:
    """Print the bugs of shipped frameworks that a policy can be asked for, once each."""
    from rich.table import Table
    from rich.text import Text

    from promoarray.console import show

    table = Table("quirk", "policies", "what it changes", "source", show_edge=False)
    for family, policies in found.items():
        rows: dict[tuple[str, str, str], list[str]] = {}
        for policy in policies:
            for quirk in policy.cast.quirks:
                rows.setdefault((quirk.name, quirk.sentence, quirk.source), []).append(policy.name)
        for (name, sentence, source), names in rows.items():
            those = family if len(names) == len(policies) else ", ".join(names)
            if len(names) > 3 and those != family:
                those = f"{names[0]} and {len(names) - 1} more"
            table.add_row(name, those, Text(sentence), Text(source, "dim"))
    if table.row_count:
        print()
        show(table)
        print("\nOff by default; on with policy.with_quirks(...), or as policy POLICY+QUIRK.")


def _facts(policy: Policy, default: bool) -> dict[str, Any]:
    return {
        "policy": policy.name,
        "title": policy.title,
        "default": default,
        "dtypes": [d.name for d in policy.dtypes],
        "sources": [
            {"title": s.title, "section": s.section, "version": s.version} for s in policy.sources
        ],
        "notes": list(policy.notes),
        "casts": list(policy.cast.notes),
        "quirks": [
            {"name": q.name, "changes": q.sentence, "source": q.source} for q in policy.cast.quirks
        ],
    }


def _table(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.policy_table import table_of

    policy = as_policy(args.policy)
    if args.op and _known_operation(args.op).arity == 1:
        name = operation(args.op).name
        raise UsageError(f"{name} takes one operand, so it has no table; ask `explain {name} i8`")
    words = args.dtypes.split(",") if args.dtypes else []
    shown = table_of(policy, args.op, [_asked(partial(cell_dtype, w.strip())) for w in words])
    form = "json" if args.json else args.format
    if form == "json":
        _print_json(shown.to_dict())
    elif form == "csv":
        sys.stdout.write(shown.to_csv())
    elif form == "markdown":
        sys.stdout.write(shown.to_markdown())
    else:
        from promoarray.console import show

        show(shown)
    return 0


def _explain(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.explain.question import question

    bare = args.op.removesuffix("=") if args.op not in BY_SYMBOL else args.op
    if args.op != "astype" and bare not in BY_SYMBOL:
        _known_operation(args.op)
    operands = tuple(_operand(text) for text in args.operands)
    try:
        answer = question(args.op, operands, args.policy)
    except TypeError as error:  # too many operands, or not of the kind they must be
        raise UsageError(str(error)) from error
    explanation = answer()
    if args.json:
        _print_json(explanation.to_dict())
    else:
        from promoarray.console import console

        console().print(explanation)
    return 1 if explanation.refused else 0


def _cast(args: argparse.Namespace) -> int:
    from promoarray.diagnostics import cast_command

    source, target = (_asked(partial(_real, name)) for name in (args.source, args.target))
    policies, given = _asked(partial(cast_command.question, args, source))
    answer = cast_command.run(args, policies, given, source, target)
    if args.json:
        _print_json(cast_command.to_json(answer))
    else:
        from promoarray.console import show

        show(cast_command.table(answer))
    return 1 if all(isinstance(found, str) for found in answer["made"].values()) else 0


def _check(args: argparse.Namespace) -> int:
    report = as_policy(args.policy).check()
    if args.json:
        _print_json(report.to_dict())
    else:
        from promoarray.console import console

        console().print(report)
    return 0 if report else 1


def _compare(args: argparse.Namespace) -> int:
    from promoarray.diagnostics.compare import command

    return command.main(args)


# -- what the words mean --------------------------------------------------------------------------


def _known_operation(op: str) -> Operation:
    if op in OPERATIONS or op in BY_SYMBOL:
        return operation(op)
    near = difflib.get_close_matches(op, OPERATIONS, n=4, cutoff=0.5)
    meant = f" Did you mean: {', '.join(near)}?" if near else ""
    raise UsageError(f"there is no operation {op!r}.{meant}")


def _operand(text: str) -> Any:
    """A Python scalar, or the Operand that a dtype stands for."""
    scalar = _scalar(text)
    if scalar is not None:
        return scalar
    dtype = _dtype(text.removesuffix("[]"), "is neither a dtype nor a Python scalar")
    if dtype.weak:
        raise UsageError(f"{text!r} is what a scalar counts as; write a scalar such as 1 or 2.5")
    return Operand(dtype, Rank.ZERO_D if text.endswith("[]") else Rank.ARRAY)


def _scalar(text: str) -> bool | int | float | complex | None:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _real(name: str) -> Any:
    """A dtype that arrays can have, by name or code."""
    dtype = _dtype(name)
    if dtype.weak:
        raise UsageError(f"{name!r} is what a scalar counts as; name the dtype of an array")
    return dtype


def _dtype(name: str, otherwise: str = "is not a dtype") -> Any:
    """A dtype by name or code; not by NumPy's codes, where f8 is a float of eight bytes."""
    found = BY_NAME.get(name) or BY_CODE.get(name)
    if found is None:
        names = [n for n, d in (*BY_NAME.items(), *BY_CODE.items()) if not d.weak]
        near = [n for n in names if n.startswith(name)]
        near = near or difflib.get_close_matches(name, names, n=6, cutoff=0.5)
        every = ", ".join(n for n, d in BY_NAME.items() if not d.weak)
        meant = f"Did you mean: {', '.join(near)}?" if near else f"Write one of: {every}"
        raise UsageError(f"{name!r} {otherwise}. {meant}")
    return found


def _asked(reading: Callable[[], Any]) -> Any:
    """Read the user's words, which may be wrong. What is computed with them has no such excuse."""
    try:
        return reading()
    except UnknownPolicyError:
        raise
    except (ValueError, OverflowError) as error:
        raise UsageError(str(error)) from error


def _print_json(data: Any) -> None:
    print(json.dumps(data, indent=2, ensure_ascii=False))
