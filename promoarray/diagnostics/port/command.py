"""``promoarray port``: write the casts, run the program again, and say whether all agree."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, INCOMPLETE, NOTHING, USAGE
from promoarray.diagnostics.port.frameworks import refused, wanted, written_for
from promoarray.diagnostics.port.runs import Recordings, named
from promoarray.diagnostics.port.sources import folder_of, patch, put, put_all, uncommitted
from promoarray.diagnostics.run.frameworks import OWN, framework_of
from promoarray.diagnostics.run.program import as_module, missing
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    if args.script and Path(args.script).suffix == ".ipynb":
        _say(f"{args.script} is a notebook, which is not edited; write its cells into a script")
        return USAGE
    if args.script and not Path(args.script).is_file():
        folder = (Path(args.script) / "__main__.py").is_file()
        _say(f"{args.script} is a folder; name its __main__.py" if folder else missing(args.script))
        return USAGE
    framework = framework_of(args.script, args.module)
    policies = tuple(dict.fromkeys(as_policy(n.strip()) for n in args.to.split(",") if n.strip()))
    run = as_policy(args.run) if args.run else None
    if not policies:
        _say("--to names no policy; write --to torch@2.13,paddle@3.3")
        return USAGE
    recorded = None
    if framework != OWN:
        if why := refused(framework, run):
            _say(why)
            return USAGE
        run = run or written_for(framework, policies)
        recorded = Recordings(framework, wanted(framework, run))
    if args.patch and (Path(args.patch).is_dir() or not Path(args.patch).resolve().parent.is_dir()):
        _say(f"{args.patch} is a folder, or lies in none; write the name of a file")
        return USAGE
    from promoarray.diagnostics.port.ported import Stopped

    try:
        return _port(args, run, policies, recorded)
    except Stopped as stopped:
        for bug in stopped.ran.bugs:
            print(bug, file=sys.stderr)
        policy = stopped.ran.policy
        when = f"under {policy}" if policy else f"before it imported {framework}"
        _say(f"the program stopped {when}: {stopped}{as_module(args.script)}")
        return FAILED


def _port(
    args: argparse.Namespace,
    run: Policy | None,
    policies: tuple[Policy, ...],
    recorded: Recordings | None,
) -> int:
    from promoarray.diagnostics.edits.planner import Port
    from promoarray.diagnostics.port import real_numpy
    from promoarray.diagnostics.port.ported import Stopped
    from promoarray.diagnostics.port.porting import Work
    from promoarray.diagnostics.port.runs import Runner
    from promoarray.diagnostics.port.words import as_data, as_lines
    from promoarray.diagnostics.progress import Progress
    from promoarray.diagnostics.run.program import of_module, of_script
    from promoarray.diagnostics.run.standard_input import StandardInput

    with tempfile.TemporaryFile() as kept, Progress() as progress:
        of = of_module(args.module, args.args) if args.module else of_script(args.script, args.args)
        runner = Runner(of, StandardInput(kept), recorded=recorded, step=progress.step)
        under = run.name if run and not recorded else None
        first = runner(under, tuple(policy.name for policy in policies))
        if first.interrupted:
            raise KeyboardInterrupt
        if first.stopped or first.bugs:
            raise Stopped(first)
        real = None
        if args.python1 and recorded and recorded.wanted:
            real = real_numpy.run(args.python1, runner.program.command)
            if real.error:
                _say(f"the program stopped in {args.python1}: {real.error}")
                return FAILED
        own = run if run and recorded else named(first.policy)
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
                _say(f"{source.path} was changed meanwhile; nothing is written")
                return USAGE
        put_all([(new.path, new.data) for _, new in ported.changed])
    elif args.patch:
        put(Path(args.patch), text)
    if args.json:
        print(json.dumps(as_data(ported, text, folder), indent=2))
    elif not args.write and not args.patch:
        _print_bytes(text)
    for line in as_lines(ported, args, folder):
        print(line, file=sys.stderr)
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


def _say(what: str) -> None:
    print(f"promoarray port: {what}", file=sys.stderr)
