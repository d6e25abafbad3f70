"""Writes one program line by line, and draws what its lines are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from programs import numbers

SHAPES = ((), (1,), (2,), (3,), (3,), (2, 3), (2, 1, 3), (0,))

SCALARS = ("bool", "int", "int", "int", "float", "float", "complex")
"""The kinds of Python scalars, ints and floats more often than the others."""


class AbsentError(LookupError):
    """A framework has none of the functions that a chapter is about."""


class Writer:
    """Writes one program.

    Parameters
    ----------
    random : Random
    described : mapping
        What the framework says it has (`programs.frameworks.Framework.described`).
    """

    def __init__(self, random: Random, described: Mapping[str, Any]) -> None:
        self.random, self.dtypes = random, described["dtypes"]
        self.castable = [*self.dtypes, *described["cast_only"]]
        self.functions = frozenset(described["functions"])
        self.lines: list[str] = []
        self.shapes: dict[str, tuple[int, ...]] = {}

    def line(self, expression: str, shape: tuple[int, ...] = ()) -> str:
        """Write a line that binds a new name; answer the name."""
        name = "abcdefghijklmnop"[len(self.shapes)]
        self.lines.append(f"{name} = {expression}")
        self.shapes[name] = shape
        return name

    def array(
        self,
        shape: tuple[int, ...] | None = None,
        dtypes: Sequence[str] = (),
        *,
        plain: bool | None = None,
    ) -> str:
        """Write an array out."""
        shape = self.one(SHAPES) if shape is None else shape
        dtype = self.one(dtypes or self.dtypes)
        count = 1
        for length in shape:
            count *= length
        plain = self.chance(0.5) if plain is None else plain
        values = ", ".join(numbers.values(self.random, dtype, count, plain=plain))
        return self.line(f'array("{dtype}", [{values}], {shape})', shape)

    def scalar(self, kinds: Sequence[str] = SCALARS, *, plain: float = 0.6) -> str:
        """A Python scalar."""
        return numbers.scalar(self.random, kinds, plain=plain)

    def one(self, choices: Sequence[Any]) -> Any:
        """One of some."""
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.random.random() < probability

    def known(self, names: Sequence[str]) -> str:
        """One of the functions that may be called."""
        found = [name for name in names if name in self.functions]
        if not found:
            raise AbsentError
        return self.one(found)

    def axis(self, shape: tuple[int, ...], *, none: bool = True) -> str:
        """An axis of an array, or None."""
        if none and (not shape or self.chance(0.5)):
            return "None"
        return str(self.random.randrange(-len(shape), len(shape))) if shape else "0"
