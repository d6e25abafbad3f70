"""Tables of the frameworks' functions, as ``functions.txt`` has them."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from functools import cache
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


@cache
def text_of(framework: str, kind: str) -> str:
    """Return what the tables have of a kind for a framework, one section after the other."""
    found = (body for head, body in _sections() if kind == head[-1] and framework in head[:-1])
    return "\n".join(found)


@cache
def names_of(framework: str, kind: str) -> frozenset[str]:
    """Return the names that a framework has of a kind."""
    return names(text_of(framework, kind))


@cache
def _sections() -> list[tuple[list[str], str]]:
    return [*sections_of("functions.txt"), *sections_of(SWEPT)]


def sections_of(name: str) -> Iterator[tuple[list[str], str]]:
    """Read the sections of a table: frameworks with a kind, and what stands below."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        _, *parts = re.split(r"^\[(.+)\]\n", file.read(), flags=re.MULTILINE)
    for head, body in zip(parts[::2], parts[1::2], strict=True):
        yield head.replace(":", "").split(), body.strip()


SWEPT = "swept.txt"
"""The functions that ``conformance/understood.py`` has seen what they do with dtypes."""

KEYWORDS = "keywords.txt"
"""The keywords that functions take, as ``conformance/keywords.py`` has found them."""


@cache
def computed(framework: str) -> frozenset[str]:
    """Return the functions that keep a dtype, or have one of their own, by the sweep alone: it does
    not tell that they keep the values. Those that copy, resize or fill do."""
    found = (body for head, body in sections_of(SWEPT) if _is_of(head, framework))
    return frozenset(name for name in names("\n".join(found)) if not _COPIES.search(name))


def _is_of(head: list[str], framework: str) -> bool:
    return framework in head[:-1] and head[-1] != "expansions"


_COPIES = re.compile(
    r"copy|empty|^new$|resize|sparse|dense|mkldnn|fill|_pad_|scatter$|stage$|dlpack"
)


def synonyms(text: str) -> dict[str, str]:
    """Read lines of an operation and the names it has besides: from each of them to it.

    After ``prefix*`` stand operations whose names are their own behind the prefix.
    """
    found: dict[str, str] = {}
    for row in rows_of(text):
        name, *others = row.split() or [""]
        prefix = name[:-1] if name.endswith("*") else ""
        found |= {prefix + each: each if prefix else name for each in others}
    return found


def expansions_in(text: str) -> dict[str, Expansion]:
    """Read lines ``names (parameters): steps``; what is indented goes on with the line before."""
    found: dict[str, Expansion] = {}
    for row in rows_of(text):
        head, ends, body = " ".join(row.split()).partition("): ")
        if not ends:
            continue
        named, _, parameters = head.partition(" (")
        steps = tuple(Step(name, _listed(given)) for name, given in _STEP.findall(body))
        found |= dict.fromkeys(named.split(), Expansion(_listed(parameters), steps))
    return found


def rows_of(text: str) -> list[str]:
    """Read lines; what is indented goes on with the line before."""
    return _ROW.split(text.strip())


_ROW = re.compile(r"\n(?! )")
_STEP = re.compile(r"(\w+)\(([^)]*)\)")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def bound(
    parameters: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by parameter."""
    return dict(zip(parameters, args, strict=False)) | kwargs
