"""Question to a process that reads a model, and its answer."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.diagnostics.modelfile.recording import Recorded
from promoarray.diagnostics.record.checks import Asked

SECONDS = 300.0
"""So long values are computed; twice as long the process may live."""


class Question(NamedTuple):
    """What is asked of a model."""

    path: str
    format: str
    policies: tuple[str, ...] | None  # None for those that make sense for it
    inputs: str = ""  # a file of inputs; "" for random ones
    values: bool = True
    fix: str = ""
    asked: Asked = Asked()
    tape: Any = None  # of ``align``, as ``tape.TapeAsked`` has it
    candidates: tuple[Candidate, ...] = ()  # for its inputs


class Candidate(NamedTuple):
    """A value of another run that may be what an input of the model is given."""

    dtype: str
    array: Any
    lines: frozenset[tuple[str, int]]  # that read it


class Read(NamedTuple):
    """What was read of it."""

    recorded: Recorded
    run: str  # the policy that stands for what the file says
    policies: tuple[str, ...]
    framework: str
    mended: tuple[str, ...] = ()
