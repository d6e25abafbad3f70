"""A framework at work: reads programs from standard input and answers them, line for line.

Runs in the environment of the framework: ``python -m programs.worker torch`` from `conformance`.
The first line it writes describes the framework.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from importlib import import_module

from programs.frameworks import Framework
from programs.program import answered


def main(name: str) -> None:
    """Serve the framework of this name until the input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a framework prints must not look like an answer
    warnings.simplefilter("ignore")
    module, _, edition = name.partition("@")
    framework: Framework = import_module(f"programs.frameworks.{module}").framework(edition)
    _say(replies, framework.described())
    for line in sys.stdin:
        program = json.loads(line)
        signal.alarm(framework.seconds)  # nothing handles it, so that it ends the process
        answers = list(answered(program, framework.names, framework.told, framework.failed))
        signal.alarm(0)
        _say(replies, answers)


def _say(replies: object, message: object) -> None:
    print(json.dumps(message), file=replies, flush=True)  # type: ignore[call-overload]


if __name__ == "__main__":
    main(sys.argv[1])
