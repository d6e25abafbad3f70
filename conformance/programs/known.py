"""Differences that stand in `departures.toml` under a reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from programs.compare import Difference

HERE = Path(__file__).resolve().parent.parent


@dataclass
class Departure:
    """Differences of programs, with the reason they stand under.

    Attributes
    ----------
    framework : str
        Patterns of the names the framework is asked by.
    reason : str
    programs : list of str
        Patterns ``operations : operands : kind : detail``; the last parts may be left out, and each
        is one or more words with ``*`` and ``?``, but operands, which are one pattern, and more of
        them apart by ``|``. Among other operations ``*`` and ``**`` are Python's operators.
    """

    framework: str
    reason: str
    programs: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)

    def is_about(self, framework: str) -> bool:
        """Whether this is about a framework's differences."""
        return any(fnmatchcase(framework, name) for name in self.framework.split())

    def covers(self, framework: str, difference: Difference) -> bool:
        """Whether this is the reason of a difference."""
        return self.is_about(framework) and any(
            _matches(pattern, difference) for pattern in self.programs
        )


def _matches(pattern: str, difference: Difference) -> bool:
    parts = [part.strip() for part in pattern.split(" : ")]
    said = difference.operation, difference.operands, difference.kind, difference.detail
    return all(
        any(fnmatchcase(text, each) for each in _choices(part, index))
        for index, (part, text) in enumerate(zip(parts, said, strict=False))
    )


def _choices(part: str, index: int) -> list[str]:
    if index in (1, 3):
        return [each.strip() for each in part.split("|")]
    words = part.split()
    return [_literal(word) for word in words] if index == 0 and part != "*" else words


def _literal(word: str) -> str:
    """An operator as the pattern of itself alone."""
    return word if any(map(str.isalpha, word)) else word.replace("*", "[*]")


def departures() -> list[Departure]:
    """Read those that are about programs."""
    with (HERE / "departures.toml").open("rb") as file:
        return [Departure(**entry) for entry in tomllib.load(file).get("programs", [])]
