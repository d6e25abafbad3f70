"""Models read in a process of their own, which no damaged file can take the command with it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.file_format import ONNX, PT2, NotReadable
from promoarray.diagnostics.modelfile.question import SECONDS, Candidate, Question, Read
from promoarray.diagnostics.modelfile.recording import FILE, uncompared
from promoarray.diagnostics.modelfile.report import ModelReport
from promoarray.diagnostics.record.tape import TapeAsked
from promoarray.promotion.registry import as_policy

MEMORY = 0.75
"""The share of the machine's memory that it may have."""


def report_of(question: Question) -> ModelReport:
    """Read a model, and ask policies about it."""
    found = _in_process(question)
    base = as_policy(found.run)
    run = base.derive(FILE) if question.format != PT2 else base
    policies = tuple(map(as_policy, found.policies))
    report = ModelReport(run, policies, framework=found.framework)
    recorded = found.recorded
    report.flows = [recorded.flow]
    report.calls, report.unexamined = recorded.calls, recorded.unexamined
    report.uncompared = uncompared(recorded, run, policies)
    report.lost, report.checked, report.unread = recorded.lost, recorded.checked, recorded.unread
    report.notes = (*found.mended, *recorded.notes)
    return report


def write_tape(path: str, tape: TapeAsked, candidates: Iterable[Candidate]) -> None:
    """Run an ONNX model, and write its tape.

    Raises
    ------
    NotReadable
    """
    _in_process(Question(path, ONNX, None, tape=tape, candidates=tuple(candidates)))


def _in_process(question: Question) -> Read:
    """Ask a process; of one that ends with values once more without."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "asked", Path(folder) / "answer"
        asked.write_bytes(pickle.dumps(question))
        command = [sys.executable, "-c", _START, str(asked), str(answer)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            ended = subprocess.run(command, timeout=2 * SECONDS, check=False, env=environment)
            why = f"the process ended with status {ended.returncode}"
        except subprocess.TimeoutExpired:
            why = f"the process took more than {2 * SECONDS:.0f} s"
        if answer.is_file():
            found: Read | Exception = pickle.loads(answer.read_bytes())  # of promoarray's own
            if isinstance(found, Exception):
                raise found
            return found
    if not question.values or question.fix or question.tape:
        raise NotReadable(f"{question.path} cannot be read: {why}")
    without = _in_process(question._replace(values=False, inputs=""))
    without.recorded.notes[0] = f"Values were not looked at: {why}."
    return without


_START = "from promoarray.diagnostics.modelfile.reading import answer; answer()"


def answer() -> None:
    """Read the model that a question is about; what the process that was started does."""
    asked, target = map(Path, sys.argv[1:])
    _limit_memory()
    question: Question = pickle.loads(asked.read_bytes())  # of the process that has started this
    found: Read | Exception
    try:
        if question.format == PT2:
            from promoarray.diagnostics.modelfile.archive import recorded
        elif question.tape is not None:
            from promoarray.diagnostics.modelfile.taped import recorded
        else:
            from promoarray.diagnostics.modelfile.onnx_model import recorded
        found = recorded(question)
    except (NotReadable, UsageError, OSError) as error:
        found = error
    except (MemoryError, RecursionError) as error:
        why = "takes more memory than there is" if isinstance(error, MemoryError) else "is too deep"
        found = NotReadable(f"{question.path} {why}")
    beside = target.with_suffix(".part")
    beside.write_bytes(pickle.dumps(found))
    beside.replace(target)


def _limit_memory() -> None:
    try:
        import resource

        most = int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, ValueError, OSError):  # elsewhere than on Unix
        return
