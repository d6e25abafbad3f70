"""The processes that a program starts: those that find ``sitecustomize`` are recorded, too."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

_FOLDER = "PROMOARRAY_COMPARE"
_PATH = "PYTHONPATH"
_HERE = os.path.dirname(os.path.abspath(__file__))

EVENTS = {
    "subprocess.Popen": (1, 3),
    "os.exec": (1, 2),
    "os.posix_spawn": (1, 2),
    "os.system": (0,),
}
"""From events of Python's to where they have a command and its environment."""


def is_recorded(event: str, given: Any) -> bool:
    """Have a process find this folder; False of a Python that will not look there."""
    command, *rest = (given[at] for at in EVENTS[event])
    environment = rest[0] if rest else None
    finds = environment is None
    if environment is not None and _FOLDER in environment:
        if finds := type(environment) is dict:
            environment[_PATH] = _with_folder(environment.get(_PATH, ""))
        elif finds := event == "subprocess.Popen":
            _add_to_mappings()
    words = _words(command)
    at = _python_in(words)
    return at is None or (finds and not _is_isolated(words, at))


def _with_folder(paths: str) -> str:
    return os.pathsep.join(dict.fromkeys([_HERE, *filter(None, paths.split(os.pathsep))]))


def _add_to_mappings() -> None:
    """Add this folder to what ``subprocess`` makes of mappings that are no dictionaries.

    ``os.environ`` itself must not have it, as the program may look there.
    """
    subprocess: Any = sys.modules["subprocess"]
    start = getattr(subprocess, "_fork_exec", None)
    if start is None or getattr(start, "__module__", "") == __name__:
        return

    def fork_exec(*given: Any) -> Any:
        environment = dict(each.split(b"=", 1) for each in given[5] or ())
        if _FOLDER.encode() in environment:
            paths = os.fsdecode(environment.get(_PATH.encode(), b""))
            environment[_PATH.encode()] = os.fsencode(_with_folder(paths))
            given = (*given[:5], [b"%s=%s" % each for each in environment.items()], *given[6:])
        return start(*given)

    subprocess._fork_exec = fork_exec


def _words(command: Any) -> list[str]:
    """The words of a command, or of what it gives to a shell."""
    if isinstance(command, str | bytes | os.PathLike):
        return os.fsdecode(command).split()
    words = [os.fsdecode(each) for each in command]
    shell = words and os.path.basename(words[0]).endswith("sh")
    return " ".join(words).split() if shell else words


def _python_in(words: list[str]) -> int | None:
    """Where words name Python, or a script that it runs."""
    for at, word in enumerate(words):
        if os.path.basename(word).lower().removesuffix(".exe").rstrip(".0123456789") == "python":
            return at
    return 0 if any(b"python" in start for start in _starts(words[:1])) else None


def _starts(names: list[str]) -> Iterator[bytes]:
    """The first lines of scripts, here or beside this Python."""
    for path in (
        os.path.join(way, name) for name in names for way in ("", sys.exec_prefix + "/bin")
    ):
        try:
            with open(path, "rb") as file:
                yield file.readline(200) if file.read(2) == b"#!" else b""
        except OSError:
            pass


def _is_isolated(words: list[str], python: int) -> bool:
    """Whether a command clears the environment, or tells Python not to look at it."""
    if {"-i", "-", "--ignore-environment"}.intersection(words[:python]):
        return True
    for option in words[python + 1 :]:
        if option[:1] != "-" or option[1:2] in ("", "-", "c", "m"):
            return False
        if not {"I", "E", "S"}.isdisjoint(option):
            return True
    return False
