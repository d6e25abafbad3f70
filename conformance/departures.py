"""Differences that stand in `departures.toml` under a reason.

Cells of golden files (``[[departure]]``, of foreign operands ``[[foreign]]``), lines of programs
(``[[programs]]``) and functions that drift (``[[drift]]``) are named by patterns of one form: parts
apart by `` : ``, of which the last may be left out, each of one or more names with ``*``, ``?`` and
``[]``. Operands are one pattern of all of them, and more such patterns apart by ``|``; among other
operations of programs ``*`` and ``**`` are Python's operators.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

PATH = Path(__file__).resolve().parent / "departures.toml"

FIELDS = {
    "departure": ("golden", "cells"),
    "foreign": ("golden", "cells"),
    "programs": ("framework", "programs"),
    "drift": ("framework", "drift"),
}
"""By kind: the fields that say what a departure is about, and its patterns."""

OPERANDS = {"departure": (), "foreign": (), "programs": (1, 3), "drift": (1,)}
"""The parts of a pattern whose blanks are of one pattern."""

BACK_ENDS = {
    "keras@tensorflow": "tensorflow@legacy",
    "keras@torch": "torch",
    "keras@jax": "jax@x32",
}
"""Whose kernels Keras runs: what they depart in, it departs in."""


@dataclass(frozen=True)
class Departure:
    """Differences that are meant, with the reason they stand under.

    Attributes
    ----------
    kind : {"departure", "foreign", "programs", "drift"}
    about : str
        Patterns of the golden files, or of the names that the framework is asked by.
    reason : str
    patterns : tuple of str
    """

    kind: str
    about: str
    reason: str
    patterns: tuple[str, ...]

    def is_about(self, name: str) -> bool:
        """Whether this is about a golden file, or a framework's differences."""
        names = (name, BACK_ENDS.get(name, name))
        return any(fnmatchcase(each, part) for part in self.about.split() for each in names)

    def covers(self, name: str, said: Iterable[str]) -> bool:
        """Whether one of the patterns names a difference, given by its parts."""
        return self.is_about(name) and any(matches(p, said, self.kind) for p in self.patterns)


@cache
def read(kind: str) -> tuple[Departure, ...]:
    """Read the departures of a kind."""
    about, patterns = FIELDS[kind]
    with PATH.open("rb") as file:
        entries = tomllib.load(file).get(kind, [])
    return tuple(Departure(kind, e[about], e["reason"], tuple(e[patterns])) for e in entries)


def matches(pattern: str, said: Iterable[str], kind: str = "departure") -> bool:
    """Whether a pattern names what has these parts."""
    return all(map(is_any, said, parts(pattern, kind)))


@cache
def is_any(name: str, choices: tuple[str, ...]) -> bool:
    """Whether a part of a pattern names this."""
    return any(fnmatchcase(name, each) for each in choices)


@cache
def parts(pattern: str, kind: str = "departure") -> tuple[tuple[str, ...], ...]:
    """The choices in each part of a pattern."""
    if kind == "drift":  # whose operands have no classes of characters
        pattern = pattern.replace("[]", "[[]]")
    return tuple(_choices(part.strip(), i, kind) for i, part in enumerate(pattern.split(" : ")))


def _choices(part: str, index: int, kind: str) -> tuple[str, ...]:
    if index in OPERANDS[kind]:
        return tuple(each.strip() for each in part.split("|"))
    words = part.split()
    if kind == "programs" and index == 0 and part != "*":
        words = [w if any(map(str.isalpha, w)) else w.replace("*", "[*]") for w in words]
    return tuple(words)
