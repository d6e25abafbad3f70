"""The call at which a program stopped, and with which dtypes it would have run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.flow import Source

Remedy = tuple[tuple[int, str], ...]
"""Which operands have to have which dtypes."""


HELD, GIVEN_BACK = "held", "given back"


class FailedOperand(NamedTuple):
    """An array that a failed call was given, or that a function has which it was given."""

    dtype: str
    shape: tuple[int, ...]
    source: Source | None  # what made it; None of what comes from outside the recording
    names: tuple[str, ...]  # expressions that are this array in the program's frame
    written: bool  # whether the call writes into it
    keyword: str = ""  # the parameter that it is given by name
    role: str = ""  # "" of an argument; ``HELD`` or ``GIVEN_BACK`` by a function that is one
    returned: tuple[Site, ...] = ()  # where a function gives it back
    part: tuple[int, int] = (0, 1)  # as which of how many arrays

    @property
    def said(self) -> str:
        """Its dtype in words."""
        return self.dtype.replace("_", " ") if self.dtype.startswith("weak_") else self.dtype


class Limit(NamedTuple):
    """A Python number beyond the range of the arrays it met; with the end of it the call runs."""

    number: int | float
    dtype: str
    end: str  # "min" or "max"
    low: int | float
    high: int | float


class Whole(NamedTuple):
    """A Python float where an integer is asked for, or the other way; with that the call runs."""

    number: int | float
    names: tuple[str, ...]  # variables of the program's frame that are it
    dtype: str = ""  # what arrays have to be that stand for it and for ``others``, which runs
    others: tuple[int | float, ...] = ()


class Asked(NamedTuple):
    """A dtype that is asked for, and refused; the call runs with another."""

    given: str
    names: tuple[str, ...]  # variables of the program's frame that are it
    dtype: str


@dataclass
class Failed:
    """A call that failed."""

    name: str
    error: str
    site: Site
    program: Site
    operands: list[FailedOperand]
    remedies: list[Remedy] = field(default_factory=list)  # those with which the call runs
    limit: Limit | None = None
    whole: Whole | None = None
    asked: Asked | None = None
    untried: str = ""  # why no other dtypes were tried
    framework: str = ""  # that refused it, with its version

    @property
    def arguments(self) -> list[FailedOperand]:
        """The operands that are arguments, which come first."""
        return [each for each in self.operands if not each.role]

    @property
    def for_a_dtype(self) -> bool:
        """Whether it runs with other dtypes, or with a number that fits them."""
        return bool(self.remedies or self.limit or self.whole or self.asked)
