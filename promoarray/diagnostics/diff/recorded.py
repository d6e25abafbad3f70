"""``promoarray diff --from numpy@1 --to numpy@2`` of a NumPy program as it is.

NumPy 2 runs it, and it is recorded. What NumPy 2 stops at is done as NumPy 1 did it, so that one
run finds all that changes.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tokenize
from pathlib import Path

import numpy as np

from promoarray.diagnostics.compare.program import Program, of_script
from promoarray.diagnostics.compare.watch import adopt
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.numpy.running import recorded_run
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

COMMAND = "from promoarray.diagnostics.diff.recorded import main; main()"
"""What ``python -c`` runs; the two policies, the script and its arguments follow."""


def is_recorded(script: str | None, before: Policy, after: Policy) -> bool:
    """Whether a script computes with NumPy itself, and it is NumPy's editions that are compared."""
    editions = {as_policy(name) for _, name in REWRITTEN["numpy"].editions}
    if script is None or not script.endswith(".py") or {before, after} != editions:
        return False
    try:
        with tokenize.open(script) as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False
    found = {name.partition(".")[0] for node in ast.walk(tree) for name in _imported(node)}
    return "numpy" in found and "promoarray" not in found


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def recorded_program(args: argparse.Namespace, before: Policy, after: Policy) -> Program:
    """Return the program that records the script which the arguments name.

    Raises
    ------
    FileNotFoundError
        If there is no such script.
    """
    command = of_script(args.script, args.args).command
    return Program(("-c", COMMAND, before.name, after.name, *command))


def main() -> None:
    """Record the script that the command line names; its findings go to the command."""
    before, after, script, *arguments = sys.argv[1:]
    home = REWRITTEN["numpy"].home(np.__version__)
    policies = as_policy(before), as_policy(after)
    recorder = Recorder(home, policies, framework=f"numpy {np.__version__}")
    adopt(recorder.report)
    sys.path[0] = str(Path(script).resolve().parent)  # as for ``python SCRIPT``
    past = next((policy for policy in policies if policy is not home), None)
    recorded_run(script, recorder, arguments, past=past)
