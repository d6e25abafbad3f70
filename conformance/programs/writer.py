"""Writes one program line by line, and draws what its lines are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from programs import numbers

SHAPES = ((), (1,), (2,), (3,), (3,), (2, 3), (2, 1, 3), (0,), (9,), (17,))

SCALARS = ("bool", "int", "int", "int", "float", "float", "complex")
"""The kinds of Python scalars, ints and floats more often than the others."""


NUMPYS = ("b1", "u8", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "c64", "c128")
DERIVED = ("IntEnum", "int+", "float+", "complex+", "Fraction", "str")
INTS = ("3", "3", "0", "1", "-1", "300", "200")
"""The dtypes of foreign operands, the classes of others, and their values."""


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

    def foreign(self) -> str:
        """An operand of NumPy's, or of a class derived from a Python number's."""
        kind = self.one(("scalar", "scalar", "scalar", "zero_d", "array", "python"))
        if kind == "python":
            return f'foreign("python", "{self.one(DERIVED)}")'
        code = self.one(NUMPYS)
        value = self.one(("1.5", "0.1", "inf", "-0.0", "3", "1e300") if code[0] in "fc" else INTS)
        return f'foreign("{kind}", "{code}", {value})'

    def integer(self, written: Sequence[str]) -> str:
        """An integer as an argument: mostly written out, else of another kind."""
        if self.chance(0.75):
            return str(self.one(written))
        kinds = "scalar", "scalar", "zero_d"
        foreign = (
            f'foreign("{self.one(kinds)}", "{self.one(("i64", "u8", "i32", "f64", "b1"))}", 1)'
        )
        own = self.one(("int64", "int32", "float32", "bool"))
        if self.chance(0.25) and own in self.dtypes:
            return self.line(f'array("{own}", [1], ())')
        return str(self.one(("True", "1.0", foreign, foreign, 'foreign("python", "IntEnum")')))

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
