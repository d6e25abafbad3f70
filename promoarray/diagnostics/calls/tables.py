"""Format of an adapter's tables: names of a framework beside those of operations."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One operation of an expansion; an operand is a parameter's name, ``"_"`` the step before."""

    operation: str
    operands: tuple[str, ...]


class Expansion(NamedTuple):
    """What a call stands for: its parameters in their order, and the steps."""

    parameters: tuple[str, ...]
    steps: tuple[Step, ...]


def names(text: str) -> frozenset[str]:
    """Read names that stand apart by blanks."""
    return frozenset(text.split())


def synonyms(text: str) -> dict[str, str]:
    """Read lines of an operation and the names it has besides: from each of them to it."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        name, *others = line.split()
        found |= dict.fromkeys(others, name)
    return found


def expansions_in(text: str) -> dict[str, Expansion]:
    """Read lines ``names (parameters): steps``; what is indented goes on with the line before."""
    found: dict[str, Expansion] = {}
    for row in _ROW.split(text.strip()):
        head, _, body = " ".join(row.split()).partition("): ")
        named, _, parameters = head.partition(" (")
        steps = tuple(Step(name, _listed(given)) for name, given in _STEP.findall(body))
        found |= dict.fromkeys(named.split(), Expansion(_listed(parameters), steps))
    return found


_ROW = re.compile(r"\n(?! )")
_STEP = re.compile(r"(\w+)\(([^)]*)\)")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def bound(
    parameters: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by parameter."""
    return dict(zip(parameters, args, strict=False)) | kwargs
