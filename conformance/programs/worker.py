"""A framework at work: reads programs from standard input and answers them, line for line.

Runs in the environment of the framework: ``python -m programs.worker torch`` from `conformance`.
The first line it writes describes the framework; null is the answer to a program that ended the
process. What answers is a fork, so that the next one need not import the framework again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from importlib import import_module

from programs.frameworks import Framework
from programs.program import answered


def main(name: str) -> int:
    """Serve the framework of this name until the input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a framework prints must not look like an answer
    warnings.simplefilter("ignore")
    module, _, edition = name.partition("@")
    make = import_module(f"programs.frameworks.{module}").framework
    if status := _forked(lambda: _say(replies, make(edition).described())):
        return status
    while _forked(lambda: _serve(make(edition), replies)):
        _say(replies, None)
    return 0


def _forked(work: Callable[[], None]) -> int:
    """Work in a fork, whose threads are its own; its exit status, below 0 if a signal ended it."""
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    work()
    os._exit(0)


def _serve(framework: Framework, replies: object) -> None:
    for line in sys.stdin:
        program = json.loads(line)
        signal.alarm(framework.seconds)  # nothing handles it, so that it ends the process
        answers = list(answered(program, framework.names, framework.told, framework.failed))
        signal.alarm(0)
        _say(replies, answers)


def _say(replies: object, message: object) -> None:
    print(json.dumps(message), file=replies, flush=True)  # type: ignore[call-overload]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
