"""Runs what a page of docs/ shows: its files are written, its commands and sessions are run.

A line of a file's name in backticks and a colon makes the block behind it that file. A ``console``
block has commands, each after ``$``, with what they print; ``# exits with N`` behind one says with
which status, if not 0 or 1. Sessions of Python, ``>>>``, share their names. ``...`` stands for
anything, as in doctest.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from promoarray import cli

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

_PARTS = re.compile(
    r"(?ms)^`(?P<file>[\w./-]+)`[:：]\n\n```\w+\n(?P<text>.*?)^```$"
    r"|^```console\n(?P<commands>\$ .*?)^```$"
    r"|^```python\n(?P<session>>>> .*?)^```$"
)
_COMMAND = re.compile(r"(?m)^\$ (.*?)(?:  # exits with (\d+))?$\n((?:(?!\$ ).*\n)*)")


def differences(page: Path, folder: Path, *, commands: bool = True) -> Iterator[str]:
    """Run a page in a folder, with its commands or without; yield what is not as it says."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for part in _PARTS.finditer(text):
            line = text.count("\n", 0, part.start()) + 1
            if part["file"]:
                Path(part["file"]).parent.mkdir(parents=True, exist_ok=True)
                Path(part["file"]).write_text(part["text"], encoding="utf-8")
            elif part["commands"] and commands:
                yield from _commands(part["commands"], f"{page.name}:{line}")
            elif part["session"]:
                yield from _session(part["session"], names, page, line)


def _commands(block: str, at: str) -> Iterator[str]:
    for line, status, expected in _COMMAND.findall(block):
        ended, printed = _run(shlex.split(line, comments=True))
        if str(ended) not in ((status,) if status else ("0", "1")):
            yield f"{at}: {line} exits with {ended}\n{printed[-1]}"
        if not any(_alike(expected, each) for each in printed):
            yield f"{at}: {line}\n{_difference(expected, printed[0])}"


def _run(words: list[str]) -> tuple[int, list[str]]:
    """Run a command; return its status, what it prints, and this with what it says of errors."""
    if words[0] == "promoarray":
        out, both = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(_Two(out, both)), contextlib.redirect_stderr(both):
            status = cli.main(words[1:])
        return status, [out.getvalue(), both.getvalue()]
    if words[0] == "cat":
        return 0, ["".join(Path(name).read_text(encoding="utf-8") for name in words[1:])]
    command = [sys.executable, *words[1:]] if words[0] == "python" else words
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return done.returncode, [done.stdout, done.stdout + done.stderr]


class _Two(io.StringIO):
    """Writes into two files."""

    def __init__(self, *files: io.StringIO) -> None:
        super().__init__()
        self._files = files

    def write(self, text: str) -> int:
        for each in self._files:
            each.write(text)
        return len(text)


def _alike(expected: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(
        expected.rstrip() + "\n", printed.rstrip() + "\n", FLAGS
    )


def _difference(expected: str, printed: str) -> str:
    example = doctest.Example("", expected)
    return doctest.OutputChecker().output_difference(example, printed, FLAGS | doctest.REPORT_NDIFF)


def _session(text: str, names: dict[str, Any], page: Path, line: int) -> Iterator[str]:
    runner, said = doctest.DocTestRunner(optionflags=FLAGS, verbose=False), io.StringIO()
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
    if runner.run(test, out=said.write, clear_globs=False).failed:
        yield said.getvalue()
    names |= test.globs
