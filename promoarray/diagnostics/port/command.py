"""``promoarray port``: write the casts, run the program again, and say whether all agree."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from promoarray.console import visible
from promoarray.diagnostics.edits.planner import Port
from promoarray.diagnostics.exit_codes import (
    FAILED,
    FINDINGS,
    INCOMPLETE,
    NOTHING,
    USAGE,
    UsageError,
)
from promoarray.diagnostics.port import real_numpy
from promoarray.diagnostics.port.ported import Recordings, Runner, Stopped
from promoarray.diagnostics.port.porting import Work
from promoarray.diagnostics.port.sources import folder_of, patch, uncommitted
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.record.block import RECORDED, REWRITTEN
from promoarray.diagnostics.run.frameworks import OWN, expected, named
from promoarray.diagnostics.run.program import (
    StandardInput,
    as_module,
    missing,
    policy_named,
    program_of,
    say,
)
from promoarray.diagnostics.whole_file import put_all, require_place, write_whole
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

_say = partial(say, "port")


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    framework = ""
    try:
        _check(args)
        policies, run, recorded = named(args.to), None, None
        framework = _framework(args, policies)
        if not policies:
            raise UsageError("--to names no policy; write --to torch@2.13,paddle@3.3")
        if args.run:
            run = as_policy(args.run)
        if framework != OWN:
            run = _written_for(framework, policies, run)
            recorded = Recordings(framework, _wanted(framework, run))
        return _port(args, run, policies, recorded)
    except UsageError as why:
        _say(str(why))
        return USAGE
    except Stopped as stopped:
        stopped.ran.ended.say_bugs("port")
        policy = stopped.ran.policy
        when = f"under {policy}" if policy else f"before it imported {framework}"
        _say(f"the program stopped {when}: {stopped}{as_module(args.script)}")
        return FAILED


def _framework(args: argparse.Namespace, policies: tuple[Policy, ...]) -> str:
    """What is ported: to editions of NumPy what a program does with NumPy."""
    found = expected(args.script, args.module)
    for name, each in REWRITTEN.items():
        editions = {as_policy(edition) for _, edition in each.editions}
        if name in found.libraries and policies and editions.issuperset(policies):
            return name
    return found.framework or OWN


def _check(args: argparse.Namespace) -> None:
    """Raise where there is no such program, or no place for the patch."""
    if args.script:
        path = Path(args.script)
        if path.suffix == ".ipynb":
            raise UsageError(
                f"{path} is a notebook, which is not edited; write its cells into a script"
            )
        if (path / "__main__.py").is_file():
            raise UsageError(f"{path} is a folder; name its __main__.py")
        if not path.is_file():
            raise UsageError(missing(args.script))
    try:
        if args.patch:
            require_place(Path(args.patch))
    except OSError:
        why = f"{args.patch} is a folder, or lies in none; write the name of a file"
        raise UsageError(why) from None


def _written_for(framework: str, policies: tuple[Policy, ...], run: Policy | None) -> Policy | None:
    """The policy that a recorded program is ported from; to NumPy 2, if none is named, NumPy 1.

    None leaves it to the framework.
    """
    if framework not in REWRITTEN:
        if run is not None:
            raise UsageError(f"the program runs in {framework} itself; leave out --run and --from")
        return None
    editions = [name for _, name in REWRITTEN[framework].editions]
    every = [as_policy(name) for name in editions]
    if run is not None and run not in every:
        names = ", ".join(editions)
        raise UsageError(f"the program was written for NumPy; --from is one of {names}")
    old = every[-1]
    return run or (None if old in policies or not {*every} & {*policies} else old)


def _wanted(framework: str, run: Policy | None) -> str:
    """The policy whose dtypes are kept, if not those that the recorded run itself has."""
    if run is None:
        return ""
    installed = REWRITTEN[framework].home(import_module(framework).__version__)
    return "" if run is installed else run.name


def _port(
    args: argparse.Namespace,
    run: Policy | None,
    policies: tuple[Policy, ...],
    recorded: Recordings | None,
) -> int:
    with tempfile.TemporaryFile() as kept, Progress() as progress:
        runner = Runner(
            program_of(args), StandardInput(kept), recorded=recorded, step=progress.step
        )
        under = run.name if run and not recorded else None
        first = runner(under, tuple(policy.name for policy in policies))
        late = next((name for name in RECORDED if name in first.ended.imported), "")
        if late and not recorded and not first.computed:  # its source does not tell
            run = _written_for(late, policies, run)
            runner = replace(runner, recorded=Recordings(late, _wanted(late, run)))
            first, recorded = runner(None, tuple(p.name for p in policies)), runner.recorded
        if first.ended.interrupted:
            raise KeyboardInterrupt
        if first.stopped or first.ended.bugs:
            raise Stopped(first)
        real = None
        if args.python1 and recorded and recorded.wanted:
            real = real_numpy.run(args.python1, runner.program.command)
            if real.error:
                _say(f"the program stopped in {args.python1}: {real.error}")
                return FAILED
        own = run if run and recorded else policy_named(first.policy)
        others = tuple(policy for policy in policies if policy.name != own.name)
        beside = (Path(args.script).resolve().parent,) if args.script else ()
        folders = (*beside, Path.cwd().resolve())
        port = Port(own, others)
        ported = Work(runner, port, under, first, folders, args.tolerance, real).ported()
    old = [source for source, _ in ported.changed]
    folder = folder_of([source.path for source in old]) if old else Path.cwd()
    text = patch(list(ported.changed), folder)
    for path in uncommitted([source.path for source in old]):
        _say(f"warning: {path} has changes that are not committed")
    if args.write:
        for source in old:
            if source.path.read_bytes() != source.data:
                raise UsageError(f"{source.path} was changed meanwhile; nothing is written")
        put_all([(new.path, new.data) for _, new in ported.changed])
    elif args.patch:
        write_whole(Path(args.patch), text)
    if args.json:
        print(json.dumps(ported.to_dict(text, folder), indent=2))
    elif not args.write and not args.patch:
        _print_bytes(text)
    for line in ported.lines(args, folder):
        print(visible(line), file=sys.stderr)
    if not ported.agrees:
        return FINDINGS
    return INCOMPLETE if ported.open else NOTHING


def _print_bytes(text: bytes) -> None:
    """Print a patch as it is: the lines of a file may be in any encoding."""
    sys.stdout.flush()
    out: Any = getattr(sys.stdout, "buffer", None)
    if out is None:
        sys.stdout.write(text.decode(errors="backslashreplace"))
    else:
        out.write(text)
        out.flush()
