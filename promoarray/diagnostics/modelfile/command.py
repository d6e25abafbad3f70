"""Model files in place of the program of ``compare`` and ``check``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.file_format import ONNX, PT2, READS, format_of
from promoarray.diagnostics.modelfile.report import ModelReport
from promoarray.diagnostics.record.checks import Asked
from promoarray.diagnostics.whole_file import require_place


def model_format(args: argparse.Namespace) -> str:
    """Return the format of the file that stands for a program, "" of a program; ``UsageError`` of
    one that is not read here."""
    if not args.script or args.module:
        return ""
    found = format_of(args.script)
    if found and found not in (ONNX, PT2):
        raise UsageError(f"{args.script} is a file of weights ({found}); {READS}")
    return found


def require_options(args: argparse.Namespace, found: str, names: tuple[str, ...]) -> None:
    """Refuse options that are of programs, or of another kind of files."""
    for name in names:
        if getattr(args, name, None):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is of a program that runs; {args.script} is a {found}")
    of_onnx = ("inputs", "fix") if found != ONNX else ()
    for name in of_onnx:
        if getattr(args, name, ""):
            raise UsageError(f"--{name} is of an {ONNX}; {args.script} is a {found}")


def of_model(
    args: argparse.Namespace, found: str, policies: tuple[str, ...] | None, asked: Asked
) -> ModelReport:
    """Read the file that a command names."""
    # Programs, which are compared more often, do without them.
    from promoarray.diagnostics.modelfile.question import Question
    from promoarray.diagnostics.modelfile.reading import report_of

    fix = getattr(args, "fix", "") or ""
    if fix:
        require_place(Path(fix))
        if os.path.exists(fix) and os.path.samefile(fix, args.script):
            raise UsageError("--fix names the model itself; write it to another file")
    inputs, values = getattr(args, "inputs", "") or "", not getattr(args, "dtypes_only", False)
    if inputs and not values:
        raise UsageError("--inputs and --dtypes-only do not go together")
    question = Question(args.script, found, policies, inputs, values, fix, asked)
    return report_of(question)
